package onnx

import (
	"testing"
)

// Networks that other people wrote, with inputs and outputs.
func TestWild(t *testing.T) {
	for _, name := range []string{"acasxu_1_1", "gonnx_mlp", "addmo_mlp", "addmo_b3634cf1", "addmo_cad8dfcc"} {
		t.Run(name, func(t *testing.T) {
			runFile(t, shared(t, "onnx_wild", name+".onnx"), shared(t, "onnx_wild", name+".io.json"), Double, 1e-5)
			runFile(t, shared(t, "onnx_wild", name+".onnx"), shared(t, "onnx_wild", name+".io.json"), Single, 1e-4)
		})
	}
}
