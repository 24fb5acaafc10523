package decompose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/householder"
	"github.com/pho-go/pho/penalty"
)

// refine replaces the fit that the moments gave by the same one from the factor, at
// the smoothing parameters chosen: alpha by least squares on the rows of G and of
// sqrt(lambda_j) B_j, S_j = B_j'B_j (Wood 2017, section 6.1). scale is the known
// one, or 0.
func (p *projection) refine(ctx context.Context, problem *penalty.Problem, f *factored, tolerance, scale float64) error {
	n := len(p.sd)
	unit := make([]float64, n) // by which columns are divided
	for i, s := range p.sd {
		if s == 0 {
			s = 1
		}
		unit[i] = s
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range problem.Terms {
		problem.Terms[i].Balance(unit[problem.Terms[i].Start:][:problem.Terms[i].Dim])
	}
	g := f.standardised(unit, problem.SumW)
	floats.Scale(math.Sqrt(problem.SumW), unit)
	c, err := penalisedCoordinates(problem.Terms, p.lambda, unit)
	if err != nil {
		return err
	}
	basis, dropped, err := c.determined(g, tolerance)
	if err != nil {
		return err
	}
	p.rank = 0
	if p.dropped, err = fromUnits(dropped, unit, p.sd); err != nil {
		return err
	}
	before := p.edf
	p.alpha, p.edf = make([]float64, n), make([]float64, len(problem.Terms))
	p.cov = mat.NewSymDense(n, nil)
	if err := ctx.Err(); err != nil {
		return err
	}
	if basis != nil {
		_, p.rank = basis.Dims()
		alpha, half, err := augmented(g, f.y, basis, c.roots, problem.Terms)
		if err != nil {
			return err
		}
		// F is the projector on the directions kept, less half half'S.
		for j, t := range problem.Terms {
			for i := t.Start; i < t.Start+t.Dim; i++ {
				p.edf[j] += floats.Dot(basis.RawRowView(i), basis.RawRowView(i))
			}
			if c.roots[j] != nil {
				var spent mat.Dense
				spent.Mul(c.roots[j], half.Slice(t.Start, t.Start+t.Dim, 0, p.rank))
				norm := mat.Norm(&spent, 2)
				p.edf[j] -= norm * norm
			}
			if p.edf[j] < -0.01 || p.edf[j] > float64(t.Dim)+0.01 {
				return fmt.Errorf("term %q: its effective degrees of freedom come out as %.3g of %d: smoothing parameters so small or large leave no digits, which values far from all others bring about: leave such rows out, or transform the column", t.Name, p.edf[j], t.Dim)
			}
		}
		for i, d := range unit {
			p.alpha[i] = alpha[i] / d
			floats.Scale(1/d, half.RawRowView(i))
		}
		p.cov.SymOuterK(1, half)
	}
	// Directions that the moments could not tell apart carry no penalty, so they count
	// alike in all three.
	gained := make([]float64, len(p.edf))
	floats.SubTo(gained, p.edf, before)
	for _, edf := range [][]float64{p.edf1, p.edf2} {
		if edf != nil {
			floats.Add(edf, gained)
		}
	}
	p.total = floats.Sum(p.edf)
	if problem.Intercept {
		p.total++
	}
	left := f.left(p.alpha)
	p.scale = scale
	if df := float64(problem.Rows) - p.total; p.status == penalty.ZeroResidual.String() {
		p.scale = 0
	} else if scale == 0 && df > 0 {
		p.scale = mat.Dot(left, left) / df
	}
	p.cov.ScaleSym(p.scale, p.cov)
	return nil
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

// coordinates rotate each term: first come the directions its penalties act on.
type coordinates struct {
	u               *mat.Dense // n x n, block diagonal, orthogonal
	penalised, free []int      // its columns
	roots           []*mat.Dense
}

// penalisedCoordinates does so in columns divided by unit. roots are the terms'
// sqrt(lambda_j) B_j there, one below the other; nil if none counts.
func penalisedCoordinates(terms []penalty.Component, lambda [][]float64, unit []float64) (*coordinates, error) {
	c := &coordinates{u: mat.NewDense(len(unit), len(unit), nil)}
	for i, t := range terms {
		lo, hi := t.Start, t.Start+t.Dim
		v, rank, root, err := rangeAndRoot(t, lambda[i], unit[lo:hi])
		if err != nil {
			return nil, err
		}
		c.u.Slice(lo, hi, lo, hi).(*mat.Dense).Copy(v)
		for l := range t.Dim {
			if l < rank {
				c.penalised = append(c.penalised, lo+l)
			} else {
				c.free = append(c.free, lo+l)
			}
		}
		c.roots = append(c.roots, root)
	}
	return c, nil
}

// determined splits the directions into those that rows or penalties determine and
// the others (both n x some, orthonormal; nil if none). The others are found where
// no penalty acts, as penalty.Select does, but by singular values of G, whose
// columns have norm 1 or 0.
func (c *coordinates) determined(g *mat.Dense, tolerance float64) (basis, dropped *mat.Dense, err error) {
	basis = columns(c.u, c.penalised)
	if len(c.free) == 0 {
		return basis, nil, nil
	}
	free := columns(c.u, c.free)
	var gf mat.Dense
	gf.Mul(g, free)
	var svd mat.SVD
	if !svd.Factorize(&gf, mat.SVDThin) {
		return nil, nil, errors.New("the singular value decomposition of the unpenalised columns did not converge: are they finite?")
	}
	values := svd.Values(nil)
	rank := 0
	for rank < len(values) && values[rank] > tolerance*math.Max(values[0], 1) {
		rank++
	}
	var v mat.Dense
	svd.VTo(&v)
	if rank > 0 {
		var kept mat.Dense
		kept.Mul(free, v.Slice(0, len(c.free), 0, rank))
		basis = beside(basis, &kept)
	}
	if rank < len(c.free) {
		dropped = new(mat.Dense)
		dropped.Mul(free, v.Slice(0, len(c.free), rank, len(c.free)))
	}
	return basis, dropped, nil
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

// rangeAndRoot returns the orthogonal v whose first rank columns span the range of the
// term's penalties, in columns divided by unit, and sqrt(lambda_j) B_j for all of
// them, one below the other; nil if none counts.
func rangeAndRoot(t penalty.Component, lambda, unit []float64) (v *mat.Dense, rank int, root *mat.Dense, err error) {
	v = mat.NewDense(t.Dim, t.Dim, nil)
	for i := range t.Dim {
		v.Set(i, i, 1)
	}
	total := mat.NewSymDense(t.Dim, nil)
	for j, s := range t.S {
		if !(lambda[j] > 0) {
			continue
		}
		x := mat.NewSymDense(t.Dim, nil)
		for a := range t.Dim {
			for b := a; b < t.Dim; b++ {
				x.SetSym(a, b, s.At(a, b)/(unit[a]*unit[b]))
			}
		}
		norm := mat.Norm(x, 2)
		if norm == 0 {
			continue
		}
		b, err := squareRoot(x)
		if err != nil {
			return nil, 0, nil, err
		}
		b.Scale(math.Sqrt(lambda[j]), b)
		root = below(root, b)
		x.ScaleSym(1/norm, x)
		total.AddSym(total, x)
	}
	if root == nil {
		return v, 0, nil, nil
	}
	values, vectors, err := descending(total)
	if err != nil {
		return nil, 0, nil, err
	}
	for rank < t.Dim && values[rank] > penaltyRounding*values[0] {
		rank++
	}
	return vectors, rank, root, nil
}

// penaltyRounding: eigenvalues of a penalty below it, relative to the largest,
// are zero. It is package penalty's.
const penaltyRounding = 1e-12

// squareRoot is B (rank x n) with B'B = S.
func squareRoot(s *mat.SymDense) (*mat.Dense, error) {
	values, vectors, err := descending(s)
	if err != nil {
		return nil, err
	}
	rank := 0
	for rank < len(values) && values[rank] > penaltyRounding*values[0] {
		rank++
	}
	b := mat.NewDense(rank, len(values), nil)
	for i := range rank {
		for j := range values {
			b.Set(i, j, math.Sqrt(values[i])*vectors.At(j, i))
		}
	}
	return b, nil
}

// descending is the eigendecomposition with the largest eigenvalue first.
func descending(s *mat.SymDense) ([]float64, *mat.Dense, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(s, true) {
		return nil, nil, errors.New("the eigendecomposition of a penalty did not converge")
	}
	values := eigen.Values(nil)
	var q mat.Dense
	eigen.VectorsTo(&q)
	n := len(values)
	slices.Reverse(values)
	out := mat.NewDense(n, n, nil)
	for j := range n {
		out.SetCol(j, mat.Col(nil, n-1-j, &q))
	}
	return values, out, nil
}

// columns picks columns; nil if there are none.
func columns(a *mat.Dense, which []int) *mat.Dense {
	if len(which) == 0 {
		return nil
	}
	n, _ := a.Dims()
	out := mat.NewDense(n, len(which), nil)
	for l, j := range which {
		out.SetCol(l, mat.Col(nil, j, a))
	}
	return out
}

// beside is [a, b]; below is [a; b]; a may be nil.
func beside(a, b *mat.Dense) *mat.Dense {
	if a == nil {
		return b
	}
	var out mat.Dense
	out.Augment(a, b)
	return &out
}

func below(a, b *mat.Dense) *mat.Dense {
	if a == nil {
		return b
	}
	var out mat.Dense
	out.Stack(a, b)
	return &out
}
