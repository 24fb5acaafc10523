package penalty

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// randomProblem has an unpenalised term, two terms with one penalty and one with
// two overlapping penalties (like a tensor product), on n rows with weights.
func randomProblem(seed uint64, n int, weighted, intercept bool) (*Problem, *mat.Dense, []float64, []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	terms := randomTerms()
	dim := 0
	for i := range terms {
		terms[i].Start = dim
		dim += terms[i].Dim
	}
	x := mat.NewDense(n, dim, nil)
	z, w := make([]float64, n), make([]float64, n)
	for i := range n {
		w[i] = 1
		if weighted {
			w[i] = 0.2 + rng.Float64()
		}
		z[i] = 2 + rng.NormFloat64()
		for j := range dim {
			v := rng.NormFloat64() + 0.5
			x.Set(i, j, v*math.Exp(float64(j%5-2)))
			z[i] += math.Sin(float64(j)) * v * 0.3
		}
	}
	p := momentsOf(x, z, w, intercept)
	p.Terms = terms
	return p, x, z, w
}

func randomTerms() []Component {
	d2, _ := Difference(8, 2)
	d1, _ := Difference(3, 1)
	d3, _ := Difference(4, 2)
	return []Component{
		{Name: "linear", Dim: 2},
		{Name: "s(a)", Dim: 8, S: []mat.Symmetric{d2}},
		{Name: "te(b,c)", Dim: 12, S: []mat.Symmetric{kronecker(d1, Ridge(4)), kronecker(Ridge(3), d3)}},
		{Name: "re", Dim: 5, S: []mat.Symmetric{Ridge(5)}},
	}
}

func kronecker(a, b *mat.SymDense) *mat.SymDense {
	var k mat.Dense
	k.Kronecker(a, b)
	return symmetric(&k)
}

// criteria are all the objectives a user can ask for.
var criteria = []Options{
	{Criterion: REML}, {Criterion: REML, Gamma: 1.4}, {Criterion: REML, Scale: 0.7}, {Criterion: REML, Scale: 0.7, Gamma: 1.3},
	{Criterion: GCV}, {Criterion: GCV, Gamma: 1.4}, {Criterion: GCV, Scale: 0.7},
	{Criterion: ML}, {Criterion: ML, Gamma: 1.4}, {Criterion: ML, Scale: 0.7, Gamma: 1.3},
}

func mustReduce(t *testing.T, p *Problem) *system {
	t.Helper()
	_, _, live := p.given()
	s, err := reduce(t.Context(), p, live, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustCriterion(t *testing.T, p *Problem, o *Options) *criterion {
	t.Helper()
	c := newCriterion(mustReduce(t, p), o, p.links())
	if o.Criterion == ML {
		_, _, live := p.given()
		if err := c.withInside(p, live, o); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestDerivativesAgainstFiniteDifferences(t *testing.T) {
	for _, o := range criteria {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%v gamma %g scale %g seed %d", o.Criterion, o.Gamma, o.Scale, seed), func(t *testing.T) {
				p, _, _, _ := randomProblem(seed, 150, seed%2 == 1, seed < 3)
				opts, err := o.withDefaults()
				if err != nil {
					t.Fatal(err)
				}
				c := mustCriterion(t, p, &opts)
				rng := rand.New(rand.NewPCG(seed, 2))
				rho := make([]float64, c.params)
				for j := range rho {
					rho[j] = 3 + 2*rng.NormFloat64()
				}
				againstDifferences(t, c, rho, 1e-8)
			})
		}
	}
}

// againstDifferences compares gradient and Hessian with fourth-order central
// differences.
func againstDifferences(t *testing.T, c *criterion, rho []float64, tol float64) {
	t.Helper()
	at := c.eval(rho, true)
	const h = 1e-4
	for j := range rho {
		shift := func(d float64) *point {
			r := append([]float64(nil), rho...)
			r[j] += d
			return c.eval(r, true)
		}
		a, b, cc, d := shift(-2*h), shift(-h), shift(h), shift(2*h)
		diff := func(f func(*point) float64) float64 {
			return (f(a) - 8*f(b) + 8*f(cc) - f(d)) / (12 * h)
		}
		if got, want := at.grad[j], diff(func(q *point) float64 { return q.objective }); math.Abs(got-want) > 1e-7*(1+math.Abs(want)) {
			t.Errorf("gradient %d: %.10g, by differences %.10g", j, got, want)
		}
		for l := range rho {
			if got, want := at.hess.At(j, l), diff(func(q *point) float64 { return q.grad[l] }); math.Abs(got-want) > tol*(1+math.Abs(want)) {
				t.Errorf("Hessian %d,%d: %.10g, by differences %.10g", j, l, got, want)
			}
		}
	}
}

// denseREML is the criterion by its definition, from rows, with the intercept as
// a column, in original coordinates: pseudo-determinants by eigenvalues.
func denseREML(p *Problem, x *mat.Dense, z, w, lambda []float64, o *Options) (score, edf, gcv float64) {
	n, dim := x.Dims()
	first := 0
	if p.Intercept {
		first = 1
	}
	full := mat.NewDense(n, first+dim, nil)
	for i := range n {
		if first == 1 {
			full.Set(i, 0, 1)
		}
		for j := range dim {
			full.Set(i, first+j, x.At(i, j))
		}
	}
	penaltySum := mat.NewSymDense(first+dim, nil)
	k := 0
	for _, t := range p.Terms {
		for _, s := range t.S {
			for a := range t.Dim {
				for b := a; b < t.Dim; b++ {
					i, j := first+t.Start+a, first+t.Start+b
					penaltySum.SetSym(i, j, penaltySum.At(i, j)+lambda[k]*s.At(a, b))
				}
			}
			k++
		}
	}
	moments := momentsOf(full, z, w, false)
	a := mat.NewSymDense(first+dim, nil)
	a.AddSym(moments.XX, penaltySum)
	var chol mat.Cholesky
	chol.Factorize(a)
	alpha := mat.NewVecDense(first+dim, nil)
	_ = chol.SolveVecTo(alpha, mat.NewVecDense(first+dim, moments.XZ))
	rp := moments.ZZ - mat.Dot(alpha, mat.NewVecDense(first+dim, moments.XZ))
	rss := rp - mat.Inner(alpha, penaltySum, alpha)
	values, vectors, _ := eigenDescending(penaltySum)
	logS, rank := 0.0, 0
	for _, v := range values {
		if v > 1e-9*values[0] {
			logS += math.Log(v)
			rank++
		}
	}
	gamma := o.Gamma
	if gamma == 0 {
		gamma = 1
	}
	nn, mp := float64(n), float64(first+dim-rank)
	phi := o.Scale
	if phi == 0 {
		phi = rp / (nn - gamma*mp)
	}
	if o.Criterion == ML && o.Scale == 0 {
		phi = rp / nn
	}
	sumLogW := 0.0
	for _, v := range w {
		sumLogW += math.Log(v)
	}
	score = (rp/phi+nn*math.Log(2*math.Pi*phi)-sumLogW)/(2*gamma) + (chol.LogDet()-logS)/2 -
		mp/2*(math.Log(2*math.Pi*phi)-math.Log(gamma))
	if o.Criterion == ML {
		inside := sandwich(mat.DenseCopyOf(vectors.Slice(0, first+dim, 0, rank).T()), a)
		var cholR mat.Cholesky
		cholR.Factorize(inside)
		score = (rp/phi+nn*math.Log(2*math.Pi*phi)-sumLogW)/(2*gamma) + (cholR.LogDet()-logS)/2
	}
	var f mat.Dense
	_ = chol.SolveTo(&f, moments.XX)
	edf = mat.Trace(&f)
	gcv = nn * rss / ((nn - gamma*edf) * (nn - gamma*edf))
	if o.Scale > 0 {
		gcv = rss/nn - o.Scale + 2*gamma*o.Scale*edf/nn
	}
	return score, edf, gcv
}

func TestScoreByItsDefinition(t *testing.T) {
	for _, o := range criteria {
		for seed := range uint64(4) {
			p, x, z, w := randomProblem(seed, 90, seed%2 == 0, seed != 2)
			lambda := []float64{0.3, 40, 2, 7}
			f, err := Select(p.at(lambda), &o)
			if err != nil {
				t.Fatal(err)
			}
			reml, edf, gcv := denseREML(p, x, z, w, lambda, &o)
			want := reml
			if o.Criterion == GCV {
				want = gcv
			}
			if math.Abs(f.Score-want) > 1e-10*(1+math.Abs(want)) || math.Abs(f.EDFTotal-edf) > 1e-9*edf {
				t.Errorf("%v gamma %g scale %g seed %d: score %.12g, by definition %.12g; edf %.12g, by definition %.12g",
					o.Criterion, o.Gamma, o.Scale, seed, f.Score, want, f.EDFTotal, edf)
			}
		}
	}
}

// Vp and Ve by their definition, from the centred moments.
func TestCovariances(t *testing.T) {
	for seed := range uint64(3) {
		p, _, _, _ := randomProblem(seed, 90, seed == 1, seed != 2)
		lambda := []float64{0.3, 40, 2, 7}
		f := mustSelect(t, p.at(lambda), &Options{Criterion: Fixed})
		dim, k := len(p.XZ), 0
		a := mat.NewSymDense(dim, nil)
		a.CopySym(p.XX)
		for _, term := range p.Terms {
			for _, s := range term.S {
				for i := range term.Dim {
					for j := i; j < term.Dim; j++ {
						a.SetSym(term.Start+i, term.Start+j, a.At(term.Start+i, term.Start+j)+lambda[k]*s.At(i, j))
					}
				}
				k++
			}
		}
		var inverse, fmatrix, ve mat.Dense
		if err := inverse.Inverse(a); err != nil {
			t.Fatal(err)
		}
		fmatrix.Mul(&inverse, p.XX)
		ve.Mul(&fmatrix, &inverse)
		i := 0
		for t2, term := range p.Terms {
			edf := 0.0
			for ; i < term.Start+term.Dim; i++ {
				edf += fmatrix.At(i, i)
				for j := range dim {
					size := f.Scale * math.Sqrt(inverse.At(i, i)*inverse.At(j, j))
					if math.Abs(f.Vp.At(i, j)-f.Scale*inverse.At(i, j)) > 1e-9*size || math.Abs(f.Ve.At(i, j)-f.Scale*ve.At(i, j)) > 1e-9*size {
						t.Fatalf("entry %d,%d: Vp %g Ve %g, by definition %g %g", i, j, f.Vp.At(i, j), f.Ve.At(i, j), f.Scale*inverse.At(i, j), f.Scale*ve.At(i, j))
					}
				}
			}
			if !close(f.EDF[t2], edf, 1e-9) {
				t.Errorf("term %q: edf %.12g, by definition %.12g", term.Name, f.EDF[t2], edf)
			}
		}
	}
}

// Overlapping penalties with very different lambdas: log|S|_+ and its
// derivatives against a case with a closed form, S_1 and S_2 Kronecker factors
// that commute, where the eigenvalues of the sum are sums of eigenvalues.
func TestLogDeterminantOfOverlappingPenalties(t *testing.T) {
	d1, _ := Difference(5, 1)
	d2, _ := Difference(6, 2)
	e1, _, _ := eigenDescending(d1)
	e2, _, _ := eigenDescending(d2)
	// Their null spaces, one and two directions, are rounded to zero.
	e1[4], e2[4], e2[5] = 0, 0, 0
	p := &Problem{Rows: 100, SumW: 100, XX: Ridge(30), XZ: make([]float64, 30), ZZ: 1,
		Terms: []Component{{Name: "te", Dim: 30, S: []mat.Symmetric{kronecker(d1, Ridge(6)), kronecker(Ridge(5), d2)}}}}
	p.XX.(*mat.SymDense).ScaleSym(100, p.XX) // unit variance: coordinates stay as they are
	s := mustReduce(t, p)
	if s.penalties[0].pair == nil {
		t.Fatal("not a pair")
	}
	var last *overlap
	pair := func(b *block, rho []float64) (*overlap, bool) {
		last = s.overlapOf(b, rho, last)
		return last, last != nil
	}
	for _, gap := range []float64{0, 3, -6, 15, -15, 25, -25, 60, -60} {
		for _, factor := range []func(*block, []float64) (*overlap, bool){s.factorOverlap, pair} {
			rho := []float64{1 + gap, 1}
			want, wantGrad, wantCross := 0.0, 0.0, 0.0
			for _, a := range e1 {
				for _, b := range e2 {
					x, y := a*math.Exp(rho[0]), b*math.Exp(rho[1])
					if x+y > 0 {
						want += math.Log(x + y)
						wantGrad += x / (x + y)
						wantCross -= x / (x + y) * y / (x + y)
					}
				}
			}
			grad, hess := make([]float64, 2), mat.NewSymDense(2, nil)
			o, ok := factor(&s.blocks[0], rho)
			if !ok {
				t.Fatalf("ratio e^%g: no factor", gap)
			}
			got := s.addLogDetS(&s.blocks[0], o, rho, grad, hess)
			if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) || math.Abs(grad[0]-wantGrad) > 1e-9*wantGrad ||
				math.Abs(hess.At(0, 1)-wantCross) > 1e-9 {
				t.Errorf("ratio e^%g: log determinant %.12g, want %.12g; derivative %.12g, want %.12g; mixed second %.12g, want %.12g",
					gap, got, want, grad[0], wantGrad, hess.At(0, 1), wantCross)
			}
		}
	}
}

// mgcv's Hessian is joint in log sp and log scale; ours has the scale profiled out.
func TestHessianAgainstMgcv(t *testing.T) {
	compared := 0
	for _, name := range goldenNames(t) {
		g := readPieces(t, name)
		if g.Case.Hessian == nil || name == "small_linear_truth" || g.Case.Gamma != 1 {
			continue
		}
		f, err := Select(g.problem(t), g.options())
		if err != nil {
			t.Fatal(err)
		}
		k := f.Hessian.SymmetricDim()
		for i := range k {
			for j := range k {
				want := g.Case.Hessian[i][j]
				if g.Case.KnownScale == 0 {
					want -= g.Case.Hessian[i][k] * g.Case.Hessian[k][j] / g.Case.Hessian[k][k]
				}
				if d := math.Abs(f.Hessian.At(i, j) - want); d > 1e-5 {
					t.Errorf("%s: Hessian %d,%d: got %.8g, mgcv has %.8g", name, i, j, f.Hessian.At(i, j), want)
				}
				compared++
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d entries were compared", compared)
	}
}
