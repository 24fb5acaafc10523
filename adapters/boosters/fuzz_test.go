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
	for _, o := range g.Outputs() {
		outputs = append(outputs, o.Name)
	}
	var rows tabledCase
	for _, in := range g.Inputs() {
		for range in.Width() {
			own := []any{0., 1.5, -3., math.NaN(), 7., 1e30}
			if in.Type == "string" {
				own = []any{"", "a", "1", "ä long name, of a category", "\xff", "True"}
			}
			rows.Columns = append(rows.Columns, own)
		}
	}
	rows.compute(t, g, outputs)
}

// fuzz begins with these files and with parts of them.
func fuzz(f *testing.F, seeds ...[]byte) {
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range seeds {
		f.Add(s)
		f.Add(s[:len(s)*2/3])
	}
	f.Fuzz(fuzzed)
}

// small are the smaller golden files of a library.
func small(f *testing.F, library string) (files [][]byte) {
	for _, g := range goldens(f) {
		for _, c := range g.Cases {
			if g.Library == library && len(c.File) < 6000 {
				files = append(files, c.File)
			}
		}
	}
	return files
}

func FuzzXGBoost(f *testing.F) { fuzz(f, small(f, "xgboost")...) }

func FuzzLightGBM(f *testing.F) { fuzz(f, small(f, "lightgbm")...) }

// FuzzCatBoost begins with every sixth model, those with statistics among them.
func FuzzCatBoost(f *testing.F) {
	var files [][]byte
	for i, c := range tabledFiles(f, "catboost")[0].Cases {
		if i%6 == 0 {
			files = append(files, c.CBM)
		}
		if i%6 == 0 && c.JSON != "" {
			files = append(files, []byte(c.JSON))
		}
	}
	fuzz(f, files...)
}

func FuzzEBM(f *testing.F) {
	var files [][]byte
	for i, c := range tabledFiles(f, "interpret")[0].Cases {
		if i%5 == 0 {
			files = append(files, []byte(c.JSON))
		}
	}
	fuzz(f, files...)
}

func FuzzTrees(f *testing.F) { fuzz(f, []byte(twoTrees)) }
