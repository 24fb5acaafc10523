package structure

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// Probabilities of classes come in spellings that say the same thing twice: of two
// classes one is the complement of the other, and what sums to one is divided by its sum.

// renormalised is the element that el is, after a division by the sum of all that
// changes nothing: they sum to one already.
func (d *dependencies) renormalised(n *graph.Node, el Element) (Element, bool) {
	normalises := n.Key() == "ai.onnx.ml.Normalizer" && n.Attrs["norm"].String == "L1" || n.Key() == "Div" && dividesBySum(n)
	if !normalises || !d.sumsToOne(n.Inputs[0]) {
		return Element{}, false
	}
	return Element{n.Inputs[0], el.Index}, true
}

// dividesBySum: x / sum |x|, or x / sum x.
func dividesBySum(n *graph.Node) bool {
	x := moved(n.Inputs[0])
	if sum, _ := reduction(n.Inputs[1], "ReduceL1"); sum == x {
		return true
	}
	sum, _ := reduction(n.Inputs[1], "ReduceSum")
	if sum == nil {
		return false
	}
	if abs := by(sum, "Abs"); abs != nil {
		sum = moved(abs.Inputs[0])
	}
	return sum == x
}

// sumsToOne: a row of v are the probabilities of a softmax, or those of two classes by a
// sigmoid.
func (d *dependencies) sumsToOne(v *graph.Value) bool {
	if v.Const != nil || len(v.Shape) != 2 {
		return false
	}
	last := Element{v, v.Width() - 1}
	s, head, _ := d.peel(last)
	switch {
	case head == "softmax" && s.Value.Width() == v.Width():
		for e := range v.Width() {
			if at, h, _ := d.peel(Element{v, e}); h != "softmax" || at != (Element{s.Value, e}) {
				return false
			}
		}
		return true
	case head != "sigmoid" || v.Width() != 2:
		return false
	}
	other, head, _ := d.peel(Element{v, 0})
	switch head {
	case complement:
		return other == s || opposite(d.unroll(other, -1), d.unroll(s, 1))
	case "sigmoid":
		return opposite(d.unroll(other, 1), d.unroll(s, 1))
	}
	return false
}

// opposite: one is minus the other.
func opposite(a, b unrolled) bool {
	if a.constant != -b.constant || !slices.Equal(a.atoms, b.atoms) || len(a.atoms) == 0 {
		return false
	}
	for i, c := range a.coef {
		if c != -b.coef[i] {
			return false
		}
	}
	return true
}

// dropOpposites leaves out the first of two sigmoids of one output whose predictors are
// each other's negative: the probability of the class that is not the second one.
func (d *discovery) dropOpposites() {
	for i := 0; i+1 < len(d.found); i++ {
		a, b := d.found[i], d.found[i+1]
		if a.head == "sigmoid" && b.head == "sigmoid" && a.output == b.output && opposite(a.u, b.u) {
			d.noteComplement(a.name, b.name)
			d.found = slices.Delete(d.found, i, i+1)
		}
	}
}

// oneVersusRest describes a probability that is one class's sigmoid divided by the sum of
// all classes' sigmoids; "" of any other.
func (d *discovery) oneVersusRest(n *graph.Node, el Element) string {
	if in := n.Inputs[0]; n.Key() == "pho.Coupling" && in.Producer != nil && len(in.Producer.Inputs) == 1 {
		return fmt.Sprintf("a probability that %s joins of those of pairs of classes; these have predictors: decompose what enters with Options.Predictor %q", n, in.Producer.Inputs[0].Name)
	}
	if n.Key() != "ai.onnx.ml.Normalizer" && n.Op != "Div" || n.Inputs[0] == nil || n.Inputs[0].Width() <= el.Index || n.Inputs[0].Width() != n.Outputs[0].Width() {
		return ""
	}
	s, head, _ := d.dep.peel(Element{n.Inputs[0], el.Index})
	if head != "sigmoid" {
		return ""
	}
	return fmt.Sprintf("one-versus-rest: it is a sigmoid divided by the sum over the classes (%s), which is not a softmax and has no additive predictor; the logits of the classes have: decompose them with Options.Predictor %q", n, s.Value.Name)
}

// coding says how a node codes the column that it reads, and the levels of the elements
// if it knows them; "" if it is no coding.
func coding(elements []Element) (what string, levels []string) {
	var n *graph.Node
	for _, el := range elements {
		if p := el.Value.Producer; p == nil || n != nil && p != n {
			return "", nil
		} else {
			n = p
		}
	}
	switch {
	case n.Key() == "ai.onnx.ml.OneHotEncoder":
		names := slices.Clone(n.Attrs["cats_strings"].Strings)
		for _, k := range n.Attrs["cats_int64s"].Ints {
			names = append(names, fmt.Sprint(k))
		}
		for _, el := range elements {
			levels = append(levels, names[el.Index%len(names)])
		}
		return fmt.Sprintf("a factor: the dummies of its levels %s", graph.QuotedList(levels)), levels
	case n.Op == "OneHot":
		return "a factor: the dummies of its codes", nil
	case n.Op == "Gather" && n.Inputs[0].Const != nil && n.Inputs[1].Const == nil && len(n.Inputs[0].Shape) == 2:
		return fmt.Sprintf("an embedding of %d codes in %s", n.Inputs[0].Shape[0], graph.Plural(n.Inputs[0].Shape[1], "number")), nil
	}
	return "", nil
}
