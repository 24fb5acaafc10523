package penalty

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestRowsGiveTheFitOfTheirProducts: Problem.Factor changes nothing where products
// have digits enough, with one penalty a term and with two.
func TestRowsGiveTheFitOfTheirProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	const n, p = 200, 13
	x, y := mat.NewDense(n, p, nil), make([]float64, n)
	for i := range n {
		for j := range p {
			x.Set(i, j, r.NormFloat64())
		}
		y[i] = x.At(i, 0) + x.At(i, 6) + r.NormFloat64()
	}
	problem := rowsProblem(x, y)
	second := func(d, lo int) *mat.SymDense {
		s := mat.NewSymDense(d, nil)
		for i := lo; i < d; i++ {
			s.SetSym(i, i, float64(1+i))
			if i > lo {
				s.SetSym(i-1, i, 0.3)
			}
		}
		return s
	}
	problem.Terms = []Component{
		{Name: "one", Start: 0, Dim: 6, S: []mat.Symmetric{second(6, 1)}},
		{Name: "two", Start: 6, Dim: 6, S: []mat.Symmetric{second(6, 1), second(6, 3)}},
		{Name: "free", Start: 12, Dim: 1},
	}
	for _, method := range []Criterion{REML, GCV, ML} {
		byProducts, err := Select(problem, &Options{Criterion: method})
		if err != nil {
			t.Fatal(err)
		}
		withRows := *problem
		withRows.Factor = mat.NewDense(n, p+1, nil)
		withRows.Factor.Augment(x, mat.NewVecDense(n, y))
		byRows, err := Select(&withRows, &Options{Criterion: method})
		if err != nil {
			t.Fatal(err)
		}
		if d := math.Abs(byRows.Score - byProducts.Score); d > 1e-9*math.Abs(byProducts.Score) {
			t.Errorf("%v: the score is %g by rows, %g by products", method, byRows.Score, byProducts.Score)
		}
		for i, a := range byProducts.Alpha {
			if math.Abs(byRows.Alpha[i]-a) > 1e-6 {
				t.Errorf("%v: coefficient %d is %g by rows, %g by products", method, i, byRows.Alpha[i], a)
			}
		}
	}
}

// TestRowsHoldWhatProductsLose: two columns that differ by 1e-10 of their size.
func TestRowsHoldWhatProductsLose(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	const n, p, apart = 100, 3, 1e-10
	x, y := mat.NewDense(n, p, nil), make([]float64, n)
	for i := range n {
		v, e := r.NormFloat64(), r.NormFloat64()
		x.SetRow(i, []float64{v, v + apart*e, r.NormFloat64()})
		y[i] = e
	}
	problem := rowsProblem(x, y)
	identity := mat.NewSymDense(p, nil)
	for i := range p {
		identity.SetSym(i, i, 1)
	}
	problem.Terms = []Component{{Name: "s(x)", Dim: p, S: []mat.Symmetric{identity}, SP: []float64{1e-25}}}
	problem.Factor = mat.NewDense(n, p+1, nil)
	problem.Factor.Augment(x, mat.NewVecDense(n, y))
	fit, err := Select(problem, &Options{Criterion: Fixed, Scale: 1})
	if err != nil {
		t.Fatal(err)
	}
	if a := fit.Alpha[1] * apart; math.Abs(a-1) > 1e-4 || fit.RSS > 1e-8 {
		t.Errorf("the coefficient of the difference is %g, the residual %g", a, fit.RSS)
	}
}

func rowsProblem(x *mat.Dense, y []float64) *Problem {
	n, p := x.Dims()
	problem := &Problem{Rows: int64(n), SumW: float64(n), XX: mat.NewSymDense(p, nil), XZ: make([]float64, p), ZZ: mat.Dot(mat.NewVecDense(n, y), mat.NewVecDense(n, y))}
	problem.XX.(*mat.SymDense).SymOuterK(1, x.T())
	mat.NewVecDense(p, problem.XZ).MulVec(x.T(), mat.NewVecDense(n, y))
	return problem
}
