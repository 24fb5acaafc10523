package penalty

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// orthonormalise returns an orthonormal basis of the columns of x with its rows
// divided by d, and log|det R| of D^-1 x = basis R.
func orthonormalise(x *mat.Dense, d []float64) (*mat.Dense, float64) {
	n, m := x.Dims()
	y := mat.DenseCopyOf(x)
	for i := range n {
		row := y.RawRowView(i)
		for j := range row {
			row[j] /= d[i]
		}
	}
	var qr mat.QR
	qr.Factorize(y)
	var q, r mat.Dense
	qr.QTo(&q)
	qr.RTo(&r)
	logR := 0.0
	for i := range m {
		logR += math.Log(math.Abs(r.At(i, i)))
	}
	return mat.DenseCopyOf(q.Slice(0, n, 0, m)), logR
}

// eigenDescending returns eigenvalues from the largest down, eigenvectors in
// columns.
func eigenDescending(s *mat.SymDense) ([]float64, *mat.Dense, error) {
	if values, vectors, ok := diagonalEigen(s); ok {
		return values, vectors, nil
	}
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return nil, nil, fmt.Errorf("the symmetric eigenproblem of size %d did not converge", s.SymmetricDim())
	}
	n := s.SymmetricDim()
	up := e.Values(nil)
	var v mat.Dense
	e.VectorsTo(&v)
	values, vectors := make([]float64, n), mat.NewDense(n, n, nil)
	for j := range n {
		values[j] = up[n-1-j]
		for i := range n {
			vectors.Set(i, j, v.At(i, n-1-j))
		}
	}
	return values, vectors, nil
}

// diagonalEigen is eigenDescending of a diagonal matrix, as of a random effect.
func diagonalEigen(s *mat.SymDense) ([]float64, *mat.Dense, bool) {
	n, raw := s.SymmetricDim(), s.RawSymmetric()
	values := make([]float64, n)
	for i := range n {
		values[i] = raw.Data[i*raw.Stride+i]
		for _, v := range raw.Data[i*raw.Stride+i+1 : i*raw.Stride+n] {
			if v != 0 {
				return nil, nil, false
			}
		}
	}
	order := sequence(n)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	sorted, vectors := make([]float64, n), mat.NewDense(n, n, nil)
	for j, i := range order {
		sorted[j] = values[i]
		vectors.Set(i, j, 1)
	}
	return sorted, vectors, true
}

// isIdentity tells whether x is the identity, as the eigenvectors of a random effect's penalty are.
func isIdentity(x *mat.Dense) bool {
	first, ok := linalg.Shift(x)
	return ok && first == 0
}

// symmetric averages x and x'.
func symmetric(x *mat.Dense) *mat.SymDense {
	n, _ := x.Dims()
	s, raw := mat.NewSymDense(n, nil), x.RawMatrix()
	to := s.RawSymmetric()
	for i := range n {
		for j := i; j < n; j++ {
			to.Data[i*to.Stride+j] = (raw.Data[i*raw.Stride+j] + raw.Data[j*raw.Stride+i]) / 2
		}
	}
	return s
}

// reordered is m with its rows and columns in another order.
func reordered(m *mat.SymDense, order []int) *mat.SymDense {
	n := len(order)
	out := mat.NewSymDense(n, nil)
	if slices.IsSorted(order) {
		linalg.CopyTriangle(out, m)
		return out
	}
	to, from := out.RawSymmetric(), m.RawSymmetric()
	linalg.EachRow(n, func(i int) {
		a, row := order[i], to.Data[i*to.Stride:i*to.Stride+n]
		for j := i; j < n; j++ {
			b := order[j]
			row[j] = from.Data[min(a, b)*from.Stride+max(a, b)]
		}
	})
	return out
}

// pick copies the listed rows and columns of x; nil means all.
func pick(x *mat.Dense, rows, columns []int) *mat.Dense {
	n, m := x.Dims()
	if rows == nil {
		rows = sequence(n)
	}
	if columns == nil {
		columns = sequence(m)
	}
	y := mat.NewDense(len(rows), len(columns), nil)
	for a, i := range rows {
		for b, j := range columns {
			y.Set(a, b, x.At(i, j))
		}
	}
	return y
}

func sequence(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// squaredNorm is the squared Frobenius norm.
func squaredNorm(x *mat.Dense) float64 {
	sum := 0.0
	n, _ := x.Dims()
	for i := range n {
		for _, v := range x.RawRowView(i) {
			sum += v * v
		}
	}
	return sum
}
