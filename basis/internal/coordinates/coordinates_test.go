package coordinates

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestOrthogonal(t *testing.T) {
	for _, v := range [][]float64{{3, -1, 2}, {-3, 1, 2, 0.5}, {0, 1}, {-1e-14, 1, 1}, {0, 0, 0}} {
		z := Orthogonal(v)
		d, c := z.Dims()
		var zz, zv mat.Dense
		zz.Mul(z.T(), z)
		zv.Mul(z.T(), mat.NewDense(d, 1, v))
		for i := range c {
			if math.Abs(zv.At(i, 0)) > 1e-13 {
				t.Errorf("%v: column %d has product %v", v, i, zv.At(i, 0))
			}
			for j := range c {
				if want := map[bool]float64{true: 1}[i == j]; math.Abs(zz.At(i, j)-want) > 1e-13 {
					t.Errorf("%v: columns %d and %d have product %v", v, i, j, zz.At(i, j))
				}
			}
		}
	}
}

// powers are 1, x, ..., x^(d-1).
type powers int

func (d powers) Dim() int   { return int(d) }
func (d powers) Width() int { return int(d) }
func (d powers) Row(out []float64, x float64) int {
	for j := range int(d) {
		out[j] = math.Pow(x, float64(j))
	}
	return 0
}

// TestFunctionValues: the polynomial with the values of one at the points is that one,
// and values that do not determine it have no map.
func TestFunctionValues(t *testing.T) {
	m := FunctionValues(powers(3), -1, 1, nil)
	var a mat.VecDense
	a.MulVec(m, mat.NewVecDense(3, []float64{4, 1, 2})) // of 1 - x + 2x^2 at -1, 0, 1
	if want := mat.NewVecDense(3, []float64{1, -1, 2}); !mat.EqualApprox(&a, want, 1e-12) {
		t.Errorf("coefficients %v", mat.Formatted(&a))
	}
	if FunctionValues(powers(3), 1, 1, nil) != nil {
		t.Error("one point determines no parabola")
	}
	even := mat.NewDense(3, 2, []float64{1, 0, 0, 0, 0, 1}) // 1 and x^2, by their values at 0 and 2
	a.Reset()
	a.MulVec(FunctionValues(powers(3), 0, 2, even), mat.NewVecDense(2, []float64{5, 17}))
	if want := mat.NewVecDense(2, []float64{5, 3}); !mat.EqualApprox(&a, want, 1e-12) {
		t.Errorf("coefficients %v", mat.Formatted(&a))
	}
}

func TestUnit(t *testing.T) {
	s, err := Unit(mat.NewSymDense(2, []float64{2, 0, 0, 5}))
	if err != nil || math.Abs(s.At(1, 1)-1) > 1e-15 || math.Abs(s.At(0, 0)-0.4) > 1e-15 {
		t.Error(s, err)
	}
	if _, err := Unit(mat.NewSymDense(2, nil)); !errors.Is(err, ErrZero) {
		t.Error(err)
	}
}

// TestNatural: in the natural parametrisation the penalty is size on the range and 0 on
// the null space, whose functions are uncorrelated, the constant last.
func TestNatural(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	const d, n = 5, 200
	x, products := mat.NewDense(n, d, nil), NewProducts(d)
	for i := range n {
		powers(d).Row(x.RawRowView(i), 2*r.Float64()-0.5)
		products.Add(x.RawRowView(i))
	}
	s := mat.NewSymDense(d, nil) // leaves 1 and x alone
	for j := 2; j < d; j++ {
		s.SetSym(j, j, float64(j*j))
		if j > 2 {
			s.SetSym(j, j-1, 1)
		}
	}
	p, rank, size, err := Natural(products, s)
	if err != nil || rank != 3 {
		t.Fatal(rank, err)
	}
	penalty := Congruent(s, p)
	for i := range d {
		for j := range d {
			want := 0.0
			if i == j && i < rank {
				want = size
			}
			if math.Abs(penalty.At(i, j)-want) > 1e-9*size {
				t.Errorf("the penalty of %d and %d is %v, want %v", i, j, penalty.At(i, j), want)
			}
		}
	}
	var xp mat.Dense
	xp.Mul(x, p)
	mean := func(f func(i int) float64) float64 {
		sum := 0.0
		for i := range n {
			sum += f(i) / n
		}
		return sum
	}
	slope, constant := mean(func(i int) float64 { return xp.At(i, 3) }), xp.At(0, 4)
	for i := range n {
		if math.Abs(xp.At(i, 4)-constant) > 1e-9 {
			t.Fatalf("the last function is %v in row 0 and %v in row %d", constant, xp.At(i, 4), i)
		}
	}
	if covariance := mean(func(i int) float64 { return (xp.At(i, 3) - slope) * xp.At(i, 4) }); math.Abs(covariance) > 1e-9 {
		t.Errorf("slope and constant have covariance %v", covariance)
	}
	if square := mean(func(i int) float64 { return (xp.At(i, 3)*xp.At(i, 3) + constant*constant) / 2 }); math.Abs(square-1) > 1e-9 {
		t.Errorf("the mean square of the null space is %v", square)
	}
	few := NewProducts(d)
	few.Add(x.RawRowView(0))
	if _, _, _, err := Natural(few, s); !errors.Is(err, ErrUndetermined) {
		t.Errorf("one row: %v", err)
	}
}
