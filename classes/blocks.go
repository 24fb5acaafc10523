package classes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
)

// join is a learned basis of a head: the bases that its classes learned of the same
// columns, side by side.
type join struct {
	tap  *decompose.Tap
	of   []*decompose.Tap // of the wrapped model
	from []int            // first column of each
}

// tensors are those of the wrapped model.
func (j *join) tensors() (names []string) {
	for _, tap := range j.of {
		names = append(names, tap.Tensor)
	}
	return names
}

// shared is a term of a head, with the coefficients of each class: nil, zero.
type shared struct {
	block decompose.Block
	coef  [][]float64
	of    []*decompose.Tap // of each class, if classes have bases of their own
	apart bool
}

// makeBlocks makes the blocks of all predictors and lists the taps that they read.
func (m *Model) makeBlocks() error {
	for i := range m.rows {
		r := &m.rows[i]
		if r.head == nil {
			r.blocks = m.of.Blocks(r.from)
		}
	}
	for _, h := range m.heads {
		terms, err := m.union(h)
		if err != nil {
			return err
		}
		for _, t := range terms {
			m.join(t)
			for _, i := range h.made {
				b := t.block
				b.Coef = t.mixed(m.rows[i], h)
				m.rows[i].blocks = append(m.rows[i].blocks, b)
			}
		}
	}
	for _, r := range m.rows {
		for _, b := range r.blocks {
			if tap, ok := b.Term.(*decompose.Tap); ok {
				m.taps[tap.Tensor] = tap.Numbers()
			}
		}
	}
	for name := range m.taps {
		if _, ok := m.raw[name]; !ok && !slices.ContainsFunc(m.joins, func(j *join) bool { return j.tap.Tensor == name }) {
			return fmt.Errorf("classes: the model has no tap %q that its terms read", name)
		}
	}
	for name, width := range m.raw {
		if !m.isTerm(name) { // features of deep parts
			m.taps[name] = width
		}
	}
	return nil
}

// isTerm tells whether a term of the wrapped model reads the tap.
func (m *Model) isTerm(tap string) bool {
	for k := range m.k {
		if slices.ContainsFunc(m.of.Blocks(k), func(b decompose.Block) bool {
			own, ok := b.Term.(*decompose.Tap)
			return ok && own.Tensor == tap
		}) {
			return true
		}
	}
	return false
}

// union are the terms of all classes of a head, in order of first appearance.
func (m *Model) union(h *head) ([]*shared, error) {
	var terms []*shared
	byName := map[string]*shared{}
	for c, k := range h.Predictors {
		for _, b := range m.of.Blocks(k) {
			name := b.Term.Name()
			t := byName[name]
			if t == nil {
				t = &shared{block: b, coef: make([][]float64, len(h.Predictors)), of: make([]*decompose.Tap, len(h.Predictors))}
				byName[name] = t
				terms = append(terms, t)
			}
			if err := t.add(c, b); err != nil {
				return nil, fmt.Errorf("classes: term %q of class %q: %w", name, h.Classes[c], err)
			}
		}
	}
	return terms, nil
}

// add adds the block of class c.
func (t *shared) add(c int, b decompose.Block) error {
	t.coef[c] = b.Coef
	own, learned := b.Term.(*decompose.Tap)
	_, first := t.block.Term.(*decompose.Tap)
	switch {
	case learned && first:
		t.of[c] = own
		t.apart = t.apart || !sameTerm(t.block.Term, b.Term)
	case !sameTerm(t.block.Term, b.Term):
		return fmt.Errorf("another class has a term of that name with another basis: give one of them another name")
	}
	if !sameRestrictions(t.block, b) {
		return fmt.Errorf("another class has the same term with another constraint or penalty: classes are compared term by term, so these have to be the same")
	}
	return nil
}

// sameTerm tells whether two terms have the same columns: they are one value, or their
// specs are equal.
func sameTerm(a, b decompose.Term) bool {
	if a == b {
		return true
	}
	x, okX := a.(json.Marshaler)
	y, okY := b.(json.Marshaler)
	if !okX || !okY || a.Kind() != b.Kind() || a.Dim() != b.Dim() {
		return false
	}
	specX, errX := x.MarshalJSON()
	specY, errY := y.MarshalJSON()
	return errX == nil && errY == nil && bytes.Equal(specX, specY)
}

func sameRestrictions(a, b decompose.Block) bool {
	sameMap := func(x, y *mat.Dense) bool { return x == y || x != nil && y != nil && mat.Equal(x, y) }
	return a.Constraint.Equal(b.Constraint) && a.Select == b.Select && a.Penalty.Equal(b.Penalty) &&
		a.Coordinates.Standardised() == b.Coordinates.Standardised() && sameMap(a.Coordinates.Map(), b.Coordinates.Map())
}

// join puts learned bases that classes have of their own side by side.
func (m *Model) join(t *shared) {
	if !t.apart {
		return
	}
	j := &join{}
	width := 0
	for c, tap := range t.of {
		if tap == nil {
			continue
		}
		at := slices.IndexFunc(j.of, func(o *decompose.Tap) bool { return o.Tensor == tap.Tensor })
		if at < 0 {
			at = len(j.of)
			j.of, j.from = append(j.of, tap), append(j.from, width)
			width += tap.Width
		}
		if own := t.coef[c]; own != nil {
			t.coef[c] = append(make([]float64, j.from[at]), own...)
		}
	}
	for c, own := range t.coef {
		if own != nil {
			t.coef[c] = append(own, make([]float64, width-len(own))...)
		}
	}
	first := t.block.Term.(*decompose.Tap)
	j.tap = &decompose.Tap{Tensor: strings.Join(j.tensors(), " & "), Features: first.Features, Width: width}
	t.block.Term = j.tap
	m.joins = append(m.joins, j)
}

// mixed are the coefficients of a predictor; nil: zeros.
func (t *shared) mixed(r row, h *head) []float64 {
	class := map[int]int{}
	any := false
	for c, k := range h.Predictors {
		class[k] = c
		any = any || t.coef[c] != nil
	}
	if !any {
		return nil
	}
	coef := make([]float64, t.block.Term.Dim())
	for i := range coef {
		coef[i] = r.mixed(func(k int) float64 {
			if own := t.coef[class[k]]; own != nil {
				return own[i]
			}
			return 0
		})
	}
	return coef
}
