package native

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/family"
)

// target is the response with its weights and offset, as training sees it:
// y = (response - shift)/scale, and the offset likewise.
type target struct {
	y, w, offset []float64 // offset nil: none
	sumW         float64
}

// scaling takes training's predictors back to the response's units: location
// becomes shift + scale * location, a log scale grows by log scale. Families of
// other links have shift 0 and scale 1.
type scaling struct{ shift, scale float64 }

// of is the way back of predictor k: shift + scale times what was trained.
func (s scaling) of(k int) (scale, shift float64) {
	switch {
	case s == scaling{0, 1}:
	case k == 0:
		return s.scale, s.shift
	case k == 1: // a log scale
		return 1, math.Log(s.scale)
	}
	return 1, 0
}

// readTarget checks every response against the family's support.
func (c *Config) readTarget(f *rows.Frame, what string) (*target, error) {
	if f.Rows() == 0 {
		return nil, fmt.Errorf("native: there are no %s rows", what)
	}
	t := &target{}
	var err error
	if t.y, err = f.Batch.Numeric(c.Response); err != nil {
		return nil, err
	}
	for i, y := range t.y {
		if err := c.Family.Check(y); err != nil {
			return nil, fmt.Errorf("native: response %q, data row %d: %w", c.Response, f.Batch.Row(i)+1, err)
		}
	}
	if t.w, err = weights(f, c.Weights); err != nil {
		return nil, err
	}
	for _, w := range t.w {
		t.sumW += w
	}
	if t.sumW == 0 {
		return nil, fmt.Errorf("native: all weights %q of the %s rows are zero: give some rows a positive weight", c.Weights, what)
	}
	if c.Offset != "" {
		if t.offset, err = f.Batch.Numeric(c.Offset); err != nil {
			return nil, err
		}
		for i, v := range t.offset {
			if v-v != 0 {
				return nil, fmt.Errorf("native: offset %q, data row %d: %g is not a finite number", c.Offset, f.Batch.Row(i)+1, v)
			}
		}
	}
	return t, nil
}

func weights(f *rows.Frame, column string) ([]float64, error) {
	if column == "" {
		w := make([]float64, f.Rows())
		for i := range w {
			w[i] = 1
		}
		return w, nil
	}
	w, err := f.Batch.Numeric(column)
	if err != nil {
		return nil, err
	}
	for i, v := range w {
		if !(v >= 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("native: weights %q, data row %d: %g is not a finite number >= 0", column, f.Batch.Row(i)+1, v)
		}
	}
	return w, nil
}

// varies refuses a response without variation among rows of positive weight:
// there is nothing to learn, and the scale would be 0.
func (t *target) varies(c *Config) error {
	first := math.NaN()
	for i, y := range t.y {
		if t.w[i] == 0 {
			continue
		}
		if math.IsNaN(first) {
			first = y
		}
		if y != first {
			return nil
		}
	}
	if c.Family.Name() == "binomial" {
		return fmt.Errorf("native: the response %q has one class only: it is %g on all training rows of positive weight, and both classes are needed", c.Response, first)
	}
	return fmt.Errorf("native: the response %q is constant: it is %g on all training rows of positive weight, so there is nothing to learn", c.Response, first)
}

// scalingOf is the weighted mean and standard deviation of y less its offset.
func (t *target) scalingOf(c *Config, centre bool) scaling {
	s := scaling{0, 1}
	if c.Training.WithoutResponseScaling || !scales(c.trained()) {
		return s
	}
	mean, variance := t.moments(true)
	if variance > 0 {
		s.scale = math.Sqrt(variance)
	}
	if centre {
		s.shift = mean
	}
	return s
}

// scales: the family stays the same in other units of the response.
func scales(f family.Differentiable) bool {
	switch f := f.(type) {
	case family.Gaussian, family.StudentT:
		return true
	case family.GaussianLS:
		return f.Scale == family.LogScale // a softplus scale has no units to give back
	case family.Held: // a given scale is in the response's units
		_, ok := f.Of().(family.StudentT)
		return ok && f.Predictors() > 1
	}
	return false
}

// location: the first predictor is on the scale of the response.
func location(f family.Differentiable) bool {
	if h, ok := f.(family.Held); ok {
		f = h.Of()
	}
	switch f.(type) {
	case family.Gaussian, family.GaussianLS, family.StudentT:
		return true
	}
	return false
}

// moments are the weighted mean and variance of y, or of y less its offset.
func (t *target) moments(less bool) (mean, variance float64) {
	y := func(i int) float64 {
		if t.offset == nil || !less {
			return t.y[i]
		}
		return t.y[i] - t.offset[i]
	}
	for i, w := range t.w {
		mean += w * y(i) / t.sumW
	}
	for i, w := range t.w {
		variance += w * (y(i) - mean) * (y(i) - mean) / t.sumW
	}
	return mean, variance
}

// scaled is the target in training's units.
func (t *target) scaled(s scaling) *target {
	if s == (scaling{0, 1}) {
		return t
	}
	u := &target{w: t.w, sumW: t.sumW, y: make([]float64, len(t.y))}
	for i, y := range t.y {
		u.y[i] = (y - s.shift) / s.scale
	}
	if t.offset != nil {
		u.offset = make([]float64, len(t.y))
		for i, v := range t.offset {
			u.offset[i] = v / s.scale
		}
	}
	return u
}

// at is the predictor of row i that the family sees: eta plus the offset.
func (t *target) at(dst, eta []float64, i int) {
	copy(dst, eta)
	if t.offset != nil {
		dst[0] += t.offset[i]
	}
}

// intercepts fits the intercept-only model by Fisher scoring, from its moments if
// the family has shapes: the predictors for which free is false stay 0.
func (t *target) intercepts(f family.Differentiable, free []bool) []float64 {
	k := f.Predictors()
	b, eta, grad, info := make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, k)
	low, high := slices.Repeat([]float64{math.Inf(-1)}, k), slices.Repeat([]float64{math.Inf(1)}, k)
	if s, ok := f.(family.Shaped); ok {
		start := s.Start(t.moments(location(f)))
		for j, name := range s.Parameters() {
			if free[j] {
				b[j] = start[j]
			}
			if j > 0 && name != "sigma" { // beyond it a shape changes nothing, and could not be left
				low[j], high[j] = -15, 15
			}
		}
	}
	for range 200 {
		sum, total := make([]float64, k), make([]float64, k)
		for i := range t.y {
			t.at(eta, b, i)
			f.Score(grad, info, t.y[i], t.w[i], eta, 1)
			for j := range b {
				sum[j] += grad[j]
				total[j] += info[j]
			}
		}
		largest := 0.0
		for j := range b {
			if !free[j] || !(total[j] > 0) {
				continue
			}
			step := math.Max(-1, math.Min(1, sum[j]/total[j])) // far off, Fisher's step is wild
			if j == 0 && location(f) {
				step = sum[j] / total[j]
			}
			step = math.Max(low[j], math.Min(high[j], b[j]+step)) - b[j]
			b[j] += step
			largest = math.Max(largest, math.Abs(step)/(1+math.Abs(b[j])))
		}
		if largest < 1e-10 {
			break
		}
	}
	return b
}

// working is the response z = b_k + score/information of predictor k at the
// intercept-only model, with the information as weights: one step of Fisher
// scoring is a weighted least squares fit to it (Wood 2017, 3.1.2). The offset is
// not part of z.
func (t *target) working(f family.Differentiable, b []float64, k int) (z, w []float64) {
	n, kk := len(t.y), len(b)
	z, w = make([]float64, n), make([]float64, n)
	eta, grad, info := make([]float64, kk), make([]float64, kk), make([]float64, kk)
	for i := range n {
		t.at(eta, b, i)
		f.Score(grad, info, t.y[i], t.w[i], eta, 1)
		z[i] = b[k]
		if info[k] > 0 {
			z[i] += grad[k] / info[k]
			w[i] = info[k]
		}
	}
	return z, w
}
