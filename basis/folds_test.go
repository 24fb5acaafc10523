package basis

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// TestFoldsKnowNothingOfEachOther: one formula prepared on two folds gives the terms
// of two formulas. The second fold has other levels, ranges and points.
func TestFoldsKnowNothingOfEachOther(t *testing.T) {
	const text = `~ x + g + g:x + s(x, bs="ps") + s(z) + s(x, z, k=12) + s(x, by=g, k=6)
		+ s(z, by=x, bs="cr", k=5) + te(x, z, k=4) + ti(x, z, k=4) + s(g, bs="re") + s(x, g, bs="fs", k=5) + te(x, bs="cc", k=6)`
	schema := data.Schema{{Name: "x", Numeric: true}, {Name: "z", Numeric: true}, {Name: "g", Categorical: true}}
	fold := func(shift float64, levels ...string) *data.Table {
		const n = 60
		x, z, g := make([]float64, n), make([]float64, n), make([]string, n)
		for i := range n {
			x[i], z[i], g[i] = shift+float64(i%23)-11, shift-float64(i*i%31), levels[i%len(levels)]
		}
		tab := data.NewTable(n)
		must(t, tab.AddNumeric("x", x))
		must(t, tab.AddNumeric("z", z))
		must(t, tab.AddTexts("g", g))
		return tab
	}
	specs := func() []decompose.Spec {
		f, err := Parse(text, &Options{Schema: schema})
		must(t, err)
		return f.Specs
	}
	prepared := func(specs []decompose.Spec, rows *data.Table) []decompose.Block {
		blocks, err := decompose.Prepare(context.Background(), rows, specs, nil)
		must(t, err)
		return blocks
	}
	once := specs()
	for _, rows := range []*data.Table{fold(0, "a", "b"), fold(3, "c", "d", "e"), fold(0, "a", "b")} {
		got, want := prepared(once, rows), prepared(specs(), rows)
		if len(got) != len(want) {
			t.Fatalf("%d blocks, want %d", len(got), len(want))
		}
		for i := range want {
			if g, w := marshalled(t, got[i].Term), marshalled(t, want[i].Term); g != w {
				t.Errorf("term %s: on a second fold it is\n%.300s\nwant\n%.300s", want[i].Term.Name(), g, w)
			}
		}
	}
}

// marshalled is the spec of a term as artifacts hold it: knots, levels and all.
func marshalled(t *testing.T, term decompose.Term) string {
	t.Helper()
	spec, err := json.Marshal(term)
	must(t, err)
	return string(spec)
}
