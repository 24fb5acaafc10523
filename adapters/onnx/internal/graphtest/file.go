package graphtest

import (
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

const (
	TFloat  = onnxpb.TensorProto_FLOAT
	TDouble = onnxpb.TensorProto_DOUBLE
	TInt64  = onnxpb.TensorProto_INT64
	tBool   = onnxpb.TensorProto_BOOL
)

// Model builds a graph around input x [N,3] and output y.
func Model(opset int64, nodes func(b *onnxpb.Builder)) *onnxpb.Builder {
	b := onnxpb.NewBuilder(opset)
	b.AddInput("x", TFloat, onnxpb.Rows, 3)
	b.Output("y", TFloat)
	b.Model().Graph.Output[0].Type = nil // as inferred
	nodes(b)
	return b
}

func Bytes(t testing.TB, b *onnxpb.Builder) []byte {
	t.Helper()
	out, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func In(names ...string) []string { return names }

// MLP is 10-200-200-1 with ReLU, as nn.Linear is exported.
func MLP(t testing.TB) []byte {
	rng := rand.New(rand.NewPCG(3, 4))
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", TFloat, onnxpb.Rows, 10)
	values := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = 0.1 * rng.NormFloat64()
		}
		return v
	}
	sizes := []int{10, 200, 200, 1}
	at := "x"
	for i, names := range [][4]string{{"w0", "b0", "g0", "h0"}, {"w1", "b1", "g1", "h1"}, {"w2", "b2", "g2", ""}} {
		k, n := sizes[i], sizes[i+1]
		b.AddInit(names[0], []int{n, k}, values(n*k)...)
		b.AddInit(names[1], []int{n}, values(n)...)
		b.AddNode("Gemm", In(at, names[0], names[1]), names[2], onnxpb.Int("transB", 1))
		if at = names[2]; names[3] != "" {
			b.AddNode("Relu", In(at), names[3])
			at = names[3]
		}
	}
	b.Output(at, TFloat, onnxpb.Rows, 1)
	return Bytes(t, b)
}

// Subgraph is a graph attribute: its inputs and outputs by name, and the nodes between.
func Subgraph(name string, inputs, outputs []string, nodes func(b *onnxpb.Builder)) onnxpb.Attr {
	return func() (*onnxpb.AttributeProto, error) {
		b := onnxpb.NewBuilder(13)
		nodes(b)
		g := b.Model().Graph
		for _, n := range inputs {
			g.Input = append(g.Input, &onnxpb.ValueInfoProto{Name: n})
		}
		for _, n := range outputs {
			g.Output = append(g.Output, &onnxpb.ValueInfoProto{Name: n})
		}
		return &onnxpb.AttributeProto{Name: name, Type: onnxpb.AttributeProto_GRAPH, G: g}, nil
	}
}

// Truth adds a constant truth value.
func Truth(b *onnxpb.Builder, name string, v int64) {
	b.AddNode("Constant", nil, name, onnxpb.TensorAttr("value", tBool, []int{}, v))
}

// Number adds a constant integer.
func Number(b *onnxpb.Builder, name string, v int64) {
	b.AddNode("Constant", nil, name, onnxpb.TensorAttr("value", TInt64, []int{}, v))
}

// Function adds a function of the domain "local" to a model, and imports it.
func Function(b *onnxpb.Builder, name string, inputs, outputs []string, nodes func(b *onnxpb.Builder)) *onnxpb.FunctionProto {
	body := onnxpb.NewBuilder(13)
	nodes(body)
	f := &onnxpb.FunctionProto{
		Name: name, Domain: "local", Input: inputs, Output: outputs, Node: body.Model().Graph.Node,
		OpsetImport: []*onnxpb.OperatorSetIdProto{{Version: 13}, {Domain: "local", Version: 1}},
	}
	m := b.Model()
	if len(m.Functions) == 0 {
		b.Import("local", 1)
	}
	m.Functions = append(m.Functions, f)
	return f
}
