package penalty

import (
	"runtime"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
)

// product is a b.
func product(a, b *mat.Dense) *mat.Dense {
	m, _ := a.Dims()
	_, n := b.Dims()
	c := mat.NewDense(m, n, nil)
	productInto(c.RawMatrix(), a.RawMatrix(), dense(b), false)
	return c
}

// productTrans is a b'.
func productTrans(a, b *mat.Dense) *mat.Dense {
	m, _ := a.Dims()
	n, _ := b.Dims()
	c := mat.NewDense(m, n, nil)
	productInto(c.RawMatrix(), a.RawMatrix(), dense(b), true)
	return c
}

// productInto sets c = a b, or a b' if trans; b holds its rows without gaps.
// Every large matrix product of this package is here.
func productInto(c, a blas64.General, b []float64, trans bool) {
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	w := kernel.Pack(a.Cols, c.Cols, b, trans)
	parallel(a.Rows, a.Rows*a.Cols*c.Cols, func(lo, hi int) {
		w.Mul(c.Data[lo*c.Stride:], c.Stride, a.Data[lo*a.Stride:], a.Stride, hi-lo, nil)
	})
}

// addCross is kernel.AddCross, c += a'diag(w) b, large ones by several goroutines.
func addCross(c []float64, ldc int, a []float64, lda, p int, b []float64, ldb, q, n int, w []float64) {
	parallel(q, p*q*n, func(lo, hi int) {
		kernel.AddCross(c[lo:], ldc, a, lda, p, b[lo:], ldb, hi-lo, n, w)
	})
}

// parallel calls f with parts of 0:n, at the same time if all of them take many
// multiplications. What f does for one of the n must not depend on where a part ends,
// so that no result depends on the number of processors.
func parallel(n, multiplications int, f func(lo, hi int)) {
	const worthwhile = 1 << 22 // next to it, waking a processor takes no time
	parts := max(1, min(runtime.GOMAXPROCS(0), multiplications/worthwhile, n))
	var others sync.WaitGroup
	for i := range parts - 1 {
		others.Go(func() { f(n*i/parts, n*(i+1)/parts) })
	}
	f(n*(parts-1)/parts, n)
	others.Wait()
}

// dense is x's rows without gaps: its own memory if it has none.
func dense(x *mat.Dense) []float64 {
	raw := x.RawMatrix()
	if raw.Stride == raw.Cols {
		return raw.Data[:raw.Rows*raw.Cols]
	}
	return mat.DenseCopyOf(x).RawMatrix().Data
}

// full is both triangles of s.
func full(s *mat.SymDense) *mat.Dense {
	n := s.SymmetricDim()
	x, raw := mat.NewDense(n, n, nil), s.RawSymmetric()
	data := x.RawMatrix().Data
	for i := range n {
		for j, v := range raw.Data[i*raw.Stride+i : i*raw.Stride+n] {
			data[i*n+i+j], data[(i+j)*n+i] = v, v
		}
	}
	return x
}
