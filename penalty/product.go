package penalty

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// product is a b.
func product(a, b *mat.Dense) *mat.Dense { return linalg.Product(a, b) }

// productTrans is a b'.
func productTrans(a, b *mat.Dense) *mat.Dense { return linalg.ProductTrans(a, b) }

// productInto sets c = a b, or a b' if trans; b holds its rows without gaps.
func productInto(c, a blas64.General, b []float64, trans bool) { linalg.ProductInto(c, a, b, trans) }

// dense is x's rows without gaps: its own memory if it has none.
func dense(x *mat.Dense) []float64 { return linalg.Compact(x) }

// full is both triangles of s.
func full(s *mat.SymDense) *mat.Dense { return linalg.Full(s) }
