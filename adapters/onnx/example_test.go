package onnx_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// A network is loaded, and any of its tensors evaluated on a block of rows.
func ExampleGoEngine() {
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	b.AddInit("w", []int{2, 1}, 1, -1)
	b.AddNode("MatMul", []string{"x", "w"}, "h")
	b.AddNode("Relu", []string{"h"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	file, err := b.Marshal()
	if err != nil {
		log.Fatal(err)
	}

	g, err := onnx.Load(bytes.NewReader(file), nil)
	if err != nil {
		log.Fatal(err)
	}
	r, err := onnx.GoEngine{}.Prepare(g, []string{"h", "y"})
	if err != nil {
		log.Fatal(err)
	}
	const rows = 2
	hidden, y := make([]float64, rows), make([]float64, rows)
	if err := r.Run([][]float64{hidden, y}, [][]float64{{3, 1, 1, 3}}, rows); err != nil {
		log.Fatal(err)
	}
	fmt.Println(hidden, y)
	// Output: [2 -2] [2 0]
}
