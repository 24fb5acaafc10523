package decompose_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

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
		if err := tab.AddTexts(name, v); err != nil {
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
	`~ z + s(x, by=z, k=5) + x:z + x`,
	`~ s(x, bs="cr") + s(z, bs="cr") + te(x, z, k=4)`,
	`~ s(x, bs="cr", k=6) + s(z, bs="cr", k=5) + ti(x, z, k=4) + h + s(z, by=h, k=5)`,
	`~ s(x, k=6) + g + s(x, g, bs="fs", k=5) + h`,
	`~ s(g, bs="re") + s(g, h, bs="re") + x + s(g, x, bs="re")`,
}

// TestHierarchicalTerms: every term is orthogonal to the columns of its margins, the sum
// of the terms and what is left do not depend on the split, parts of rows are the curves at
// these rows, and shares with the remainder's add up to 1.
func TestHierarchicalTerms(t *testing.T) {
	if testing.Short() {
		t.Skip("many decompositions, one after the other")
	}
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
						if se := p.Predictors[0].SE.At(i, j); math.Abs(se*se-e.SE[i]*e.SE[i]) > 1e-12*(1+se*se) || math.IsNaN(se) != math.IsNaN(e.SE[i]) {
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
