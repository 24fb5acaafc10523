package decompose_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// columnsModel is a black box on x0..x2 with linear terms on any columns.
func columnsModel(t testing.TB, columns ...string) decompose.Model {
	t.Helper()
	var blocks []decompose.Block
	for _, c := range columns {
		blocks = append(blocks, decompose.Block{Term: &decompose.LinearTerm{Column: c}})
	}
	m, err := decompose.With(&blackBox{newFake(1)}, map[string][]decompose.Block{"": blocks})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// withColumns copies a table and adds computed columns.
func withColumns(t testing.TB, tab *data.Table, add map[string]func(row []float64) float64) *data.Table {
	t.Helper()
	b := all(t, tab, tab.Rows())
	out := data.NewTable(tab.Rows())
	names := []string{"x0", "x1", "x2", "year"}
	var cols [][]float64
	for _, name := range names {
		v, _ := b.Numeric(name)
		cols = append(cols, v)
		if err := out.AddNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	for name, f := range add {
		v := make([]float64, tab.Rows())
		row := make([]float64, len(cols))
		for i := range v {
			for j := range cols {
				row[j] = cols[j][i]
			}
			v[i] = f(row)
		}
		if err := out.AddNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestAliasedColumnsAndTermsAreNamed(t *testing.T) { byRoute(t, testAliasedColumnsAndTermsAreNamed) }

func testAliasedColumnsAndTermsAreNamed(t *testing.T, route decompose.Route) {
	tab := withColumns(t, table(t, 5000, 11), map[string]func([]float64) float64{
		"double": func(x []float64) float64 { return 3 - 2*x[0] },
		"sum":    func(x []float64) float64 { return x[1] + x[2] },
		"one":    func([]float64) float64 { return 7.1 },
		"ago":    func(x []float64) float64 { return 1e6 * (x[3] - 2015) }, // year, moved and scaled
	})
	m := columnsModel(t, "x0", "x1", "x2", "year", "double", "sum", "one", "ago")
	r, c := run(t, m, tab, decompose.Options{Projection: decompose.Projection{Route: route}})
	p := r.Predictors[0]
	if p.Rank != 5 || p.Columns != 9 {
		t.Errorf("rank %d of %d columns, want 5 of 9", p.Rank, p.Columns)
	}
	if diff := cmp.Diff([]string{"double", "sum", "one", "ago"}, p.Aliased); diff != "" {
		t.Error(diff)
	}
	want := map[string][]string{
		"x0": {"double"}, "x1": {"x2", "sum"}, "x2": {"x1", "sum"}, "year": {"ago"},
		"double": {"x0"}, "sum": {"x1", "x2"}, "one": {}, "ago": {"year"},
	}
	for _, term := range p.Terms {
		if diff := cmp.Diff(want[term.Name], term.AliasedWith); diff != "" {
			t.Errorf("%s: %s", term.Name, diff)
		}
		if term.Identified != (len(want[term.Name]) == 0) {
			t.Errorf("%s: identified %v", term.Name, term.Identified)
		}
	}
	// The sum is that of the columns without the aliased ones.
	_, plain := run(t, columnsModel(t, "x0", "x1", "x2", "year"), tab, decompose.Options{Projection: decompose.Projection{Route: route}})
	for i := range plain.unstructured[0] {
		near(t, "unstructured", c.unstructured[0][i], plain.unstructured[0][i], 1e-9)
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "double, sum, one, ago") {
		t.Errorf("warnings do not name the aliased columns: %q", r.Warnings)
	}
}

func TestDegenerateData(t *testing.T) { byRoute(t, testDegenerateData) }

func testDegenerateData(t *testing.T, route decompose.Route) {
	constant := newFake(1)
	constant.deep = func(int, []float64) float64 { return 2.5 }
	zero := newFake(1)
	zero.beta, zero.offset = nil, 0
	zero.deep = func(int, []float64) float64 { return 0 }
	for name, c := range map[string]struct {
		m    decompose.Model
		tab  *data.Table
		warn string
		left float64 // standard deviation of the unstructured part
	}{
		"deep part constant":      {constant, table(t, 500, 12), "additive already", 0},
		"all zero":                {zero, table(t, 500, 12), "constant on these rows", 0},
		"fewer rows than columns": {newFake(1).withTap(), table(t, 5, 13), "zero by construction", 0},
		"as many rows as columns": {newFake(1), table(t, 4, 13), "zero by construction", 0},
		"one row":                 {newFake(1), table(t, 1, 13), "zero by construction", 0},
		"no terms":                {&blackBox{newFake(1)}, table(t, 100, 14), "no structured term", -1},
	} {
		t.Run(name, func(t *testing.T) {
			r, col := run(t, c.m, c.tab, decompose.Options{Projection: decompose.Projection{Route: route}})
			if !strings.Contains(strings.Join(r.Warnings, "\n"), c.warn) {
				t.Errorf("warnings %q, want one with %q", r.Warnings, c.warn)
			}
			if c.left == 0 {
				for _, u := range col.unstructured[0] {
					near(t, "unstructured", u, 0, 1e-9)
				}
			}
			doc, _ := encode(t, r) // NaN cannot be encoded
			if len(doc) == 0 {
				t.Error("no document")
			}
		})
	}
}

func TestWithoutIntercept(t *testing.T) { byRoute(t, testWithoutIntercept) }

func testWithoutIntercept(t *testing.T, route decompose.Route) {
	tab := table(t, 1000, 15)
	r, c := run(t, newFake(1), tab, decompose.Options{Projection: decompose.Projection{Route: route, WithoutIntercept: []string{"eta"}}})
	if r.Predictors[0].InterceptMoved != 0 {
		t.Errorf("intercept moved %g", r.Predictors[0].InterceptMoved)
	}
	b := all(t, tab, 1000)
	for _, name := range []string{"x0", "x1", "x2"} {
		x, _ := b.Numeric(name)
		var dot float64
		for i := range x {
			dot += x[i] * c.unstructured[0][i]
		}
		near(t, "x'unstructured", dot/1000, 0, 1e-10)
	}
	if math.Abs(r.Predictors[0].Variance.TwiceCovariance) < 1e-6 {
		t.Error("without an intercept the parts should covary here")
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "without an intercept") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestBadInput(t *testing.T) {
	tab := table(t, 100, 16)
	ctx := context.Background()
	for name, c := range map[string]struct {
		m    decompose.Model
		o    decompose.Options
		src  data.Source
		want string
	}{
		"unknown method":    {newFake(1), decompose.Options{Projection: decompose.Projection{Method: "magic"}}, tab, `unknown method "magic"`},
		"tolerance":         {newFake(1), decompose.Options{Projection: decompose.Projection{RankTolerance: 1e-9, Route: decompose.Gram}}, tab, "rank tolerance 1e-09: products in float64 decide ranks for tolerances from 1e-06; route qr does from 1e-13"},
		"tiny tolerance":    {newFake(1), decompose.Options{Projection: decompose.Projection{RankTolerance: 1e-14}}, tab, "rank tolerance 1e-14: it is from 1e-13 up to 1, by route qr, or from 1e-06 by route gram"},
		"route":             {newFake(1), decompose.Options{Projection: decompose.Projection{Route: "svd"}}, tab, `unknown route "svd": it is gram or qr`},
		"predictor":         {newFake(1), decompose.Options{Projection: decompose.Projection{WithoutIntercept: []string{"mu"}}}, tab, `no predictor "mu"`},
		"sp of no term":     {newFake(1), decompose.Options{Smoothing: decompose.Smoothing{SP: map[string][]float64{"s(q)": {1}}}}, tab, `term "s(q)", which the model does not have`},
		"unknown weights":   {newFake(1), decompose.Options{Columns: decompose.Columns{Weights: "ww"}}, tab, `"ww"`},
		"negative weights":  {newFake(1), decompose.Options{Columns: decompose.Columns{Weights: "y"}}, tab, "not a finite number >= 0"},
		"text weights":      {newFake(1), decompose.Options{Columns: decompose.Columns{Weights: "day"}}, tab, "holds text"},
		"no rows":           {newFake(1), decompose.Options{}, data.NewTable(0), ""},
		"zero weights":      {newFake(1), decompose.Options{Columns: decompose.Columns{Weights: "zero"}}, withColumns(t, tab, map[string]func([]float64) float64{"zero": func([]float64) float64 { return 0 }}), "all weights are zero"},
		"two terms, a name": {twice{newFake(1)}, decompose.Options{}, tab, `two terms named "x0"`},
		"coefficients":      {wrongCoef{newFake(1)}, decompose.Options{}, tab, "2 coefficients for 1 columns"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decompose.Decompose(ctx, c.m, c.src, &c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

type twice struct{ *fake }

func (m twice) Blocks(int) []decompose.Block {
	return []decompose.Block{{Term: &decompose.LinearTerm{Column: "x0"}}, {Term: &decompose.LinearTerm{Column: "x0"}}}
}

type wrongCoef struct{ *fake }

func (m wrongCoef) Blocks(int) []decompose.Block {
	return []decompose.Block{{Term: &decompose.LinearTerm{Column: "x0"}, Coef: []float64{1, 2}}}
}

// The curve of a feature that is in two terms, the network's linear one and a
// spline, is identified though the terms are not, and so is its band: that of
// the spline alone without the linear term.
func TestSumOfEntangledTermsHasItsBand(t *testing.T) {
	tab := table(t, 3000, 17)
	smooths := func() []decompose.Block {
		f, err := basis.Parse(`~ s(x0, bs="ps", k=12, sp=0.5) + x1`, &basis.Options{Schema: tab.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := decompose.Prepare(context.Background(), tab, f.Specs, nil)
		if err != nil {
			t.Fatal(err)
		}
		return blocks
	}
	both, err := decompose.With(&blackBox{newFake(1)}, map[string][]decompose.Block{"": append([]decompose.Block{{Term: &decompose.LinearTerm{Column: "x0"}}}, smooths()...)})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := decompose.With(&blackBox{newFake(1)}, map[string][]decompose.Block{"": smooths()})
	if err != nil {
		t.Fatal(err)
	}
	b := all(t, tab, 200)
	r, _ := run(t, both, tab, decompose.Options{})
	if r.Predictors[0].Terms[0].Identified || r.Predictors[0].Terms[1].Identified || !r.Predictors[0].Terms[2].Identified {
		t.Errorf("identified: %v", r.Predictors[0].Terms)
	}
	sum, err := mustApplier(t, r, both).SumEffect(context.Background(), 0, []int{0, 1}, b)
	if err != nil {
		t.Fatal(err)
	}
	one, err := mustApplier(t, r, both).Effect(context.Background(), 0, 1, b)
	if err != nil || !math.IsNaN(one.SE[0]) {
		t.Errorf("band of an unidentified term: %v %v", one.SE[0], err)
	}
	rAlone, _ := run(t, alone, tab, decompose.Options{})
	want, err := mustApplier(t, rAlone, alone).Effect(context.Background(), 0, 0, b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.After {
		near(t, "effect", sum.After[i], want.After[i], 1e-9)
		near(t, "standard error", sum.SE[i], want.SE[i], 1e-9)
	}
	// The split itself: the one of least total variance gives half of the linear
	// effect to each.
	parts := [2]*decompose.Effect{}
	whole := all(t, tab, tab.Rows())
	for j := range parts {
		if parts[j], err = mustApplier(t, r, both).Effect(context.Background(), 0, j, whole); err != nil {
			t.Fatal(err)
		}
	}
	x, _ := whole.Numeric("x0")
	var cov [2]float64
	for j := range cov {
		for i := range x {
			cov[j] += (x[i] - mean(x)) * parts[j].After[i] / float64(len(x))
		}
	}
	near(t, "covariance of x0 with its linear term and its spline", cov[0], cov[1], 1e-9)
}

func TestWhyTermsAreEntangled(t *testing.T) {
	tab := table(t, 3000, 18)
	for formula, want := range map[string]string{
		`~ x0 + s(x0, bs="ps")`:                  "s(x0) contains the linear effect of x0",
		`~ factor(year) + s(year, bs="cr", k=4)`: "the levels of factor(year) span any function of year, and so s(year)",
	} {
		f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := decompose.Prepare(context.Background(), tab, f.Specs, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := decompose.With(&blackBox{newFake(1)}, map[string][]decompose.Block{"": blocks})
		if err != nil {
			t.Fatal(err)
		}
		r, _ := run(t, m, tab, decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}})
		e := r.Predictors[0].Entangled
		if len(e) != 1 || len(e[0].Terms) != 2 || !strings.Contains(e[0].Reason, want) {
			t.Errorf("%s: entangled %v, want %q", formula, e, want)
		}
		if !strings.Contains(strings.Join(r.Warnings, "\n"), want) {
			t.Errorf("%s: warnings %q do not say why", formula, r.Warnings)
		}
	}
}
