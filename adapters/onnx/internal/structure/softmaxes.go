package structure

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// Softmax is the predictors of one softmax: they are known up to a function that all have
// in common, which it takes out.
type Softmax struct {
	Predictors []int    // in the order of the classes
	Labels     []string // of the classes, as the file has them; nil: it does not say
}

// normalisedWith are the elements that the softmax behind eta works on together, eta among
// them; nil if that is not known. passed are the nodes from the output to eta.
func (d *dependencies) normalisedWith(eta Element, passed []*graph.Node) []Element {
	shape := eta.Value.RowShape()
	for _, n := range passed {
		switch n.Op {
		case "Softmax", "LogSoftmax":
			var group []Element
			if r := d.Rules[n.Index]; r.Each != nil && len(n.Outputs) == 1 && n.Outputs[0].Width() == eta.Value.Width() {
				r.Each(0, eta.Index, func(k, ie int, _ float64) {
					if k == 0 {
						group = append(group, Element{eta.Value, ie})
					}
				})
			}
			return group
		case "ReduceSum", "ReduceLogSumExp":
			if _, axes := reduction(n.Outputs[0], n.Op); axes != nil && len(axes) == len(shape) {
				return along(eta, shape, axes)
			}
			if n.AttrInt("keepdims", 1) == 0 {
				return along(eta, shape, reduced(n, len(shape)))
			}
		}
	}
	return nil
}

// reduced are the axes of a reduction that leaves them out.
func reduced(n *graph.Node, rank int) []bool {
	axes := make([]bool, rank)
	for _, a := range axesOf(n) {
		if a < 0 {
			a += int64(rank)
		}
		if a < 0 || a >= int64(rank) {
			return nil
		}
		axes[a] = true
	}
	return axes
}

// along are the elements that differ from el on the given axes only.
func along(el Element, shape []int, axes []bool) (group []Element) {
	if len(axes) != len(shape) {
		return nil
	}
	for e := range graph.Product(shape) {
		step, same := 1, true
		for a := len(shape) - 1; a >= 0; a-- {
			same = same && (axes[a] || e/step%shape[a] == el.Index/step%shape[a])
			step *= shape[a]
		}
		if same {
			group = append(group, Element{el.Value, e})
		}
	}
	return group
}

// completeSoftmaxes adds the predictors of classes that no output has the probability of:
// without them the others say nothing.
func (d *discovery) completeSoftmaxes() {
	for i := 0; i < len(d.found); i++ {
		p := d.found[i]
		for e, el := range p.group {
			if slices.ContainsFunc(d.found, func(q candidate) bool { return q.eta == el }) {
				continue
			}
			own := p
			own.eta, own.whole = el, el
			own.name = fmt.Sprintf("%s_%d", p.output, e+1)
			d.found = append(d.found, own)
			d.note("the %s behind output %q is over class %d too, of which the network has no output: its predictor is %q", p.head, p.output, e+1, own.name)
		}
	}
}

// softmaxes lists the predictors by softmax.
func (d *discovery) softmaxes() (all []Softmax) {
	listed := map[Element]bool{}
	for _, p := range d.found {
		if len(p.group) == 0 || listed[p.group[0]] {
			continue
		}
		listed[p.group[0]] = true
		var s Softmax
		for _, el := range p.group {
			if k := slices.IndexFunc(d.found, func(q candidate) bool { return q.eta == el && len(q.group) > 0 }); k >= 0 {
				s.Predictors = append(s.Predictors, k)
			}
		}
		if len(s.Predictors) == len(p.group) {
			s.Labels = d.labels(len(p.group))
			all = append(all, s)
		}
	}
	return all
}

// classesOf returns the names of the classes. The predictors may be the probabilities of all
// classes, or the one predictor may be the log odds of two, or the probability of the second.
func (d *discovery) classesOf(p candidate) []string {
	switch n := len(d.found); {
	case n == 1 && (p.head == "sigmoid" || p.probability):
		return d.labels(2)
	case n > 1 && p.probability:
		return d.labels(n)
	}
	return nil
}

// nameByClass calls predictors that are the probabilities of classes by these, if the file names them.
func (d *discovery) nameByClass() {
	if len(d.found) < 2 || slices.ContainsFunc(d.found, func(p candidate) bool { return !p.probability }) {
		return
	}
	for k, class := range d.labels(len(d.found)) {
		d.found[k].name = cmp.Or(class, d.found[k].name)
	}
}

// labels are the texts of n classes: what the file's only list of that length says, apart
// from the numbers from 0, as parts of an ensemble number their classes.
func (d *discovery) labels(n int) []string {
	var found []string
	for _, list := range d.g.ClassLabels {
		unique := slices.Compact(slices.Sorted(slices.Values(list)))
		switch {
		case len(list) != n || len(unique) != n:
		case found != nil && isNumbered(list):
		case found != nil && !isNumbered(found):
			return nil
		default:
			found = list
		}
	}
	return slices.Clone(found)
}

// isNumbered reports whether texts are the numbers from 0.
func isNumbered(list []string) bool {
	for i, text := range list {
		if text != strconv.Itoa(i) {
			return false
		}
	}
	return true
}
