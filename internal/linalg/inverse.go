package linalg

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
)

// Invert overwrites a (n x n, n > 0) with its inverse, both triangles of it; false, and a is
// worth nothing: a is not positive definite in floating point.
func Invert(a *mat.SymDense) bool {
	var c Cholesky
	if !c.Factorize(a) {
		return false
	}
	c.Invert()
	return true
}

// Invert overwrites the matrix that was factored with A^-1, both triangles of it.
func (c *Cholesky) Invert() {
	c.InvertUpper()
	kernel.AddGram(c.a, c.n, nil, 0, c.n, 0, nil) // the lower triangle becomes the mirror image of the upper
}

// InvertUpper is Invert of the upper triangle; the lower one is worth nothing.
func (c *Cholesky) InvertUpper() {
	n := c.n
	team := newTeam(n * n * n / 3)
	defer team.end()
	c.invertFactor(team)
	var memory pool
	team.columns(0, n, panel, n*n*n/6, func(lo, hi int) {
		if !c.stopped() {
			own := memory.get((hi - lo) * (hi - lo))
			c.gramColumns(lo, hi, own)
			memory.put(own)
		}
	})
}

// InverseFactorTo sets dst (n x n) to U^-1, zeros below the diagonal. After it there is no
// Solve and no Invert.
func (c *Cholesky) InverseFactorTo(dst *mat.Dense) {
	team := newTeam(c.n * c.n * c.n / 6)
	defer team.end()
	c.invertFactor(team)
	to, n := dst.RawMatrix(), c.n
	for i := range n {
		row := to.Data[i*to.Stride : i*to.Stride+n]
		clear(row[:i])
		row[i] = 1 / c.diag[i]
		for j := i + 1; j < n; j++ {
			row[j] = c.a[j*n+i]
		}
	}
}

// invertFactor makes X = U^-T below the diagonal, by panels of columns, of which none depends on
// another: X_jj = U_jj^-T, and below it X_ij = -U_ii^-T (U_ji'X_jj + ... + U_i-1,i'X_i-1,j).
// The diagonal of X is that of U, inverted.
func (c *Cholesky) invertFactor(team team) {
	n := c.n
	if c.corners == nil {
		c.corners = make([]float64, n*min(n, panel))
	}
	panels := (n + panel - 1) / panel
	team.each(panels, n*n*n/6, func(j int) { // from the longest to the shortest
		from, to := j*panel, min((j+1)*panel, n)
		c.invertBlock(from, to)
		for lo := to; lo < n && !c.stopped(); lo += panel {
			hi := min(lo+panel, n)
			c.subtractInverse(lo, hi, from, to)
			c.eliminate(lo, hi, from, to)
		}
	})
}

// corner is the block of X on the diagonal in rows lo:hi, with zeros above it, without gaps.
func (c *Cholesky) corner(lo, hi int) []float64 {
	width := hi - lo
	return c.corners[lo*min(c.n, panel):][:width*width]
}

// subtractInverse sets columns from:to of rows lo:hi to what the rows of X above them and U make of them.
func (c *Cholesky) subtractInverse(lo, hi, from, to int) {
	n, width := c.n, hi-lo
	rows := c.a[lo*n+from:]
	for i := range width {
		clear(rows[i*n : i*n+to-from])
	}
	kernel.AddCross(rows, n, c.a[from*n+lo:], n, width, c.corner(from, to), to-from, to-from, to-from, c.ones)
	c.subtract(to, lo, lo, hi, from, to)
}

// invertBlock makes rows and columns lo:hi of X.
func (c *Cholesky) invertBlock(lo, hi int) {
	n, width := c.n, hi-lo
	x := c.corner(lo, hi)
	clear(x)
	for at := 0; at < width; at += strip {
		end := min(at+strip, width)
		if at > 0 {
			kernel.AddCross(x[at*width:], width, c.a[lo*n+lo+at:], n, end-at, x, width, at, at, c.ones)
		}
		for i := at; i < end; i++ {
			row := x[i*width : i*width+i+1]
			row[i] = 1
			for k := at; k < i; k++ {
				kernel.Axpy(row[:k+1], x[k*width:k*width+k+1], -c.a[(lo+k)*n+lo+i])
			}
			floats.Scale(1/c.diag[lo+i], row)
			copy(c.a[(lo+i)*n+lo:], row[:i])
		}
	}
}

// gramColumns sets columns lo:hi of the upper triangle to those of X'X; own is memory for the
// block on the diagonal.
func (c *Cholesky) gramColumns(lo, hi int, own []float64) {
	n, width := c.n, hi-lo
	x := c.corner(lo, hi)
	for i := range lo {
		clear(c.a[i*n+lo : i*n+hi])
	}
	if lo > 0 {
		kernel.AddCross(c.a[lo:], n, c.a[lo*n:], n, lo, x, width, width, width, nil)
	}
	clear(own)
	kernel.AddCross(own, width, x, width, width, x, width, width, width, nil)
	if below := n - hi; below > 0 {
		kernel.AddCross(c.a[lo:], n, c.a[hi*n:], n, lo, c.a[hi*n+lo:], n, width, below, nil)
		kernel.AddCross(own, width, c.a[hi*n+lo:], n, width, c.a[hi*n+lo:], n, width, below, nil)
	}
	for i := range width {
		copy(c.a[(lo+i)*n+lo+i:(lo+i)*n+hi], own[i*width+i:(i+1)*width])
	}
}
