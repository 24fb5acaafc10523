package penalty

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
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
	for _, o := range []Options{{}, {Method: GCV}} {
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
				q.XX.SetSym(i, j, p.XX.At(i, j)*d[i]*d[j])
			}
		}
		for _, term := range p.Terms {
			scaled := Term{Name: term.Name, Start: term.Start, Dim: term.Dim}
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
				t.Errorf("%v: lambda %d: %g, after scaling %g", o.Method, j, f.Lambda[j], g.Lambda[j])
			}
		}
		for i := range d {
			if !close(g.Alpha[i]*d[i], f.Alpha[i], 1e-5) {
				t.Errorf("%v: coefficient %d: %g, after scaling %g", o.Method, i, f.Alpha[i], g.Alpha[i]*d[i])
			}
		}
		if !close(g.EDFTotal, f.EDFTotal, 1e-5) || !close(g.Scale, f.Scale, 1e-6) {
			t.Errorf("%v: edf %g and scale %g, after scaling %g and %g", o.Method, f.EDFTotal, f.Scale, g.EDFTotal, g.Scale)
		}
		if o.Method == GCV && !close(g.Score, f.Score, 1e-10) {
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
	p.Terms = []Term{{Name: "g", Dim: 2}, {Name: "x", Start: 2, Dim: 1}, {Name: "s", Start: 3, Dim: 8, S: []*mat.SymDense{s}}}
	q.Terms = []Term{{Name: "g", Dim: 3}, {Name: "x", Start: 3, Dim: 1}, {Name: "again", Start: 4, Dim: 1}, {Name: "s", Start: 5, Dim: 8, S: []*mat.SymDense{s}}}
	for _, o := range []Options{{}, {Method: GCV}} {
		f, g := mustSelect(t, p, &o), mustSelect(t, q, &o)
		if f.Rank != 11 || f.Dropped != nil || g.Rank != 11 || g.Dropped == nil {
			t.Fatalf("%v: ranks %d and %d, both should be 11", o.Method, f.Rank, g.Rank)
		}
		if r, c := g.Dropped.Dims(); r != 13 || c != 2 {
			t.Fatalf("Dropped is %d x %d, should be 13 x 2", r, c)
		}
		for i := range 13 {
			size := math.Hypot(g.Dropped.At(i, 0), g.Dropped.At(i, 1))
			if (size > 1e-8) != (i < 5) {
				t.Errorf("%v: column %d has %g in the dropped directions", o.Method, i, size)
			}
		}
		if !close(g.EDFTotal, f.EDFTotal, 1e-6) || !close(g.RSS, f.RSS, 1e-8) || !close(g.Lambda[0], f.Lambda[0], 1e-4) {
			t.Errorf("%v: edf %g RSS %g lambda %g, without aliases %g %g %g", o.Method, g.EDFTotal, g.RSS, g.Lambda[0], f.EDFTotal, f.RSS, f.Lambda[0])
		}
		for j := range 8 {
			if !close(g.Alpha[5+j], f.Alpha[3+j], 1e-6) {
				t.Errorf("%v: coefficient %d of the smooth: %g, without aliases %g", o.Method, j, g.Alpha[5+j], f.Alpha[3+j])
			}
		}
		// Contrasts are unique, and along Dropped alpha is zero in standardised columns.
		if !close(g.Alpha[2]-g.Alpha[0], f.Alpha[1], 1e-6) || !close(g.Alpha[3]+100*g.Alpha[4], f.Alpha[2], 1e-6) {
			t.Errorf("%v: contrasts %g and %g, without aliases %g and %g", o.Method, g.Alpha[2]-g.Alpha[0], g.Alpha[3]+100*g.Alpha[4], f.Alpha[1], f.Alpha[2])
		}
		if o.Method == REML {
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
			q.XX.SetSym(i, j, p.XX.At(i, j))
		}
	}
	q.XX.SetSym(6, 6, 3e-27)
	q.XZ, q.XMean = append(append([]float64(nil), p.XZ...), 1e-15), append(append([]float64(nil), p.XMean...), 5)
	q.Terms = append(append([]Term(nil), p.Terms...), Term{Name: "constant", Start: 6, Dim: 1})
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
	q.Terms = []Term{{Name: "a", Dim: 1}, {Name: "b", Start: 1, Dim: 3}}
	for _, m := range []Method{REML, GCV, Fixed, DF} {
		f := mustSelect(t, q, &Options{Method: m})
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
	p.Terms = []Term{{Name: "s(x)", Dim: k, S: []*mat.SymDense{s}}}
	return p
}

func TestResponseWithoutResidual(t *testing.T) {
	for name, f := range map[string]func(float64) float64{
		"zero":          func(float64) float64 { return 0 },
		"in null space": func(x float64) float64 { return 1 + 2*x },
		"in span":       func(x float64) float64 { return 4*x*x*x - 3*x },
	} {
		for _, o := range []Options{{}, {Method: GCV}, {Gamma: 1.5}, {Method: ML}} {
			p := smoothProblem(200, 8, 0, f)
			fit := mustSelect(t, p, &o)
			if fit.Status != ZeroResidual || fit.Scale != 0 || fit.RSS > 1e-12*(1+p.ZZ) {
				t.Errorf("%s, %v: status %v scale %g RSS %g", name, o.Method, fit.Status, fit.Scale, fit.RSS)
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
					t.Errorf("%s, %v: coefficient %d is %g, want %g", name, o.Method, j, fit.Alpha[j], want[j])
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
	f := mustSelect(t, smoothProblem(100000, 6, 0, func(x float64) float64 { return math.Exp(-3*x) * math.Sin(20*x) }), &Options{Method: GCV})
	if f.EDF[0] < 5.99 {
		t.Errorf("edf %g of 6", f.EDF[0])
	}
	// Given extremes are taken as they are.
	p := smoothProblem(100, 8, 0.5, line)
	for _, c := range []struct{ sp, edf float64 }{{0, 8}, {1e-12, 8}, {1e14, 1}} {
		f := mustSelect(t, p.at([]float64{c.sp}), &Options{Method: Fixed})
		if !close(f.EDF[0], c.edf, 1e-8) || f.Lambda[0] != c.sp || !f.Fixed[0] {
			t.Errorf("sp = %g: edf %g, want %g", c.sp, f.EDF[0], c.edf)
		}
	}
}

func TestMoreColumnsThanRows(t *testing.T) {
	p := smoothProblem(20, 30, 0.3, func(x float64) float64 { return math.Sin(3 * x) })
	for _, o := range []Options{{}, {Method: GCV}, {Gamma: 1.2}, {Method: ML}} {
		f := mustSelect(t, p, &o)
		if f.Status != Converged && f.Status != AtBound || f.EDFTotal >= 20 || f.EDFTotal < 3 {
			t.Errorf("%v: %v, edf %g of 20 rows", o.Method, f.Status, f.EDFTotal)
		}
	}
	// Without a penalty the columns reach every row.
	p.Terms[0].S = nil
	f := mustSelect(t, p, nil)
	if f.Status != ZeroResidual || f.Rank != 19 || f.RSS > 1e-9*p.ZZ {
		t.Errorf("saturated: %v, rank %d, RSS %g", f.Status, f.Rank, f.RSS)
	}
}

// Any moments of any data: no panic, no NaN, and a minimum where one is claimed.
func TestSelectProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 7))
		n := rapid.IntRange(1, 60).Draw(t, "n")
		terms := randomTerms()
		if rapid.Bool().Draw(t, "one term") {
			terms = terms[1:2]
		}
		dim := 0
		for i := range terms {
			terms[i].Start = dim
			dim += terms[i].Dim
			for range terms[i].S {
				terms[i].SP = append(terms[i].SP, []float64{-1, -1, 0, 1e-3, 1, 1e10}[rng.IntN(6)])
			}
		}
		if len(terms) > 1 && rapid.Bool().Draw(t, "linked") {
			terms[1].Link, terms[3].Link = []string{"a"}, []string{"a"}
			terms[3].SP = nil
		}
		levels := rapid.SampledFrom([]int{0, 2, 3}).Draw(t, "levels") // discrete columns are often aliased
		x, z, w := mat.NewDense(n, dim, nil), make([]float64, n), make([]float64, n)
		for i := range n {
			w[i] = []float64{0, 1, 1, 0.3}[rng.IntN(4)]
			if i == 0 {
				w[i] = 1
			}
			z[i] = rng.NormFloat64()
			for j := range dim {
				v := rng.NormFloat64()
				if levels > 0 {
					v = float64(rng.IntN(levels))
				}
				x.Set(i, j, v)
				z[i] += v / float64(1+j)
			}
		}
		p := momentsOf(x, z, w, rapid.Bool().Draw(t, "intercept"))
		p.Terms = terms
		o := rapid.SampledFrom(criteria).Draw(t, "criterion")
		f, err := Select(p, &o)
		if err != nil {
			t.Skip(err.Error()) // gamma too large for so few rows
		}
		checkFinite(t, f)
		// With fewer rows than columns the least smoothing leaves X'WX + S with a
		// condition of 1e12 and more.
		if f.EDFTotal > 1.01*float64(n) || f.EDFTotal < 0 || f.Rank > dim {
			t.Errorf("edf %g and rank %d with %d rows and %d columns", f.EDFTotal, f.Rank, n, dim)
		}
		// When a fit comes to interpolate, the criterion holds zero by zero, and
		// rounding ends the search.
		interpolates := f.EDFTotal > 0.9*float64(p.Rows)
		if !interpolates && (f.Status == StepFailed || f.Status == IterationLimit) {
			t.Errorf("%v after %d steps: %+v; sp given %v", f.Status, len(f.Log), f.Log[len(f.Log)-1], f.Fixed)
		}
		// No neighbour is better.
		if !interpolates && f.Status == Converged && f.Hessian != nil {
			for j := range f.Lambda {
				for _, by := range []float64{0.9, 1.1} {
					sp := append([]float64(nil), f.Lambda...)
					sp[j] *= by
					for l, first := range p.links() {
						sp[l] = sp[first]
					}
					if p.links()[j] != j {
						continue
					}
					q, err := Select(p.at(sp), &o)
					if err == nil && !f.Fixed[j] && q.Status == Converged && q.Score < f.Score-1e-6*(1+math.Abs(f.Score)) {
						t.Errorf("score %.10g, but %.10g with lambda %d times %g: rows %d, edf %.6g, lambda %.3g, last step %+v", f.Score, q.Score, j, by, p.Rows, f.EDFTotal, f.Lambda, f.Log[len(f.Log)-1])
					}
				}
			}
		}
	})
}

// Groups of any rows, targets of any size: an error or a finite fit that keeps
// them.
func TestGroupsAndTargetsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 8))
		terms := randomTerms()
		dim := 0
		for i := range terms {
			terms[i].Start = dim
			dim += terms[i].Dim
			if len(terms[i].S) > 0 && rng.IntN(2) == 0 {
				terms[i].DF = 13 * rng.Float64()
			}
		}
		intercept, levels := rapid.Bool().Draw(t, "intercept"), rapid.SampledFrom([]int{0, 2, 3}).Draw(t, "levels")
		var groups []*Problem
		rows := 0
		for range rapid.IntRange(1, 5).Draw(t, "groups") {
			n := rapid.IntRange(1, 30).Draw(t, "n")
			rows += n
			x, z, w := mat.NewDense(n, dim, nil), make([]float64, n), make([]float64, n)
			for i := range n {
				w[i] = []float64{0, 1, 1, 0.3}[rng.IntN(4)]
				for j := range dim {
					v := rng.NormFloat64()
					if levels > 0 {
						v = float64(rng.IntN(levels))
					}
					x.Set(i, j, v)
					z[i] += v / float64(1+j)
				}
				z[i] += rng.NormFloat64()
			}
			p := momentsOf(x, z, w, intercept)
			if p.Rows == 0 {
				p = &Problem{Intercept: intercept}
			}
			p.Terms = terms
			groups = append(groups, p)
		}
		f, err := SelectGrouped(groups, nil)
		if err != nil {
			t.Skip(err.Error())
		}
		checkFinite(t, f)
		for i, term := range terms {
			if term.DF > 0 && f.Status != ZeroResidual && !close(f.EDF[i], term.DF, 1e-4) {
				t.Errorf("%s has edf %g, asked for %g (%v)", term.Name, f.EDF[i], term.DF, f.Status)
			}
		}
		// With fewer rows than columns the fits without a group interpolate as
		// lambda goes to zero, and rounding ends the search.
		if rows > 2*dim && f.Status == StepFailed {
			t.Errorf("%v after %d steps, edf %g of %d rows: %+v", f.Status, len(f.Log), f.EDFTotal, rows, f.Log[len(f.Log)-2:])
		}
	})
}

func BenchmarkSelect191(b *testing.B) {
	g := readPieces(b, "ten_ps_reml_weighted")
	p := g.problem(b)
	for _, m := range []Method{REML, GCV} {
		b.Run(m.String(), func(b *testing.B) {
			for b.Loop() {
				if _, err := Select(p, &Options{Method: m}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Ten terms of which eight have nothing curved to find: the flat directions must
// not hold up the others.
func TestManyTermsAtInfinity(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	const n, k, terms = 400, 9, 10
	x := mat.NewDense(n, k*terms, nil)
	z, w := make([]float64, n), make([]float64, n)
	for i := range n {
		for term := range terms {
			u := 2*rng.Float64() - 1
			for j := range k {
				x.Set(i, term*k+j, math.Cos(float64(j+1)*math.Acos(u)))
			}
			switch term {
			case 0:
				z[i] += math.Sin(4 * u)
			case 1:
				z[i] += math.Exp(u)
			default:
				z[i] += u
			}
		}
		z[i] += 0.4 * rng.NormFloat64()
		w[i] = 1
	}
	p := momentsOf(x, z, w, true)
	for term := range terms {
		s := mat.NewSymDense(k, nil)
		for j := 1; j < k; j++ {
			s.SetSym(j, j, math.Pow(float64(j), 4))
		}
		p.Terms = append(p.Terms, Term{Name: "s", Start: term * k, Dim: k, S: []*mat.SymDense{s}})
	}
	for _, o := range []Options{{}, {Method: GCV}, {Gamma: 1.5}, {Method: ML}} {
		f := mustSelect(t, p, &o)
		infinite := 0
		for j, at := range f.AtInfinity {
			if at {
				infinite++
				if f.EDF[j]-1 > 1e-6 {
					t.Errorf("term %d at infinity has edf %g", j, f.EDF[j])
				}
			}
		}
		t.Logf("%v: %d terms at infinity after %d steps, %v, edf %.4g", o.Method, infinite, len(f.Log)-1, f.Status, f.EDFTotal)
		if f.Status != AtBound || infinite < 2 || f.AtInfinity[0] || f.AtInfinity[1] || len(f.Log) > 20 {
			t.Errorf("%v: status %v, %d at infinity, %d steps", o.Method, f.Status, infinite, len(f.Log)-1)
		}
	}
}

// A weak signal in what is penalised most gives criteria with a minimum at
// infinity and another at a small lambda: the better one counts.
func TestBetterOfTwoMinima(t *testing.T) {
	for _, k := range []int{9, 12, 20} {
		for _, size := range []float64{0.1, 0.15, 0.2, 0.3, 0.4, 0.7} {
			p := smoothProblem(150, k, 0.5, func(x float64) float64 { return x + size*math.Cos(float64(k)*math.Acos(x)) })
			for _, m := range []Method{REML, ML, GCV} {
				f := mustSelect(t, p, &Options{Method: m})
				for rho := -25.0; rho < 25; rho += 0.5 {
					g := mustSelect(t, p.at([]float64{math.Exp(rho)}), &Options{Method: m})
					if g.Score < f.Score-1e-6*math.Abs(f.Score) {
						t.Errorf("%v, %d columns, signal %g: score %.10g at log lambda %g, but %.10g at %g",
							m, k, size, f.Score, math.Log(f.Lambda[0]), g.Score, rho)
						break
					}
				}
			}
		}
	}
}

// The deep predictor is a deterministic function: residuals may be tiny.
func TestSmallResiduals(t *testing.T) {
	for _, m := range []Method{REML, ML, GCV} {
		for e := 0; e <= 8; e++ {
			noise := math.Pow(10, -float64(e))
			f := mustSelect(t, smoothProblem(2000, 15, noise, func(x float64) float64 { return math.Sin(2 * x) }), &Options{Method: m})
			t.Logf("%v noise %g: %v after %d steps, edf %.6g, scale %.4g", m, noise, f.Status, len(f.Log)-1, f.EDFTotal, f.Scale)
			if noise*noise < 0.3*zeroResidual {
				if f.Status != ZeroResidual {
					t.Errorf("%v, noise %g: %v", m, noise, f.Status)
				}
				continue
			}
			if f.Status != Converged && f.Status != AtBound || len(f.Log) > 20 || math.Abs(math.Log(f.Scale/(noise*noise))) > 0.2 {
				t.Errorf("%v, noise %g: %v after %d steps, scale %g", m, noise, f.Status, len(f.Log)-1, f.Scale)
			}
		}
	}
}

// Fewer rows than unpenalised columns, or none of positive weight.
func TestTooFewRows(t *testing.T) {
	for _, o := range append(criteria[:len(criteria):len(criteria)], Options{Method: DF}) {
		p := smoothProblem(2, 8, 0.3, func(x float64) float64 { return x })
		if o.Method == DF { // an intercept and a slope are all that two rows have
			p.Terms[0].DF = 1
		}
		f := mustSelect(t, p, &o)
		if o.Scale == 0 && f.Status != ZeroResidual {
			t.Errorf("%v: two rows: %v", o.Method, f.Status)
		}
		p.Rows, p.SumW, p.SumLogW = 0, 0, 0
		if _, err := Select(p, &o); err == nil {
			t.Errorf("%v: no weights: no error", o.Method)
		}
	}
}

// A known scale far from the data's pushes lambda to an end of its range.
func TestKnownScaleAtTheEnds(t *testing.T) {
	p := smoothProblem(300, 10, 0.5, func(x float64) float64 { return math.Sin(4 * x) })
	for _, m := range []Method{REML, ML, GCV} {
		for _, scale := range []float64{1e-12, 1e-6, 1e6, 1e12} {
			f := mustSelect(t, p, &Options{Method: m, Scale: scale})
			if f.Status != Converged && f.Status != AtBound || len(f.Log) > 31 {
				t.Errorf("%v, scale %g: %v after %d steps", m, scale, f.Status, len(f.Log)-1)
			}
			if scale > 1 != f.AtInfinity[0] {
				t.Errorf("%v, scale %g: at infinity %v, edf %g", m, scale, f.AtInfinity[0], f.EDF[0])
			}
		}
	}
}

// Columns that differ by less than the tolerance are one, though X'WX has a
// Cholesky factor; those that differ by more are two.
func TestNearlyAliasedColumns(t *testing.T) {
	for _, c := range []struct {
		apart float64
		rank  int
	}{{1e-7, 2}, {1e-4, 3}} {
		rng := rand.New(rand.NewPCG(13, 13))
		n := 400
		x := mat.NewDense(n, 3, nil)
		z, w := make([]float64, n), make([]float64, n)
		for i := range n {
			x.Set(i, 0, rng.NormFloat64())
			x.Set(i, 1, rng.NormFloat64())
			x.Set(i, 2, x.At(i, 0)+c.apart*rng.NormFloat64())
			z[i], w[i] = x.At(i, 0)+rng.NormFloat64(), 1
		}
		p := momentsOf(x, z, w, true)
		p.Terms = []Term{{Name: "a", Dim: 3}}
		if f := mustSelect(t, p, nil); f.Rank != c.rank {
			t.Errorf("columns %g apart: rank %d, should be %d", c.apart, f.Rank, c.rank)
		}
	}
}
