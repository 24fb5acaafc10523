package graphtest

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
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

// GoldenFile is a path under testdata/golden, seen from any package.
func GoldenFile(elem ...string) string {
	return filepath.Join(append([]string{root(), "testdata", "golden"}, elem...)...)
}

// GoldenBytes is a file under testdata/golden.
func GoldenBytes(t testing.TB, elem ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(GoldenFile(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return b
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

// Load reads a graph from the bytes of a file.
func Load(file []byte) (*graph.Graph, error) {
	return graph.Read(file, graph.Limits{}, operator.NewFloat64())
}

func LoadFile(path string) (*graph.Graph, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Load(b)
}

func GoldenCases(t testing.TB) []goldenCase {
	t.Helper()
	b, err := os.ReadFile(GoldenFile("torch", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Cases []goldenCase }
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return f.Cases
}

// RowsFirst moves the batch axis to the front, as Run wants it.
func RowsFirst(values []float64, shape []int, axis int) []float64 {
	outer, rows, inner := graph.Product(shape[:axis]), shape[axis], graph.Product(shape[axis+1:])
	out := make([]float64, len(values))
	for o := range outer {
		for r := range rows {
			copy(out[(r*outer+o)*inner:(r*outer+o+1)*inner], values[(o*rows+r)*inner:])
		}
	}
	return out
}

// Run evaluates the wanted tensors on rows from:to of the inputs.
func Run(t testing.TB, r *engine.Runner, g *graph.Graph, inputs [][]float64, from, to int) [][]float64 {
	t.Helper()
	var in, dst [][]float64
	for i, v := range g.Inputs {
		w := v.Width()
		in = append(in, inputs[i][from*w:to*w])
	}
	for _, v := range r.Wanted() {
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

func GoldenNames(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(GoldenFile("models", "*.onnx"))
	if err != nil || len(files) < 22 {
		t.Fatalf("%d golden networks, %v", len(files), err)
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f, ".onnx"))
	}
	return names
}

// Shared is the directory of files shared between checkouts; tests that need it
// are skipped where it is absent.
func Shared(t testing.TB, elem ...string) string {
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
