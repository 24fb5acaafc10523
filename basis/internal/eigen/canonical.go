package eigen

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Eigenvectors are not determined by their matrix: one may be turned to its negative,
// several of the same eigenvalue by any orthogonal matrix. Rounding, which differs
// between processors, would choose. The functions here choose by a rule that small
// changes of the matrix do not change.

// sameCluster tells whether rounding alone sets two eigenvalues of a matrix apart,
// size being its largest. Points on a square grid have many double eigenvalues.
func sameCluster(a, b, size float64) bool {
	return math.Abs(a-b) <= 1e-8*math.Abs(a)+1e-14*size
}

// clusters calls f for each cluster [from, to) of the sorted eigenvalues.
func clusters(values []float64, f func(from, to int)) {
	size := 0.0
	for _, v := range values {
		size = math.Max(size, math.Abs(v))
	}
	for from := 0; from < len(values); {
		to := from + 1
		for to < len(values) && sameCluster(values[to-1], values[to], size) {
			to++
		}
		f(from, to)
		from = to
	}
}

// rotation is the orthogonal matrix Q (c x c) that turns the columns of v (n x c) so
// that W'vQ is lower triangular with a positive diagonal, W being n x c fixed numbers
// without any pattern. vQ is the same for every basis v of its span, and for one
// column only the sign is chosen. Entries of the diagonal near zero would leave the
// choice to rounding; then W are the next numbers. The rows of v follow each other without gaps.
func rotation(v *mat.Dense) *mat.Dense {
	n, c := v.Dims()
	const draws = 10
	const least = 1e-2 // of what numbers between -1 and 1 make of a unit vector
	r := rand.New(rand.NewPCG(uint64(n), uint64(c)))
	vectors, w := v.RawMatrix().Data, make([]float64, n*c)
	scale := norm(vectors) / math.Sqrt(float64(c))
	var q *mat.Dense
	for range draws {
		for i := range w {
			w[i] = 2*r.Float64() - 1
		}
		wv := mat.NewDense(c, c, nil)
		kernel.AddCross(wv.RawMatrix().Data, c, w, c, c, vectors, c, c, n, nil)
		var pivot float64
		if q, pivot = rowsOrthonormal(wv); pivot > least*scale {
			break
		}
	}
	return q
}

// rowsOrthonormal gives the orthonormal rows that those of a (c x c) are one after the
// other, as the columns of a matrix, and the least length that a row had left.
func rowsOrthonormal(a *mat.Dense) (q *mat.Dense, pivot float64) {
	c, _ := a.Dims()
	q, pivot = mat.NewDense(c, c, nil), math.Inf(1)
	for i := range c {
		row := mat.Row(nil, i, a)
		for again := range 2 { // the second time for what rounding left
			for j := range i {
				before := mat.Col(nil, j, q)
				floats.AddScaled(row, -floats.Dot(row, before), before)
			}
			left := floats.Norm(row, 2)
			if left == 0 {
				return q, 0
			}
			if again == 0 {
				pivot = math.Min(pivot, left)
			}
			floats.Scale(1/left, row)
		}
		q.SetCol(i, row)
	}
	return q, pivot
}

// canonicalPairs makes eigenvectors v canonical cluster by cluster of their eigenvalues,
// which are sorted, and leaves out as many of the cluster that holds place edge as are
// more than k. It
// returns the diagonal matrix of the eigenvalues in the turned basis, and that (n x k).
func canonicalPairs(values []float64, v *mat.Dense, edge, k int) (*mat.SymDense, *mat.Dense) {
	n, all := v.Dims()
	d, u := mat.NewSymDense(k, nil), mat.NewDense(n, k, nil)
	at := 0
	clusters(values, func(from, to int) {
		own := mat.DenseCopyOf(v.Slice(0, n, from, to))
		q := rotation(own)
		keep := to - from
		if from <= edge && edge < to {
			keep -= all - k
		}
		image := mat.NewDense(n, to-from, nil)
		kernel.Gemm(image.RawMatrix().Data, own.RawMatrix().Data, q.RawMatrix().Data, n, to-from, to-from)
		for i := range keep {
			u.SetCol(at+i, mat.Col(nil, i, image))
			for j := i; j < keep; j++ {
				sum := 0.0
				for l := from; l < to; l++ {
					sum += values[l] * q.At(l-from, i) * q.At(l-from, j)
				}
				d.SetSym(at+i, at+j, sum)
			}
		}
		at += keep
	})
	return d, u
}

// Canonicalize makes vectors v (n x c) canonical in place, cluster by cluster of
// their sorted eigenvalues.
func Canonicalize(values []float64, v *mat.Dense) {
	n, _ := v.Dims()
	clusters(values, func(from, to int) {
		place := v.Slice(0, n, from, to).(*mat.Dense)
		own := mat.DenseCopyOf(place)
		place.Mul(own, rotation(own))
	})
}
