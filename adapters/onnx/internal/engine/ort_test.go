package engine_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
)

// TestRecurrent compares RNN, GRU and LSTM in all their forms with ONNX Runtime
// (testdata/golden/recurrent.py).
func TestRecurrent(t *testing.T) { asOnnxRuntime(t, "recurrent", 90) }

// TestRecurrentBytes compares LSTMs with weights of bytes with it, on one row at a time
// (testdata/golden/recurrent_bytes.py).
func TestRecurrentBytes(t *testing.T) { asOnnxRuntime(t, "recurrent_bytes", 18) }

// TestControl compares control flow, functions and sequences with it
// (testdata/golden/control.py).
func TestControl(t *testing.T) { asOnnxRuntime(t, "control", 50) }

// asOnnxRuntime compares our results on the networks of a golden directory with ONNX
// Runtime's, and each node's rule with the engine's numbers.
func asOnnxRuntime(t *testing.T, dir string, least int) {
	type tensor struct {
		Shape  []int
		Axis   int // the batch axis; -1: none
		Values []float64
	}
	b, err := os.ReadFile(graphtest.GoldenFile(dir, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Cases []struct {
			Name            string
			Inputs, Outputs []tensor
		}
	}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Cases) < least {
		t.Fatalf("only %d cases", len(f.Cases))
	}
	for i, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			g, err := graphtest.LoadFile(graphtest.GoldenFile(dir, c.Name+".onnx"))
			if err != nil {
				t.Fatal(err)
			}
			var inputs [][]float64
			rows := 0
			for _, x := range c.Inputs {
				rows = x.Shape[x.Axis]
				inputs = append(inputs, graphtest.RowsFirst(x.Values, x.Shape, x.Axis))
			}
			var wanted []*graph.Value
			for _, v := range g.Outputs {
				if v.Const == nil {
					wanted = append(wanted, v)
				}
			}
			r, err := engine.New(g, wanted, engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := graphtest.Run(t, r, g, inputs, 0, rows)
			next := got
			for k, o := range c.Outputs {
				v, want := g.Outputs[k], o.Values
				var have []float64
				if v.Const == nil {
					want = graphtest.RowsFirst(o.Values, o.Shape, o.Axis)
					have, next = next[0], next[1:]
				} else {
					for i := range o.Values {
						have = append(have, v.Const.At(i))
					}
				}
				if v.BatchAxis() != o.Axis || len(want) != len(have) {
					t.Fatalf("output %q of shape %v, want %v with the rows on axis %d", v.Name, v.Shape, o.Shape, o.Axis)
				}
				for i, w := range want {
					if !(math.Abs(have[i]-w) <= 2e-6*(1+math.Abs(w))) {
						t.Fatalf("output %d, value %d: %g, want %g", k, i, have[i], w)
					}
				}
			}
			sameForAnyBlock(t, r, g, inputs, rows, got)
			if len(g.Inputs) == 1 || g.Inputs[1].Type.Floating() { // lengths are no 0 and 1
				graphtest.CheckRules(t, g, uint64(i))
			}
		})
	}
}
