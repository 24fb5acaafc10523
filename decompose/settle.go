package decompose

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/penalty"
)

// settle chooses among the solutions that aliasing leaves: the one whose terms, with
// what the network's own hold of them, vary least, sum_j Var(Phi_j (beta_j + alpha_j)).
// Minimum norm depends on how a basis is written and may set two large effects against
// each other; and with alpha alone the split would depend on how much of an effect the
// network's terms held before, and which of them. With B the block diagonal of the
// correlations, alpha <- alpha - N (N'BN)^+ N'(B alpha + own), own the products of
// columns and own terms (see ownProducts); X alpha and the penalty stay as they are.
// Directions that change no term's values keep minimum norm.
func (p *projection) settle(terms []penalty.Component, own []float64, tolerance float64) error {
	if p.dropped == nil {
		return nil
	}
	null, err := p.exactlyNull()
	if null == nil || err != nil {
		return err
	}
	n, r := null.Dims()
	bn := mat.NewDense(n, r, nil)
	for _, t := range terms {
		part := null.Slice(t.Start, t.Start+t.Dim, 0, r)
		bn.Slice(t.Start, t.Start+t.Dim, 0, r).(*mat.Dense).Mul(p.corr.SliceSym(t.Start, t.Start+t.Dim), part)
	}
	var change mat.Dense
	change.Mul(null.T(), bn)
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetrised(&change), true) {
		return errors.New("the eigendecomposition of the aliased directions did not converge")
	}
	var q mat.Dense
	eigen.VectorsTo(&q)
	half := mat.NewDense(r, r, nil) // (N'BN)^+ is half half'
	for l, v := range eigen.Values(nil) {
		if v > tolerance {
			for i := range r {
				half.Set(i, l, q.At(i, l)/math.Sqrt(v))
			}
		}
	}
	var back, to mat.Dense
	back.Mul(null, half) // n x r
	to.Mul(bn, half)     // n x r; the map is I - back to'
	move := mat.NewDense(n, n, nil)
	move.Mul(&back, to.T())
	for i := range n { // in the columns' own scale: D^-1 . D
		for j := range n {
			v := 0.0
			if p.sd[i] > 0 {
				v = -move.At(i, j) * p.sd[j] / p.sd[i]
			}
			if i == j {
				v++
			}
			move.Set(i, j, v)
		}
	}
	alpha := mat.NewVecDense(n, nil)
	alpha.MulVec(move, mat.NewVecDense(n, p.alpha))
	var along, shift mat.VecDense
	along.MulVec(back.T(), mat.NewVecDense(n, own))
	shift.MulVec(&back, &along)
	p.alpha = alpha.RawVector().Data
	for i, sd := range p.sd {
		if sd > 0 {
			p.alpha[i] -= shift.AtVec(i) / sd
		}
	}
	if p.cov != nil {
		p.cov = congruence(mat.DenseCopyOf(move.T()), p.cov)
	}
	return nil
}

// exactlyNull are the dropped directions that change no row at all, up to
// rounding; the rank tolerance drops others too, along which X alpha would move.
func (p *projection) exactlyNull() (*mat.Dense, error) {
	const rounding = 1e-13 // of the mean square of a standardised column
	var cn, k mat.Dense
	cn.Mul(p.corr, p.dropped)
	k.Mul(p.dropped.T(), &cn)
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetrised(&k), true) {
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
	null.Mul(p.dropped, q.Slice(0, q.RawMatrix().Rows, 0, r))
	return &null, nil
}

// ownProducts are, for each standardised column, the weighted mean of its product with
// what the network's own coefficients make of its term: D_j^-1 Z_j'XX_jj beta_j / SumW.
// A refit of the total has them in alpha already.
func (c *constrained) ownProducts(sd []float64, intercept, total bool, beta []float64) []float64 {
	own := make([]float64, c.width())
	if total || !anyNonZero(beta) {
		return own
	}
	xx := c.view.XX
	if !intercept {
		xx, _, _ = c.view.Raw()
	}
	products := make([]float64, len(beta))
	for j := range c.blocks {
		lo, hi := c.raw[j], c.raw[j+1]
		mat.NewVecDense(hi-lo, products[lo:hi]).MulVec(xx.SliceSym(lo, hi), mat.NewVecDense(hi-lo, beta[lo:hi]))
	}
	for i, v := range c.reduceVector(products) {
		if sd[i] > 0 {
			own[i] = v / (sd[i] * c.view.SumW)
		}
	}
	return own
}
