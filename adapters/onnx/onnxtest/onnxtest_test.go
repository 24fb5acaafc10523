package onnxtest_test

import (
	"bytes"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// small is y = Relu(x w) with x of three columns and w of two.
func small(t *testing.T) (*onnx.Graph, [][]float64) {
	t.Helper()
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 3)
	b.AddInit("w", []int{3, 2}, 1, -1, 2, 0.5, 0.25, 3)
	b.AddNode("MatMul", []string{"x", "w"}, "h")
	b.AddNode("Relu", []string{"h"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	file, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnx.Load(bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 7*3)
	for i := range x {
		x[i] = float64(i%5) - 1.75
	}
	return g, [][]float64{x}
}

// wrapped is GoEngine with something else in Run.
type wrapped struct {
	prepare func(tensors []string) []string
	run     func(e onnx.Evaluator, dst, inputs [][]float64, rows int) error
}

type evaluator struct {
	onnx.Evaluator
	of wrapped
}

func (w wrapped) Prepare(g *onnx.Graph, tensors []string) (onnx.Evaluator, error) {
	if w.prepare != nil {
		tensors = w.prepare(tensors)
	}
	e, err := onnx.GoEngine{}.Prepare(g, tensors)
	return evaluator{e, w}, err
}

func (e evaluator) Run(dst, inputs [][]float64, rows int) error {
	if e.of.run == nil {
		return e.Evaluator.Run(dst, inputs, rows)
	}
	return e.of.run(e.Evaluator, dst, inputs, rows)
}

// Every law that an engine may break is noticed.
func TestEngine(t *testing.T) {
	g, inputs := small(t)
	test := func(e onnx.Engine, tolerance float64) error {
		return onnxtest.Engine(e, g, []string{"h", "y"}, inputs, 7, tolerance)
	}
	if err := test(onnx.GoEngine{}, 0); err != nil {
		t.Error(err)
	}
	if err := test(onnx.GoEngine{Precision: onnx.Single}, 1e-6); err != nil {
		t.Error(err)
	}
	var calls atomic.Int64
	for _, c := range []struct {
		say string
		w   wrapped
	}{
		{"next to GoEngine: tensor \"h\", row 0, element 0 is", wrapped{run: func(e onnx.Evaluator, dst, inputs [][]float64, rows int) error {
			err := e.Run(dst, inputs, rows)
			if len(dst) > 0 && len(dst[0]) > 0 {
				dst[0][0]++
			}
			return err
		}}},
		{"is NaN", wrapped{run: func(e onnx.Evaluator, dst, inputs [][]float64, rows int) error {
			if len(dst) < 2 {
				return e.Run(dst, inputs, rows)
			}
			return e.Run([][]float64{dst[0], make([]float64, len(dst[1]))}, inputs, rows)
		}}},
		{"row 0 alone", wrapped{run: func(e onnx.Evaluator, dst, inputs [][]float64, rows int) error {
			err := e.Run(dst, inputs, rows)
			if rows == 1 {
				dst[0][0]++
			}
			return err
		}}},
		{"no rows", wrapped{run: func(e onnx.Evaluator, dst, inputs [][]float64, rows int) error {
			if rows == 0 {
				return onnx.ErrMemory
			}
			return e.Run(dst, inputs, rows)
		}}},
		{"changed input 0", wrapped{run: func(e onnx.Evaluator, dst, inputs [][]float64, rows int) error {
			err := e.Run(dst, inputs, rows)
			if len(inputs) > 0 && len(inputs[0]) > 0 && calls.Add(1) == 1 {
				inputs[0][0] = math.Nextafter(inputs[0][0], 9)
			}
			return err
		}}},
		{"Run accepts", wrapped{run: func(e onnx.Evaluator, dst, inputs [][]float64, rows int) error {
			_ = e.Run(dst, inputs, rows)
			return nil
		}}},
		{"Run panics", wrapped{run: func(e onnx.Evaluator, dst, inputs [][]float64, rows int) error {
			if err := e.Run(dst, inputs, rows); err != nil {
				panic(err)
			}
			return nil
		}}},
		{"does not have", wrapped{prepare: func(tensors []string) []string {
			if strings.HasPrefix(tensors[0], "no tensor") {
				return []string{"y"}
			}
			return tensors
		}}},
		{"a tensor alone: tensor \"h\"", wrapped{run: func(e onnx.Evaluator, dst, inputs [][]float64, rows int) error {
			err := e.Run(dst, inputs, rows)
			if len(dst) == 1 && len(dst[0]) > 0 {
				dst[0][0]++
			}
			return err
		}}},
	} {
		if err := test(c.w, 1e-12); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s is not noticed: %v", c.say, err)
		}
	}
}
