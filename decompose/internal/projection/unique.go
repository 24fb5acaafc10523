package projection

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Uniqueness says whether the terms of a hierarchy are the only ones: they are if the
// spaces of its effects, each orthogonal to its own margins, are independent.
type Uniqueness struct {
	Rank     int     // of all spaces together
	Of       int     // the sum of their ranks
	Smallest float64 // eigenvalue of the joint products of orthonormal bases of each; 1: all are orthogonal
	Open     [][]int // for each effect the others that it shares a function with
}

const (
	// ownRank: directions of an effect whose singular value is at most this times the
	// largest are left out of its basis: what eigenvalues of its products hold of them
	// (squares) has lost half the digits.
	ownRank = 1e-4
	// notIndependent: an eigenvalue of the joint products below is 0 but for that rounding.
	notIndependent = 1e-7
	// uniqueColumns: more are not looked at; it takes too long.
	uniqueColumns = 3000
)

// Uniqueness looks at the effects that have margins or are some; nil if they have too
// many columns. maps restrict the coefficients of blocks that are nobody's margins (raw
// times free); nil: they are raw.
func (h *Hierarchy) Uniqueness(maps []*mat.Dense) (*Uniqueness, error) {
	involved := make([]bool, h.effects)
	columns := 0
	for _, j := range h.order {
		involved[h.effect[j]] = true
		for _, m := range h.margins[j] {
			involved[h.effect[m]] = true
		}
	}
	for j, e := range h.effect {
		if involved[e] {
			columns += h.start[j+1] - h.start[j]
		}
	}
	if columns > uniqueColumns {
		return nil, nil
	}
	var bases [][]part
	var effects []int // that those are of
	start := []int{0}
	for e := range h.effects {
		if !involved[e] {
			continue
		}
		basis, width, err := h.basis(e, maps)
		if err != nil {
			return nil, err
		}
		if width > 0 {
			bases, effects, start = append(bases, basis), append(effects, e), append(start, start[len(start)-1]+width)
		}
	}
	return h.joint(bases, effects, start)
}

var errNotConverged = errors.New("the eigendecomposition of the terms' joint products did not converge")

// joint compares the spaces of orthonormal bases of effects.
func (h *Hierarchy) joint(bases [][]part, effects, start []int) (*Uniqueness, error) {
	n := start[len(bases)]
	u := &Uniqueness{Of: n, Open: make([][]int, h.effects)}
	if n == 0 {
		return u, nil
	}
	joint := mat.NewDense(n, n, nil)
	for e := range bases {
		for f := e; f < len(bases); f++ {
			p := h.products(bases[e], bases[f])
			joint.Slice(start[e], start[e+1], start[f], start[f+1]).(*mat.Dense).Copy(p)
			joint.Slice(start[f], start[f+1], start[e], start[e+1]).(*mat.Dense).Copy(p.T())
		}
	}
	products := symmetrised(joint)
	var eigen mat.EigenSym
	if !eigen.Factorize(products, false) {
		return nil, errNotConverged
	}
	values := eigen.Values(nil) // increasing
	u.Smallest, u.Rank = math.Max(values[0], 0), n
	for u.Rank > 0 && values[n-u.Rank] <= notIndependent {
		u.Rank--
	}
	if u.Rank == n {
		return u, nil
	}
	u.Smallest = 0
	if !eigen.Factorize(products, true) { // by far the most of the work
		return nil, errNotConverged
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	one := mat.NewSymDense(n, nil)
	for i := range n {
		one.SetSym(i, i, 1)
	}
	_, open := findAliases(mat.DenseCopyOf(vectors.Slice(0, n, 0, n-u.Rank)), one, start, MinProductTolerance)
	for i, with := range open {
		for _, j := range with {
			u.Open[effects[i]] = append(u.Open[effects[i]], effects[j])
		}
	}
	return u, nil
}

// free are the coordinates of effect e's coefficients, each of a function of mean square
// 1 (q x columns).
func (h *Hierarchy) free(e int, maps []*mat.Dense) *mat.Dense {
	q := h.start[len(h.start)-1]
	var out *mat.Dense
	for j, of := range h.effect {
		if of != e {
			continue
		}
		d := h.start[j+1] - h.start[j]
		m := identity(d)
		isMargin := slices.ContainsFunc(h.margins, func(m []int) bool { return slices.Contains(m, j) })
		if maps != nil && maps[j] != nil && !isMargin {
			m = maps[j]
		}
		_, free := m.Dims()
		own := mat.NewDense(q, free, nil)
		own.Slice(h.start[j], h.start[j+1], 0, free).(*mat.Dense).Copy(m)
		var image mat.Dense
		image.Mul(h.gram.Slice(h.start[j], h.start[j+1], h.start[j], h.start[j+1]), m)
		for l := range free {
			column := mat.Col(nil, l, m)
			square, mean := mat.Dot(image.ColView(l), mat.NewVecDense(d, column)), floats.Dot(column, h.mean[h.start[j]:h.start[j+1]])
			scale := 0.0
			if square > leastThin*leastThin*mean*mean || d == 1 && square > leastVariation*leastVariation*mean*mean {
				scale = 1 / math.Sqrt(square)
			}
			for i := h.start[j]; i < h.start[j+1]; i++ {
				own.Set(i, l, scale*own.At(i, l))
			}
		}
		if out == nil {
			out = own
		} else {
			var both mat.Dense
			both.Augment(out, own)
			out = &both
		}
	}
	return out
}

// basis is an orthonormal one of effect e, and its dimension.
func (h *Hierarchy) basis(e int, maps []*mat.Dense) ([]part, int, error) {
	own := h.free(e, maps)
	_, columns := own.Dims()
	given := make([]*mat.Dense, len(h.margins))
	for j, of := range h.effect { // as purify, for this effect alone
		if of == e && h.onto[j] != nil {
			given[j] = times(h.onto[j], own.Slice(h.start[j], h.start[j+1], 0, columns))
		}
	}
	parts := h.parts(&Split{Own: own, Given: given}, e)
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetrised(h.products(parts, parts)), true) {
		return nil, 0, errors.New("the eigendecomposition of a term's products did not converge")
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	first, n := 0, columns
	// 1 is the mean square of a column before its margins were taken out: what is left
	// of an effect that they span is rounding.
	limit := ownRank * ownRank * math.Max(values[n-1], MinProductTolerance)
	for first < n && !(values[first] > limit) {
		first++
	}
	if first == n {
		return nil, 0, nil
	}
	to := mat.DenseCopyOf(vectors.Slice(0, n, first, n))
	for l, v := range values[first:] {
		for i := range n {
			to.Set(i, l, to.At(i, l)/math.Sqrt(v))
		}
	}
	for i, p := range parts {
		parts[i].coef = times(p.coef, to)
	}
	return parts, n - first, nil
}

// AliasesIn describes the directions that the fit left out (as Fit.Aliases does) and the
// directions that h leaves open, by the changes that they make to the terms of h.
func (f *Fit) AliasesIn(h *Hierarchy) Aliases {
	a := f.Aliases()
	var each []*Split
	if f.dropped != nil {
		each = append(each, h.purify(f.rawDropped(), nil))
	}
	if h.open != nil {
		each = append(each, h.open)
	}
	a.With = make([][]int, len(h.effect))
	if len(each) == 0 {
		return a
	}
	s := h.beside(each)
	change := make([]*mat.Dense, len(h.effect))
	for j := range change {
		p := h.blockParts(s, j)
		change[j] = h.products(p, p)
	}
	for i := range change {
		for j := range change {
			if i != j && jointChange(change[i], change[j]) > f.problem.columns.reading() {
				a.With[i] = append(a.With[i], j)
			}
		}
	}
	return a
}

// rawDropped are the directions left out, in raw coordinates (q x r).
func (f *Fit) rawDropped() *mat.Dense {
	c := f.problem.columns
	_, r := f.dropped.Dims()
	out := mat.NewDense(c.raw[len(c.blocks)], r, nil)
	for l := range r {
		n := mat.Col(nil, l, f.dropped)
		for i, sd := range f.sd {
			if sd > 0 {
				n[i] /= sd
			} else {
				n[i] = 0
			}
		}
		out.SetCol(l, c.expand(n))
	}
	return out
}

// Share is how much of the variance of X b the columns of block j explain, from 0 to 1.
func (h *Hierarchy) Share(b []float64, j int) float64 {
	whole := h.Variance(b)
	if !(whole > 0) {
		return 0
	}
	if h.shares[j] == nil {
		s, err := h.space([]int{j}, MinProductTolerance)
		if err != nil {
			return 0
		}
		h.shares[j] = s
	}
	s := h.shares[j]
	if s.half == nil {
		return 0
	}
	products := make([]float64, len(s.at))
	for i, a := range s.at {
		products[i] = floats.Dot(h.gram.RawRowView(a), b)
	}
	var inner mat.VecDense
	inner.MulVec(s.half.T(), mat.NewVecDense(len(products), products))
	return share(mat.Dot(&inner, &inner) / whole)
}
