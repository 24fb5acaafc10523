package onnxruntime

import (
	"cmp"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// Engine is an onnx.Engine that computes by ONNX Runtime, in the types that the network
// declares: float for most, where onnx.GoEngine computes in double unless told otherwise.
// Networks are loaded with LoadOptions.KeepFile.
type Engine struct {
	// Runtime computes.
	Runtime Runtime
	// Rows is the number of rows of every call of ONNX Runtime. Blocks are cut to it, and
	// the last one is filled up with copies of a row: its kernels round otherwise for
	// another number of rows, and a row alone must give what it gives among others.
	// A network whose batch axis has a fixed size is called with that size, and one that
	// quantises dynamically, by the range of all rows of a call, with single rows. 0: as many,
	// a power of 2 from 4 to 256, as keep the largest tensor below a million numbers.
	Rows int
}

// Prepare is onnx.Engine's. It opens one session, which is closed when nobody holds the
// evaluator any more. Errors: a network loaded without KeepFile, one that ONNX Runtime
// refuses, and a tensor that the file does not compute under that name.
func (e *Engine) Prepare(g *onnx.Graph, tensors []string) (onnx.Evaluator, error) {
	if g.File() == nil {
		return nil, errors.New("onnxruntime: the network was loaded without its file; set LoadOptions.KeepFile")
	}
	file := read(g.File())
	ev := &evaluator{inputs: g.Inputs()}
	var outputs, added []string
	for _, name := range tensors {
		t, ok := g.Tensor(name)
		if !ok {
			return nil, fmt.Errorf("onnxruntime: the network computes no tensor %q", name)
		}
		if !g.InFile(name) {
			return nil, fmt.Errorf("onnxruntime: tensor %q is inside a loop, branch, function or split ensemble of the file, which gives it no name outside; use onnx.GoEngine", name)
		}
		ev.want = append(ev.want, t)
		if input := slices.IndexFunc(ev.inputs, func(in onnx.Tensor) bool { return in.Name == name }); input >= 0 {
			ev.from = append(ev.from, port{input: true, at: input})
			continue
		}
		at := slices.Index(outputs, name)
		if at < 0 {
			at, outputs = len(outputs), append(outputs, name)
			switch isTensor, ok := file.outputs[name]; {
			case !ok:
				added = append(added, name)
			case !isTensor:
				return nil, fmt.Errorf("onnxruntime: output %q is no tensor in the file (a ZipMap's maps); ask for the tensor that enters it, or use onnx.GoEngine", name)
			}
		}
		ev.from = append(ev.from, port{at: at})
	}
	if err := ev.settleRows(g, file, cmp.Or(e.Rows, rowsFor(g))); err != nil {
		return nil, err
	}
	n := Network{File: withOutputs(g.File(), added), External: g.External()}
	for _, t := range ev.inputs {
		in, l := ev.whole(g, t)
		n.Inputs, ev.inLayout = append(n.Inputs, in), append(ev.inLayout, l)
	}
	for _, name := range outputs {
		t, _ := g.Tensor(name)
		out, l := ev.whole(g, t)
		n.Outputs, ev.outLayout = append(n.Outputs, out), append(ev.outLayout, l)
	}
	for _, t := range slices.Concat(n.Inputs, n.Outputs) {
		if _, err := t.Bytes(); err != nil {
			return nil, fmt.Errorf("onnxruntime: %w; use onnx.GoEngine", err)
		}
	}
	if len(outputs) == 0 {
		ev.session = inputsAlone{n.Inputs}
		return ev, nil
	}
	session, err := e.Runtime.Open(n)
	if err != nil {
		return nil, fmt.Errorf("onnxruntime: ONNX Runtime cannot compute %q: %w", outputs, err)
	}
	ev.session = session
	goruntime.AddCleanup(ev, func(s Session) { _ = s.Close() }, session)
	return ev, nil
}

// rowsFor is how many rows of g a call has: their activations stay in the processor's caches or
// near, while products are wide enough for its speed.
func rowsFor(g *onnx.Graph) int {
	const numbers, fewest, most = 1 << 20, 4, 256
	widest := 1
	for _, t := range g.Inputs() {
		widest = max(widest, t.Width())
	}
	for _, n := range g.Checked().Nodes {
		for _, v := range n.Outputs {
			if v.BatchAxis() >= 0 {
				widest = max(widest, v.Width())
			}
		}
	}
	rows := fewest
	for rows < most && 2*rows*widest <= numbers {
		rows *= 2
	}
	return rows
}

// port is where an evaluator finds a tensor: an input or an output of its calls.
type port struct {
	input bool
	at    int
}

// evaluator is an onnx.Evaluator.
type evaluator struct {
	session             Session
	inputs, want        []onnx.Tensor
	from                []port // of what is wanted
	inLayout, outLayout []layout
	rows                int // of a call

	mu   sync.Mutex
	idle []Call // as many as there were callers at a time: a helper keeps memory for each call that it was ever told of
}

// settleRows takes the number of rows of a call from an input that fixes it; one by one
// where a call mixes its rows.
func (ev *evaluator) settleRows(g *onnx.Graph, file description, rows int) error {
	ev.rows = rows
	fixed, by := 0, ""
	for _, t := range ev.inputs {
		dims, ok := file.inputs[t.Name]
		if !ok || len(dims) != len(t.Shape) {
			continue // an axis that the file says nothing of is free
		}
		n := int(dims[batchAxis(t)])
		switch {
		case n <= 0:
		case fixed > 0 && n != fixed:
			return fmt.Errorf("onnxruntime: inputs %q and %q have batch axes of %d and %d rows", by, t.Name, fixed, n)
		default:
			fixed, by = n, t.Name
		}
	}
	mixes := mixesRows(g)
	switch {
	case fixed > 1 && mixes:
		return fmt.Errorf("onnxruntime: the network quantises dynamically, by the range of all rows of a call, and its batch axis has %d rows: a row's values would depend on others", fixed)
	case fixed > 0:
		ev.rows = fixed
	case mixes:
		ev.rows = 1
	}
	return nil
}

// mixesRows reports whether an operator's definition takes the range of its whole input, all rows together: dynamic
// quantisation.
func mixesRows(g *onnx.Graph) bool {
	return slices.ContainsFunc(g.Checked().Nodes, func(n *graph.Node) bool { return strings.HasPrefix(n.Op, "DynamicQuantize") })
}

// Run is onnx.Evaluator's.
func (ev *evaluator) Run(dst, inputs [][]float64, rows int) error {
	if err := ev.fits(dst, inputs, rows); err != nil {
		return err
	}
	call, err := ev.call()
	if err != nil {
		return fmt.Errorf("onnxruntime: memory for %d rows: %w", ev.rows, err)
	}
	defer ev.leave(call)
	for at := 0; at < rows; at += ev.rows {
		if err := ev.run(call, dst, inputs, at, min(ev.rows, rows-at)); err != nil {
			return fmt.Errorf("onnxruntime: %w", err)
		}
	}
	return nil
}

// call is one for a caller, until leave.
func (ev *evaluator) call() (Call, error) {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	if n := len(ev.idle); n > 0 {
		c := ev.idle[n-1]
		ev.idle = ev.idle[:n-1]
		return c, nil
	}
	return ev.session.NewCall()
}

func (ev *evaluator) leave(c Call) {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	ev.idle = append(ev.idle, c)
}

// run computes rows at to at+n-1.
func (ev *evaluator) run(call Call, dst, inputs [][]float64, at, n int) error {
	for i, t := range ev.inputs {
		if inputs[i] == nil {
			continue // nothing that is wanted needs it
		}
		width := t.Width()
		if err := ev.inLayout[i].enter(call.In(i), inputs[i][at*width:(at+n)*width], n); err != nil {
			return fmt.Errorf("input %q: %w", t.Name, err)
		}
	}
	if err := call.Run(); err != nil {
		return err
	}
	for i, t := range ev.want {
		width, p := t.Width(), ev.from[i]
		rows := dst[i][at*width : (at+n)*width]
		switch {
		case !p.input:
			ev.outLayout[p.at].leave(rows, call.Out(p.at), n)
		case inputs[p.at] == nil:
			return fmt.Errorf("input %q is asked for and not given", t.Name)
		default:
			ev.inLayout[p.at].leave(rows, call.In(p.at), n)
		}
	}
	return nil
}

func (ev *evaluator) fits(dst, inputs [][]float64, rows int) error {
	if rows < 0 || len(dst) != len(ev.want) || len(inputs) != len(ev.inputs) {
		return fmt.Errorf("onnxruntime: %d rows of %d inputs into %d destinations; the network has %d inputs, and %d tensors were asked for", rows, len(inputs), len(dst), len(ev.inputs), len(ev.want))
	}
	for i, t := range ev.want {
		if n := rows * t.Width(); len(dst[i]) != n {
			return fmt.Errorf("onnxruntime: the destination of tensor %q holds %d values, but %d rows need %d", t.Name, len(dst[i]), rows, n)
		}
	}
	for i, t := range ev.inputs {
		if n := rows * t.Width(); inputs[i] != nil && len(inputs[i]) != n {
			return fmt.Errorf("onnxruntime: input %q was given %d values, but %d rows need %d", t.Name, len(inputs[i]), rows, n)
		}
	}
	return nil
}

// inputsAlone is the session of an evaluator that computes nothing: inputs as they enter.
type inputsAlone struct{ inputs []Tensor }

func (s inputsAlone) Close() error { return nil }

func (s inputsAlone) NewCall() (Call, error) {
	c := &memory{}
	return c, c.make(s.inputs, nil)
}

// memory is a Call without a Run of its own.
type memory struct{ in, out [][]byte }

func (m *memory) In(i int) []byte  { return m.in[i] }
func (m *memory) Out(i int) []byte { return m.out[i] }
func (m *memory) Run() error       { return nil }

func (m *memory) make(in, out []Tensor) (err error) {
	if m.in, err = Memory(in); err == nil {
		m.out, err = Memory(out)
	}
	return err
}

// Memory is zeroed memory for each of the tensors, at addresses that suit their elements.
// Errors: those of Tensor.Bytes.
func Memory(tensors []Tensor) ([][]byte, error) {
	var all [][]byte
	for _, t := range tensors {
		n, err := t.Bytes()
		if err != nil {
			return nil, err
		}
		all = append(all, make([]byte, n))
	}
	return all, nil
}
