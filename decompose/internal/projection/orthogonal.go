package projection

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
	"github.com/pho-go/pho/penalty"
)

// Orthogonal is PHO: alpha = X^+ zeta (paper, algorithm 2) of minimum norm in
// standardised columns, from their correlations or, if there is one, their factor.
// Eigenvalues are asked for only where the rank is not plain: directions to be dropped are found by
// inverse iteration, and count if no other eigenvalue is near the limit.
func (p *Problem) Orthogonal() (*Fit, error) {
	if _, many := p.sums.XX.(*linalg.Structured); many {
		return p.orthogonalOfMany()
	}
	f := newFit(p)
	n, terms := len(f.sd), len(p.sums.Terms)
	f.alpha, f.EDF = make([]float64, n), make([]float64, terms)
	f.Lambda, f.AtInfinity = make([][]float64, terms), make([][]bool, terms)
	s := &spectrum{rss: p.sums.ZZ}
	if n > 0 && p.factor == nil && f.byInverse() {
		return f, nil
	}
	if n > 0 {
		var err error
		if s, err = p.spectrum(f); err != nil {
			return nil, err
		}
	}
	f.dropped, f.Rank = s.dropped, len(s.values)
	if f.Rank > 0 {
		f.weakest = s.weakest
		f.project(s)
	}
	f.left(s.rss)
	return f, nil
}

// orthogonalOfMany is Orthogonal where a term has many levels: penalised least squares without a penalty. Columns that are
// combinations of others are found in the whole matrix.
func (p *Problem) orthogonalOfMany() (*Fit, error) {
	sums := *p.sums
	sums.Terms = slices.Clone(sums.Terms)
	for j := range sums.Terms {
		t := &sums.Terms[j]
		t.S, t.SP, t.Link, t.DF = nil, nil, nil, 0
	}
	own := *p
	own.sums = &sums
	fit, err := penalty.Select(&sums, &penalty.Options{Criterion: penalty.Fixed, RankTolerance: p.columns.reading(), WithoutVc: true, WithoutVe: true, FewNumbers: true})
	if errors.Is(err, penalty.ErrManyNumbers) && len(sums.XZ) <= penalty.MaxWhole {
		p.sums.XX = linalg.Dense(p.sums.XX)
		return p.Orthogonal()
	}
	if err != nil {
		return nil, err
	}
	f, err := own.fitOf(fit, false)
	if err != nil {
		return nil, err
	}
	f.problem = p
	p.sums.XX = nil // its memory is that of the correlations
	f.EDF1, f.Status, f.Iterations, f.Score = nil, "", 0, nil
	return f, nil
}

// left sets the degrees of freedom and what hangs on the residual sum of squares.
func (f *Fit) left(rss float64) {
	p := f.problem.sums
	f.EDFTotal = float64(f.Rank)
	if p.Intercept {
		f.EDFTotal++
	}
	if df := float64(p.Rows) - f.EDFTotal; df > 0.5 {
		f.Scale = math.Max(rss, 0) / df
	}
	if f.cov != nil {
		cov := f.cov.(*mat.SymDense)
		cov.ScaleSym(f.Scale, cov)
	}
}

// byInverse is the projection by the inverse of the correlations, which takes a tenth of the
// time of an eigendecomposition; false, and nothing is done: the rank is not plain without one.
func (f *Fit) byInverse() bool {
	p, n := f.problem.sums, len(f.sd)
	c, constant := f.corr.(*mat.SymDense), 0
	for _, sd := range f.sd {
		if sd == 0 {
			constant++
		}
	}
	if constant > 0 { // zeros: a one on the diagonal keeps them apart from all else
		c = mat.NewSymDense(n, nil)
		c.CopySym(f.corr) // all numbers
		for i, sd := range f.sd {
			if sd == 0 {
				c.SetSym(i, i, 1)
			}
		}
	}
	if constant == n {
		return false
	}
	tolerance := f.problem.columns.tolerance
	null, ok := linalg.NullSpace(c, tolerance*tolerance)
	if !ok {
		return false
	}
	standardised, g := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i, sd := range f.sd {
		if sd > 0 {
			g.SetVec(i, p.XZ[i]/sd/p.SumW)
		}
	}
	standardised.MulVec(null.Inverse, g)
	f.improve(standardised, g, null.Inverse)
	rss := p.ZZ - p.SumW*mat.Dot(g, standardised)
	over := make([]float64, n) // D^-1
	for i, sd := range f.sd {
		if sd > 0 {
			over[i] = 1 / sd
		}
		f.alpha[i] = standardised.AtVec(i) * over[i]
	}
	linalg.ScaleBoth(null.Inverse, over)
	null.Inverse.ScaleSym(1/p.SumW, null.Inverse)
	f.cov = null.Inverse
	f.dropped, f.weakest = f.droppedWith(null.Directions, constant), null.Smallest/null.Largest
	f.Rank = n
	if f.dropped != nil {
		_, r := f.dropped.Dims()
		f.Rank -= r
	}
	for j, t := range p.Terms {
		for i := t.Start; i < t.Start+t.Dim; i++ {
			f.EDF[j]++
			if f.dropped != nil {
				row := f.dropped.RawRowView(i)
				f.EDF[j] -= floats.Dot(row, row)
			}
		}
	}
	f.left(rss)
	return true
}

// improve takes one step of iterative refinement: x is inverse g but for rounding, and the
// correlations times x should be g.
func (f *Fit) improve(x, g *mat.VecDense, inverse *mat.SymDense) {
	var left, more mat.VecDense
	left.MulVec(f.corr, x)
	left.SubVec(g, &left)
	more.MulVec(inverse, &left)
	x.AddVec(x, &more)
}

// droppedWith are directions and those of the columns that are constant, side by side.
func (f *Fit) droppedWith(directions *mat.Dense, constant int) *mat.Dense {
	if constant == 0 {
		return directions
	}
	r := 0
	if directions != nil {
		_, r = directions.Dims()
	}
	all := mat.NewDense(len(f.sd), r+constant, nil)
	if directions != nil {
		all.Slice(0, len(f.sd), 0, r).(*mat.Dense).Copy(directions)
	}
	for i, sd := range f.sd {
		if sd == 0 {
			all.Set(i, r, 1)
			r++
		}
	}
	return all
}

// project sets alpha = D^-1 V L^-1 U'zeta, its covariance D^-1 V L^-2 V'D^-1 but for
// the scale, and each term's share of the rank, the diagonal of V V'.
func (f *Fit) project(s *spectrum) {
	half := mat.DenseCopyOf(s.kept) // D^-1 V L^-1
	for i, sd := range f.sd {
		row := half.RawRowView(i)
		if sd == 0 {
			clear(row)
			continue
		}
		for l, singular := range s.values {
			row[l] /= singular * sd
		}
		f.alpha[i] = floats.Dot(row, s.coordinates)
	}
	cov := mat.NewSymDense(len(f.sd), nil)
	cov.SymOuterK(1, half)
	f.cov = cov
	for j, t := range f.problem.sums.Terms {
		for i := t.Start; i < t.Start+t.Dim; i++ {
			row := s.kept.RawRowView(i)
			f.EDF[j] += floats.Dot(row, row)
		}
	}
}

// spectrum is a singular value decomposition of the standardised columns X D^-1,
// cut at the rank tolerance, as far as the projection needs it.
type spectrum struct {
	kept, dropped *mat.Dense // right singular vectors (c x rank and c x (c - rank)); nil if none
	values        []float64  // singular values of those kept
	coordinates   []float64  // left singular vectors' products with zeta
	rss           float64    // what of zeta they leave
	weakest       float64    // smallest squared singular value kept, relative to the largest
}

// spectrum is that of f's columns, by their factor if there is one.
func (p *Problem) spectrum(f *Fit) (*spectrum, error) {
	if p.factor != nil {
		return p.factor.spectrum(f.sd, p.sums.SumW, p.columns.tolerance)
	}
	return gramSpectrum(p.sums, f.corr.(*mat.SymDense), f.sd, p.columns.tolerance)
}

// gramSpectrum takes it from the eigendecomposition of the correlations: a singular
// value is the root of an eigenvalue.
func gramSpectrum(p *penalty.Problem, corr *mat.SymDense, sd []float64, tolerance float64) (*spectrum, error) {
	n := len(sd)
	var eigen mat.EigenSym
	if !eigen.Factorize(corr, true) {
		return nil, errors.New("the eigendecomposition of X'WX did not converge: are the columns finite?")
	}
	values := eigen.Values(nil) // increasing
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	limit := tolerance * tolerance * math.Max(values[n-1], 0)
	first := 0 // of the directions kept; values increase
	for first < n && !(values[first] > limit) {
		first++
	}
	s := &spectrum{rss: p.ZZ}
	if first > 0 {
		s.dropped = mat.DenseCopyOf(vectors.Slice(0, n, 0, first))
	}
	if first == n {
		return s, nil
	}
	s.kept = mat.DenseCopyOf(vectors.Slice(0, n, first, n))
	s.weakest = values[first] / values[n-1]
	g := mat.NewVecDense(n, nil)
	for i := range n {
		if sd[i] > 0 {
			g.SetVec(i, p.XZ[i]/sd[i])
		}
	}
	var q mat.VecDense
	q.MulVec(s.kept.T(), g)
	for i, v := range values[first:] {
		singular := math.Sqrt(v * p.SumW)
		s.values = append(s.values, singular)
		s.coordinates = append(s.coordinates, q.AtVec(i)/singular)
		s.rss -= s.coordinates[i] * s.coordinates[i]
	}
	return s, nil
}
