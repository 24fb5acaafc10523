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

	"github.com/pho-go/pho/internal/kernel"
)

// Widths of the blocks of rows that are worked on at once: panel/n of the work is inside
// panels, strip/n without matrix products.
const (
	panel = 64
	strip = 8
	chunk = 256 // columns of a panel that stay in the second cache
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
	left    []float64 // n x panel: columns of U that a panel is updated by, without gaps
	ones    []float64 // n times -1: products are subtracted
	corners []float64 // n x panel: the blocks of U^-T on the diagonal; made when it is inverted
}

func (c *Cholesky) stopped() bool { return c.Stopped != nil && c.Stopped() }

// Factorize overwrites a (n x n) with its factor; false if a is not positive definite in
// floating point. c uses the memory of a from now on: the caller reads a again
// after Invert.
func (c *Cholesky) Factorize(a *mat.SymDense) bool {
	c.take(a)
	n := c.n
	for lo := 0; lo < n; lo += panel {
		if c.stopped() || !c.factorPanel(lo, min(lo+panel, n)) {
			return false
		}
	}
	return true
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
		c.n, c.diag, c.left = raw.N, make([]float64, raw.N), make([]float64, raw.N*min(raw.N, panel))
		c.ones, c.corners = make([]float64, raw.N), nil
		for i := range c.ones {
			c.ones[i] = -1
		}
	}
}

// factorPanel makes rows lo:hi of U from those above and from A.
func (c *Cholesky) factorPanel(lo, hi int) bool {
	n, width := c.n, hi-lo
	for k := range lo {
		copy(c.left[k*width:], c.a[k*n+lo:k*n+hi])
	}
	update := func(from, to int) { // columns from:to of the rows, by the rows above
		if lo > 0 {
			kernel.AddCross(c.a[lo*n+from:], n, c.left, width, width, c.a[from:], n, to-from, lo, c.ones)
		}
	}
	if n-lo <= chunk { // too few columns to be worth a second go
		update(lo, n)
		return c.factorBlock(lo, hi, n)
	}
	update(lo, hi)
	if !c.factorBlock(lo, hi, hi) {
		return false
	}
	chunks := (n - hi + chunk - 1) / chunk
	parallel(chunks, width*hi*(n-hi), func(first, end int) {
		for k := first; k < end; k++ {
			from, to := hi+k*chunk, min(hi+(k+1)*chunk, n)
			update(from, to)
			c.eliminate(lo, hi, from, to)
		}
	})
	return true
}

// factorBlock makes rows lo:hi of U up to column to, from which the rows above are already
// taken.
func (c *Cholesky) factorBlock(lo, hi, to int) bool {
	n := c.n
	for at := lo; at < hi; at += strip {
		end := min(at+strip, hi)
		c.subtract(lo, at, end, at, to)
		for i := at; i < end; i++ {
			row := c.a[i*n+i : i*n+to]
			for k := at; k < i; k++ {
				above := c.a[k*n+i : k*n+to]
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

// eliminate makes columns from:to of rows lo:hi of U: the block on the diagonal is factored.
func (c *Cholesky) eliminate(lo, hi, from, to int) {
	n := c.n
	for at := lo; at < hi; at += strip {
		end := min(at+strip, hi)
		c.subtract(lo, at, end, from, to)
		for i := at; i < end; i++ {
			row := c.a[i*n+from : i*n+to]
			for k := at; k < i; k++ {
				kernel.Axpy(row, c.a[k*n+from:k*n+to], -c.a[k*n+i])
			}
			floats.Scale(1/c.diag[i], row)
		}
	}
}

// subtract takes from columns from:to of rows lo:hi what rows first:lo of U make of them.
func (c *Cholesky) subtract(first, lo, hi, from, to int) {
	if n := c.n; first < lo {
		kernel.AddCross(c.a[lo*n+from:], n, c.a[first*n+lo:], n, hi-lo, c.a[first*n+from:], n, to-from, lo-first, c.ones)
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
