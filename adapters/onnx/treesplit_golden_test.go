package onnx_test

import (
	"encoding/json"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/decompose"
)

// A model of LightGBM that is written in several ensembles has a column for each term,
// which add up to what ONNX Runtime computes.
func TestModelsInSeveralEnsembles(t *testing.T) {
	var f struct{ Cases []treeCase }
	if err := json.Unmarshal(graphtest.GoldenBytes(t, "trees_split.json"), &f); err != nil {
		t.Fatal(err)
	}
	terms := map[string]string{"stumps": "f([0]) f([1])", "pairs": "f([1]) f([0],[1]) f([0],[2])"}
	if len(f.Cases) != len(terms) {
		t.Errorf("%d cases", len(f.Cases))
	}
	for _, c := range f.Cases {
		g := c.load(t)
		for _, engine := range []onnx.GoEngine{{Precision: onnx.Double}, {Precision: onnx.Single}} {
			m, err := onnx.NewModel(g, onnx.Unbound(g), &onnx.Options{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			if got := shape(m.Structure().Predictors[0]); got != terms[c.Name] {
				t.Errorf("%s: terms %q, want %q", c.Name, got, terms[c.Name])
				continue
			}
			columns := make([][]float64, len(c.Input.Numbers)/c.Rows)
			for i, x := range c.Input.Numbers {
				columns[i%len(columns)] = append(columns[i%len(columns)], x)
			}
			out := forward(t, m, columns)
			for row, want := range c.Outputs["variable"].Numbers {
				got := m.Intercept(0) + out.Zeta.At(row, 0)
				for _, b := range m.Blocks(0) {
					got += b.Coef[0] * out.Taps[b.Term.(*decompose.Tap).Tensor].At(row, 0)
				}
				if !treesAgree(got, want) || !treesAgree(out.Eta.At(row, 0), want) {
					t.Errorf("%s: row %d: terms add up to %v, eta is %v, in ONNX Runtime %v", c.Name, row, got, out.Eta.At(row, 0), want)
				}
			}
		}
	}
}
