package onnx_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
)

// treeCase is an ensemble with ONNX Runtime's answers (testdata/golden/trees.py).
type treeCase struct {
	Name    string
	Rows    int
	Model   string
	Input   zooArray
	Outputs map[string]zooArray
}

func treeCases(t *testing.T) []treeCase {
	file, err := os.Open(graphtest.GoldenFile("trees.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Cases []treeCase }
	if err := json.NewDecoder(z).Decode(&f); err != nil {
		t.Fatal(err)
	}
	return f.Cases
}

func (c treeCase) load(t *testing.T) *onnx.Graph {
	t.Helper()
	file, err := base64.StdEncoding.DecodeString(c.Model)
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnx.Load(bytes.NewReader(file), nil)
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return g
}

func treesAgree(got, want float64) bool {
	return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 1e-5*(1+math.Abs(want))
}

// Scores and labels are ONNX Runtime's, in both precisions, in a block of rows and, to
// the last bit of that, row by row.
func TestTreesAgreeWithONNXRuntime(t *testing.T) {
	cases := treeCases(t)
	if len(cases) < 150 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		g := c.load(t)
		for _, precision := range []onnx.Precision{onnx.Double, onnx.Single} {
			for _, out := range g.Outputs() {
				e, err := onnx.GoEngine{Precision: precision}.Prepare(g, []string{out.Name})
				if err != nil {
					t.Fatal(err)
				}
				want, width := c.Outputs[out.Name].Numbers, out.Width()
				got := make([]float64, c.Rows*width)
				if err := e.Run([][]float64{got}, [][]float64{c.Input.Numbers}, c.Rows); err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
				features := len(c.Input.Numbers) / c.Rows
				for r := range c.Rows {
					alone := make([]float64, width)
					if err := e.Run([][]float64{alone}, [][]float64{c.Input.Numbers[r*features : (r+1)*features]}, 1); err != nil {
						t.Fatal(err)
					}
					for j, v := range alone {
						if !treesAgree(v, want[r*width+j]) {
							t.Errorf("%s: row %d of %q is %v, in ONNX Runtime %v", c.Name, r, out.Name, alone, want[r*width:(r+1)*width])
							break
						}
						if math.Float64bits(v) != math.Float64bits(got[r*width+j]) {
							t.Errorf("%s: row %d is %v alone, %v among others", c.Name, r, v, got[r*width+j])
						}
					}
				}
			}
		}
	}
}
