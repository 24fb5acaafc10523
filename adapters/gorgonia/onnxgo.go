package gorgonia

import (
	"fmt"
	"math"
	"slices"
	"sync"

	onnxgo "github.com/owulveryck/onnx-go"
	"github.com/owulveryck/onnx-go/backend/x/gorgonnx"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/pho-go/pho/adapters/onnx"
)

// Engine is an onnx.Engine that evaluates a network as onnx-go v0.5.0 reads it. onnx-go
// knows 40 operators or so and does not check all of what it is given: some networks it
// answers wrongly and without an error. So the first rows of each evaluator are computed
// by onnx.GoEngine, too, and a network whose answers differ by more than Tolerance is
// refused by name, then and from then on. The zero value holds the defaults.
//
// onnx-go gives a network's output and no tensor in between: models are black boxes
// (onnx.Options.NoStructure), with one output.
type Engine struct {
	// Rows is the number of rows that its graph has, as in New. 0: 256.
	Rows int
	// Tolerance is what |difference| / (1 + |value|) may be at the first rows: onnx-go
	// computes in float. 0: 1e-4.
	Tolerance float64
}

// Prepare is onnx.Engine's. Errors: a network loaded without KeepFile, several outputs, a
// tensor that is not the output, an operator that onnx-go lacks, what it panics with.
func (e Engine) Prepare(g *onnx.Graph, tensors []string) (onnx.Evaluator, error) {
	if e.Rows < 0 || e.Tolerance < 0 {
		return nil, fmt.Errorf("gorgonia: Rows %d and Tolerance %g must not be negative", e.Rows, e.Tolerance)
	}
	if e.Rows == 0 {
		e.Rows = 256
	}
	if e.Tolerance == 0 {
		e.Tolerance = 1e-4
	}
	if g.File() == nil {
		return nil, fmt.Errorf("gorgonia: the network was loaded without its file; set onnx.LoadOptions.KeepFile")
	}
	ev := &evaluator{Engine: e, file: g.File(), inputs: g.Inputs()}
	for _, name := range tensors {
		t, ok := g.Tensor(name)
		if !ok {
			return nil, fmt.Errorf("gorgonia: the network computes no tensor %q", name)
		}
		if !slices.ContainsFunc(g.Outputs(), func(o onnx.Tensor) bool { return o.Name == name }) {
			return nil, fmt.Errorf("gorgonia: onnx-go gives outputs alone, not tensor %q; open the network as a black box (onnx.Options.NoStructure)", name)
		}
		ev.want = append(ev.want, t)
	}
	for _, t := range slices.Concat(ev.inputs, ev.want) {
		if t.Shape[0] != onnx.Batch || t.Type != "float" && t.Type != "double" {
			return nil, fmt.Errorf("gorgonia: tensor %q (%s %v) cannot be run by onnx-go, which takes float and double with the batch axis first", t.Name, t.Type, t.Shape)
		}
	}
	r, err := ev.newReading()
	if err != nil {
		return nil, err
	}
	ev.pool.Put(r)
	if ev.judge, err = (onnx.GoEngine{}).Prepare(g, tensors); err != nil {
		return nil, err
	}
	return ev, nil
}

// evaluator is an onnx.Evaluator.
type evaluator struct {
	Engine
	file         []byte
	inputs, want []onnx.Tensor
	pool         sync.Pool // of *reading

	first   sync.Mutex
	judge   onnx.Evaluator // nil: the network has been compared
	refusal error
}

// reading is a network as onnx-go reads it, with memory for its rows.
type reading struct {
	*program
	inputs []*matrix
	output *G.Node
}

func (ev *evaluator) newReading() (r *reading, err error) {
	building.Lock()
	defer building.Unlock()
	defer recovered(&err, "onnx-go, reading the network")
	backend := gorgonnx.NewGraph()
	m := onnxgo.NewModel(backend)
	if err := m.UnmarshalBinary(ev.file); err != nil {
		return nil, fmt.Errorf("gorgonia: onnx-go cannot read the network: %w", err)
	}
	if len(m.Input) != len(ev.inputs) || len(m.Output) != 1 {
		return nil, fmt.Errorf("gorgonia: onnx-go sees %d inputs and %d outputs of the network; it must have one output and the inputs of the graph, %d", len(m.Input), len(m.Output), len(ev.inputs))
	}
	r = &reading{}
	for i, t := range ev.inputs {
		shape := tensor.Shape(slices.Clone(t.Shape))
		shape[0] = ev.Rows
		typ := tensor.Float32
		if t.Type == "double" {
			typ = tensor.Float64
		}
		x := newMatrix(shape, typ)
		if err := backend.Node(m.Input[i]).(*gorgonnx.Node).SetTensor(x.tensor); err != nil {
			return nil, fmt.Errorf("gorgonia: onnx-go, input %q: %w", t.Name, err)
		}
		r.inputs = append(r.inputs, x)
	}
	graph, err := backend.GetExprGraph()
	if err != nil {
		return nil, fmt.Errorf("gorgonia: onnx-go cannot build the network: %w", err)
	}
	var roots G.Nodes
	for _, n := range graph.Roots() {
		if n.Op() != nil {
			roots = append(roots, n)
		}
	}
	if len(roots) != 1 {
		return nil, fmt.Errorf("gorgonia: onnx-go's graph ends in %d nodes, and which of them is the output cannot be told", len(roots))
	}
	r.output = roots[0]
	if r.program, err = newProgram(r.output); err != nil {
		return nil, err
	}
	return r, r.bind(ev)
}

// bind finds the nodes of the inputs, by the tensors that they were given.
func (r *reading) bind(ev *evaluator) error {
	for i, x := range r.inputs {
		found := false
		for _, n := range r.nodes {
			if n.Op() == nil && n.Value() == G.Value(x.tensor) {
				r.set(n, x.tensor)
				found = true
			}
		}
		if !found {
			return fmt.Errorf("gorgonia: onnx-go's output does not depend on input %q", ev.inputs[i].Name)
		}
	}
	return nil
}

// Run is onnx.Evaluator's.
func (ev *evaluator) Run(dst, inputs [][]float64, rows int) error {
	if err := ev.fits(dst, inputs, rows); err != nil {
		return err
	}
	if rows == 0 {
		return nil
	}
	if err := ev.compared(inputs, rows); err != nil {
		return err
	}
	return ev.run(dst, inputs, rows)
}

func (ev *evaluator) fits(dst, inputs [][]float64, rows int) error {
	if rows < 0 || len(dst) != len(ev.want) || len(inputs) != len(ev.inputs) {
		return fmt.Errorf("gorgonia: %d rows of %d inputs into %d destinations; the network has %d inputs, and %d tensors were asked for", rows, len(inputs), len(dst), len(ev.inputs), len(ev.want))
	}
	for i, t := range ev.want {
		if n := rows * t.Width(); len(dst[i]) != n {
			return fmt.Errorf("gorgonia: the destination of tensor %q holds %d values, but %d rows need %d", t.Name, len(dst[i]), rows, n)
		}
	}
	for i, t := range ev.inputs {
		if n := rows * t.Width(); len(inputs[i]) != n {
			return fmt.Errorf("gorgonia: input %q was given %d values, but %d rows need %d", t.Name, len(inputs[i]), rows, n)
		}
	}
	return nil
}

// run computes blocks of the graph's rows.
func (ev *evaluator) run(dst, inputs [][]float64, rows int) error {
	r, ok := ev.pool.Get().(*reading)
	if !ok {
		var err error
		if r, err = ev.newReading(); err != nil {
			return err
		}
	}
	defer ev.pool.Put(r)
	for at := 0; at < rows; at += ev.Rows {
		n := min(ev.Rows, rows-at)
		for i, x := range r.inputs {
			width := ev.inputs[i].Width()
			for row := range ev.Rows {
				from := (at + min(row, n-1)) * width
				for j, v := range inputs[i][from : from+width] {
					x.set(row*width+j, v)
				}
			}
		}
		if err := r.run(); err != nil {
			return fmt.Errorf("%w, as onnx-go reads the network", err)
		}
		for i, t := range ev.want {
			width := t.Width()
			y, err := rowMajor(r.value(r.output), ev.Rows*width)
			if err != nil {
				return fmt.Errorf("gorgonia: onnx-go's tensor %q: %w", t.Name, err)
			}
			y.copyTo(dst[i][at*width:(at+n)*width], 0)
		}
	}
	return nil
}

// compared compares the first rows with onnx.GoEngine's, once.
func (ev *evaluator) compared(inputs [][]float64, rows int) error {
	ev.first.Lock()
	defer ev.first.Unlock()
	if ev.judge == nil {
		return ev.refusal
	}
	n := min(rows, ev.Rows)
	own, theirs := make([][]float64, len(ev.want)), make([][]float64, len(ev.want))
	head := make([][]float64, len(inputs))
	for i, t := range ev.inputs {
		head[i] = inputs[i][:n*t.Width()]
	}
	for i, t := range ev.want {
		own[i], theirs[i] = make([]float64, n*t.Width()), make([]float64, n*t.Width())
	}
	if err := ev.judge.Run(own, head, n); err != nil {
		return err
	}
	ev.refusal = ev.run(theirs, head, n)
	for i, t := range ev.want {
		if ev.refusal == nil {
			ev.refusal = ev.differs(t, theirs[i], own[i])
		}
	}
	ev.judge = nil
	return ev.refusal
}

func (ev *evaluator) differs(t onnx.Tensor, theirs, own []float64) error {
	for i, w := range own {
		y := theirs[i]
		if y == w || math.IsNaN(y) && math.IsNaN(w) || math.Abs(y-w) <= ev.Tolerance*(1+math.Abs(w)) {
			continue
		}
		return fmt.Errorf("gorgonia: onnx-go computes tensor %q wrongly: row %d, element %d is %g, onnx.GoEngine has %g; use onnx.GoEngine", t.Name, i/t.Width(), i%t.Width(), y, w)
	}
	return nil
}
