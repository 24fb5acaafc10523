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

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
)

// randomNetwork draws a network of linear, moving and non-linear layers over a
// few columns, with reuse, and one or two outputs.
func randomNetwork(t *rapid.T) *Graph {
	p := rapid.IntRange(1, 5).Draw(t, "columns")
	x := handIn("x", Batch, p)
	h := newHandGraph(x)
	pool := []*Value{x}
	made := 0
	weights := func(d ...int) *Value {
		v := ramp(d...)
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
	pick := func() *Value { return rapid.SampledFrom(pool).Draw(t, "from") }
	width := func(v *Value) int { return v.Shape[1] }
	for range rapid.IntRange(1, 12).Draw(t, "layers") {
		a := pick()
		w := width(a)
		var v *Value
		switch rapid.IntRange(0, 8).Draw(t, "layer") {
		case 0, 1:
			to := rapid.IntRange(1, 4).Draw(t, "to")
			v = h.node("Gemm", nil, rows(to), a, weights(w, to), weights(to))
		case 2, 3:
			v = h.node(rapid.SampledFrom([]string{"Relu", "Tanh", "Sigmoid", "Softplus"}).Draw(t, "act"), nil, a.Shape, a)
		case 4:
			from := rapid.IntRange(0, w-1).Draw(t, "start")
			v = h.slice(a, int64(from), int64(rapid.IntRange(from+1, w).Draw(t, "end")))
		case 5:
			b := pick()
			v = h.node("Concat", attrs{"axis": Attr{Int: 1}}, rows(w+width(b)), a, b)
		case 6:
			b := h.node("MatMul", nil, rows(w), pool[0], weights(p, w))
			v = h.node(rapid.SampledFrom([]string{"Add", "Sub", "Mul"}).Draw(t, "op"), nil, rows(w), a, b)
		case 7:
			v = h.node("Mul", nil, rows(w), weights(w), a)
		case 8:
			v = h.node("ReduceMean", attrs{"axes": Attr{Ints: []int64{1}}}, rows(1), a)
		}
		pool = append(pool, v)
	}
	last := pool[len(pool)-1]
	cat := h.node("Concat", attrs{"axis": Attr{Int: 1}}, rows(width(last)+p), last, x)
	for k := range rapid.IntRange(1, 2).Draw(t, "outputs") {
		y := h.node("Gemm", nil, rows(1), cat, weights(width(cat), 1), weights(1))
		if rapid.Bool().Draw(t, "head") {
			y = h.node("Softplus", nil, rows(1), y)
		}
		h.output([]string{"mu", "sigma"}[k], y)
	}
	return h.g
}

// Whatever the network: rules and dependencies are the engine's, and intercept +
// terms + zeta is the network's own predictor.
func TestRandomNetworks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := loaded(t, randomNetwork(rt), 13)
		if len(g.Nodes) == 0 || g.Outputs[0].Const != nil {
			return
		}
		checkRules(t, g, 9)
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
	id, x := handIn("id", Batch, 1), handIn("x", Batch, 2)
	id.Type = Int64
	h := newHandGraph(id, x)
	e := h.node("Squeeze", nil, rows(2), h.node("Gather", nil, rows(1, 2), ramp(5, 2), id), ints(1))
	log := h.node("Log", nil, rows(1), h.linear(x, 1, 1))
	g := loaded(t, h.output("y", h.add(h.linear(e, 1, 2), log)), 13)
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
	if err := m.Forward(context.Background(), o, good()); err == nil || !strings.Contains(err.Error(), "onnx: Forward into nil tap \"f(city)@") {
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
	x := handIn("x", Batch, 2)
	h := newHandGraph(x)
	w := floats([]int{2, 3}, 1, 0, 2, -1, 0, 1)
	hid := h.node("Sigmoid", nil, rows(3), h.node("Gemm", nil, rows(3), x, w, floats([]int{3}, 0, 0, 1)))
	g := loaded(t, h.output("y", h.linear(hid, 1, 8, 2)), 13)
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
	if d := cmp.Diff([]string{"/trunk/trunk.3/Relu_output_0"}, u.Tensors); d != "" || u.Width != 6 || len(u.Gamma) != 6 {
		t.Errorf("%+v", u)
	}
}

// zeta is U gamma however long the stretches of U are and wherever they lie, and a
// row's is the same in every batch.
func TestZeta(t *testing.T) {
	const n = 600
	for _, width := range []int{1, longStretch - 1, longStretch, longStretch + 1, 200} {
		for _, batchLast := range []bool{false, true} {
			for _, precision := range []Precision{Double, Single} {
				x := handIn("x", Batch, 3)
				h := newHandGraph(x)
				u := h.node("MatMul", nil, rows(width), x, rampNamed(h, 3, width))
				swap := attrs{"perm": Attr{Ints: []int64{1, 0}}}
				if batchLast {
					u = h.node("Transpose", swap, []int{width, Batch}, u)
				}
				if u = h.node("Tanh", nil, u.Shape, u); batchLast {
					u = h.node("Transpose", swap, rows(width), u)
				}
				deep := h.node("MatMul", nil, rows(1), u, rampNamed(h, width, 1))
				g := loaded(t, h.output("y", h.add(deep, h.linear(x, 1, 2, 3))), 13)
				b := someRows(t, g, n)
				m, err := NewModel(g, Unbound(g), &Options{Run: RunOptions{Precision: precision}})
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
				if b, _, err = rounded(b, m.Rounded(), m.structure.found.entry); err != nil {
					t.Fatal(err)
				}
				whole := outputsFor(m, n)
				if err := m.Forward(context.Background(), whole, b); err != nil {
					t.Fatal(err)
				}
				d := m.DeepFeatures(0)
				if d.Width != width || len(d.Tensors) != 1 {
					t.Fatalf("%s: %+v", name, d)
				}
				units, _ := g.Value(d.Tensors[0])
				runner, err := NewRunner(g, []*Value{units}, m.run)
				if err != nil {
					t.Fatal(err)
				}
				for i, row := range evaluated(t, runner, b, width) {
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

// evaluated is the one tensor of r, by rows of b, which feeds the one input.
func evaluated(t *testing.T, r *Runner, b *data.Batch, width int) [][]float64 {
	t.Helper()
	n := b.Rows()
	names := elementNames(r.inputs[0])
	in, out := make([]float64, n*len(names)), make([]float64, n*width)
	for j, c := range names {
		x, err := b.Numeric(c)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			in[i*len(names)+j] = v
		}
	}
	if err := r.Run([][]float64{out}, [][]float64{in}, n); err != nil {
		t.Fatal(err)
	}
	return slices.Collect(slices.Chunk(out, width))
}

// Float32 gives the same structure and nearly the same numbers.
func TestSinglePrecision(t *testing.T) {
	for _, name := range goldenNames(t) {
		m, _, b := readGolden(t, name, &Options{Run: RunOptions{Precision: Single}})
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
