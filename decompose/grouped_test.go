package decompose_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// smooth is a black box with formula terms, scanned on src.
func smooth(t testing.TB, src *data.Table, formula string) decompose.Model {
	t.Helper()
	f, err := basis.Parse(formula, &basis.Options{Schema: src.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(context.Background(), src, f.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := decompose.With(&blackBox{newFake(1)}, map[string][]decompose.Block{"": blocks})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// onlyGroup is the source of the rows whose group is g, or is not.
func onlyGroup(t testing.TB, tab *data.Table, g string, is bool) *data.Table {
	t.Helper()
	b := all(t, tab, tab.Rows())
	c, err := b.Codes("day")
	if err != nil {
		t.Fatal(err)
	}
	var rows []int
	for i, l := range c.Index {
		if (c.Levels[l] == g) == is {
			rows = append(rows, i)
		}
	}
	out := data.NewTable(len(rows))
	for _, name := range []string{"x0", "x1", "x2", "w"} {
		v, _ := b.Numeric(name)
		var some []float64
		for _, i := range rows {
			some = append(some, v[i])
		}
		if err := out.AddNumeric(name, some); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestGroupedCrossValidationIsLeavingGroupsOut fits without each group in turn
// and predicts it: the chosen smoothing parameter is the best of its neighbours.
func TestGroupedCrossValidationIsLeavingGroupsOut(t *testing.T) {
	tab := table(t, 600, 30)
	m := smooth(t, tab, `~ s(x0, bs="ps", k=15)`)
	r, _ := run(t, m, tab, decompose.Options{Columns: decompose.Columns{Groups: "day", Weights: "w"}})
	if r.Smoothing != "cv" {
		t.Errorf("smoothing %q", r.Smoothing)
	}
	chosen := r.Predictors[0].Terms[0].SP[0]
	left := func(sp float64) (sum float64) {
		for _, g := range []string{"mon", "tue", "wed"} {
			rest, out := onlyGroup(t, tab, g, false), onlyGroup(t, tab, g, true)
			fit, _ := run(t, m, rest, decompose.Options{Smoothing: decompose.Smoothing{SP: map[string][]float64{"s(x0)": {rescaled(t, m, rest, tab, sp)}}}, Columns: decompose.Columns{Weights: "w"}})
			for parts, err := range mustApplier(t, fit, m).All(context.Background(), out, "w") {
				if err != nil {
					t.Fatal(err)
				}
				w, _ := parts.Batch.Numeric("w")
				for i, u := range parts.Predictors[0].Unstructured {
					sum += w[i] * u * u
				}
			}
		}
		return sum
	}
	best := left(chosen)
	for _, factor := range []float64{0.2, 0.7, 1.4, 5} {
		if other := left(chosen * factor); other < best*(1-1e-6) {
			t.Errorf("lambda %g: squared error of left out groups %g, less than %g at the chosen %g", chosen*factor, other, best, chosen)
		}
	}
}

// rescaled is a smoothing parameter of the scale of all rows on that of some: the
// scale of a penalty is the largest row of its basis, which may be left out.
func rescaled(t testing.TB, m decompose.Model, some, all *data.Table, sp float64) float64 {
	t.Helper()
	norm := func(tab *data.Table) float64 {
		s, err := decompose.Accumulate(context.Background(), m, tab, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s.MaxRowNorm()
	}
	a, b := norm(all), norm(some)
	return sp * a * a / (b * b)
}

func TestGroupsMergeAndKeepBytes(t *testing.T) {
	tab := table(t, 9000, 31)
	m := smooth(t, tab, `~ s(x0, bs="ps", k=12) + x1`)
	var want []byte
	for _, batch := range []int{9000, 700} {
		tab.BatchRows = batch
		r, _ := run(t, m, tab, decompose.Options{Columns: decompose.Columns{Groups: "day"}, Resources: decompose.Resources{Workers: 1 + batch%3}})
		doc, _ := encode(t, r)
		if want == nil {
			want = doc
		} else if !bytes.Equal(doc, want) {
			t.Error("other bytes for other batches")
		}
	}
	for name, c := range map[string]struct{ groups, want string }{
		"unknown": {"nobody", "nobody"},
		"many":    {"y", "more than 100 groups"},
	} {
		_, err := decompose.Decompose(context.Background(), m, tab, &decompose.Options{Columns: decompose.Columns{Groups: c.groups}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestTargetDegreesOfFreedom(t *testing.T) {
	tab := table(t, 1000, 32)
	m := smooth(t, tab, `~ s(x0, bs="ps", k=15) + s(x2, bs="cr")`)
	r, _ := run(t, m, tab, decompose.Options{Smoothing: decompose.Smoothing{DF: map[string]float64{"s(x0)": 4.5}}})
	near(t, "edf", r.Predictors[0].Terms[0].EDF, 4.5, 1e-6)
	if e := r.Predictors[0].Terms[1]; e.EDF1 == nil || *e.EDF1 < e.EDF {
		t.Errorf("edf1 %v of edf %g", e.EDF1, e.EDF)
	}
	for df, want := range map[float64]string{-1: "must be positive", 40: "s(x0)"} {
		_, err := decompose.Decompose(context.Background(), m, tab, &decompose.Options{Smoothing: decompose.Smoothing{DF: map[string]float64{"s(x0)": df}}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("df %g: %v, want %q", df, err, want)
		}
	}
}
