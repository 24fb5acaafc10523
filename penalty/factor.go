package penalty

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
)

// panel is the width of the block columns in factor: what is done without
// matrix products is 1/n of it.
const panel = 64

// factor is the Cholesky factor A = L L' and what follows from it, by blocks so
// that nearly all work is in kernel's matrix products.
type factor struct {
	n   int
	l   []float64 // n x n by rows, lower triangle
	inv []float64 // L^-1, zero above the diagonal; made by invert
	buf []float64 // n x panel, twice
}

// Invert sets dst = A^-1 for a symmetric positive definite A (both n x n, n > 0;
// dst may be a), nearly all of it in matrix products: of large matrices it takes a
// tenth of the time of gonum's Cholesky. false, and dst is as it was: A is not
// positive definite in floating point.
func Invert(dst, a *mat.SymDense) bool {
	f := new(factor)
	if !f.factorize(a) {
		return false
	}
	f.inverseTo(dst)
	return true
}

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
	kernel.Pack(a.Cols, c.Cols, b, trans).Mul(c.Data, c.Stride, a.Data, a.Stride, a.Rows, nil)
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

// factorize factors a; false if it is not positive definite in floating point.
func (f *factor) factorize(a *mat.SymDense) bool {
	n := a.SymmetricDim()
	if f.n != n || f.l == nil {
		f.n, f.l, f.buf = n, make([]float64, n*n), make([]float64, 2*n*panel)
	}
	raw := a.RawSymmetric()
	for i := range n {
		for j, v := range raw.Data[i*raw.Stride+i : i*raw.Stride+n] {
			f.l[(i+j)*n+i] = v
		}
	}
	for lo := 0; lo < n; lo += panel {
		hi := min(lo+panel, n)
		width := hi - lo
		if lo > 0 { // A[lo:, lo:hi] -= L[lo:, :lo] L[lo:hi, :lo]'
			left := f.buf[:width*lo]
			for i := range width {
				copy(left[i*lo:(i+1)*lo], f.l[(lo+i)*n:(lo+i)*n+lo])
			}
			update := f.buf[n*panel : n*panel+(n-lo)*width]
			productInto(blas64.General{Rows: n - lo, Cols: width, Stride: width, Data: update},
				blas64.General{Rows: n - lo, Cols: lo, Stride: n, Data: f.l[lo*n:]}, left, true)
			for i := range n - lo {
				row := f.l[(lo+i)*n+lo:][:width]
				for j, v := range update[i*width : (i+1)*width] {
					row[j] -= v
				}
			}
		}
		for i := lo; i < n; i++ {
			row := f.l[i*n+lo:][:width]
			for j := range min(width, i-lo+1) {
				other := f.l[(lo+j)*n+lo:][:j+1]
				sum := row[j]
				for k, v := range other[:j] {
					sum -= v * row[k]
				}
				if lo+j < i {
					row[j] = sum / other[j]
					continue
				}
				if !(sum > 0) || math.IsInf(sum, 0) {
					return false
				}
				row[j] = math.Sqrt(sum)
			}
		}
	}
	return true
}

// logDet is log|A|.
func (f *factor) logDet() float64 {
	sum := 0.0
	for i := range f.n {
		sum += math.Log(f.l[i*f.n+i])
	}
	return 2 * sum
}

// solve overwrites x with A^-1 x.
func (f *factor) solve(x []float64) {
	n := f.n
	for i := range n {
		row, sum := f.l[i*n:i*n+i+1], x[i]
		for j, v := range row[:i] {
			sum -= v * x[j]
		}
		x[i] = sum / row[i]
	}
	for i := n - 1; i >= 0; i-- {
		row := f.l[i*n : i*n+i+1]
		x[i] /= row[i]
		for j, v := range row[:i] {
			x[j] -= v * x[i]
		}
	}
}

// invert makes L^-1, by block rows: X_ii = L_ii^-1 and
// X_ij = -X_ii (L_i,:i X_:i,j).
func (f *factor) invert() {
	n := f.n
	if len(f.inv) != n*n {
		f.inv = make([]float64, n*n)
	}
	for lo := 0; lo < n; lo += panel {
		hi := min(lo+panel, n)
		width := hi - lo
		// The rows of L_i,:i X, column block by column block: X is triangular.
		right := f.buf[:width*lo]
		for c := 0; c < lo; c += panel {
			cols := min(panel, lo-c)
			b := f.buf[n*panel : n*panel+(lo-c)*cols]
			for k := c; k < lo; k++ {
				copy(b[(k-c)*cols:(k-c+1)*cols], f.inv[k*n+c:][:cols])
			}
			productInto(blas64.General{Rows: width, Cols: cols, Stride: lo, Data: right[c:]},
				blas64.General{Rows: width, Cols: lo - c, Stride: n, Data: f.l[lo*n+c:]}, b, false)
		}
		for i := range width {
			row := f.inv[(lo+i)*n : (lo+i)*n+lo+i+1]
			for j := range lo {
				row[j] = -right[i*lo+j]
			}
			clear(row[lo:])
			row[lo+i] = 1
			l := f.l[(lo+i)*n+lo:][:i+1]
			for k, v := range l[:i] {
				other := f.inv[(lo+k)*n : (lo+k)*n+lo+k+1]
				for j, x := range other {
					row[j] -= v * x
				}
			}
			for j := range row {
				row[j] /= l[i]
			}
		}
	}
}

// inverseTo sets dst = A^-1 = L^-T L^-1.
func (f *factor) inverseTo(dst *mat.SymDense) {
	f.invert()
	n := f.n
	raw := dst.RawSymmetric()
	for lo := 0; lo < n; lo += panel {
		hi := min(lo+panel, n)
		width := hi - lo
		// A^-1[j, lo:hi] for j < hi is the sum over rows k >= lo of X_kj X_k,lo:hi:
		// as rows of the upper triangle, transposed.
		left := f.buf[:width*(n-lo)]
		for i := range width {
			for k := lo; k < n; k++ {
				left[i*(n-lo)+k-lo] = f.inv[k*n+lo+i]
			}
		}
		for c := 0; c < hi; c += panel {
			cols := min(panel, n-c)
			b := f.buf[n*panel : n*panel+(n-lo)*cols]
			for k := lo; k < n; k++ {
				copy(b[(k-lo)*cols:(k-lo+1)*cols], f.inv[k*n+c:][:cols])
			}
			var out [panel * panel]float64
			productInto(blas64.General{Rows: width, Cols: cols, Stride: cols, Data: out[:width*cols]},
				blas64.General{Rows: width, Cols: n - lo, Stride: n - lo, Data: left}, b, false)
			for i := range width {
				for j := range cols {
					if c+j <= lo+i {
						raw.Data[(c+j)*raw.Stride+lo+i] = out[i*cols+j]
					}
				}
			}
		}
	}
}
