package eigen

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// krylov is the block Lanczos method with full reorthogonalisation (Golub and
// Van Loan 2013, 10.3.6). The block is as wide as the eigenvalues of points on
// symmetric grids are multiple.
func krylov(e Operator, k int) ([]float64, *mat.Dense, error) {
	const accuracy = 1e-12 // residual norm of a pair, relative to its eigenvalue
	// After many vectors it is relative to the largest eigenvalue: where one point is far
	// from all others, the rounding of that one's products is more than the others' pairs
	// can be accurate to, and no number of vectors would do.
	const rounding, many = 1e-14, denseEigen
	n, width := e.N, blockWidth
	r := rand.New(rand.NewPCG(uint64(n), uint64(k)))
	s := &space{e: e}
	check := min(3*k+2*width, n) // as many as thin plate functions in one variable take
	s.grow(min(check+width, n))
	for next := normals(r, n*width); ; {
		coupling := s.orthonormal(next, width, r)
		if s.m >= check { // at most n
			floor := 0.0
			if s.m >= many+4*k {
				floor = rounding
			}
			values, vectors, done, err := s.ritz(coupling, k, accuracy, floor)
			if err != nil || done || s.m == n {
				return values, vectors, err
			}
			check = min(s.m+max(s.m/6, 2*width), n)
		}
		if left := n - s.m; left < width {
			next, width = firstColumns(next, width, left), left
		}
		next = s.add(next, width)
	}
}

// firstColumns are the first of rows of width numbers.
func firstColumns(rows []float64, width, first int) []float64 {
	out := make([]float64, len(rows)/width*first)
	for i := range len(rows) / width {
		copy(out[i*first:][:first], rows[i*width:])
	}
	return out
}
