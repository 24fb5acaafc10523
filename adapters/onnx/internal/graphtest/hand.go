// Package graphtest builds graphs by hand and finds golden files, for the tests of
// adapters/onnx and its rooms.
package graphtest

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Hand is a graph built by hand: no file, no checks. Shapes are the test's business.
type Hand struct{ G *graph.Graph }

func Input(name string, shape ...int) *graph.Value {
	return &graph.Value{Name: name, Type: graph.Float32, Shape: shape}
}

func GraphOf(inputs ...*graph.Value) *graph.Graph { return NewHand(inputs...).G }

func NewHand(inputs ...*graph.Value) *Hand {
	h := &Hand{G: &graph.Graph{Inputs: inputs, Values: map[string]*graph.Value{}}}
	for _, v := range inputs {
		h.G.Values[v.Name] = v
	}
	return h
}

// Floats is a constant.
func Floats(shape []int, v ...float64) *graph.Value {
	if graph.Product(shape) != len(v) {
		panic(fmt.Sprint(shape, len(v)))
	}
	return &graph.Value{Name: fmt.Sprintf("const%v%v", shape, v), Type: graph.Float32, Shape: shape, Const: &graph.Tensor{Type: graph.Float32, Shape: shape, F: v}}
}

func Ints(v ...int64) *graph.Value {
	shape := []int{len(v)}
	return &graph.Value{Name: fmt.Sprintf("const%v", v), Type: graph.Int64, Shape: shape, Const: &graph.Tensor{Type: graph.Int64, Shape: shape, I: v}}
}

// Ramp is a constant of distinct non-zero values.
func Ramp(shape ...int) *graph.Value {
	v := make([]float64, graph.Product(shape))
	for i := range v {
		v[i] = float64(i%7) - 2.5 + float64(i)/16
	}
	return Floats(shape, v...)
}

type Attrs map[string]graph.Attr

func (h *Hand) Node(op string, a Attrs, shape []int, inputs ...*graph.Value) *graph.Value {
	return h.Nodes(op, a, [][]int{shape}, inputs...)[0]
}

func (h *Hand) Nodes(op string, a Attrs, shapes [][]int, inputs ...*graph.Value) []*graph.Value {
	if a == nil {
		a = Attrs{}
	}
	i := len(h.G.Nodes)
	n := &graph.Node{Index: i, Name: fmt.Sprintf("%s%d", op, i), Op: op, Version: 13, Inputs: inputs, Attrs: a}
	for _, v := range inputs {
		if v != nil {
			h.G.Values[v.Name] = v
		}
	}
	for k, s := range shapes {
		v := &graph.Value{Name: fmt.Sprintf("t%d.%d", i, k), Type: graph.Float32, Shape: slices.Clone(s), Producer: n}
		n.Outputs = append(n.Outputs, v)
		h.G.Values[v.Name] = v
	}
	h.G.Nodes = append(h.G.Nodes, n)
	return n.Outputs
}

func (h *Hand) Output(name string, v *graph.Value) *graph.Graph {
	delete(h.G.Values, v.Name)
	v.Name = name
	h.G.Values[name] = v
	h.G.Outputs = append(h.G.Outputs, v)
	return h.G
}

func Rows(d ...int) []int { return append([]int{graph.Batch}, d...) }

// Loaded writes a hand-built graph to a file's bytes and loads it: what an
// exporter would have written.
func Loaded(t testing.TB, g *graph.Graph, opset int64) *graph.Graph {
	t.Helper()
	out, err := Load(Encoded(t, g, opset))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Encoded is the file that holds a hand-built graph.
func Encoded(t testing.TB, g *graph.Graph, opset int64) []byte {
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

func valueInfo(v *graph.Value) *onnxpb.ValueInfoProto {
	shape := &onnxpb.TensorShapeProto{}
	for _, d := range v.Shape {
		dim := &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimParam{DimParam: "N"}}
		if d != graph.Batch {
			dim.Value = &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(d)}
		}
		shape.Dim = append(shape.Dim, dim)
	}
	return &onnxpb.ValueInfoProto{Name: v.Name, Type: &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{TensorType: &onnxpb.TypeProto_Tensor{ElemType: v.Type.Code(), Shape: shape}}}}
}

func tensorProto(v *graph.Value) *onnxpb.TensorProto {
	p := &onnxpb.TensorProto{Name: v.Name, DataType: v.Type.Code(), Int64Data: v.Const.I}
	for _, d := range v.Shape {
		p.Dims = append(p.Dims, int64(d))
	}
	for _, x := range v.Const.F {
		p.FloatData = append(p.FloatData, float32(x))
	}
	if v.Type == graph.Bool {
		p.Int64Data = nil
		for _, x := range v.Const.I {
			p.Int32Data = append(p.Int32Data, int32(x))
		}
	}
	return p
}

func attrProtoOf(name string, a graph.Attr) *onnxpb.AttributeProto {
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

// Relu is a hidden layer with dense weights.
func (h *Hand) Relu(x *graph.Value, from, to int) *graph.Value {
	return h.Node("Relu", nil, Rows(to), h.Node("Gemm", nil, Rows(to), x, Ramp(from, to), Ramp(to)))
}

func (h *Hand) Slice(x *graph.Value, from, to int64) *graph.Value {
	return h.Node("Slice", nil, Rows(int(to-from)), x, Ints(from), Ints(to), Ints(1))
}

func (h *Hand) Linear(x *graph.Value, v ...float64) *graph.Value {
	return h.Node("MatMul", nil, Rows(1), x, Floats([]int{len(v), 1}, v...))
}

func (h *Hand) Add(a, b *graph.Value) *graph.Value { return h.Node("Add", nil, a.Shape, a, b) }

func RampNamed(h *Hand, d ...int) *graph.Value {
	v := Ramp(d...)
	v.Name = fmt.Sprintf("w%d", len(h.G.Values))
	h.G.Values[v.Name] = v
	for i := range v.Const.F {
		v.Const.F[i] /= 64
	}
	return v
}

// SmallNAM: four subnetworks of two units, 3 x[1] beside them.
func SmallNAM() *graph.Graph {
	x := Input("x", graph.Batch, 4)
	h := NewHand(x)
	eta := (*graph.Value)(nil)
	for j := range 4 {
		part := h.Linear(h.Relu(h.Slice(x, int64(j), int64(j)+1), 1, 2), 1, 2)
		if eta == nil {
			eta = part
			continue
		}
		if j == 1 {
			// the node of this product is MatMul7; keep a plain name for the test
			part.Producer.Name = "MatMul5"
		}
		eta = h.Add(eta, part)
	}
	return h.Output("y", h.Add(eta, h.Linear(x, 0, 3, 0, 0)))
}
