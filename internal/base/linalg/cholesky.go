// Package linalg holds the dense linear algebra of symmetric matrices: Cholesky factors and
// inverses, products, and the null space of a positive semidefinite matrix. Nearly all of it
// is done in kernel's matrix products, by several goroutines where that is worthwhile. Every
// number is summed in an order that depends on the sizes alone, so results do not depend on
// how many processors there are.
package linalg

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Widths of the blocks of rows that are worked on at once: panel/n of the work is inside
// panels, strip/n without matrix products.
const (
	panel = 64
	strip = 8
)

// Cholesky is the factor A = U'U of a symmetric positive definite matrix, in the matrix's
// own memory. The zero value is ready for Factorize.
type Cholesky struct {
	// Stopped tells, if it is not nil, that the outcome is not needed any more: then
	// Factorize is false, and what the other methods make is worth nothing.
	Stopped func() bool

	n       int
	a       []float64 // n x n by rows: U, its strict lower triangle that of U^-T once it is inverted
	diag    []float64 // of U
	ones    []float64 // n times -1: products are subtracted
	corners []float64 // n x panel: the blocks of U^-T on the diagonal; made when it is inverted
}

func (c *Cholesky) stopped() bool { return c.Stopped != nil && c.Stopped() }

// Factorize overwrites a (n x n) with its factor; false if a is not positive definite in
// floating point. c uses the memory of a from now on: the caller reads a again
// after Invert.
func (c *Cholesky) Factorize(a *mat.SymDense) bool {
	c.take(a)
	team := newTeam(c.n * c.n * c.n / 6)
	defer team.end()
	return c.factor(team, 0, c.n)
}

// Triangle takes the upper triangle of a for a factor U with a positive diagonal, instead of
// Factorize.
func (c *Cholesky) Triangle(a *mat.SymDense) {
	c.take(a)
	for i := range c.diag {
		c.diag[i] = c.a[i*c.n+i]
	}
}

func (c *Cholesky) take(a *mat.SymDense) {
	raw := a.RawSymmetric()
	if raw.Stride != raw.N {
		panic("linalg: the rows of a matrix to factor have gaps between them")
	}
	c.a = raw.Data
	if c.n != raw.N {
		c.n, c.diag = raw.N, make([]float64, raw.N)
		c.ones, c.corners = make([]float64, raw.N), nil
		for i := range c.ones {
			c.ones[i] = -1
		}
	}
}

// factor makes rows and columns lo:hi of U, from which the rows above are taken already:
//
//	U_11'U_11 = A_11,   U_12 = U_11^-T A_12,   U_22'U_22 = A_22 - U_12'U_12.
func (c *Cholesky) factor(team team, lo, hi int) bool {
	if c.stopped() {
		return false
	}
	if hi-lo <= panel {
		return c.factorBlock(lo, hi)
	}
	mid := half(lo, hi)
	if !c.factor(team, lo, mid) {
		return false
	}
	work := (mid - lo) * (hi - mid)
	team.columns(mid, hi, work*(mid-lo)/2, func(from, to int) { c.eliminate(lo, mid, from, to) })
	team.columns(mid, hi, work*(hi-mid)/2, func(from, to int) {
		upper(mid, from, to, func(first, last, from, to int) { c.subtract(lo, mid, first, last, from, to) })
	})
	return c.factor(team, mid, hi)
}

// half is about the middle of lo:hi, whole panels from lo.
func half(lo, hi int) int { return lo + ((hi-lo+1)/2+panel-1)/panel*panel }

// factorBlock is factor by rows.
func (c *Cholesky) factorBlock(lo, hi int) bool {
	n := c.n
	for at := lo; at < hi; at += strip {
		end := min(at+strip, hi)
		c.subtract(lo, at, at, end, at, hi)
		for i := at; i < end; i++ {
			row := c.a[i*n+i : i*n+hi]
			for k := at; k < i; k++ {
				above := c.a[k*n+i : k*n+hi]
				kernel.Axpy(row, above, -above[0])
			}
			if !(row[0] > 0) || math.IsInf(row[0], 0) {
				return false
			}
			floats.Scale(1/math.Sqrt(row[0]), row)
			c.diag[i] = row[0]
		}
	}
	return true
}

// eliminate makes columns from:to of rows lo:hi of U, by halves of the rows: the block on the
// diagonal is factored.
func (c *Cholesky) eliminate(lo, hi, from, to int) {
	if hi-lo > panel {
		mid := half(lo, hi)
		c.eliminate(lo, mid, from, to)
		c.subtract(lo, mid, mid, hi, from, to)
		if !c.stopped() {
			c.eliminate(mid, hi, from, to)
		}
		return
	}
	n := c.n
	for at := lo; at < hi; at += strip {
		end := min(at+strip, hi)
		c.subtract(lo, at, at, end, from, to)
		for i := at; i < end; i++ {
			row := c.a[i*n+from : i*n+to]
			for k := at; k < i; k++ {
				kernel.Axpy(row, c.a[k*n+from:k*n+to], -c.a[k*n+i])
			}
			floats.Scale(1/c.diag[i], row)
		}
	}
}

// subtract takes from columns from:to of rows lo:hi what rows first:last of U make of them.
func (c *Cholesky) subtract(first, last, lo, hi, from, to int) {
	if n := c.n; first < last && lo < hi {
		kernel.AddCross(c.a[lo*n+from:], n, c.a[first*n+lo:], n, hi-lo, c.a[first*n+from:], n, to-from, last-first, c.ones)
	}
}

// LogDet is log|A|.
func (c *Cholesky) LogDet() float64 {
	sum := 0.0
	for _, v := range c.diag {
		sum += math.Log(v)
	}
	return 2 * sum
}

// Least is the smallest number on the diagonal of U.
func (c *Cholesky) Least() float64 { return floats.Min(c.diag) }

// Solve overwrites x with A^-1 x. Not after Invert.
func (c *Cholesky) Solve(x []float64) {
	n := c.n
	for i := range n {
		row := c.a[i*n+i : (i+1)*n]
		x[i] /= row[0]
		kernel.Axpy(x[i+1:n], row[1:], -x[i])
	}
	for i := n - 1; i >= 0; i-- {
		row := c.a[i*n+i : (i+1)*n]
		x[i] = (x[i] - kernel.Dot(row[1:], x[i+1:n])) / row[0]
	}
}
