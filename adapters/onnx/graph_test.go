package onnx

import (
	"bytes"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
)

// An adapter can tell which tensors of an expanded network its own runtime knows.
func TestInFile(t *testing.T) {
	g, err := Load(bytes.NewReader(graphtest.GoldenBytes(t, "control", "loop_passes.onnx")), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"x": true, "y": true, "all": true, "y/0/p": false, "nobody": false} {
		if _, there := g.Tensor(name); there != (name != "nobody") || g.InFile(name) != want {
			t.Errorf("%q: in the file %v, in the network %v", name, g.InFile(name), there)
		}
	}
}
