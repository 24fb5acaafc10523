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
	width := 0
	for _, s := range each {
		_, r := s.Own.Dims()
		width += r
	}
	joined := func(of func(s *Split) *mat.Dense) *mat.Dense {
		n, _ := of(each[0]).Dims()
		out, at := mat.NewDense(n, width, nil), 0
		for _, s := range each {
			_, r := s.Own.Dims()
			out.Slice(0, n, at, at+r).(*mat.Dense).Copy(of(s))
			at += r
		}
		return out
	}
	out := &Split{Own: joined(func(s *Split) *mat.Dense { return s.Own }), Given: make([]*mat.Dense, len(each[0].Given))}
	for j, given := range each[0].Given {
		if given != nil {
			out.Given[j] = joined(func(s *Split) *mat.Dense { return s.Given[j] })
		}
	}
	return out
}

// keepOpen keeps the combinations of the directions that change an effect by more than
// rounding, and makes their changes orthonormal.
func (h *Hierarchy) keepOpen(s *Split) error {
	const least = 1e-6 // of the mean square of a standardised column
	_, r := s.Own.Dims()
	change := mat.NewDense(r, r, nil)
	for e := range h.effects {
		at, p := moving(h.parts(s, e)) // few directions change an effect
		if len(at) == 0 {
			continue
		}
		own := h.products(p, p)
		for i, a := range at {
			for l, b := range at {
				change.Set(a, b, change.At(a, b)+own.At(i, l))
			}
		}
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

// moving are the functions of parts that are not 0: their places, and the parts of them alone.
func moving(parts []part) (at []int, of []part) {
	_, r := parts[0].coef.Dims()
	moves := func(l int) bool {
		return slices.ContainsFunc(parts, func(p part) bool {
			for i := range p.at {
				if p.coef.At(i, l) != 0 {
					return true
				}
			}
			return false
		})
	}
	for l := range r {
		if moves(l) {
			at = append(at, l)
		}
	}
	if len(at) == 0 {
		return nil, nil
	}
	for _, p := range parts {
		n, _ := p.coef.Dims()
		coef := mat.NewDense(n, len(at), nil)
		for i, l := range at {
			coef.SetCol(i, mat.Col(nil, l, p.coef))
		}
		of = append(of, part{at: p.at, coef: coef})
	}
	return at, of
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
