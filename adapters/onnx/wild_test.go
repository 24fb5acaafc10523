package onnx

import (
	"os"
	"path/filepath"
	"testing"
)

// shared is the directory of files shared between checkouts; tests that need it
// are skipped where it is absent.
func shared(t testing.TB, elem ...string) string {
	t.Helper()
	dir := os.Getenv("PHO_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no shared files at %s (set PHO_SHARED)", dir)
	}
	return filepath.Join(append([]string{dir}, elem...)...)
}

// Networks that other people wrote, with inputs and outputs.
func TestWild(t *testing.T) {
	for _, name := range []string{"acasxu_1_1", "gonnx_mlp", "addmo_mlp", "addmo_b3634cf1", "addmo_cad8dfcc"} {
		t.Run(name, func(t *testing.T) {
			runFile(t, shared(t, "onnx_wild", name+".onnx"), shared(t, "onnx_wild", name+".io.json"), Double, 1e-5)
			runFile(t, shared(t, "onnx_wild", name+".onnx"), shared(t, "onnx_wild", name+".io.json"), Single, 1e-4)
		})
	}
}
