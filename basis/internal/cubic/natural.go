// Package cubic evaluates cubic splines from their values at the knots: natural ones,
// which go on as straight lines, and cyclic ones (Wood 2017, 5.3.1 and 5.3.2), with the
// integral of the squared second derivative as their penalty.
package cubic

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/knot"
)

// Natural evaluates a natural cubic spline from its values at the knots: with
// delta = F a its second derivatives there.
type Natural struct {
	knots  []float64
	f      [][]float64 // F, k x k; rows 0 and k-1 are 0
	breaks *knot.Breaks
	rows   rows
}

// NewNatural makes the basis on k >= 3 increasing knots. It keeps the slice.
func NewNatural(knots []float64) (*Natural, error) {
	if len(knots) < 3 || len(knots) > knot.MaxDim {
		return nil, fmt.Errorf("%d knots: a cr basis has 3 to %d", len(knots), knot.MaxDim)
	}
	if err := knot.Check(knots); err != nil {
		return nil, err
	}
	c := &Natural{knots: knots, f: secondDerivatives(knots), breaks: knot.NewBreaks(knots)}
	for _, row := range c.f {
		for _, v := range row {
			if !knot.Finite(v) {
				return nil, knot.ErrScale
			}
		}
	}
	c.rows = newRows(len(knots), knots, func(i int) []float64 { return c.f[i] })
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

// Penalty is D'B^{-1}D = D'F, the integral of the squared second derivative.
func (c *Natural) Penalty() *mat.SymDense {
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
	return symmetric(full)
}

// symmetric is the mean of a square matrix and its transpose.
func symmetric(m *mat.Dense) *mat.SymDense {
	n, _ := m.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	return s
}

// Dim is the number k of knots.
func (c *Natural) Dim() int { return len(c.knots) }

// Width is k: every function is other than 0 between the knots.
func (c *Natural) Width() int { return len(c.knots) }

// Knots are in the basis' own memory.
func (c *Natural) Knots() []float64 { return c.knots }

// Evaluate writes all k values at each x to rows of dst that are stride apart (Wood 2017, table 5.1; outside the
// knots the tangent at the nearest one).
func (c *Natural) Evaluate(dst []float64, stride int, x []float64) {
	c.rows.evaluate(dst, stride, x, c.place)
	lo, hi := c.knots[0], c.knots[len(c.knots)-1]
	for i, v := range x {
		if v < lo || v > hi {
			c.tangent(dst[i*stride:][:len(c.knots)], v)
		}
	}
}

// place finds the interval of x, and where x is in it; one outside is taken to the nearest knot.
func (c *Natural) place(x float64) (j, next int, below, above float64) {
	t, last := c.knots, len(c.knots)-1
	x = min(max(x, t[0]), t[last])
	j = c.breaks.Interval(x)
	return j, j + 1, x - t[j], t[j+1] - x
}

// tangent writes the values at an x outside.
func (c *Natural) tangent(out []float64, x float64) {
	t, last := c.knots, len(c.knots)-1
	if x < t[0] {
		d, h := x-t[0], t[1]-t[0]
		for l, v := range c.f[1] {
			out[l] = -d * h / 6 * v
		}
		out[0] += 1 - d/h
		out[1] += d / h
		return
	}
	d, h := x-t[last], t[last]-t[last-1]
	for l, v := range c.f[last-1] {
		out[l] = d * h / 6 * v
	}
	out[last-1] -= d / h
	out[last] += 1 + d/h
}

// Row writes all k values at x.
func (c *Natural) Row(out []float64, x float64) int {
	c.Evaluate(out, len(c.knots), []float64{x})
	return 0
}
