package onnxtest_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// centring is an engine that subtracts a block's mean, so that a row's value depends on
// its company.
type centring struct{ onnx.GoEngine }

func (c centring) Prepare(g *onnx.Graph, tensors []string) (onnx.Evaluator, error) {
	e, err := c.GoEngine.Prepare(g, tensors)
	return centred{e}, err
}

type centred struct{ onnx.Evaluator }

func (c centred) Run(dst, inputs [][]float64, rows int) error {
	if err := c.Evaluator.Run(dst, inputs, rows); err != nil {
		return err
	}
	for _, values := range dst {
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		for i := range values {
			values[i] -= sum / float64(len(values))
		}
	}
	return nil
}

// The author of an engine checks it on a network and some rows.
func ExampleEngine() {
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.AddNode("Relu", []string{"x"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	file, err := b.Marshal()
	if err != nil {
		log.Fatal(err)
	}
	g, err := onnx.Load(bytes.NewReader(file), nil)
	if err != nil {
		log.Fatal(err)
	}
	rows := [][]float64{{-1, 2, 4}}
	fmt.Println(onnxtest.Engine(onnx.GoEngine{}, g, []string{"y"}, rows, 3, 0))
	fmt.Println(onnxtest.Engine(centring{}, g, []string{"y"}, rows, 3, 1e-9) != nil)
	// Output:
	// <nil>
	// true
}
