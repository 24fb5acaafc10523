package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// A product that takes its rows from where the caller has them gives the bits of one that
// finds them in their tensor, however many there are and from whatever they are rounded.
func TestProductTakesSource(t *testing.T) {
	const columns, most = 9, 61
	rng := rand.New(rand.NewPCG(6, 1))
	x, weights := make([]float64, most*columns), make([]float64, columns*3)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for i := range weights {
		weights[i] = float64(float32(rng.NormFloat64()))
	}
	for _, typ := range []onnxpb.TensorProto_DataType{graphtest.TFloat, graphtest.TDouble} {
		for _, op := range []string{"Gemm", "MatMul", "Gemm and the input"} {
			b := onnxpb.NewBuilder(13)
			b.AddInput("x", typ, onnxpb.Rows, columns)
			add := b.AddInit
			if typ == graphtest.TDouble {
				add = b.AddDouble
			}
			add("w", []int{columns, 3}, weights...)
			wanted := []string{"y"}
			switch op {
			case "MatMul":
				add("b", []int{3}, weights[:3]...)
				b.AddNode("MatMul", graphtest.In("x", "w"), "p")
				b.AddNode("Add", graphtest.In("p", "b"), "y")
			case "Gemm":
				b.AddNode("Gemm", graphtest.In("x", "w"), "y")
			default: // which is wanted, too: it is not taken
				b.AddNode("Gemm", graphtest.In("x", "w"), "y")
				wanted = append(wanted, "x")
			}
			b.Output("y", typ, onnxpb.Rows, 3)
			g, err := graphtest.Load(graphtest.Bytes(t, b))
			if err != nil {
				t.Fatal(err)
			}
			for _, precision := range []engine.Precision{engine.Double, engine.Single} {
				checkSource(t, fmt.Sprint(op, typ, precision), g, wanted, precision, x, columns, most)
			}
		}
	}
}

func checkSource(t *testing.T, name string, g *graph.Graph, wanted []string, precision engine.Precision, x []float64, columns, most int) {
	t.Helper()
	var want []*graph.Value
	for _, w := range wanted {
		v, _ := g.Value(w)
		want = append(want, v)
	}
	runner, err := engine.New(g, want, engine.Options{Precision: precision})
	if err != nil {
		t.Fatal(err)
	}
	results := func(rows int, run func(dst [][]float64) error) [][]float64 {
		var dst [][]float64
		for _, v := range want {
			dst = append(dst, make([]float64, rows*v.Width()))
		}
		if err := run(dst); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	// One row at a time, written to the view where there is one.
	one := runner.NewWorkspace()
	var alone [][]float64
	for range want {
		alone = append(alone, nil)
	}
	for row := range most {
		if err := one.Cut(1); err != nil {
			t.Fatal(err)
		}
		in := slices.Clone(x[row*columns : (row+1)*columns])
		if v := one.View(g.Inputs[0]); v != nil {
			engine.Enter(v, 1, in, g.Inputs[0].RoundedTo())
			in = v
		}
		for i, y := range results(1, func(dst [][]float64) error { return one.Run(dst, [][]float64{in}) }) {
			alone[i] = append(alone[i], y...)
		}
	}
	for _, rows := range []int{1, 2, 23, 24, 25, 48, 60, most} {
		got := results(rows, func(dst [][]float64) error { return runner.Run(dst, [][]float64{x[:rows*columns]}, rows) })
		for i, y := range got {
			if !slices.Equal(y, alone[i][:len(y)]) {
				t.Errorf("%s, %d rows: %s differs from that of one row at a time", name, rows, wanted[i])
			}
		}
	}
}
