package decompose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// With returns m with further structured blocks, by predictor name; the name ""
// stands for every predictor. A block whose term has the name of one that m
// already has takes that one's place and keeps its coefficients: a formula may
// repeat x3 of the graph. A factor of columns of which m has one stays m's, which knows all
// levels. The blocks keep their Term values, so a term given to
// several predictors is evaluated once.
func With(m Model, extra map[string][]Block) (Model, error) {
	names := m.Predictors()
	for p := range extra {
		if p != "" && !contains(names, p) {
			return nil, fmt.Errorf("decompose: formula for predictor %q: the model has %q", p, names)
		}
	}
	w := &extended{Model: m, blocks: make([][]Block, len(names))}
	for k, name := range names {
		blocks := append([]Block(nil), m.Blocks(k)...)
		for _, b := range append(append([]Block(nil), extra[""]...), extra[name]...) {
			var err error
			if blocks, err = merge(blocks, b); err != nil {
				return nil, fmt.Errorf("decompose: predictor %q: %w", name, err)
			}
		}
		w.blocks[k] = blocks
	}
	return w, nil
}

// merge appends b, or lets it merge with the block of the same name.
func merge(blocks []Block, b Block) ([]Block, error) {
	for i, have := range blocks {
		if b.Coef == nil && have.Coef != nil && have.Term.Kind() == Factor && b.Term.Kind() == Factor && slices.Equal(have.Term.Columns(), b.Term.Columns()) {
			return blocks, nil
		}
		if have.Term.Name() != b.Term.Name() {
			continue
		}
		if have.Term.Kind() != b.Term.Kind() || have.Term.Dim() != b.Term.Dim() {
			hint := ""
			if have.Term.Kind() == Factor && b.Term.Kind() == Linear {
				hint = ": the network has a coefficient for each of its levels: leave it out of the formula"
			}
			if have.Term.Kind() == Linear && b.Term.Kind() == Factor {
				hint = fmt.Sprintf(": write factor(%s) in the formula", b.Term.Name())
			}
			return nil, fmt.Errorf("term %q is there twice, as %s with %d columns and as %s with %d columns%s",
				b.Term.Name(), have.Term.Kind(), have.Term.Dim(), b.Term.Kind(), b.Term.Dim(), hint)
		}
		if b.Coef == nil && have.Coef != nil {
			if !sameTerm(have.Term, b.Term) {
				return nil, fmt.Errorf("term %q is the network's own, and its coefficients are for another basis than the formula's (other knots, levels or type): leave it out of the formula", b.Term.Name())
			}
			b.Coef = have.Coef
		}
		blocks[i] = b
		return blocks, nil
	}
	return append(blocks, b), nil
}

// sameTerm tells whether two terms have the same columns: they are one value, or
// their specs are equal.
func sameTerm(a, b Term) bool {
	if a == b {
		return true
	}
	x, okX := a.(json.Marshaler)
	y, okY := b.(json.Marshaler)
	if !okX || !okY {
		return false
	}
	specX, errX := x.MarshalJSON()
	specY, errY := y.MarshalJSON()
	return errX == nil && errY == nil && bytes.Equal(specX, specY)
}

type extended struct {
	Model
	blocks [][]Block
}

// Tensors are the model's.
func (e *extended) Tensors() map[string]int { return TensorsOf(e.Model) }

func (e *extended) Blocks(k int) []Block { return e.blocks[k] }
