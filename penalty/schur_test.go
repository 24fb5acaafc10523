package penalty

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// levelled is a problem with a term of many levels among others: width columns a level,
// which penalty j has if penalised is j there (-1: none), next to a smooth, a tensor
// product of two overlapping penalties, and a line. order is that of the levels.
type levelled struct {
	name       string
	levels     int
	width      int
	first      int   // levels before it have no column
	penalised  []int // of each column of a level
	penalties  int
	without    bool    // the intercept
	ends       bool    // a level without rows, and one with a single row
	alone      bool    // no other term
	responses  int     // beside z
	effect     float64 // of the levels
	sp         float64 // of the levels' first penalty; 0: chosen
	df         float64
	wave       float64 // of the smooth
	linked     bool
	unweighted bool
}

func (l levelled) problem(order []int) *Problem {
	const rows = 700
	rng := rand.New(rand.NewPCG(uint64(len(l.name)), 7))
	own := (l.levels - l.first) * l.width
	d2, _ := Difference(8, 2)
	d1, _ := Difference(3, 1)
	d3, _ := Difference(4, 2)
	term := Component{Name: "levels", Start: 0, Dim: own}
	for j := range l.penalties {
		s := mat.NewSymDense(own, nil)
		for i := range own {
			if l.penalised[i%l.width] == j {
				s.SetSym(i, i, 1+float64(i%l.width))
			}
		}
		term.S = append(term.S, s)
		if l.sp > 0 {
			term.SP = append(term.SP, -1)
			term.SP[0] = l.sp
		}
	}
	term.DF = l.df
	terms := []Component{
		{Name: "s(a)", Dim: 8, S: []mat.Symmetric{d2}}, term, {Name: "line", Dim: 1},
		{Name: "te(b,c)", Dim: 12, S: []mat.Symmetric{kronecker(d1, Ridge(4)), kronecker(Ridge(3), d3)}},
	}
	if l.linked {
		terms[0].Link, terms[1].Link = []string{"one"}, make([]string, l.penalties)
		terms[1].Link[0] = "one"
	}
	if l.alone {
		terms = []Component{term}
	}
	dim := 0
	for i := range terms {
		terms[i].Start = dim
		dim += terms[i].Dim
	}
	x, z := mat.NewDense(rows, dim, nil), mat.NewDense(rows, 1+l.responses, nil)
	w := make([]float64, rows)
	for i := range rows {
		w[i] = 0.3 + rng.Float64()
		if l.unweighted {
			w[i] = 1
		}
		level := rng.IntN(l.levels)
		switch {
		case l.ends && i == 0:
			level = l.levels - 1
		case l.ends && level >= l.levels-2:
			level = 0
		}
		eta := 3 + rng.NormFloat64()
		for _, t := range terms {
			for c := range t.Dim {
				if t.Name != "levels" {
					v := rng.NormFloat64() + 20*float64(t.Dim%2)
					x.Set(i, t.Start+c, v*math.Exp(float64(c%5-2)))
					eta += 0.3 * v * math.Sin(float64(c)*l.wave)
				}
			}
		}
		for c := range l.width {
			v := 1 + float64(c)*rng.NormFloat64()
			eta += l.effect * v * math.Sin(float64(7*level*(c+1)))
			if at := order[level]; at >= l.first {
				for _, t := range terms {
					if t.Name == "levels" {
						x.Set(i, t.Start+(at-l.first)*l.width+c, v)
					}
				}
			}
		}
		for r := range 1 + l.responses {
			z.Set(i, r, eta*(1+float64(r))+float64(r)*rng.NormFloat64())
		}
	}
	p := responsesOf(x, z, w, !l.without)
	p.Terms = terms
	return p
}

var levelledProblems = []levelled{
	{name: "random effect", levels: 90, width: 1, penalised: []int{0}, penalties: 1, effect: 1, wave: 1},
	{name: "random effect without an effect", levels: 90, width: 1, penalised: []int{0}, penalties: 1, unweighted: true, wave: 1},
	{name: "nearly all effect", levels: 70, width: 1, penalised: []int{0}, penalties: 1, effect: 100, wave: 1},
	{name: "smooth to infinity", levels: 90, width: 1, penalised: []int{0}, penalties: 1, effect: 1},
	{name: "empty level", levels: 90, width: 1, penalised: []int{0}, penalties: 1, effect: 1, ends: true, wave: 1},
	{name: "without intercept", levels: 90, width: 1, penalised: []int{0}, penalties: 1, effect: 1, without: true, wave: 1},
	{name: "alone", levels: 90, width: 1, penalised: []int{0}, penalties: 1, effect: 1, alone: true},
	{name: "factor", levels: 80, width: 1, first: 1, penalised: []int{-1}, effect: 1, wave: 1},
	{name: "factor without intercept", levels: 80, width: 1, penalised: []int{-1}, effect: 1, without: true, wave: 1},
	{name: "intercepts and slopes", levels: 40, width: 2, penalised: []int{0, 1}, penalties: 2, effect: 1, wave: 1},
	{name: "smooths of levels", levels: 30, width: 5, penalised: []int{0, 0, 0, 1, 2}, penalties: 3, effect: 1, wave: 1},
	{name: "smooths of levels, alone", levels: 30, width: 4, penalised: []int{0, 0, 1, 2}, penalties: 3, effect: 1, alone: true},
	{name: "given lambda", levels: 40, width: 2, penalised: []int{0, 1}, penalties: 2, effect: 1, sp: 3, wave: 1},
	{name: "given freedom", levels: 90, width: 1, penalised: []int{0}, penalties: 1, effect: 1, df: 30, wave: 1},
	{name: "linked", levels: 90, width: 1, penalised: []int{0}, penalties: 1, effect: 1, wave: 1, linked: true},
	{name: "three responses", levels: 40, width: 2, penalised: []int{0, 1}, penalties: 2, effect: 1, wave: 1, responses: 2},
}

// dense is the fit with one matrix of all columns, as Select makes it where none are
// eliminated.
func denseFit(t *testing.T, p *Problem, o Options) *Fit {
	t.Helper()
	o, err := o.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	f, err := chooseUntilDone(t.Context(), p, &o, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// mustEliminate is the criterion of p with eliminated columns.
func mustEliminate(t *testing.T, p *Problem, o *Options) *criterion {
	t.Helper()
	_, _, live := p.given()
	c, _ := newSchur(t.Context(), p, live, o)
	if c == nil {
		t.Fatal("no columns are eliminated")
	}
	return c
}

// An evaluation does not depend on the ones before it, whether they changed the penalties of eliminated
// columns or other penalties.
func TestEliminationForgets(t *testing.T) {
	for _, l := range levelledProblems {
		p := l.problem(sequence(l.levels))
		o, err := (&Options{}).withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		used := mustEliminate(t, p, &o)
		rng, rho := rand.New(rand.NewPCG(1, 2)), make([]float64, used.params)
		for range 12 {
			if len(rho) > 0 {
				rho[rng.IntN(len(rho))] = []float64{-4, 0, 4, 800}[rng.IntN(4)]
			}
			derivatives := rng.IntN(2) == 0
			got, want := used.eval(rho, derivatives), mustEliminate(t, p, &o).eval(rho, derivatives)
			if got.objective != want.objective || got.rp != want.rp || got.edf != want.edf || !slices.Equal(got.grad, want.grad) {
				t.Fatalf("%s, log lambda %v: %v after other evaluations, %v at first", l.name, rho, got.objective, want.objective)
			}
		}
	}
}

// eliminates tells whether Select eliminates columns of p.
func eliminates(t *testing.T, p *Problem) bool {
	o, err := (*Options)(nil).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	_, _, live := p.given()
	c, _ := newSchur(t.Context(), p, live, &o)
	return c != nil
}

func TestEliminationGivesTheDenseFit(t *testing.T) {
	for _, l := range levelledProblems {
		p := l.problem(sequence(l.levels))
		if !eliminates(t, p) {
			t.Errorf("%s: no columns are eliminated", l.name)
		}
		givesTheDenseFit(t, l.name, p)
	}
}

func givesTheDenseFit(t *testing.T, name string, p *Problem) {
	t.Helper()
	for _, o := range []Options{{}, {Gamma: 1.4, WithoutVe: true}, {Scale: 0.7}} {
		name := fmt.Sprintf("%s, gamma %g, scale %g", name, o.Gamma, o.Scale)
		got, want := mustSelect(t, p, &o), denseFit(t, p, o)
		sameFit(t, name, got, want, 1e-8)
		shrinkage(t, name, p, got)
		sandwiched(t, name, p, got)
	}
}

// Random intercepts and slopes that are terms of their own are eliminated together if they are neighbours, first to last
// or with another one between.
func TestEliminationOfNeighbours(t *testing.T) {
	l := levelled{name: "intercepts and slopes", levels: 70, width: 2, penalised: []int{0, 1}, penalties: 2, effect: 1, wave: 1}
	p := l.problem(sequence(l.levels))
	levels := p.Terms[1]
	order := map[string][]int{}
	var names []string
	place := func(name string, columns ...int) {
		if order[name] == nil {
			names = append(names, name)
		}
		order[name] = append(order[name], columns...)
	}
	for _, term := range p.Terms {
		for i := range term.Dim {
			switch {
			case term.Name != "levels":
				place(term.Name, term.Start+i)
			case i%2 == 0:
				place("intercepts", term.Start+i)
			default:
				place("slopes", term.Start+i)
			}
		}
	}
	for _, c := range []struct {
		order      []string
		eliminated int
	}{
		{names, 2 * l.levels},
		{[]string{"slopes", "intercepts", "te(b,c)", "s(a)", "line"}, 2 * l.levels},
		{[]string{"te(b,c)", "line", "intercepts", "slopes", "s(a)"}, 2 * l.levels},
		{[]string{"intercepts", "s(a)", "slopes", "line", "te(b,c)"}, l.levels},
	} {
		q := &Problem{Rows: p.Rows, SumW: p.SumW, SumLogW: p.SumLogW, Intercept: p.Intercept, ZZ: p.ZZ, ZMean: p.ZMean}
		var columns []int
		for _, name := range c.order {
			own := Component{Name: name, Start: len(columns), Dim: len(order[name])}
			switch at := slices.Index([]string{"intercepts", "slopes"}, name); {
			case at >= 0:
				s := mat.NewSymDense(own.Dim, nil)
				for i, column := range order[name] {
					s.SetSym(i, i, levels.S[at].At(column-levels.Start, column-levels.Start))
				}
				own.S = []mat.Symmetric{s}
			default:
				own.S = p.Terms[slices.IndexFunc(p.Terms, func(t Component) bool { return t.Name == name })].S
			}
			q.Terms = append(q.Terms, own)
			columns = append(columns, order[name]...)
		}
		q.XX, q.XZ, q.XMean = mat.NewSymDense(len(columns), nil), permuted(p.XZ, columns), permuted(p.XMean, columns)
		for a, i := range columns {
			for b, j := range columns[a:] {
				q.XX.(*mat.SymDense).SetSym(a, a+b, p.XX.At(i, j))
			}
		}
		name := strings.Join(c.order, " + ")
		o, err := (&Options{}).withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		if got := mustEliminate(t, q, &o).schur.n(); got != c.eliminated {
			t.Errorf("%s: %d columns are eliminated, not %d", name, got, c.eliminated)
		}
		givesTheDenseFit(t, name, q)
	}
}

// sameFit compares all that a fit says, numbers relative to the largest of their kind.
func sameFit(t *testing.T, name string, got, want *Fit, tol float64) {
	t.Helper()
	if got.Status != want.Status || got.Rank != want.Rank || got.LostDigits != want.LostDigits || fmt.Sprint(got.AtInfinity, got.Fixed) != fmt.Sprint(want.AtInfinity, want.Fixed) {
		t.Errorf("%s: status %v, rank %d, at infinity %v; want %v, %d, %v", name, got.Status, got.Rank, got.AtInfinity, want.Status, want.Rank, want.AtInfinity)
	}
	near := func(what string, a, b []float64, tol float64) {
		t.Helper()
		largest, worst := 0.0, 0.0
		for i, v := range b {
			largest, worst = math.Max(largest, math.Abs(v)), math.Max(worst, math.Abs(a[i]-v))
		}
		if len(a) != len(b) || !(worst <= tol*largest) {
			t.Errorf("%s: %s differ by %.2g of %.3g", name, what, worst, largest)
		}
	}
	var a, b []float64
	for j, v := range want.Lambda {
		if !want.AtInfinity[j] {
			a, b = append(a, math.Log(got.Lambda[j])), append(b, math.Log(v))
		}
	}
	near("log lambda", a, b, 1e-6) // where the gradient is within its tolerance
	near("score", []float64{got.Score}, []float64{want.Score}, tol)
	near("phi, scale, rss", []float64{got.Phi, got.Scale, got.RSS}, []float64{want.Phi, want.Scale, want.RSS}, tol)
	near("edf", append(got.EDF, got.EDFTotal), append(want.EDF, want.EDFTotal), tol)
	near("edf1", got.EDF1, want.EDF1, tol)
	near("edf2", got.EDF2, want.EDF2, 10*tol)
	near("alpha", got.Alpha, want.Alpha, tol)
	symmetric := func(what string, a, b *mat.SymDense) {
		t.Helper()
		if a == nil || b == nil {
			if a != b {
				t.Errorf("%s: %s: one is nil", name, what)
			}
			return
		}
		near(what, full(a).RawMatrix().Data, full(b).RawMatrix().Data, 10*tol)
	}
	symmetric("Vp", got.Vp, want.Vp)
	symmetric("Ve", got.Ve, want.Ve)
	symmetric("Vc", got.Vc, want.Vc)
	symmetric("Hessian", got.Hessian, want.Hessian)
	for r := range want.Others {
		near(fmt.Sprintf("alpha of response %d", r+2), got.Others[r].Alpha, want.Others[r].Alpha, tol)
		symmetric("Vc of another response", got.Others[r].Vc, want.Others[r].Vc)
	}
}

// shrinkage compares Shrinkage with the product that it stands for.
func shrinkage(t *testing.T, name string, p *Problem, f *Fit) {
	t.Helper()
	s := mat.NewSymDense(len(p.XZ), nil)
	addPenalties(s, p, f.Lambda)
	want := sandwich(full(f.Vp), s)
	got := linalg.Dense(f.Shrinkage())
	got.ScaleSym(f.Scale, got) // Vp has the scale twice
	var apart mat.Dense
	apart.Sub(got, want)
	if largest := mat.Max(full(want)); !(mat.Norm(&apart, 2) <= 1e-8*largest*float64(len(p.XZ))) {
		t.Errorf("%s: Vp S Vp differs by %.2g of %.2g", name, mat.Norm(&apart, 2), largest)
	}
	rng := rand.New(rand.NewPCG(4, 5))
	to := mat.NewDense(3, len(p.XZ), nil)
	to.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, to)
	in := f.ShrinkageIn(func(x *mat.Dense) *mat.Dense { return product(to, x) })
	if (in == nil) != f.schur.penalised() {
		t.Errorf("%s: penalties on eliminated columns: %v", name, f.schur.penalised())
	}
	if in == nil {
		return
	}
	in.ScaleSym(f.Scale, in)
	mapped := sandwich(to, got)
	apart.Reset()
	apart.Sub(in, mapped)
	if largest := mat.Max(full(mapped)); !(mat.Norm(&apart, 2) <= 1e-10*largest) {
		t.Errorf("%s: in other coordinates Vp S Vp differs by %.2g of %.2g", name, mat.Norm(&apart, 2), largest)
	}
}

// nearOf is m by all its numbers.
func nearOf(m *mat.SymDense, lo, hi int) *linalg.Near {
	p, w := m.SymmetricDim(), hi-lo
	out := &linalg.Near{Lo: lo, Hi: hi, Width: w, Own: make([]float64, w*w)}
	if p > w {
		out.Others = mat.NewDense(p-w, p, nil)
	}
	for l := range p - w {
		for j := range p {
			out.Others.Set(l, j, m.At(out.Other(l), j))
		}
	}
	for i := range w {
		for k := range w - i {
			out.Own[i*w+k] = m.At(lo+i, lo+i+k)
		}
	}
	return out
}

// sandwiched compares Sandwich with the products that it stands for.
func sandwiched(t *testing.T, name string, p *Problem, f *Fit) {
	t.Helper()
	n := len(p.XZ)
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	around := f.Sandwich()
	if around == nil {
		t.Errorf("%s: no sandwich", name)
		return
	}
	group := map[int]int{} // of eliminated columns
	for g := range f.schur.at {
		lo, hi := f.schur.group(g)
		for _, c := range f.schur.column[lo:hi] {
			group[f.schur.start+c] = g
		}
	}
	crosses := func(i, j int) bool {
		g, ok := group[i]
		h, both := group[j]
		return ok && both && g != h
	}
	for _, kind := range []string{"any", "groups apart", "groups apart about a point", "any about a point", "near any about a point", "near groups apart about a point"} {
		m := linalg.Shifted{M: mat.NewSymDense(n, nil)}
		for i := range n {
			for j := i; j < n; j++ {
				if strings.Contains(kind, "any") || !crosses(i, j) {
					m.M.SetSym(i, j, rng.NormFloat64())
				}
			}
		}
		sum := mat.NewSymDense(n, nil)
		sum.CopySym(m.M)
		if strings.HasSuffix(kind, "point") {
			for range n {
				m.G, m.C = append(m.G, rng.NormFloat64()), append(m.C, rng.NormFloat64())
			}
			sum.RankTwo(sum, -1, mat.NewVecDense(n, m.G), mat.NewVecDense(n, m.C))
		}
		want := sandwich(full(f.Vp), sum)
		base := mat.NewSymDense(n, nil)
		for i := range n {
			base.SetSym(i, n-1-i, rng.NormFloat64())
		}
		if strings.HasPrefix(kind, "near") {
			m.Near, m.M = nearOf(m.M, f.schur.start, f.schur.start+f.schur.n()), nil
			if apart := f.schur.groupsApart(m.Near, f.schur.start); apart == (strings.Contains(kind, "any") && len(f.schur.at) > 1) {
				t.Errorf("%s: %s: groups have no products: %v", name, kind, apart)
			}
		}
		got := linalg.Dense(around.Around(m, base))
		base.ScaleSym(-1, base)
		got.AddSym(got, base)
		got.ScaleSym(f.Scale*f.Scale, got)
		var apart mat.Dense
		apart.Sub(got, want)
		if largest := mat.Max(full(want)); !(mat.Norm(&apart, 2) <= 1e-8*largest*float64(n)) {
			t.Errorf("%s: the sandwich of %s differs by %.2g of %.2g", name, kind, mat.Norm(&apart, 2), largest)
		}
	}
}

// structure is X'WX of a problem of levels that no row has two of, next to other columns, and the range of the levels.
func structure(p *Problem) (s *linalg.Structured, lo, hi int) {
	for _, t := range p.Terms {
		if t.Name == "levels" {
			lo, hi = t.Start, t.Start+t.Dim
		}
	}
	dim := len(p.XZ)
	s = &linalg.Structured{D: make([]float64, dim), U: mat.NewDense(dim, 1, nil), N: mat.NewDense(dim, 1, nil)}
	for j := range dim {
		if j < lo || j >= hi {
			s.Few = append(s.Few, j)
			continue
		}
		s.D[j] = p.XX.At(j, j)
		if p.Intercept {
			s.D[j] += p.SumW * p.XMean[j] * p.XMean[j]
			s.U.Set(j, 0, -p.SumW/2*p.XMean[j])
			s.N.Set(j, 0, p.XMean[j])
		}
	}
	if len(s.Few) > 0 {
		s.V = mat.NewDense(dim, len(s.Few), nil)
		for c, j := range s.Few {
			for i := range dim {
				v := p.XX.At(i, j)
				if i < lo || i >= hi {
					v /= 2
				}
				s.V.Set(i, c, v)
			}
		}
	}
	return s, lo, hi
}

// What cannot be had by few numbers for each level is a matrix of all, or an error that tells so.
func TestManyNumbers(t *testing.T) {
	p := levelledProblems[0].problem(sequence(levelledProblems[0].levels))
	p.XX, _, _ = structure(p)
	for i := range p.Terms {
		p.Terms[i].S, p.Terms[i].SP = nil, nil // levels and the intercept are aliased
	}
	if _, err := Select(p, &Options{Criterion: Fixed, FewNumbers: true}); !errors.Is(err, ErrManyNumbers) {
		t.Errorf("by few numbers: %v", err)
	}
	if f, err := Select(p, &Options{Criterion: Fixed}); err != nil || f.Dropped == nil {
		t.Errorf("by all: %v", err)
	}
	if _, err := Select(p, &Options{Criterion: GCV, FewNumbers: true}); err == nil || !strings.Contains(err.Error(), "reml") {
		t.Errorf("by gcv: %v", err)
	}
}

// A response in the span of levels and others has the coefficients that make it up, by a few numbers for each level, too.
func TestStructuredWithoutResidual(t *testing.T) {
	for _, l := range levelledProblems {
		if l.width > 1 || l.sp > 0 || l.df > 0 || l.penalties == 0 {
			continue
		}
		p := l.problem(sequence(l.levels))
		q := *p
		alpha := make([]float64, len(p.XZ))
		for i := range alpha {
			alpha[i] = math.Sin(float64(i))
		}
		q.XX, _, _ = structure(p)
		q.XZ = linalg.MulVec(p.XX, alpha)
		q.ZZ, q.Others = kernel.Dot(q.XZ, alpha), nil
		got, err := Select(&q, &Options{WithoutVc: true, WithoutVe: true})
		if err != nil {
			t.Fatalf("%s: %v", l.name, err)
		}
		fitted := linalg.MulVec(p.XX, got.Alpha)
		if got.Status != ZeroResidual || got.structure == nil {
			t.Errorf("%s: %v, by levels: %t", l.name, got.Status, got.structure != nil)
		}
		for i, v := range q.XZ {
			if d := math.Abs(fitted[i] - v); !(d <= 1e-11*math.Sqrt(p.XX.At(i, i)*q.ZZ)) {
				t.Fatalf("%s: the product with column %d is off by %.2g", l.name, i, d/math.Sqrt(p.XX.At(i, i)*q.ZZ))
			}
		}
	}
}

// A few numbers for each level give the results of the full matrices.
func TestStructured(t *testing.T) {
	for _, l := range levelledProblems {
		if l.width > 1 {
			continue
		}
		p := l.problem(sequence(l.levels))
		q := *p
		many, lo, hi := structure(p)
		q.XX = many
		want := denseFit(t, p, Options{WithoutVc: true, WithoutVe: true})
		got, err := Select(&q, &Options{WithoutVe: true}) // Vc is left out without being asked to
		if err != nil {
			t.Fatalf("%s: %v", l.name, err)
		}
		if got.structure == nil || got.Vp != nil || got.Vc != nil {
			t.Errorf("%s: not by levels", l.name)
			continue
		}
		near := func(what string, a, b mat.Symmetric) {
			t.Helper()
			var apart mat.Dense
			apart.Sub(a, b)
			if norm := mat.Norm(b, 2); !(mat.Norm(&apart, 2) <= 1e-7*norm) { // lambda is found to a few digits less
				t.Errorf("%s: %s differs by %.2g of %.2g", l.name, what, mat.Norm(&apart, 2), norm)
			}
		}
		near("Vp", got.Covariance(), want.Vp)
		for i, v := range got.Alpha {
			if d := math.Abs(v - want.Alpha[i]); !(d <= 1e-7*(1+math.Abs(v))) {
				t.Fatalf("%s: coefficient %d differs by %.2g", l.name, i, d)
			}
		}
		dim := len(p.XZ)
		rng := rand.New(rand.NewPCG(1, 2))
		m, sum := linalg.Shifted{Near: &linalg.Near{Lo: lo, Hi: hi, Width: 1}}, mat.NewSymDense(dim, nil)
		for i := range dim {
			for j := i; j < dim; j++ {
				if i == j || len(many.Few) > 0 && (i < lo || i >= hi || j >= hi) {
					sum.SetSym(i, j, rng.NormFloat64())
				}
			}
			m.G, m.C = append(m.G, rng.NormFloat64()), append(m.C, rng.NormFloat64())
		}
		m.Near = nearOf(sum, lo, hi)
		m.Near.Width, m.Near.Own = 1, linalg.Diagonal(sum)[lo:hi]
		sum.RankTwo(sum, -1, mat.NewVecDense(dim, m.G), mat.NewVecDense(dim, m.C))
		s := mat.NewSymDense(dim, nil)
		addPenalties(s, p, want.Lambda)
		around := func(s *mat.SymDense, scale float64) *mat.SymDense { return scaledBy(sandwich(full(want.Vp), s), scale) }
		shrinkage := around(s, 1/want.Scale)
		near("what smoothing adds", got.Shrinkage(), shrinkage)
		whole := around(sum, 1/(want.Scale*want.Scale))
		whole.AddSym(whole, shrinkage)
		near("the sandwich", got.Sandwich().Around(m, got.Shrinkage()), whole)
	}
}
