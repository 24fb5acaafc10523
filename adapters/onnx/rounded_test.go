package onnx

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose/decomposetest"
)

// lineBeside is 2 a + 3 b, a of type float and b of another.
func lineBeside(t *testing.T, other graph.DType) *Graph {
	a, b := graphtest.Input("a", graph.Batch, 1), graphtest.Input("b", graph.Batch, 1)
	b.Type = other
	h := graphtest.NewHand(a, b)
	z := b
	if other != graph.Float32 {
		z = h.Node("Cast", graphtest.Attrs{"to": graph.Attr{Int: 1}}, graphtest.Rows(1), b)
	}
	return loaded(t, h.Output("y", h.Add(h.Linear(a, 2), h.Linear(z, 3))), 13)
}

func tableOf(t *testing.T, columns map[string][]float64) *data.Table {
	t.Helper()
	tab := data.NewTable(len(columns["a"]))
	for _, name := range []string{"a", "b"} {
		if err := tab.AddNumeric(name, columns[name]); err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

// TestAdditiveNetworkHasNoDeepPart: on its Rows a network that is linear in rounded
// columns has zeta = 0 to the last digit, and on the data's own numbers what is missing
// from X beta is in zeta. A Cast that all numbers of an input pass rounds at the door,
// so that the network is linear behind it.
func TestAdditiveNetworkHasNoDeepPart(t *testing.T) {
	tab := tableOf(t, map[string][]float64{"a": {0.1, 0.2, 0.7, 1e-3}, "b": {1<<24 + 1, 3, 1.7e9 + 1, 5}})
	for _, other := range []graph.DType{graph.Float32, graph.Float64, graph.Int64, graph.Uint64, graph.BFloat16} {
		g := lineBeside(t, other)
		m, err := NewModel(g, Unbound(g), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(m.Rounded(), ","); got != "a,b" {
			t.Errorf("%s: rounded are %q", other, got)
		}
		for _, c := range []struct {
			src  data.Source
			none bool
		}{{tab, false}, {m.Rows(tab, m.Rounded()), true}} {
			for b, err := range c.src.Batches(context.Background(), []string{"a", "b"}) {
				if err != nil {
					t.Fatal(err)
				}
				if err := decomposetest.Model(m, b, 1e-12); err != nil {
					t.Errorf("%s: %v", other, err)
				}
				out := outputsFor(m, b.Rows())
				if err := m.Forward(context.Background(), out, b); err != nil {
					t.Fatal(err)
				}
				for i := range b.Rows() {
					if z := out.Zeta.At(i, 0); c.none != (z == 0) && i == 0 {
						t.Errorf("%s, rounded %v: zeta is %g", other, c.none, z)
					}
				}
			}
		}
	}
}

// Numbers that an input cannot hold are refused by column and row.
func TestNumbersThatCannotEnter(t *testing.T) {
	for _, c := range []struct {
		other graph.DType
		b     float64
		want  string
	}{
		{graph.Float32, 1e300, `onnx: column "b", data row 2: 1e+300 cannot enter the network: its input is of type float, whose largest number is 3.40282e+38; leave such rows out or replace the value`},
		{graph.Float32, -3.4028236e38, `onnx: column "b", data row 2: -3.4028236e+38 cannot enter the network: its input is of type float, whose largest number is 3.40282e+38; leave such rows out or replace the value`},
		{graph.Float32, 3.4028235e38, ""},
		{graph.Float64, 1e300, `onnx: column "b", data row 2: 1e+300 cannot enter the network: its input is of type float, whose largest number is 3.40282e+38; leave such rows out or replace the value`},
		{graph.Float32, math.NaN(), `onnx: column "b", data row 2: NaN cannot enter the network; leave such rows out or replace the value`},
		{graph.Int64, 2.7, `onnx: column "b", data row 2: input "b" takes int64, and 2.7 is none`},
		{graph.Int64, 1e300, `onnx: column "b", data row 2: input "b" takes int64, and 1e+300 is none`},
		{graph.Int32, 1 << 31, `onnx: column "b", data row 2: input "b" takes int32, and 2.147483648e+09 is none`},
		{graph.Int64, math.NaN(), `onnx: column "b", data row 2: NaN cannot enter the network; leave such rows out or replace the value`},
		{graph.Float16, 65504, ""},
		{graph.Float16, 65519, ""}, // is nearest to 65504
		{graph.Float16, 65520, `onnx: column "b", data row 2: 65520 cannot enter the network: its input is of type float16, whose largest number is 65504; leave such rows out or replace the value`},
		{graph.BFloat16, 3.4e38, `onnx: column "b", data row 2: 3.4e+38 cannot enter the network: its input is of type bfloat16, whose largest number is 3.38953e+38; leave such rows out or replace the value`},
		{graph.Uint8, 255, ""},
		{graph.Uint8, 256, `onnx: column "b", data row 2: input "b" takes uint8, and 256 is none`},
		{graph.Uint8, -1, `onnx: column "b", data row 2: input "b" takes uint8, and -1 is none`},
		{graph.Int16, -32768, ""},
		{graph.Int16, -32769, `onnx: column "b", data row 2: input "b" takes int16, and -32769 is none`},
		{graph.Uint64, 1 << 53, ""},
		{graph.Uint64, 1 << 54, `onnx: column "b", data row 2: input "b" takes uint64, and 1.8014398509481984e+16 is none`},
		{graph.Bool, 2, `onnx: column "b", data row 2: input "b" takes bool, and 2 is none`},
	} {
		g := lineBeside(t, c.other)
		m, err := NewModel(g, Unbound(g), nil)
		if err != nil {
			t.Fatal(err)
		}
		b := data.NewBatch(2, 0)
		for name, x := range map[string][]float64{"a": {1, 2}, "b": {1, c.b}} {
			if err := b.SetNumeric(name, x); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if err := m.Forward(context.Background(), outputsFor(m, 2), b); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%g for %s\n%s, want\n%s", c.b, c.other, got, c.want)
		}
	}
}

// A column that two inputs round differently would be two numbers.
func TestColumnOfTwoTypes(t *testing.T) {
	a, b := graphtest.Input("a", graph.Batch, 1), graphtest.Input("b", graph.Batch, 1)
	b.Type = graph.Float64
	h := graphtest.NewHand(a, b)
	wide := h.Node("Cast", graphtest.Attrs{"to": graph.Attr{Int: 11}}, graphtest.Rows(1), a)
	wide.Type = graph.Float64
	y := h.Node("Add", nil, graphtest.Rows(1), wide, b)
	y.Type = graph.Float64
	g := loaded(t, h.Output("y", y), 13)
	_, err := NewModel(g, Binding{{Input: "a", Columns: []string{"x"}}, {Input: "b", Columns: []string{"x"}}}, nil)
	want := `onnx: column "x" is bound to input "a", which takes float, and to input "b", which takes double: these round it differently; bind a copy of the column to one of them`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want\n%s", err, want)
	}
}

// Integers that the network casts to float16 are rounded to it at the door, and refused
// beyond it.
func TestIntegersAsHalves(t *testing.T) {
	a := graphtest.Input("a", graph.Batch, 1)
	a.Type = graph.Int64
	h := graphtest.NewHand(a)
	half := h.Node("Cast", graphtest.Attrs{"to": graph.Attr{Int: 10}}, graphtest.Rows(1), a)
	half.Type = graph.Float16
	wide := h.Node("Cast", graphtest.Attrs{"to": graph.Attr{Int: 1}}, graphtest.Rows(1), half)
	g := loaded(t, h.Output("y", h.Linear(wide, 2)), 21)
	m, err := NewModel(g, Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := data.NewBatch(2, 0)
	for x, want := range map[float64]string{2049: "", 65536: `onnx: column "a", data row 2: input "a" is cast to float16, whose largest number is 65504, and 65536 is beyond`} {
		if err := b.SetNumeric("a", []float64{1, x}); err != nil {
			t.Fatal(err)
		}
		out, got := outputsFor(m, 2), ""
		if err := m.Forward(context.Background(), out, b); err != nil {
			got = err.Error()
		}
		if got != want || want == "" && out.Eta.At(1, 0) != 4096 {
			t.Errorf("%g: %q, eta %g", x, got, out.Eta.At(1, 0))
		}
	}
}

// Read in two ways, an integer is not rounded at the door: its Cast to float16 is a step
// function, and the parts still sum to the output.
func TestIntegersAsHalvesAndFloats(t *testing.T) {
	a := graphtest.Input("a", graph.Batch, 1)
	a.Type = graph.Int64
	h := graphtest.NewHand(a)
	half := h.Node("Cast", graphtest.Attrs{"to": graph.Attr{Int: 10}}, graphtest.Rows(1), a)
	half.Type = graph.Float16
	wide := h.Node("Cast", graphtest.Attrs{"to": graph.Attr{Int: 1}}, graphtest.Rows(1), half)
	whole := h.Node("Cast", graphtest.Attrs{"to": graph.Attr{Int: 1}}, graphtest.Rows(1), a)
	g := loaded(t, h.Output("y", h.Add(h.Linear(wide, 2), h.Linear(whole, 3))), 21)
	m, err := NewModel(g, Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := data.NewBatch(3, 0)
	if err := b.SetNumeric("a", []float64{1, 2049, 5001}); err != nil {
		t.Fatal(err)
	}
	if err := decomposetest.Model(m, b, 1e-12); err != nil {
		t.Error(err)
	}
	out := outputsFor(m, 3)
	if err := m.Forward(context.Background(), out, b); err != nil || out.Eta.At(1, 0) != 2*2048+3*2049 {
		t.Errorf("%v, eta %g", err, out.Eta.At(1, 0))
	}
}
