package structure

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// Columns of an output that sum to one on every row are the probabilities of classes, in
// whatever nodes an exporter wrote them: a forest, naive Bayes, a vote. Their predictors are
// log odds of two classes, logarithms of more, which a softmax takes. Where a probability
// takes few values, 0 or 1 among them, as a forest's does, it has no logarithm: it is
// decomposed as it is, or, with Options.Clip, kept away from 0 and 1.

// readProbabilities finds such outputs among the candidates and gives them predictors.
func (d *discovery) readProbabilities() error {
	read := false
	for _, v := range d.g.Outputs {
		own := d.candidatesOf(v)
		if own == nil {
			continue
		}
		sums, reached := d.sumToOne(v)
		if !sums {
			continue
		}
		clipped, err := d.asClasses(v, own, reached)
		if err != nil {
			return err
		}
		read = read || clipped
	}
	if d.o.Clip > 0 && !read {
		return &OptionError{"Clip", numberText(d.o.Clip), ": no output of the network holds probabilities of classes whose logarithms are taken"}
	}
	return nil
}

// candidatesOf are the candidates that the columns of v are, in order; nil if v is no
// matrix of several columns, each of which has one that may be a probability, or if they
// belong to a softmax already.
func (d *discovery) candidatesOf(v *graph.Value) (own []candidate) {
	if len(v.Shape) != 2 || v.Shape[0] != graph.Batch || v.Shape[1] < 2 || !v.Type.Floating() {
		return nil
	}
	for _, p := range d.found {
		switch {
		case p.output != v.Name:
		case p.ordinal != nil || len(p.group) > 0 || p.whole != (Element{v, len(own)}) || d.unbounded(p):
			return nil
		default:
			own = append(own, p)
		}
	}
	if len(own) != v.Shape[1] {
		return nil
	}
	return own
}

// unbounded reports whether a candidate is known to be no probability: a response that is
// larger, or a sum with a column of the data in it.
func (d *discovery) unbounded(p candidate) bool {
	defer func(spent int) { d.dep.unrolled = spent }(d.dep.unrolled)
	switch p.head {
	case "":
		return slices.ContainsFunc(d.dep.unroll(p.whole, 1).atoms, func(a Element) bool { return a.Value.Producer == nil })
	case "sigmoid", "exp", complement:
		return false
	}
	return true
}

// asClasses puts the predictors of classes in the place of own, the columns of v, which reached 0 or 1
// where they were looked at, or did not. It reports whether they are logarithms of what v holds.
func (d *discovery) asClasses(v *graph.Value, own []candidate, reached bool) (logarithms bool, err error) {
	two, last := len(own) == 2, own[len(own)-1]
	head := own[0].head
	for _, p := range own {
		if p.head != head {
			head = ""
		}
	}
	switch {
	case two && last.head == "sigmoid": // as CatBoost has them, of r and -r
		d.replace(v, last)
		d.noteComplement(own[0].name, last.name)
		return false, nil
	case !two && head == "exp":
		return false, d.softmaxOf(v, own, func(e int) Element { return own[e].eta })
	case two && head == "exp" && own[0].eta == (Element{last.eta.Value, 0}) && last.eta.Index == 1 && last.eta.Value.Width() == 2:
		return false, d.oddsOf(v, last, last.eta.Value)
	case d.o.Clip == 0 && (reached || d.mayBeZero(v)):
		d.asTheyAre(v, own)
		return false, nil
	}
	p := v
	if d.o.Clip > 0 {
		if p, err = d.insert(v, "Clip", nil, v, d.number(v, "least", d.o.Clip), d.number(v, "most", 1-d.o.Clip)); err != nil {
			return false, err
		}
	}
	logs, err := d.insert(v, "Log", nil, p)
	if err != nil {
		return false, err
	}
	if !two {
		return true, d.softmaxOf(v, own, func(e int) Element { return Element{logs, e} })
	}
	return true, d.oddsOf(v, last, logs)
}

// oddsOf makes the log odds of the second of two classes the predictor, from the logarithms of both.
func (d *discovery) oddsOf(v *graph.Value, second candidate, logs *graph.Value) error {
	odds, err := d.insert(v, "MatMul", nil, logs, d.matrix(v, "odds", []float64{-1, 1}, 2, 1))
	if err != nil {
		return err
	}
	second.eta, second.head, second.passed = Element{odds, 0}, "sigmoid", []*graph.Node{v.Producer}
	d.replace(v, second)
	d.note("output %q holds the probabilities of two classes: the predictor is the log odds of %q", v.Name, second.name)
	return nil
}

// softmaxOf makes eta the predictors of the classes of one softmax.
func (d *discovery) softmaxOf(v *graph.Value, own []candidate, eta func(e int) Element) error {
	var group []Element
	for e := range own {
		group = append(group, eta(e))
	}
	for e := range own {
		own[e].eta, own[e].head, own[e].group = group[e], "softmax", group
		if own[e].passed == nil {
			own[e].passed = []*graph.Node{v.Producer}
		}
	}
	d.replace(v, own...)
	d.note("output %q holds the probabilities of %d classes: the predictors are their logarithms", v.Name, len(own))
	return nil
}

// asTheyAre keeps probabilities on their own scale: of two classes that of the second.
func (d *discovery) asTheyAre(v *graph.Value, own []candidate) {
	for i, p := range own {
		own[i] = candidate{eta: p.whole, whole: p.whole, name: p.name, output: p.output, probability: true}
	}
	if len(own) == 2 {
		d.noteComplement(own[0].name, own[1].name)
		own = own[1:]
	}
	d.replace(v, own...)
	d.note("output %q holds probabilities of classes that may be 0 and 1, which have no log odds: they are decomposed on the probability scale; Options.Clip keeps them away from 0 and 1 and takes log odds", v.Name)
}

// replace puts candidates in the place of those of v.
func (d *discovery) replace(v *graph.Value, by ...candidate) {
	at := slices.IndexFunc(d.found, func(p candidate) bool { return p.output == v.Name })
	d.found = slices.DeleteFunc(d.found, func(p candidate) bool { return p.output == v.Name })
	d.found = slices.Insert(d.found, at, by...)
}

// probeSums is how many rows sums are looked at on, and sumsTolerance how far from 1 float
// may leave them.
const (
	probeSums     = 64
	sumsTolerance = 1e-5
)

// sumToOne reports whether the columns of v are between 0 and 1 and sum to one: on rows of
// random numbers, or of 0 and 1 where the network takes no others. It is the same every time. reached: some
// are 0 or 1.
func (d *discovery) sumToOne(v *graph.Value) (sums, reached bool) {
	for _, codes := range []bool{false, true} {
		if p, err := d.o.Evaluate([]*graph.Value{v}, d.randomRows(codes), probeSums); err == nil {
			return sumsToOne(p[0], v.Shape[1]), slices.ContainsFunc(p[0], func(x float64) bool { return x <= 0 || x >= 1 })
		}
	}
	return false, false
}

func sumsToOne(p []float64, classes int) bool {
	for row := range slices.Chunk(p, classes) {
		total := 0.0
		for _, x := range row {
			if !(x >= -sumsTolerance && x <= 1+sumsTolerance) {
				return false
			}
			total += x
		}
		if !(math.Abs(total-1) <= sumsTolerance) {
			return false
		}
	}
	return true
}

// randomRows are rows of the inputs: normal numbers, or 0 and 1 of integers and codes.
func (d *discovery) randomRows(codes bool) (inputs [][]float64) {
	rng := rand.New(rand.NewPCG(0x9e3779b97f4a7c15, 2))
	for _, in := range d.g.Inputs {
		x := make([]float64, probeSums*in.Width())
		for i := range x {
			if codes || !in.Type.Floating() {
				x[i] = float64(rng.IntN(2))
			} else {
				x[i] = in.Type.Round(2 * rng.NormFloat64())
			}
		}
		inputs = append(inputs, x)
	}
	return inputs
}

// mayBeZero reports whether a column of v is a sum of what takes few values, as trees and
// codes do, that reaches 0 or 1.
func (d *discovery) mayBeZero(v *graph.Value) bool {
	defer func(spent int) { d.dep.unrolled = spent }(d.dep.unrolled)
	steps := d.dep.ofSteps(v, map[*graph.Value]bool{})
	for e := range v.Width() {
		u := d.dep.unroll(Element{v, e}, 1)
		if len(u.atoms) == 0 {
			return false
		}
		lo, hi := u.constant, u.constant
		for i, a := range u.atoms {
			least, most, ok := d.dep.values(a)
			if !ok {
				return steps
			}
			lo += min(u.coef[i]*least, u.coef[i]*most)
			hi += max(u.coef[i]*least, u.coef[i]*most)
		}
		if lo <= sumsTolerance || hi >= 1-sumsTolerance {
			return true
		}
	}
	return false
}

// ofSteps reports whether a tensor is made of truth values and places by arithmetic alone, as
// the shares of neighbours are.
func (d *dependencies) ofSteps(v *graph.Value, known map[*graph.Value]bool) bool {
	n := v.Producer
	switch {
	case v.Const != nil:
		return true
	case n == nil:
		return false
	}
	is, done := known[v]
	if done {
		return is
	}
	known[v] = false
	switch {
	case n.Op == "Cast":
		is = !n.Inputs[0].Type.Floating() || d.ofSteps(n.Inputs[0], known)
	case d.table.Is(n, graph.Indicating):
		is = true
	case d.table.Is(n, graph.Arithmetic):
		is = true
		for _, in := range n.Inputs {
			is = is && (in == nil || !in.Type.Floating() || d.ofSteps(in, known))
		}
	}
	known[v] = is
	return is
}

// values are the bounds of an element that takes finitely many values; ok is false of others.
func (d *dependencies) values(el Element) (least, most float64, ok bool) {
	n := el.Value.Producer
	if n == nil {
		return 0, 0, false
	}
	if t, is := n.Resolved.(*operator.Trees); is {
		if t.Transform != "NONE" || t.Form() != operator.Apart {
			return 0, 0, false
		}
		r, known := d.ranges[t.Ensemble]
		if !known {
			r[0], r[1] = t.Ensemble.Range()
			d.ranges[t.Ensemble] = r
		}
		return r[0][el.Index], r[1][el.Index], true
	}
	switch {
	case d.table.Is(n, graph.Indicating):
		return 0, 1, true
	case n.Op == "Cast":
		return 0, 1, n.Inputs[0].Type == graph.Bool
	case n.Op == "Where":
		return 0, 1, len(n.Inputs) == 3 && n.Inputs[1].Const != nil && n.Inputs[2].Const != nil
	}
	return 0, 0, false
}
