package decompose

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/householder"
	"github.com/pho-go/pho/penalty"
)

// factored is the projection as least squares on few rows: with R the triangular
// factor of [X, zeta], G = R_x T and y = R_zeta have G'G = X'WX and G'y = X'W zeta,
// but the condition number of X, not its square.
type factored struct {
	g *mat.Dense // m x n, n constrained columns
	y *mat.VecDense
}

// factor is nil without a factor or without columns. total refits X beta + zeta.
func (c *constrained) factor(intercept, total bool, beta []float64) *factored {
	if c.view.R == nil || c.width() == 0 {
		return nil
	}
	r := c.view.R
	if !intercept {
		r = c.view.RawFactor()
	}
	m, _ := r.Dims()
	rows := mat.DenseCopyOf(r)
	f := &factored{g: mat.NewDense(m, c.width(), nil), y: mat.NewVecDense(m, nil)}
	f.y.CopyVec(rows.ColView(m - 1))
	if total && m > 1 {
		var moved mat.VecDense
		moved.MulVec(rows.Slice(0, m, 0, m-1), mat.NewVecDense(m-1, beta))
		f.y.AddVec(f.y, &moved)
	}
	for j := range c.blocks {
		from := rows.Slice(0, m, c.raw[j], c.raw[j+1])
		to := f.g.Slice(0, m, c.start[j], c.start[j+1]).(*mat.Dense)
		if c.z[j] == nil {
			to.Copy(from)
		} else {
			to.Mul(from, c.z[j])
		}
	}
	return f
}

// into replaces the products of p by those of f. What varies by less than 1e-12 of
// its mean is constant, in columns and response: rounding is not signal.
func (f *factored) into(p *penalty.Problem) {
	constant := func(squares, mean float64) bool { return squares <= 1e-24*mean*mean*p.SumW }
	m, n := f.g.Dims()
	if p.XMean != nil {
		for i, mean := range p.XMean {
			if norm := mat.Norm(f.g.ColView(i), 2); constant(norm*norm, mean) {
				f.g.SetCol(i, make([]float64, m))
			}
		}
		if norm := mat.Norm(f.y, 2); constant(norm*norm, p.ZMean) {
			f.y.Zero()
		}
	}
	var xz mat.VecDense
	xz.MulVec(f.g.T(), f.y)
	p.XX = mat.NewSymDense(n, nil)
	p.XX.SymOuterK(1, f.g.T())
	p.XZ, p.ZZ = xz.RawVector().Data, mat.Dot(f.y, f.y)
}

// standardised is G D^-1 with columns of norm 1: D is the standard deviations times
// the root of SumW. Constant columns are zero.
func (f *factored) standardised(sd []float64, sumW float64) *mat.Dense {
	g := mat.DenseCopyOf(f.g)
	m, _ := g.Dims()
	scale := make([]float64, len(sd))
	for i, s := range sd {
		if s > 0 {
			scale[i] = 1 / (s * math.Sqrt(sumW))
		}
	}
	for i := range m {
		floats.Mul(g.RawRowView(i), scale)
	}
	return g
}

// spectrum is that of the standardised columns by their singular value
// decomposition.
func (f *factored) spectrum(sd []float64, sumW, tolerance float64) (*spectrum, error) {
	var svd mat.SVD
	if !svd.Factorize(f.standardised(sd, sumW), mat.SVDThin) {
		return nil, errors.New("the singular value decomposition of the columns did not converge: are they finite?")
	}
	values := svd.Values(nil) // decreasing
	n := len(values)
	rank := 0
	for rank < n && values[rank] > tolerance*values[0] {
		rank++
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	m, _ := u.Dims()
	s := &spectrum{root: values[:rank]}
	floats.Scale(math.Sqrt(sumW), s.root) // of X D^-1, D the standard deviations
	if rank < n {
		s.dropped = mat.DenseCopyOf(v.Slice(0, n, rank, n))
	}
	left := mat.VecDenseCopyOf(f.y)
	if rank > 0 {
		s.kept = mat.DenseCopyOf(v.Slice(0, n, 0, rank))
		span := u.Slice(0, m, 0, rank)
		var coordinates, fitted mat.VecDense
		coordinates.MulVec(span.T(), f.y)
		fitted.MulVec(span, &coordinates)
		left.SubVec(left, &fitted)
		s.coordinates = coordinates.RawVector().Data
	}
	s.rss = mat.Dot(left, left)
	return s, nil
}

// refine replaces the fit that the moments gave by the same one from the factor, at
// the smoothing parameters chosen: alpha by least squares on the rows of G and of
// sqrt(lambda_j) B_j, S_j = B_j'B_j (Wood 2017, section 6.1.1's augmented rows).
// Directions that neither rows nor penalties determine are found where no penalty
// acts, as penalty.Select does, but by singular values of G. scale is the known
// one, or 0.
func (p *projection) refine(problem *penalty.Problem, f *factored, tolerance, scale float64) error {
	n, m := len(p.sd), f.y.Len()
	g := f.standardised(p.sd, problem.SumW)
	unit := make([]float64, n) // D, by which coefficients are divided
	for i, s := range p.sd {
		if unit[i] = s * math.Sqrt(problem.SumW); s == 0 {
			unit[i] = math.Sqrt(problem.SumW)
		}
	}
	// Each term in coordinates that its penalties act on, then those they do not.
	var penalised, free []int // columns of u
	u := mat.NewDense(n, n, nil)
	var roots []*mat.Dense // sqrt(lambda) B D^-1, one per term
	extra := 0
	for i, t := range problem.Terms {
		v, rank, root, err := rangeAndRoot(t, p.lambda[i], unit[t.Start:t.Start+t.Dim])
		if err != nil {
			return err
		}
		u.Slice(t.Start, t.Start+t.Dim, t.Start, t.Start+t.Dim).(*mat.Dense).Copy(v)
		for l := range t.Dim {
			if l < rank {
				penalised = append(penalised, t.Start+l)
			} else {
				free = append(free, t.Start+l)
			}
		}
		roots = append(roots, root)
		if root != nil {
			rows, _ := root.Dims()
			extra += rows
		}
	}
	basis := columns(u, penalised)
	p.dropped = nil
	if len(free) > 0 {
		uf := columns(u, free)
		var gf mat.Dense
		gf.Mul(g, uf)
		var svd mat.SVD
		if !svd.Factorize(&gf, mat.SVDThin) {
			return errors.New("the singular value decomposition of the unpenalised columns did not converge: are they finite?")
		}
		values := svd.Values(nil)
		rank := 0
		for rank < len(values) && values[rank] > tolerance*math.Max(values[0], 1) {
			rank++
		}
		var v, kept, dropped mat.Dense
		svd.VTo(&v)
		if rank > 0 {
			kept.Mul(uf, v.Slice(0, len(free), 0, rank))
			basis = beside(basis, &kept)
		}
		if rank < len(free) {
			dropped.Mul(uf, v.Slice(0, len(free), rank, len(free)))
			p.dropped = &dropped
		}
	}
	p.alpha = make([]float64, n)
	p.edf = make([]float64, len(problem.Terms))
	p.total, p.rank = 0, 0
	if problem.Intercept {
		p.total = 1
	}
	p.cov = mat.NewSymDense(n, nil)
	left := mat.VecDenseCopyOf(f.y)
	if basis != nil {
		_, p.rank = basis.Dims()
		// Rows [G basis, y] and the penalties' [B basis, 0].
		rows := mat.NewDense(m+extra, p.rank+1, nil)
		var gb mat.Dense
		gb.Mul(g, basis)
		rows.Slice(0, m, 0, p.rank).(*mat.Dense).Copy(&gb)
		rows.SetCol(p.rank, append(append([]float64(nil), f.y.RawVector().Data...), make([]float64, extra)...))
		at := m
		for i, t := range problem.Terms {
			if roots[i] == nil {
				continue
			}
			k, _ := roots[i].Dims()
			var part mat.Dense
			part.Mul(roots[i], basis.Slice(t.Start, t.Start+t.Dim, 0, p.rank))
			rows.Slice(at, at+k, 0, p.rank).(*mat.Dense).Copy(&part)
			at += k
		}
		width := p.rank + 1
		r := make([]float64, width*width)
		householder.Stack(r, width, rows.RawMatrix().Data, width, m+extra, m+extra, new(householder.Work))
		factor := blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: p.rank, Data: r, Stride: width}
		for i := range p.rank {
			if r[i*width+i] == 0 {
				return errors.New("X'WX + S is singular: a fixed smoothing parameter is extreme")
			}
		}
		// half = basis R^-1: (X'WX + S)^-1 is half half'.
		half := mat.DenseCopyOf(basis)
		blas64.Trsm(blas.Right, blas.NoTrans, 1, factor, half.RawMatrix())
		response := mat.NewVecDense(p.rank, nil)
		for i := range p.rank {
			response.SetVec(i, r[i*width+p.rank])
		}
		blas64.Trsv(blas.NoTrans, factor, response.RawVector())
		var a, fitted mat.VecDense
		a.MulVec(basis, response)
		fitted.MulVec(g, &a)
		left.SubVec(left, &fitted)
		// F = half (G half)'G, of which the diagonal is summed by terms.
		var gh, share mat.Dense
		gh.Mul(g, half)
		share.Mul(g.T(), &gh)
		for j, t := range problem.Terms {
			for i := t.Start; i < t.Start+t.Dim; i++ {
				p.edf[j] += floats.Dot(half.RawRowView(i), share.RawRowView(i))
			}
			p.total += p.edf[j]
		}
		for i := range n {
			p.alpha[i] = a.AtVec(i) / unit[i]
			floats.Scale(1/unit[i], half.RawRowView(i))
		}
		p.cov.SymOuterK(1, half)
	}
	p.scale = scale
	if df := float64(problem.Rows) - p.total; p.status == penalty.ZeroResidual.String() {
		p.scale = 0
	} else if scale == 0 && df > 0 {
		p.scale = mat.Dot(left, left) / df
	}
	p.cov.ScaleSym(p.scale, p.cov)
	return nil
}

// rangeAndRoot returns the orthogonal v whose first rank columns span the range of the
// term's penalties, in columns divided by unit, and sqrt(lambda_j) B_j for all of
// them, one below the other; nil if none counts.
func rangeAndRoot(t penalty.Term, lambda, unit []float64) (v *mat.Dense, rank int, root *mat.Dense, err error) {
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
	floats.Reverse(values)
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

// orthogonality is the largest |correlation| of a column with what is left.
func (f *factored) orthogonality(alpha, sd []float64, sumW float64) float64 {
	left := f.left(alpha)
	norm := mat.Norm(left, 2)
	if !(norm > 1e-10*mat.Norm(f.y, 2)) {
		return 0
	}
	var cross mat.VecDense
	cross.MulVec(f.g.T(), left)
	var worst float64
	for i, s := range sd {
		if s > 0 {
			worst = math.Max(worst, math.Abs(cross.AtVec(i))/(s*math.Sqrt(sumW)*norm))
		}
	}
	return worst
}

// left is y - G alpha.
func (f *factored) left(alpha []float64) *mat.VecDense {
	var fitted mat.VecDense
	fitted.MulVec(f.g, mat.NewVecDense(len(alpha), alpha))
	left := mat.VecDenseCopyOf(f.y)
	left.SubVec(left, &fitted)
	return left
}

// image is R_x b for the raw columns from lo on: its inner products are those of
// X b over the rows, without squares being formed first.
func (c *constrained) image(lo int, b []float64) *mat.VecDense {
	m, _ := c.view.R.Dims()
	out := mat.NewVecDense(m, nil)
	r := c.view.R.RawTriangular()
	for i := range m {
		var sum float64
		for j := max(lo, i); j < lo+len(b); j++ {
			sum += r.Data[i*r.Stride+j] * b[j-lo]
		}
		out.SetVec(i, sum)
	}
	return out
}

// varianceByFactor is variance without cancellation between large coefficients.
func (c *constrained) varianceByFactor(sumW float64, b, a []float64) Variance {
	m, _ := c.view.R.Dims()
	structured, left := c.image(0, b), mat.NewVecDense(m, nil)
	for i := range m {
		left.SetVec(i, c.view.R.At(i, m-1))
	}
	left.SubVec(left, c.image(0, a))
	v := Variance{
		Structured:      mat.Dot(structured, structured) / sumW,
		Unstructured:    mat.Dot(left, left) / sumW,
		TwiceCovariance: 2 * mat.Dot(structured, left) / sumW,
	}
	v.Total = v.Structured + v.Unstructured + v.TwiceCovariance
	return v
}
