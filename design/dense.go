package design

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Both dense products of this package go through this file.

// addProduct adds a' diag(w) b to c, every entry in row order.
func addProduct(c, a, b blas64.General, w []float64) {
	kernel.AddCross(c.Data, c.Stride, a.Data, a.Stride, a.Cols, b.Data, b.Stride, b.Cols, a.Rows, w)
}

// addGram adds a' diag(w) a to c: the upper triangle, then its mirror image.
func addGram(c, a blas64.General, w []float64) {
	kernel.AddGram(c.Data, c.Stride, a.Data, a.Stride, a.Cols, a.Rows, w)
}
