package propose

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/basis/internal/bspline"
	"github.com/pho-go/pho/basis/internal/distinct"
	"github.com/pho-go/pho/diagnostics"
)

// Growth is a larger basis for a smooth that left the remainder dependent on its column.
type Growth struct {
	K    int       // columns of the spline
	Cuts []float64 // at which it may jump, increasing; nil: nowhere
}

// With is what satisfies both g and o.
func (g Growth) With(o Growth) Growth {
	cuts := slices.Concat(g.Cuts, o.Cuts)
	slices.Sort(cuts)
	return Growth{max(g.K, o.K), slices.Compact(cuts)}
}

// Of is a smooth s(x, k = ...) with the growth.
func (g Growth) Of(t formula.Summand) formula.Summand {
	c := t.Calls[0]
	c.Args = slices.Clone(c.Args)
	for i := range c.Args {
		if c.Args[i].Name == "k" {
			c.Args[i].Value.Number = float64(g.K)
		}
	}
	if len(g.Cuts) > 0 {
		v := formula.Value{Kind: formula.Vector}
		for _, cut := range g.Cuts {
			v.Items = append(v.Items, formula.Value{Kind: formula.Number, Number: cut})
		}
		c.Args = append(c.Args, formula.Arg{Name: "cuts", Value: v})
	}
	return formula.Summand{Calls: []formula.Call{c}}
}

const (
	perCut    = 3.0    // coefficients that a cut counts for: its place is searched, too (Zhang and Siegmund 2007)
	maxCuts   = 20     // of a term
	penalised = 0.25   // of the further columns of a spline that are fitted without a penalty here: what REML leaves of them, about
	perKnot   = 2      // bins for each column of a spline that is tried
	sideRows  = 20     // rows on each side of a cut, at least,
	sideShare = 200    // and one of so many
	worthCut  = 0.0005 // of the variance of term and remainder by bins: what a cut must explain
)

// Grow chooses the growth of a cubic spline of k columns with quantiles as knots, by the sums of the term and of the remainder in
// its bins: two or four times as many columns, cuts beside it, both, or as it is, of at most most columns in all. That of the least BIC is
// taken, n log(RSS/n) + log(n) times the number of coefficients, a cut's place counted as one. Cuts are searched one after the
// other among the bins' edges, each where it explains most, and then placed within the bin by its mean. own are cuts that the
// model itself has of the column, increasing: one of those at hand is taken in place of a place that is estimated.
func Grow(bins []diagnostics.Bin, k, most int, own []float64) Growth {
	best := Growth{K: k}
	if len(bins) < perKnot*minBasis {
		return best
	}
	least := math.Inf(1)
	for _, wanted := range []int{k, k / 2, 2 * k, 4 * k} {
		if wanted > most {
			break
		}
		columns := min(wanted, len(bins)/perKnot)
		if columns < minBasis {
			continue
		}
		f := newStepFit(bins, columns)
		if f == nil {
			continue
		}
		score := func(cuts int) float64 {
			n := f.rows
			return n*math.Log(f.left()/n) + math.Log(n)*(float64(columns-k)*penalised+perCut*float64(cuts))
		}
		size := max(k, wanted)
		if s := score(0); s < least {
			least, best = s, Growth{K: size}
		}
		var cuts []int
		for len(cuts) < min(maxCuts, most-size) {
			cut, gain := f.best()
			if !(gain > worthCut*f.all) {
				break
			}
			f.add(cut)
			cuts = append(cuts, cut)
			if s := score(len(cuts)); s < least {
				least, best = s, Growth{size, f.places(slices.Clone(cuts), own)}
			}
		}
	}
	return best
}

// stepFit fits the term and the remainder, by bins, by a spline and steps: weighted least squares in
// orthonormal coordinates, to which steps are added.
type stepFit struct {
	bins   []diagnostics.Bin
	weight []float64 // of the bins, summing to rows
	y      []float64 // means
	q      [][]float64
	res    []float64 // y less its projection on q
	within float64   // sum of squares within the bins
	rows   float64
	all    float64 // sum of squares of y about its mean
	taken  []int   // cuts
}

func newStepFit(bins []diagnostics.Bin, k int) *stepFit {
	n := len(bins)
	f := &stepFit{bins: bins, weight: make([]float64, n), y: make([]float64, n)}
	total := 0.0
	for i := range bins {
		f.rows += bins[i].Rows
		total += bins[i].Weight
	}
	x := make([]float64, n)
	for i, b := range bins {
		f.weight[i], f.y[i], x[i] = b.Weight*f.rows/total, b.Value+b.Remainder, b.X
		if b.Rows > 1 {
			f.within += f.weight[i] * b.Variance * (b.Rows - 1)
		}
	}
	f.res = slices.Clone(f.y)
	one := make([]float64, n)
	for i := range one {
		one[i] = 1
	}
	f.span(one)
	f.all = f.between()
	spline, err := splineOf(x, k)
	if err != nil {
		return nil // knots that are too close
	}
	columns := make([][]float64, k)
	for j := range columns {
		columns[j] = make([]float64, n)
	}
	row := make([]float64, spline.Width())
	for i := range x {
		first := spline.Row(row, x[i])
		for j, v := range row {
			columns[first+j][i] = v
		}
	}
	for _, c := range columns {
		f.span(c)
	}
	return f
}

// splineOf is the cubic spline of k columns whose knots are quantiles of x.
func splineOf(x []float64, k int) (*bspline.Basis, error) {
	p := distinct.NewPoints(1, len(x))
	p.AddColumn(x)
	return bspline.New(3, bspline.Extended(p.Quantiles(k-2, x[0], x[len(x)-1]), 3))
}

func (f *stepFit) dot(a, b []float64) (sum float64) {
	for i, w := range f.weight {
		sum += w * a[i] * b[i]
	}
	return sum
}

// span adds what v has besides q, if that is more than rounding.
func (f *stepFit) span(v []float64) {
	size := math.Sqrt(f.dot(v, v))
	for range 2 { // twice is enough (Parlett 1980)
		for _, q := range f.q {
			floats.AddScaled(v, -f.dot(q, v), q)
		}
	}
	rest := math.Sqrt(f.dot(v, v))
	if !(rest > 1e-8*size) {
		return
	}
	floats.Scale(1/rest, v)
	f.q = append(f.q, v)
	floats.AddScaled(f.res, -f.dot(v, f.res), v)
}

func (f *stepFit) between() float64 { return f.dot(f.res, f.res) }

// left is the residual sum of squares.
func (f *stepFit) left() float64 { return f.within + f.between() }

// step is 0 below bin i and 1 from it on.
func (f *stepFit) step(i int) []float64 {
	v := make([]float64, len(f.bins))
	for ; i < len(v); i++ {
		v[i] = 1
	}
	return v
}

// best is the cut that explains most: the bin that begins there, and how much of the sum of squares.
func (f *stepFit) best() (cut int, gain float64) {
	var weight, product, rows, total float64
	for i := range f.bins {
		total += f.bins[i].Rows
	}
	least := max(sideRows, total/sideShare)
	with := make([]float64, len(f.q)) // products of q and the step
	for i := len(f.bins) - 1; i > 0; i-- {
		w := f.weight[i]
		weight, product, rows = weight+w, product+w*f.res[i], rows+f.bins[i].Rows
		own := weight
		for l, q := range f.q {
			with[l] += w * q[i]
			own -= with[l] * with[l]
		}
		if rows < least || total-rows < least || f.near(i) || !(own > 1e-6*weight) {
			continue
		}
		if g := product * product / own; g > gain {
			cut, gain = i, g
		}
	}
	return cut, gain
}

// add adds a cut. The jump may lie within one of the bins beside it, whose mean is then between the levels: that bin
// is left to itself, so that no further cut is found for the same jump.
func (f *stepFit) add(cut int) {
	f.taken = append(f.taken, cut)
	f.span(f.step(cut))
	alone := make([]float64, len(f.bins))
	if math.Abs(f.res[cut-1]) > math.Abs(f.res[cut]) {
		alone[cut-1] = 1
	} else {
		alone[cut] = 1
	}
	f.span(alone)
}

// near tells whether a cut would lie within two bins of another.
func (f *stepFit) near(cut int) bool {
	return slices.ContainsFunc(f.taken, func(c int) bool { return max(cut-c, c-cut) <= 2 })
}

// places are the values at which the function jumps, increasing: of own those that are nearest within the bins beside an edge, else where
// the means of these bins say.
func (f *stepFit) places(cuts []int, own []float64) []float64 {
	slices.Sort(cuts)
	var out []float64
	for _, c := range cuts {
		v := f.place(c)
		low, high := f.low(c-1), f.high(c)
		if near, ok := nearest(own, v, low, high); ok {
			v = near
		}
		if len(out) == 0 || v > out[len(out)-1] {
			out = append(out, v)
		}
	}
	return out
}

// nearest is that of own to v, from low to high.
func nearest(own []float64, v, low, high float64) (near float64, ok bool) {
	for _, c := range own {
		if c >= low && c <= high && (!ok || math.Abs(c-v) < math.Abs(near-v)) {
			near, ok = c, true
		}
	}
	return near, ok
}

// low and high are where bin i begins and ends; of the outer ones as far from the mean as the other end.
func (f *stepFit) low(i int) float64 {
	if b := f.bins[i]; !math.IsInf(b.Low, -1) {
		return b.Low
	}
	return f.bins[i].X - (f.bins[i].High - f.bins[i].X)
}

func (f *stepFit) high(i int) float64 {
	if b := f.bins[i]; !math.IsInf(b.High, 1) {
		return b.High
	}
	return f.bins[i].X + (f.bins[i].X - f.bins[i].Low)
}

// place is where the function jumps near the edge at which bin c begins. A bin in which it does has a mean between the
// two levels, and so tells the share of its rows below the jump.
func (f *stepFit) place(c int) float64 {
	edge := f.bins[c].Low
	// The levels beside the two bins, and the jump between them.
	left, right := f.level(c-2, -1), f.level(c+1, 1)
	jump := right - left
	at, from, to := edge, edge, edge
	if jump != 0 {
		before := min(1, max(0, (right-f.y[c-1])/jump)) // share of bin c-1 below the jump
		after := min(1, max(0, (right-f.y[c])/jump))    // and of bin c
		if 1-before >= after {
			from, to = f.low(c-1), edge
			at = from + before*(to-from)
		} else {
			from, to = edge, f.high(c)
			at = from + after*(to-from)
		}
	}
	if from == to {
		return edge
	}
	return shortest(at, (to-from)/50)
}

// level is the mean of up to three bins from i on, in that direction.
func (f *stepFit) level(i, direction int) float64 {
	i = min(max(i, 0), len(f.bins)-1)
	sum, weight := 0.0, 0.0
	for n := 0; n < 3 && i >= 0 && i < len(f.bins); n, i = n+1, i+direction {
		sum, weight = sum+f.weight[i]*f.y[i], weight+f.weight[i]
	}
	return sum / weight
}

// shortest is the number of fewest digits that is no further from v than so much.
func shortest(v, within float64) float64 {
	for digits := 1; digits < 17; digits++ {
		short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
		if err == nil && math.Abs(short-v) <= within {
			return short
		}
	}
	return v
}
