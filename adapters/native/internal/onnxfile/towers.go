package onnxfile

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// features writes the last hidden layers of all feature networks: the bases of learned
// terms.
func (w *writer) features(towers []*network.Tower[float64]) error {
	for _, t := range towers {
		if t.Plan.Deep {
			continue
		}
		for g := range t.Plan.Groups() {
			u, err := w.group(t, g, towers)
			if err != nil {
				return fmt.Errorf("term %q: %w", t.Plan.Term(g), err)
			}
			w.bases[t.Plan.Term(g)] = w.node("Identity", t.Plan.Tap(g), []string{u})
		}
	}
	return nil
}

// group writes the last hidden layer of group g: of a network of its own, or the product
// of two learned bases.
func (w *writer) group(t *network.Tower[float64], g int, towers []*network.Tower[float64]) (string, error) {
	p, name := t.Plan, t.Plan.Term(g)
	if p.ProductOf >= 0 {
		from, pair := towers[p.ProductOf].Plan, p.Pairs[g]
		return w.rowProduct(name, w.bases[from.Term(pair[0])], from.Units, w.bases[from.Term(pair[1])], from.Units), nil
	}
	if len(p.Factors) > 0 {
		x, err := w.inputs(name, t)
		if err != nil {
			return "", err
		}
		return w.layers(name, x, t.Chain.Layers, g), nil
	}
	x := w.standardised(name, p.Columns[g], p.Mean[g*p.Numeric:][:p.Numeric], p.SD[g*p.Numeric:][:p.Numeric], p.Missing)
	return w.layers(name, x, t.Chain.Layers, g), nil
}

// deep writes U of a deep part and its effects on the predictors.
func (w *writer) deep(t *network.Tower[float64]) error {
	p := t.Plan
	x, err := w.inputs(p.Name, t)
	if err != nil {
		return fmt.Errorf("deep part: %w", err)
	}
	u := w.layers(p.Name, x, t.Chain.Layers, 0)
	for _, k := range p.Predictors {
		w.deepParts[k] = append(w.deepParts[k], u)
	}
	for at, k := range p.Predictors {
		w.effect(k, fmt.Sprintf("%s.zeta%d", p.Name, k), u, t.HeadOf(0, at))
	}
	return nil
}

// inputs writes what the only network of a tower reads: standardised numbers and
// embedded factors. The embedding of a level that training has not seen is 0/0: not a
// number, so that it cannot pass for a known one.
func (w *writer) inputs(name string, t *network.Tower[float64]) (string, error) {
	p := t.Plan
	var parts []string
	if p.Numeric > 0 {
		parts = append(parts, w.standardised(name, p.Columns[0][:p.Numeric], p.Mean, p.SD, p.Missing))
	}
	for j, f := range p.Factors {
		at := name + ".factor." + f.Column
		onehot, err := w.onehot(at, f.Column, f.Levels, w.kind)
		if err != nil {
			return "", err
		}
		table := w.constant(at+".table", []int{len(f.Levels), f.Width}, t.Embeddings[j].Table.Value...)
		rows := w.node("MatMul", at+".rows", []string{onehot, table})
		count := w.node("MatMul", at+".known", []string{onehot, w.constant(at+".ones", []int{len(f.Levels), 1}, slices.Repeat([]float64{1}, len(f.Levels))...)})
		parts = append(parts, w.node("Div", at+".embedded", []string{rows, count}))
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return w.node("Concat", name+".input", parts, onnxpb.Int("axis", 1)), nil
}
