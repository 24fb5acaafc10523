package engine_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
)

// TestRecurrent compares RNN, GRU and LSTM in all their forms with ONNX Runtime
// (testdata/golden/recurrent.py), and what their rules say with what the engine does.
func TestRecurrent(t *testing.T) {
	dir := graphtest.GoldenFile("recurrent")
	type tensor struct {
		Shape  []int
		Axis   int
		Values []float64
	}
	b, err := os.ReadFile(filepath.Join(dir, "cases.json"))
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
	if len(f.Cases) < 50 {
		t.Fatalf("only %d cases", len(f.Cases))
	}
	for i, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			g, err := graphtest.LoadFile(filepath.Join(dir, c.Name+".onnx"))
			if err != nil {
				t.Fatal(err)
			}
			var inputs [][]float64
			rows := 0
			for _, x := range c.Inputs {
				rows = x.Shape[x.Axis]
				inputs = append(inputs, graphtest.RowsFirst(x.Values, x.Shape, x.Axis))
			}
			r, err := engine.New(g, g.Outputs, engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := graphtest.Run(t, r, g, inputs, 0, rows)
			for k, o := range c.Outputs {
				want := graphtest.RowsFirst(o.Values, o.Shape, o.Axis)
				if v := g.Outputs[k]; v.BatchAxis() != o.Axis || len(want) != len(got[k]) {
					t.Fatalf("output %q of shape %v, want %v with the rows on axis %d", v.Name, v.Shape, o.Shape, o.Axis)
				}
				for i, w := range want {
					if !(math.Abs(got[k][i]-w) <= 2e-6*(1+math.Abs(w))) {
						t.Fatalf("output %d, value %d: %g, want %g", k, i, got[k][i], w)
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
