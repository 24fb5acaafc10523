package decompose_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/importance"
)

// owning is a network whose terms have coefficients of their own; the rest of its column
// is deep.
type owning struct {
	responses
	blocks []decompose.Block
}

func (m *owning) Blocks(int) []decompose.Block { return m.blocks }

func (m *owning) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := m.responses.Forward(ctx, dst, b); err != nil {
		return err
	}
	for _, block := range m.blocks {
		x := mat.NewDense(b.Rows(), block.Term.Dim(), nil)
		if err := block.Term.Eval(x, b); err != nil {
			return err
		}
		for i := range b.Rows() {
			dst.Zeta.Set(i, 0, dst.Zeta.At(i, 0)-floats.Dot(x.RawRowView(i), block.Coef))
		}
	}
	return nil
}

// own gives the terms of m coefficients.
func own(m decompose.Model, seed uint64) decompose.Model {
	r := rand.New(rand.NewPCG(seed, 1))
	out := &owning{responses: responses{[]string{"eta"}, m.Columns()}, blocks: m.Blocks(0)}
	for i, b := range out.blocks {
		out.blocks[i].Coef = make([]float64, b.Term.Dim())
		for l := range out.blocks[i].Coef {
			out.blocks[i].Coef[l] = r.NormFloat64() / 3
		}
	}
	return out
}

// correlated has numbers x, z of correlation rho, factors g, h with combinations that do
// not occur, weights and the predictor y.
func correlated(t testing.TB, n int, rho float64, rename map[string]string) *data.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 3))
	x, z, w, y := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	g, h := make([]string, n), make([]string, n)
	name := func(level string) string {
		if to, ok := rename[level]; ok {
			return to
		}
		return level
	}
	for i := range n {
		u, v := r.NormFloat64(), r.NormFloat64()
		x[i], z[i], w[i] = u, rho*u+math.Sqrt(1-rho*rho)*v, float64(r.IntN(4))
		a, b := r.IntN(4), r.IntN(3)
		if u > 0.5 {
			a = 3
		}
		if a == 1 {
			b = 2 // two combinations do not occur
		}
		g[i], h[i] = name(string(rune('a'+a))), name(string(rune('p'+b)))
		y[i] = math.Sin(2*u) + x[i]*z[i] + float64(a*b)/2 - float64(b) + 0.3*x[i]*float64(a) + 0.2*r.NormFloat64()
	}
	tab := data.NewTable(n)
	for _, c := range []struct {
		name string
		v    []float64
	}{{"x", x}, {"z", z}, {"w", w}, {"y", y}} {
		if err := tab.AddNumeric(c.name, c.v); err != nil {
			t.Fatal(err)
		}
	}
	for name, v := range map[string][]string{"g": g, "h": h} {
		if err := tab.AddText(name, v); err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

func decomposedOn(t testing.TB, m decompose.Model, tab *data.Table, o decompose.Options) (*decompose.Result, *decompose.Parts) {
	t.Helper()
	if o.Weights == "" {
		o.Weights = "w"
	}
	o.Visitors = append(o.Visitors, importance.New(nil))
	r, err := decompose.Decompose(t.Context(), m, tab, &o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := mustApplier(t, r, m).WithErrors().Parts(t.Context(), all(t, tab, tab.Rows()))
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}

func column(p *decompose.Parts, j int) []float64 { return mat.Col(nil, j, p.Predictors[0].Terms) }

// hierarchies are formulas with margins of every kind.
var hierarchies = []string{
	"~ g + h + g:h",
	"~ g + h + x + g:h + g:x + h:x + g:h:x",
	"~ x + z + x:z",
	`~ s(x, bs="cr") + s(z, bs="cr") + te(x, z, k=4)`,
	`~ s(x, bs="cr", k=6) + s(z, bs="cr", k=5) + ti(x, z, k=4) + h + s(z, by=h, k=5)`,
	`~ s(x, k=6) + g + s(x, g, bs="fs", k=5) + h`,
	`~ s(g, bs="re") + s(g, h, bs="re") + x + s(g, x, bs="re")`,
}

// TestHierarchicalTerms: every term is orthogonal to the columns of its margins, the sum
// of the terms and what is left do not depend on the split, parts of rows are the curves at
// these rows, and shares with the remainder's add up to 1.
func TestHierarchicalTerms(t *testing.T) {
	tab := correlated(t, 800, 0.6, nil)
	b := all(t, tab, tab.Rows())
	w, _ := b.Numeric("w")
	for _, formula := range hierarchies {
		for _, route := range []decompose.Route{decompose.Gram, decompose.QR} {
			for _, m := range []decompose.Model{responseAsNetwork(t, tab, formula, "y"), own(responseAsNetwork(t, tab, formula, "y"), 5)} {
				fitted, before := decomposedOn(t, m, tab, decompose.Options{Projection: decompose.Projection{Terms: decompose.Fitted, Route: route}})
				r, p := decomposedOn(t, m, tab, decompose.Options{Projection: decompose.Projection{Route: route}})
				d := &r.Predictors[0]
				if d.Hierarchy == nil || fitted.Predictors[0].Hierarchy != nil {
					t.Fatalf("%s: hierarchies %v, as fitted %v", formula, d.Hierarchy, fitted.Predictors[0].Hierarchy)
				}
				for i := range tab.Rows() {
					if far := math.Abs(floats.Sum(p.Predictors[0].Row(i)) + d.Intercept - floats.Sum(before.Predictors[0].Row(i)) - fitted.Predictors[0].Intercept); far > 1e-9 {
						t.Fatalf("%s, row %d: the sum of the terms moved by %g", formula, i, far)
					}
					if far := math.Abs(p.Predictors[0].Unstructured[i] - before.Predictors[0].Unstructured[i]); far > 1e-9 {
						t.Fatalf("%s, row %d: the remainder moved by %g", formula, i, far)
					}
				}
				a := mustApplier(t, r, m)
				total, moved := 0.0, 0.0
				for j := range d.Terms {
					term := &d.Terms[j]
					e, err := a.Effect(t.Context(), 0, j, b)
					if err != nil {
						t.Fatal(err)
					}
					v := column(p, j)
					for i := range v {
						if math.Abs(v[i]-e.After[i]) > 1e-9 {
							t.Fatalf("%s: %s is %v in row %d and %v as a curve", formula, term.Name, v[i], i, e.After[i])
						}
						if se := p.Predictors[0].SE.At(i, j); math.Abs(se-e.SE[i]) > 1e-9*(1+se) || math.IsNaN(se) != math.IsNaN(e.SE[i]) {
							t.Fatalf("%s: %s has standard error %v in row %d and %v as a curve", formula, term.Name, se, i, e.SE[i])
						}
					}
					for what, m := range map[string]struct {
						of   decompose.Moment
						v    []float64
						mean float64
					}{"after": {term.After, v, 0}, "before": {term.Before, e.Before, 0}} {
						if variance := stat.MomentAbout(2, m.v, 0, w); math.Abs(variance-m.of.Variance) > 1e-8*(1+variance) {
							t.Errorf("%s: %s has variance %v %s, and %v on the rows", formula, term.Name, m.of.Variance, what, variance)
						}
					}
					total += share(d, term.Name)
					for _, i := range d.Importance {
						if len(i.Terms) == 1 && i.Terms[0] == term.Name && !(math.Abs(*i.OwnVariance*d.Variance.Total-term.After.Variance) < 1e-10*(1+term.After.Variance)) {
							t.Errorf("%s: %s has variance %v by itself, and %v as a term", formula, term.Name, *i.OwnVariance*d.Variance.Total, term.After.Variance)
						}
					}
					for k := range d.Terms {
						other := &d.Terms[k]
						if !isMarginOf(other, term) {
							continue
						}
						for what, f := range map[string][]float64{"after": v, "before": e.Before} {
							if c := largestCorrelation(t, f, other.Term(), b, w); c > 1e-6 {
								t.Errorf("%s: %s correlates %.2g with a column of %s %s", formula, term.Name, c, other.Name, what)
							}
						}
						moved += math.Abs(floats.Dot(column(before, j), column(before, j)) - floats.Dot(v, v))
					}
				}
				rest := p.Predictors[0].Unstructured
				eta := p.Predictors[0].Eta
				total += stat.Covariance(rest, eta, w) / stat.Variance(eta, w)
				if math.Abs(total-1) > 1e-10 {
					t.Errorf("%s: shares add up to %v", formula, total)
				}
				if moved == 0 {
					t.Errorf("%s: nothing was split", formula)
				}
			}
		}
	}
}

func share(d *decompose.Predictor, term string) float64 {
	for _, i := range d.Importance {
		if len(i.Terms) == 1 && i.Terms[0] == term {
			return i.VarianceShare
		}
	}
	return math.NaN()
}

// isMarginOf: m has some of the features of f. Smooths with a by column have that
// column's terms alone.
func isMarginOf(m, f *decompose.TermResult) bool {
	if by := strings.Split(f.Name, "):"); len(by) == 2 {
		return len(m.Features) == 1 && strings.HasPrefix(by[1], m.Features[0])
	}
	if len(m.Features) >= len(f.Features) || strings.Contains(m.Name, "):") {
		return false
	}
	for _, name := range m.Features {
		found := false
		for _, other := range f.Features {
			found = found || name == other
		}
		if !found {
			return false
		}
	}
	return true
}

// largestCorrelation is that of f with a column of term, relative to the size of f.
func largestCorrelation(t *testing.T, f []float64, term decompose.Term, b *data.Batch, w []float64) float64 {
	x := mat.NewDense(b.Rows(), term.Dim(), nil)
	if err := term.Eval(x, b); err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for l := range term.Dim() {
		c := mat.Col(nil, l, x)
		if sd := stat.StdDev(c, w); sd > 1e-9 && stat.StdDev(f, w) > 1e-9 {
			worst = max(worst, math.Abs(stat.Correlation(c, f, w)))
		}
	}
	return worst
}

// TestLevelNames: renaming levels, so that others are the reference, and another order of
// the terms change no term, share or standard error; contrasts do that to the terms as
// they are fitted.
func TestLevelNames(t *testing.T) {
	formulas := map[string]string{
		"~ g + h + g:h":                         "~ h + g:h + g",
		"~ g + h + x + g:h + g:x + h:x + g:h:x": "~ x + g:h + h + g:x + h:x + g + g:h:x",
		"~ g + x + g:x":                         "~ x + g + g:x",
	}
	for formula, other := range formulas {
		tab := correlated(t, 700, 0.5, nil)
		renamed := correlated(t, 700, 0.5, map[string]string{"a": "zz", "d": "aa", "p": "s", "q": "a"})
		r, p := decomposedOn(t, responseAsNetwork(t, tab, formula, "y"), tab, decompose.Options{})
		s, q := decomposedOn(t, responseAsNetwork(t, renamed, other, "y"), renamed, decompose.Options{})
		f, _ := decomposedOn(t, responseAsNetwork(t, tab, formula, "y"), tab, decompose.Options{Projection: decompose.Projection{Terms: decompose.Fitted}})
		g, _ := decomposedOn(t, responseAsNetwork(t, renamed, other, "y"), renamed, decompose.Options{Projection: decompose.Projection{Terms: decompose.Fitted}})
		changed := 0.0
		for j := range r.Predictors[0].Terms {
			name := r.Predictors[0].Terms[j].Name
			k, _ := termNamed(t, s, name)
			for i := range tab.Rows() {
				near(t, name, q.Predictors[0].Terms.At(i, k), p.Predictors[0].Terms.At(i, j), 1e-9)
				if a, b := p.Predictors[0].SE.At(i, j), q.Predictors[0].SE.At(i, k); !(math.Abs(a-b) < 1e-7) {
					t.Fatalf("%s: standard errors %v and %v", name, a, b)
				}
			}
			near(t, name, share(&s.Predictors[0], name), share(&r.Predictors[0], name), 1e-10)
			changed = max(changed, math.Abs(share(&f.Predictors[0], name)-share(&g.Predictors[0], name)))
		}
		if changed < 0.005 {
			t.Errorf("%s: shares of terms as fitted hardly change (%g): the test shows nothing", formula, changed)
		}
	}
}

// TestMainEffectsNextToPairs: by plain PHO the two smooths of correlated columns and
// their tensor product set effects against each other. Hierarchical terms do not.
func TestMainEffectsNextToPairs(t *testing.T) {
	tab := correlated(t, 1000, 0.5, nil)
	formula := `~ s(x, bs="cr", k=8) + s(z, bs="cr", k=8) + te(x, z, k=5)`
	worst := func(terms decompose.Terms) float64 {
		m := responseAsNetwork(t, tab, formula, "y")
		r, p := decomposedOn(t, m, tab, decompose.Options{Projection: decompose.Projection{Method: decompose.PHO, Terms: terms}})
		least := 0.0
		for j := range 2 {
			if !r.Predictors[0].Terms[j].Identified {
				t.Errorf("%s is not identified", r.Predictors[0].Terms[j].Name)
			}
			least = min(least, stat.Correlation(column(p, j), column(p, 2), mustNumeric(t, tab, "w")))
		}
		return least
	}
	if c := worst(decompose.Fitted); c > -0.5 {
		t.Errorf("as fitted a main effect correlates %.2f with the pair: the test shows nothing", c)
	} else {
		t.Logf("as fitted a main effect correlates %.2f with the pair", c)
	}
	if c := worst(""); math.Abs(c) > 1e-6 {
		t.Errorf("a main effect correlates %g with the pair", c)
	}
}

func mustNumeric(t *testing.T, tab *data.Table, name string) []float64 {
	t.Helper()
	v, err := all(t, tab, tab.Rows()).Numeric(name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestNeverSeenCombination: a combination of known levels that did not occur has no
// interaction: its predictor is that of the main effects, whatever the levels' names.
func TestNeverSeenCombination(t *testing.T) {
	var sums []float64
	for _, names := range []map[string]string{nil, {"a": "zz", "p": "zz"}} {
		tab := correlated(t, 700, 0.5, names)
		m := responseAsNetwork(t, tab, "~ g + h + g:h", "y")
		r, _ := decomposedOn(t, m, tab, decompose.Options{})
		p := "p"
		if names != nil {
			p = names["p"]
		}
		b := data.NewBatch(1, 0)
		for column, level := range map[string]string{"g": "b", "h": p} {
			if err := b.SetCodes(column, data.Codes{Index: []int32{0}, Levels: []string{level}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.SetNumeric("y", []float64{2}); err != nil {
			t.Fatal(err)
		}
		parts, err := mustApplier(t, r, m).Parts(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		j, _ := termNamed(t, r, "g:h")
		if v := parts.Predictors[0].Terms.At(0, j); math.Abs(v) > 1e-12 {
			t.Errorf("the interaction is %v", v)
		}
		near(t, "sum", parts.Sum(0, 0), 2, 1e-12)
		sums = append(sums, parts.Predictors[0].Unstructured[0])
		if c := r.Predictors[0].Hierarchy.Cells; len(c) != 1 || c[0].Observed != 10 || c[0].Possible != 12 {
			t.Errorf("combinations: %+v", c)
		}
	}
	near(t, "what is left", sums[1], sums[0], 1e-9)
}

// TestNotUnique: tables whose combinations fall apart, and a factor within another, leave
// main effects open; the terms are named, and stay the same under other names.
func TestNotUnique(t *testing.T) {
	build := func(names map[string]string, apart bool) (*data.Table, string) {
		n, r := 600, rand.New(rand.NewPCG(2, 9))
		a, b, y := make([]string, n), make([]string, n), make([]float64, n)
		name := func(s string) string {
			if to, ok := names[s]; ok {
				return to
			}
			return s
		}
		for i := range n {
			u, v := r.IntN(5), r.IntN(3)
			if apart { // levels 0, 1 with 0; 2, 3, 4 with 1, 2
				if v = 0; u > 1 {
					v = 1 + r.IntN(2)
				}
			} else {
				v = u / 2 // a within b
			}
			a[i], b[i] = name(string(rune('a'+u))), name(string(rune('p'+v)))
			y[i] = float64(u*u)/5 + float64(v*u) + r.NormFloat64()
		}
		tab := data.NewTable(n)
		for c, v := range map[string][]string{"a": a, "b": b} {
			if err := tab.AddText(c, v); err != nil {
				t.Fatal(err)
			}
		}
		if err := tab.AddNumeric("y", y); err != nil {
			t.Fatal(err)
		}
		if err := tab.AddNumeric("w", make([]float64, n)); err != nil {
			t.Fatal(err)
		}
		return tab, "~ a + b + a:b"
	}
	for _, apart := range []bool{true, false} {
		var first *decompose.Parts
		for _, names := range []map[string]string{nil, {"a": "zz", "p": "zz", "e": "A"}} {
			tab, formula := build(names, apart)
			m := responseAsNetwork(t, tab, formula, "y")
			r, err := decompose.Decompose(t.Context(), m, tab, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := mustApplier(t, r, m).Parts(t.Context(), all(t, tab, tab.Rows()))
			if err != nil {
				t.Fatal(err)
			}
			h := r.Predictors[0].Hierarchy
			if h.Rank >= h.Of || len(h.Open) != 1 || strings.Join(h.Open[0], " ") != "a b" || h.Smallest != 0 {
				t.Errorf("apart %v: %+v", apart, h)
			}
			for j, want := range []bool{false, false, true} {
				if got := r.Predictors[0].Terms[j]; got.Identified != want {
					t.Errorf("apart %v: %s is identified: %v (with %v)", apart, got.Name, got.Identified, got.AliasedWith)
				}
			}
			if first == nil {
				first = p
				continue
			}
			for i := range tab.Rows() {
				for j := range 3 {
					near(t, r.Predictors[0].Terms[j].Name, p.Predictors[0].Terms.At(i, j), first.Predictors[0].Terms.At(i, j), 1e-8)
				}
			}
		}
	}
}

// TestHierarchyReadAgain: what is read gives the parts, curves and standard errors of what
// was written, and margins that fit no term are refused.
func TestHierarchyReadAgain(t *testing.T) {
	tab := correlated(t, 500, 0.6, nil)
	b := all(t, tab, tab.Rows())
	for _, formula := range hierarchies {
		m := own(responseAsNetwork(t, tab, formula, "y"), 8)
		r, p := decomposedOn(t, m, tab, decompose.Options{})
		doc, moments := encode(t, r)
		again, err := decompose.Read(bytes.NewReader(doc), bytes.NewReader(moments), basis.Decode)
		if err != nil {
			t.Fatal(err)
		}
		q, err := mustApplier(t, again, m).WithErrors().Parts(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(p.Predictors[0].Terms, q.Predictors[0].Terms) {
			t.Errorf("%s: other parts", formula)
		}
		if !mat.EqualApprox(p.Predictors[0].SE, q.Predictors[0].SE, 1e-12) && !math.IsNaN(mat.Sum(p.Predictors[0].SE)) {
			t.Errorf("%s: other standard errors", formula)
		}
	}
}

// TestTermsWithoutMargins: nothing changes where no term has margins.
func TestTermsWithoutMargins(t *testing.T) {
	tab := correlated(t, 500, 0.6, nil)
	for _, formula := range []string{"~ x + g", "~ g:h", `~ te(x, z, k=4) + h`, `~ s(x) + s(z) + ti(x, z)`} {
		m := responseAsNetwork(t, tab, formula, "y")
		r, _ := decomposedOn(t, m, tab, decompose.Options{Projection: decompose.Projection{Terms: decompose.Hierarchical}})
		f, _ := decomposedOn(t, m, tab, decompose.Options{Projection: decompose.Projection{Terms: decompose.Fitted}})
		f.Terms = ""
		a, _ := encode(t, r)
		b, _ := encode(t, f)
		if has := r.Predictors[0].Hierarchy != nil; has != strings.Contains(formula, "s(x)") {
			t.Errorf("%s: has a hierarchy: %v", formula, has)
		} else if !has && !bytes.Equal(a, b) {
			t.Errorf("%s: other bytes", formula)
		}
	}
}
