package nam_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/nam"
)

// blackBox has no structure: all of eta is deep.
type blackBox struct {
	features int
	f        func(x []float64) float64
}

func (m *blackBox) Predictors() []string         { return []string{"eta"} }
func (m *blackBox) Columns() []string            { return []string{"x0", "x1", "x2"}[:m.features] }
func (m *blackBox) Intercept(int) float64        { return 0 }
func (m *blackBox) Blocks(int) []decompose.Block { return nil }
func (m *blackBox) Taps() map[string]int         { return nil }
func (m *blackBox) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x := make([]float64, m.features)
	for i := range b.Rows() {
		for j, c := range m.Columns() {
			v, err := b.Numeric(c)
			if err != nil {
				return err
			}
			x[j] = v[i]
		}
		dst.Zeta.Set(i, 0, m.f(x))
		dst.Eta.Set(i, 0, m.f(x))
	}
	return nil
}

func withFormula(t testing.TB, m decompose.Model, src data.Source, text string) decompose.Model {
	t.Helper()
	f, err := basis.Parse(text, &basis.Options{Schema: src.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(t.Context(), src, f.Specs, m.Columns())
	if err != nil {
		t.Fatal(err)
	}
	with, err := decompose.With(m, map[string][]decompose.Block{f.Predictor: blocks})
	if err != nil {
		t.Fatal(err)
	}
	return with
}

// Lines and their products: compared with least squares by QR on the rows, which
// are correlated and weighted.
func TestOrdersAgainstLeastSquares(t *testing.T) {
	m := &blackBox{3, func(x []float64) float64 {
		return 1 + x[0] - x[1] + 0.7*x[0]*x[1] + 0.2*x[2]*x[0] + x[2]*x[2] + 0.3*x[0]*x[1]*x[2]
	}}
	const n = 400
	tab := rows(t, n, 3, 0.5, 2)
	with := withFormula(t, m, tab, "~ x0 + x1 + x2 + x0:x1 + x0:x2 + x1:x2")
	got, r, nested := judge(t, with, tab, "w")
	b := all(t, tab)
	w, _ := b.Numeric("w")
	var x [3][]float64
	for j := range x {
		x[j], _ = b.Numeric(m.Columns()[j])
	}
	eta := run(t, m, b).Eta
	fit := func(columns func(i int) []float64) []float64 {
		p := len(columns(0))
		a, y := mat.NewDense(n, p, nil), mat.NewVecDense(n, nil)
		for i := range n {
			root := math.Sqrt(w[i])
			for l, v := range columns(i) {
				a.Set(i, l, root*v)
			}
			y.SetVec(i, root*eta.At(i, 0))
		}
		var qr mat.QR
		qr.Factorize(a)
		var beta mat.VecDense
		if err := qr.SolveVecTo(&beta, false, y); err != nil {
			t.Fatal(err)
		}
		out := make([]float64, n)
		for i := range out {
			for l, v := range columns(i) {
				out[i] += v * beta.AtVec(l)
			}
		}
		return out
	}
	one := func(i int) []float64 { return []float64{1, x[0][i], x[1][i], x[2][i]} }
	p1 := fit(one)
	p2 := fit(func(i int) []float64 {
		return append(one(i), x[0][i]*x[1][i], x[0][i]*x[2][i], x[1][i]*x[2][i])
	})
	g2 := make([]float64, n)
	for i := range g2 {
		g2[i] = p2[i] - p1[i]
	}
	variance := func(v []float64) float64 { return stat.PopVariance(v, w) }
	if len(got) != 1 || len(got[0].Orders) != 2 {
		t.Fatalf("%+v", got)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"G_1", got[0].Variances[0], variance(p1)},
		{"G_2", got[0].Variances[1], variance(g2)},
		{"total", got[0].Total, variance(mat.Col(nil, 0, eta))},
	} {
		if math.Abs(c.got-c.want) > 1e-10*c.want {
			t.Errorf("variance of %s %.15g, least squares %.15g", c.name, c.got, c.want)
		}
	}
	if o := got[0].Orders; !slices.Equal(o[0].Terms, []string{"x0", "x1", "x2"}) || !slices.Equal(o[1].Terms, []string{"x0:x1", "x0:x2", "x1:x2"}) || !slices.Equal(got[0].Ranks, []int{4, 7}) {
		t.Errorf("orders %+v", o)
	}
	// The shares that come with any decomposition are the judge's.
	sameOrders(t, with, tab, &decompose.Options{Columns: decompose.Columns{Weights: "w"}}, 1e-10)
	// By rows, from the applier.
	a, err := r.Applier(nested)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := a.Parts(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for k, want := range [][]float64{p1, p2} {
			if got := eta.At(i, 0) - parts.Predictors[k].Unstructured[i]; math.Abs(got-want[i]) > 1e-9 {
				t.Fatalf("row %d: projection %d is %g, least squares %g", i, k+1, got, want[i])
			}
		}
	}
}

// sameOrders compares the orders of a decomposition with the judge's.
func sameOrders(t testing.TB, m decompose.Model, src data.Source, o *decompose.Options, tolerance float64) *decompose.Result {
	t.Helper()
	want, _, _ := judge(t, m, src, o.Weights)
	o.Orders = true
	r, err := decompose.Decompose(t.Context(), m, src, o)
	if err != nil {
		t.Fatal(err)
	}
	for k, w := range want {
		p := r.Predictors[k]
		if len(p.Orders) != len(w.Orders) {
			t.Fatalf("predictor %d: %+v, by decompositions of their own %+v", k, p.Orders, w.Orders)
		}
		sum := *p.OrdersRemainder
		for i, o := range p.Orders {
			sum += o.Share
			if o.Order != w.Orders[i].Order || !slices.Equal(o.Terms, w.Orders[i].Terms) || !(math.Abs(o.Share-w.Orders[i].Share) <= tolerance) {
				t.Errorf("predictor %d: %+v, by a decomposition of its own %+v", k, o, w.Orders[i])
			}
		}
		if rest := w.Remainder / w.Total; !(math.Abs(*p.OrdersRemainder-rest) <= tolerance) || math.Abs(sum-1) > 1e-12 {
			t.Errorf("predictor %d: remainder %.12g, of its own decomposition %.12g; shares add to %.15g", k, *p.OrdersRemainder, rest, sum)
		}
	}
	return r
}

// The orders of one decomposition, penalised or not, are those of a projection for each
// order, and add up, whatever the spaces, also for learned terms with coefficients.
func TestOrdersAreNestedProjections(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.SliceOfN(rapid.Float64Range(-2, 2), 4, 4).Draw(rt, "coefficients")
		deep := func(x []float64) float64 {
			return c[0]*math.Sin(x[0]) + c[1]*x[1]*x[2] + c[2]*math.Exp(x[0]/2)*x[1] + c[3]*x[0]*x[1]*x[2] + 0.01*x[2]
		}
		tab := rows(t, 600, 3, rapid.Float64Range(0, 0.5).Draw(rt, "rho"), rapid.Uint64Range(1, 50).Draw(rt, "seed"))
		text := rapid.SampledFrom([]string{
			`~ s(x0, bs="cr", k=4) + s(x1, bs="cr", k=4) + s(x2, bs="cr", k=3) + te(x0, x1, k=4) + te(x1, x2, k=c(4,3))`,
			`~ s(x0, bs="cr", k=4) + s(x1, bs="cr", k=5) + x2 + ti(x0, x1, k=c(4,5)) + x1:x2`,
		}).Draw(rt, "formula")
		o := &decompose.Options{}
		if rapid.Bool().Draw(rt, "unpenalised") {
			o.Method = decompose.PHO
		}
		o.Weights = rapid.SampledFrom([]string{"", "w"}).Draw(rt, "weights")
		var m decompose.Model = &blackBox{3, deep}
		if rapid.Bool().Draw(rt, "network of terms") {
			net := newNAM(3, 2)
			net.deep = deep
			m = net
			o.RankTolerance = 1e-6 // for both: what hardly varies is dropped by coordinates
		}
		// 1e-8: te's margins repeat the smooths' columns to rounding.
		sameOrders(t, withFormula(t, m, tab, text), tab, o, 1e-8)
	})
}

// Main effects that the margins of a pair's basis can express are no interactions, whether
// or not the terms of one column can express them.
func TestOrdersCountMarginsOfPairs(t *testing.T) {
	tab := rows(t, 2000, 3, 0.4, 3)
	m := &blackBox{3, func(x []float64) float64 { return math.Sin(2*x[0]) + x[1]*x[1] }}
	shares := func(text string) []decompose.Order {
		r, err := decompose.Decompose(t.Context(), withFormula(t, m, tab, text), tab, &decompose.Options{Orders: true})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return r.Predictors[0].Orders
	}
	whole := shares(`~ s(x0, k=12, bs="cr") + s(x1, k=12, bs="cr") + te(x0, x1, k=12)`)
	for _, text := range []string{
		`~ te(x0, x1, k=12)`, // no term of one column at all
		`~ ti(x0, x1, k=12)`,
		`~ x0 + x1 + te(x0, x1, k=12)`,
		`~ x0 + s(x1, k=4, bs="cr") + ti(x0, x1, k=12)`,
	} {
		got := shares(text)
		if len(got) != 2 || math.Abs(got[0].Share-whole[0].Share) > 1e-4 || got[0].Share < 0.99 || got[1].Share > 0.002 {
			t.Errorf("%s: %+v, want the additive eta to be of order 1 as in %+v", text, got, whole)
		}
	}
	// Thin plate margins contain the constant in one column.
	if got := shares(`~ te(x0, x1, k=9, bs="tp")`); got[0].Share < 0.99 {
		t.Errorf("thin plate margins: %+v", got)
	}
	three := shares(`~ te(x0, x1, x2, k=4)`)
	if len(three) != 3 || len(three[0].Terms) != 0 || len(three[2].Terms) != 1 {
		t.Errorf("a product of three: %+v, want orders 1, 2 and 3", three)
	}
}

// Several predictors: each has its own orders; one without terms is all remainder.
func TestOrdersOfLearnedTerms(t *testing.T) {
	m := newNAM(2, 6, [2]int{0, 1})
	m.deep = func(x []float64) float64 { return 0.5 * m.unit(0, x[0]) * m.unit(1, x[1]) }
	r := sameOrders(t, m, rows(t, 500, 2, 0, 1), &decompose.Options{}, 1e-9)
	o := r.Predictors[0]
	if len(o.Orders) != 2 || !(o.Orders[1].Share > 0.01) || !(*o.OrdersRemainder < 1e-6) {
		t.Errorf("%+v: eta is in the span of the terms, with an interaction", o.Orders)
	}
	for _, kind := range []nam.Variant{nam.Learned, nam.Spline} {
		tab := rows(t, 500, 2, 0.5, 1)
		prepared, _, err := nam.Prepare(t.Context(), m, tab, kind, nil)
		if err != nil {
			t.Fatal(err)
		}
		sameOrders(t, prepared, tab, &decompose.Options{Projection: decompose.Projection{RankTolerance: 1e-4}}, 1e-8)
	}
}

// Sums added from shards equal the sums of one pass, and so does the factor of the rows.
func TestOrdersFromShardsAndFactor(t *testing.T) {
	m := &blackBox{2, func(x []float64) float64 { return math.Sin(x[0]) + x[0]*x[1]*x[1] }}
	tab := rows(t, 9000, 2, 0.5, 4)
	with := withFormula(t, m, tab, `~ s(x0, bs="cr", k=5) + te(x0, x1, k=5)`)
	o := &decompose.Options{Orders: true}
	whole, err := decompose.Decompose(t.Context(), with, tab, o)
	if err != nil {
		t.Fatal(err)
	}
	var sum *decompose.Statistics
	for i, at := range [][2]int{{0, 4096}, {4096, 8192}, {8192, 9000}} {
		shard := *o
		shard.FirstChunk = i
		s, err := decompose.Accumulate(t.Context(), with, part(t, tab, at[0], at[1]), &shard)
		if err != nil {
			t.Fatal(err)
		}
		if sum == nil {
			sum = s
		} else if err := sum.Merge(s); err != nil {
			t.Fatal(err)
		}
	}
	merged, err := decompose.Solve(t.Context(), with, sum, o)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(merged.Predictors[0].Orders, whole.Predictors[0].Orders) {
		t.Errorf("from shards %+v, in one pass %+v", merged.Predictors[0].Orders, whole.Predictors[0].Orders)
	}
	qr := *o
	qr.Route = decompose.QR
	factor, err := decompose.Decompose(t.Context(), with, tab, &qr)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range factor.Predictors[0].Orders {
		if math.Abs(f.Share-whole.Predictors[0].Orders[i].Share) > 1e-9 {
			t.Errorf("by the factor %+v, by products %+v", f, whole.Predictors[0].Orders[i])
		}
	}
	if whole.Predictors[0].Orders[0].Share < 0.3 || whole.Predictors[0].Orders[1].Share < 0.1 {
		t.Errorf("%+v: sin(x0) + x0 x1^2 has both", whole.Predictors[0].Orders)
	}
}

// part is rows [from, to) of a table of numbers.
func part(t testing.TB, tab *data.Table, from, to int) *data.Table {
	t.Helper()
	b := all(t, tab)
	out := data.NewTable(to - from)
	for _, c := range tab.Schema() {
		x, err := b.Numeric(c.Name)
		if err != nil {
			t.Fatal(err)
		}
		if err := out.AddNumeric(c.Name, x[from:to]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestOrdersRefuse(t *testing.T) {
	tab := rows(t, 50, 3, 0, 1)
	m := &blackBox{3, func(x []float64) float64 { return x[0] }}
	for _, c := range []struct{ text, want string }{
		{"~ x0 + x0:x1", `"x0:x1" would count its main effects as interactions: add terms of "x1" alone by a formula`},
		{"~ s(x0, x1)", `"s(x0,x1)" would count its main effects as interactions: add terms of "x0", "x1" alone by a formula`},
	} {
		_, err := decompose.Decompose(t.Context(), withFormula(t, m, tab, c.text), tab, &decompose.Options{Orders: true})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.text, err, c.want)
		}
	}
	r, err := decompose.Decompose(t.Context(), m, tab, &decompose.Options{Orders: true})
	if err != nil || len(r.Predictors[0].Orders) != 0 || *r.Predictors[0].OrdersRemainder != 1 {
		t.Errorf("no term at all: %+v, %v; want all of eta in the remainder", r, err)
	}
}

// A constant eta has no shares, and rows that terms reproduce no remainder.
func TestOrdersOfOddRows(t *testing.T) {
	tab := rows(t, 12, 3, 0, 1)
	for _, c := range []struct {
		name string
		f    func(x []float64) float64
		rest float64
	}{
		{"constant", func([]float64) float64 { return 3 }, 0},
		{"saturated", func(x []float64) float64 { return math.Exp(x[0] + x[1]) }, 0},
	} {
		r, err := decompose.Decompose(t.Context(), withFormula(t, &blackBox{3, c.f}, tab, "~ te(x0, x1, k=5)"), tab,
			&decompose.Options{Orders: true, Projection: decompose.Projection{Method: decompose.PHO}})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		p := r.Predictors[0]
		sum := *p.OrdersRemainder
		for _, o := range p.Orders {
			sum += o.Share
			if o.Share < 0 || math.IsNaN(o.Share) {
				t.Errorf("%s: %+v", c.name, o)
			}
		}
		if math.Abs(*p.OrdersRemainder-c.rest) > 1e-9 && c.name == "saturated" || c.name == "saturated" && math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: orders %+v, remainder %g", c.name, p.Orders, *p.OrdersRemainder)
		}
	}
}

// Cells of two factors: order 1 is the additive model of both, as the least squares of its
// indicators gives it, with or without terms of single factors; names of levels and the
// order of factors do not matter, nor do cells that never occur.
func TestOrdersOfFactors(t *testing.T) {
	const n = 600
	random := rand.New(rand.NewPCG(5, 6))
	a, b, x, w := make([]int, n), make([]int, n), make([]float64, n), make([]float64, n)
	for i := range n {
		a[i] = random.IntN(4)
		b[i] = min(random.IntN(4)+a[i]/2, 4) // dependent; some cells are empty
		x[i] = float64(a[i]*a[i]) - 2*float64(b[i]) + float64(a[i]*b[i]%3) + 0.1*random.NormFloat64()
		w[i] = float64(random.IntN(3))
	}
	shares := func(formula string, name func(factor string, level int) string) []decompose.Order {
		tab := data.NewTable(n)
		at, bt := make([]string, n), make([]string, n)
		for i := range n {
			at[i], bt[i] = name("a", a[i]), name("b", b[i])
		}
		for _, err := range []error{tab.AddTexts("a", at), tab.AddTexts("b", bt), tab.AddNumeric("x0", x), tab.AddNumeric("w", w)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		m := withFormula(t, &blackBox{1, func(x []float64) float64 { return x[0] }}, tab, formula)
		r, err := decompose.Decompose(t.Context(), m, tab, &decompose.Options{Orders: true, Columns: decompose.Columns{Weights: "w"}})
		if err != nil {
			t.Fatalf("%s: %v", formula, err)
		}
		return r.Predictors[0].Orders
	}
	plain := func(f string, level int) string { return fmt.Sprint(f, level) }
	want := shares("~ a + b + a:b", plain)
	design, y := mat.NewDense(n, 9, nil), mat.NewVecDense(n, nil)
	for i := range n {
		root := math.Sqrt(w[i])
		design.Set(i, 0, root)
		if a[i] > 0 {
			design.Set(i, a[i], root)
		}
		if b[i] > 0 {
			design.Set(i, 3+b[i], root)
		}
		y.SetVec(i, root*x[i])
	}
	var beta, fitted mat.VecDense
	if err := beta.SolveVec(design.Slice(0, n, 0, 8), y); err != nil {
		t.Fatal(err)
	}
	fitted.MulVec(design.Slice(0, n, 0, 8), &beta)
	values := make([]float64, n)
	for i := range n {
		if w[i] > 0 {
			values[i] = fitted.AtVec(i) / math.Sqrt(w[i])
		}
	}
	if share := stat.PopVariance(values, w) / stat.PopVariance(x, w); math.Abs(want[0].Share-share) > 1e-10 {
		t.Errorf("main effects %.12g, by least squares %.12g", want[0].Share, share)
	}
	backwards := func(f string, level int) string { return fmt.Sprint(f, 9-level*level) }
	for _, got := range [][]decompose.Order{shares("~ a:b", plain), shares("~ b:a", plain), shares("~ b + a + a:b", backwards), shares("~ b + a:b", backwards)} {
		for i := range want {
			if len(got) != len(want) || math.Abs(got[i].Share-want[i].Share) > 1e-10 {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
	}
}
