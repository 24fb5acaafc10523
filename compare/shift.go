package compare

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/pho-go/pho/decompose"
)

// Shift is how a term's curve in B differs from that in A at the values that both have.
// Each is first centred over these values, weighted by the rows of both (their histograms;
// of two features: equally), for what is constant belongs to the intercept.
type Shift struct {
	Over []Overlap `json:"over"`
	// RMS is the root mean square of the difference, by those weights.
	RMS float64 `json:"rms"`
	// Largest is the largest difference, at X (and X2).
	Largest float64 `json:"largest"`
	X       string  `json:"x"`
	X2      string  `json:"x2,omitempty"`
	// Ratio is the largest difference in standard errors, Critical what it exceeds by chance
	// with a probability of 5 % at most (Bonferroni over the points compared). nil: there are no
	// standard errors.
	Ratio    *float64 `json:"ratio"`
	Critical *float64 `json:"critical"`
	Beyond   *bool    `json:"beyond_uncertainty"` // Ratio > Critical
	// Share is the share of rows at whose values the difference is above Critical.
	Share *float64 `json:"share_beyond"`

	Grid [2]Points `json:"-"` // axes; the second is empty for one feature
	A, B []float64 `json:"-"` // centred curves
	SE   []float64 `json:"-"` // of the difference; NaN: none
}

// Points are the values of an axis, numbers or levels.
type Points struct {
	Feature string
	Value   []float64 // nil: levels
	Text    []string
}

// shift compares two curves.
func (c *Comparison) shift(a, b Side, t, u *decompose.TermResult, x, y *Curve) (*Shift, error) {
	features := free(t.Features, x)
	if (x.X2 == nil) != (y.X2 == nil) {
		return nil, errors.New("it has one axis in one of them and two in the other")
	}
	axis := func(s Side, name string, text []string, term *decompose.TermResult) side {
		f := feature(s.Result, name)
		return newSide(name, text, term.Kind == decompose.Factor || f != nil && f.Levels != nil)
	}
	first, err := meet(axis(a, features[0], x.X, t), axis(b, features[0], y.X, u), feature(a.Result, features[0]), feature(b.Result, features[0]))
	if err != nil {
		return nil, err
	}
	out := &Shift{Over: []Overlap{first.Overlap}}
	out.Grid[0] = Points{first.feature, first.value, first.text}
	second := &common{a: []place{{}}, b: []place{{}}, weight: []float64{1}, side: side{text: []string{""}}}
	if x.X2 != nil {
		// The rows of two columns together are not known: all values count equally.
		if second, err = meet(axis(a, features[1], x.X2, t), axis(b, features[1], y.X2, u), nil, nil); err != nil {
			return nil, err
		}
		out.Over = append(out.Over, second.Overlap)
		out.Grid[1] = Points{second.feature, second.value, second.text}
	}
	joint := c.joint(x)
	var weight []float64
	for i := range first.a {
		for j := range second.a {
			out.A = append(out.A, x.at(first.a[i], second.a[j], x.Value))
			out.B = append(out.B, y.at(first.b[i], second.b[j], y.Value))
			se := math.NaN()
			switch {
			case c.SameRows && joint != nil:
				se = joint.at(first.a[i], second.a[j], joint.SE)
			case !c.SameRows:
				se = math.Hypot(x.at(first.a[i], second.a[j], x.SE), y.at(first.b[i], second.b[j], y.SE))
			}
			out.SE = append(out.SE, se)
			w := first.weight[i] * second.weight[j]
			if x.X2 != nil {
				w = 1
			}
			weight = append(weight, w)
		}
	}
	if !out.centre(weight) {
		return nil, errors.New("there are no values at which both have rows")
	}
	out.measure(weight, first.text, second.text)
	return out, nil
}

// joint are the joint standard errors on the grid of A's curve x; nil: there are none.
func (c *Comparison) joint(x *Curve) *Curve {
	for i := range c.rows.Joint {
		j := &c.rows.Joint[i]
		if j.Predictor == x.Predictor && j.Term == x.Term && slices.Equal(j.X, x.X) && slices.Equal(j.X2, x.X2) {
			return j
		}
	}
	return nil
}

// free are the features of the axes: without by variables that are held.
func free(features []string, c *Curve) []string {
	out := slices.Clone(features)
	for i := 1; i < len(out); i++ {
		if slices.Contains(out[:i], out[i]) {
			out = slices.Delete(out, i, i+1)
			i--
		}
	}
	if c.X2 != nil && len(out) < 2 {
		out = append(out, "")
	}
	return out
}

// at interpolates values linearly; NaN next to a point that has none.
func (c *Curve) at(x, x2 place, values []float64) float64 {
	inner := max(len(c.X2), 1)
	along := func(i int) float64 {
		v := values[i*inner+x2.at]
		if x2.next == 0 {
			return v
		}
		return v + x2.next*(values[i*inner+x2.at+1]-v)
	}
	v := along(x.at)
	if x.next == 0 {
		return v
	}
	return v + x.next*(along(x.at+1)-v)
}

// centre takes the weighted mean off both curves; points that one of them lacks have no
// weight from then on. false: no point is left.
func (s *Shift) centre(weight []float64) bool {
	var sum, a, b float64
	for i := range weight {
		if math.IsNaN(s.A[i]) || math.IsNaN(s.B[i]) {
			s.A[i], s.B[i], weight[i] = math.NaN(), math.NaN(), 0
			continue
		}
		sum, a, b = sum+weight[i], a+weight[i]*s.A[i], b+weight[i]*s.B[i]
	}
	for i := range weight {
		s.A[i], s.B[i] = s.A[i]-a/sum, s.B[i]-b/sum
	}
	return sum > 0
}

// rounding is what may separate two equal curves: networks of 32 bits.
const rounding = 1e-6

func size(v []float64) (most float64) {
	for _, x := range v {
		if x = math.Abs(x); x > most { // false of NaN
			most = x
		}
	}
	return most
}

// measure fills in the figures.
func (s *Shift) measure(weight []float64, x, x2 []string) {
	var sum, squares, beyond, ratio float64
	points, known, largest := 0, true, -1
	least := rounding * math.Max(size(s.A), size(s.B))
	for i, w := range weight {
		if w == 0 {
			continue
		}
		points++
		d := s.B[i] - s.A[i]
		sum, squares = sum+w, squares+w*d*d
		if largest < 0 || math.Abs(d) > math.Abs(s.Largest) {
			largest, s.Largest = i, d
		}
		known = known && s.SE[i] >= 0
		if math.Abs(d) > least {
			ratio = math.Max(ratio, math.Abs(d)/s.SE[i])
		}
	}
	s.RMS = math.Sqrt(squares / sum)
	s.X, s.X2 = x[largest/len(x2)], x2[largest%len(x2)]
	if !known || math.IsInf(ratio, 0) {
		return
	}
	critical := distuv.UnitNormal.Quantile(1 - 0.05/2/float64(points))
	for i, w := range weight {
		if w > 0 && math.Abs(s.B[i]-s.A[i]) > math.Max(critical*s.SE[i], least) {
			beyond += w
		}
	}
	over, share := ratio > critical, beyond/sum
	s.Ratio, s.Critical, s.Beyond, s.Share = &ratio, &critical, &over, &share
}
