package ort

import (
	"fmt"
	goruntime "runtime"

	runtime "github.com/yalue/onnxruntime_go"
)

// workspace is the memory of one call: tensors of the fixed number of rows, bound once.
type workspace struct {
	inputs, outputs []port // outputs: of what is wanted, nil where it is an input
	in, out         []runtime.Value
}

func (ev *evaluator) newWorkspace() (*workspace, error) {
	w := &workspace{}
	r := &resources{}
	goruntime.AddCleanup(w, (*resources).release, r)
	bind := func(p port, values *[]runtime.Value) error {
		v, err := p.bind(&r.pinner)
		if err != nil {
			return fmt.Errorf("ort: memory for %d rows: %w", ev.rows, err)
		}
		*values, r.values = append(*values, v), append(r.values, v)
		return nil
	}
	for _, t := range ev.inputs {
		p := newPort(ev.graph, t, ev.rows)
		if err := bind(p, &w.in); err != nil {
			return nil, err
		}
		w.inputs = append(w.inputs, p)
	}
	bound := map[string]port{}
	for i, t := range ev.want {
		p := bound[t.Name]
		if ev.from[i] < 0 && p == nil {
			p = newPort(ev.graph, t, ev.rows)
			if err := bind(p, &w.out); err != nil {
				return nil, err
			}
			bound[t.Name] = p
		}
		w.outputs = append(w.outputs, p)
	}
	return w, nil
}

// resources are what the garbage collector does not free by itself.
type resources struct {
	pinner goruntime.Pinner
	values []runtime.Value
}

func (r *resources) release() {
	for _, v := range r.values {
		_ = v.Destroy()
	}
	r.pinner.Unpin()
}

// run computes rows at to at+n-1.
func (w *workspace) run(ev *evaluator, dst, inputs [][]float64, at, n int) error {
	for i, t := range ev.inputs {
		if inputs[i] == nil {
			continue // nothing that is wanted needs it
		}
		width := t.Width()
		if err := w.inputs[i].enter(inputs[i][at*width:(at+n)*width], n); err != nil {
			return fmt.Errorf("ort: input %q: %w", t.Name, err)
		}
	}
	if len(w.out) > 0 {
		if err := ev.session.Run(w.in, w.out); err != nil {
			return fmt.Errorf("ort: %w", err)
		}
	}
	for i, t := range ev.want {
		width := t.Width()
		p := w.outputs[i]
		if from := ev.from[i]; from >= 0 {
			if inputs[from] == nil {
				return fmt.Errorf("ort: input %q is asked for and not given", t.Name)
			}
			p = w.inputs[from]
		}
		p.leave(dst[i][at*width:(at+n)*width], n)
	}
	return nil
}
