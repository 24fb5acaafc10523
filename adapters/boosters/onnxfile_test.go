package boosters

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/boosters/internal/catboost"
	"github.com/pho-go/pho/adapters/onnx"
)

// TestONNX: the file of a model computes what the model does, on all rows of all goldens, to the rounding of sums in another order (of XGBoost
// of float32, in which base scores of the operator's come first).
func TestONNX(t *testing.T) {
	models := 0
	same := func(t *testing.T, name string, file []byte, within float64, compute func(*onnx.Graph, []string) [][]float64) {
		own, err := Load(bytes.NewReader(file), nil)
		if err != nil {
			t.Fatal(err)
		}
		written, err := ONNX(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		g, err := onnx.Load(bytes.NewReader(written), nil)
		if err != nil {
			t.Fatal(err)
		}
		models++
		if remade != "" { // for runtime.py
			if err := errors.Join(os.MkdirAll(filepath.Join(remade, "onnx"), 0o755), os.WriteFile(filepath.Join(remade, "onnx", name+".onnx"), written, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		outputs := []string{score}
		for _, o := range own.Outputs() {
			outputs = append(outputs, o.Name)
		}
		want, got := compute(own, outputs), compute(g, outputs)
		for k := range want {
			for i, w := range want[k] {
				if d := got[k][i] - w; !(d*d <= within*within*max(w*w, 1)) {
					t.Fatalf("output %q, number %d: %v, want %v", outputs[k], i, got[k][i], w)
				}
			}
		}
	}
	for _, f := range goldens(t) {
		within := 1e-14
		if f.Library == "xgboost" {
			within = 3e-6
		}
		for i, c := range f.Cases {
			t.Run(fmt.Sprintf("%s %s/%s", f.Library, f.Version, c.Name), func(t *testing.T) {
				same(t, fmt.Sprintf("golden-%s-%s-%d", f.Library, f.Version, i), c.File, within, func(g *onnx.Graph, tensors []string) [][]float64 { return run(t, g, c.rows(), len(c.Rows), tensors) })
			})
		}
	}
	for _, library := range []string{"catboost", "interpret"} {
		for _, f := range tabledFiles(t, library) {
			for i, c := range f.Cases {
				if library == "catboost" && len(c.Text) > 0 { // the file has hashes
					if _, err := ONNX(bytes.NewReader(c.CBM)); err == nil || !strings.Contains(err.Error(), "the file has no names") && !strings.Contains(err.Error(), "counts categories (CTR)") {
						t.Errorf("%s: %v", c.Name, err)
					}
					continue
				}
				file := c.CBM
				if library == "interpret" {
					file = []byte(c.JSON)
				}
				t.Run(fmt.Sprintf("%s %s/%s", library, f.Version, c.Name), func(t *testing.T) {
					same(t, fmt.Sprintf("%s-%s-%d", library, f.Version, i), file, 1e-14, func(g *onnx.Graph, tensors []string) [][]float64 { return c.compute(t, g, tensors) })
				})
			}
		}
	}
	if models < 400 && remade == "" {
		t.Errorf("%d models", models)
	}
}

// TestONNXNeedsNames: CatBoost's files have hashes of categories, and those of JSON that are saved with a pool their names, too. A truth value is a number.
func TestONNXNeedsNames(t *testing.T) {
	file := func(hashes string) string {
		return fmt.Sprintf(`{"features_info":{%s"categorical_features":[{"feature_id":"kind","feature_index":0,"flat_feature_index":0,"values":[%d]}]},"model_info":{},"oblivious_trees":[{"leaf_values":[1,2],"splits":[{"cat_feature_index":0,"split_type":"OneHotFeature","value":%d}]}],"scale_and_bias":[1,[0]]}`,
			hashes, catboost.Hash("1"), catboost.Hash("1"))
	}
	_, err := ONNX(strings.NewReader(file("")))
	if err == nil || !strings.Contains(err.Error(), `no names of the categories of column 0, "kind"`) {
		t.Errorf("without names: %v", err)
	}
	written, err := ONNX(strings.NewReader(file(fmt.Sprintf(`"cat_features_hash":[{"hash":%d,"value":"1"}],`, uint32(catboost.Hash("1"))))))
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnx.Load(bytes.NewReader(written), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := tabledCase{Text: []string{"kind"}, Columns: [][]any{{"1", "0", "", "True", "false"}}}
	if y := c.compute(t, g, []string{"prediction"})[0]; !slices.Equal(y, []float64{2, 1, 1, 2, 1}) {
		t.Error(y)
	}
}
