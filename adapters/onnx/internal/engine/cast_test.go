package engine_test

import (
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// answers runs the first output of a file on rows of its inputs.
func answers(t *testing.T, b *onnxpb.Builder, rows int, inputs ...[]float64) []float64 {
	t.Helper()
	out, err := answer(t, b, rows, inputs...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// refused is why a file cannot be loaded or run.
func refused(t *testing.T, b *onnxpb.Builder, rows int, inputs ...[]float64) error {
	t.Helper()
	_, err := answer(t, b, rows, inputs...)
	return err
}

func answer(t *testing.T, b *onnxpb.Builder, rows int, inputs ...[]float64) ([]float64, error) {
	t.Helper()
	g, err := graphtest.Load(graphtest.Bytes(t, b))
	if err != nil {
		return nil, err
	}
	r, err := engine.New(g, []*graph.Value{g.Outputs[0]}, engine.Options{})
	if err != nil {
		return nil, err
	}
	out := make([]float64, rows*g.Outputs[0].Width())
	return out, r.Run([][]float64{out}, inputs, rows)
}

// A Cast of computed numbers rounds them: to 16 bits always, to float where a jump follows.
func TestCastsRoundWhatIsComputed(t *testing.T) {
	for _, c := range []struct {
		name string
		to   onnxpb.TensorProto_DataType
		jump string
		x    float64
		want float64
	}{
		{"half, then Floor", onnxpb.TensorProto_FLOAT16, "Floor", -1.3032, -1303},
		{"half, then Ceil", onnxpb.TensorProto_FLOAT16, "Ceil", 0.3301, 330},
		{"half alone", onnxpb.TensorProto_FLOAT16, "Identity", 0.3301, 330},
		{"bfloat16, then Floor", onnxpb.TensorProto_BFLOAT16, "Floor", 0.8216, 820},
		{"float, then Floor", onnxpb.TensorProto_FLOAT, "Floor", 123456.789123, 123456792},
		{"float, no jump behind", onnxpb.TensorProto_FLOAT, "Identity", 123456.789123, 123456.789123 * 1000},
	} {
		b := onnxpb.NewBuilder(13)
		b.AddInput("x", graphtest.TDouble, onnxpb.Rows, 1)
		b.AddNode("Constant", nil, "k", onnxpb.TensorAttr("value", graphtest.TDouble, []int{}, 1000.0))
		b.AddNode("Mul", graphtest.In("x", "k"), "a")
		b.AddNode("Cast", graphtest.In("a"), "h", onnxpb.Int("to", int64(c.to)))
		b.AddNode("Cast", graphtest.In("h"), "d", onnxpb.Int("to", int64(graphtest.TDouble)))
		b.AddNode(c.jump, graphtest.In("d"), "y")
		b.Output("y", graphtest.TDouble)
		b.Model().Graph.Output[0].Type = nil
		if got := answers(t, b, 1, []float64{c.x})[0]; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
