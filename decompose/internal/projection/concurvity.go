package decompose

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/penalty"
)

// Concurvity says how much of a term lies in the span of others: 0 none, 1 all
// of it (Wood 2017, 5.5.6; the three measures of mgcv's concurvity). Worst is the
// largest share over all functions of the term, Observed that of the fitted
// (after) function, Estimate the average over the basis.
type Concurvity struct {
	Worst    float64 `json:"worst"`
	Observed float64 `json:"observed"`
	Estimate float64 `json:"estimate"`
}

// PairConcurvity is the concurvity of a term with one other.
type PairConcurvity struct {
	Term string `json:"term"`
	With string `json:"with"`
	Concurvity
}

// Pairs are computed for at most so many terms, and listed from this Worst on.
const (
	concurvityTerms = 40
	concurvityShown = 0.3
)

// manyColumns of a term: what takes all eigenvalues of its correlations takes too
// long (half a minute for 1,600).
const manyColumns = 200

// concurvity measures every term against all others, and against each of them,
// in the constrained columns, centred (the others include the intercept). sd and
// theta are the columns' standard deviations and coefficients.
func (c *constrained) concurvity(ctx context.Context, corr *mat.SymDense, sd, theta []float64, tolerance float64) ([]Concurvity, []PairConcurvity, error) {
	terms, full := make([]spannable, len(c.blocks)), make([]Concurvity, len(c.blocks))
	if len(terms) < 2 {
		return full, nil, nil
	}
	for j := range terms {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		lo, hi := c.start[j], c.start[j+1]
		standardised := make([]float64, hi-lo)
		floats.MulTo(standardised, theta[lo:hi], sd[lo:hi])
		terms[j] = newSpannable(corr.SliceSym(lo, hi).(*mat.SymDense), sd[lo:hi], standardised)
	}
	// What a term keeps of itself once all others are taken out is the inverse of
	// its block of C^-1: one inverse serves all terms. The ridge is what the rank
	// tolerance calls zero.
	inverse, err := ridgeInverse(corr, ridge(tolerance))
	if err != nil {
		return nil, nil, err
	}
	for j := range terms {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		block := mat.NewSymDense(c.start[j+1]-c.start[j], nil)
		block.CopySym(inverse.SliceSym(c.start[j], c.start[j+1]))
		left, err := ridgeInverse(block, 0)
		if err != nil {
			return nil, nil, err
		}
		full[j] = terms[j].average(left)
		if terms[j].many() {
			// min v'left v / v'A v is 1 over the largest eigenvalue of left^-1 A.
			full[j].Worst = share(1 - 1/largest(block, terms[j].corr))
		} else {
			full[j].Worst = terms[j].worst(left)
		}
	}
	if len(terms) > concurvityTerms {
		return full, nil, nil
	}
	pairs, err := c.pairs(ctx, terms, corr, tolerance)
	return full, pairs, err
}

// pairs measures every term against each of the others.
func (c *constrained) pairs(ctx context.Context, terms []spannable, corr *mat.SymDense, tolerance float64) ([]PairConcurvity, error) {
	all := mat.DenseCopyOf(corr)
	between := func(i, j int) mat.Matrix { return all.Slice(c.start[i], c.start[i+1], c.start[j], c.start[j+1]) }
	apart := make([]bool, len(terms)*len(terms)) // pairs that would not be shown
	inverse := make([]*mat.SymDense, len(terms))
	for i, t := range terms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if t.many() {
			var err error
			if inverse[i], err = ridgeInverse(t.corr, ridge(tolerance)); err != nil {
				return nil, err
			}
			continue
		}
		for j, other := range terms[:i] {
			if !other.many() && t.apart(other, between(i, j)) {
				apart[i*len(terms)+j], apart[j*len(terms)+i] = true, true
			}
		}
	}
	var pairs []PairConcurvity
	for i, other := range terms {
		for j, t := range terms {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if i == j || apart[i*len(terms)+j] {
				continue
			}
			// What term i takes of A_jj is A_ji A_ii^+ A_ij.
			var taken *mat.SymDense
			if inverse[i] != nil {
				taken = congruence(mat.DenseCopyOf(between(i, j)), inverse[i])
			} else {
				var p mat.Dense
				p.Mul(other.whitening.above(tolerance).T(), between(i, j))
				taken = mat.NewSymDense(len(t.sd), nil)
				taken.SymOuterK(1, p.T())
			}
			left := mat.NewSymDense(len(t.sd), nil)
			left.ScaleSym(-1, taken)
			left.AddSym(left, t.corr)
			m := t.average(left)
			if t.many() {
				m.Worst = share(largest(taken, inverse[j]))
			} else {
				m.Worst = t.worst(left)
			}
			if m.Worst >= concurvityShown {
				pairs = append(pairs, PairConcurvity{Term: c.blocks[j].Term.Name(), With: c.blocks[i].Term.Name(), Concurvity: m})
			}
		}
	}
	return pairs, nil
}

// spannable is one term's standardised columns: their correlations A, standard
// deviations, and fitted coefficients.
type spannable struct {
	corr      *mat.SymDense
	sd, theta []float64
	whitening whitening // none of many columns
}

// ownTolerance is the rank tolerance of a term itself: all but rounding counts.
const ownTolerance = 1e-8

func newSpannable(corr *mat.SymDense, sd, theta []float64) spannable {
	t := spannable{corr: corr, sd: sd, theta: theta}
	if !t.many() {
		t.whitening = whiten(corr)
	}
	return t
}

func (t spannable) many() bool { return len(t.sd) > manyColumns }

// apart tells, without eigenvalues, that neither term takes a share of the other
// that is shown: between are the correlations of its columns with the other's. The
// largest share is the largest squared singular value of W'A_12 W, whose sum is a
// squared norm.
func (t spannable) apart(other spannable, between mat.Matrix) bool {
	var left, canonical mat.Dense
	left.Mul(t.whitening.above(ownTolerance).T(), between)
	canonical.Mul(&left, other.whitening.above(ownTolerance))
	norm := mat.Norm(&canonical, 2)
	return norm*norm < 0.99*concurvityShown
}

// average measures the term given what is left of A once others are taken out: of
// a function with coefficients v the share 1 - v'left v / v'A v is spanned.
func (t spannable) average(left *mat.SymDense) Concurvity {
	var m Concurvity
	v := mat.NewVecDense(len(t.theta), t.theta)
	if size := mat.Inner(v, t.corr, v); size > 0 {
		m.Observed = share(1 - mat.Inner(v, left, v)/size)
	}
	// The average is over the columns as they are, not standardised.
	var kept, total float64
	for i, sd := range t.sd {
		kept += sd * sd * left.At(i, i)
		total += sd * sd * t.corr.At(i, i)
	}
	if total > 0 {
		m.Estimate = share(1 - kept/total)
	}
	return m
}

// worst is the largest share over all functions of the term.
func (t spannable) worst(left *mat.SymDense) float64 {
	white := t.whitening.above(ownTolerance)
	var q mat.Dense
	q.Product(white.T(), left, white)
	var e mat.EigenSym
	if !e.Factorize(symmetrised(&q), false) {
		return 0
	}
	return share(1 - e.Values(nil)[0])
}

// ridge is what a rank tolerance calls zero.
func ridge(tolerance float64) float64 { return math.Max(tolerance*tolerance, 1e-10) }

// ridgeInverse is (A + ridge I)^-1; a constant column (diagonal 0) is left out by
// a 1 in its place.
func ridgeInverse(a *mat.SymDense, ridge float64) (*mat.SymDense, error) {
	n := a.SymmetricDim()
	r := mat.NewSymDense(n, nil)
	r.CopySym(a)
	for i := range n {
		d := r.At(i, i) + ridge
		if r.At(i, i) == 0 {
			d = 1
		}
		r.SetSym(i, i, d)
	}
	if !penalty.Invert(r, r) {
		return nil, fmt.Errorf("concurvity: the correlations of the columns are not positive definite: %w", penalty.ErrLostDigits)
	}
	return r, nil
}

// share undoes rounding at the ends of [0, 1].
func share(x float64) float64 { return math.Max(0, math.Min(1, x)) }

// whitening holds the eigenvalues of A, increasing, and its eigenvectors divided by
// their roots.
type whitening struct {
	values  []float64
	columns *mat.Dense
}

func whiten(a *mat.SymDense) whitening {
	n := a.SymmetricDim()
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return whitening{values: make([]float64, n), columns: mat.NewDense(n, n, nil)}
	}
	w := whitening{values: e.Values(nil), columns: new(mat.Dense)}
	e.VectorsTo(w.columns)
	for i := range n {
		row := w.columns.RawRowView(i)
		for l, v := range w.values {
			if v > 0 {
				row[l] /= math.Sqrt(v)
			}
		}
	}
	return w
}

// above returns W with W W' = A^+, of the directions above a rank tolerance.
func (w whitening) above(tolerance float64) mat.Matrix {
	n := len(w.values)
	first := 0
	for first < n && !(w.values[first] > tolerance*tolerance*w.values[n-1]) {
		first++
	}
	if first == n {
		return mat.NewDense(n, 1, nil)
	}
	return w.columns.Slice(0, n, first, n)
}

// contract maps raw coefficients to constrained ones: the nearest, where the
// network's own lie outside the constraint.
func (c *constrained) contract(raw []float64) []float64 {
	theta := make([]float64, c.width())
	for j := range c.blocks {
		from, to := raw[c.raw[j]:c.raw[j+1]], theta[c.start[j]:c.start[j+1]]
		if c.z[j] == nil {
			copy(to, from)
			continue
		}
		var t mat.VecDense
		if err := t.SolveVec(c.z[j], mat.NewVecDense(len(from), append([]float64(nil), from...))); err == nil {
			copy(to, t.RawVector().Data)
		}
	}
	return theta
}
