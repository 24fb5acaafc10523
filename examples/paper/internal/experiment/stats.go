package experiment

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Median of v, which is not changed; NaN if v is empty.
func Median(v []float64) float64 { return Quantile(0.5, v) }

// Quantile interpolates linearly between the order statistics (type 7); NaN if v
// is empty or holds a NaN.
func Quantile(p float64, v []float64) float64 {
	if len(v) == 0 || slices.ContainsFunc(v, math.IsNaN) {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	at := p * float64(len(s)-1)
	i := min(int(at), len(s)-1)
	return s[i] + (at-float64(i))*(s[min(i+1, len(s)-1)]-s[i])
}

// Mean of v, and its standard error: the standard deviation over root n.
func Mean(v []float64) (mean, se float64) {
	mean, sd := stat.MeanStdDev(v, nil)
	return mean, sd / math.Sqrt(float64(len(v)))
}
