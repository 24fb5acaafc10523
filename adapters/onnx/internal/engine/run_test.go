package engine_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// flat reads nested JSON lists of numbers in row-major order.
func flat(t testing.TB, raw json.RawMessage) []float64 {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	var out []float64
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case float64:
			out = append(out, v)
		case bool:
			x := 0.0
			if v {
				x = 1
			}
			out = append(out, x)
		default:
			t.Fatalf("not a number: %v", v)
		}
	}
	walk(v)
	return out
}

type ioFile struct {
	Inputs  map[string]json.RawMessage `json:"inputs"`
	Outputs map[string]json.RawMessage `json:"outputs"`
}

// runFile evaluates a graph's outputs on the inputs of a JSON file and compares.
func runFile(t *testing.T, model, io string, precision engine.Precision, tol float64) {
	t.Helper()
	g, err := graphtest.LoadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(io)
	if err != nil {
		t.Fatal(err)
	}
	var f ioFile
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	r, err := engine.New(g, g.Outputs, engine.Options{Precision: precision})
	if err != nil {
		t.Fatal(err)
	}
	var in, dst, want [][]float64
	rows := 0
	for _, v := range g.Inputs {
		x := flat(t, f.Inputs[v.Name])
		in = append(in, x)
		rows = len(x) / v.Width()
	}
	for _, v := range g.Outputs {
		want = append(want, flat(t, f.Outputs[v.Name]))
		dst = append(dst, make([]float64, rows*v.Width()))
	}
	if err := r.Run(dst, in, rows); err != nil {
		t.Fatal(err)
	}
	for k, v := range g.Outputs {
		if len(want[k]) != len(dst[k]) {
			t.Fatalf("output %q: %d values, want %d", v.Name, len(dst[k]), len(want[k]))
		}
		for i, w := range want[k] {
			if !(math.Abs(dst[k][i]-w) <= tol*(1+math.Abs(w))) {
				t.Fatalf("output %q, value %d: %g, want %g", v.Name, i, dst[k][i], w)
			}
		}
	}
}

// A warm Run allocates nothing.
func TestRunAllocates(t *testing.T) {
	if graphtest.RaceDetector {
		t.Skip("the pool of arenas is not kept under the race detector")
	}
	r, dst, inputs := benchRunner(t, engine.Double, 256)
	if n := testing.AllocsPerRun(20, func() {
		if err := r.Run(dst, inputs, 256); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations per Run", n)
	}
}

func TestRunConcurrently(t *testing.T) {
	for _, c := range graphtest.GoldenCases(t) {
		if c.Name != "attention_15" && c.Name != "nam_conv_13" && c.Name != "expand_17" {
			continue
		}
		g, err := graphtest.LoadFile(graphtest.GoldenFile("torch", c.Name+".onnx"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.New(g, g.Outputs, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		inputs := [][]float64{c.Inputs[0].Values}
		want := graphtest.Run(t, r, g, inputs, 0, 5)
		var wg sync.WaitGroup
		for k := range 8 {
			wg.Go(func() {
				for i := range 50 {
					from := (i + k) % 5
					w := g.Outputs[0].Width()
					dst := [][]float64{make([]float64, (5-from)*w)}
					in := [][]float64{inputs[0][from*g.Inputs[0].Width():]}
					if err := r.Run(dst, in, 5-from); err != nil {
						t.Error(err)
					}
					if !slices.Equal(dst[0], want[0][from*w:]) {
						t.Errorf("%s: rows %d to 5 differ when run concurrently", c.Name, from)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestRunFaults(t *testing.T) {
	load := func(b *onnxpb.Builder) *graph.Graph {
		t.Helper()
		g, err := graphtest.Load(graphtest.Bytes(t, b))
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	g := load(graphtest.Model(13, func(b *onnxpb.Builder) {
		b.AddInit("e", []int{4, 2}, 1, 2, 3, 4, 5, 6, 7, 8)
		b.AddInput("k", graphtest.TInt64, onnxpb.Rows)
		b.AddNode("Gather", graphtest.In("e", "k"), "em")
		b.AddNode("Concat", graphtest.In("x", "em"), "y", onnxpb.Int("axis", 1))
	}))
	e, _ := g.Value("e")
	other := load(graphtest.Model(13, func(b *onnxpb.Builder) { b.AddNode("Relu", graphtest.In("x"), "y") }))
	for _, c := range []struct {
		want []*graph.Value
		msg  string
	}{
		{[]*graph.Value{nil}, `onnx: tensor 0 to evaluate is nil`},
		{[]*graph.Value{e}, `onnx: tensor "e" of shape [4 2] does not depend on rows`},
		{other.Outputs, `onnx: tensor "y" does not belong to the graph`},
	} {
		if _, err := engine.New(g, c.want, engine.Options{}); err == nil || err.Error() != c.msg {
			t.Errorf("error %v, want %s", err, c.msg)
		}
	}
	r, err := engine.New(g, g.Outputs, engine.Options{MaxMemory: 1000})
	if err != nil {
		t.Fatal(err)
	}
	x, k, y := make([]float64, 6), []float64{1, 3}, make([]float64, 10)
	for _, c := range []struct {
		dst, in [][]float64
		rows    int
		msg     string
	}{
		{[][]float64{y}, [][]float64{x, {1, 9}}, 2, `onnx: node "em" (Gather): index 9 is outside axis 0 of size 4`},
		{[][]float64{y}, [][]float64{x, {1, 2.5}}, 2, `onnx: row 1 of the block: input "k" takes int64, and 2.5 is none`},
		{[][]float64{y}, [][]float64{x, {1, math.NaN()}}, 2, `onnx: row 1 of the block: input "k" takes int64, and NaN is none`},
		{[][]float64{y}, [][]float64{x[1:], k}, 2, `onnx: input "x" was given 5 values, but 2 rows of 3 need 6`},
		{[][]float64{y}, [][]float64{x}, 2, `onnx: 1 inputs given, the graph has 2`},
		{nil, [][]float64{x, k}, 2, `onnx: 0 destinations for 1 tensors`},
		{[][]float64{y[1:]}, [][]float64{x, k}, 2, `onnx: the destination of tensor "y" holds 9 values, but 2 rows of 5 need 10`},
		{[][]float64{y}, [][]float64{x, k}, -1, `onnx: -1 rows to run`},
		{[][]float64{make([]float64, 500)}, [][]float64{make([]float64, 300), make([]float64, 100)}, 100, `onnx: 100 rows need more than 1000 bytes (MaxMemory); use smaller blocks of rows`},
	} {
		if err := r.Run(c.dst, c.in, c.rows); err == nil || err.Error() != c.msg {
			t.Errorf("error %v, want %s", err, c.msg)
		}
	}
	if err := r.Run([][]float64{y}, [][]float64{x, k}, 2); err != nil || y[3] != 3 || y[9] != 8 {
		t.Errorf("after errors: %v %v", y, err)
	}
}

// Inputs that are asked for, used twice, or written over by no one.
func TestRunSharedMemory(t *testing.T) {
	b := graphtest.Model(13, func(b *onnxpb.Builder) {
		b.AddNode("Relu", graphtest.In("x"), "r")
		b.AddNode("Sum", graphtest.In("x", "r", "x"), "s")
		b.AddNode("Identity", graphtest.In("r"), "i")
		b.AddNode("Neg", graphtest.In("i"), "n")
		b.AddNode("Add", graphtest.In("n", "r"), "zero")
		b.AddNode("Add", graphtest.In("s", "zero"), "y")
	})
	g, err := graphtest.Load(graphtest.Bytes(t, b))
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{-1, 2, 3}
	for _, names := range [][]string{{"y"}, {"x", "y"}, {"i", "y", "n"}, {"y", "s", "x", "r"}, {"n"}} {
		var want []*graph.Value
		for _, n := range names {
			v, _ := g.Value(n)
			want = append(want, v)
		}
		r, err := engine.New(g, want, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for k, got := range graphtest.Run(t, r, g, [][]float64{x}, 0, 1) {
			expect := map[string][]float64{"x": x, "r": {0, 2, 3}, "i": {0, 2, 3}, "n": {0, -2, -3}, "s": {-2, 6, 9}, "y": {-2, 6, 9}}[names[k]]
			if !slices.Equal(got, expect) {
				t.Errorf("asked for %v: %s is %v, want %v", names, names[k], got, expect)
			}
		}
	}
}

// Memory is viewed where it holds float64 rows one after another, and there only.
func TestViews(t *testing.T) {
	x, id, idle := graphtest.Input("x", graph.Batch, 2), graphtest.Input("id", graph.Batch, 1), graphtest.Input("idle", graph.Batch, 3)
	id.Type = graph.Int64
	h := graphtest.NewHand(x, id, idle)
	first := h.Node("Relu", nil, graphtest.Rows(2), x)
	last := h.Node("Transpose", graphtest.Attrs{"perm": graph.Attr{Ints: []int64{1, 0}}}, []int{2, graph.Batch}, first)
	twice := h.Node("Add", nil, graphtest.Rows(1), id, id)
	twice.Type = graph.Int64
	h.Output("first", first)
	h.Output("last", last)
	g := graphtest.Loaded(t, h.Output("twice", twice), 13)
	for _, precision := range []engine.Precision{engine.Double, engine.Single} {
		r, err := engine.New(g, g.Outputs, engine.Options{Precision: precision})
		if err != nil {
			t.Fatal(err)
		}
		e := r.NewWorkspace()
		if err := e.Cut(3); err != nil {
			t.Fatal(err)
		}
		for _, v := range slices.Concat(g.Inputs, g.Outputs) {
			want := precision == engine.Double && (v.Name == "x" || v.Name == "first")
			if view := e.View(v); (view != nil) != want || r.Views(v) != want || want && len(view) != 3*v.Width() {
				t.Errorf("precision %d: view of %q: %v, promised %v, want one: %v", precision, v.Name, view, r.Views(v), want)
			}
		}
	}
}

func benchRunner(b testing.TB, precision engine.Precision, rows int) (r *engine.Runner, dst, inputs [][]float64) {
	g, err := graphtest.Load(graphtest.MLP(b))
	if err != nil {
		b.Fatal(err)
	}
	if r, err = engine.New(g, g.Outputs, engine.Options{Precision: precision}); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, rows*10)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return r, [][]float64{make([]float64, rows)}, [][]float64{x}
}
