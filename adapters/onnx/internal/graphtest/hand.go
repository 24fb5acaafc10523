package onnx

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/internal/onnxpb"
)

// A hand-built graph: no file, no checks. Shapes are the test's business.
type handGraph struct{ g *Graph }

func handIn(name string, shape ...int) *Value { return &Value{Name: name, Type: Float32, Shape: shape} }

func graphOf(inputs ...*Value) *Graph { return newHandGraph(inputs...).g }

func newHandGraph(inputs ...*Value) *handGraph {
	h := &handGraph{g: &Graph{Inputs: inputs, values: map[string]*Value{}}}
	for _, v := range inputs {
		h.g.values[v.Name] = v
	}
	return h
}

// floats is a constant.
func floats(shape []int, v ...float64) *Value {
	if Product(shape) != len(v) {
		panic(fmt.Sprint(shape, len(v)))
	}
	return &Value{Name: fmt.Sprintf("const%v%v", shape, v), Type: Float32, Shape: shape, Const: &Tensor{Type: Float32, Shape: shape, F: v}}
}

func ints(v ...int64) *Value {
	shape := []int{len(v)}
	return &Value{Name: fmt.Sprintf("const%v", v), Type: Int64, Shape: shape, Const: &Tensor{Type: Int64, Shape: shape, I: v}}
}

// ramp is a constant of distinct non-zero values.
func ramp(shape ...int) *Value {
	v := make([]float64, Product(shape))
	for i := range v {
		v[i] = float64(i%7) - 2.5 + float64(i)/16
	}
	return floats(shape, v...)
}

type attrs map[string]Attr

func (h *handGraph) node(op string, a attrs, shape []int, inputs ...*Value) *Value {
	return h.nodes(op, a, [][]int{shape}, inputs...)[0]
}

func (h *handGraph) nodes(op string, a attrs, shapes [][]int, inputs ...*Value) []*Value {
	if a == nil {
		a = attrs{}
	}
	i := len(h.g.Nodes)
	n := &Node{Index: i, Name: fmt.Sprintf("%s%d", op, i), Op: op, Version: 13, Inputs: inputs, Attrs: a}
	for _, v := range inputs {
		if v != nil {
			h.g.values[v.Name] = v
		}
	}
	for k, s := range shapes {
		v := &Value{Name: fmt.Sprintf("t%d.%d", i, k), Type: Float32, Shape: slices.Clone(s), Producer: n}
		n.Outputs = append(n.Outputs, v)
		h.g.values[v.Name] = v
	}
	h.g.Nodes = append(h.g.Nodes, n)
	return n.Outputs
}

func (h *handGraph) output(name string, v *Value) *Graph {
	delete(h.g.values, v.Name)
	v.Name = name
	h.g.values[name] = v
	h.g.Outputs = append(h.g.Outputs, v)
	return h.g
}

func rows(d ...int) []int { return append([]int{Batch}, d...) }

// loaded writes a hand-built graph to a file's bytes and loads it: what an
// exporter would have written.
func loaded(t testing.TB, g *Graph, opset int64) *Graph {
	t.Helper()
	out, err := load(encoded(t, g, opset))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// encoded is the file that holds a hand-built graph.
func encoded(t testing.TB, g *Graph, opset int64) []byte {
	t.Helper()
	pb := &onnxpb.GraphProto{Name: "hand"}
	done := map[string]bool{}
	for _, v := range g.Inputs {
		pb.Input = append(pb.Input, valueInfo(v))
	}
	for _, v := range g.Outputs {
		pb.Output = append(pb.Output, valueInfo(v))
	}
	for _, n := range g.Nodes {
		p := &onnxpb.NodeProto{Name: n.Name, OpType: n.Op, Domain: n.Domain}
		for _, v := range n.Inputs {
			p.Input = append(p.Input, v.Name)
			if v.Const != nil && !done[v.Name] {
				done[v.Name] = true
				pb.Initializer = append(pb.Initializer, tensorProto(v))
			}
		}
		for _, v := range n.Outputs {
			p.Output = append(p.Output, v.Name)
		}
		for name, a := range n.Attrs {
			p.Attribute = append(p.Attribute, attrProtoOf(name, a))
		}
		pb.Node = append(pb.Node, p)
	}
	raw, err := proto.Marshal(&onnxpb.ModelProto{IrVersion: 8, Graph: pb, OpsetImport: []*onnxpb.OperatorSetIdProto{{Version: opset}, {Domain: "ai.onnx.ml", Version: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func valueInfo(v *Value) *onnxpb.ValueInfoProto {
	shape := &onnxpb.TensorShapeProto{}
	for _, d := range v.Shape {
		dim := &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimParam{DimParam: "N"}}
		if d != Batch {
			dim.Value = &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(d)}
		}
		shape.Dim = append(shape.Dim, dim)
	}
	return &onnxpb.ValueInfoProto{Name: v.Name, Type: &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{TensorType: &onnxpb.TypeProto_Tensor{ElemType: elemType(v.Type), Shape: shape}}}}
}

func elemType(t DType) int32 {
	switch t {
	case Int64:
		return int32(onnxpb.TensorProto_INT64)
	case Int32:
		return int32(onnxpb.TensorProto_INT32)
	case Float64:
		return int32(onnxpb.TensorProto_DOUBLE)
	case Bool:
		return int32(onnxpb.TensorProto_BOOL)
	}
	return int32(onnxpb.TensorProto_FLOAT)
}

func tensorProto(v *Value) *onnxpb.TensorProto {
	p := &onnxpb.TensorProto{Name: v.Name, DataType: elemType(v.Type), Int64Data: v.Const.I}
	for _, d := range v.Shape {
		p.Dims = append(p.Dims, int64(d))
	}
	for _, x := range v.Const.F {
		p.FloatData = append(p.FloatData, float32(x))
	}
	if v.Type == Bool {
		p.Int64Data = nil
		for _, x := range v.Const.I {
			p.Int32Data = append(p.Int32Data, int32(x))
		}
	}
	return p
}

func attrProtoOf(name string, a Attr) *onnxpb.AttributeProto {
	p := &onnxpb.AttributeProto{Name: name, Ints: a.Ints, I: a.Int, F: float32(a.Float), S: []byte(a.String)}
	for _, f := range a.Floats {
		p.Floats = append(p.Floats, float32(f))
	}
	switch {
	case a.Ints != nil:
		p.Type = onnxpb.AttributeProto_INTS
	case a.Floats != nil:
		p.Type = onnxpb.AttributeProto_FLOATS
	case a.String != "":
		p.Type = onnxpb.AttributeProto_STRING
	case a.Float != 0 || name == "epsilon":
		p.Type = onnxpb.AttributeProto_FLOAT
	default:
		p.Type = onnxpb.AttributeProto_INT
	}
	return p
}

// relu is a hidden layer with dense weights.
func (h *handGraph) relu(x *Value, from, to int) *Value {
	return h.node("Relu", nil, rows(to), h.node("Gemm", nil, rows(to), x, ramp(from, to), ramp(to)))
}

func (h *handGraph) slice(x *Value, from, to int64) *Value {
	return h.node("Slice", nil, rows(int(to-from)), x, ints(from), ints(to), ints(1))
}

func (h *handGraph) linear(x *Value, v ...float64) *Value {
	return h.node("MatMul", nil, rows(1), x, floats([]int{len(v), 1}, v...))
}

func (h *handGraph) add(a, b *Value) *Value { return h.node("Add", nil, a.Shape, a, b) }

func rampNamed(h *handGraph, d ...int) *Value {
	v := ramp(d...)
	v.Name = fmt.Sprintf("w%d", len(h.g.values))
	h.g.values[v.Name] = v
	for i := range v.Const.F {
		v.Const.F[i] /= 64
	}
	return v
}
