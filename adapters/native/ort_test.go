package native

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
)

var update = flag.Bool("update", false, "write testdata/golden/terms.onnx anew; run ort.py there afterwards")

// TestORT: ONNX Runtime, which knows nothing of the declaration, computes what the
// reopened network computes with the declared terms. ort.json was written by
// testdata/golden/ort.py.
func TestORT(t *testing.T) {
	dir := filepath.Join("testdata", "golden")
	path := filepath.Join(dir, "terms.onnx")
	if *update {
		m, _ := everyTerm(t)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.WriteONNX(f, nil); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "ort.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Rows map[string][]float64
		Eta  []float64
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	g, err := onnx.LoadFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.NewModel(g, onnx.Unbound(g), &onnx.Options{Decode: basis.Decode})
	if err != nil {
		t.Fatal(err)
	}
	if s := m.Structure(); s.PassedOver != "" || len(s.Predictors[0].Terms) != 12 {
		t.Errorf("%d terms; %s", len(s.Predictors[0].Terms), s.PassedOver)
	}
	b := data.NewBatch(len(golden.Eta), 0)
	for name, x := range golden.Rows {
		if err := b.SetNumeric(name, x); err != nil {
			t.Fatal(err)
		}
	}
	eta := etaOf(t, m, b)
	for i, want := range golden.Eta {
		if miss := math.Abs(eta.At(i, 0) - want); !(miss <= 1e-5*largest(eta)) {
			t.Errorf("row %d: %v, ONNX Runtime %v", i, eta.At(i, 0), want)
		}
	}
	if miss := reconstruction(t, m, b); !(miss < 1e-11) {
		t.Errorf("terms and deep part miss eta by %g", miss)
	}
}
