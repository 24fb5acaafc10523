package structure

import (
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// guard is the largest constant that counts as protection against 0 or 1
// around a head: softplus(s) + 1e-6, clip(sigmoid(x), 1e-7, 1 - 1e-7).
const guard = 1e-3

// peeled is an output element without its head.
type peeled struct {
	eta        Element // the head's input; the output itself without a head
	head       string
	passed     []*graph.Node // from the output on
	complement bool          // the output is 1 minus the head's value
}

// peel follows an output element back through operators that only move it, or take it
// from 1, a guard, and one head.
func (d *dependencies) peel(el Element) peeled {
	p := peeled{eta: el}
	guarded := false
	for {
		n := p.eta.Value.Producer
		if n == nil || p.eta.Value.Const != nil {
			return peeled{eta: el}
		}
		p.passed = append(p.passed, n)
		if head := d.table.Of(n).Head; head != "" && len(n.Inputs) > 0 && n.Inputs[0] != nil && n.Inputs[0].Const == nil {
			if guarded && head == "logsoftmax" || p.complement && head != "sigmoid" {
				return peeled{eta: el}
			}
			p.eta, p.head = Element{n.Inputs[0], p.eta.Index}, head
			return p
		}
		next, how := d.step(n, p.eta)
		if how == changed {
			return peeled{eta: el}
		}
		guarded = guarded || how == guards
		p.complement = p.complement != (how == complements)
		p.eta = next
	}
}

// passage is what a node does to an element on its way to the output.
type passage uint8

const (
	changed passage = iota
	copies
	guards      // copies it, up to a guard
	complements // takes it from 1
)

// step goes from an element to the one element of the node's inputs it is made of.
func (d *dependencies) step(n *graph.Node, at Element) (next Element, how passage) {
	if n.Op == "Clip" {
		if clipGuards(n) {
			return Element{n.Inputs[0], at.Index}, guards
		}
		return Element{}, changed
	}
	r := d.Rules[n.Index]
	out := 0
	for o, v := range n.Outputs {
		if v == at.Value {
			out = o
		}
	}
	if !r.Linear || r.Each == nil {
		return Element{}, changed
	}
	used, weight, constant := 0, 0.0, 0.0
	r.Each(out, at.Index, func(k, ie int, w float64) {
		if k == operator.Itself {
			constant += w
			return
		}
		v := n.Inputs[k]
		switch {
		case v.Const != nil:
			constant += w * v.Const.At(ie)
		case w != 0:
			used, weight = used+1, w
			next = Element{v, ie}
		}
	})
	switch {
	case used == 1 && weight == 1 && constant == 0:
		return next, copies
	case used == 1 && weight == 1 && math.Abs(constant) <= guard:
		return next, guards
	case used == 1 && weight == -1 && constant == 1:
		return next, complements
	}
	return Element{}, changed
}

// clipGuards: the bounds cut off no more than guard of (0, 1), or of (0, inf).
func clipGuards(n *graph.Node) bool {
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
	if !okLo || !okHi || n.Inputs[0] == nil || n.Inputs[0].Const != nil {
		return false
	}
	inner := n.Inputs[0].Producer
	unit := inner != nil && (inner.Op == "Sigmoid" || inner.Op == "Softmax")
	positive := inner != nil && (inner.Op == "Exp" || inner.Op == "Softplus")
	return unit && lo <= guard && hi >= 1-guard || positive && lo <= guard && hi >= 1e6
}
