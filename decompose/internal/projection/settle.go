package projection

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// Settle chooses among the solutions that aliasing leaves: the one that minimises the
// variance of the terms together with the network's own parts of them, sum_j Var(Phi_j
// (beta_j + alpha_j)). Minimum norm depends on how a basis is written and may set two
// large effects against each other; and with alpha alone the split would depend on how
// much of an effect the network's terms held before, and which of them. With B the block
// diagonal of the correlations, alpha <- alpha - N (N'BN)^+ N'(B alpha + own), own the
// products of columns and own terms (see ownProducts); X alpha and the penalty stay as
// they are. Directions that change no term's values keep minimum norm. So the split
// belongs to the network's function, and a refit of the total gives it too.
func (f *Fit) Settle() error {
	if f.dropped == nil {
		return nil
	}
	null, err := f.exactlyNull()
	if null == nil || err != nil {
		return err
	}
	back, to, err := f.spread(null)
	if err != nil {
		return err
	}
	u, v := f.inOwnScale(back, to)
	n := len(f.sd)
	var along, alpha mat.VecDense
	along.MulVec(v.T(), mat.NewVecDense(n, f.alpha))
	alpha.MulVec(u, &along)
	floats.Sub(f.alpha, alpha.RawVector().Data)
	f.back = back
	f.shift(f.alpha, f.problem.beta)
	moveCovariance(f.cov, u, v)
	moveCovariance(f.vague, u, v)
	return nil
}

// shift is the part of Settle that is about the network's own coefficients, beta (raw).
func (f *Fit) shift(alpha, beta []float64) {
	if f.back == nil {
		return
	}
	var along, shift mat.VecDense
	along.MulVec(f.back.T(), mat.NewVecDense(len(alpha), f.ownProducts(beta)))
	shift.MulVec(f.back, &along)
	for i, sd := range f.sd {
		if sd > 0 {
			alpha[i] -= shift.AtVec(i) / sd
		}
	}
}

// spread gives N H and B N H with H H' = (N'BN)^+: in standardised columns the map of
// Settle is I - back to'.
func (f *Fit) spread(null *mat.Dense) (back, to *mat.Dense, err error) {
	n, r := null.Dims()
	bn := mat.NewDense(n, r, nil)
	for _, t := range f.problem.columns.terms {
		part := null.Slice(t.Start, t.Start+t.Dim, 0, r)
		bn.Slice(t.Start, t.Start+t.Dim, 0, r).(*mat.Dense).Copy(blockTimes(f.corr, t.Start, t.Start+t.Dim, part))
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetrised(times(null.T(), bn)), true) {
		return nil, nil, errors.New("the eigendecomposition of the aliased directions did not converge")
	}
	var q mat.Dense
	eigen.VectorsTo(&q)
	half := mat.NewDense(r, r, nil)
	for l, v := range eigen.Values(nil) {
		if v > f.problem.columns.reading() {
			for i := range r {
				half.Set(i, l, q.At(i, l)/math.Sqrt(v))
			}
		}
	}
	return times(null, half), times(bn, half), nil
}

// inOwnScale gives U and V of the map I - U V' for columns that are not standardised,
// D^-1 (I - back to') D.
func (f *Fit) inOwnScale(back, to *mat.Dense) (u, v *mat.Dense) {
	u, v = mat.DenseCopyOf(back), mat.DenseCopyOf(to)
	for i, sd := range f.sd {
		over := 0.0
		if sd > 0 {
			over = 1 / sd
		}
		floats.Scale(over, u.RawRowView(i))
		floats.Scale(sd, v.RawRowView(i))
	}
	return u, v
}

// moveCovariance overwrites c with (I - UV')c(I - VU') = c - TU' - UT', T = cV - U V'cV/2; nil
// stays nil.
func moveCovariance(of mat.Symmetric, u, v *mat.Dense) {
	c, ok := of.(*mat.SymDense)
	if !ok || c == nil {
		return
	}
	t := times(linalg.Mirror(c), v)
	half := times(u, times(v.T(), t))
	half.Scale(0.5, half)
	t.Sub(t, half)
	var tu, ut mat.Dense
	tu.Stack(t.T(), u.T())
	ut.Stack(u.T(), t.T())
	linalg.SubtractSymmetric(c, &tu, &ut)
}

// exactlyNull are the dropped directions that change no row at all, up to
// rounding; the rank tolerance drops others too, along which X alpha would move.
func (f *Fit) exactlyNull() (*mat.Dense, error) {
	const rounding = 1e-13 // of the mean square of a standardised column
	k := times(f.dropped.T(), linalg.TimesOf(f.corr, f.dropped))
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetrised(k), true) {
		return nil, errors.New("the eigendecomposition of the dropped directions did not converge")
	}
	r := 0
	for _, v := range eigen.Values(nil) { // increasing
		if v <= rounding {
			r++
		}
	}
	if r == 0 {
		return nil, nil
	}
	var q, null mat.Dense
	eigen.VectorsTo(&q)
	null.Mul(f.dropped, q.Slice(0, q.RawMatrix().Rows, 0, r))
	return &null, nil
}

// ownProducts are, for each standardised column, the weighted mean of its product with
// what the network's own coefficients make of its term: D_j^-1 Z_j'XX_jj beta_j / SumW.
// A refit of the total has them in alpha already.
func (f *Fit) ownProducts(beta []float64) []float64 {
	c := f.problem.columns
	own := make([]float64, c.width())
	if f.problem.total || floats.Norm(beta, math.Inf(1)) == 0 {
		return own
	}
	xx := c.view.XX
	if !f.problem.sums.Intercept {
		xx, _, _ = c.view.Raw()
	}
	products := make([]float64, len(beta))
	for j := range c.blocks {
		lo, hi := c.raw[j], c.raw[j+1]
		copy(products[lo:hi], linalg.MulVec(linalg.Range(xx, lo, hi), beta[lo:hi]))
	}
	for i, v := range c.reduceVector(products) {
		if f.sd[i] > 0 {
			own[i] = v / (f.sd[i] * c.view.SumW)
		}
	}
	return own
}
