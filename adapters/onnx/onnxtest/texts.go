package onnxtest

import (
	"errors"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
)

// TextEngine is Engine for a network that reads text: texts[i] holds the rows of input i
// if that is one of text, and inputs[i] is not read. e's evaluators are
// onnx.TextEvaluators.
func TextEngine(e onnx.Engine, g *onnx.Graph, tensors []string, inputs [][]float64, texts [][]string, rows int, tolerance float64) error {
	if len(texts) != len(inputs) {
		return errors.New("onnxtest: texts and inputs are of different numbers of inputs")
	}
	// The checks cut and spoil numbers: those of texts stand for these.
	own, list := slices.Clone(inputs), slices.Sorted(slices.Values(slices.Concat(texts...)))
	list = slices.Compact(list)
	text := make([]bool, len(inputs))
	for i, column := range texts {
		if column == nil {
			continue
		}
		text[i], own[i] = true, make([]float64, len(column))
		for j, s := range column {
			at, _ := slices.BinarySearch(list, s)
			own[i][j] = float64(at)
		}
	}
	return compare(reader{e, list, text}, reader{onnx.GoEngine{}, list, text}, g, tensors, own, rows, tolerance)
}

// reader is an engine whose inputs of text are numbers of a list.
type reader struct {
	onnx.Engine
	list []string
	text []bool // by input
}

func (r reader) Prepare(g *onnx.Graph, tensors []string) (onnx.Evaluator, error) {
	e, err := r.Engine.Prepare(g, tensors)
	if err != nil {
		return nil, err
	}
	t, ok := e.(onnx.TextEvaluator)
	if !ok {
		return nil, errors.New("onnxtest: the evaluator takes no text (onnx.TextEvaluator)")
	}
	return listed{t, r}, nil
}

type listed struct {
	onnx.TextEvaluator
	reader reader
}

func (l listed) Run(dst, inputs [][]float64, rows int) error {
	numbers, texts := slices.Clone(inputs), make([][]string, len(inputs))
	for i, x := range inputs {
		if i >= len(l.reader.text) || !l.reader.text[i] {
			continue
		}
		numbers[i], texts[i] = nil, make([]string, len(x))
		for j, at := range x {
			texts[i][j] = l.reader.list[int(at)]
		}
	}
	return l.RunTexts(dst, numbers, texts, rows)
}
