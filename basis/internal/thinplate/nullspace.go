package thinplate

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// complement is an orthonormal basis (n x (n - c)) of the vectors that are orthogonal
// to the columns of a (n x c, of full rank): Householder reflections take the
// columns, the first one first, to the last axes, the last axis first. a is left
// as it was.
func complement(a *mat.Dense) *mat.Dense {
	n, c := a.Dims()
	rest := mat.DenseCopyOf(a)
	us := make([][]float64, c)
	for s := range c {
		last := n - 1 - s
		u := mat.Col(nil, s, rest)[:last+1]
		norm := floats.Norm(u, 2)
		// On symmetric points, such as equally spaced values, the last coordinate is
		// 0 but for rounding, which must not decide.
		if u[last] < -1e-10*norm {
			norm = -norm
		}
		u[last] += norm
		if length := floats.Norm(u, 2); length > 0 {
			floats.Scale(1/length, u)
		}
		us[s] = u
		for j := s; j < c; j++ {
			column := mat.Col(nil, j, rest)
			floats.AddScaled(column[:last+1], -2*floats.Dot(column[:last+1], u), u)
			rest.SetCol(j, column)
		}
	}
	// The product of the reflections, less its last c columns.
	z := mat.NewDense(n, n-c, nil)
	for j := range n - c {
		column := make([]float64, n)
		column[j] = 1
		for s := c - 1; s >= 0; s-- {
			u := us[s]
			floats.AddScaled(column[:len(u)], -2*floats.Dot(column[:len(u)], u), u)
		}
		z.SetCol(j, column)
	}
	return z
}
