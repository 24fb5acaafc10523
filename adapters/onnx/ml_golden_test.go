package onnx_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
)

// TestAsONNXRuntime: the operators of ai.onnx.ml and the operators on text agree with ONNX
// Runtime, in blocks of rows and alone.
func TestAsONNXRuntime(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "golden", "ort_ml.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Cases []struct {
			Name   string
			Model  []byte
			Rows   int
			Inputs []struct {
				Numbers zooArray
				Texts   []string
			}
			Want zooArray
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Cases) < 80 {
		t.Fatalf("only %d cases", len(doc.Cases))
	}
	for _, c := range doc.Cases {
		t.Run(c.Name, func(t *testing.T) {
			g, err := onnx.Load(bytes.NewReader(c.Model), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, precision := range []onnx.Precision{onnx.Double, onnx.Single} {
				e, err := onnx.GoEngine{Precision: precision}.Prepare(g, []string{"y"})
				if err != nil {
					t.Fatal(err)
				}
				want, tolerance := c.Want.Numbers, 2e-6
				if precision == onnx.Single {
					tolerance = 2e-5
				}
				width := len(want) / c.Rows
				run := func(from, to int) []float64 {
					var inputs [][]float64
					var texts [][]string
					for _, in := range c.Inputs {
						w := max(len(in.Texts), len(in.Numbers.Numbers)) / c.Rows
						x, s := in.Numbers.Numbers, in.Texts
						if s != nil {
							s = s[from*w : to*w]
						} else {
							x = x[from*w : to*w]
						}
						inputs, texts = append(inputs, x), append(texts, s)
					}
					got := make([]float64, (to-from)*width)
					if err := e.(onnx.TextEvaluator).RunTexts([][]float64{got}, inputs, texts, to-from); err != nil {
						t.Fatal(err)
					}
					return got
				}
				got := run(0, c.Rows)
				for i, w := range want {
					if !(math.Abs(got[i]-w) <= tolerance*(1+math.Abs(w))) && got[i] != w && !(math.IsNaN(got[i]) && math.IsNaN(w)) {
						t.Errorf("precision %d, row %d, element %d: %v, ONNX Runtime has %v", precision, i/width, i%width, got[i], w)
					}
				}
				for r := range c.Rows {
					for i, x := range run(r, r+1) {
						if all := got[r*width+i]; math.Float64bits(x) != math.Float64bits(all) {
							t.Errorf("precision %d, row %d alone: %v, among others %v", precision, r, x, all)
						}
					}
				}
			}
		})
	}
}
