package onnxtest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// deaf is an engine that takes every text for another one.
type deaf struct{ onnx.Engine }

type deafEvaluator struct{ onnx.TextEvaluator }

func (d deaf) Prepare(g *onnx.Graph, tensors []string) (onnx.Evaluator, error) {
	e, err := d.Engine.Prepare(g, tensors)
	if err != nil {
		return nil, err
	}
	return deafEvaluator{e.(onnx.TextEvaluator)}, nil
}

func (d deafEvaluator) RunTexts(dst, inputs [][]float64, texts [][]string, rows int) error {
	for i, column := range texts {
		if column != nil {
			texts[i] = strings.Split(strings.Repeat("?,", len(column)), ",")[:len(column)]
		}
	}
	return d.TextEvaluator.RunTexts(dst, inputs, texts, rows)
}

func TestTextEngine(t *testing.T) {
	b := onnxpb.NewBuilder(13)
	b.Import("ai.onnx.ml", 1)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	b.AddInput("city", onnxpb.TensorProto_STRING, onnxpb.Rows, 1)
	levels := func() (*onnxpb.AttributeProto, error) {
		return &onnxpb.AttributeProto{Name: "cats_strings", Type: onnxpb.AttributeProto_STRINGS, Strings: [][]byte{[]byte("Bonn"), []byte("Ulm")}}, nil
	}
	b.AddNodes("ai.onnx.ml", "OneHotEncoder", []string{"city"}, []string{"h"}, levels)
	b.AddNode("Flatten", []string{"h"}, "d")
	b.AddNode("Add", []string{"x", "d"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	file, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnx.Load(bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	x := [][]float64{{1, 2, 3, 4, 5, 6, 7, 8}, nil}
	texts := [][]string{nil, {"Ulm", "Bonn", "Kiel", "Ulm"}}
	if err := onnxtest.TextEngine(onnx.GoEngine{}, g, []string{"d", "y"}, x, texts, 4, 0); err != nil {
		t.Error(err)
	}
	if err := onnxtest.TextEngine(deaf{onnx.GoEngine{}}, g, []string{"d", "y"}, x, texts, 4, 0); err == nil || !strings.Contains(err.Error(), `next to GoEngine: tensor "d", row 0, element 1 is 0, want 1`) {
		t.Error(err)
	}
}

// numbersOnly is an engine that takes no text: networks that read text are refused.
type numbersOnly struct{ onnx.Engine }

type withoutTexts struct{ onnx.Evaluator }

func (n numbersOnly) Prepare(g *onnx.Graph, tensors []string) (onnx.Evaluator, error) {
	e, err := n.Engine.Prepare(g, tensors)
	return withoutTexts{e}, err
}

// A model runs on an engine of others, by texts, and is refused by one without.
func TestTextsInModels(t *testing.T) {
	g, err := onnx.LoadFile("../../../testdata/zoo/networks/sklearn/columns_linear.onnx", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := onnx.NewModel(g, onnx.Unbound(g), &onnx.Options{Engine: numbersOnly{onnx.GoEngine{}}}); err == nil || !strings.Contains(err.Error(), "the network reads text, which this engine does not take") {
		t.Error(err)
	}
	if _, err := onnx.NewModel(g, onnx.Unbound(g), &onnx.Options{Engine: deaf{onnx.GoEngine{}}}); err != nil {
		t.Error(err)
	}
}
