package nam_test

import (
	"context"
	"math"
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
	got, r, err := nam.Orders(t.Context(), with, tab, &decompose.Options{Columns: decompose.Columns{Weights: "w"}})
	if err != nil {
		t.Fatal(err)
	}
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
		{"G_1", got[0].Orders[0].Variance, variance(p1)},
		{"G_2", got[0].Orders[1].Variance, variance(g2)},
		{"total", got[0].Total, variance(mat.Col(nil, 0, eta))},
	} {
		if math.Abs(c.got-c.want) > 1e-10*c.want {
			t.Errorf("variance of %s %.15g, least squares %.15g", c.name, c.got, c.want)
		}
	}
	if o := got[0].Orders; !slices.Equal(o[0].Terms, []string{"x0", "x1", "x2"}) || !slices.Equal(o[1].Terms, []string{"x0:x1", "x0:x2", "x1:x2"}) || o[0].Rank != 4 || o[1].Rank != 7 {
		t.Errorf("orders %+v", o)
	}
	// By rows, from the applier.
	nested, err := nam.OrderModel(with)
	if err != nil {
		t.Fatal(err)
	}
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

// The orders and the remainder add up to the variance of eta, whatever the spaces.
func TestOrdersAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.SliceOfN(rapid.Float64Range(-2, 2), 4, 4).Draw(rt, "coefficients")
		m := &blackBox{3, func(x []float64) float64 {
			return c[0]*math.Sin(x[0]) + c[1]*x[1]*x[2] + c[2]*math.Exp(x[0]/2)*x[1] + c[3]*x[0]*x[1]*x[2] + 0.01*x[2]
		}}
		tab := rows(t, 300, 3, rapid.Float64Range(0, 0.9).Draw(rt, "rho"), rapid.Uint64Range(1, 50).Draw(rt, "seed"))
		text := rapid.SampledFrom([]string{
			`~ s(x0, bs="cr", k=4) + s(x1, bs="cr", k=4) + s(x2, bs="cr", k=4) + te(x0, x1, k=4) + te(x1, x2, k=3)`,
			`~ s(x0, bs="cr", k=6) + s(x1, bs="ps", k=6) + x2 + ti(x0, x1, k=4) + x1:x2`,
		}).Draw(rt, "formula")
		got, _, err := nam.Orders(t.Context(), withFormula(t, m, tab, text), tab, nil)
		if err != nil {
			rt.Fatal(err)
		}
		sum, shares := got[0].Remainder, got[0].Remainder/got[0].Total
		for _, o := range got[0].Orders {
			sum, shares = sum+o.Variance, shares+o.Share
			if o.Variance < 0 {
				rt.Fatalf("order %d has variance %g", o.Order, o.Variance)
			}
		}
		if math.Abs(sum-got[0].Total) > 1e-8*got[0].Total || math.Abs(shares-1) > 1e-8 {
			rt.Fatalf("%g in all, of %g", sum, got[0].Total)
		}
	})
}

// Main effects and interactions of a network's own learned bases.
func TestOrdersOfLearnedTerms(t *testing.T) {
	m := newNAM(2, 6, [2]int{0, 1})
	m.deep = func(x []float64) float64 { return 0.5 * m.unit(0, x[0]) * m.unit(1, x[1]) }
	got, _, err := nam.Orders(t.Context(), m, rows(t, 500, 2, 0, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	o := got[0]
	if len(o.Orders) != 2 || !(o.Orders[1].Share > 0.01) || !(o.Remainder < 1e-6*o.Total) {
		t.Errorf("%+v: eta is in the span of the terms, with an interaction", o)
	}
}

func TestOrdersRefuse(t *testing.T) {
	tab := rows(t, 50, 3, 0, 1)
	m := &blackBox{3, func(x []float64) float64 { return x[0] }}
	for _, c := range []struct {
		text, want string
		o          *decompose.Options
	}{
		{"~ x0 + x0:x1", `nam: predictor "eta": term "x0:x1" needs a term of "x1" alone next to it, or its main effect would count as an interaction`, nil},
		{"~ x0", `nam: orders of interaction are orthogonal projections: method "phogam" does not apply`, &decompose.Options{Projection: decompose.Projection{Method: decompose.PHOGAM}}},
		{"~ x0", `nam: orders of interaction take no family, groups, refit, or projection without an intercept`, &decompose.Options{Projection: decompose.Projection{RefitTotal: true}}},
	} {
		if _, _, err := nam.Orders(t.Context(), withFormula(t, m, tab, c.text), tab, c.o); err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.text, err, c.want)
		}
	}
	if _, _, err := nam.Orders(t.Context(), m, tab, nil); err == nil || !strings.Contains(err.Error(), "has no terms") {
		t.Errorf("error %v", err)
	}
}
