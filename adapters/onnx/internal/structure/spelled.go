package structure

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// complement is the head of the other class of a binary classifier. It is none of its
// own: see dropComplements.
const complement = "1-sigmoid"

// cloglog is the head 1 - exp(-exp(eta)), the inverse of the complementary log-log.
const cloglog = "inv_cloglog"

// spelled finds a head that several nodes spell, and the element that enters it; "" if
// there is none.
//
//	sigmoid, exp, softplus   up to a guard
//	exp+C, softplus+C        C > guard: a scale that is at least C
//	softplus(beta=B)         softplus(B eta)/B, and with +C
//	inv_cloglog              up to a guard
//	softmax, logsoftmax
//	1-sigmoid                see complement
func (d *dependencies) spelled(el Element) (eta Element, head string) {
	if at, head := d.softmax(el); head != "" {
		return at, head
	}
	f, r := d.read(el)
	clipped := f.is("clip", 1, 0)
	lo, hi := math.Inf(-1), math.Inf(1)
	if clipped {
		lo, hi, f = f.core.lo, f.core.hi, f.core.arg
	}
	if f.constant() {
		return Element{}, ""
	}
	head, arg := named(f)
	fn := f.core.fn
	if head == cloglog {
		fn = cloglog
	}
	if head == "" || clipped && !harmless(fn, lo, hi) {
		return Element{}, ""
	}
	if c := arg.core; arg.is("clip", 1, 0) && harmless(fn, evaluate(fn, c.lo), evaluate(fn, c.hi)) {
		arg = c.arg
	}
	eta, ok := r.find(arg)
	if !ok || eta == el || eta.Value.Const != nil {
		return Element{}, ""
	}
	return eta, head
}

// first is the first element computed of those that equal el.
func (d *dependencies) first(el Element) Element {
	f, r := d.read(el)
	if at, ok := r.find(f); ok {
		return at
	}
	return el
}

// named is the head that a form is, and what enters it.
func named(f form) (head string, arg form) {
	fn, arg := f.core.fn, f.core.arg
	if arg.constant() {
		return "", arg
	}
	offset := ""
	switch {
	case fn == "exp" && f.scale == -1 && f.shift == 1 && arg.is("exp", -1, 0):
		return cloglog, arg.core.arg
	case math.Abs(f.shift) <= guard:
	case f.shift > 0 && (fn == "exp" || fn == "softplus"):
		offset = "+" + numberText(f.shift)
	case fn == "sigmoid" && f.scale == -1 && f.shift == 1:
		return complement, arg
	default:
		return "", arg
	}
	switch {
	case f.scale == 1 && (fn == "sigmoid" || fn == "exp" || fn == "softplus"):
		return fn + offset, arg
	case f.scale > 0 && fn == "softplus":
		return "softplus(beta=" + numberText(1/f.scale) + ")" + offset, arg.times(f.scale)
	}
	return "", arg
}

// Response is the response as a formula of the predictor eta, where the head's name has
// numbers in it; "" where its name says all.
func Response(head string) string {
	fn, offset, shifted := strings.Cut(head, "+")
	formula := ""
	beta, sharp := strings.CutPrefix(fn, "softplus(beta=")
	switch {
	case sharp:
		beta = strings.TrimSuffix(beta, ")")
		formula = "log(1 + exp(" + beta + " eta))/" + beta
	case head == cloglog:
		return "1 - exp(-exp(eta))"
	case !shifted:
		return ""
	case fn == "softplus":
		formula = "log(1 + exp(eta))"
	default:
		formula = fn + "(eta)"
	}
	if shifted {
		formula += " + " + offset
	}
	return formula
}

// numberText writes a constant of the graph; one of float with the digits of float.
func numberText(c float64) string {
	if near(c, math.Round(c)) {
		c = math.Round(c)
	}
	return strconv.FormatFloat(c, 'g', -1, 32)
}

// between lists the nodes on the ways from eta to el, from the output on.
func (d *dependencies) between(el, eta Element) []*graph.Node {
	ends := [2]*graph.Value{eta.Value, el.Value}
	if passed, ok := d.ways[ends]; ok {
		return slices.Clone(passed)
	}
	passed := d.follow(el, eta)
	if d.ways == nil {
		d.ways = map[[2]*graph.Value][]*graph.Node{}
	}
	d.ways[ends] = passed
	return slices.Clone(passed)
}

func (d *dependencies) follow(el, eta Element) (passed []*graph.Node) {
	leads := map[*graph.Node]bool{}
	first := position(eta)
	for _, n := range d.graph.Nodes[first+1 : position(el)+1] {
		leads[n] = slices.ContainsFunc(n.Inputs, func(v *graph.Value) bool {
			return v != nil && (v == eta.Value || v.Producer != nil && leads[v.Producer])
		})
	}
	needed := map[*graph.Node]bool{el.Value.Producer: true}
	for i := position(el); i > first; i-- {
		n := d.graph.Nodes[i]
		if !needed[n] || !leads[n] {
			continue
		}
		passed = append(passed, n)
		for _, v := range n.Inputs {
			if v != nil && v.Producer != nil {
				needed[v.Producer] = true
			}
		}
	}
	return passed
}
