package diagnostics_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/diagnostics"
)

// column is a "network" whose deep part is a column of the data.
type column string

func (c column) Predictors() []string         { return []string{"eta"} }
func (c column) Columns() []string            { return []string{string(c)} }
func (c column) Intercept(int) float64        { return 0 }
func (c column) Blocks(int) []decompose.Block { return nil }
func (c column) Taps() map[string]int         { return nil }
func (c column) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	v, err := b.Numeric(string(c))
	if err != nil {
		return err
	}
	dst.Zeta.SetCol(0, v)
	dst.Eta.SetCol(0, v)
	return nil
}

func check(t *testing.T, tab *data.Table, formula string, o decompose.Options) *decompose.Result {
	t.Helper()
	ctx := context.Background()
	f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(ctx, tab, f.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := decompose.With(column(f.Response), map[string][]decompose.Block{"": blocks})
	if err != nil {
		t.Fatal(err)
	}
	o.Visitors = []decompose.Visitor{diagnostics.NewKCheck(1)}
	r, err := decompose.Decompose(ctx, m, tab, &o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestIndexIsMgcvs(t *testing.T) {
	var want struct {
		Formula string
		KIndex  []float64 `json:"k_index"`
		P       []float64 `json:"p_value"`
	}
	read(t, "../testdata/golden/diagnostics/small.json", &want)
	var doc struct {
		Rows    int
		Columns map[string]json.RawMessage
	}
	read(t, "../testdata/golden/mgcv/data_small.json", &doc)
	tab := data.NewTable(doc.Rows)
	for name, raw := range doc.Columns {
		var v []float64
		if json.Unmarshal(raw, &v) == nil {
			if err := tab.AddNumeric(name, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := check(t, tab, want.Formula, decompose.Options{})
	for j, term := range r.Predictors[0].Terms {
		if d := math.Abs(term.KCheck.Index - want.KIndex[j]); d > 1e-7 {
			t.Errorf("%s: index %g, mgcv's %g", term.Name, term.KCheck.Index, want.KIndex[j])
		}
		// 400 random orders: the standard error of p is at most 0.025.
		if d := math.Abs(term.KCheck.P - want.P[j]); d > 0.1 {
			t.Errorf("%s: p %g, mgcv's %g", term.Name, term.KCheck.P, want.P[j])
		}
	}
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// wave has a fast effect of a that few basis functions cannot follow, and none
// of b; the rest is noise.
func wave(t *testing.T, n int) *data.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	a, b, y, w := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		a[i], b[i], w[i] = r.Float64(), r.Float64(), float64(i%3)
		y[i] = math.Sin(40*a[i]) + 0.5*r.NormFloat64()
	}
	tab := data.NewTable(n)
	for name, v := range map[string][]float64{"a": a, "b": b, "y": y, "w": w} {
		if err := tab.AddNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

func TestTooFewBasisFunctionsAreNoticed(t *testing.T) {
	for _, weights := range []string{"", "w"} {
		tab := wave(t, 20_000)
		few := check(t, tab, `y ~ s(a, bs="ps", k=6) + s(b, bs="ps", k=6)`, decompose.Options{Columns: decompose.Columns{Weights: weights}})
		a, b := few.Predictors[0].Terms[0].KCheck, few.Predictors[0].Terms[1].KCheck
		if a.P > 0.01 || a.Index > 0.7 {
			t.Errorf("k=6 for sin(40 a): index %g, p %g", a.Index, a.P)
		}
		if b.P < 0.01 {
			t.Errorf("no effect of b: index %g, p %g", b.Index, b.P)
		}
		if a.Rows != 5000 {
			t.Errorf("%d rows of 20000 were looked at, want 5000", a.Rows)
		}
		enough := check(t, tab, `y ~ s(a, bs="ps", k=40)`, decompose.Options{Columns: decompose.Columns{Weights: weights}}).Predictors[0].Terms[0].KCheck
		if enough.P < 0.01 {
			t.Errorf("k=40 for sin(40 a): index %g, p %g", enough.Index, enough.P)
		}
	}
}

func TestSameForAnyBatchesAndWorkers(t *testing.T) {
	tab := wave(t, 12_000)
	want := check(t, tab, `y ~ s(a, bs="ps", k=6)`, decompose.Options{Resources: decompose.Resources{Workers: 1}}).Predictors[0].Terms[0].KCheck
	tab.BatchRows = 77
	got := check(t, tab, `y ~ s(a, bs="ps", k=6)`, decompose.Options{Resources: decompose.Resources{Workers: 7}}).Predictors[0].Terms[0].KCheck
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNothingLeftIsNoCheck(t *testing.T) {
	tab := data.NewTable(100)
	x := make([]float64, 100)
	for i := range x {
		x[i] = float64(i)
	}
	if err := tab.AddNumeric("x", x); err != nil {
		t.Fatal(err)
	}
	if err := tab.AddNumeric("y", make([]float64, 100)); err != nil {
		t.Fatal(err)
	}
	if k := check(t, tab, `y ~ s(x, bs="ps", k=6)`, decompose.Options{}).Predictors[0].Terms[0].KCheck; k != nil {
		t.Errorf("k-check of a predictor that is zero: %v", k)
	}
}
