package onnx

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Engine computes tensors of networks. GoEngine is the one of this package; another
// runtime, which reads Graph.File, is an adapter that implements this interface.
// Package onnxtest checks one.
// Structure, terms and what enters a network are the same whatever engine runs it.
type Engine interface {
	// Prepare makes ready to compute the tensors of that names (Graph.Tensor: inputs,
	// outputs or in between), once for all blocks of rows. A name that g does not have
	// is an error; so may be one that the file does not have (Graph.InFile).
	Prepare(g *Graph, tensors []string) (Evaluator, error)
}

// Evaluator computes the tensors that it was prepared for. It is safe for concurrent
// use; each Run uses the goroutine of its caller alone.
type Evaluator interface {
	// Run computes a block of rows. inputs follow Graph.Inputs, each rows x Width,
	// row-major, the batch axis first whatever the tensor's axes; dst follows the
	// tensors prepared for, likewise, and is overwritten (Graph.RowLayout says where a
	// tensor holds the entries of a row, if not side by side). inputs are only read. Their
	// numbers are rounded to the type of the input, infinite beyond its range; integers
	// and truth values (0 and 1) are exact. Row i of dst depends on row i of inputs
	// alone: neither on the other rows nor on how many there are.
	// Slices of another length, and numbers that an input cannot hold, are errors. An
	// input that no tensor needs may be nil. Slices are not kept.
	Run(dst, inputs [][]float64, rows int) error
}

// TextEvaluator is an Evaluator that takes inputs of text, too. A network that reads text
// needs one.
type TextEvaluator interface {
	Evaluator
	// RunTexts is Run with texts: texts[i] holds input i if that is of type string, rows
	// x Width as inputs do, and inputs[i] is not read; of other inputs it is nil.
	RunTexts(dst, inputs [][]float64, texts [][]string, rows int) error
}

// Precision is what GoEngine computes floating point values in.
// Double is the default, for float32 weights too: parts then sum to the network's output to 1e-12,
// and a larger error is a fault and not rounding. Its price is speed: half as many numbers fit into
// a vector register.
type Precision uint8

const (
	// Double computes in float64: statistics need values without noise, and a
	// float network's weights are exact in it. Inputs, and operands of nodes that
	// jump, have the types that the graph declares all the same.
	Double = Precision(engine.Double)
	// Single computes in float32, as most runtimes do, for speed. A graph with
	// tensors of type double is computed in float64 all the same.
	Single = Precision(engine.Single)
)

// GoEngine is the engine of this package, in pure Go; the zero value holds the
// defaults. A row gives the same bits in every block. Blocks of some 256 rows stay in
// cache.
type GoEngine struct {
	Precision Precision
	// MaxMemory bounds the bytes that one Run works in. 0: 4 GiB.
	MaxMemory int64
	// NoMatrixUnits: where the processor has matrix units (AMX), Single multiplies on them with
	// the accuracy of float32: each number is a sum of three parts. Last digits differ from those of
	// vector instructions. With this set, such a processor computes as one without units does. After
	// Linux has given a process the units, C code in it cannot handle signals on small stacks.
	NoMatrixUnits bool
}

// Prepare is Engine's; only the nodes that the tensors need are run.
func (e GoEngine) Prepare(g *Graph, tensors []string) (Evaluator, error) {
	var want []*graph.Value
	for _, name := range tensors {
		v, ok := g.g.Value(name)
		if !ok {
			return nil, fmt.Errorf("onnx: the network computes no tensor %q", name)
		}
		want = append(want, v)
	}
	r, err := engine.New(g.g, want, e.options())
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (e GoEngine) options() engine.Options {
	o := engine.Options{Precision: engine.Precision(e.Precision), MaxMemory: e.MaxMemory}
	if e.Precision == Single && !e.NoMatrixUnits {
		o.Split = kernel.PackSplit
	}
	return o
}

// foreign runs another's Evaluator as Model runs ours, without memory to look into.
type foreign struct {
	Evaluator
	inputs []*graph.Value
	texts  *graph.Texts
	rows   int
}

func (f *foreign) Texts() *graph.Texts { return f.texts }

func (f *foreign) Cut(rows int) error {
	f.rows = rows
	return nil
}

func (f *foreign) View(*graph.Value) []float64 { return nil }

func (f *foreign) Run(dst, inputs [][]float64) error {
	e, takesText := f.Evaluator.(TextEvaluator)
	if !takesText {
		return f.Evaluator.Run(dst, inputs, f.rows)
	}
	texts := make([][]string, len(inputs))
	for i, v := range f.inputs {
		if v.Type != graph.String {
			continue
		}
		texts[i] = make([]string, len(inputs[i]))
		for j, n := range inputs[i] {
			texts[i][j] = f.texts.Text(int64(n))
		}
	}
	return e.RunTexts(dst, inputs, texts, f.rows)
}
