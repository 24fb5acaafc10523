package onnx_test

import (
	"bytes"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// out[:, 0] = sin(x[:, 0]) written in place, at the row's own number, and out[:, 2] at constant
// positions along the columns, summed: a function of one column each.
func TestStructureThroughWrittenColumns(t *testing.T) {
	in := func(names ...string) []string { return names }
	b := onnxpb.NewBuilder(18)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 3)
	for name, v := range map[string]int64{"c0": 0, "c1": 1, "c2": 2, "c3": 3} {
		b.AddInts(name, v)
	}
	b.AddNode("Constant", nil, "k0", onnxpb.TensorAttr("value", onnxpb.TensorProto_INT64, []int{}, int64(0)))
	b.AddNode("Constant", nil, "k1", onnxpb.TensorAttr("value", onnxpb.TensorProto_INT64, []int{}, int64(1)))
	b.AddNode("Slice", in("x", "c0", "c1", "c1"), "x0")
	b.AddNode("Sin", in("x0"), "f0")
	b.AddNode("Squeeze", in("f0", "c1"), "u")
	b.AddNode("Shape", in("x"), "s", onnxpb.Int("end", 1))
	b.AddNode("Squeeze", in("s", "c0"), "n")
	b.AddNode("Range", in("k0", "n", "k1"), "r")
	b.AddNode("Unsqueeze", in("r", "c1"), "ri")
	b.AddNode("Concat", in("s", "c1"), "s1", onnxpb.Int("axis", 0))
	b.AddNode("Expand", in("c0", "s1"), "ci")
	b.AddNode("Concat", in("ri", "ci"), "ix", onnxpb.Int("axis", 1))
	b.AddNode("ScatterND", in("x", "ix", "u"), "b")
	b.AddNode("Slice", in("x", "c2", "c3", "c1"), "x2")
	b.AddNode("Exp", in("x2"), "f2")
	b.AddNode("Expand", in("c2", "s1"), "at")
	b.AddNode("ScatterElements", in("b", "at", "f2"), "w", onnxpb.Int("axis", 1))
	b.AddNode("ReduceSum", in("w", "c1"), "y")
	b.Output("y", onnxpb.TensorProto_FLOAT)
	b.Model().Graph.Output[0].Type = nil
	file, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnx.Load(bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := onnx.Discover(g, onnx.Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := shape(s.Predictors[0]); got != "x[1] f(x[0]) f(x[2])" {
		t.Errorf("%q", got)
	}
}
