package decompose

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/penalty"
)

// projection is alpha and what goes with it, in constrained coordinates.
type projection struct {
	alpha      []float64
	edf        []float64 // by term
	edf1, edf2 []float64 // likewise, for tests and with the uncertainty of smoothing; nil for PHO
	total      float64   // with the intercept
	rank       int       // without the intercept
	cov        *mat.SymDense
	scale      float64
	dropped    *mat.Dense    // standardised directions left out (c x r); nil if none
	sd         []float64     // scale of each column, 0 for a constant one
	corr       *mat.SymDense // of the columns; nil if there are none
	lambda     [][]float64
	atInfinity [][]bool
	score      *float64
	status     string
	iterations int
	// weakest is the smallest eigenvalue of the standardised X'WX + S on the
	// directions kept, relative to the largest of X'WX: moments hold sixteen digits
	// of it. It is 1 if nothing is projected on.
	weakest float64
}

// spectrum is a singular value decomposition of the standardised columns X D^-1,
// cut at the rank tolerance, as far as the projection needs it.
type spectrum struct {
	kept, dropped *mat.Dense // right singular vectors (c x rank and c x (c - rank)); nil if none
	root          []float64  // singular values of those kept
	coordinates   []float64  // left singular vectors' products with zeta
	rss           float64    // what of zeta they leave
	weakest       float64    // smallest squared singular value kept, relative to the largest
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
		root := math.Sqrt(v * p.SumW)
		s.root = append(s.root, root)
		s.coordinates = append(s.coordinates, q.AtVec(i)/root)
		s.rss -= s.coordinates[i] * s.coordinates[i]
	}
	return s, nil
}

// orthogonal is PHO: alpha = X^+ zeta (paper, algorithm 2) of minimum norm in
// standardised columns, from their correlations or, if there is one, their factor.
func orthogonal(p *penalty.Problem, f *factored, tolerance float64) (*projection, error) {
	n := len(p.XZ)
	out := &projection{alpha: make([]float64, n), edf: make([]float64, len(p.Terms)), sd: standardDeviations(p), weakest: 1}
	out.lambda, out.atInfinity = make([][]float64, len(p.Terms)), make([][]bool, len(p.Terms))
	if p.Intercept {
		out.total = 1
	}
	rss := p.ZZ
	if n > 0 {
		out.corr = correlations(p.XX, p.SumW, out.sd)
		var s *spectrum
		var err error
		if f != nil {
			s, err = f.spectrum(out.sd, p.SumW, tolerance)
		} else {
			s, err = gramSpectrum(p, out.corr, out.sd, tolerance)
		}
		if err != nil {
			return nil, err
		}
		rss, out.dropped, out.rank = s.rss, s.dropped, len(s.root)
		if out.rank > 0 {
			out.weakest = s.weakest
			out.project(p, s)
		}
	}
	out.total += float64(out.rank)
	if df := float64(p.Rows) - out.total; df > 0.5 {
		out.scale = math.Max(rss, 0) / df
	}
	if out.cov != nil {
		out.cov.ScaleSym(out.scale, out.cov)
	}
	return out, nil
}

// project sets alpha = D^-1 V L^-1 U'zeta, its covariance D^-1 V L^-2 V'D^-1 but for
// the scale, and each term's share of the rank, the diagonal of V V'.
func (out *projection) project(p *penalty.Problem, s *spectrum) {
	half := mat.DenseCopyOf(s.kept) // D^-1 V L^-1
	for i, sd := range out.sd {
		row := half.RawRowView(i)
		if sd == 0 {
			clear(row)
			continue
		}
		for l, root := range s.root {
			row[l] /= root * sd
		}
		out.alpha[i] = floats.Dot(row, s.coordinates)
	}
	out.cov = mat.NewSymDense(len(out.sd), nil)
	out.cov.SymOuterK(1, half)
	for j, t := range p.Terms {
		for i := t.Start; i < t.Start+t.Dim; i++ {
			row := s.kept.RawRowView(i)
			out.edf[j] += floats.Dot(row, row)
		}
	}
}

// standardDeviations is the root mean square of each column (centred where the
// problem is): 0 where rounding is all there is.
func standardDeviations(p *penalty.Problem) []float64 {
	sd := make([]float64, len(p.XZ))
	for i := range sd {
		sd[i] = math.Sqrt(math.Max(p.XX.At(i, i), 0) / p.SumW)
	}
	return sd
}

// correlations is D^-1 XX D^-1 / SumW; rows and columns with sd 0 are zero.
func correlations(xx *mat.SymDense, sumW float64, sd []float64) *mat.SymDense {
	n := len(sd)
	if n == 0 {
		return nil
	}
	c := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			if sd[i] > 0 && sd[j] > 0 {
				c.SetSym(i, j, xx.At(i, j)/sd[i]/sd[j]/sumW)
			}
		}
	}
	return c
}

// symmetrised is (A + A')/2.
func symmetrised(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	return s
}

// penalised is PHOGAM: alpha = (X'WX + S_lambda)^-1 X'W zeta (paper, equation
// adjpho) with lambda as the options say.
//
// Products choose lambda, also those of a factor f: they are quicker. Where they hold
// too few digits to choose by, f's rows do.
func penalised(ctx context.Context, p *penalty.Problem, f *factored, o penalty.Options) (*projection, error) {
	out, err := selected(ctx, p, o)
	if f != nil && (errors.Is(err, penalty.ErrLostDigits) || err == nil && (out.weakest < digitsLost || out.status == penalty.StepFailed.String())) {
		p.Factor = new(mat.Dense)
		p.Factor.Augment(f.g, f.y)
		return selected(ctx, p, o)
	}
	return out, err
}

func selected(ctx context.Context, p *penalty.Problem, o penalty.Options) (*projection, error) {
	fit, err := penalty.SelectContext(ctx, p, &o)
	if err != nil {
		if ctx.Err() == nil && int64(len(p.XZ)) >= p.Rows {
			err = fmt.Errorf("%d columns on %d rows leave smoothing nothing to go by: use fewer basis functions (k), or fix smoothing parameters (%w)", len(p.XZ), p.Rows, err)
		}
		return nil, err
	}
	return fromFit(fit, p)
}

// fromFit is the projection that a penalised fit of p is.
func fromFit(fit *penalty.Fit, p *penalty.Problem) (*projection, error) {
	var err error
	out := &projection{
		alpha: fit.Alpha, edf: fit.EDF, edf1: fit.EDF1, edf2: fit.EDF2, total: fit.EDFTotal, rank: fit.Rank, cov: fit.Vp, scale: fit.Scale,
		sd: standardDeviations(p), status: fit.Status.String(), iterations: len(fit.Log),
	}
	if len(fit.Lambda) > 0 {
		out.score = &fit.Score
	}
	out.corr = correlations(p.XX, p.SumW, out.sd)
	if out.weakest = out.weakestPenalised(p.SumW); fit.LostDigits {
		out.weakest = 0
		if p.Factor != nil { // there are no more digits to be had
			out.status = penalty.StepFailed.String()
		}
	}
	if out.dropped, err = standardise(fit.Dropped, out.sd); err != nil {
		return nil, err
	}
	at := 0
	for _, t := range p.Terms {
		out.lambda = append(out.lambda, fit.Lambda[at:at+len(t.S)])
		out.atInfinity = append(out.atInfinity, fit.AtInfinity[at:at+len(t.S)])
		at += len(t.S)
	}
	return out, nil
}

// weakestPenalised bounds weakest from below, from the covariance: a matrix's
// largest row sum is no less than its largest eigenvalue.
func (p *projection) weakestPenalised(sumW float64) float64 {
	if p.cov == nil || !(p.scale > 0) {
		return 1
	}
	var inverse float64
	for i, a := range p.sd {
		var row float64
		for j, b := range p.sd {
			row += math.Abs(p.cov.At(i, j)) * a * b
		}
		inverse = math.Max(inverse, row*sumW/p.scale)
	}
	if largest := mat.Norm(p.corr, 2); inverse > 0 && largest > 0 {
		return 1 / (inverse * largest)
	}
	return 1
}

// standardise maps directions of coefficients to orthonormal directions of
// standardised columns.
func standardise(d *mat.Dense, sd []float64) (*mat.Dense, error) {
	if d == nil {
		return nil, nil
	}
	scaled := mat.DenseCopyOf(d)
	for i, s := range sd {
		if s > 0 { // a constant column is its own direction
			floats.Scale(s, scaled.RawRowView(i))
		}
	}
	_, r := d.Dims()
	for j := range r { // columns may differ by orders of magnitude
		v := scaled.ColView(j).(*mat.VecDense)
		if norm := mat.Norm(v, 2); norm > 0 {
			v.ScaleVec(1/norm, v)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(scaled, mat.SVDThin) {
		return nil, errors.New("the singular value decomposition of the aliased directions did not converge")
	}
	var u mat.Dense
	svd.UTo(&u)
	return &u, nil
}
