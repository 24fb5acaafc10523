package eigen

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// plateMatrix is the matrix of thin plate functions at points of two columns.
func plateMatrix(x []float64) *mat.SymDense {
	n := len(x) / 2
	e := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			d := math.Hypot(x[2*i]-x[2*j], x[2*i+1]-x[2*j+1])
			e.SetSym(i, j, d*d*math.Log(d))
		}
	}
	return e
}

// TestLeadingIsCanonical: numbers that rounding of another machine might have made
// give the same eigenvectors: signs, turns of double ones, and which vector of two is
// taken where the last eigenvalue is double, by both methods.
func TestLeadingIsCanonical(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	scattered := make([]float64, 2*120)
	for i := range scattered {
		scattered[i] = r.Float64()
	}
	grid := func(side int) (x []float64) {
		for i := range side {
			for j := range side {
				x = append(x, float64(i)/float64(side), float64(j)/float64(side))
			}
		}
		return x
	}
	for name, x := range map[string][]float64{"scattered": scattered, "grid": grid(11), "large grid": grid(19)} {
		e := plateMatrix(x)
		n := e.SymmetricDim()
		noisy := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				noisy.SetSym(i, j, e.At(i, j)*(1+1e-15*r.NormFloat64()))
			}
		}
		for k := 9; k < 31; k++ {
			d, u, err := Leading(Product(e), k)
			if err != nil {
				t.Fatal(err)
			}
			_, again, err := Leading(Product(noisy), k)
			if err != nil {
				t.Fatal(err)
			}
			var eu, ueu, uu mat.Dense
			eu.Mul(e, u)
			ueu.Mul(u.T(), &eu)
			uu.Mul(u.T(), u)
			for j := range k {
				for i := range k {
					if want := map[bool]float64{true: 1}[i == j]; math.Abs(uu.At(i, j)-want) > 1e-12 {
						t.Fatalf("%s, k = %d: columns %d and %d have product %v", name, k, i, j, uu.At(i, j))
					}
					if math.Abs(ueu.At(i, j)-d.At(i, j)) > 1e-12*d.At(0, 0) {
						t.Fatalf("%s, k = %d: u'eu[%d,%d] is %v, want %v", name, k, i, j, d.At(i, j), ueu.At(i, j))
					}
				}
				for i := range n {
					if off := math.Abs(u.At(i, j) - again.At(i, j)); off > 1e-9 {
						t.Fatalf("%s, k = %d: entry %d of vector %d is off by %g", name, k, i, j, off)
					}
				}
			}
		}
	}
}

// TestCanonicalDoesNotSeeTheBasis: any basis of a space is turned to the same one.
func TestCanonicalDoesNotSeeTheBasis(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 2))
	for c := 1; c < 7; c++ {
		v := mat.NewDense(20, c, nil)
		for i := range 20 {
			for j := range c {
				v.Set(i, j, 100*r.NormFloat64())
			}
		}
		var qr mat.QR
		square := mat.NewDense(c, c, nil)
		for i := range c {
			for j := range c {
				square.Set(i, j, r.NormFloat64())
			}
		}
		qr.Factorize(square)
		var q, other, one, two mat.Dense
		qr.QTo(&q)
		other.Mul(v, &q)
		one.Mul(v, rotation(v))
		two.Mul(&other, rotation(&other))
		if !mat.EqualApprox(&one, &two, 1e-9) {
			t.Errorf("%d columns: another basis is turned elsewhere", c)
		}
	}
}
