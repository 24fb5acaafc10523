// Package onnxtest checks anyone's onnx.Engine against the laws that package onnx relies
// on, in the style of testing/fstest: Engine returns an error that lists every law that
// was broken and where.
package onnxtest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/pho-go/pho/adapters/onnx"
)

// Engine checks e at some tensors of g, on rows of inputs (as onnx.Evaluator takes them,
// in the types of the network's inputs):
//
//   - it computes what onnx.GoEngine does, up to tolerance times 1 + the value;
//   - it overwrites whatever dst held, and leaves inputs alone;
//   - a row's values depend on that row alone: rows one by one and in other company give
//     the same, up to tolerance, and no rows give no error;
//   - each tensor alone gives what it gives among all;
//   - one Evaluator may be used from many goroutines;
//   - a tensor that the network does not have, and slices of wrong lengths, are errors,
//     not panics.
//
// g is loaded with LoadOptions.KeepFile if e needs that.
func Engine(e onnx.Engine, g *onnx.Graph, tensors []string, inputs [][]float64, rows int, tolerance float64) error {
	return compare(e, onnx.GoEngine{}, g, tensors, inputs, rows, tolerance)
}

// compare checks e next to another engine.
func compare(e, with onnx.Engine, g *onnx.Graph, tensors []string, inputs [][]float64, rows int, tolerance float64) error {
	if rows < 2 || len(tensors) == 0 {
		return errors.New("onnxtest: need at least two rows and a tensor to test with")
	}
	c := &check{e: e, g: g, tensors: tensors, inputs: inputs, rows: rows, tolerance: tolerance}
	own, err := with.Prepare(g, tensors)
	if err != nil {
		return err
	}
	if c.want, err = c.run(own, tensors, inputs, rows); err != nil {
		return fmt.Errorf("onnxtest: the engine to compare with: %w", err)
	}
	prepared, err := e.Prepare(g, tensors)
	if err != nil {
		return fmt.Errorf("onnxtest: Prepare: %w", err)
	}
	c.values(prepared)
	c.apart(prepared)
	c.together(prepared)
	c.alone()
	c.refusals(prepared)
	return errors.Join(c.faults...)
}

// check is one call of Engine.
type check struct {
	e         onnx.Engine
	g         *onnx.Graph
	tensors   []string
	inputs    [][]float64
	rows      int
	tolerance float64
	want      [][]float64 // GoEngine's
	mutex     sync.Mutex
	faults    []error
}

func (c *check) fault(format string, args ...any) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if len(c.faults) < 20 {
		c.faults = append(c.faults, fmt.Errorf("onnxtest: "+format, args...))
	}
}

func (c *check) width(tensor string) int {
	t, _ := c.g.Tensor(tensor)
	return t.Width()
}

// run computes rows into memory filled with NaN.
func (c *check) run(e onnx.Evaluator, tensors []string, inputs [][]float64, rows int) ([][]float64, error) {
	var dst [][]float64
	for _, name := range tensors {
		dst = append(dst, slices.Repeat([]float64{math.NaN()}, rows*c.width(name)))
	}
	return dst, e.Run(dst, inputs, rows)
}

// compare reports the first value of a tensor that is not want.
func (c *check) compare(what, tensor string, got, want []float64) {
	for i, w := range want {
		same := math.Abs(got[i]-w) <= c.tolerance*(1+math.Abs(w)) || got[i] == w || math.IsNaN(got[i]) && math.IsNaN(w)
		if !same {
			width := c.width(tensor)
			c.fault("%s: tensor %q, row %d, element %d is %v, want %v", what, tensor, i/width, i%width, got[i], w)
			return
		}
	}
}

func (c *check) values(e onnx.Evaluator) {
	before := make([][]float64, len(c.inputs))
	for i, x := range c.inputs {
		before[i] = slices.Clone(x)
	}
	got, err := c.run(e, c.tensors, c.inputs, c.rows)
	if err != nil {
		c.fault("Run: %w", err)
		return
	}
	for k, name := range c.tensors {
		c.compare("next to GoEngine", name, got[k], c.want[k])
	}
	for i, x := range c.inputs {
		if !slices.EqualFunc(x, before[i], func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			c.fault("Run changed input %d", i)
		}
	}
}

// part is rows from:to of the inputs.
func (c *check) part(from, to int) [][]float64 {
	out := make([][]float64, len(c.inputs))
	for i, in := range c.g.Inputs() {
		if w := in.Width(); c.inputs[i] != nil {
			out[i] = c.inputs[i][from*w : to*w]
		}
	}
	return out
}

// apart: rows one by one, the second half, and none.
func (c *check) apart(e onnx.Evaluator) {
	at := func(what string, from, to int) {
		got, err := c.run(e, c.tensors, c.part(from, to), to-from)
		if err != nil {
			c.fault("%s: %w", what, err)
			return
		}
		for k, name := range c.tensors {
			w := c.width(name)
			c.compare(what, name, got[k], c.want[k][from*w:to*w])
		}
	}
	for i := range c.rows {
		at(fmt.Sprintf("row %d alone", i), i, i+1)
	}
	at("the second half of the rows", c.rows/2, c.rows)
	at("no rows", 0, 0)
}

func (c *check) together(e onnx.Evaluator) {
	var wait sync.WaitGroup
	for k := range 8 {
		wait.Go(func() {
			from := k % c.rows
			got, err := c.run(e, c.tensors, c.part(from, c.rows), c.rows-from)
			if err != nil {
				c.fault("from several goroutines: %w", err)
				return
			}
			for k, name := range c.tensors {
				c.compare("from several goroutines", name, got[k], c.want[k][from*c.width(name):])
			}
		})
	}
	wait.Wait()
}

func (c *check) alone() {
	for k, name := range c.tensors {
		e, err := c.e.Prepare(c.g, []string{name})
		if err != nil {
			c.fault("Prepare of %q alone: %w", name, err)
			continue
		}
		got, err := c.run(e, []string{name}, c.inputs, c.rows)
		if err != nil {
			c.fault("tensor %q alone: %w", name, err)
			continue
		}
		c.compare("a tensor alone", name, got[0], c.want[k])
	}
}

// refusals: what does not fit is an error.
func (c *check) refusals(e onnx.Evaluator) {
	missing := "no tensor of this name"
	for _, ok := c.g.Tensor(missing); ok; _, ok = c.g.Tensor(missing) {
		missing += "!"
	}
	if _, err := c.e.Prepare(c.g, []string{missing}); err == nil {
		c.fault("Prepare accepts a tensor that the network does not have")
	}
	dst := func(short int) [][]float64 {
		var out [][]float64
		for _, name := range c.tensors {
			out = append(out, make([]float64, c.rows*c.width(name)-short))
		}
		return out
	}
	cut := make([][]float64, len(c.inputs))
	for i, x := range c.inputs {
		cut[i] = x[:max(len(x)-1, 0)]
	}
	for _, wrong := range []struct {
		what        string
		dst, inputs [][]float64
		rows        int
	}{
		{"too few destinations", dst(0)[1:], c.inputs, c.rows},
		{"destinations that are too short", dst(1), c.inputs, c.rows},
		{"too few inputs", dst(0), c.inputs[1:], c.rows},
		{"inputs that are too short", dst(0), cut, c.rows},
		{"a negative number of rows", dst(0), c.inputs, -1},
	} {
		if err := c.attempt(e, wrong.dst, wrong.inputs, wrong.rows); err == nil {
			c.fault("Run accepts %s", wrong.what)
		}
	}
}

// attempt turns a panic into a fault of its own.
func (c *check) attempt(e onnx.Evaluator, dst, inputs [][]float64, rows int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("panic")
			c.fault("Run panics: %v", r)
		}
	}()
	return e.Run(dst, inputs, rows)
}
