package penalty

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// checkFinite fails if anything a caller may read is not a finite number.
func checkFinite(t interface{ Errorf(string, ...any) }, f *Fit) {
	all := [][]float64{f.Lambda, f.Alpha, f.EDF, f.EDF1, f.EDF2, {f.EDFTotal, f.Phi, f.Scale, f.Score, f.RSS}}
	for _, m := range []*mat.SymDense{f.Vp, f.Ve, f.Vc, f.Hessian} {
		if m != nil {
			for i := range m.SymmetricDim() {
				for j := range m.SymmetricDim() {
					all = append(all, []float64{m.At(i, j)})
				}
			}
		}
	}
	if f.Dropped != nil {
		all = append(all, f.Dropped.RawMatrix().Data)
	}
	for _, s := range f.Log {
		all = append(all, s.Rho, []float64{s.Score, s.GradNorm})
	}
	for _, v := range all {
		for _, x := range v {
			if !finite(x) {
				t.Errorf("the fit holds %g: %+v", x, f)
				return
			}
		}
	}
}

func mustSelect(t *testing.T, p *Problem, o *Options) *Fit {
	t.Helper()
	f, err := Select(p, o)
	if err != nil {
		t.Fatal(err)
	}
	checkFinite(t, f)
	return f
}

func close(a, b, tol float64) bool { return math.Abs(a-b) <= tol*(1+math.Abs(b)) }

func TestColumnScaleDoesNotMatter(t *testing.T) {
	for _, o := range []Options{{}, {Criterion: GCV}} {
		p, _, _, _ := randomProblem(3, 200, true, true)
		f := mustSelect(t, p, &o)
		rng := rand.New(rand.NewPCG(4, 4))
		d := make([]float64, len(p.XZ))
		for i := range d {
			d[i] = math.Exp(5 * rng.NormFloat64())
		}
		q := *p
		q.XX, q.XZ, q.Terms = mat.NewSymDense(len(d), nil), make([]float64, len(d)), nil
		for i := range d {
			q.XZ[i] = p.XZ[i] * d[i]
			for j := i; j < len(d); j++ {
				q.XX.(*mat.SymDense).SetSym(i, j, p.XX.At(i, j)*d[i]*d[j])
			}
		}
		for _, term := range p.Terms {
			scaled := Component{Name: term.Name, Start: term.Start, Dim: term.Dim}
			for _, s := range term.S {
				x := mat.NewSymDense(term.Dim, nil)
				for i := range term.Dim {
					for j := i; j < term.Dim; j++ {
						x.SetSym(i, j, s.At(i, j)*d[term.Start+i]*d[term.Start+j])
					}
				}
				scaled.S = append(scaled.S, x)
			}
			q.Terms = append(q.Terms, scaled)
		}
		g := mustSelect(t, &q, &o)
		for j := range f.Lambda {
			if !close(math.Log(g.Lambda[j]), math.Log(f.Lambda[j]), 1e-4) && f.Hessian.At(j, j) > 1e-3 {
				t.Errorf("%v: lambda %d: %g, after scaling %g", o.Criterion, j, f.Lambda[j], g.Lambda[j])
			}
		}
		for i := range d {
			if !close(g.Alpha[i]*d[i], f.Alpha[i], 1e-5) {
				t.Errorf("%v: coefficient %d: %g, after scaling %g", o.Criterion, i, f.Alpha[i], g.Alpha[i]*d[i])
			}
		}
		if !close(g.EDFTotal, f.EDFTotal, 1e-5) || !close(g.Scale, f.Scale, 1e-6) {
			t.Errorf("%v: edf %g and scale %g, after scaling %g and %g", o.Criterion, f.EDFTotal, f.Scale, g.EDFTotal, g.Scale)
		}
		if o.Criterion == GCV && !close(g.Score, f.Score, 1e-10) {
			t.Errorf("score %g, after scaling %g", f.Score, g.Score)
		}
	}
}

// Dummies of all levels next to an intercept, and a doubled column: the fit is
// that of the columns without the surplus, and Dropped names them.
func TestAliasedColumnsAreDropped(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	n := 120
	small, big := mat.NewDense(n, 3+8, nil), mat.NewDense(n, 5+8, nil)
	z, w := make([]float64, n), make([]float64, n)
	for i := range n {
		level, x := i%3, rng.NormFloat64()
		big.Set(i, level, 1)
		if level > 0 {
			small.Set(i, level-1, 1)
		}
		small.Set(i, 2, x)
		big.Set(i, 3, x)
		big.Set(i, 4, 100*x)
		for j := range 8 {
			v := rng.NormFloat64()
			small.Set(i, 3+j, v)
			big.Set(i, 5+j, v)
		}
		z[i], w[i] = float64(level)+x+rng.NormFloat64(), 0.5+rng.Float64()
	}
	s, _ := Difference(8, 2)
	p, q := momentsOf(small, z, w, true), momentsOf(big, z, w, true)
	p.Terms = []Component{{Name: "g", Dim: 2}, {Name: "x", Start: 2, Dim: 1}, {Name: "s", Start: 3, Dim: 8, S: []mat.Symmetric{s}}}
	q.Terms = []Component{{Name: "g", Dim: 3}, {Name: "x", Start: 3, Dim: 1}, {Name: "again", Start: 4, Dim: 1}, {Name: "s", Start: 5, Dim: 8, S: []mat.Symmetric{s}}}
	for _, o := range []Options{{}, {Criterion: GCV}} {
		f, g := mustSelect(t, p, &o), mustSelect(t, q, &o)
		if f.Rank != 11 || f.Dropped != nil || g.Rank != 11 || g.Dropped == nil {
			t.Fatalf("%v: ranks %d and %d, both should be 11", o.Criterion, f.Rank, g.Rank)
		}
		if r, c := g.Dropped.Dims(); r != 13 || c != 2 {
			t.Fatalf("Dropped is %d x %d, should be 13 x 2", r, c)
		}
		for i := range 13 {
			size := math.Hypot(g.Dropped.At(i, 0), g.Dropped.At(i, 1))
			if (size > 1e-8) != (i < 5) {
				t.Errorf("%v: column %d has %g in the dropped directions", o.Criterion, i, size)
			}
		}
		if !close(g.EDFTotal, f.EDFTotal, 1e-6) || !close(g.RSS, f.RSS, 1e-8) || !close(g.Lambda[0], f.Lambda[0], 1e-4) {
			t.Errorf("%v: edf %g RSS %g lambda %g, without aliases %g %g %g", o.Criterion, g.EDFTotal, g.RSS, g.Lambda[0], f.EDFTotal, f.RSS, f.Lambda[0])
		}
		for j := range 8 {
			if !close(g.Alpha[5+j], f.Alpha[3+j], 1e-6) {
				t.Errorf("%v: coefficient %d of the smooth: %g, without aliases %g", o.Criterion, j, g.Alpha[5+j], f.Alpha[3+j])
			}
		}
		// Contrasts are unique, and along Dropped alpha is zero in standardised columns.
		if !close(g.Alpha[2]-g.Alpha[0], f.Alpha[1], 1e-6) || !close(g.Alpha[3]+100*g.Alpha[4], f.Alpha[2], 1e-6) {
			t.Errorf("%v: contrasts %g and %g, without aliases %g and %g", o.Criterion, g.Alpha[2]-g.Alpha[0], g.Alpha[3]+100*g.Alpha[4], f.Alpha[1], f.Alpha[2])
		}
		if o.Criterion == REML {
			// With aliases the score holds the pseudo-determinant of X'WX + S.
			a := mat.NewSymDense(13, nil)
			a.CopySym(q.XX)
			for i := range 8 {
				for j := i; j < 8; j++ {
					a.SetSym(5+i, 5+j, a.At(5+i, 5+j)+g.Lambda[0]*s.At(i, j))
				}
			}
			values, _, _ := eigenDescending(a)
			logA := math.Log(q.SumW)
			for _, v := range values[:11] {
				logA += math.Log(v)
			}
			values, _, _ = eigenDescending(s)
			logS := 6 * math.Log(g.Lambda[0])
			for _, v := range values[:6] {
				logS += math.Log(v)
			}
			// Unpenalised: the intercept, 2 contrasts, x, and 2 of the smooth.
			want := (120-6)/2.0*(1+math.Log(2*math.Pi*g.Phi)) - q.SumLogW/2 + (logA-logS)/2
			if !close(g.Score, want, 1e-9) {
				t.Errorf("score %.12g, by definition %.12g", g.Score, want)
			}
		}
	}
}

// A constant leaves rounding in centred moments; the means tell.
func TestConstantsAreRecognised(t *testing.T) {
	p := smoothProblem(100, 6, 0.5, func(x float64) float64 { return x * x })
	q := *p
	q.XX = mat.NewSymDense(7, nil)
	for i := range 6 {
		for j := i; j < 6; j++ {
			q.XX.(*mat.SymDense).SetSym(i, j, p.XX.At(i, j))
		}
	}
	q.XX.(*mat.SymDense).SetSym(6, 6, 3e-27)
	q.XZ, q.XMean = append(append([]float64(nil), p.XZ...), 1e-15), append(append([]float64(nil), p.XMean...), 5)
	q.Terms = append(append([]Component(nil), p.Terms...), Component{Name: "constant", Start: 6, Dim: 1})
	f, g := mustSelect(t, p, nil), mustSelect(t, &q, nil)
	if g.Rank != 6 || g.Alpha[6] != 0 || g.EDF[1] != 0 || !close(g.EDFTotal, f.EDFTotal, 1e-9) || math.Abs(g.Dropped.At(6, 0)) != 1 {
		t.Errorf("rank %d, coefficient %g, edf %g; without the constant edf %g", g.Rank, g.Alpha[6], g.EDFTotal, f.EDFTotal)
	}
	q = *p
	q.ZZ, q.ZMean = 1e-26, 3
	if f := mustSelect(t, &q, nil); f.Status != ZeroResidual || mat.Norm(mat.NewVecDense(6, f.Alpha), 2) != 0 {
		t.Errorf("constant response: %v, %v", f.Status, f.Alpha)
	}
}

func TestNoColumnsAndNoPenalties(t *testing.T) {
	p := &Problem{Rows: 50, SumW: 50, Intercept: true, ZZ: 98}
	f := mustSelect(t, p, nil)
	if f.Status != Converged || f.EDFTotal != 1 || f.Scale != 2 || f.Phi != 2 || f.Vp != nil {
		t.Errorf("intercept alone: %+v", f)
	}
	if want := 49.0/2*(1+math.Log(4*math.Pi)) + math.Log(50)/2; !close(f.Score, want, 1e-12) {
		t.Errorf("score %g, want %g", f.Score, want)
	}
	full, x, z, w := randomProblem(1, 80, true, true)
	_ = full
	q := momentsOf(x.Slice(0, 80, 0, 4).(*mat.Dense), z, w, true)
	q.Terms = []Component{{Name: "a", Dim: 1}, {Name: "b", Start: 1, Dim: 3}}
	for _, m := range []Criterion{REML, GCV, Fixed, DF} {
		f := mustSelect(t, q, &Options{Criterion: m})
		var chol mat.Cholesky
		chol.Factorize(q.XX)
		var want mat.VecDense
		if err := chol.SolveVecTo(&want, mat.NewVecDense(4, q.XZ)); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			if !close(f.Alpha[i], want.AtVec(i), 1e-10) {
				t.Errorf("%v: coefficient %d is %g, least squares gives %g", m, i, f.Alpha[i], want.AtVec(i))
			}
		}
		if !close(f.EDFTotal, 5, 1e-10) || !close(f.Scale, f.RSS/75, 1e-10) || m != GCV && !close(f.Phi, f.Scale, 1e-10) {
			t.Errorf("%v: edf %g scale %g phi %g", m, f.EDFTotal, f.Scale, f.Phi)
		}
	}
}

// smoothProblem is one spline-like term: polynomial columns with a ridge on the
// higher ones, z = f(x) + noise.
func smoothProblem(n, k int, noise float64, f func(x float64) float64) *Problem {
	rng := rand.New(rand.NewPCG(9, uint64(k)))
	x := mat.NewDense(n, k, nil)
	z, w := make([]float64, n), make([]float64, n)
	for i := range n {
		u := 2*float64(i)/float64(max(n-1, 1)) - 1
		for j := range k {
			x.Set(i, j, math.Cos(float64(j+1)*math.Acos(u)))
		}
		z[i], w[i] = f(u)+noise*rng.NormFloat64(), 1
	}
	p := momentsOf(x, z, w, true)
	s := mat.NewSymDense(k, nil)
	for j := 1; j < k; j++ {
		s.SetSym(j, j, math.Pow(float64(j), 4))
	}
	p.Terms = []Component{{Name: "s(x)", Dim: k, S: []mat.Symmetric{s}}}
	return p
}

func TestResponseWithoutResidual(t *testing.T) {
	for name, f := range map[string]func(float64) float64{
		"zero":          func(float64) float64 { return 0 },
		"in null space": func(x float64) float64 { return 1 + 2*x },
		"in span":       func(x float64) float64 { return 4*x*x*x - 3*x },
	} {
		for _, o := range []Options{{}, {Criterion: GCV}, {Gamma: 1.5}, {Criterion: ML}} {
			p := smoothProblem(200, 8, 0, f)
			fit := mustSelect(t, p, &o)
			if fit.Status != ZeroResidual || fit.Scale != 0 || fit.RSS > 1e-12*(1+p.ZZ) {
				t.Errorf("%s, %v: status %v scale %g RSS %g", name, o.Criterion, fit.Status, fit.Scale, fit.RSS)
			}
			want := make([]float64, 8)
			switch name {
			case "in null space":
				want[0] = 2
			case "in span":
				want[2] = 1
			}
			for j := range want {
				if math.Abs(fit.Alpha[j]-want[j]) > 1e-9 {
					t.Errorf("%s, %v: coefficient %d is %g, want %g", name, o.Criterion, j, fit.Alpha[j], want[j])
				}
			}
		}
	}
}

func TestLambdaToInfinityAndToZero(t *testing.T) {
	line := func(x float64) float64 { return 1 + 2*x }
	infinite := 0
	for k := 5; k < 25; k++ { // k also seeds the noise
		f := mustSelect(t, smoothProblem(100, k, 0.5, line), nil)
		if f.Status != Converged && f.Status != AtBound || len(f.Log) > 20 {
			t.Errorf("k = %d: %v after %d steps", k, f.Status, len(f.Log))
		}
		if f.AtInfinity[0] {
			infinite++
			if f.EDF[0]-1 > 1e-6 || f.Status != AtBound {
				t.Errorf("k = %d: at infinity with edf %g, status %v", k, f.EDF[0], f.Status)
			}
		}
	}
	if infinite < 5 || infinite == 20 {
		t.Errorf("%d of 20 straight lines were fitted as straight lines: about half should be", infinite)
	}
	// A function far richer than the basis, without noise: GCV uses it all.
	f := mustSelect(t, smoothProblem(100000, 6, 0, func(x float64) float64 { return math.Exp(-3*x) * math.Sin(20*x) }), &Options{Criterion: GCV})
	if f.EDF[0] < 5.99 {
		t.Errorf("edf %g of 6", f.EDF[0])
	}
	// Given extremes are taken as they are.
	p := smoothProblem(100, 8, 0.5, line)
	for _, c := range []struct{ sp, edf float64 }{{0, 8}, {1e-12, 8}, {1e14, 1}} {
		f := mustSelect(t, p.at([]float64{c.sp}), &Options{Criterion: Fixed})
		if !close(f.EDF[0], c.edf, 1e-8) || f.Lambda[0] != c.sp || !f.Fixed[0] {
			t.Errorf("sp = %g: edf %g, want %g", c.sp, f.EDF[0], c.edf)
		}
	}
}

func TestMoreColumnsThanRows(t *testing.T) {
	p := smoothProblem(20, 30, 0.3, func(x float64) float64 { return math.Sin(3 * x) })
	for _, o := range []Options{{}, {Criterion: GCV}, {Gamma: 1.2}, {Criterion: ML}} {
		f := mustSelect(t, p, &o)
		if f.Status != Converged && f.Status != AtBound || f.EDFTotal >= 20 || f.EDFTotal < 3 {
			t.Errorf("%v: %v, edf %g of 20 rows", o.Criterion, f.Status, f.EDFTotal)
		}
	}
	// Without a penalty the columns reach every row.
	p.Terms[0].S = nil
	f := mustSelect(t, p, nil)
	if f.Status != ZeroResidual || f.Rank != 19 || f.RSS > 1e-9*p.ZZ {
		t.Errorf("saturated: %v, rank %d, RSS %g", f.Status, f.Rank, f.RSS)
	}
}

func BenchmarkSelect191(b *testing.B) {
	g := readPieces(b, "ten_ps_reml_weighted")
	p := g.problem(b)
	for _, m := range []Criterion{REML, GCV} {
		b.Run(m.String(), func(b *testing.B) {
			for b.Loop() {
				if _, err := Select(p, &Options{Criterion: m}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
