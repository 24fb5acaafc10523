package projection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
	"github.com/pho-go/pho/penalty"
)

// Concurvity says how much of a term lies in the span of others: 0 none, 1 all
// of it (Wood 2017, 5.5.6; the three measures of mgcv's concurvity). Worst is the
// largest share over all functions of the term, Observed that of the fitted
// (after) function, Estimate the average over the basis.
type Concurvity struct{ Worst, Observed, Estimate float64 }

// Pair is the concurvity of a block with one other.
type Pair struct {
	Block, With int
	Concurvity
}

// Pairs are computed for at most so many terms, and listed from this Worst on.
const (
	concurvityTerms = 40
	concurvityShown = 0.3
	surelyNotShown  = 0.99 * concurvityShown // whatever rounding does
)

// manyColumns of a term: what takes all eigenvalues of its correlations takes too
// long (half a minute for 1,600).
const manyColumns = 200

// Concurvity measures every block against all others, and against each of them, in the
// constrained columns, centred (the others include the intercept). fitted are the raw
// coefficients of the functions that are observed. Kept blocks, whose columns here are
// zeros, have none.
func (f *Fit) Concurvity(ctx context.Context, fitted []float64) ([]Concurvity, []Pair, error) {
	c := f.problem.columns
	s, err := newSpans(ctx, f.corr, f.sd, c.contract(fitted), c.start, c.reading())
	if err != nil {
		return nil, nil, err
	}
	s.mean, s.inverse = f.standardisedMeans(), f.inverseCorrelations()
	full, pairs, err := s.measure(ctx)
	if err != nil {
		return nil, nil, err
	}
	for j, b := range c.blocks {
		if b.Kept {
			full[j] = Concurvity{}
		}
	}
	pairs = slices.DeleteFunc(pairs, func(p Pair) bool { return c.blocks[p.Block].Kept || c.blocks[p.With].Kept })
	return full, pairs, nil
}

// measure measures every term against all others, and against each. A difference from what a
// dominant term takes may lose digits that the inverse of all columns keeps.
func (s *spans) measure(ctx context.Context) ([]Concurvity, []Pair, error) {
	large, err := s.dominant()
	if err != nil {
		large = nil
	}
	full, err := s.againstAll(ctx, large)
	if large != nil && errors.Is(err, penalty.ErrLostDigits) {
		large = nil
		full, err = s.againstAll(ctx, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	pairs, err := s.pairs(ctx, large)
	return full, pairs, err
}

// spans are the standardised columns of all terms, and their correlations.
type spans struct {
	terms     []spannable
	corr      mat.Symmetric
	start     []int // first column of each term, and the end
	tolerance float64
	mean      []float64 // of the columns, 0 of those that do not vary; nil: not known
	// inverse is the inverse of corr in rows and columns [lo, hi); nil: it is to be found
	inverse func(lo, hi int) *mat.SymDense
}

// FewColumns: of so many at most Concurvity does not look at the covariance, which may be taken at the same time.
const FewColumns = 700

// inverseCorrelations are the inverse of all correlations where the covariance of the fit is that but for scales, and all
// eigenvalues are so far from 0 that a ridge changes nothing; nil elsewhere, or where finding it takes no time.
func (f *Fit) inverseCorrelations() func(lo, hi int) *mat.SymDense {
	const far = 1e6 // from the ridge
	if f.problem.columns.Width() <= FewColumns {
		return nil
	}
	cov, dense := f.cov.(*mat.SymDense)
	if !dense || f.Score != nil || f.dropped != nil || !(f.Scale > 0) || f.weakest < far*ridge(f.problem.columns.reading()) {
		return nil
	}
	return func(lo, hi int) *mat.SymDense {
		out := mat.NewSymDense(hi-lo, nil)
		out.CopySym(cov.SliceSym(lo, hi))
		out.ScaleSym(f.problem.sums.SumW/f.Scale, out)
		linalg.ScaleBoth(out, f.sd[lo:hi])
		return out
	}
}

// newSpans takes the columns' standard deviations and coefficients theta.
func newSpans(ctx context.Context, corr mat.Symmetric, sd, theta []float64, start []int, tolerance float64) (*spans, error) {
	s := &spans{terms: make([]spannable, len(start)-1), corr: corr, start: start, tolerance: tolerance}
	if len(s.terms) < 2 {
		return s, nil
	}
	err := each(ctx, len(s.terms), func(j int) error {
		lo, hi := start[j], start[j+1]
		standardised := make([]float64, hi-lo)
		floats.MulTo(standardised, theta[lo:hi], sd[lo:hi])
		s.terms[j] = newSpannable(linalg.Range(corr, lo, hi), sd[lo:hi], standardised)
		return nil
	})
	return s, err
}

// againstAll measures every term against all others. What a term keeps of itself once
// they are taken out is the inverse of its block of C^-1: one inverse serves all terms.
// The ridge is what the rank tolerance calls zero.
func (s *spans) againstAll(ctx context.Context, large *dominant) ([]Concurvity, error) {
	if large != nil {
		return large.againstAll(ctx, s)
	}
	full := make([]Concurvity, len(s.terms))
	if len(s.terms) < 2 {
		return full, nil
	}
	block := s.inverse
	if block == nil {
		whole, err := s.dense()
		if err != nil {
			return nil, err
		}
		inverse, err := ridgeInverse(whole, ridge(s.tolerance))
		if err != nil {
			return nil, err
		}
		block = func(lo, hi int) *mat.SymDense { return inverse.SliceSym(lo, hi).(*mat.SymDense) }
	}
	err := each(ctx, len(s.terms), func(j int) (err error) {
		full[j], err = s.terms[j].byInverse(block(s.start[j], s.start[j+1]))
		return err
	})
	return full, err
}

// pairs measures every term against each of the others; none of too many terms.
func (s *spans) pairs(ctx context.Context, large *dominant) ([]Pair, error) {
	n := len(s.terms)
	if n < 2 || n > concurvityTerms {
		return nil, nil
	}
	inverse, apart, err := s.prepared(ctx, large)
	if err != nil {
		return nil, err
	}
	measure := func(i, j int) Concurvity { // j with i
		t, other := s.terms[j], s.terms[i]
		switch {
		case large != nil && j == large.block:
			return large.pair(s, i, inverse[i])
		case large != nil && i == large.block:
			return t.after(large.against(j), inverse[j])
		}
		return t.after(other.taken(s.between(i, j), inverse[i], s.tolerance), inverse[j])
	}
	measured := make([]Concurvity, n*n)
	err = each(ctx, n*n, func(at int) error {
		if i, j := at/n, at%n; i != j && !apart[at] {
			measured[at] = measure(i, j)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var pairs []Pair
	for at, m := range measured {
		if m.Worst >= concurvityShown {
			pairs = append(pairs, Pair{Block: at % n, With: at / n, Concurvity: m})
		}
	}
	return pairs, nil
}

// between are the correlations of the columns of term i with those of another, j.
func (s *spans) between(i, j int) mat.Matrix {
	if i > j {
		return s.between(j, i).T()
	}
	dense, ok := s.corr.(*mat.SymDense)
	if !ok {
		return s.corr.(*linalg.Structured).Block(columnsFrom(s.start[i], s.start[i+1]), columnsFrom(s.start[j], s.start[j+1]))
	}
	raw, lo := dense.RawSymmetric(), s.start[i]
	var block mat.Dense // above the diagonal
	block.SetRawMatrix(blas64.General{Rows: s.start[i+1] - lo, Cols: s.start[j+1] - s.start[j], Stride: raw.Stride, Data: raw.Data[lo*raw.Stride+s.start[j]:]})
	return &block
}

// prepared gives the inverse correlations of terms of many columns, and which pairs of
// the others (n x n) would not be shown.
func (s *spans) prepared(ctx context.Context, large *dominant) (inverse []*mat.SymDense, apart []bool, err error) {
	n := len(s.terms)
	inverse, apart = make([]*mat.SymDense, n), make([]bool, n*n)
	err = each(ctx, n, func(i int) (err error) {
		t := s.terms[i]
		if t.many() {
			if large == nil || i != large.block {
				var own *mat.SymDense
				if own, err = t.dense(); err == nil {
					inverse[i], err = ridgeInverse(own, ridge(s.tolerance))
				}
			}
			return err
		}
		for j, other := range s.terms[:i] {
			if !other.many() && t.apart(other, s.between(i, j)) {
				apart[i*n+j], apart[j*n+i] = true, true
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	err = each(ctx, n*n, func(at int) error { // the largest share that one side takes of the other is the same for both
		if i, j := at/n, at%n; i < j && inverse[i] != nil && inverse[j] != nil {
			taken := s.terms[i].taken(s.between(i, j), inverse[i], s.tolerance)
			if largest(taken, inverse[j]) < surelyNotShown {
				apart[at], apart[j*n+i] = true, true
			}
		}
		return nil
	})
	return inverse, apart, err
}

// spannable is one term's standardised columns: their correlations A, standard
// deviations, and fitted coefficients.
type spannable struct {
	corr      mat.Symmetric
	sd, theta []float64
	whitening whitening // none of many columns
}

// ownTolerance is the rank tolerance of a term itself: all but rounding counts.
const ownTolerance = 1e-8

func newSpannable(corr mat.Symmetric, sd, theta []float64) spannable {
	t := spannable{corr: corr, sd: sd, theta: theta}
	if !t.many() {
		t.whitening = whiten(linalg.Dense(corr))
	}
	return t
}

// maxCorrelated is up to how many columns correlations of many levels, which are inverted once, may become a matrix with all of its
// numbers.
const maxCorrelated = 20_000

// dense are the term's correlations, all of their numbers.
func (t spannable) dense() (*mat.SymDense, error) { return denseOf(t.corr) }

// dense are those of all columns.
func (s *spans) dense() (*mat.SymDense, error) { return denseOf(s.corr) }

func denseOf(corr mat.Symmetric) (*mat.SymDense, error) {
	if n := corr.SymmetricDim(); n > maxCorrelated {
		return nil, fmt.Errorf("concurvity: the correlations of %d columns are too many numbers: %w", n, penalty.ErrLostDigits)
	}
	return linalg.Dense(corr), nil
}

func (t spannable) many() bool { return len(t.sd) > manyColumns }

// apart tells, without eigenvalues, that neither term takes a share of the other that is
// shown: between are the correlations of its columns with the other's. The largest share is
// the largest eigenvalue of G = M'M, M = W'A_12 W. It is at most G's trace, |G|, |G^2|^(1/2)
// and |G^4|^(1/4) in Frobenius' norm, each closer to it than the one before: columns without
// any relation have small eigenvalues, but many.
func (t spannable) apart(other spannable, between mat.Matrix) bool {
	power := times(times(t.whitening.above(ownTolerance).T(), between), other.whitening.above(ownTolerance))
	norm := mat.Norm(power, 2)
	bound := norm * norm
	for k := 1.0; bound >= surelyNotShown && k <= 4; k *= 2 {
		_, n := power.Dims()
		square := mat.NewSymDense(n, nil)
		linalg.AddGram(square, power)
		power, bound = linalg.Mirror(square), math.Pow(mat.Norm(square, 2), 1/k)
	}
	return bound < surelyNotShown
}

// taken is what the term takes of another's correlations A_jj, A_ji A_ii^+ A_ij, between
// being A_ij. inverse is that of its own correlations if it has many columns.
func (t spannable) taken(between mat.Matrix, inverse *mat.SymDense, tolerance float64) *mat.SymDense {
	_, n := between.Dims()
	taken := mat.NewSymDense(n, nil)
	if inverse != nil {
		own := mat.DenseCopyOf(between)
		linalg.AddSymmetric(taken, own, times(inverse, own))
		return taken
	}
	linalg.AddGram(taken, times(t.whitening.above(tolerance).T(), between))
	return taken
}

// after measures the term when another has taken that of its correlations.
func (t spannable) after(taken, inverse *mat.SymDense) Concurvity {
	left := mat.NewSymDense(len(t.sd), nil)
	left.ScaleSym(-1, taken)
	left.AddSym(left, linalg.Dense(t.corr))
	m := t.average(left)
	if t.many() {
		m.Worst = share(largest(taken, inverse))
	} else {
		m.Worst = t.worst(left)
	}
	return m
}

// byInverse measures the term against the others by its own columns' block of the inverse of the correlations of all.
func (t spannable) byInverse(block *mat.SymDense) (Concurvity, error) {
	left, err := ridgeInverse(block, 0)
	if err != nil {
		return Concurvity{}, err
	}
	m := t.average(left)
	if t.many() {
		// min v'left v / v'A v is 1 over the largest eigenvalue of left^-1 A.
		m.Worst = share(1 - 1/largest(block, t.corr))
	} else {
		m.Worst = t.worst(left)
	}
	return m, nil
}

// average measures the term given what is left of A once others are taken out: of
// a function with coefficients v the share 1 - v'left v / v'A v is spanned.
func (t spannable) average(left *mat.SymDense) Concurvity {
	var m Concurvity
	if size := linalg.Bilinear(t.corr, t.theta, t.theta); size > 0 {
		m.Observed = share(1 - linalg.Inner(left, t.theta, t.theta)/size)
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
	var e mat.EigenSym
	if !e.Factorize(symmetrised(times(white.T(), times(left, white))), false) {
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
	if !linalg.Invert(r) {
		return nil, fmt.Errorf("concurvity: the correlations of the columns are not positive definite: %w", penalty.ErrLostDigits)
	}
	return r, nil
}

// each calls f for 0 to n-1, several at the same time, until ctx is done; the error is that of
// ctx or of the first that has one.
func each(ctx context.Context, n int, f func(i int) error) error {
	faults := make([]error, n)
	linalg.Each(n, func(i int) {
		if faults[i] = ctx.Err(); faults[i] == nil {
			faults[i] = f(i)
		}
	})
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}

// share undoes rounding at the ends of [0, 1].
func share(x float64) float64 { return math.Max(0, math.Min(1, x)) }
