package onnxpb

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
)

func linear() *Builder {
	b := NewBuilder(13)
	b.AddInput("x", TensorProto_FLOAT, Rows, 2)
	b.AddInit("w", []int{2, 1}, 1, 2)
	b.AddNode("MatMul", []string{"x", "w"}, "y")
	b.Output("y", TensorProto_FLOAT, Rows, 1)
	return b
}

func TestBuilder(t *testing.T) {
	a, err := linear().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again, _ := linear().Marshal()
	if !bytes.Equal(a, again) {
		t.Fatal("two equal models differ in bytes")
	}
	m := &ModelProto{}
	if err := proto.Unmarshal(a, m); err != nil {
		t.Fatal(err)
	}
	if n := m.Graph.Node[0]; n.OpType != "MatMul" || n.Name != "y" || n.Input[1] != "w" {
		t.Fatalf("node %v", n)
	}
	if d := m.Graph.Input[0].Type.GetTensorType().Shape.Dim; d[0].GetDimParam() != "N" || d[1].GetDimValue() != 2 {
		t.Fatalf("dims %v", d)
	}
}

func TestBuilderFaults(t *testing.T) {
	b := linear()
	b.AddInit("w", []int{3}, 1)
	b.AddNode("Add", []string{"y", "nobody"}, "z")
	b.Output("q", TensorProto_FLOAT, Rows)
	_, err := b.Marshal()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`value "w" is unnamed or defined twice`, `tensor "w" of shape [3] is given 1 values`,
		`node "z" reads "nobody", which is not defined`, `output "q" is not defined`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q lacks %q", err, want)
		}
	}
}
