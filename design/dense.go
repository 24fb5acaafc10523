package design

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

// Both dense products of this package go through this file: a faster kernel
// replaces addTile. Tiles of c stay in the cache while the rows pass by; every
// entry of c is summed in row order.
const (
	tileRows    = 64
	tileColumns = 256
	narrow      = 8 // columns below which a call per row costs more than it saves
)

// addProduct adds a' diag(w) b to c.
func addProduct(c, a, b blas64.General, w []float64) {
	if b.Cols < narrow {
		addNarrow(c, a, b, w)
		return
	}
	for j := 0; j < a.Cols; j += tileRows {
		for k := 0; k < b.Cols; k += tileColumns {
			addTile(c, a, b, w, j, min(j+tileRows, a.Cols), k, min(k+tileColumns, b.Cols), false)
		}
	}
}

// addGram adds a' diag(w) a to c: the upper triangle, then its mirror image.
func addGram(c, a blas64.General, w []float64) {
	for j := 0; j < a.Cols; j += tileRows {
		for k := j; k < a.Cols; k += tileColumns {
			addTile(c, a, a, w, j, min(j+tileRows, a.Cols), k, min(k+tileColumns, a.Cols), true)
		}
	}
	for j := range c.Rows {
		for k := range j {
			c.Data[j*c.Stride+k] = c.Data[k*c.Stride+j]
		}
	}
}

// addTile adds rows j0 to j1-1 and columns k0 to k1-1 of a' diag(w) b, on and
// above the diagonal only if upper.
func addTile(c, a, b blas64.General, w []float64, j0, j1, k0, k1 int, upper bool) {
	var kernel gonum.Implementation
	for i := range a.Rows {
		wi := weight(w, i)
		ra := a.Data[i*a.Stride:]
		rb := b.Data[i*b.Stride:]
		for j := j0; j < j1; j++ {
			k := k0
			if upper {
				k = max(j, k0)
			}
			if k < k1 {
				kernel.Daxpy(k1-k, wi*ra[j], rb[k:k1], 1, c.Data[j*c.Stride+k:], 1)
			}
		}
	}
}

// addNarrow adds a' diag(w) b for a b of few columns.
func addNarrow(c, a, b blas64.General, w []float64) {
	for i := range a.Rows {
		wi := weight(w, i)
		ra := a.Data[i*a.Stride:][:a.Cols]
		for k, v := range b.Data[i*b.Stride:][:b.Cols] {
			v *= wi
			at := k
			for _, u := range ra {
				c.Data[at] += u * v
				at += c.Stride
			}
		}
	}
}
