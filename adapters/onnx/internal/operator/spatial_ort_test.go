package operator_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
)

// spatialCase is a case of testdata/golden/ort_spatial.json (ort_spatial.py).
type spatialCase struct {
	Name   string
	Model  []byte
	Rows   int
	Inputs map[string][]float64
	Shape  []int
	Want   []float64
}

// Spatial operators as ONNX Runtime computes them, to what float holds.
func TestSpatialAsONNXRuntime(t *testing.T) {
	raw, err := os.ReadFile(graphtest.GoldenFile("ort_spatial.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Cases []spatialCase }
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&f); err != nil {
		t.Fatal(err)
	}
	if len(f.Cases) < 200 {
		t.Fatalf("only %d cases", len(f.Cases))
	}
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			g, err := graphtest.Load(c.Model)
			if err != nil {
				t.Fatal(err)
			}
			var in [][]float64
			for _, v := range g.Inputs {
				in = append(in, c.Inputs[v.Name])
			}
			for _, precision := range []engine.Precision{engine.Double, engine.Single} {
				r, err := engine.New(g, g.Outputs, engine.Options{Precision: precision})
				if err != nil {
					t.Fatal(err)
				}
				got := graphtest.Run(t, r, g, in, 0, c.Rows)[0]
				if len(got) != len(c.Want) {
					t.Fatalf("%d numbers, want shape %v", len(got), c.Shape)
				}
				for i, w := range c.Want {
					if !(math.Abs(got[i]-w) <= 2e-5*math.Max(1, math.Abs(w))) {
						t.Fatalf("precision %d, element %d of %v: %g, want %g", precision, i, c.Shape, got[i], w)
					}
				}
			}
		})
	}
}
