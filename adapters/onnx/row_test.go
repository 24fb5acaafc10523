package onnx

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// namModel is the sum of eight networks 1-64-64-32-1 with ReLU.
func namModel(t testing.TB) []byte { return namWith(t, false) }

// namWith is namModel, with a network 8-16-1 of all inputs added or not.
func namWith(t testing.TB, deep bool) []byte {
	rng := rand.New(rand.NewPCG(7, 8))
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 8)
	var parts []string
	for f := range 8 {
		name := func(part string, i int) string { return fmt.Sprintf("%s%d_%d", part, f, i) }
		b.AddInts(name("start", 0), int64(f))
		b.AddInts(name("end", 0), int64(f+1))
		b.AddInts(name("axis", 0), 1)
		at := name("x", 0)
		b.AddNode("Slice", graphtest.In("x", name("start", 0), name("end", 0), name("axis", 0)), at)
		sizes := []int{1, 64, 64, 32, 1}
		for i, k := range sizes[:4] {
			n := sizes[i+1]
			w, c := make([]float64, n*k), make([]float64, n)
			for j := range w {
				w[j] = rng.NormFloat64() / float64(k)
			}
			for j := range c {
				c[j] = 0.1 * rng.NormFloat64()
			}
			b.AddInit(name("w", i), []int{n, k}, w...)
			b.AddInit(name("b", i), []int{n}, c...)
			b.AddNode("Gemm", graphtest.In(at, name("w", i), name("b", i)), name("g", i), onnxpb.Int("transB", 1))
			if at = name("g", i); i < 3 {
				b.AddNode("Relu", graphtest.In(at), name("h", i))
				at = name("h", i)
			}
		}
		parts = append(parts, at)
	}
	if deep {
		numbers := func(n int) (v []float64) {
			for range n {
				v = append(v, rng.NormFloat64()/3)
			}
			return v
		}
		b.AddInit("w", []int{8, 16}, numbers(8*16)...)
		b.AddInit("v", []int{16, 1}, numbers(16)...)
		b.AddNode("MatMul", graphtest.In("x", "w"), "hidden")
		b.AddNode("Tanh", graphtest.In("hidden"), "units")
		b.AddNode("MatMul", graphtest.In("units", "v"), "deep")
		parts = append(parts, "deep")
	}
	b.AddNode("Sum", parts, "y")
	b.Output("y", graphtest.TFloat, onnxpb.Rows, 1)
	return graphtest.Bytes(t, b)
}

// rowApplier decomposes a network on generated rows, ten of its columns in
// splines if asked for, and gives one more row of data.
func rowApplier(t testing.TB, model []byte, columns int, splines bool) (*decompose.Applier, *data.Batch) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(9, 10))
	table, row := data.NewTable(3000), data.NewBatch(1, 0)
	var names []string
	formula := ""
	for j := range columns {
		x := make([]float64, 3000)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		names = append(names, fmt.Sprintf("x%d", j))
		formula += fmt.Sprintf("+ s(x%d, bs=\"ps\", k=20) ", j)
		must(table.AddNumeric(names[j], x))
		must(row.SetNumeric(names[j], []float64{x[17]}))
	}
	g, err := Load(bytes.NewReader(model), nil)
	must(err)
	network, err := NewModel(g, Binding{{Input: "x", Columns: names}}, nil)
	must(err)
	var m decompose.Model = network
	if splines {
		f, err := basis.Parse("~ "+formula[2:], &basis.Options{Schema: table.Schema()})
		must(err)
		blocks, err := decompose.Prepare(ctx, table, f.Specs, nil)
		must(err)
		m, err = decompose.With(m, map[string][]decompose.Block{"": blocks})
		must(err)
	}
	r, err := decompose.Decompose(ctx, m, table, nil)
	must(err)
	a, err := r.Applier(m)
	must(err)
	return a, row
}

var rowCases = []struct {
	name    string
	model   func(testing.TB) []byte
	columns int
	splines bool
}{{"mlp and ten ps terms", graphtest.MLP, 10, true}, {"nam", namModel, 8, false}}

// BenchmarkApplierRow splits one row into contributions.
func BenchmarkApplierRow(b *testing.B) {
	for _, c := range rowCases {
		b.Run(c.name, func(b *testing.B) {
			a, row := rowApplier(b, c.model(b), c.columns, c.splines)
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Parts(ctx, row); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A row's parts are all that is allocated for them: the struct, its predictors,
// two vectors, a matrix and its numbers; into memory that is there, nothing is.
func TestApplierRowAllocates(t *testing.T) {
	if graphtest.RaceDetector {
		t.Skip("pools are not kept under the race detector")
	}
	ctx := context.Background()
	for _, c := range rowCases {
		a, row := rowApplier(t, c.model(t), c.columns, c.splines)
		with := a.WithErrors()
		var into, intoSE decompose.Parts
		for _, run := range []struct {
			name string
			want float64
			call func() error
		}{
			{"Parts", 6, func() error { _, err := a.Parts(ctx, row); return err }},
			{"PartsInto", 0, func() error { return a.PartsInto(ctx, &into, row) }},
			{"PartsInto with errors", 0, func() error { return with.PartsInto(ctx, &intoSE, row) }},
		} {
			if n := testing.AllocsPerRun(50, func() {
				if err := run.call(); err != nil {
					t.Fatal(err)
				}
			}); n > run.want {
				t.Errorf("%s of %s: %v allocations, want %v", run.name, c.name, n, run.want)
			}
		}
	}
}
