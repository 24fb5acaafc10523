package kernel

import (
	"math"
	"runtime"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// mulPlain adds A*W to c without assembly of this package; rows and weights as
// in Mul. signed tells that c may hold -0.
func (w *Weights[T]) mulPlain(c []T, ldc int, a []T, lda, m int, signed bool) {
	switch {
	case w.K == 0:
		return
	// The axpy loops below leave out products with a zero of A, which is right
	// only if the weights are finite, and no sum begins at -0, which a product of +0
	// would make +0 (no sum of another number becomes -0). They are assembly on amd64 alone; other
	// compilers may fuse their multiply-adds, and then this package's own loops
	// round as amd64 does. One product per element leaves them nothing to do better. They refuse
	// rows that overlap.
	case !w.finite || signed || w.K == 1 || lda < w.K || runtime.GOARCH != "amd64":
		gemmPlain(c, ldc, a, lda, w.data, m, w.N, w.K)
		return
	}
	// Strips of at most 64 x 64 elements: gonum's loops block at 64 and start
	// goroutines from four blocks on, and this package starts none.
	const strip = 64
	for i := 0; i < m; i += strip {
		rows := min(strip, m-i)
		gemmStrip(rows, w.N, w.K, a[i*lda:], lda, w.data, c[i*ldc:], ldc)
	}
}

// anyNegativeZero tells whether a value is -0.
func anyNegativeZero[T Float](v []T) bool {
	for _, x := range v {
		if x == 0 && math.Signbit(float64(x)) {
			return true
		}
	}
	return false
}

// gemmStrip adds A*B to C for at most 64 rows, 64 x 3 columns at a time.
func gemmStrip[T Float](m, n, k int, a []T, lda int, b []T, c []T, ldc int) {
	const cols = 192
	for j := 0; j < n; j += cols {
		nn := min(cols, n-j)
		switch a := any(a).(type) {
		case []float64:
			gonum.Implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, m, nn, k, 1, a, lda, any(b).([]float64)[j:], n, 1, any(c).([]float64)[j:], ldc)
		case []float32:
			gonum.Implementation{}.Sgemm(blas.NoTrans, blas.NoTrans, m, nn, k, 1, a, lda, any(b).([]float32)[j:], n, 1, any(c).([]float32)[j:], ldc)
		}
	}
}

// gemmPlain adds A*B to C, four rows of B at a time; T(x*y) keeps the
// compiler from fusing, so that all paths round alike.
func gemmPlain[T Float](c []T, ldc int, a []T, lda int, b []T, m, n, k int) {
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		ai := a[i*lda : i*lda+k]
		l := 0
		for ; l+4 <= k; l += 4 {
			a0, a1, a2, a3 := ai[l], ai[l+1], ai[l+2], ai[l+3]
			b0, b1 := b[l*n:l*n+n], b[(l+1)*n:(l+1)*n+n]
			b2, b3 := b[(l+2)*n:(l+2)*n+n], b[(l+3)*n:(l+3)*n+n]
			b0, b1, b2, b3 = b0[:len(row)], b1[:len(row)], b2[:len(row)], b3[:len(row)]
			for j, s := range row {
				s += T(a0 * b0[j])
				s += T(a1 * b1[j])
				s += T(a2 * b2[j])
				s += T(a3 * b3[j])
				row[j] = s
			}
		}
		for ; l < k; l++ {
			a0, b0 := ai[l], b[l*n:l*n+n]
			for j := range row {
				row[j] += T(a0 * b0[j])
			}
		}
	}
}
