package structure

import (
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// softmax follows an element back through what only moves it to nodes that spell a
// softmax or its logarithm, and returns the element that enters; "" if there are none.
func (d *dependencies) softmax(el Element) (Element, string) {
	at, guarded := el, false
	for {
		n := at.Value.Producer
		if n == nil || n.Domain != "" || at.Value.Const != nil {
			return el, ""
		}
		if x, head := softmaxNode(n); head != "" {
			if guarded && head == "logsoftmax" || !slices.Equal(x.Shape, at.Value.Shape) || x.Const != nil {
				return el, ""
			}
			return Element{x, at.Index}, head
		}
		if lo, hi, ok := clipBounds(n); n.Op == "Clip" && ok && harmless("softmax", lo, hi) {
			at, guarded = Element{n.Inputs[0], at.Index}, true
			continue
		}
		next, isGuard, ok := d.step(n, at)
		if !ok {
			return el, ""
		}
		guarded, at = guarded || isGuard, next
	}
}

// softmaxNode: exp(x)/sum exp(x), the exponential of log softmax, x - log sum exp(x), and
// the logarithm of softmax; x may be less its maximum wherever it stands.
func softmaxNode(n *graph.Node) (x *graph.Value, head string) {
	switch n.Op {
	case "Softmax":
		return n.Inputs[0], "softmax"
	case "LogSoftmax":
		return n.Inputs[0], "logsoftmax"
	case "Div":
		if e := by(n.Inputs[0], "Exp"); e != nil {
			if sum, axes := reduction(n.Inputs[1], "ReduceSum"); sum == moved(n.Inputs[0]) && sum != nil {
				return unshifted(e.Inputs[0], axes), "softmax"
			}
		}
	case "Exp":
		if p := moved(n.Inputs[0]).Producer; p != nil && p.Domain == "" && (p.Op == "LogSoftmax" || p.Op == "Sub") {
			if x, inner := softmaxNode(p); inner == "logsoftmax" {
				return x, "softmax"
			}
		}
	case "Log":
		if p := moved(n.Inputs[0]).Producer; p != nil && p.Domain == "" && (p.Op == "Softmax" || p.Op == "Div") {
			if x, inner := softmaxNode(p); inner == "softmax" {
				return x, "logsoftmax"
			}
		}
	case "Sub":
		if x := lessLogSumExp(moved(n.Inputs[0]), n.Inputs[1]); x != nil {
			return x, "logsoftmax"
		}
	}
	return nil, ""
}

// lessLogSumExp is the scores of which x - l is the log softmax, nil if l is not the
// logarithm of the sum of exponentials.
func lessLogSumExp(x, l *graph.Value) *graph.Value {
	if of, axes := reduction(l, "ReduceLogSumExp"); of != nil && of == x {
		return unshifted(x, axes)
	}
	if add := by(l, "Add"); add != nil { // max + log sum exp(x - max)
		for i, v := range add.Inputs {
			top, axes := reduction(add.Inputs[1-i], "ReduceMax")
			of, inner := logSum(v)
			if top != nil && top == x && of != nil && slices.Equal(axes, inner) && unshifted(of, inner) == x {
				return x
			}
		}
		return nil
	}
	if of, axes := logSum(l); of != nil && of == x {
		return unshifted(x, axes)
	}
	return nil
}

// logSum is what enters log sum exp, and the axes.
func logSum(v *graph.Value) (*graph.Value, []bool) {
	log := by(v, "Log")
	if log == nil {
		return nil, nil
	}
	sum, axes := reduction(log.Inputs[0], "ReduceSum")
	if sum == nil {
		return nil, nil
	}
	exp := by(sum, "Exp")
	if exp == nil {
		return nil, nil
	}
	return moved(exp.Inputs[0]), axes
}

// unshifted is x of x - max(x), else v.
func unshifted(v *graph.Value, axes []bool) *graph.Value {
	v = moved(v)
	sub := by(v, "Sub")
	if sub == nil {
		return v
	}
	if of, a := reduction(sub.Inputs[1], "ReduceMax"); of != nil && of == moved(sub.Inputs[0]) && slices.Equal(a, axes) {
		return of
	}
	return v
}

// by is the node that computes v if it is of that operator.
func by(v *graph.Value, op string) *graph.Node {
	n := moved(v).Producer
	if n == nil || n.Domain != "" || n.Op != op || len(n.Inputs) == 0 {
		return nil
	}
	return n
}

// moved goes back through nodes that leave a tensor as it is.
func moved(v *graph.Value) *graph.Value {
	for v.Producer != nil && v.Producer.Domain == "" && v.Producer.Op == "Identity" {
		v = v.Producer.Inputs[0]
	}
	return v
}

// reduction is what v reduces by op, and over which axes, if v has them with size 1,
// expanded or not.
func reduction(v *graph.Value, op string) (of *graph.Value, axes []bool) {
	shape := v.Shape
	for _, step := range []string{"Expand", "Unsqueeze", "Reshape"} {
		if n := by(v, step); n != nil {
			if v = n.Inputs[0]; step != "Expand" {
				shape = n.Outputs[0].Shape
			} else {
				shape = v.Shape
			}
		}
	}
	n := by(v, op)
	if n == nil {
		return nil, nil
	}
	of = moved(n.Inputs[0])
	if len(shape) != len(of.Shape) {
		return nil, nil
	}
	axes = make([]bool, len(shape))
	for _, a := range axesOf(n) {
		if a < 0 {
			a += int64(len(axes))
		}
		if a < 0 || a >= int64(len(axes)) {
			return nil, nil
		}
		axes[a] = true
	}
	for i, on := range axes {
		if want := of.Shape[i]; on && shape[i] != 1 || !on && shape[i] != want {
			return nil, nil
		}
	}
	return of, axes
}

// axesOf are a reduction's axes, an attribute or an input. Without them it would reduce
// over the rows, or over nothing.
func axesOf(n *graph.Node) []int64 {
	if a, ok := n.Attrs["axes"]; ok {
		return a.Ints
	}
	if len(n.Inputs) > 1 && n.Inputs[1] != nil && n.Inputs[1].Const != nil {
		return n.Inputs[1].Const.I
	}
	return nil
}
