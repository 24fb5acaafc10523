package ort_test

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/ort"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
)

// rowsFor are rows of standard normal numbers for the columns of m.
func rowsFor(t testing.TB, m decompose.Model, n int) *data.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	table := data.NewTable(n)
	for _, name := range m.Columns() {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(float32(rng.NormFloat64()))
		}
		if err := table.AddNumeric(name, x); err != nil {
			t.Fatal(err)
		}
	}
	return table
}

// TestModel: a network with terms of its own, learned ones and a deep part, all of them
// tensors inside the graph, is the same model by both engines.
func TestModel(t *testing.T) {
	e := engine(t, ort.Options{})
	for _, name := range []string{"ssn_apart", "nam_deep_op17", "nam_bmm", "nam_conv"} {
		file := filepath.Join("..", "..", "..", "testdata", "golden", "models", name+".onnx")
		g, err := onnx.LoadFile(file, &onnx.LoadOptions{KeepFile: true})
		if err != nil {
			t.Fatal(err)
		}
		var results []*decompose.Result
		for _, by := range []onnx.Engine{onnx.GoEngine{}, e} {
			m, err := onnx.NewModel(g, onnx.Unbound(g), &onnx.Options{Engine: by})
			if err != nil {
				t.Fatal(err)
			}
			table := rowsFor(t, m, 700)
			for b, err := range table.Batches(context.Background(), m.Columns()) {
				if err != nil {
					t.Fatal(err)
				}
				if err := decomposetest.Model(m, b, 1e-5); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			r, err := decompose.Decompose(context.Background(), m, table, nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			results = append(results, r)
		}
		for k, own := range results[0].Predictors {
			other := results[1].Predictors[k]
			if len(own.Terms) == 0 || len(other.Terms) != len(own.Terms) {
				t.Fatalf("%s: %d terms, and %d by ONNX Runtime", name, len(own.Terms), len(other.Terms))
			}
			for j, term := range own.Terms {
				for i, a := range term.Alpha {
					if b := other.Terms[j].Alpha[i]; !(math.Abs(a-b) <= 1e-3*(1+math.Abs(a))) {
						t.Errorf("%s: term %q: alpha %v is %v by ONNX Runtime", name, term.Name, a, b)
					}
				}
			}
		}
	}
}

// BenchmarkForward: the outputs of one network by both engines, 65,536 rows a turn, one
// goroutine.
func BenchmarkForward(b *testing.B) {
	g, err := onnx.LoadFile(filepath.Join("..", "..", "..", "testdata", "golden", "models", "ssn_apart.onnx"), &onnx.LoadOptions{KeepFile: true})
	if err != nil {
		b.Fatal(err)
	}
	in, out := g.Inputs()[0], g.Outputs()[0]
	const rows = 1 << 16
	x, y := make([]float64, rows*in.Width()), make([]float64, rows*out.Width())
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	for name, e := range map[string]onnx.Engine{"go": onnx.GoEngine{Precision: onnx.Single}, "ort": engine(b, ort.Options{})} {
		p, err := e.Prepare(g, []string{out.Name})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := p.Run([][]float64{y}, [][]float64{x}, rows); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
