package structure

import (
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// guard is the largest constant that counts as protection against 0 or 1
// around a head: softplus(s) + 1e-6, clip(sigmoid(x), 1e-7, 1 - 1e-7).
const guard = 1e-3

// peel follows an output element back to the predictor behind it: through operators that
// only move it, guards, and one head, which is a node, or several that spell one. It
// returns the element that enters the head, the head's name, and the nodes passed from
// the output on. Without a head it returns el itself.
func (d *dependencies) peel(el Element) (Element, string, []*graph.Node) {
	eta, head, passed := d.oneNode(el)
	if head == "" || head == "exp" { // exp(log p), say
		if at, h := d.spelled(el); h != "" {
			eta, head, passed = at, h, d.between(el, at)
		}
	}
	if inner, ok := unclipped(head, eta); ok {
		return inner, head, append(passed, eta.Value.Producer)
	}
	return eta, head, passed
}

// oneNode is peel where the head is one node.
func (d *dependencies) oneNode(el Element) (Element, string, []*graph.Node) {
	var passed []*graph.Node
	at := el
	guarded := false
	for {
		n := at.Value.Producer
		if n == nil || at.Value.Const != nil {
			return el, "", nil
		}
		passed = append(passed, n)
		if head := d.table.Of(n).Head; head != "" && len(n.Inputs) > 0 && n.Inputs[0] != nil && n.Inputs[0].Const == nil {
			if guarded && head == "logsoftmax" {
				return el, "", nil
			}
			return Element{n.Inputs[0], at.Index}, head, passed
		}
		next, isGuard, ok := d.step(n, at)
		if !ok {
			return el, "", nil
		}
		guarded = guarded || isGuard
		at = next
	}
}

// step goes from an element to the one element of the node's inputs it copies,
// up to a guard.
func (d *dependencies) step(n *graph.Node, at Element) (next Element, isGuard, ok bool) {
	if next, ok := d.renormalised(n, at); ok {
		return next, false, true
	}
	next, constant, ok := d.copied(n, at)
	return next, constant != 0, ok && math.Abs(constant) <= guard
}

// copied is the one element that at copies: at is that element plus a constant.
func (d *dependencies) copied(n *graph.Node, at Element) (el Element, constant float64, ok bool) {
	el, weight, constant, ok := d.single(n, at)
	return el, constant, ok && weight == 1
}

// single is the one element that at hangs on: at is weight times that element plus a
// constant.
func (d *dependencies) single(n *graph.Node, at Element) (el Element, weight, constant float64, ok bool) {
	r := d.Rules[n.Index]
	if !r.Linear || r.Each == nil {
		return Element{}, 0, 0, false
	}
	links := 0
	r.Each(max(0, slices.Index(n.Outputs, at.Value)), at.Index, func(k, ie int, w float64) {
		switch {
		case k == operator.Itself:
			constant += w
		case n.Inputs[k].Const != nil:
			constant += w * n.Inputs[k].Const.At(ie)
		case w != 0:
			links++
			el, weight = Element{n.Inputs[k], ie}, w
		}
	})
	return el, weight, constant, links == 1
}

// harmless reports whether bounds around a response cut off no more than guard of its
// range: (0, 1) of a sigmoid, softmax or inv_cloglog, (0, inf) of the others.
func harmless(head string, lo, hi float64) bool {
	if head == "sigmoid" || head == "softmax" || head == cloglog {
		return lo <= guard && hi >= 1-guard
	}
	return lo <= guard && hi >= 1e6
}

// unclipped is eta without a Clip between it and its head that only guards: it bounds the response as a Clip behind
// the head would.
func unclipped(head string, eta Element) (Element, bool) {
	n := eta.Value.Producer
	switch head {
	case "sigmoid", "exp", "softplus", cloglog:
	default:
		return Element{}, false
	}
	if n == nil || n.Op != "Clip" || n.Domain != "" || n.Inputs[0].Const != nil {
		return Element{}, false
	}
	lo, hi, ok := clipBounds(n)
	return Element{n.Inputs[0], eta.Index}, ok && harmless(head, evaluate(head, lo), evaluate(head, hi))
}

// clipBounds are a Clip's limits if they are known.
func clipBounds(n *graph.Node) (lo, hi float64, ok bool) {
	bound := func(attr string, input int, def float64) (float64, bool) {
		if a, ok := n.Attrs[attr]; ok {
			return a.Float, true
		}
		if input >= len(n.Inputs) || n.Inputs[input] == nil {
			return def, true
		}
		c := n.Inputs[input].Const
		if c == nil || graph.Product(c.Shape) != 1 {
			return 0, false
		}
		return c.At(0), true
	}
	lo, okLo := bound("min", 1, math.Inf(-1))
	hi, okHi := bound("max", 2, math.Inf(1))
	return lo, hi, okLo && okHi
}
