package importance

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// constant finds how well a constant in place of the predictor fits, beside an offset or
// with censored times, where no sum over rows gives it: by values at Chebyshev points about
// the mean predictor, between which the fit is a smooth function of the constant.
type constant struct {
	points []float64
	values []float64 // log-likelihood or deviance of all rows, at each
}

// Points of the constant: a deviance has the links' exponentials, a time's likelihood those
// of 1/scale besides.
const (
	deviancePoints = 32
	timePoints     = 48
)

// newConstant is nil where the fit of a constant is known otherwise, or is no figure.
func (s *sums) newConstant(v *Visitor) *constant {
	if v.family == nil || v.family.Predictors() != 1 {
		return nil
	}
	n := 0
	switch {
	case v.result.Event != "" && s.refit == nil: // else a baseline is fitted to no predictor
		n = timePoints
	case v.result.Event == "" && v.result.Offset != "" && v.traits.Affine:
		n = deviancePoints
	}
	if n == 0 {
		return nil
	}
	d := &v.result.Predictors[0]
	reach := 2 + 2*math.Sqrt(max(d.VarianceBefore.Total, 0))
	c := &constant{points: make([]float64, n), values: make([]float64, n)}
	for j := range n {
		c.points[j] = d.Intercept + reach*chebyshev(j, n)
	}
	return c
}

// chebyshev is the j-th of n points in (-1, 1), descending.
func chebyshev(j, n int) float64 { return math.Cos(math.Pi * (float64(j) + 0.5) / float64(n)) }

func (c *constant) add(v *Visitor, of family.Family, y, w, offset float64) {
	if c == nil {
		return
	}
	eta := make([]float64, 1)
	for j, at := range c.points {
		eta[0] = at + offset
		if v.result.Event != "" {
			c.values[j] += of.LogLik(y, w, eta, v.phi)
		} else {
			c.values[j] += of.Deviance(y, w, eta)
		}
	}
}

func (c *constant) merge(o *constant) {
	if c != nil {
		floats.Add(c.values, o.values)
	}
}

// best is the largest value between the points, or the smallest; NaN if that lies at an
// end, so that the best constant may lie beyond.
func (c *constant) best(largest bool) float64 {
	n := len(c.points)
	sign := 1.0
	if !largest {
		sign = -1
	}
	at := 0
	for j, v := range c.values {
		if sign*v > sign*c.values[at] {
			at = j
		}
	}
	if at == 0 || at == n-1 || math.IsNaN(floats.Sum(c.values)) {
		return math.NaN()
	}
	// Golden sections about the best point: the fit has one optimum.
	lo, hi := chebyshev(at+1, n), chebyshev(at-1, n)
	ratio := (math.Sqrt(5) - 1) / 2
	for range 60 {
		a, b := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
		if sign*c.at(a) > sign*c.at(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return c.at((lo + hi) / 2)
}

// at is the interpolating polynomial at x in [-1, 1] (barycentric formula, Berrut and
// Trefethen 2004).
func (c *constant) at(x float64) float64 {
	n := len(c.points)
	var above, below float64
	for j, v := range c.values {
		d := x - chebyshev(j, n)
		if d == 0 {
			return v
		}
		w := math.Sin(math.Pi*(float64(j)+0.5)/float64(n)) / d
		if j%2 == 1 {
			w = -w
		}
		above += w * v
		below += w
	}
	return above / below
}

// timePrediction says how a constant, or no predictor, fits times of which some are censored, and which of two rows has its
// event first.
func (v *Visitor) timePrediction() *decompose.Prediction {
	out := &decompose.Prediction{Concordance: finite(v.total.timed.concordance())}
	switch t := v.total; {
	case t.refit != nil:
		gain := t.full.loglik - t.refit[null].LogLik()
		out.LogLikGain, out.Worse = finite(gain/t.w), !(gain >= 0)
	case t.constant != nil:
		out.LogLikGain = finite((t.full.loglik - t.constant.best(true)) / t.w)
		out.Worse = out.LogLikGain != nil && *out.LogLikGain < 0
	}
	if out.LogLikGain == nil && out.Concordance == nil {
		return nil
	}
	return out
}
