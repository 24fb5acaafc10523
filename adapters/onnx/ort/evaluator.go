package ort

import (
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"

	runtime "github.com/yalue/onnxruntime_go"

	"github.com/pho-go/pho/adapters/onnx"
)

// evaluator is an onnx.Evaluator: a session, and workspaces for as many callers as there
// are at a time.
type evaluator struct {
	graph   *onnx.Graph
	session *runtime.DynamicAdvancedSession
	inputs  []onnx.Tensor
	want    []onnx.Tensor
	from    []int // of what is wanted: the input that it is; -1: an output of the session
	rows    int   // of a call
	pool    sync.Pool
}

func (e *Engine) newEvaluator(g *onnx.Graph, tensors []string) (*evaluator, error) {
	ev := &evaluator{graph: g, inputs: g.Inputs(), rows: e.options.Rows}
	ins, outs, err := runtime.GetInputOutputInfoWithONNXData(g.File())
	if err != nil {
		return nil, fmt.Errorf("ort: ONNX Runtime refuses the network (which must hold its weights itself): %w", err)
	}
	var names, added []string
	for _, name := range tensors {
		t, ok := g.Tensor(name)
		if !ok {
			return nil, fmt.Errorf("ort: the network computes no tensor %q", name)
		}
		if !g.InFile(name) {
			return nil, fmt.Errorf("ort: tensor %q is inside a loop, branch or function of the file, which gives it no name outside; use onnx.GoEngine", name)
		}
		input := slices.IndexFunc(ev.inputs, func(in onnx.Tensor) bool { return in.Name == name })
		ev.want, ev.from = append(ev.want, t), append(ev.from, input)
		if input >= 0 || slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		switch i := slices.IndexFunc(outs, func(o runtime.InputOutputInfo) bool { return o.Name == name }); {
		case i < 0:
			added = append(added, name)
		case outs[i].OrtValueType != runtime.ONNXTypeTensor:
			return nil, fmt.Errorf("ort: output %q is no tensor in the file (a ZipMap's maps); ask for the tensor that enters it, or use onnx.GoEngine", name)
		}
	}
	for _, t := range slices.Concat(ev.inputs, ev.want) {
		if newPort(g, t, 0) == nil {
			return nil, fmt.Errorf("ort: tensor %q has elements of type %s, which this engine does not pass on; use onnx.GoEngine", t.Name, t.Type)
		}
	}
	if err := ev.settleRows(ins, mixesRows(g.File())); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return ev, nil // inputs alone
	}
	if ev.session, err = open(withOutputs(g.File(), added), ev.inputs, names, e.options.Threads); err != nil {
		return nil, fmt.Errorf("ort: ONNX Runtime cannot compute %q: %w", names, err)
	}
	goruntime.AddCleanup(ev, func(s *runtime.DynamicAdvancedSession) { _ = s.Destroy() }, ev.session)
	return ev, nil
}

// settleRows takes the number of rows of a call from an input that fixes it; one by one
// where a call mixes its rows.
func (ev *evaluator) settleRows(ins []runtime.InputOutputInfo, mixes bool) error {
	fixed, by := 0, ""
	for _, t := range ev.inputs {
		i := slices.IndexFunc(ins, func(in runtime.InputOutputInfo) bool { return in.Name == t.Name })
		if i < 0 || len(ins[i].Dimensions) != len(t.Shape) {
			return fmt.Errorf("ort: ONNX Runtime knows input %q with other axes than %v", t.Name, t.Shape)
		}
		n := int(ins[i].Dimensions[batchAxis(t)])
		switch {
		case n <= 0:
		case fixed > 0 && n != fixed:
			return fmt.Errorf("ort: inputs %q and %q have batch axes of %d and %d rows", by, t.Name, fixed, n)
		default:
			fixed, by = n, t.Name
		}
	}
	switch {
	case fixed > 1 && mixes:
		return fmt.Errorf("ort: the network quantises dynamically, by the range of all rows of a call, and its batch axis has %d rows: a row's values would depend on others", fixed)
	case fixed > 0:
		ev.rows = fixed
	case mixes:
		ev.rows = 1
	}
	return nil
}

func open(file []byte, inputs []onnx.Tensor, outputs []string, threads int) (*runtime.DynamicAdvancedSession, error) {
	o, err := runtime.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer o.Destroy()
	if err := o.SetIntraOpNumThreads(threads); err != nil {
		return nil, err
	}
	if err := o.SetInterOpNumThreads(1); err != nil {
		return nil, err
	}
	var names []string
	for _, t := range inputs {
		names = append(names, t.Name)
	}
	return runtime.NewDynamicAdvancedSessionWithONNXData(file, names, outputs, o)
}

// Run is onnx.Evaluator's.
func (ev *evaluator) Run(dst, inputs [][]float64, rows int) error {
	if err := ev.fits(dst, inputs, rows); err != nil {
		return err
	}
	w, ok := ev.pool.Get().(*workspace)
	if !ok {
		var err error
		if w, err = ev.newWorkspace(); err != nil {
			return err
		}
	}
	defer ev.pool.Put(w)
	for at := 0; at < rows; at += ev.rows {
		if err := w.run(ev, dst, inputs, at, min(ev.rows, rows-at)); err != nil {
			return err
		}
	}
	return nil
}

func (ev *evaluator) fits(dst, inputs [][]float64, rows int) error {
	if rows < 0 || len(dst) != len(ev.want) || len(inputs) != len(ev.inputs) {
		return fmt.Errorf("ort: %d rows of %d inputs into %d destinations; the network has %d inputs, and %d tensors were asked for", rows, len(inputs), len(dst), len(ev.inputs), len(ev.want))
	}
	for i, t := range ev.want {
		if n := rows * t.Width(); len(dst[i]) != n {
			return fmt.Errorf("ort: the destination of tensor %q holds %d values, but %d rows need %d", t.Name, len(dst[i]), rows, n)
		}
	}
	for i, t := range ev.inputs {
		if n := rows * t.Width(); inputs[i] != nil && len(inputs[i]) != n {
			return fmt.Errorf("ort: input %q was given %d values, but %d rows need %d", t.Name, len(inputs[i]), rows, n)
		}
	}
	return nil
}
