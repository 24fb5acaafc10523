package projection

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/householder"
	"github.com/pho-go/pho/penalty"
)

// refine replaces the fit that the moments gave by the same one from the factor, at
// the smoothing parameters chosen: alpha by least squares on the rows of G and of
// sqrt(lambda_j) B_j, S_j = B_j'B_j (Wood 2017, section 6.1). scale is the known
// one, or 0.
func (f *Fit) refine(ctx context.Context, scale float64) error {
	p, factor := f.problem.sums, f.problem.factor
	if err := ctx.Err(); err != nil {
		return err
	}
	unit := f.units()
	g := factor.standardised(unit, p.SumW)
	floats.Scale(math.Sqrt(p.SumW), unit)
	c, err := rotate(p.Terms, f.Lambda, unit)
	if err != nil {
		return err
	}
	basis, dropped, err := c.determined(g, f.problem.columns.tolerance)
	if err != nil {
		return err
	}
	if f.dropped, err = fromUnits(dropped, unit, f.sd); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	before := f.EDF
	if err := f.solveAugmented(g, basis, c.roots, unit); err != nil {
		return err
	}
	f.correctEDF(before)
	f.rescale(scale)
	return nil
}

// units are the scales by which columns are divided: their standard deviations, but
// for those that next to no row reaches.
func (f *Fit) units() []float64 {
	unit := make([]float64, len(f.sd))
	for i, s := range f.sd {
		if s == 0 {
			s = 1
		}
		unit[i] = s
	}
	terms := f.problem.sums.Terms
	for i := range terms {
		terms[i].Balance(unit[terms[i].Start:][:terms[i].Dim])
	}
	return unit
}

// solveAugmented sets alpha, its covariance but for the scale, the rank and the degrees
// of freedom, by least squares on the directions of basis (nil: there are none).
func (f *Fit) solveAugmented(g, basis *mat.Dense, roots []*mat.Dense, unit []float64) error {
	n, terms := len(f.sd), f.problem.sums.Terms
	f.alpha, f.EDF, f.Rank = make([]float64, n), make([]float64, len(terms)), 0
	cov := mat.NewSymDense(n, nil)
	f.cov = cov
	if basis == nil {
		return nil
	}
	_, f.Rank = basis.Dims()
	alpha, half, err := augmented(g, f.problem.factor.y, basis, roots, terms)
	if err != nil {
		return err
	}
	for j := range terms {
		if f.EDF[j], err = degreesOfFreedom(&terms[j], basis, half, roots[j]); err != nil {
			return err
		}
	}
	for i, d := range unit {
		f.alpha[i] = alpha[i] / d
		floats.Scale(1/d, half.RawRowView(i))
	}
	cov.SymOuterK(1, half)
	return nil
}

// degreesOfFreedom of term t are the trace of its block of F, which is the projector on
// the directions kept, less half half'S.
func degreesOfFreedom(t *penalty.Component, basis, half, root *mat.Dense) (float64, error) {
	var edf float64
	for i := t.Start; i < t.Start+t.Dim; i++ {
		edf += floats.Dot(basis.RawRowView(i), basis.RawRowView(i))
	}
	if root != nil {
		_, rank := basis.Dims()
		var spent mat.Dense
		spent.Mul(root, half.Slice(t.Start, t.Start+t.Dim, 0, rank))
		norm := mat.Norm(&spent, 2)
		edf -= norm * norm
	}
	if edf < -0.01 || edf > float64(t.Dim)+0.01 {
		return 0, fmt.Errorf("term %q: its effective degrees of freedom come out as %.3g of %d: smoothing parameters so small or large leave no digits, which values far from all others bring about: leave such rows out, or transform the column", t.Name, edf, t.Dim)
	}
	return edf, nil
}

// correctEDF adds what the degrees of freedom have gained to their other definitions:
// directions that the moments could not tell apart carry no penalty, so they count
// alike in all three.
func (f *Fit) correctEDF(before []float64) {
	gained := make([]float64, len(f.EDF))
	floats.SubTo(gained, f.EDF, before)
	for _, edf := range [][]float64{f.EDF1, f.EDF2} {
		if edf != nil {
			floats.Add(edf, gained)
		}
	}
	f.EDFTotal = floats.Sum(f.EDF)
	if f.problem.sums.Intercept {
		f.EDFTotal++
	}
}

// rescale finds the residual variance (the known one, if it is not 0), and gives the
// covariance its scale.
func (f *Fit) rescale(known float64) {
	left := f.problem.factor.left(f.alpha)
	f.Scale = known
	if df := float64(f.problem.sums.Rows) - f.EDFTotal; f.Status == penalty.ZeroResidual.String() {
		f.Scale = 0
	} else if known == 0 && df > 0 {
		f.Scale = mat.Dot(left, left) / df
	}
	cov := f.cov.(*mat.SymDense)
	cov.ScaleSym(f.Scale, cov)
}

// fromUnits takes directions of columns divided by unit to standardised ones.
func fromUnits(d *mat.Dense, unit, sd []float64) (*mat.Dense, error) {
	if d == nil {
		return nil, nil
	}
	raw := mat.DenseCopyOf(d)
	for i, u := range unit {
		floats.Scale(1/u, raw.RawRowView(i))
	}
	return standardise(raw, sd)
}

// augmented solves least squares on the rows [G basis, y] and [B basis, 0], one B
// per term, for alpha in G's columns. With R the triangular factor, half is basis
// R^-1, so that half half' is (X'WX + S)^-1.
func augmented(g *mat.Dense, y *mat.VecDense, basis *mat.Dense, roots []*mat.Dense, terms []penalty.Component) (alpha []float64, half *mat.Dense, err error) {
	m := y.Len()
	n, rank := basis.Dims()
	total := m
	for _, root := range roots {
		if root != nil {
			k, _ := root.Dims()
			total += k
		}
	}
	rows := mat.NewDense(total, rank+1, nil)
	for i := range m {
		rows.Set(i, rank, y.AtVec(i))
	}
	var part mat.Dense
	part.Mul(g, basis)
	rows.Slice(0, m, 0, rank).(*mat.Dense).Copy(&part)
	at := m
	for i, t := range terms {
		if roots[i] == nil {
			continue
		}
		k, _ := roots[i].Dims()
		part.Reset()
		part.Mul(roots[i], basis.Slice(t.Start, t.Start+t.Dim, 0, rank))
		rows.Slice(at, at+k, 0, rank).(*mat.Dense).Copy(&part)
		at += k
	}

	width := rank + 1
	r := make([]float64, width*width)
	householder.Stack(r, width, rows.RawMatrix().Data, width, total, total, new(householder.Work))
	factor := blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: rank, Data: r, Stride: width}
	b := mat.NewVecDense(rank, nil)
	for i := range rank {
		if r[i*width+i] == 0 {
			return nil, nil, errors.New("X'WX + S is singular: a fixed smoothing parameter is extreme")
		}
		b.SetVec(i, r[i*width+rank])
	}
	blas64.Trsv(blas.NoTrans, factor, b.RawVector())
	a := mat.NewVecDense(n, nil)
	a.MulVec(basis, b)
	half = mat.DenseCopyOf(basis)
	blas64.Trsm(blas.Right, blas.NoTrans, 1, factor, half.RawMatrix())
	return a.RawVector().Data, half, nil
}
