package engine_test

import (
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
)

// Networks that other people wrote, with inputs and outputs.
func TestWild(t *testing.T) {
	for _, name := range []string{"acasxu_1_1", "gonnx_mlp", "addmo_mlp", "addmo_b3634cf1", "addmo_cad8dfcc"} {
		t.Run(name, func(t *testing.T) {
			runFile(t, graphtest.Shared(t, "onnx_wild", name+".onnx"), graphtest.Shared(t, "onnx_wild", name+".io.json"), engine.Double, 1e-5)
			runFile(t, graphtest.Shared(t, "onnx_wild", name+".onnx"), graphtest.Shared(t, "onnx_wild", name+".io.json"), engine.Single, 1e-4)
		})
	}
}
