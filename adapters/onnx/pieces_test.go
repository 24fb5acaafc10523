package onnx

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/nam"
)

// unitByUnit is m with the units of all learned terms as tensors, as they were before pieces: the judge.
func unitByUnit(t *testing.T, m *Model) *Model {
	t.Helper()
	o, err := m.WithEngine(GoEngine{})
	if err != nil {
		t.Fatal(err)
	}
	o.pieces, o.widths, o.blocks, o.termColumns = nil, map[string]int{}, nil, nil
	o.findSources()
	o.makeBlocks()
	if err := o.prepare(GoEngine{}); err != nil {
		t.Fatal(err)
	}
	return o
}

// namRows are rows of eight columns, a few of them far out.
func namRows(t *testing.T, n int) (*data.Table, []string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	table := data.NewTable(n)
	var names []string
	for j := range 8 {
		x := make([]float64, n)
		for i := range x {
			if x[i] = rng.NormFloat64(); i%97 == j {
				x[i] *= 1e3
			}
		}
		names = append(names, fmt.Sprintf("x%d", j))
		if err := table.AddNumeric(names[j], x); err != nil {
			t.Fatal(err)
		}
	}
	return table, names
}

// A neural additive model with a deep part is decomposed as its units, computed one by one, are: the functions, the fit and
// its bands, by any number of workers.
func TestPiecesOfUnits(t *testing.T) {
	ctx := context.Background()
	table, names := namRows(t, 9000)
	g, err := Load(bytes.NewReader(namWith(t, true)), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewModel(g, Binding{{Input: "x", Columns: names}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	judge := unitByUnit(t, m)
	for name, width := range m.Taps() {
		if width != 1 || judge.Taps()[name] != 32 {
			t.Fatalf("tap %q has %d numbers, and %d one by one", name, width, judge.Taps()[name])
		}
	}

	var results []*decompose.Result
	var terms []*mat.Dense
	var eta [][]float64
	for _, o := range []struct {
		m       *Model
		workers int
		route   decompose.Route
	}{{m, 1, decompose.Gram}, {m, 3, decompose.Gram}, {judge, 1, decompose.Gram}, {judge, 1, decompose.QR}} {
		model, _, err := nam.Prepare(ctx, o.m, table, nam.Learned, nil)
		if err != nil {
			t.Fatal(err)
		}
		options := &decompose.Options{}
		options.Workers, options.Route = o.workers, o.route
		r, err := decompose.Decompose(ctx, model, table, options)
		if err != nil {
			t.Fatal(err)
		}
		a, err := r.Applier(model)
		if err != nil {
			t.Fatal(err)
		}
		parts := new(mat.Dense)
		var own []float64
		for p, err := range a.WithErrors().All(ctx, table) {
			if err != nil {
				t.Fatal(err)
			}
			d := p.Predictors[0]
			var both mat.Dense
			both.Augment(d.Terms, d.SE)
			if parts.IsEmpty() {
				parts.CloneFrom(&both)
			} else {
				var all mat.Dense
				all.Stack(parts, &both)
				parts = &all
			}
			own = append(own, d.Eta...)
		}
		results, terms, eta = append(results, r), append(terms, parts), append(eta, own)
	}
	if !mat.Equal(terms[0], terms[1]) {
		t.Error("the parts depend on the number of workers")
	}
	// Units nearly repeat one another, so that rounding comes back multiplied: as in the judge's own two routes.
	rows, columns := terms[2].Dims()
	for kind, what := range []string{"terms", "standard errors"} {
		off, routes := 0.0, 0.0
		for j := kind * columns / 2; j < (kind+1)*columns/2; j++ {
			size := 0.0
			for i := range rows {
				size = max(size, math.Abs(terms[2].At(i, j)))
			}
			for i := range rows {
				off = max(off, math.Abs(terms[0].At(i, j)-terms[2].At(i, j))/size)
				routes = max(routes, math.Abs(terms[3].At(i, j)-terms[2].At(i, j))/size)
			}
		}
		if !(off <= 4*routes) {
			t.Errorf("%s are off by %.2g, the judge's by its two routes by %.2g", what, off, routes)
		}
	}
	for i, v := range eta[0] {
		if math.Abs(v-eta[2][i]) > 1e-11*(1+math.Abs(v)) {
			t.Fatalf("row %d: eta %v, one by one %v", i, v, eta[2][i])
		}
	}
	p, q := results[0].Predictors[0], results[2].Predictors[0]
	if p.Rank != q.Rank || math.Abs(p.EDF-q.EDF) > 1e-7*q.EDF {
		t.Errorf("rank %d and %g degrees of freedom, one by one %d and %g", p.Rank, p.EDF, q.Rank, q.EDF)
	}
}
