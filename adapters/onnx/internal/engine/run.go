// Package engine runs a graph on blocks of rows: it keeps the nodes that the wanted
// tensors need, lets tensors share memory, and compiles the nodes to steps.
package engine

import (
	"fmt"
	"slices"
	"sync"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// Precision is what floating point values are computed in.
type Precision uint8

const (
	// Double computes in float64: statistics need values without noise, and a
	// float network's weights are exact in it. Inputs, and operands of nodes that
	// jump, have the types that the graph declares all the same.
	Double Precision = iota
	// Single computes in float32, as most runtimes do, for speed. A graph with
	// tensors of type double is computed in float64 all the same.
	Single
)

// Options are the settings of a Runner; the zero value holds the defaults.
type Options struct {
	Precision Precision
	// MaxMemory bounds the bytes that one Run works in. 0: 4 GiB.
	MaxMemory int64
	// Split prepares weights for matrix units in float32; nil: products are made by vectors.
	Split operator.Split
	// Apart runs every node of the graph as it is there, for comparison: none is joined
	// with others or folded into them.
	Apart bool
	// LayerByLayer computes networks of one number as their layers, for comparison: not as the
	// piecewise linear functions that they are.
	LayerByLayer bool
}

// Runner evaluates chosen tensors of a graph on blocks of rows. It is immutable
// and safe for concurrent use; each Run uses one goroutine and a pooled arena.
type Runner struct {
	inputs, want []*graph.Value
	plan         *runPlan
	double       bool // computes in float64
	NewWorkspace func() Workspace
	pool         sync.Pool // of workspaces
	PerRow       int64     // bytes of arena
}

// Workspace runs a prepared graph in memory of its own, one block of rows at a time.
type Workspace interface {
	// Cut sizes the memory for blocks of that many rows, at least one.
	Cut(rows int) error
	// View is the memory of an input or a wanted tensor if it holds rows as Run
	// takes them, else nil. An input may be written there before run, rounded to its
	// type (Enter), and what is wanted be read there until the next one; Cut takes it
	// away.
	View(v *graph.Value) []float64
	// Run is Runner.Run; dst and inputs that are views are where they belong. Inputs of
	// text are the numbers that Texts has for them.
	Run(dst, inputs [][]float64) error
	// Texts numbers the texts of inputs; who calls its Forget numbers them again.
	Texts() *graph.Texts
}

// New prepares the evaluation of the given tensors of g (any of them:
// inputs, outputs or in between), and only of the nodes they need. Constants
// cannot be asked for: they do not depend on rows.
func New(g *graph.Graph, want []*graph.Value, o Options) (*Runner, error) {
	if o.MaxMemory < 0 {
		return nil, fmt.Errorf("onnx: negative MaxMemory in Options")
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = graph.DefaultMemory
	}
	for i, v := range want {
		if v == nil {
			return nil, fmt.Errorf("onnx: tensor %d to evaluate is nil", i)
		}
		if known := g.Values[v.Name]; known != v {
			return nil, fmt.Errorf("onnx: tensor %q does not belong to the graph", v.Name)
		}
		if v.Type == graph.String {
			return nil, fmt.Errorf("onnx: tensor %q is text; only numbers can be asked for", v.Name)
		}
		if v.BatchAxis() < 0 {
			return nil, fmt.Errorf("onnx: tensor %q of shape %v does not depend on rows", v.Name, v.Shape)
		}
	}
	p := planRun(g, want, o)
	r := &Runner{inputs: g.Inputs, want: want, plan: p, double: p.double}
	var err error
	if r.double {
		r.NewWorkspace, r.PerRow, err = prepare[float64](g, p, want, o)
	} else {
		r.NewWorkspace, r.PerRow, err = prepare[float32](g, p, want, o)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Wanted lists the tensors asked for.
func (r *Runner) Wanted() []*graph.Value { return r.want }

// Run evaluates a block of rows. inputs follow Graph.Inputs, each rows x Width,
// row-major (whatever the tensor's axes: the batch axis comes first here); dst
// follows the tensors asked for, likewise, and is overwritten. inputs are only
// read. Their numbers enter the network rounded to the type that the input declares,
// infinite beyond its range; integers must be exact. Row i of dst depends on row i of
// inputs alone, bit for bit: neither on the other rows nor on how many there are. Blocks
// of some 256 rows stay in cache. An input that no wanted tensor needs may be nil. Inputs
// of text are the numbers of Graph.Texts; other texts need RunTexts.
func (r *Runner) Run(dst, inputs [][]float64, rows int) error {
	return r.RunTexts(dst, inputs, nil, rows)
}

// RunTexts is Run with inputs of text: texts[i], where it is not nil, holds input i, rows
// x Width, and inputs[i] is not read.
func (r *Runner) RunTexts(dst, inputs [][]float64, texts [][]string, rows int) error {
	if rows < 0 {
		return fmt.Errorf("onnx: %d rows to run", rows)
	}
	if len(dst) != len(r.want) {
		return fmt.Errorf("onnx: %d destinations for %d tensors", len(dst), len(r.want))
	}
	for i, v := range r.want {
		if w := v.Width(); len(dst[i]) != rows*w {
			return fmt.Errorf("onnx: the destination of tensor %q holds %d values, but %d rows of %d need %d", v.Name, len(dst[i]), rows, w, rows*w)
		}
	}
	if len(inputs) != len(r.inputs) {
		return fmt.Errorf("onnx: %d inputs given, the graph has %d", len(inputs), len(r.inputs))
	}
	if rows == 0 {
		return nil
	}
	e, ok := r.pool.Get().(Workspace)
	if !ok {
		e = r.NewWorkspace()
	}
	defer r.pool.Put(e)
	if err := e.Cut(rows); err != nil {
		return err
	}
	if texts != nil {
		var err error
		if inputs, err = r.numbered(e.Texts(), inputs, texts); err != nil {
			return err
		}
	}
	return e.Run(dst, inputs)
}

// numbered is inputs with the numbers of the texts.
func (r *Runner) numbered(table *graph.Texts, inputs [][]float64, texts [][]string) ([][]float64, error) {
	if len(texts) != len(inputs) {
		return nil, fmt.Errorf("onnx: %d inputs of text or nil given, the graph has %d", len(texts), len(inputs))
	}
	table.Forget()
	out := slices.Clone(inputs)
	for i, list := range texts {
		if list == nil {
			continue
		}
		if r.inputs[i].Type != graph.String {
			return nil, fmt.Errorf("onnx: input %q takes %s and was given text", r.inputs[i].Name, r.inputs[i].Type)
		}
		out[i] = make([]float64, len(list))
		for j, s := range list {
			n, err := table.Number(s)
			if err != nil {
				return nil, err
			}
			out[i][j] = float64(n)
		}
	}
	return out, nil
}

// Views reports whether workspaces have a view of v.
func (r *Runner) Views(v *graph.Value) bool { return r.double && r.plan.batchFirst(v) }
