package onnxruntime_test

import (
	"fmt"
	"log"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxruntime"
	"github.com/pho-go/pho/adapters/onnx/onnxtest"
)

// A network's structure is found by package onnx as always, and its numbers are computed by ONNX
// Runtime. Here a Runtime for tests stands for it; with the helper it is what Start("") returns.
func ExampleEngine() {
	engine := &onnxruntime.Engine{Runtime: onnxtest.Runtime{}}
	g, err := onnx.LoadFile("../../../testdata/golden/models/ssn_apart.onnx", &onnx.LoadOptions{KeepFile: true})
	if err != nil {
		log.Fatal(err)
	}
	m, err := onnx.NewModel(g, onnx.Unbound(g), &onnx.Options{Engine: engine})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Predictors())
	// Output: [eta]
}
