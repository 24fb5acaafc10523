package onnx

import (
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
)

func TestDiscoverErrors(t *testing.T) {
	g := unchecked(graphtest.SmallNAM())
	if _, err := Discover(g, Unbound(g), &Options{MaxOrder: -1}); err == nil || !strings.Contains(err.Error(), "onnx: MaxOrder -1 is negative; 0 means the default, 3") {
		t.Error(err)
	}
}

func TestUnboundWide(t *testing.T) {
	wide := unchecked(graphtest.GraphOf(graphtest.Input("x", graph.Batch, 1<<40)))
	if b := Unbound(wide); len(b[0].Columns) != 1 {
		t.Errorf("an input of 2^40 numbers a row is bound to %d columns", len(b[0].Columns))
	}
}
