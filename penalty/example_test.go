package penalty_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/penalty"
)

// Columns x, T2(x), T3(x), ... on a grid; those that bend are penalised by how
// much they do. The response is a parabola and a little noise.
func ExampleSelect() {
	const n, k = 101, 6
	p := &penalty.Problem{Rows: n, SumW: n, Intercept: true, XX: mat.NewSymDense(k, nil), XZ: make([]float64, k)}
	x, z := mat.NewDense(n, k, nil), make([]float64, n)
	for i := range n {
		u := 2*float64(i)/(n-1) - 1
		z[i] = u*u + 0.1*math.Sin(1000*u)
		for j := range k {
			x.Set(i, j, math.Cos(float64(j+1)*math.Acos(u)))
		}
	}
	centre := func(v []float64) {
		mean := 0.0
		for _, a := range v {
			mean += a / n
		}
		for i := range v {
			v[i] -= mean
		}
	}
	centre(z)
	for j := range k {
		column := mat.Col(nil, j, x)
		centre(column)
		x.SetCol(j, column)
	}
	p.XX.(*mat.SymDense).SymOuterK(1, x.T())
	mat.NewVecDense(k, p.XZ).MulVec(x.T(), mat.NewVecDense(n, z))
	p.ZZ = mat.Dot(mat.NewVecDense(n, z), mat.NewVecDense(n, z))

	s := mat.NewSymDense(k, nil)
	for j := 1; j < k; j++ {
		s.SetSym(j, j, math.Pow(float64(j+1), 4))
	}
	p.Terms = []penalty.Component{{Name: "s(x)", Dim: k, S: []mat.Symmetric{s}}}

	fit, err := penalty.Select(p, nil) // REML
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v: edf %.2f of %d, coefficient of T2 %.2f\n", fit.Status, fit.EDF[0], k, fit.Alpha[1])
	// Output: converged: edf 5.69 of 6, coefficient of T2 0.50
}

// The first-order differences of four coefficients, as for a P-spline.
func ExampleDifference() {
	s, err := penalty.Difference(4, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mat.Formatted(s))
	// Output:
	// ⎡ 1  -1   0   0⎤
	// ⎢-1   2  -1   0⎥
	// ⎢ 0  -1   2  -1⎥
	// ⎣ 0   0  -1   1⎦
}
