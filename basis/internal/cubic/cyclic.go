package cubic

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/knot"
)

// Cyclic evaluates a cyclic cubic spline from its values at all knots but the
// last: with delta = F a its second derivatives there.
type Cyclic struct {
	knots []float64
	f     *mat.Dense // (k-1) x (k-1)
	d     *mat.Dense // the differences D of F = B^-1 D
	scale float64    // intervals per unit of x
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
	c := &Cyclic{knots: knots, f: new(mat.Dense), d: d, scale: float64(n) / (knots[n] - knots[0])}
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

// Row writes all k-1 values at x (Wood 2017, 5.3.2).
func (c *Cyclic) Row(out []float64, x float64) int {
	t, n := c.knots, len(c.knots)-1
	x = knot.Wrap(x, t[0], t[n])
	j := c.interval(x)
	next := j + 1
	if next == n {
		next = 0
	}
	h, below, above := t[j+1]-t[j], x-t[j], t[j+1]-x
	lower := above * (above*above/h - h) / 6
	upper := below * (below*below/h - h) / 6
	f0, f1 := c.f.RawRowView(j), c.f.RawRowView(next)
	out, f0, f1 = out[:n], f0[:n], f1[:n]
	for l := range out {
		out[l] = lower*f0[l] + upper*f1[l]
	}
	out[j] += above / h
	out[next] += below / h
	return 0
}

// interval finds j with knots[j] <= x < knots[j+1] for x within the period, of which
// the end belongs to the last: near where it would be on equispaced knots, or by
// halves.
func (c *Cyclic) interval(x float64) int {
	t, n := c.knots, len(c.knots)-1
	j := min(max(int((x-t[0])*c.scale), 0), n-1)
	for range 2 {
		switch {
		case j > 0 && x < t[j]:
			j--
		case j < n-1 && x >= t[j+1]:
			j++
		default:
			return j
		}
	}
	return sort.Search(n-1, func(i int) bool { return x < t[i+1] })
}
