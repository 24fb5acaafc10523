package decompose_test

import (
	"bytes"
	"fmt"
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
)

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
			u := r.IntN(5)
			v := u / 2 // a within b
			if apart { // levels 0, 1 with 0; 2, 3, 4 with 1, 2
				if v = 0; u > 1 {
					v = 1 + r.IntN(2)
				}
			}
			a[i], b[i] = name(string(rune('a'+u))), name(string(rune('p'+v)))
			y[i] = float64(u*u)/5 + float64(v*u) + r.NormFloat64()
		}
		tab := data.NewTable(n)
		for c, v := range map[string][]string{"a": a, "b": b} {
			if err := tab.AddTexts(c, v); err != nil {
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

// TestHierarchyReadAgain: a result read again has the parts, curves and standard errors of
// the one written, and margins that fit no term are refused.
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

// TestHierarchyOfOddRows: a level without weight, one of a single row, a constant column,
// more columns than rows and 200 levels leave every part finite and their sum as it was.
func TestHierarchyOfOddRows(t *testing.T) {
	if testing.Short() {
		t.Skip("many decompositions, one after the other")
	}
	build := func(n, levels int, constant bool) *data.Table {
		r := rand.New(rand.NewPCG(uint64(n), 4))
		x, z, w, y := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		g, h := make([]string, n), make([]string, n)
		for i := range n {
			a, b := r.IntN(levels), r.IntN(3)
			x[i], z[i], w[i] = r.NormFloat64(), r.NormFloat64(), 1
			if i == 0 {
				a = levels // a level of one row
			}
			if a == 1 {
				w[i] = 0
			}
			y[i] = x[i]*z[i] + float64(a%5)*float64(b) + r.NormFloat64()
			g[i], h[i] = fmt.Sprint("g", a), fmt.Sprint("h", b)
			if constant {
				z[i] = 3
			}
		}
		tab := data.NewTable(n)
		for name, v := range map[string][]float64{"x": x, "z": z, "w": w, "y": y} {
			if err := tab.AddNumeric(name, v); err != nil {
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
	for _, c := range []struct {
		n, levels int
		constant  bool
		formula   string
	}{
		{300, 6, false, "~ g + h + g:h + x + g:x"},
		{300, 6, true, "~ x + z + x:z"},
		{60, 4, false, `~ s(x, bs="cr") + s(z, bs="cr") + te(x, z, k=8)`},
		{900, 200, false, "~ g + h + g:h"},
		{900, 200, false, `~ s(g, bs="re") + x + s(g, x, bs="re")`},
		{50, 40, false, "~ g + h + g:h"},
	} {
		tab := build(c.n, c.levels, c.constant)
		m := responseAsNetwork(t, tab, c.formula, "y")
		_, want := decomposedOn(t, m, tab, decompose.Options{Projection: decompose.Projection{Terms: decompose.Fitted}})
		r, got := decomposedOn(t, m, tab, decompose.Options{})
		w := mustNumeric(t, tab, "w")
		for i := range c.n {
			if w[i] == 0 {
				continue // combinations in such rows alone count as not having occurred
			}
			near(t, c.formula, got.Predictors[0].Intercept+floats.Sum(got.Predictors[0].Row(i)), want.Predictors[0].Intercept+floats.Sum(want.Predictors[0].Row(i)), 1e-7)
		}
		if *r.Predictors[0].ReconstructionError > 1e-9 {
			t.Errorf("%s: the parts miss by %g", c.formula, *r.Predictors[0].ReconstructionError)
		}
	}
}

// TestHierarchyOfShards: merged statistics, batches and workers give the bytes of one pass.
func TestHierarchyOfShards(t *testing.T) {
	tab := correlated(t, 9000, 0.5, nil)
	m := responseAsNetwork(t, tab, `~ g + h + g:h + s(x, k=5) + s(z, k=5) + te(x, z, k=4)`, "y")
	o := &decompose.Options{Columns: decompose.Columns{Weights: "w"}}
	var first []byte
	for _, batch := range []int{9000, 501} {
		for _, workers := range []int{1, 3} {
			tab.BatchRows = batch
			o.Workers = workers
			r, err := decompose.Decompose(t.Context(), m, tab, o)
			if err != nil {
				t.Fatal(err)
			}
			doc, _ := encode(t, r)
			if first == nil {
				first = doc
			}
			if !bytes.Equal(first, doc) {
				t.Errorf("batches of %d rows and %d workers: other bytes", batch, workers)
			}
		}
	}
}

// TestMarginsThatFitNoTerm: a file whose margins name another term, or have other sizes, is
// refused, not read wrongly.
func TestMarginsThatFitNoTerm(t *testing.T) {
	tab := correlated(t, 300, 0.5, nil)
	r, _ := decomposedOn(t, responseAsNetwork(t, tab, "~ x + z + x:z", "y"), tab, decompose.Options{})
	doc, moments := encode(t, r)
	for old, changed := range map[string]string{
		`"term": "x",`: `"term": "y",`,
		`"term": "z",`: `"term": "x:z",`,
		`"coef": [`:    `"coef": [1, `,
		`"margins": [`: `"margins": [{"term": "x", "coef": null}, `,
	} {
		if !bytes.Contains(doc, []byte(old)) {
			t.Fatalf("no %s in the file", old)
		}
		bad, err := decompose.Sign(bytes.ReplaceAll(doc, []byte(old), []byte(changed)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decompose.Read(bytes.NewReader(bad), bytes.NewReader(moments), basis.Decode); err == nil || !strings.Contains(err.Error(), "margin") {
			t.Errorf("%s: %v", changed, err)
		}
	}
}
