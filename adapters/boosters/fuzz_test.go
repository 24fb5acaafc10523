package boosters

import (
	"bytes"
	"math"
	"runtime"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
)

// fuzzed loads whatever a file holds, and computes a few rows of what is loaded: an error, or numbers; within memory
// that the size of the file bounds.
func fuzzed(t *testing.T, file []byte) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g, err := Load(bytes.NewReader(file), &onnx.LoadOptions{MaxMemory: 1 << 24})
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<26+1000*uint64(len(file)) {
		t.Fatalf("%d bytes for a file of %d", took, len(file))
	}
	if err != nil {
		return
	}
	var outputs []string
	width := 0
	for _, o := range g.Outputs() {
		outputs = append(outputs, o.Name)
	}
	for _, in := range g.Inputs() {
		width += in.Width()
	}
	const rows = 5
	x := make([]float64, rows*width)
	for i := range x {
		x[i] = []float64{0, 1.5, -3, math.NaN(), 7, 1e30}[i%6]
	}
	run(t, g, x, rows, outputs)
}

func fuzz(f *testing.F, library string) {
	small := 0
	for _, g := range goldens(f) {
		for _, c := range g.Cases {
			if g.Library == library && len(c.File) < 6000 {
				small++
				f.Add(c.File)
				f.Add(c.File[:len(c.File)*2/3])
			}
		}
	}
	if small == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(fuzzed)
}

func FuzzXGBoost(f *testing.F) { fuzz(f, "xgboost") }

func FuzzLightGBM(f *testing.F) { fuzz(f, "lightgbm") }
