package engine_test

import (
	"math"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
)

func TestTorch(t *testing.T) {
	cases := graphtest.GoldenCases(t)
	if len(cases) < 100 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			g, err := graphtest.LoadFile(graphtest.GoldenFile("torch", c.Name+".onnx"))
			if err != nil {
				t.Fatal(err)
			}
			var inputs [][]float64
			rows := c.Inputs[0].Shape[c.Axis]
			for _, x := range c.Inputs {
				inputs = append(inputs, graphtest.RowsFirst(x.Values, x.Shape, c.Axis))
			}
			for _, precision := range []engine.Precision{engine.Double, engine.Single} {
				r, err := engine.New(g, g.Outputs, engine.Options{Precision: precision})
				if err != nil {
					t.Fatal(err)
				}
				got := graphtest.Run(t, r, g, inputs, 0, rows)
				for k, v := range g.Outputs {
					want := graphtest.RowsFirst(c.Outputs[k].Values, c.Outputs[k].Shape, max(v.BatchAxis(), 0))
					if len(want) != len(got[k]) {
						t.Fatalf("output %q: %d values, want %d", v.Name, len(got[k]), len(want))
					}
					for i, w := range want {
						if !(math.Abs(got[k][i]-w) <= 1e-5*(1+math.Abs(w))) {
							t.Fatalf("precision %d, output %q, value %d: %g, want %g", precision, v.Name, i, got[k][i], w)
						}
					}
				}
				sameForAnyBlock(t, r, g, inputs, rows, got)
			}
			everyTensor(t, g, inputs, rows)
		})
	}
}

// sameForAnyBlock: a row gives the same bits alone, in any block, and among
// many rows.
func sameForAnyBlock(t *testing.T, r *engine.Runner, g *graph.Graph, inputs [][]float64, rows int, want [][]float64) {
	t.Helper()
	check := func(got [][]float64, from, to, repeat int) {
		t.Helper()
		for k, v := range r.Wanted() {
			w := v.Width()
			for c := range repeat {
				for i, x := range want[k][from*w : to*w] {
					if y := got[k][c*(to-from)*w+i]; math.Float64bits(x) != math.Float64bits(y) {
						t.Fatalf("%q rows %d to %d: %v differs from %v in the whole block", v.Name, from, to, y, x)
					}
				}
			}
		}
	}
	for i := range rows {
		check(graphtest.Run(t, r, g, inputs, i, i+1), i, i+1, 1)
	}
	check(graphtest.Run(t, r, g, inputs, rows/2, rows), rows/2, rows, 1)
	const copies = 60 // beyond every blocking of the kernels
	var many [][]float64
	for _, x := range inputs {
		many = append(many, slices.Repeat(x, copies))
	}
	check(graphtest.Run(t, r, g, many, 0, rows*copies), 0, rows, copies)
}

// everyTensor taps all tensors at once; reusing memory must not change any. Alone, nodes
// before a tensor may be joined: then it is the same up to rounding, in both precisions.
func everyTensor(t *testing.T, g *graph.Graph, inputs [][]float64, rows int) {
	t.Helper()
	var want []*graph.Value
	for _, n := range g.Nodes {
		for _, v := range n.Outputs {
			if v != nil && v.BatchAxis() >= 0 {
				want = append(want, v)
			}
		}
	}
	run := func(o engine.Options, want ...*graph.Value) [][]float64 {
		r, err := engine.New(g, want, o)
		if err != nil {
			t.Fatal(err)
		}
		return graphtest.Run(t, r, g, inputs, 0, rows)
	}
	taps := run(engine.Options{Apart: true}, want...)
	single := run(engine.Options{Apart: true, Precision: engine.Single}, want...)
	for k, v := range want {
		if got := run(engine.Options{Apart: true}, v)[0]; !slices.Equal(got, taps[k]) && !hasNaN(got) {
			t.Fatalf("tensor %q alone is %v, among all %v", v.Name, got, taps[k])
		}
		if got, d := run(engine.Options{}, v)[0], 0.0; !hasNaN(got) {
			if d = distance(got, taps[k]); d > 1e-13 {
				t.Fatalf("tensor %q joined is %v, apart %v: %g apart", v.Name, got, taps[k], d)
			}
		}
		if got := run(engine.Options{Precision: engine.Single}, v)[0]; v.Type.Floating() && !hasNaN(got) {
			if d := distance(got, single[k]); d > 2e-6 {
				t.Fatalf("tensor %q joined in float32 is %v, apart %v: %g apart", v.Name, got, single[k], d)
			}
		}
	}
}

// distance is the largest difference, relative to the largest finite number.
func distance(a, b []float64) float64 {
	most, miss := 0.0, 0.0
	for i, x := range a {
		switch d := math.Abs(x - b[i]); {
		case x == b[i]:
		case math.IsNaN(d) || math.IsInf(d, 0):
			return math.Inf(1)
		default:
			most, miss = max(most, math.Abs(x)), max(miss, d)
		}
	}
	if miss == 0 {
		return 0
	}
	return miss / max(most, 1e-300)
}

func hasNaN(v []float64) bool { return slices.ContainsFunc(v, math.IsNaN) }
