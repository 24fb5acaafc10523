package ort_test

import (
	"fmt"
	"log"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/ort"
)

// A network's structure is found by package onnx as always, and its numbers are computed
// by ONNX Runtime.
func ExampleNew() {
	engine, err := ort.New(ort.Options{}) // ORT_DYLIB_PATH, or the system's library
	if err != nil {
		log.Fatal(err)
	}
	g, err := onnx.LoadFile("model.onnx", &onnx.LoadOptions{KeepFile: true})
	if err != nil {
		log.Fatal(err)
	}
	m, err := onnx.NewModel(g, onnx.Unbound(g), &onnx.Options{Engine: engine})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(engine.Version(), m.Predictors())
}
