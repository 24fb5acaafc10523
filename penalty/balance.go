package penalty

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// thin is the size of a column, next to its term's largest, below which its own size is
// no measure for its penalty: see Balance.
const thin = 1e-4

// Balance raises entries of d, by which the columns of t are divided before anything
// is decomposed (their standard deviations, say), for those that next to no row
// reaches: of a spline on values with one outlier, the columns between it and the
// others. Divided by next to nothing their penalties would leave nothing but rounding
// of all others. Any d > 0 gives the same fit but for rounding. It is raised to a
// share of the largest, but not beyond what makes the column's penalty as large as that
// of columns that count; unpenalised terms stay as they are.
func (t *Term) Balance(d []float64) {
	size, penalised := make([]float64, t.Dim), false // of the penalty on each column
	for _, s := range t.S {
		if norm := mat.Norm(s, 2); norm > 0 {
			penalised = true
			for i := range size {
				size[i] += math.Abs(s.At(i, i)) / norm
			}
		}
	}
	if !penalised {
		return
	}
	var widest, heaviest float64
	for _, v := range d {
		widest = math.Max(widest, v)
	}
	for i, v := range d {
		if v >= thin*widest {
			heaviest = math.Max(heaviest, math.Sqrt(size[i])/v)
		}
	}
	for i, v := range d {
		least := thin * widest
		if heaviest > 0 {
			least = math.Min(least, math.Sqrt(size[i])/heaviest)
		}
		d[i] = math.Max(v, least)
	}
}
