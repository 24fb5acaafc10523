package projection

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// largest is the largest eigenvalue of B A, A and B symmetric and positive
// semidefinite (n x n), by Lanczos' iteration in the inner product x'A y, in which
// B A is symmetric (Parlett 1998, 13 and 15.11), with full reorthogonalisation. It
// takes some ten products with each, where all eigenvalues take n^3 operations,
// and is correct to 1e-10 of itself. Directions that A makes zero do not count.
func largest(b, a mat.Symmetric) float64 {
	const maxSteps, converged = 150, 1e-11
	n := a.SymmetricDim()
	var basis, images [][]float64 // A-orthonormal q, and A q
	var diagonal, beside []float64
	q := make([]float64, n)
	for i := range q { // a start that is in no special direction
		q[i] = 0.5 + math.Mod(float64(i+1)*math.Phi, 1)*(1-2*float64(i%2))
	}
	value := 0.0
	for len(basis) < min(maxSteps, n) {
		// Twice: once leaves what rounding brings back.
		for range 2 {
			for k := range basis {
				floats.AddScaled(q, -floats.Dot(images[k], q), basis[k])
			}
		}
		image := linalg.MulVec(a, q)
		norm := math.Sqrt(math.Max(0, floats.Dot(q, image)))
		if len(basis) > 0 {
			if !(norm > 1e-13*value) {
				break // the space is exhausted
			}
			beside = append(beside, norm)
		} else if norm == 0 {
			return 0
		}
		floats.Scale(1/norm, q)
		floats.Scale(1/norm, image)
		basis, images = append(basis, q), append(images, image)
		q = linalg.MulVec(b, image)
		diagonal = append(diagonal, floats.Dot(images[len(images)-1], q))
		before := value
		if value = linalg.TridiagonalLargest(diagonal, beside); len(basis) > 5 && value-before <= converged*value {
			break
		}
	}
	return value
}
