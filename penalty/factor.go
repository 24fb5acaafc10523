package penalty

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
)

// Widths of the blocks of factor: what is done without matrix products is strip/n of
// it, and of a large matrix a panel passes by the caches at once.
const (
	panel = 64
	strip = 8
)

// factor is the Cholesky factor A = U'U and what follows from it, by blocks so
// that nearly all work is in kernel's matrix products.
type factor struct {
	n     int
	u     []float64 // n x n by rows, upper triangle; below it is nothing of value
	inv   []float64 // U^-T, zero above the diagonal; made by invert
	minus []float64 // n times -1: products are subtracted
	// stopped tells, if it is not nil, that the outcome is not needed any more: then
	// factorize is false, and what the others make of it worth nothing.
	stopped func() bool
}

func (f *factor) isStopped() bool { return f.stopped != nil && f.stopped() }

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

// factorize factors a; false if it is not positive definite in floating point.
func (f *factor) factorize(a *mat.SymDense) bool {
	n := a.SymmetricDim()
	f.resize(n)
	raw := a.RawSymmetric()
	for i := range n {
		copy(f.u[i*n+i:(i+1)*n], raw.Data[i*raw.Stride+i:])
	}
	for lo := 0; lo < n; lo += panel {
		if f.isStopped() {
			return false
		}
		hi := min(lo+panel, n)
		f.subtract(0, lo, hi)
		for at := lo; at < hi; at += strip {
			end := min(at+strip, hi)
			f.subtract(lo, at, end)
			for i := at; i < end; i++ {
				row := f.u[i*n+i : (i+1)*n]
				for k := at; k < i; k++ {
					above := f.u[k*n+i : (k+1)*n]
					kernel.Axpy(row, above, -above[0])
				}
				if !(row[0] > 0) || math.IsInf(row[0], 0) {
					return false
				}
				floats.Scale(1/math.Sqrt(row[0]), row)
			}
		}
	}
	return true
}

func (f *factor) resize(n int) {
	if f.n == n && f.u != nil {
		return
	}
	f.n, f.u, f.minus = n, make([]float64, n*n), make([]float64, n)
	for i := range f.minus {
		f.minus[i] = -1
	}
}

// subtract takes from rows lo:hi of A, from column lo on, what rows from:lo of U make
// of them: A[lo:hi, lo:] -= U[from:lo, lo:hi]' U[from:lo, lo:].
func (f *factor) subtract(from, lo, hi int) {
	if n := f.n; from < lo {
		above := f.u[from*n+lo : lo*n]
		addCross(f.u[lo*n+lo:], n, above, n, hi-lo, above, n, n-lo, lo-from, f.minus)
	}
}

// logDet is log|A|.
func (f *factor) logDet() float64 {
	sum := 0.0
	for i := range f.n {
		sum += math.Log(f.u[i*f.n+i])
	}
	return 2 * sum
}

// solve overwrites x with A^-1 x.
func (f *factor) solve(x []float64) {
	n := f.n
	for i := range n {
		row := f.u[i*n+i : (i+1)*n]
		x[i] /= row[0]
		kernel.Axpy(x[i+1:n], row[1:], -x[i])
	}
	for i := n - 1; i >= 0; i-- {
		row := f.u[i*n+i : (i+1)*n]
		x[i] = (x[i] - kernel.Dot(row[1:], x[i+1:n])) / row[0]
	}
}

// invert makes X = U^-T, by block rows: X_i = U_ii^-T (I_i - (U_:i,i)' X_:i).
func (f *factor) invert() {
	n := f.n
	if len(f.inv) != n*n {
		f.inv = make([]float64, n*n)
	}
	clear(f.inv)
	for lo := 0; lo < n; lo += panel {
		if f.isStopped() {
			return
		}
		hi := min(lo+panel, n)
		for c := 0; c < lo; c += panel { // X is triangular
			f.subtractInverse(c, lo, hi, c, c+panel)
		}
		for at := lo; at < hi; at += strip {
			end := min(at+strip, hi)
			f.subtractInverse(lo, at, end, 0, at)
			for i := at; i < end; i++ {
				row := f.inv[i*n : i*n+i+1]
				row[i] = 1
				for k := at; k < i; k++ {
					kernel.Axpy(row[:k+1], f.inv[k*n:k*n+k+1], -f.u[k*n+i])
				}
				floats.Scale(1/f.u[i*n+i], row)
			}
		}
	}
}

// subtractInverse takes U[from:lo, lo:hi]' X[from:lo, c:end] from X[lo:hi, c:end].
func (f *factor) subtractInverse(from, lo, hi, c, end int) {
	if n := f.n; from < lo {
		addCross(f.inv[lo*n+c:], n, f.u[from*n+lo:], n, hi-lo, f.inv[from*n+c:], n, end-c, lo-from, f.minus)
	}
}

// inverseTo sets dst = A^-1 = X'X.
func (f *factor) inverseTo(dst *mat.SymDense) {
	f.invert()
	dst.Zero()
	if f.isStopped() {
		return
	}
	addLowerGram(dst, f.inv)
}

// addLowerGram adds X'X to dst for a lower triangular X, n x n by rows with zeros
// above the diagonal.
func addLowerGram(dst *mat.SymDense, x []float64) {
	n, to := dst.SymmetricDim(), dst.RawSymmetric()
	parallel((n+panel-1)/panel, n*n*n/3, func(from, end int) {
		for lo := from * panel; lo < min(end*panel, n); lo += panel {
			hi := min(lo+panel, n)
			kernel.AddCross(to.Data[lo:], to.Stride, x[lo*n:], n, hi, x[lo*n+lo:], n, hi-lo, n-lo, nil)
		}
	})
}
