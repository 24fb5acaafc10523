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

// entryCase is a network of testdata/golden/ort (ort_inputs.py): rows of a data file,
// and what ONNX Runtime computes when these are given in the type of the input.
type entryCase struct {
	Name, Why  string
	Rows, Want [][]float64
}

func entryCases(t testing.TB) (dir string, cases []entryCase) {
	t.Helper()
	dir = graphtest.GoldenFile("ort")
	raw, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Cases []entryCase }
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Cases) < 15 {
		t.Fatalf("only %d cases", len(doc.Cases))
	}
	return dir, doc.Cases
}

func flatten(rows [][]float64) []float64 {
	var out []float64
	for _, r := range rows {
		out = append(out, r...)
	}
	return out
}

// TestInputsAsONNXRuntime: what enters a node has the type that the graph declares, in
// both precisions.
func TestInputsAsONNXRuntime(t *testing.T) {
	dir, cases := entryCases(t)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			g, err := graphtest.LoadFile(filepath.Join(dir, c.Name+".onnx"))
			if err != nil {
				t.Fatal(err)
			}
			x, want := flatten(c.Rows), flatten(c.Want)
			for _, precision := range []engine.Precision{engine.Double, engine.Single} {
				r, err := engine.New(g, g.Outputs, engine.Options{Precision: precision})
				if err != nil {
					t.Fatal(err)
				}
				got := graphtest.Run(t, r, g, [][]float64{x}, 0, len(c.Rows))[0]
				wrong, largest := 0, 0.0
				for i, w := range want {
					if d := math.Abs(got[i] - w); !(d <= 1e-6*math.Max(1, math.Abs(w))) {
						wrong++
						largest = math.Max(largest, d)
					}
				}
				if wrong > 0 || len(got) != len(want) {
					t.Errorf("%s, precision %d: %d of %d rows differ from ONNX Runtime, by up to %g", c.Why, precision, wrong, len(want), largest)
				}
				sameForAnyBlock(t, r, g, [][]float64{x}, len(c.Rows), [][]float64{got})
			}
		})
	}
}
