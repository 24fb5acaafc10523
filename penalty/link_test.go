package penalty

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// linked has the random problem's second penalty of te and the ridge under one
// lambda.
func linked(seed uint64) *Problem {
	p, _, _, _ := randomProblem(seed, 150, true, true)
	p.Terms[2].Link = []string{"", "both"}
	p.Terms[3].Link = []string{"both"}
	return p
}

func TestLinkedDerivatives(t *testing.T) {
	for _, o := range criteria {
		opts, _ := o.withDefaults()
		c := mustCriterion(t, linked(1), &opts)
		if c.params != 3 {
			t.Fatalf("%d parameters for four penalties, two of them linked", c.params)
		}
		againstDifferences(t, c, []float64{2, 1, 3}, 1e-8)
	}
}

// Blocks with one lambda are the same as one penalty that is their sum.
func TestLinkedIsOneBlockDiagonalPenalty(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	n, k := 200, 6
	x := mat.NewDense(n, 2*k, nil)
	z, w := make([]float64, n), make([]float64, n)
	for i := range n {
		for j := range 2 * k {
			x.Set(i, j, rng.NormFloat64())
			z[i] += x.At(i, j) / float64(1+j%k)
		}
		z[i], w[i] = z[i]+rng.NormFloat64(), 1
	}
	s, _ := Difference(k, 2)
	p := momentsOf(x, z, w, true)
	q := *p
	p.Terms = []Component{{Name: "a", Dim: k, S: []mat.Symmetric{s}, Link: []string{"1"}}, {Name: "b", Start: k, Dim: k, S: []mat.Symmetric{s}, Link: []string{"1"}}}
	q.Terms = []Component{{Name: "ab", Dim: 2 * k, S: []mat.Symmetric{kronecker(Ridge(2), s)}}}
	for _, m := range []Criterion{REML, ML, GCV} {
		f, g := mustSelect(t, p, &Options{Criterion: m}), mustSelect(t, &q, &Options{Criterion: m})
		if f.Lambda[0] != f.Lambda[1] || !close(f.Lambda[0], g.Lambda[0], 1e-5) || !close(f.Score, g.Score, 1e-11) ||
			f.Hessian.SymmetricDim() != 1 || !close(f.EDF[0]+f.EDF[1], g.EDF[0], 1e-6) {
			t.Errorf("%v: lambdas %v, one penalty %v; scores %.12g %.12g", m, f.Lambda, g.Lambda, f.Score, g.Score)
		}
		if m != GCV {
			for i := range 2 * k {
				if !close(f.Vc.At(i, i), g.Vc.At(i, i), 1e-5) {
					t.Errorf("%v: Vc %d: %g, one penalty %g", m, i, f.Vc.At(i, i), g.Vc.At(i, i))
				}
			}
		}
	}
}

func TestLinkedAndGiven(t *testing.T) {
	p := linked(2)
	p.Terms[3].SP = []float64{2.5}
	f := mustSelect(t, p, nil)
	if f.Lambda[2] != 2.5 || f.Lambda[3] != 2.5 || !f.Fixed[2] || f.Fixed[1] {
		t.Errorf("lambdas %v, fixed %v: one of the set was given as 2.5", f.Lambda, f.Fixed)
	}
	p.Terms[2].SP = []float64{-1, 3}
	want := `penalty: term "re": its smoothing parameter 2.5 is linked as "both" to one of 3: linked ones are equal, give one of them`
	if _, err := Select(p, nil); err == nil || err.Error() != want {
		t.Errorf("error %v, should be %s", err, want)
	}
	p = linked(2)
	p.Terms[2].Link = []string{"both"}
	want = `penalty: term "te(b,c)" has 1 links for 2 penalties: give one for each, empty for none`
	if _, err := Select(p, nil); err == nil || err.Error() != want {
		t.Errorf("error %v, should be %s", err, want)
	}
}

func TestTargetDegreesOfFreedom(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 12))
		p, _, _, _ := randomProblem(seed, 150, seed%2 == 0, true)
		p.Terms[1].DF = 2.05 + 5.9*rng.Float64()
		p.Terms[2].DF = 2.05 + 9.9*rng.Float64()
		p.Terms[3].DF = 0.05 + 4.9*rng.Float64()
		f := mustSelect(t, p, &Options{Criterion: DF})
		for i := 1; i < 4; i++ {
			if !close(f.EDF[i], p.Terms[i].DF, 1e-7) {
				t.Errorf("seed %d: %s has edf %.10g, asked for %.10g", seed, p.Terms[i].Name, f.EDF[i], p.Terms[i].DF)
			}
		}
		if f.Status != Converged || f.Hessian != nil {
			t.Errorf("seed %d: %v", seed, f.Status)
		}
		// The fit is the one with these lambdas.
		g := mustSelect(t, p.at(f.Lambda), &Options{Criterion: Fixed})
		if !close(g.EDFTotal, f.EDFTotal, 1e-9) || !close(g.Score, f.Score, 1e-9) {
			t.Errorf("seed %d: edf %g and score %g, with these lambdas given %g and %g", seed, f.EDFTotal, f.Score, g.EDFTotal, g.Score)
		}

		// One by its degrees of freedom, one given, the others by the data.
		p.Terms[2].DF, p.Terms[3].DF, p.Terms[3].SP = 0, 0, []float64{4}
		for _, m := range []Criterion{REML, ML, GCV} {
			f := mustSelect(t, p, &Options{Criterion: m})
			if !close(f.EDF[1], p.Terms[1].DF, 1e-6) || f.Lambda[3] != 4 || f.Status != Converged && f.Status != AtBound {
				t.Errorf("seed %d, %v: %v, edf %.10g, asked for %.10g; lambda %g", seed, m, f.Status, f.EDF[1], p.Terms[1].DF, f.Lambda[3])
			}
			sp := append([]float64(nil), f.Lambda...)
			sp[1], sp[2] = -1, -1
			g := mustSelect(t, p.at(sp), &Options{Criterion: m})
			// Without targets the search starts again, and may find a better minimum.
			if g.Score > f.Score+1e-7*math.Abs(f.Score) || g.Other == nil && f.Score > g.Score+1e-7*math.Abs(f.Score) {
				t.Errorf("seed %d, %v: score %.12g, chosen next to the lambda found %.12g", seed, m, f.Score, g.Score)
			}
		}
	}
}

// mgcv's smooths with the degrees of freedom REML gives them have REML's lambdas.
func TestTargetsOfGoldenModels(t *testing.T) {
	for _, name := range []string{"small_reml", "small_re", "ten_ps_reml_weighted", "small_id"} {
		g := readPieces(t, name)
		p := g.problem(t)
		f := mustSelect(t, p, nil)
		for i := range p.Terms {
			if len(p.Terms[i].S) == 1 && (name != "small_id" || i != 2 && i != 3) {
				p.Terms[i].DF = f.EDF[i]
			}
		}
		h := mustSelect(t, p, &Options{Criterion: DF})
		for j := range f.Lambda {
			// Beyond this a term is linear and lambda of no account.
			if !f.AtInfinity[j] && !close(math.Log(h.Lambda[j]), math.Log(f.Lambda[j]), 1e-4) {
				t.Errorf("%s: lambda %d is %g, REML's is %g", name, j, h.Lambda[j], f.Lambda[j])
			}
		}
		if !close(h.EDFTotal, f.EDFTotal, 1e-6) {
			t.Errorf("%s: edf %g, REML's is %g", name, h.EDFTotal, f.EDFTotal)
		}
	}
}

func TestTargetsAtTheEnds(t *testing.T) {
	p := smoothProblem(100, 8, 0.5, func(x float64) float64 { return math.Sin(3 * x) })
	for _, c := range []struct {
		df       float64
		infinite bool
	}{{1, true}, {1.001, false}, {7.999, false}, {8, false}} {
		p.Terms[0].DF = c.df
		f := mustSelect(t, p, &Options{Criterion: DF})
		if !close(f.EDF[0], c.df, 1e-6) || f.AtInfinity[0] != c.infinite {
			t.Errorf("asked for %g: edf %g, at infinity %v", c.df, f.EDF[0], f.AtInfinity[0])
		}
	}
	for _, c := range []struct {
		df      float64
		change  func(*Problem)
		message string
	}{
		{0.9, nil, `penalty: term "s(x)": 0.9 degrees of freedom cannot be had: it has at least 1 (what is not penalised) and at most 8; ask for a number between`},
		{8.1, nil, `penalty: term "s(x)": 8.1 degrees of freedom cannot be had: it has at least 1 (what is not penalised) and at most 8; ask for a number between`},
		{math.NaN(), nil, `penalty: term "s(x)": NaN degrees of freedom: the target must be positive and finite, or 0 for none`},
		{-1, nil, `penalty: term "s(x)": -1 degrees of freedom: the target must be positive and finite, or 0 for none`},
		{3, func(p *Problem) { p.Terms[0].SP = []float64{1} },
			`penalty: term "s(x)": 3 degrees of freedom are asked for, but it has no smoothing parameter to choose: leave the target or its sp out`},
		{3, func(p *Problem) { p.Terms[0].S = nil },
			`penalty: term "s(x)": 3 degrees of freedom are asked for, but it has no smoothing parameter to choose: leave the target or its sp out`},
		{0, nil, `penalty: term "s(x)": degrees of freedom are to be given but it has none: give them (df=) or its smoothing parameter (sp=), or choose reml, ml or gcv`},
	} {
		q := *p
		q.Terms = append([]Component(nil), p.Terms...)
		q.Terms[0].DF = c.df
		if c.change != nil {
			c.change(&q)
		}
		if _, err := Select(&q, &Options{Criterion: DF}); err == nil || err.Error() != c.message {
			t.Errorf("error is\n\t%v\nand should be\n\t%s", err, c.message)
		}
	}
	both := linked(1)
	both.Terms[2].DF, both.Terms[3].DF = 5, 2
	want := fmt.Sprintf("penalty: terms %q and %q are linked, so only one of them can be given its degrees of freedom", "te(b,c)", "re")
	if _, err := Select(both, nil); err == nil || err.Error() != want {
		t.Errorf("error is\n\t%v\nand should be\n\t%s", err, want)
	}
}
