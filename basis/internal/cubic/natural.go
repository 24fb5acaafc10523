package basis

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"
)

// CR is the cubic regression spline basis (Wood 2017, 5.3.1): the coefficients
// are the values of a natural cubic spline at K knots, the penalty its integrated
// squared second derivative. Knots are the type 7 quantiles of the distinct
// values. Outside the knots the function goes on as a straight line.
type CR struct {
	K     int       // basis dimension, at least 3; 0: 10, or the number of Knots
	Knots []float64 // K increasing values; nil: from the data
	// Shrink penalises straight lines and constants too (mgcv's bs = "cs"): the line
	// by a tenth, the constant by a hundredth of what the smoothest curve has, so that
	// the whole term can go to 0.
	Shrink bool
}

func (s CR) label() string {
	if s.Shrink {
		return "cs"
	}
	return "cr"
}

// valued: the coefficients are the function's values.
func (s CR) valued() bool { return true }

func (s CR) settings() (k int, err error) {
	k = s.K
	if k == 0 {
		k = 10
		if len(s.Knots) > 0 {
			k = len(s.Knots)
		}
	}
	if k < 3 || k > maxK {
		return 0, fmt.Errorf("k = %d: %s takes k from 3 to %d", k, s.label(), maxK)
	}
	if n := len(s.Knots); n != 0 && n != k {
		return 0, fmt.Errorf("%d knots: %s takes as many as k, %d", n, s.label(), k)
	}
	return k, increasing(s.Knots)
}

func (s CR) check() error {
	_, err := s.settings()
	return err
}

func (s CR) values(column string) values { return values{column: column, limit: maxValues} }

func (s CR) build(v *values) (spline, *mat.SymDense, error) {
	k, err := s.settings()
	if err != nil {
		return nil, nil, err
	}
	if err := enough(v, k, 3); err != nil {
		return nil, nil, err
	}
	knots := slices.Clone(s.Knots)
	switch {
	case len(knots) == 0:
		knots = v.quantiles(k)
	case knots[k-1] <= v.min || knots[0] >= v.max:
		return nil, nil, fmt.Errorf("column %q goes from %g to %g, and all knots lie outside, from %g to %g: give knots among the data, or leave them out", v.column, v.min, v.max, knots[0], knots[k-1])
	}
	b, err := newCubic(knots)
	if err != nil {
		return nil, nil, fmt.Errorf("column %q: %w", v.column, err)
	}
	if s.Shrink {
		p, err := b.shrunk()
		return b, p, err
	}
	return b, b.penalty(), nil
}

// cubic evaluates a natural cubic spline from its values at the knots: with
// delta = F a its second derivatives there.
type cubic struct {
	knots []float64
	f     [][]float64 // F, k x k; rows 0 and k-1 are 0
}

func newCubic(knots []float64) (*cubic, error) {
	if len(knots) < 3 || len(knots) > maxK {
		return nil, fmt.Errorf("%d knots: a cr basis has 3 to %d", len(knots), maxK)
	}
	if err := increasing(knots); err != nil {
		return nil, err
	}
	c := &cubic{knots: knots, f: secondDerivatives(knots)}
	for _, row := range c.f {
		for _, v := range row {
			if !finite(v) {
				return nil, errors.New("the knots are too wide or too close for 64-bit numbers: rescale the column")
			}
		}
	}
	return c, nil
}

// secondDerivatives is F, which maps the values at the knots to the second
// derivatives there: B F = D for the inner knots, solved without pivoting (B is
// tridiagonal and diagonally dominant).
func secondDerivatives(t []float64) [][]float64 {
	k := len(t)
	f := make([][]float64, k)
	all := make([]float64, k*k)
	for i := range f {
		f[i] = all[i*k : (i+1)*k : (i+1)*k]
	}
	ratio := make([]float64, k) // the eliminated upper diagonal
	for i := 1; i < k-1; i++ {
		h, next := t[i]-t[i-1], t[i+1]-t[i]
		f[i][i-1], f[i][i], f[i][i+1] = 1/h, -1/h-1/next, 1/next
		pivot := (h + next) / 3
		if i > 1 {
			pivot -= h / 6 * ratio[i-1]
		}
		for l := range f[i] {
			f[i][l] = (f[i][l] - h/6*f[i-1][l]) / pivot // row 0 of F is 0
		}
		ratio[i] = next / 6 / pivot
	}
	for i := k - 3; i > 0; i-- {
		for l := range f[i] {
			f[i][l] -= ratio[i] * f[i+1][l]
		}
	}
	return f
}

// penalty is D'B^{-1}D = D'F, the integral of the squared second derivative.
func (c *cubic) penalty() *mat.SymDense {
	k, t := len(c.knots), c.knots
	full := mat.NewDense(k, k, nil)
	for i := 1; i < k-1; i++ {
		h, next := t[i]-t[i-1], t[i+1]-t[i]
		for l, v := range c.f[i] {
			full.Set(i-1, l, full.At(i-1, l)+v/h)
			full.Set(i, l, full.At(i, l)+v*(-1/h-1/next))
			full.Set(i+1, l, full.At(i+1, l)+v/next)
		}
	}
	s := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			s.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
		}
	}
	return s
}

func (c *cubic) dim() int   { return len(c.knots) }
func (c *cubic) width() int { return len(c.knots) }

// row writes all k values at x (Wood 2017, table 5.1; outside the knots the
// tangent at the nearest one).
func (c *cubic) row(out []float64, x float64) int {
	t, last := c.knots, len(c.knots)-1
	out = out[:last+1]
	if x < t[0] {
		d, h := x-t[0], t[1]-t[0]
		for l, v := range c.f[1] {
			out[l] = -d * h / 6 * v
		}
		out[0] += 1 - d/h
		out[1] += d / h
		return 0
	}
	if x > t[last] {
		d, h := x-t[last], t[last]-t[last-1]
		for l, v := range c.f[last-1] {
			out[l] = d * h / 6 * v
		}
		out[last-1] -= d / h
		out[last] += 1 + d/h
		return 0
	}
	j := sort.Search(last-1, func(i int) bool { return x < t[i+1] })
	h, below, above := t[j+1]-t[j], x-t[j], t[j+1]-x
	lower := above * (above*above/h - h) / 6
	upper := below * (below*below/h - h) / 6
	f0, f1 := c.f[j][:len(out)], c.f[j+1][:len(out)]
	for l := range out {
		out[l] = lower*f0[l] + upper*f1[l]
	}
	out[j] += above / h
	out[j+1] += below / h
	return 0
}
