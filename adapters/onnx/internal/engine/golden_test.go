package onnx

import (
	"math"
	"slices"
	"testing"
)

func TestTorch(t *testing.T) {
	cases := goldenCases(t)
	if len(cases) < 100 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			g, err := loadFile(goldenFile("torch", c.Name+".onnx"))
			if err != nil {
				t.Fatal(err)
			}
			var inputs [][]float64
			rows := c.Inputs[0].Shape[c.Axis]
			for _, x := range c.Inputs {
				inputs = append(inputs, rowsFirst(x.Values, x.Shape, c.Axis))
			}
			for _, precision := range []Precision{Double, Single} {
				r, err := NewRunner(g, g.Outputs, RunOptions{Precision: precision})
				if err != nil {
					t.Fatal(err)
				}
				got := run(t, r, g, inputs, 0, rows)
				for k, v := range g.Outputs {
					want := rowsFirst(c.Outputs[k].Values, c.Outputs[k].Shape, max(v.BatchAxis(), 0))
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
func sameForAnyBlock(t *testing.T, r *Runner, g *Graph, inputs [][]float64, rows int, want [][]float64) {
	t.Helper()
	check := func(got [][]float64, from, to, repeat int) {
		t.Helper()
		for k, v := range r.want {
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
		check(run(t, r, g, inputs, i, i+1), i, i+1, 1)
	}
	check(run(t, r, g, inputs, rows/2, rows), rows/2, rows, 1)
	const copies = 60 // beyond every blocking of the kernels
	var many [][]float64
	for _, x := range inputs {
		many = append(many, slices.Repeat(x, copies))
	}
	check(run(t, r, g, many, 0, rows*copies), 0, rows, copies)
}

// everyTensor taps all tensors at once; reusing memory must not change any.
func everyTensor(t *testing.T, g *Graph, inputs [][]float64, rows int) {
	t.Helper()
	var want []*Value
	for _, n := range g.Nodes {
		for _, v := range n.Outputs {
			if v != nil && v.BatchAxis() >= 0 {
				want = append(want, v)
			}
		}
	}
	all, err := NewRunner(g, want, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	taps := run(t, all, g, inputs, 0, rows)
	for k, v := range want {
		one, err := NewRunner(g, []*Value{v}, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := run(t, one, g, inputs, 0, rows)[0]; !slices.Equal(got, taps[k]) && !hasNaN(got) {
			t.Fatalf("tensor %q alone is %v, among all %v", v.Name, got, taps[k])
		}
	}
}

func hasNaN(v []float64) bool { return slices.ContainsFunc(v, math.IsNaN) }
