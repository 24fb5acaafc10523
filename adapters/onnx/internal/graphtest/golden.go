package onnx

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goldenCase is one network of testdata/golden/torch (torch_ops.py) with
// float32 inputs and outputs of PyTorch.
type goldenCase struct {
	Name            string
	Axis            int // the batch axis of the inputs
	Inputs, Outputs []struct {
		Shape  []int
		Values []float64
	}
}

// goldenFile is a path under testdata/golden, seen from any package.
func goldenFile(elem ...string) string {
	return filepath.Join(append([]string{root(), "testdata", "golden"}, elem...)...)
}

// root is the directory of go.mod above the test's.
func root() string {
	dir := "."
	for range 8 {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Join(dir, "..")
	}
	return dir
}

// load reads a graph from the bytes of a file.
func load(file []byte) (*Graph, error) { return Read(file, Limits{}, New[float64]()) }

func loadFile(path string) (*Graph, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return load(b)
}

func goldenCases(t testing.TB) []goldenCase {
	t.Helper()
	b, err := os.ReadFile(goldenFile("torch", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Cases []goldenCase }
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return f.Cases
}

// rowsFirst moves the batch axis to the front, as Run wants it.
func rowsFirst(values []float64, shape []int, axis int) []float64 {
	outer, rows, inner := Product(shape[:axis]), shape[axis], Product(shape[axis+1:])
	out := make([]float64, len(values))
	for o := range outer {
		for r := range rows {
			copy(out[(r*outer+o)*inner:(r*outer+o+1)*inner], values[(o*rows+r)*inner:])
		}
	}
	return out
}

// run evaluates the wanted tensors on rows from:to of the inputs.
func run(t testing.TB, r *Runner, g *Graph, inputs [][]float64, from, to int) [][]float64 {
	t.Helper()
	var in, dst [][]float64
	for i, v := range g.Inputs {
		w := v.Width()
		in = append(in, inputs[i][from*w:to*w])
	}
	for _, v := range r.want {
		d := make([]float64, (to-from)*v.Width())
		for i := range d {
			d[i] = math.NaN() // must be overwritten
		}
		dst = append(dst, d)
	}
	if err := r.Run(dst, in, to-from); err != nil {
		t.Fatal(err)
	}
	return dst
}

func goldenNames(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(goldenFile("models", "*.onnx"))
	if err != nil || len(files) < 22 {
		t.Fatalf("%d golden networks, %v", len(files), err)
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f, ".onnx"))
	}
	return names
}

// shared is the directory of files shared between checkouts; tests that need it
// are skipped where it is absent.
func shared(t testing.TB, elem ...string) string {
	t.Helper()
	dir := os.Getenv("PHO_SHARED")
	if dir == "" {
		dir = filepath.Join(root(), "..", "shared")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no shared files at %s (set PHO_SHARED)", dir)
	}
	return filepath.Join(append([]string{dir}, elem...)...)
}
