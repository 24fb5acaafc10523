package compare

import (
	"math"
	"slices"

	"github.com/pho-go/pho/decompose"
)

// settle sets to 0 what is rounding: changes that are no more than 1e-11 of the predictor's
// standard deviation or mean, and parts of a variance that are no more of the variance.
func (p *Predictor) settle() {
	const rounding = 1e-11
	variance := math.Max(p.Variance.A, p.Variance.B)
	size := math.Max(math.Sqrt(variance), math.Max(math.Abs(p.Mean.A), math.Abs(p.Mean.B)))
	clear := func(size float64, figures ...*float64) {
		for _, v := range figures {
			if v != nil && math.Abs(*v) <= rounding*size {
				*v = 0
			}
		}
	}
	both := func(size float64, c *Change) {
		if c != nil {
			clear(size, &c.A, &c.B, &c.Change)
		}
	}
	both(size, &p.Mean.Change)
	clear(size, &p.Mean.Rows, &p.Mean.Rest)
	both(variance, &p.Variance)
	both(variance, p.Unstructured)
	if p.Structured != nil {
		both(variance, &p.Structured.Change)
		clear(variance, &p.Structured.Rows, &p.Structured.Functions)
	}
	for _, terms := range [][]Term{p.Terms, p.Sums} {
		for i := range terms {
			t := &terms[i]
			clear(size, t.Rows)
			both(variance, t.Variance)
			both(size, t.SD)
			if t.Curve != nil {
				clear(size, &t.Curve.RMS, &t.Curve.Largest)
			}
		}
	}
}

// together is where the rows of two decompositions lie on a feature.
func together(a, b *decompose.Feature) decompose.Feature {
	f := decompose.Feature{Name: a.Name, Min: math.Min(a.Min, b.Min), Max: math.Max(a.Max, b.Max), Levels: a.Levels, Sample: a.Sample}
	if a.Quantiles != nil && b.Quantiles != nil {
		f.Quantiles = slices.Concat(a.Quantiles, b.Quantiles)
		slices.Sort(f.Quantiles)
	}
	if a.Min == b.Min && a.Max == b.Max && len(a.Counts) == len(b.Counts) && slices.Equal(a.Levels, b.Levels) {
		for i, n := range a.Counts {
			f.Counts = append(f.Counts, n+b.Counts[i])
		}
	}
	return f
}
