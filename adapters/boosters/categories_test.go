package boosters

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// categorised is a file of testdata whose models know categories by their names.
type categorised struct {
	Library, Version string
	Cases            []struct {
		Name    string
		File    digits
		Names   []string
		Columns [][]any
		Score   [][]string
	}
}

// TestMissingCategories: where categories are missing, XGBoost and LightGBM predict what they do, and the parts sum to it: factors of
// trees have a level for what is missing. Truth values are what they are as texts, too.
func TestMissingCategories(t *testing.T) {
	factors := 0
	for _, f := range unpacked[categorised](t, "categories-*") {
		for _, c := range f.Cases {
			t.Run(fmt.Sprintf("%s %s/%s", f.Library, f.Version, c.Name), func(t *testing.T) {
				g, err := Load(bytes.NewReader(c.File), nil)
				if err != nil {
					t.Fatal(err)
				}
				rows := len(c.Score)
				b := data.NewBatch(rows, 0)
				for j, name := range c.Names {
					if err := set(b, name, c.Columns[j]); err != nil {
						t.Fatal(err)
					}
				}
				m, err := onnx.NewModel(g, onnx.Unbound(g), &onnx.Options{Missing: true})
				if err != nil {
					t.Fatal(err)
				}
				labels, err := g.Labels()
				if err != nil {
					t.Fatal(err)
				}
				if b, err = onnx.CodeTexts(b, m.Columns(), labels.Columns); err != nil {
					t.Fatal(err)
				}
				out := &decompose.Outputs{Zeta: mat.NewDense(rows, 1, nil), Eta: mat.NewDense(rows, 1, nil), Taps: map[string]*mat.Dense{}}
				for name, width := range m.Taps() {
					out.Taps[name] = mat.NewDense(rows, width, nil)
				}
				if err := m.Forward(context.Background(), out, b); err != nil {
					t.Fatal(err)
				}
				for name, tap := range out.Taps {
					if err := b.SetTensor(name, tap); err != nil {
						t.Fatal(err)
					}
				}
				sum := slices.Repeat([]float64{m.Intercept(0)}, rows)
				for _, block := range m.Blocks(0) {
					if block.Term.Kind() == decompose.Factor {
						factors++
					}
					x := mat.NewDense(rows, block.Term.Dim(), nil)
					if err := block.Term.Eval(x, b); err != nil {
						t.Fatal(err)
					}
					for r := range sum {
						sum[r] += mat.Dot(mat.NewVecDense(len(block.Coef), block.Coef), x.RowView(r))
					}
				}
				for r, want := range parse(t, c.Score) {
					if got := out.Eta.At(r, 0); !(math.Abs(got-want) <= 1e-6*max(1, math.Abs(want))) {
						t.Errorf("row %d: %v, want %v", r, got, want)
					}
					if got := sum[r] + out.Zeta.At(r, 0); !(math.Abs(got-want) <= 1e-5*max(1, math.Abs(want))) {
						t.Errorf("row %d: the parts sum to %v, want %v", r, got, want)
					}
				}
			})
		}
	}
	if factors < 10 && remade == "" {
		t.Errorf("%d factors", factors)
	}
}

// set adds a column of numbers or texts; nil is missing.
func set(b *data.Batch, name string, cells []any) error {
	numbers, texts := make([]float64, len(cells)), make([]string, len(cells))
	text := false
	for i, cell := range cells {
		numbers[i], texts[i] = math.NaN(), data.MissingLevel
		switch v := cell.(type) {
		case float64:
			numbers[i] = v
		case string:
			texts[i], text = v, true
		}
	}
	if !text {
		return b.SetNumeric(name, numbers)
	}
	_, err := b.SetTexts(name, texts, nil)
	return err
}
