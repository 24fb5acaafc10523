package structure

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// The bounds of reading a response: nodes between it and what enters it, and links of
// one node that is linear. Responses are short; what is longer is none.
const (
	maxRead  = 64
	maxLinks = 64
)

// reading reads elements of the graph as forms.
type reading struct {
	*dependencies
	forms map[Element]form
	order []Element // in which they were read
}

func (d *dependencies) read(el Element) (form, *reading) {
	r := &reading{dependencies: d, forms: map[Element]form{}}
	return r.form(el), r
}

func (r *reading) form(el Element) form {
	if c := el.Value.Const; c != nil {
		return number(c.At(el.Index))
	}
	if f, ok := r.forms[el]; ok {
		return f
	}
	if len(r.order) >= maxRead {
		return element(el)
	}
	r.order = append(r.order, el)
	f, ok := r.producer(el)
	if !ok {
		f = element(el)
	}
	r.forms[el] = f
	return f
}

// producer reads the node that el comes from; ok is false if it is no form.
func (r *reading) producer(el Element) (f form, ok bool) {
	n := el.Value.Producer
	if n == nil || n.Domain != "" || !el.Value.Type.Floating() {
		return form{}, false
	}
	if n.Op == "ConstantOfShape" {
		v := n.Attrs["value"].Tensor
		if v == nil {
			return number(0), true
		}
		return number(v.At(0)), true
	}
	rule := r.Rules[n.Index]
	if rule.Each == nil || rule.Cost > maxLinks || len(n.Outputs) != 1 && !rule.Linear {
		return form{}, false
	}
	if rule.Linear {
		return r.linear(n, rule, slices.Index(n.Outputs, el.Value), el.Index)
	}
	in := make([]Element, len(n.Inputs))
	rule.Each(0, el.Index, func(k, ie int, _ float64) {
		if k != operator.Itself && in[k].Value == nil {
			in[k] = Element{n.Inputs[k], ie}
		}
	})
	return r.elementwise(n, in)
}

func (r *reading) linear(n *graph.Node, rule operator.Rule, out, e int) (form, bool) {
	total, ok := number(0), true
	var links []Element
	var weights []float64
	rule.Each(out, e, func(k, ie int, w float64) {
		switch {
		case k == operator.Itself:
			total = total.plus(w)
		case n.Inputs[k].Const != nil:
			total = total.plus(w * n.Inputs[k].Const.At(ie))
		case w != 0:
			links, weights = append(links, Element{n.Inputs[k], ie}), append(weights, w)
		}
	})
	if len(links) > 2 {
		return form{}, false
	}
	for i, l := range links {
		if total, ok = sum(total, r.form(l).times(weights[i])); !ok {
			return form{}, false
		}
	}
	return total, true
}

// functionOf is the function that an operator of one tensor is to forms, "" if none.
func functionOf(op string) string {
	switch op {
	case "Exp", "Log", "Abs", "Relu", "Tanh", "Sigmoid", "Softplus":
		return strings.ToLower(op)
	}
	return ""
}

func (r *reading) elementwise(n *graph.Node, in []Element) (form, bool) {
	switch n.Op {
	case "Where":
		c, ok := r.condition(in[0])
		if !ok {
			return form{}, false
		}
		return choose(c, r.form(in[1]), r.form(in[2]))
	case "Clip":
		if lo, hi, ok := clipBounds(n); ok {
			return form{1, 0, &core{fn: "clip", arg: r.form(in[0]), lo: lo, hi: hi}}, true
		}
	case "Max", "Min":
		return r.bounded(n, in)
	case "Mul":
		return product(r.form(in[0]), r.form(in[1]))
	case "Div":
		return quotient(r.form(in[0]), r.form(in[1]))
	case "Reciprocal":
		return reciprocal(r.form(in[0]))
	case "Pow":
		if e := r.form(in[1]); e.constant() && e.shift == -1 {
			return reciprocal(r.form(in[0]))
		}
	}
	if fn := functionOf(n.Op); fn != "" {
		return function(fn, r.form(in[0])), true
	}
	return form{}, false
}

// bounded: max(x, 0), and x above or below another number.
func (r *reading) bounded(n *graph.Node, in []Element) (form, bool) {
	if len(in) != 2 {
		return form{}, false
	}
	x, bound := r.form(in[0]), r.form(in[1])
	if x.constant() {
		x, bound = bound, x
	}
	if !bound.constant() || x.constant() {
		return form{}, false
	}
	switch {
	case n.Op == "Min":
		return form{1, 0, &core{fn: "clip", arg: x, lo: math.Inf(-1), hi: bound.shift}}, true
	case bound.shift == 0:
		return apply("relu", x), true
	}
	return form{1, 0, &core{fn: "clip", arg: x, lo: bound.shift, hi: math.Inf(1)}}, true
}

// condition reads an element of bool.
func (r *reading) condition(el Element) (c condition, ok bool) {
	n := el.Value.Producer
	if n == nil || n.Domain != "" || el.Value.Const != nil || len(n.Outputs) != 1 || r.Rules[n.Index].Each == nil {
		return c, false
	}
	in := make([]Element, len(n.Inputs))
	r.Rules[n.Index].Each(0, el.Index, func(k, ie int, _ float64) {
		if k != operator.Itself {
			in[k] = Element{n.Inputs[k], ie}
		}
	})
	switch n.Op {
	case "Not":
		c, ok = r.condition(in[0])
		c.negated = !c.negated
		return c, ok
	case "IsNaN":
		return r.isMissing(in[0]), true
	case "Equal":
		c, ok = r.isMissing(in[0]), in[0].Value.Type.Floating() && equal(r.form(in[0]), r.form(in[1]))
		c.negated = true
		return c, ok
	case "Greater", "GreaterOrEqual":
		return compared(r.form(in[0]), r.form(in[1]))
	case "Less", "LessOrEqual":
		return compared(r.form(in[1]), r.form(in[0]))
	}
	return c, false
}

// isMissing is that an element is NaN.
func (r *reading) isMissing(el Element) condition {
	return condition{x: r.form(el), missing: true, undefined: r.undefined[el.Value]}
}

// compared is x > y, one of which must be a number. At a bound both branches of a choice
// are what they are on either side, so that >= is no other condition.
func compared(x, y form) (condition, bool) {
	switch {
	case y.constant() && !x.constant():
		return condition{x: x, bound: y.shift}, true
	case x.constant() && !y.constant():
		return condition{x: y.times(-1), bound: -x.shift}, true
	}
	return condition{}, false
}

// find is the element of the graph that is f: of several that are, the first one computed.
func (r *reading) find(f form) (el Element, ok bool) {
	for _, e := range r.order {
		if equal(r.forms[e], f) && (!ok || cmp.Compare(position(e), position(el)) < 0) {
			el, ok = e, true
		}
	}
	if !ok && f.core != nil && f.core.fn == "" && f.scale == 1 && f.shift == 0 {
		return f.core.el, true
	}
	return el, ok
}

func position(el Element) int {
	if el.Value.Producer == nil {
		return -1
	}
	return el.Value.Producer.Index
}
