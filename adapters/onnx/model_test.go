package onnx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
)

// randomNetwork draws a network of linear, moving and non-linear layers over a
// few columns, with reuse, and one or two outputs.
func randomNetwork(t *rapid.T) *graph.Graph {
	p := rapid.IntRange(1, 5).Draw(t, "columns")
	x := graphtest.Input("x", graph.Batch, p)
	h := graphtest.NewHand(x)
	pool := []*graph.Value{x}
	made := 0
	weights := func(d ...int) *graph.Value {
		v := graphtest.Ramp(d...)
		scale := rapid.SampledFrom([]float64{0.25, 0.5, -1}).Draw(t, "scale")
		for i := range v.Const.F {
			v.Const.F[i] *= scale
			if rapid.IntRange(0, 3).Draw(t, "zero") == 0 {
				v.Const.F[i] = 0
			}
		}
		made++
		v.Name = fmt.Sprintf("w%d", made)
		return v
	}
	pick := func() *graph.Value { return rapid.SampledFrom(pool).Draw(t, "from") }
	width := func(v *graph.Value) int { return v.Shape[1] }
	for range rapid.IntRange(1, 12).Draw(t, "layers") {
		a := pick()
		w := width(a)
		var v *graph.Value
		switch rapid.IntRange(0, 8).Draw(t, "layer") {
		case 0, 1:
			to := rapid.IntRange(1, 4).Draw(t, "to")
			v = h.Node("Gemm", nil, graphtest.Rows(to), a, weights(w, to), weights(to))
		case 2, 3:
			v = h.Node(rapid.SampledFrom([]string{"Relu", "Tanh", "Sigmoid", "Softplus"}).Draw(t, "act"), nil, a.Shape, a)
		case 4:
			from := rapid.IntRange(0, w-1).Draw(t, "start")
			v = h.Slice(a, int64(from), int64(rapid.IntRange(from+1, w).Draw(t, "end")))
		case 5:
			b := pick()
			v = h.Node("Concat", graphtest.Attrs{"axis": graph.Attr{Int: 1}}, graphtest.Rows(w+width(b)), a, b)
		case 6:
			b := h.Node("MatMul", nil, graphtest.Rows(w), pool[0], weights(p, w))
			v = h.Node(rapid.SampledFrom([]string{"Add", "Sub", "Mul"}).Draw(t, "op"), nil, graphtest.Rows(w), a, b)
		case 7:
			v = h.Node("Mul", nil, graphtest.Rows(w), weights(w), a)
		case 8:
			v = h.Node("ReduceMean", graphtest.Attrs{"axes": graph.Attr{Ints: []int64{1}}}, graphtest.Rows(1), a)
		}
		pool = append(pool, v)
	}
	last := pool[len(pool)-1]
	cat := h.Node("Concat", graphtest.Attrs{"axis": graph.Attr{Int: 1}}, graphtest.Rows(width(last)+p), last, x)
	for k := range rapid.IntRange(1, 2).Draw(t, "outputs") {
		y := h.Node("Gemm", nil, graphtest.Rows(1), cat, weights(width(cat), 1), weights(1))
		if rapid.Bool().Draw(t, "head") {
			y = h.Node("Softplus", nil, graphtest.Rows(1), y)
		}
		h.Output([]string{"mu", "sigma"}[k], y)
	}
	return h.G
}

// Whatever the network: rules and dependencies are the engine's, and intercept +
// terms + zeta is the network's own predictor.
func TestRandomNetworks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := loaded(t, randomNetwork(rt), 13)
		if len(g.g.Nodes) == 0 || g.g.Outputs[0].Const != nil {
			return
		}
		graphtest.CheckRules(t, g.g, 9)
		o := &Options{MaxOrder: rapid.IntRange(1, 4).Draw(rt, "order"), NoStructure: rapid.IntRange(0, 9).Draw(rt, "none") == 0}
		m, err := NewModel(g, Unbound(g), o)
		if err != nil {
			rt.Fatal(err)
		}
		if err := decomposetest.Model(m, someRows(t, g, 9), 1e-9); err != nil {
			var s strings.Builder
			m.Structure().WriteText(&s)
			rt.Fatalf("%v\n%s", err, s.String())
		}
	})
}

func TestForwardErrors(t *testing.T) {
	id, x := graphtest.Input("id", graph.Batch, 1), graphtest.Input("x", graph.Batch, 2)
	id.Type = graph.Int64
	h := graphtest.NewHand(id, x)
	e := h.Node("Squeeze", nil, graphtest.Rows(2), h.Node("Gather", nil, graphtest.Rows(1, 2), graphtest.Ramp(5, 2), id), graphtest.Ints(1))
	log := h.Node("Log", nil, graphtest.Rows(1), h.Linear(x, 1, 1))
	g := loaded(t, h.Output("y", h.Add(h.Linear(e, 1, 2), log)), 13)
	m, err := NewModel(g, Binding{{Input: "id", Columns: []string{"city"}}, {Input: "x", Columns: []string{"a", "b"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	good := func() *data.Batch { return batchOf(t, []string{"city", "a", "b"}, [][]float64{{0, 1, 2}, {1, 2, 3}}) }
	set := func(name string, v ...float64) *data.Batch {
		b := good()
		if err := b.SetNumeric(name, v); err != nil {
			t.Fatal(err)
		}
		return b
	}
	text := data.NewBatch(2, 0)
	for name, v := range map[string][]float64{"a": {1, 2}, "b": {1, 2}} {
		if err := text.SetNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	missing := text.Slice(0, 2)
	if err := text.SetCodes("city", data.Codes{Index: []int32{0, 0}, Levels: []string{"Rome"}}); err != nil {
		t.Fatal(err)
	}
	skipped := set("b", 1, math.NaN())
	if err := skipped.SetRows([]int64{10, 20}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason string
		b      *data.Batch
		err    string
	}{
		{"fine", good(), ""},
		{"no rows", data.NewBatch(0, 0), `no column "city"`},
		{"NaN, by data row", skipped, `onnx: column "b", data row 21: NaN cannot enter the network; leave such rows out or replace the value`},
		{"Inf", set("a", math.Inf(-1), 0), `onnx: column "a", data row 1: -Inf cannot enter the network`},
		{"not an integer", set("city", 1, 1.5), `onnx: column "city", data row 2: input "id" takes int64, and 1.5 is none`},
		{"beyond the table", set("city", 1, 7), `(data row 2)`},
		{"text", text, `onnx: input of the network: data: column "city" holds text, where numbers are needed`},
		{"missing", missing, `onnx: input of the network: data: no column "city" in this batch`},
		{"overflow", set("a", 1, -50), `onnx: predictor "eta", data row 2, is NaN: the network has no value there; the first to be so is node `},
	} {
		t.Run(c.reason, func(t *testing.T) {
			o := outputsFor(m, max(1, c.b.Rows()))
			err := m.Forward(context.Background(), o, c.b)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %v, want %s", err, c.err)
			}
		})
	}
	o := outputsFor(m, 2)
	o.Taps = nil
	if err := m.Forward(context.Background(), o, good()); err == nil || !strings.Contains(err.Error(), "onnx: Forward into nil tap \"f(a,b)@") {
		t.Errorf("no taps: %v", err)
	}
	o = outputsFor(m, 3)
	if err := m.Forward(context.Background(), o, good()); err == nil || err.Error() != "onnx: Forward of 2 rows into a 3 x 1 Zeta, want 2 x 1" {
		t.Errorf("wrong size: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := m.Forward(ctx, outputsFor(m, 2), good()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Units that no column reaches are constants of the intercept.
func TestConstantUnits(t *testing.T) {
	x := graphtest.Input("x", graph.Batch, 2)
	h := graphtest.NewHand(x)
	w := graphtest.Floats([]int{2, 3}, 1, 0, 2, -1, 0, 1)
	hid := h.Node("Sigmoid", nil, graphtest.Rows(3), h.Node("Gemm", nil, graphtest.Rows(3), x, w, graphtest.Floats([]int{3}, 0, 0, 1)))
	g := loaded(t, h.Output("y", h.Linear(hid, 1, 8, 2)), 13)
	m, err := NewModel(g, Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"eta[] = 4 + deep(x[0],x[1]):2"}, brief(m.Structure())); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"1 unit that depends on no column is part of the intercept"}, m.Structure().Notes); d != "" {
		t.Error(d)
	}
	if err := decomposetest.Model(m, someRows(t, g, 20), 1e-12); err != nil {
		t.Error(err)
	}
}

// One term in two predictors is one Term value, evaluated once.
func TestSharedTermIsOneValue(t *testing.T) {
	m, _, _ := readGolden(t, filepath.Join("..", "..", "testdata", "golden", "models", "two_heads"), nil)
	find := func(k int, name string) decompose.Term {
		for _, b := range m.Blocks(k) {
			if b.Term.Name() == name {
				return b.Term
			}
		}
		return nil
	}
	for _, name := range []string{"f(x0)", "x1"} {
		if find(0, name) == nil || find(0, name) != find(1, name) {
			t.Errorf("%s: %p and %p", name, find(0, name), find(1, name))
		}
	}
	if d := cmp.Diff(map[string]int{"f(x0)@/sub/sub.1/Tanh_output_0": 4}, m.Taps()); d != "" {
		t.Error(d)
	}
	u := m.DeepFeatures(1)
	if len(u.Elements) != 6 || len(u.Gamma) != 6 {
		t.Errorf("%+v", u)
	}
	for i, el := range u.Elements {
		if want := (Element{"/trunk/trunk.3/Relu_output_0", i}); el != want {
			t.Errorf("deep feature %d is %v, want %v", i, el, want)
		}
	}
	tap := m.Tap("f(x0)@/sub/sub.1/Tanh_output_0")
	if want := (Element{"/sub/sub.1/Tanh_output_0", 3}); len(tap) != 4 || tap[3] != want {
		t.Errorf("the tap is %v", tap)
	}
}

// zeta is U gamma however long the stretches of U are and wherever they lie, and a
// row's is the same in every batch.
func TestZeta(t *testing.T) {
	const n = 600
	for _, width := range []int{1, longStretch - 1, longStretch, longStretch + 1, 200} {
		for _, batchLast := range []bool{false, true} {
			for _, precision := range []Precision{Double, Single} {
				x := graphtest.Input("x", graph.Batch, 3)
				h := graphtest.NewHand(x)
				u := h.Node("MatMul", nil, graphtest.Rows(width), x, graphtest.RampNamed(h, 3, width))
				swap := graphtest.Attrs{"perm": graph.Attr{Ints: []int64{1, 0}}}
				if batchLast {
					u = h.Node("Transpose", swap, []int{width, graph.Batch}, u)
				}
				if u = h.Node("Tanh", nil, u.Shape, u); batchLast {
					u = h.Node("Transpose", swap, graphtest.Rows(width), u)
				}
				deep := h.Node("MatMul", nil, graphtest.Rows(1), u, graphtest.RampNamed(h, width, 1))
				g := loaded(t, h.Output("y", h.Add(deep, h.Linear(x, 1, 2, 3))), 13)
				b := someRows(t, g, n)
				m, err := NewModel(g, Unbound(g), &Options{Engine: GoEngine{Precision: precision}})
				if err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("width %d, batch last %v, precision %d", width, batchLast, precision)
				tolerance := 1e-12
				if precision == Single {
					tolerance = 1e-5
				}
				if err := decomposetest.Model(m, b, tolerance); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if b, _, err = rounded(b, m.Rounded(), m.structure.found.RoundedTo); err != nil {
					t.Fatal(err)
				}
				whole := outputsFor(m, n)
				if err := m.Forward(context.Background(), whole, b); err != nil {
					t.Fatal(err)
				}
				d := m.DeepFeatures(0)
				if len(d.Elements) != width || len(d.Gamma) != width {
					t.Fatalf("%s: %+v", name, d)
				}
				units, _ := g.Tensor(d.Elements[0].Tensor)
				for i, el := range d.Elements {
					if el != (Element{units.Name, i}) || units.Width() != width {
						t.Fatalf("%s: feature %d is %v", name, i, el)
					}
				}
				for i, row := range evaluated(t, g, units, precision, b) {
					sum, size := 0.0, 0.0
					for j, c := range d.Gamma {
						sum += c * row[j]
						size += math.Abs(c * row[j])
					}
					if zeta := whole.Zeta.At(i, 0); !(math.Abs(zeta-sum) <= 1e-14*size) {
						t.Fatalf("%s, row %d: zeta is %v, U gamma %v", name, i, zeta, sum)
					}
				}
				for _, size := range []int{1, 2, 3, 5, 255, 257} {
					for at := 0; at < n; at += size {
						part := b.Slice(at, min(at+size, n))
						out := outputsFor(m, part.Rows())
						if err := m.Forward(context.Background(), out, part); err != nil {
							t.Fatal(err)
						}
						if !mat.Equal(out.Zeta, whole.Zeta.Slice(at, at+part.Rows(), 0, 1)) || !mat.Equal(out.Eta, whole.Eta.Slice(at, at+part.Rows(), 0, 1)) {
							t.Fatalf("%s: rows %d to %d differ in batches of %d", name, at, at+part.Rows()-1, size)
						}
					}
				}
			}
		}
	}
}

// evaluated is a tensor of g, by rows of b, which feeds its one input.
func evaluated(t *testing.T, g *Graph, tensor Tensor, precision Precision, b *data.Batch) [][]float64 {
	t.Helper()
	e, err := GoEngine{Precision: precision}.Prepare(g, []string{tensor.Name})
	if err != nil {
		t.Fatal(err)
	}
	n := b.Rows()
	names := Unbound(g)[0].Columns
	in, out := make([]float64, n*len(names)), make([]float64, n*tensor.Width())
	for j, c := range names {
		x, err := b.Numeric(c)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			in[i*len(names)+j] = v
		}
	}
	if err := e.Run([][]float64{out}, [][]float64{in}, n); err != nil {
		t.Fatal(err)
	}
	return slices.Collect(slices.Chunk(out, tensor.Width()))
}

// Float32 gives the same structure and nearly the same numbers.
func TestSinglePrecision(t *testing.T) {
	for _, name := range graphtest.GoldenNames(t) {
		m, _, b := readGolden(t, name, &Options{Engine: GoEngine{Precision: Single}})
		double, _, _ := readGolden(t, name, nil)
		got, want := outputsFor(m, b.Rows()), outputsFor(double, b.Rows())
		for m, o := range map[*Model]*decompose.Outputs{m: got, double: want} {
			if err := m.Forward(context.Background(), o, b); err != nil {
				t.Fatal(err)
			}
		}
		for k := range m.Predictors() {
			if !near(mat.Col(nil, k, got.Eta), mat.Col(nil, k, want.Eta), 1e-5) {
				t.Errorf("%s: eta", name)
			}
		}
		if err := decomposetest.Model(m, b, 1e-5); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func forwardAll(m *Model, b *data.Batch) error {
	return m.Forward(context.Background(), outputsFor(m, b.Rows()), b)
}

// checkParts: intercept + X beta + zeta is eta, up to rounding of the largest
// part. Networks whose numbers overflow are left alone.
func checkParts(m *Model, b *data.Batch) error {
	out := outputsFor(m, b.Rows())
	if err := m.Forward(context.Background(), out, b); err != nil {
		return err
	}
	rows := b.Slice(0, b.Rows())
	for name, x := range out.Taps {
		if err := rows.SetTensor(name, x); err != nil {
			return err
		}
	}
	for k := range m.Predictors() {
		for i := range b.Rows() {
			sum := m.Intercept(k) + out.Zeta.At(i, k)
			size := math.Abs(m.Intercept(k)) + math.Abs(out.Zeta.At(i, k)) + 1
			for _, block := range m.Blocks(k) {
				x := mat.NewDense(b.Rows(), block.Term.Dim(), nil)
				if err := block.Term.Eval(x, rows); err != nil {
					return err
				}
				for j, c := range block.Coef {
					sum += c * x.At(i, j)
					size += math.Abs(c * x.At(i, j))
				}
			}
			if math.IsInf(size, 0) || math.IsNaN(sum) || size > 1e30 {
				return nil
			}
			if d := math.Abs(sum - out.Eta.At(i, k)); !(d <= 1e-6*size) {
				return fmt.Errorf("predictor %d, row %d: parts sum to %g, eta is %g", k, i, sum, out.Eta.At(i, k))
			}
		}
	}
	return nil
}

// compareWild runs the predictors of a model without heads on the inputs of an
// io.json file.
func compareWild(m *Model, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var f struct {
		Inputs, Outputs map[string]any
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	var b *data.Batch
	for _, in := range m.Binding() {
		x := numbers(f.Inputs[in.Input])
		n := len(x) / len(in.Columns)
		if b == nil {
			b = data.NewBatch(n, 0)
		}
		for j, c := range in.Columns {
			v := make([]float64, n)
			for i := range v {
				v[i] = x[i*len(in.Columns)+j]
			}
			if err := b.SetNumeric(c, v); err != nil {
				return err
			}
		}
	}
	out := outputsFor(m, b.Rows())
	if err := m.Forward(context.Background(), out, b); err != nil {
		return err
	}
	want := numbers(f.Outputs[m.Structure().Predictors[0].Output])
	if got := out.Eta.RawMatrix().Data; !near(got, want, 1e-5) {
		return fmt.Errorf("eta %v, want %v", got, want)
	}
	return decomposetest.Model(m, b, 1e-10)
}

func numbers(v any) []float64 {
	switch v := v.(type) {
	case float64:
		return []float64{v}
	case []any:
		var out []float64
		for _, x := range v {
			out = append(out, numbers(x)...)
		}
		return out
	}
	return nil
}
