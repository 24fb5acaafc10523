package operator_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// An operator that follows every layout of the batch axis does the same to two rows that
// a Reshape has joined to one axis as to rows of their own, and has the same rule.
func TestAnyLayout(t *testing.T) {
	for _, c := range operatorCases() {
		t.Run(c.name, func(t *testing.T) {
			file := c.encoded(t)
			apart, err := graphtest.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			joined, err := graphtest.Load(twoRowsInOne(t, file))
			if err != nil {
				t.Fatal(err)
			}
			graphtest.CheckRules(t, joined, 9)
			rng := rand.New(rand.NewPCG(1, 2))
			var ins, pairs [][]float64
			for _, v := range apart.Inputs {
				x := make([]float64, 6*v.Width())
				for i := range x {
					if x[i] = v.Type.Round(rng.NormFloat64()); !v.Type.Floating() {
						x[i] = float64(rng.IntN(2))
					}
				}
				ins, pairs = append(ins, x), append(pairs, pairRows(x, v))
			}
			run := func(g *graph.Graph, in [][]float64, rows int) [][]float64 {
				r, err := engine.New(g, g.Outputs, engine.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return graphtest.Run(t, r, g, in, 0, rows)
			}
			got := run(joined, pairs, 3)
			for k, want := range run(apart, ins, 6) {
				if want = pairRows(want, apart.Outputs[k]); !slices.Equal(got[k], want) {
					t.Errorf("output %d of two rows in one is %v, apart %v", k, got[k], want)
				}
			}
		})
	}
}

// twoRowsInOne gives the inputs of a network an axis of 2 behind the rows and joins both.
func twoRowsInOne(t *testing.T, file []byte) []byte {
	t.Helper()
	var m onnxpb.ModelProto
	if err := proto.Unmarshal(file, &m); err != nil {
		t.Fatal(err)
	}
	for _, in := range m.Graph.Input {
		name := in.Name
		in.Name = name + " apart"
		shape := in.GetType().GetTensorType().Shape
		rows := slices.IndexFunc(shape.Dim, func(d *onnxpb.TensorShapeProto_Dimension) bool { return d.GetDimParam() != "" })
		target := &onnxpb.TensorProto{Name: name + " target", DataType: int32(onnxpb.TensorProto_INT64), Dims: []int64{int64(len(shape.Dim))}}
		for _, d := range shape.Dim {
			target.Int64Data = append(target.Int64Data, d.GetDimValue())
		}
		target.Int64Data[rows] = -1
		two := &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: 2}}
		shape.Dim = slices.Insert(shape.Dim, rows+1, two)
		m.Graph.Initializer = append(m.Graph.Initializer, target)
		m.Graph.Node = append([]*onnxpb.NodeProto{{OpType: "Reshape", Input: []string{in.Name, target.Name}, Output: []string{name}}}, m.Graph.Node...)
	}
	for _, out := range m.Graph.Output {
		out.Type = nil
	}
	b, err := proto.Marshal(&m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pairRows puts rows of v, one after the other, together by two as they stand on one axis.
func pairRows(x []float64, v *graph.Value) []float64 {
	outer, inner := graph.Around(v.Shape)
	var out []float64
	for r := 0; r < len(x)/(outer*inner); r += 2 {
		for o := range outer {
			for s := range 2 {
				from := ((r+s)*outer + o) * inner
				out = append(out, x[from:from+inner]...)
			}
		}
	}
	return out
}
