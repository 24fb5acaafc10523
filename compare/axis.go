package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/pho-go/pho/decompose"
)

// side is one feature's axis of a curve.
type side struct {
	feature string
	text    []string
	value   []float64 // nil: levels
}

// newSide reads an axis: levels if the feature is categorical or the term a factor.
func newSide(feature string, text []string, levels bool) side {
	s := side{feature: feature, text: text}
	if levels {
		return s
	}
	for _, t := range text {
		v, err := strconv.ParseFloat(t, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || len(s.value) > 0 && v <= s.value[len(s.value)-1] {
			return side{feature: feature, text: text} // names, then
		}
		s.value = append(s.value, v)
	}
	return s
}

// Overlap says where two curves have a feature's values in common.
type Overlap struct {
	Feature string `json:"feature"`
	// From and To bound the values of a number at which both have rows.
	From *float64 `json:"from,omitempty"`
	To   *float64 `json:"to,omitempty"`
	// Levels is how many levels both have; OnlyA and OnlyB are the others.
	Levels int      `json:"levels,omitempty"`
	OnlyA  []string `json:"only_a,omitempty"`
	OnlyB  []string `json:"only_b,omitempty"`
}

// common is an axis that both curves have: points, and where they are in each.
type common struct {
	Overlap
	side
	a, b   []place
	weight []float64 // of the points: rows of both, by histogram or level
}

// place is between point at and the next, the share next of the way.
type place struct {
	at   int
	next float64
}

// commonPoints is how many points at most a common axis of numbers has, where the two differ.
const commonPoints = 101

// meet finds what two axes have in common; an error says why there is nothing.
func meet(a, b side, rowsA, rowsB *decompose.Feature) (*common, error) {
	c := &common{Overlap: Overlap{Feature: a.feature}, side: side{feature: a.feature}}
	if (a.value == nil) != (b.value == nil) {
		return nil, fmt.Errorf("%s is a number in one and a factor in the other", a.feature)
	}
	if a.value == nil {
		c.meetLevels(a, b, rowsA, rowsB)
		if c.Levels == 0 {
			return nil, fmt.Errorf("%s has no level in common", a.feature)
		}
		return c, nil
	}
	if len(a.value) < 2 || len(b.value) < 2 {
		return nil, fmt.Errorf("%s is constant in one of them", a.feature)
	}
	lo, hi := math.Max(a.value[0], b.value[0]), math.Min(a.value[len(a.value)-1], b.value[len(b.value)-1])
	if !(lo < hi) {
		return nil, fmt.Errorf("%s has no values in common: it runs from %.4g to %.4g in A and from %.4g to %.4g in B (are its units the same?)",
			a.feature, a.value[0], a.value[len(a.value)-1], b.value[0], b.value[len(b.value)-1])
	}
	values := a.value
	if !slices.Equal(a.value, b.value) {
		values = ofBoth(a.value, b.value, lo, hi)
	}
	if rowsA.Whole() && rowsB.Whole() {
		values = atWhole(values)
	}
	for i, v := range values {
		wa, wb := density(rowsA, v), density(rowsB, v)
		if wa == 0 || wb == 0 {
			continue // one of them has no rows here
		}
		width := spacing(values, i)
		c.value, c.text = append(c.value, v), append(c.text, strconv.FormatFloat(v, 'g', 6, 64))
		c.a, c.b = append(c.a, locate(a.value, v)), append(c.b, locate(b.value, v))
		c.weight = append(c.weight, (wa+wb)*width)
	}
	if len(c.value) < 2 {
		return nil, fmt.Errorf("there are no values of %s at which both have rows", a.feature)
	}
	c.From, c.To = &c.value[0], &c.value[len(c.value)-1]
	return c, nil
}

// ofBoth are the points of two grids from lo to hi, evenly thinned to commonPoints, so that they
// are close where either is.
func ofBoth(a, b []float64, lo, hi float64) []float64 {
	all := slices.Concat(a, b, []float64{lo, hi})
	all = slices.DeleteFunc(all, func(v float64) bool { return v < lo || v > hi })
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) <= commonPoints {
		return all
	}
	out := make([]float64, commonPoints)
	for i := range out {
		out[i] = all[int(math.Round(float64(i)/(commonPoints-1)*float64(len(all)-1)))]
	}
	return out
}

// atWhole are the whole numbers among the points if none between their ends is missing: of a column of whole numbers there
// are no rows between them, and curves may go anywhere. Else the points as they are.
func atWhole(points []float64) []float64 {
	integers := slices.DeleteFunc(slices.Clone(points), func(v float64) bool { return v != math.Trunc(v) })
	if n := len(integers); n < 2 || integers[n-1]-integers[0] != float64(n-1) {
		return points
	}
	return integers
}

func (c *common) meetLevels(a, b side, rowsA, rowsB *decompose.Feature) {
	for i, level := range a.text {
		j := slices.Index(b.text, level)
		if j < 0 {
			c.OnlyA = append(c.OnlyA, level)
			continue
		}
		c.Levels++
		c.text, c.a, c.b = append(c.text, level), append(c.a, place{at: i}), append(c.b, place{at: j})
		c.weight = append(c.weight, count(rowsA, level)+count(rowsB, level))
	}
	for _, level := range b.text {
		if !slices.Contains(a.text, level) {
			c.OnlyB = append(c.OnlyB, level)
		}
	}
}

// density is the number of rows a unit at v by the histogram of a feature; 1 if none is
// known.
func density(f *decompose.Feature, v float64) float64 {
	if f == nil || len(f.Counts) == 0 || !(f.Max > f.Min) {
		return 1
	}
	bins := float64(len(f.Counts))
	at := int((v - f.Min) / (f.Max - f.Min) * bins)
	at = min(max(at, 0), len(f.Counts)-1)
	return float64(f.Counts[at]) * bins / (f.Max - f.Min)
}

// count is the number of rows of a level, 1 if it is not known.
func count(f *decompose.Feature, level string) float64 {
	if f != nil && len(f.Levels) == len(f.Counts) {
		if i := slices.Index(f.Levels, level); i >= 0 {
			return float64(f.Counts[i])
		}
	}
	return 1
}

// spacing is the width that point i stands for.
func spacing(x []float64, i int) float64 {
	lo, hi := max(i-1, 0), min(i+1, len(x)-1)
	return (x[hi] - x[lo]) / 2
}

// locate places v, which is within x.
func locate(x []float64, v float64) place {
	at, exact := slices.BinarySearch(x, v)
	if exact {
		return place{at: at}
	}
	at = min(max(at-1, 0), len(x)-2)
	return place{at, (v - x[at]) / (x[at+1] - x[at])}
}
