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

func TestWildLoad(t *testing.T) {
	for _, name := range []string{"acasxu_1_1", "gonnx_mlp", "addmo_mlp"} {
		g, err := LoadFile(shared(t, "onnx_wild", name+".onnx"), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(name, len(g.Nodes), g.Inputs[0].Shape, g.Outputs[0].Shape)
	}
}
