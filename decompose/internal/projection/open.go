package projection

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// findOpen finds the directions that the split leaves open: functions that a block can
// give to one of its margins and take from another.
func (h *Hierarchy) findOpen() error {
	q := h.start[len(h.start)-1]
	var each []*Split
	seen := map[*space]bool{}
	for _, j := range h.order {
		s := h.spaces[j]
		if s.null == nil || seen[s] || len(h.margins[j]) < 2 {
			continue
		}
		seen[s] = true
		_, r := s.null.Dims()
		own, given := mat.NewDense(q, r, nil), make([]*mat.Dense, len(h.margins))
		for i, a := range s.at {
			own.SetRow(a, s.null.RawRowView(i))
		}
		given[j] = s.null
		each = append(each, h.purify(own, given))
	}
	if len(each) == 0 {
		return nil
	}
	return h.keepOpen(h.beside(each))
}

// beside joins splits of several functions.
func (h *Hierarchy) beside(each []*Split) *Split {
	out := &Split{Own: each[0].Own, Given: slices.Clone(each[0].Given)}
	for _, s := range each[1:] {
		var own mat.Dense
		own.Augment(out.Own, s.Own)
		out.Own = &own
		for j := range out.Given {
			if out.Given[j] != nil {
				var given mat.Dense
				given.Augment(out.Given[j], s.Given[j])
				out.Given[j] = &given
			}
		}
	}
	return out
}

// keepOpen leaves those combinations of the directions that change an effect by more than
// rounding, orthonormal in what they change.
func (h *Hierarchy) keepOpen(s *Split) error {
	const least = 1e-6 // of the mean square of a standardised column
	_, r := s.Own.Dims()
	change := mat.NewDense(r, r, nil)
	for e := range h.effects {
		p := h.parts(s, e)
		change.Add(change, h.products(p, p))
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetrised(change), true) {
		return errors.New("the eigendecomposition of what the split leaves open did not converge")
	}
	var q mat.Dense
	eigen.VectorsTo(&q)
	values := eigen.Values(nil)
	first := 0
	for first < r && !(values[first] > least) {
		first++
	}
	if first == r {
		return nil
	}
	to := mat.DenseCopyOf(q.Slice(0, r, first, r))
	for l, v := range values[first:] {
		for i := range r {
			to.Set(i, l, to.At(i, l)/math.Sqrt(v))
		}
	}
	h.open = &Split{Own: times(s.Own, to), Given: make([]*mat.Dense, len(s.Given))}
	for j, g := range s.Given {
		if g != nil {
			h.open.Given[j] = times(g, to)
		}
	}
	return nil
}

// settle goes along the open directions to where the effects vary least, sum_e Var(f_e).
func (h *Hierarchy) settle(s *Split) {
	_, r := h.open.Own.Dims()
	along := mat.NewDense(r, 1, nil)
	for e := range h.effects {
		along.Add(along, h.products(h.parts(h.open, e), h.parts(s, e)))
	}
	s.Own.Sub(s.Own, times(h.open.Own, along))
	for j, g := range h.open.Given {
		if g != nil {
			s.Given[j].Sub(s.Given[j], times(g, along))
		}
	}
}
