package penalty

import "math"

// minColumnShare is the share of its term's largest column below which a column is not
// divided by its own size: see Balance.
const minColumnShare = 1e-4

// Balance raises the smallest entries of d, the numbers (standard deviations, say) by
// which the columns of t are divided before matrices are decomposed. Columns that are
// nearly zero in all rows would have huge penalties if they were divided by their own
// size, and the rounding of those would be larger than the penalties of all other
// columns. A spline has such columns between an outlier and the other values. An entry is
// raised to a share of the largest, but no further than to where the column's penalty is
// as large as that of the columns that are not small. Any d > 0 gives the same fit but
// for rounding. Unpenalised components stay as they are.
func (t *Component) Balance(d []float64) {
	size, penalised := make([]float64, t.Dim), false // of the penalty on each column
	for j := range t.S {
		if own, norm := sizes(t.S[j]); norm > 0 {
			penalised = true
			for i, v := range own {
				size[i] += v / norm
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
		if v >= minColumnShare*widest {
			heaviest = math.Max(heaviest, math.Sqrt(size[i])/v)
		}
	}
	for i, v := range d {
		least := minColumnShare * widest
		if heaviest > 0 {
			least = math.Min(least, math.Sqrt(size[i])/heaviest)
		}
		d[i] = math.Max(v, least)
	}
}
