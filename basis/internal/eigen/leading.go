// Package eigen finds the leading eigenvectors of symmetric matrices, by a Krylov space
// if the matrix is large, and chooses them by a rule that rounding cannot change.
package eigen

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// ErrConvergence tells that an eigendecomposition did not converge.
var ErrConvergence = errors.New("the eigendecomposition did not converge")

// Operator is a symmetric matrix of order n, known by its products.
type Operator struct {
	N int // the order
	// Times sets dst to the matrix times v, both n x width, row by row.
	Times func(dst, v []float64, width int)
	// Whole is the matrix itself.
	Whole func() *mat.SymDense
}

// Product is e as an operator; e is not copied.
func Product(e *mat.SymDense) Operator {
	n := e.SymmetricDim()
	full := mat.DenseCopyOf(e).RawMatrix().Data // both triangles
	return Operator{
		N:     n,
		Times: func(dst, v []float64, width int) { kernel.Gemm(dst, full, v, n, width, n) },
		Whole: func() *mat.SymDense { return e },
	}
}

// denseEigen is the order up to which all eigenvectors are computed; beyond,
// only the leading ones, from a Krylov space.
const denseEigen = 300

// blockWidth is the number of vectors that krylov adds at once.
const blockWidth = 6

// Leading gives an orthonormal basis u (n x k) of the eigenvectors of e (n x n) whose
// eigenvalues are largest in absolute value, by decreasing value, and u'eu, which is
// diagonal but for eigenvalues that rounding alone sets apart. Both are canonical:
// small changes of e change them little, unless eigenvalues nearly meet.
func Leading(e Operator, k int) (*mat.SymDense, *mat.Dense, error) {
	// One more shows whether the k-th eigenvalue goes on beyond; then all of its
	// vectors are needed to choose from.
	for m := min(k+1, e.N); ; m = min(m+blockWidth, e.N) {
		values, v, err := pairs(e, m)
		if err != nil {
			return nil, nil, err
		}
		order, edge := leadingClusters(values, k)
		if len(order) == len(values) && k < len(order) && len(order) < min(e.N, k+maxBeyond) {
			continue // perhaps more of them
		}
		chosen, own := make([]float64, len(order)), mat.NewDense(e.N, len(order), nil)
		for j, at := range order {
			chosen[j] = values[at]
			own.SetCol(j, mat.Col(nil, at, v))
		}
		d, u := canonicalPairs(chosen, own, edge, k)
		return d, u, nil
	}
}

// maxBeyond bounds how many eigenvectors beyond the k-th are looked at: where
// a cluster is larger, it is because all that follow are 0 but for rounding.
const maxBeyond = 2 * blockWidth

// leadingClusters lists the k eigenvalues of largest absolute value and all those that
// rounding alone sets apart from the least of them, by decreasing value; edge is the
// place of that least one.
func leadingClusters(values []float64, k int) (order []int, edge int) {
	order = largest(values, k)
	size, least := 0.0, math.Inf(1)
	at := 0 // of the least
	for _, i := range order {
		size = math.Max(size, math.Abs(values[i]))
		if v := math.Abs(values[i]); v < least {
			least, at = v, i
		}
	}
	for i, v := range values {
		if len(order) < k+maxBeyond && !slices.Contains(order, i) && sameCluster(v, values[at], size) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	return order, slices.Index(order, at)
}

// pairs gives m eigenvalues of largest absolute value, or more, and their vectors.
func pairs(e Operator, m int) ([]float64, *mat.Dense, error) {
	if e.N > denseEigen && 3*m <= e.N {
		return krylov(e, m)
	}
	var d mat.EigenSym
	if !d.Factorize(e.Whole(), true) {
		return nil, nil, ErrConvergence
	}
	var v mat.Dense
	d.VectorsTo(&v)
	return d.Values(nil), &v, nil
}

// largest lists the k entries of largest absolute value, in decreasing order of
// the value.
func largest(values []float64, k int) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(values[b]), math.Abs(values[a])) })
	order = order[:k]
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	return order
}
