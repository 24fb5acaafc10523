package cubic

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/knot"
)

// Cyclic evaluates a cyclic cubic spline from its values at all knots but the
// last: with delta = F a its second derivatives there.
type Cyclic struct {
	knots  []float64
	f      *mat.Dense // (k-1) x (k-1)
	d      *mat.Dense // the differences D of F = B^-1 D
	breaks *knot.Breaks
	rows   rows
}

// NewCyclic makes the basis on k >= 4 increasing knots, the first and the last of which
// are one point. It keeps the slice.
func NewCyclic(knots []float64) (*Cyclic, error) {
	n := len(knots) - 1
	if n < 3 || n >= knot.MaxDim {
		return nil, fmt.Errorf("%d knots: a cc basis has 4 to %d", len(knots), knot.MaxDim)
	}
	if err := knot.Check(knots); err != nil {
		return nil, err
	}
	b, d := cyclicSystem(knots)
	c := &Cyclic{knots: knots, f: new(mat.Dense), d: d, breaks: knot.NewBreaks(knots)}
	if err := c.f.Solve(b, d); err != nil {
		var near mat.Condition
		if !errors.As(err, &near) || math.IsInf(float64(near), 0) {
			return nil, knot.ErrScale
		}
	}
	for _, v := range c.f.RawMatrix().Data {
		if !knot.Finite(v) {
			return nil, knot.ErrScale
		}
	}
	c.rows = newRows(n, knots, func(i int) []float64 { return c.f.RawRowView(i % n) })
	return c, nil
}

// cyclicSystem is B and D of B F = D, the continuity of the slope at each knot.
func cyclicSystem(knots []float64) (b, d *mat.Dense) {
	n := len(knots) - 1
	b, d = mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	add := func(m *mat.Dense, i, j int, v float64) { m.Set(i, j, m.At(i, j)+v) }
	for i := range n { // knot i between intervals before and i
		before, after := (i+n-1)%n, (i+1)%n
		h, next := knots[before+1]-knots[before], knots[i+1]-knots[i]
		add(b, i, i, (h+next)/3)
		add(b, i, before, h/6)
		add(b, i, after, next/6)
		add(d, i, i, -1/h-1/next)
		add(d, i, before, 1/h)
		add(d, i, after, 1/next)
	}
	return b, d
}

// Penalty is D'B^-1 D = D'F, the integral of the squared second derivative.
func (c *Cyclic) Penalty() *mat.SymDense {
	var s mat.Dense
	s.Mul(c.d.T(), c.f)
	return symmetric(&s)
}

// Dim is k - 1.
func (c *Cyclic) Dim() int { return len(c.knots) - 1 }

// Width is k - 1: every function is other than 0 between the knots.
func (c *Cyclic) Width() int { return len(c.knots) - 1 }

// Knots are in the basis' own memory, both ends of the period among them.
func (c *Cyclic) Knots() []float64 { return c.knots }

// Evaluate writes all k-1 values at each x to rows of dst that are stride apart (Wood 2017, 5.3.2).
func (c *Cyclic) Evaluate(dst []float64, stride int, x []float64) {
	c.rows.evaluate(dst, stride, x, c.place)
}

// place finds the interval of x, and where x is in it.
func (c *Cyclic) place(x float64) (j, next int, below, above float64) {
	t, n := c.knots, len(c.knots)-1
	x = knot.Wrap(x, t[0], t[n])
	j = c.breaks.Interval(x)
	if next = j + 1; next == n {
		next = 0
	}
	return j, next, x - t[j], t[j+1] - x
}

// Row writes all k-1 values at x.
func (c *Cyclic) Row(out []float64, x float64) int {
	c.Evaluate(out, len(c.knots)-1, []float64{x})
	return 0
}
