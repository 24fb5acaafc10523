package penalty

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// responsesOf forms a Problem with the columns of z as responses.
func responsesOf(x, z *mat.Dense, w []float64, intercept bool) *Problem {
	p := momentsOf(x, mat.Col(nil, 0, z), w, intercept)
	_, r := z.Dims()
	for j := 1; j < r; j++ {
		q := momentsOf(x, mat.Col(nil, j, z), w, intercept)
		p.Others = append(p.Others, Response{XZ: q.XZ, ZZ: q.ZZ, ZMean: q.ZMean})
	}
	return p
}

// stacked is the same as one response: a copy of rows, columns and penalties for each, the
// penalties of a term linked. p has no intercept beside its columns.
func stackedProblem(p *Problem) *Problem {
	all, dim := p.responses(), len(p.XZ)
	m := len(all)
	q := &Problem{Rows: p.Rows * int64(m), SumW: p.SumW * float64(m), SumLogW: p.SumLogW * float64(m),
		XX: mat.NewSymDense(m*dim, nil)}
	for r, z := range all {
		q.XZ = append(q.XZ, z.XZ...)
		q.ZZ += z.ZZ
		for i := range dim {
			for j := i; j < dim; j++ {
				q.XX.(*mat.SymDense).SetSym(r*dim+i, r*dim+j, p.XX.At(i, j))
			}
		}
		for _, t := range p.Terms {
			c := Component{Name: fmt.Sprint(t.Name, r), Start: r*dim + t.Start, Dim: t.Dim, S: t.S, SP: t.SP}
			for j := range t.S {
				c.Link = append(c.Link, fmt.Sprint(t.Name, j))
			}
			q.Terms = append(q.Terms, c)
		}
	}
	return q
}

// severalResponses has three on the random problem's columns, an intercept among them.
func severalResponses(seed uint64) *Problem {
	_, x, z, w := randomProblem(seed, 150, seed%2 == 0, false)
	rng := rand.New(rand.NewPCG(seed, 3))
	all := mat.NewDense(150, 3, nil)
	for i := range 150 {
		x.Set(i, 0, 1)
		all.SetRow(i, []float64{z[i], rng.NormFloat64() + x.At(i, 4), 3*rng.NormFloat64() - x.At(i, 14)})
	}
	p := responsesOf(x, all, w, false)
	p.Terms = randomTerms()
	at := 0
	for i := range p.Terms {
		p.Terms[i].Start = at
		at += p.Terms[i].Dim
	}
	return p
}

// TestSeveralResponsesAreStackedRows: one lambda for several responses is that of their
// rows below each other, which is a problem with one response.
func TestSeveralResponsesAreStackedRows(t *testing.T) {
	for _, o := range criteria {
		for seed := range uint64(3) {
			p := severalResponses(seed)
			q := stackedProblem(p)
			f, g := mustSelect(t, p, &o), mustSelect(t, q, &o)
			name := fmt.Sprintf("%v gamma %g scale %g seed %d", o.Criterion, o.Gamma, o.Scale, seed)
			if !close(f.Score, g.Score, 1e-10) || !close(f.Phi, g.Phi, 1e-6) || !close(f.EDFTotal*3, g.EDFTotal, 1e-6) {
				t.Errorf("%s: score %.12g, stacked %.12g; phi %g, %g; edf %g, a third of %g", name, f.Score, g.Score, f.Phi, g.Phi, f.EDFTotal, g.EDFTotal)
			}
			for j, l := range f.Lambda {
				if !f.AtInfinity[j] && !close(math.Log(l), math.Log(g.Lambda[j]), 1e-5) {
					t.Errorf("%s: lambda %d is %g, stacked %g", name, j, l, g.Lambda[j])
				}
			}
			at := mustSelect(t, q.at(append(append(append([]float64{}, f.Lambda...), f.Lambda...), f.Lambda...)), &Options{Criterion: Fixed})
			rss := 0.0
			for r, own := range f.all() {
				rss += own.RSS
				if o.Scale > 0 && own.Vc != nil {
					againstStacked(t, name, own.Vc, g.Vc, r)
				}
				for i, v := range own.Alpha {
					if math.Abs(v-at.Alpha[r*len(own.Alpha)+i]) > 1e-8*(1+math.Abs(v)) {
						t.Fatalf("%s: coefficient %d of response %d is %g, stacked %g", name, i, r, v, at.Alpha[r*len(own.Alpha)+i])
					}
				}
				if free := float64(p.Rows) - own.EDFTotal; o.Scale == 0 && !close(own.Scale, own.RSS/free, 1e-12) {
					t.Errorf("%s: scale of response %d is %g, its own residual says %g", name, r, own.Scale, own.RSS/free)
				}
			}
			if !close(rss, at.RSS, 1e-10) {
				t.Errorf("%s: residuals %g, stacked %g", name, rss, at.RSS)
			}
		}
	}
}

// againstStacked compares Vc with the block of response r, the scale being known.
func againstStacked(t *testing.T, name string, own, all *mat.SymDense, r int) {
	t.Helper()
	n := own.SymmetricDim()
	for i := range n {
		for j := range n {
			size := math.Sqrt(own.At(i, i) * own.At(j, j))
			if want := all.At(r*n+i, r*n+j); math.Abs(own.At(i, j)-want) > 1e-4*size {
				t.Fatalf("%s: Vc (%d,%d) of response %d is %g, stacked %g", name, i, j, r, own.At(i, j), want)
			}
		}
	}
}

func TestDerivativesWithSeveralResponses(t *testing.T) {
	for _, o := range criteria {
		p := severalResponses(1)
		p.Independent = 2
		opts, _ := o.withDefaults()
		againstDifferences(t, mustCriterion(t, p, &opts), []float64{2, 1, 3, 2}, 1e-8)
	}
}

// The factor's rows give what products give.
func TestRowsWithSeveralResponses(t *testing.T) {
	_, x, z, w := randomProblem(4, 150, false, false)
	rng := rand.New(rand.NewPCG(4, 9))
	all := mat.NewDense(150, 2, nil)
	for i := range 150 {
		all.SetRow(i, []float64{z[i], rng.NormFloat64()})
	}
	p := responsesOf(x, all, w, false)
	p.Terms = randomTerms()
	at := 0
	for i := range p.Terms {
		p.Terms[i].Start = at
		at += p.Terms[i].Dim
	}
	byProducts := mustSelect(t, p, nil)
	n, dim := x.Dims()
	p.Factor = mat.NewDense(n, dim+1, nil)
	p.Factor.Augment(x, all.Slice(0, n, 0, 1))
	p.Others[0].Y = mat.Col(nil, 1, all)
	byRows := mustSelect(t, p, nil)
	for r, own := range byRows.all() {
		for i, v := range own.Alpha {
			if want := byProducts.all()[r].Alpha[i]; math.Abs(v-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("response %d, coefficient %d: %.10g by rows, %.10g by products", r, i, v, want)
			}
		}
	}
	if !close(byRows.Score, byProducts.Score, 1e-10) || byRows.Others[0].Alpha[0] == byRows.Alpha[0] {
		t.Errorf("score %.12g by rows, %.12g by products", byRows.Score, byProducts.Score)
	}
}

// Leaving out groups of rows of several responses is leaving them out of each.
func TestGroupedWithSeveralResponses(t *testing.T) {
	_, x, z, w := randomProblem(2, 150, true, true)
	rng := rand.New(rand.NewPCG(2, 9))
	all := mat.NewDense(150, 2, nil)
	for i := range 150 {
		all.SetRow(i, []float64{z[i], 2*rng.NormFloat64() + x.At(i, 3)})
	}
	for _, intercept := range []bool{true, false} {
		var groups []*Problem
		for g := range 5 {
			own := make([]float64, len(w))
			for i := range w {
				if i%5 == g {
					own[i] = w[i]
				}
			}
			groups = append(groups, responsesOf(x, all, own, intercept))
		}
		terms := randomTerms()
		at := 0
		for i := range terms {
			terms[i].Start = at
			at += terms[i].Dim
		}
		groups[0].Terms = terms
		f, err := SelectGrouped(groups, nil)
		if err != nil {
			t.Fatal(err)
		}
		fixed := groups[0].at(f.Lambda).Terms
		sum := 0.0
		for r := range 2 {
			var one []*Problem
			for _, g := range groups {
				z := g.responses()[r]
				q := *g
				q.XZ, q.ZZ, q.ZMean, q.Others = z.XZ, z.ZZ, z.ZMean, nil
				q.Terms = fixed
				one = append(one, &q)
			}
			own, err := SelectGrouped(one, nil)
			if err != nil {
				t.Fatal(err)
			}
			sum += own.Score
			for i, v := range f.all()[r].Alpha {
				if math.Abs(v-own.Alpha[i]) > 1e-9*(1+math.Abs(v)) {
					t.Fatalf("response %d: coefficient %d is %g, alone %g", r, i, v, own.Alpha[i])
				}
			}
		}
		if !close(f.Score, sum/2, 1e-10) {
			t.Errorf("intercept %v: the mean squared error is %.12g, those of each response have the mean %.12g", intercept, f.Score, sum/2)
		}
	}
}

// TestSharedAgainstMgcv: see testdata/golden/shared.R. At mgcv's sp score, degrees of
// freedom and coefficients agree; the lambdas that are chosen do as far as mgcv stops at its
// own optimum.
func TestSharedAgainstMgcv(t *testing.T) {
	text, err := os.ReadFile("../testdata/golden/shared.json")
	if err != nil {
		t.Fatal(err)
	}
	var g struct {
		X, Z      [][]float64
		Penalties [][][]float64
		W         []float64
		Cases     []struct {
			Name, Method      string
			Weighted          bool
			SP                []float64
			Score, EDF, Scale float64
			Coefficients      [][]float64
		}
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	n, dim, k := len(g.X), len(g.X[0]), len(g.Z[0])
	x, raw, centred := mat.NewDense(n, dim, nil), mat.NewDense(n, k, nil), mat.NewDense(n, k, nil)
	for i := range n {
		x.SetRow(i, g.X[i])
		raw.SetRow(i, g.Z[i])
		mean := mat.Sum(raw.RowView(i)) / float64(k)
		for j := range k {
			centred.Set(i, j, raw.At(i, j)-mean)
		}
	}
	half := (dim - 1) / 2
	terms := []Component{{Name: "constant", Dim: 1}}
	for i, rows := range g.Penalties {
		at := 1 + i*half
		s := mat.NewSymDense(half, nil)
		for a := range half {
			for b := a; b < half; b++ {
				s.SetSym(a, b, rows[at+a][at+b])
			}
		}
		terms = append(terms, Component{Name: strings.Repeat("s", i+1), Start: at, Dim: half, S: []mat.Symmetric{s}})
	}
	for _, c := range g.Cases {
		name := fmt.Sprintf("%s %s weighted %v", c.Name, c.Method, c.Weighted)
		w := make([]float64, n)
		for i := range w {
			w[i] = 1
			if c.Weighted {
				w[i] = g.W[i]
			}
		}
		z, independent := raw, 0
		if c.Name == "centred" {
			z, independent = centred, k-1
		}
		p := responsesOf(x, z, w, false)
		p.Terms, p.Independent = terms, float64(independent)
		method, _ := ParseCriterion(c.Method)
		f := mustSelect(t, p.at(c.SP), &Options{Criterion: method})
		m := p.independent()
		rss := 0.0
		for r, own := range f.all() {
			rss += own.RSS
			for i, v := range own.Alpha {
				if math.Abs(v-c.Coefficients[i][r]) > 1e-8*(1+math.Abs(v)) {
					t.Errorf("%s: coefficient %d of response %d is %.10g, mgcv has %.10g", name, i, r, v, c.Coefficients[i][r])
				}
			}
		}
		if scale := rss / (m * (float64(n) - f.EDFTotal)); !close(f.Score, c.Score, 1e-9) || !close(m*f.EDFTotal, c.EDF, 1e-8) || !close(scale, c.Scale, 1e-8) {
			t.Errorf("%s: score %.12g, mgcv %.12g; edf %.10g, mgcv %.10g; scale %.10g, mgcv %.10g", name, f.Score, c.Score, m*f.EDFTotal, c.EDF, scale, c.Scale)
		}
		chosen := mustSelect(t, p, &Options{Criterion: method})
		if chosen.Score > c.Score+1e-9*math.Abs(c.Score) {
			t.Errorf("%s: chosen score %.12g, mgcv's is %.12g", name, chosen.Score, c.Score)
		}
		for j, l := range chosen.Lambda {
			if !close(math.Log(l), math.Log(c.SP[j]), 1e-3) {
				t.Errorf("%s: lambda %d is %g, mgcv's %g", name, j, l, c.SP[j])
			}
		}
	}
	if len(g.Cases) != 12 {
		t.Errorf("%d cases", len(g.Cases))
	}
}

func TestBadResponses(t *testing.T) {
	for _, c := range []struct {
		change  func(*Problem)
		message string
	}{
		{func(p *Problem) { p.Independent = 4 }, "penalty: 4 of 3 responses are independent: the number must be positive, and no larger than that of all"},
		{func(p *Problem) { p.Independent = -1 }, "penalty: -1 of 3 responses are independent: the number must be positive, and no larger than that of all"},
		{func(p *Problem) { p.Others[1].XZ = p.XZ[1:] }, "penalty: response 3 has 26 products and 0 rows beside the factor: there are 27 columns and 0 rows"},
		{func(p *Problem) { p.Others[0].ZZ = math.NaN() }, "penalty: response 2: a sum or value is not finite, or z'Wz is below 0"},
	} {
		p := severalResponses(0)
		c.change(p)
		if _, err := Select(p, nil); err == nil || err.Error() != c.message {
			t.Errorf("error is\n\t%v\nand should be\n\t%s", err, c.message)
		}
	}
}
