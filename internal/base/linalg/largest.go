package linalg

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/gonum"
)

// Largest is the largest eigenvalue of the symmetric positive semidefinite matrix A (n x n) of
// which apply sets dst = A x, by Lanczos' iteration with full reorthogonalisation (Parlett
// 1998, 13), to about the relative error that is asked for.
func Largest(n int, apply func(dst, x []float64), within float64) float64 {
	const maxSteps = 150
	var basis [][]float64
	var diagonal, beside []float64
	q := make([]float64, n)
	for i := range q { // a start that is in no special direction
		q[i] = 0.5 + math.Mod(float64(i+1)*math.Phi, 1)*(1-2*float64(i%2))
	}
	value := 0.0
	for len(basis) < min(maxSteps, n) {
		for range 2 { // once leaves what rounding brings back
			for _, b := range basis {
				floats.AddScaled(q, -floats.Dot(b, q), b)
			}
		}
		norm := floats.Norm(q, 2)
		if len(basis) > 0 {
			if !(norm > 1e-13*value) {
				break // the space is exhausted
			}
			beside = append(beside, norm)
		} else if norm == 0 {
			return 0
		}
		floats.Scale(1/norm, q)
		next := make([]float64, n)
		apply(next, q)
		basis, diagonal = append(basis, q), append(diagonal, floats.Dot(q, next))
		q = next
		before := value
		if value = TridiagonalLargest(diagonal, beside); len(basis) > 5 && value-before <= within/10*value {
			break
		}
	}
	return value
}

// TridiagonalLargest is the largest eigenvalue of the symmetric matrix with these
// entries on its diagonal (n) and beside it (n-1), which are left as they are; 0 if LAPACK's iteration (dsterf) fails.
func TridiagonalLargest(diagonal, beside []float64) float64 {
	d, e := append([]float64(nil), diagonal...), append([]float64(nil), beside...)
	if !(gonum.Implementation{}).Dsterf(len(d), d, e) {
		return 0
	}
	return d[len(d)-1]
}
