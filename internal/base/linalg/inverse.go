package linalg

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
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
	team.columns(0, n, n*n*n/6, func(lo, hi int) {
		if !c.stopped() {
			own := memory.get(panel * panel)
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

// invertFactor makes X = U^-T below the diagonal, some columns at once, of which none depends on
// another. The diagonal of X is that of U, inverted.
func (c *Cholesky) invertFactor(team team) {
	n := c.n
	if c.corners == nil {
		c.corners = make([]float64, n*min(n, panel))
	}
	atOnce := columnsAtOnce(n, team.pool.Size())
	team.each((n+atOnce-1)/atOnce, n*n*n/6, func(j int) { // from the longest to the shortest
		if !c.stopped() {
			c.invertColumns(j*atOnce, min((j+1)*atOnce, n))
		}
	})
}

// invertColumns makes columns lo:hi of X: with U_1 and X_1 blocks on the diagonal, U_12 beside U_1 and
// U_2 the block below U_12 on the diagonal,
//
//	X_1 = U_1^-T,   X_2 = -U_2^-T U_12'X_1.
//
// X_1 is first a panel's block, panel after panel, then that of all the columns.
func (c *Cholesky) invertColumns(lo, hi int) {
	for from := lo; from < hi; from += panel {
		to := min(from+panel, hi)
		c.invertBlock(from, to)
		c.subtractCorner(to, c.n, from, to)
		c.eliminate(to, hi, from, to)
		c.subtract(to, hi, hi, c.n, from, to)
	}
	if hi < c.n {
		c.eliminate(hi, c.n, lo, hi)
	}
}

// corner is the block of X on the diagonal in rows lo:hi, with zeros above it, without gaps.
func (c *Cholesky) corner(lo, hi int) []float64 {
	width := hi - lo
	return c.corners[lo*min(c.n, panel):][:width*width]
}

// subtractCorner sets columns from:to of rows lo:hi to what the block of X on the diagonal of these columns, and
// U beside it, make of them.
func (c *Cholesky) subtractCorner(lo, hi, from, to int) {
	if lo == hi {
		return
	}
	n, width := c.n, to-from
	rows := c.a[lo*n+from:]
	for i := range hi - lo {
		clear(rows[i*n : i*n+width])
	}
	kernel.AddCross(rows, n, c.a[from*n+lo:], n, hi-lo, c.corner(from, to), width, width, width, c.ones)
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

// gramColumns sets columns lo:hi of the upper triangle to those of X'X; own is memory for a
// panel's block on the diagonal.
func (c *Cholesky) gramColumns(lo, hi int, own []float64) {
	for from := lo; from < hi; from += panel {
		to := min(from+panel, hi)
		width := to - from
		own := own[:width*width]
		x := c.corner(from, to)
		for i := range from {
			clear(c.a[i*c.n+from : i*c.n+to])
		}
		if from > 0 {
			kernel.AddCross(c.a[from:], c.n, c.a[from*c.n:], c.n, from, x, width, width, width, nil)
		}
		c.addGram(to, hi, 0, from, from, to)
		c.addGram(hi, c.n, lo, from, from, to)
		clear(own)
		kernel.AddCross(own, width, x, width, width, x, width, width, width, nil)
		if below := c.n - to; below > 0 {
			kernel.AddCross(own, width, c.a[to*c.n+from:], c.n, width, c.a[to*c.n+from:], c.n, width, below, nil)
		}
		for i := range width {
			copy(c.a[(from+i)*c.n+from+i:(from+i)*c.n+to], own[i*width+i:(i+1)*width])
		}
	}
	c.addGram(hi, c.n, 0, lo, lo, hi)
}

// addGram adds to columns from:to of rows lo:hi what rows first:last of X make of them.
func (c *Cholesky) addGram(first, last, lo, hi, from, to int) {
	if n := c.n; first < last && lo < hi {
		kernel.AddCross(c.a[lo*n+from:], n, c.a[first*n+lo:], n, hi-lo, c.a[first*n+from:], n, to-from, last-first, nil)
	}
}
