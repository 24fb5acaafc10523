package bspline

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/knot"
)

// PeriodicDifference is D'D (k x k), D the differences of the given order, less than k,
// of k coefficients on a circle.
func PeriodicDifference(k, order int) *mat.SymDense {
	c := []float64{1}
	for range order {
		next := make([]float64, len(c)+1)
		for i, v := range c {
			next[i] -= v
			next[i+1] += v
		}
		c = next
	}
	s := mat.NewSymDense(k, nil)
	for r := range k {
		for i, ci := range c {
			for j, cj := range c {
				if a, b := (r+i)%k, (r+j)%k; a <= b {
					s.SetSym(a, b, s.At(a, b)+ci*cj)
				}
			}
		}
	}
	return s
}

// Periodic evaluates periodic B-splines: on interval i of the period the
// degree+1 functions i, ..., i+degree, counted around the circle, are not 0.
type Periodic struct {
	knots  []float64 // k+1 over the period
	around *Basis    // the same knots, continued by degree on both sides
}

// NewPeriodic makes the basis of len(knots) - 1 periodic B-splines; the first and the last
// knot are one point. It keeps the slice.
func NewPeriodic(degree int, knots []float64) (*Periodic, error) {
	k := len(knots) - 1
	if k < degree+1 || k > knot.MaxDim-MaxDegree {
		return nil, fmt.Errorf("%d knots for periodic splines of degree %d: %d to %d are possible", len(knots), degree, degree+2, knot.MaxDim-MaxDegree+1)
	}
	if err := knot.Check(knots); err != nil {
		return nil, err
	}
	if degree < 1 || degree > MaxDegree {
		return nil, fmt.Errorf("splines of degree %d: 1 to %d are possible", degree, MaxDegree)
	}
	period := knots[k] - knots[0]
	var all []float64
	for i := k - degree; i < k; i++ {
		all = append(all, knots[i]-period)
	}
	all = append(all, knots...)
	for i := 1; i <= degree; i++ {
		all = append(all, knots[i]+period)
	}
	p, err := New(degree, all)
	if err != nil {
		return nil, err
	}
	return &Periodic{knots: knots, around: p}, nil
}

// Dim is the number of functions.
func (c *Periodic) Dim() int { return len(c.knots) - 1 }

// Width is how many functions are not 0 at any x.
func (c *Periodic) Width() int { return c.around.Width() }

// Degree is that of the polynomials between the knots.
func (c *Periodic) Degree() int { return c.around.degree }

// Knots are those of one period with both ends, in the basis' own memory.
func (c *Periodic) Knots() []float64 { return c.knots }

// Row is that of Basis at x taken into the period; after the last function comes the
// first.
func (c *Periodic) Row(out []float64, x float64) int {
	return c.around.Row(out, knot.Wrap(x, c.knots[0], c.knots[len(c.knots)-1]))
}

// Band is that of Basis, for x within the period.
func (c *Periodic) Band(first []int32, out, x []float64) bool {
	return c.around.Band(first, out, x)
}
