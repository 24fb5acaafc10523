package structure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// Ordinal is how probabilities of ordered classes hang on one predictor (cumulative logits,
// McCullagh 1980): with the classes in ascending or descending order,
//
//	P(class is one of the first k+1) = logistic(Thresholds[k] - eta).
type Ordinal struct {
	Thresholds []float64 // one fewer than classes, not decreasing
	Descending bool      // the classes are in the order from last to first
	Labels     []string  // of the classes, in ascending order; nil: the file does not say
}

// maxOrdinal bounds the columns of an output that is looked at for cumulative logits.
const maxOrdinal = 200

// cumulative is a probability that is logistic(s), or 1 - logistic(s) if not.
type cumulative struct {
	s   Element
	not bool
}

// readOrdinals finds the outputs that are cumulative logits of one predictor: its
// probabilities, or the differences between them, which are those of classes.
func (d *discovery) readOrdinals() {
	spent := d.dep.unrolled
	for _, v := range d.g.Outputs {
		if w := v.Width(); v.Const != nil || v.BatchAxis() < 0 || !v.Type.Floating() || v.Producer == nil || w < 2 || w > maxOrdinal {
			continue
		}
		c := d.ordinal(v)
		if c == nil {
			continue
		}
		if known := d.ordinalOf([]shifted{{of: c.eta}}); known != nil {
			d.note("output %q leads to the predictor of %q again and is not repeated", v.Name, known.name)
			c = nil
		}
		d.ordinals[v] = c
	}
	d.dep.unrolled = spent // what is unrolled later is afforded as if nobody had looked
}

// ordinal is the predictor of an output that is cumulative logits; nil if it is not.
func (d *discovery) ordinal(v *graph.Value) *candidate {
	columns := make([]Element, v.Width())
	for e := range columns {
		columns[e] = Element{v, e}
	}
	if _, head, _ := d.dep.peel(columns[0]); head != "sigmoid" && head != complement {
		return nil
	}
	all := d.differences(columns)
	ofClasses := all != nil
	if !ofClasses {
		all = d.sigmoids(columns)
	}
	if slices.ContainsFunc(all, func(c cumulative) bool { return c.not != all[0].not }) {
		return nil
	}
	eta, o := d.common(all, ofClasses)
	if o == nil {
		return nil
	}
	if !slices.IsSorted(o.Thresholds) || slices.ContainsFunc(o.Thresholds, func(c float64) bool { return math.IsNaN(c) || math.IsInf(c, 0) }) {
		d.note("the columns of output %q are sigmoids of one predictor plus constants, which are not in order, so that they are not the probabilities of ordered classes (cumulative logits)", v.Name)
		return nil
	}
	o.Labels = d.labels(len(all) + 1)
	return &candidate{eta: eta, whole: columns[0], name: v.Name, output: v.Name, head: ordinalHead, passed: d.dep.between(columns[0], eta), ordinal: o}
}

// common is the predictor that all hang on, one for which the classes ascend if there is
// such a one, and how; nil if there is none. Equal columns are one probability, not several
// of ordered classes.
func (d *discovery) common(all []cumulative, ofClasses bool) (eta Element, o *Ordinal) {
	for _, way := range d.parallel(all) {
		if slices.Min(way.shift) == slices.Max(way.shift) {
			return eta, nil
		}
		// P(class <= k) grows with k, P(class > k) falls
		ascending := ofClasses || slices.IsSorted(signed(all, way.shift))
		if own := thresholds(all, way, ascending); o == nil || o.Descending && !own.Descending {
			eta, o = way.eta, &own
		}
	}
	return eta, o
}

// ordinalHead is the name of cumulative logits as a head.
const ordinalHead = "ordinal"

// sigmoids reads each column as a cumulative probability; nil if one is none.
func (d *discovery) sigmoids(columns []Element) (all []cumulative) {
	for _, el := range columns {
		s, head, _ := d.dep.peel(el)
		if head != "sigmoid" && head != complement {
			return nil
		}
		all = append(all, cumulative{s, head == complement})
	}
	return all
}

// differences reads columns as the probabilities of classes that are differences between
// cumulative ones: the sums of the first are such probabilities, and that of all is 1. nil
// if they are not.
func (d *discovery) differences(columns []Element) (all []cumulative) {
	constant, coef := 0.0, map[Element]float64{}
	for k, el := range columns {
		u := d.dep.unroll(el, 1)
		constant += u.constant
		for i, a := range u.atoms {
			if coef[a] += u.coef[i]; coef[a] == 0 {
				delete(coef, a)
			}
		}
		if k == len(columns)-1 {
			break
		}
		if len(coef) != 1 {
			return nil
		}
		for a, c := range coef {
			s, head, _ := d.dep.peel(a)
			not := c == -1 && constant == 1
			if head != "sigmoid" || !not && (c != 1 || constant != 0) {
				return nil
			}
			all = append(all, cumulative{s, not})
		}
	}
	if len(coef) != 0 || constant != 1 || len(all) < 2 {
		return nil
	}
	return all
}

// parallel are the elements that all s are sign times plus a shift of, from the outputs on.
// Where the graph has none, it is the first s, if the others differ from it by constants.
func (d *discovery) parallel(all []cumulative) (found []parallel) {
	if len(all) < 2 {
		return nil
	}
	ways := make([][]shifted, len(all))
	for k, c := range all {
		ways[k] = d.dep.shifts(c.s)
	}
next:
	for _, first := range ways[0] {
		p := parallel{eta: first.of, sign: first.sign}
		for _, way := range ways {
			i := slices.IndexFunc(way, func(o shifted) bool { return o.of == first.of && o.sign == first.sign })
			if i < 0 {
				continue next
			}
			p.shift = append(p.shift, way[i].by)
		}
		found = append(found, p)
	}
	if found != nil {
		return found
	}
	p := parallel{eta: all[0].s, sign: 1}
	first := d.dep.unroll(all[0].s, 1)
	for _, c := range all {
		u := d.dep.unroll(c.s, 1)
		if len(u.atoms) == 0 || !slices.Equal(u.atoms, first.atoms) || !slices.Equal(u.coef, first.coef) {
			return nil
		}
		p.shift = append(p.shift, u.constant-first.constant)
	}
	return []parallel{p}
}

// parallel says that several elements are sign times eta plus a shift each.
type parallel struct {
	eta   Element
	sign  float64
	shift []float64
}

// shifted says that an element is sign times another plus a constant.
type shifted struct {
	of       Element
	sign, by float64
}

// shifts lists the elements that el equals up to a constant, el itself first, back to the
// first one that is no such sum; inputs are left out.
func (d *dependencies) shifts(el Element) (way []shifted) {
	at := shifted{el, 1, 0}
	for at.of.Value.Producer != nil && at.of.Value.Const == nil {
		way = append(way, at)
		next, weight, constant, ok := d.single(at.of.Value.Producer, at.of)
		if !ok || math.Abs(weight) != 1 {
			break
		}
		at = shifted{next, at.sign * weight, at.by + at.sign*constant}
	}
	return way
}

// signed are the shifts of what is P or, if not, of 1 - P.
func signed(all []cumulative, shift []float64) (out []float64) {
	for k, c := range all {
		if c.not {
			out = append(out, -shift[k])
		} else {
			out = append(out, shift[k])
		}
	}
	return out
}

// thresholds are the cuts between the classes, where the k-th probability is P(class <= k) (ascending)
// or P(class > k): logistic of sign eta + shift, or one minus it.
func thresholds(all []cumulative, p parallel, ascending bool) Ordinal {
	cuts, sign := signed(all, p.shift), p.sign
	if all[0].not {
		sign = -sign
	}
	if !ascending { // P(class <= k) is 1 less it
		sign = -sign
		for k := range cuts {
			cuts[k] = 0 - cuts[k]
		}
	}
	if sign < 0 {
		return Ordinal{Thresholds: cuts}
	}
	slices.Reverse(cuts) // P(class > k) = logistic(-cuts[k] - eta)
	for k := range cuts {
		cuts[k] = 0 - cuts[k]
	}
	return Ordinal{Thresholds: cuts, Descending: true}
}

// Formula says it for people.
func (o Ordinal) Formula() string {
	var cuts []string
	for i, c := range o.Thresholds {
		if len(o.Thresholds) > 12 && i >= 10 && i < len(o.Thresholds)-1 {
			if i == 10 {
				cuts = append(cuts, "...")
			}
			continue
		}
		cuts = append(cuts, fmt.Sprintf("%.6g", c))
	}
	order := "P(class <= k)"
	if o.Descending {
		order = "P(class >= K-1-k), so that a larger predictor means a lower class,"
	}
	return fmt.Sprintf("%s is logistic(c_k - eta) with the thresholds c = %s", order, strings.Join(cuts, ", "))
}

// ofOrdinal is the name of the output of ordered classes whose predictor, plus a constant,
// enters the head of p; "" if there is none.
func (d *discovery) ofOrdinal(p candidate) string {
	if len(d.ordinals) == 0 || p.head != "" && p.head != "sigmoid" && p.head != complement {
		return ""
	}
	if known := d.ordinalOf(d.dep.shifts(p.eta)); known != nil {
		return known.name
	}
	return ""
}

// ordinalOf is what is known of the first of the elements that is the predictor of an
// output of ordered classes; nil if none is.
func (d *discovery) ordinalOf(way []shifted) *candidate {
	for _, v := range d.g.Outputs {
		c := d.ordinals[v]
		if c != nil && slices.ContainsFunc(way, func(s shifted) bool { return s.of == c.eta }) {
			return c
		}
	}
	return nil
}
