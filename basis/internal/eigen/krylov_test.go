package eigen

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestLeadingEigenpairs: the Krylov space gives the eigenvalues of the dense
// method, pairs that solve the equation, and all copies of multiple ones.
func TestLeadingEigenpairs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	scattered, grid := make([]float64, 2*350), []float64{}
	for i := range scattered {
		scattered[i] = r.Float64()
	}
	for i := range 19 { // a square: many eigenvalues are double
		for j := range 19 {
			grid = append(grid, float64(i), float64(j))
		}
	}
	for name, x := range map[string][]float64{"scattered": scattered, "grid": grid} {
		n := len(x) / 2
		e := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i {
				d := math.Hypot(x[2*i]-x[2*j], x[2*i+1]-x[2*j+1])
				e.SetSym(i, j, d*d*math.Log(d))
			}
		}
		var d mat.EigenSym
		d.Factorize(e, false)
		all := d.Values(nil)
		const k = 29
		values, u, err := krylov(Product(e), k)
		if err != nil {
			t.Fatal(err)
		}
		size := math.Abs(values[0])
		for j, at := range largest(all, k) {
			if math.Abs(values[j]-all[at]) > 1e-12*size {
				t.Errorf("%s: eigenvalue %d is %v, want %v", name, j, values[j], all[at])
			}
		}
		var eu, uu mat.Dense
		eu.Mul(e, u)
		uu.Mul(u.T(), u)
		for j := range k {
			for i := range n {
				if math.Abs(eu.At(i, j)-values[j]*u.At(i, j)) > 1e-12*size {
					t.Fatalf("%s: pair %d has residual %g", name, j, eu.At(i, j)-values[j]*u.At(i, j))
				}
			}
			for i := range k {
				if want := map[bool]float64{true: 1}[i == j]; math.Abs(uu.At(i, j)-want) > 1e-12 {
					t.Fatalf("%s: vectors %d and %d have product %v", name, i, j, uu.At(i, j))
				}
			}
		}
	}
}

// TestWholeSpace: pairs that take all vectors, whose number is no multiple of the block's, and ones that the first
// block spans.
func TestWholeSpace(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	const n, k = 101, 33
	dense, few := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			dense.SetSym(i, j, r.NormFloat64())
		}
	}
	few.SetSym(2, 7, 3)
	for name, e := range map[string]*mat.SymDense{"dense": dense, "rank 2": few, "zero": mat.NewSymDense(n, nil)} {
		var d mat.EigenSym
		d.Factorize(e, false)
		all := d.Values(nil)
		values, u, err := krylov(Product(e), k)
		if err != nil {
			t.Fatal(err)
		}
		for j, at := range largest(all, k) {
			if math.Abs(values[j]-all[at]) > 1e-12*math.Abs(all[n-1]) {
				t.Errorf("%s: eigenvalue %d is %v, want %v", name, j, values[j], all[at])
			}
		}
		var uu mat.Dense
		uu.Mul(u.T(), u)
		for i := range k {
			for j := range k {
				if want := map[bool]float64{true: 1}[i == j]; math.Abs(uu.At(i, j)-want) > 1e-12 {
					t.Fatalf("%s: vectors %d and %d have product %v", name, i, j, uu.At(i, j))
				}
			}
		}
	}
}
