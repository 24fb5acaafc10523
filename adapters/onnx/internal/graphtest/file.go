package graphtest

import (
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/internal/onnxpb"
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
