package graphtest

import (
	"math"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// CodedNetwork is of the codes a (of 6 levels) and b (of 4) and the number x, with what nodes
// computes as "wide" beside a deep part of all three.
func CodedNetwork(nodes func(b *onnxpb.Builder)) *onnxpb.Builder {
	b := onnxpb.NewBuilder(17)
	b.AddInput("a", onnxpb.TensorProto_INT64, onnxpb.Rows, 1)
	b.AddInput("b", onnxpb.TensorProto_INT64, onnxpb.Rows, 1)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.Output("y", onnxpb.TensorProto_FLOAT)
	b.Model().Graph.Output[0].Type = nil // as inferred
	b.AddInts("last", 1)
	b.AddInit("table of b", []int{4, 1}, 1, -1, 0.5, 2)
	LookUp(b, "table of b", "b", "eb")
	b.AddInit("table of a", []int{6, 1}, 0.25, -1, 2, 1, 0, -0.5)
	LookUp(b, "table of a", "a", "ea")
	b.AddNode("Concat", In("ea", "eb", "x"), "all", onnxpb.Int("axis", 1))
	b.AddInit("w", []int{3, 2}, 1, -1, 0.5, 2, 1, 1)
	b.AddNode("MatMul", In("all", "w"), "h")
	b.AddNode("Tanh", In("h"), "u")
	b.AddInit("v", []int{2, 1}, 1, -0.5)
	b.AddNode("MatMul", In("u", "v"), "z")
	nodes(b)
	b.AddNode("Add", In("wide", "z"), "y")
	return b
}

// LookUp adds the rows of a table that codes choose.
func LookUp(b *onnxpb.Builder, table, code, to string) {
	b.AddNode("Gather", In(table, code), to+" of each")
	b.AddNode("Squeeze", In(to+" of each", "last"), to)
}

// WideOfA is the table of a.
func WideOfA(b *onnxpb.Builder) { b.AddNode("Identity", In("ea"), "wide") }

// Crossing adds the code 4 a + b as "row", and "table" of so many rows.
func Crossing(b *onnxpb.Builder, rows int) {
	table := make([]float64, rows)
	for i := range table {
		table[i] = math.Sin(float64(i))
	}
	b.AddIntegers("four", onnxpb.TensorProto_INT64, nil, 4)
	b.AddInit("table", []int{rows, 1}, table...)
	b.AddNode("Mul", In("a", "four"), "4 a")
	b.AddNode("Add", In("4 a", "b"), "row")
}
