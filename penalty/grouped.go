package penalty

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// groupedCV is not among the criteria of Options: it needs groups.
const groupedCV Criterion = 255

// SelectGrouped chooses the smoothing parameters by leaving out one group of
// rows after the other and returns the fit to all rows. It minimises
//
//	1/sum w sum_g [z_g'z_g - 2 a_g's_g + a_g'H_g a_g],   a_g = (H - H_g + S)^-1 (s - s_g),
//
// with H_g = X_g'WX_g, s_g = X_g'Wz_g (Wood 2017, 6.2.2, for groups); with an
// intercept each fit has the means of its own rows. groups are the moments of the
// groups in the same coordinates, centred at their own means (XMean is then
// needed), without rows in common; those without rows are passed over. Terms are
// the first's. Directions that the rest of the rows do not determine are zero
// in that fit.
//
// Of o the Criterion and Gamma are not used; SP and DF of a term hold. Fit.Score is
// the mean squared error above; Phi is Scale; Vc and EDF2 are nil.
func SelectGrouped(groups []*Problem, o *Options) (*Fit, error) {
	return SelectGroupedContext(context.Background(), groups, o)
}

// SelectGroupedContext is SelectGrouped that ends when ctx is done, as SelectContext
// does.
func SelectGroupedContext(ctx context.Context, groups []*Problem, o *Options) (*Fit, error) {
	var v Options
	if o != nil {
		v = *o
	}
	v.Criterion, v.Gamma = GCV, 1
	opts, err := v.withDefaults()
	if err != nil {
		return nil, err
	}
	var filled []*Problem
	for i, g := range groups {
		if g == nil {
			return nil, fmt.Errorf("penalty: group %d is missing", i)
		}
		if g.Rows == 0 && g.SumW == 0 {
			continue
		}
		own := *g
		own.Terms, own.Independent = groups[0].Terms, groups[0].Independent
		if err := own.validate(); err != nil {
			return nil, fmt.Errorf("penalty: group %d: %w", i, err)
		}
		switch {
		case len(g.XZ) != len(groups[0].XZ) || g.Intercept != groups[0].Intercept:
			return nil, fmt.Errorf("penalty: group %d has other columns than the first: all must be in the same coordinates", i)
		case len(g.Others) != len(groups[0].Others):
			return nil, fmt.Errorf("penalty: group %d has %d responses, the first %d", i, 1+len(g.Others), 1+len(groups[0].Others))
		case g.Intercept && g.XMean == nil && len(g.XZ) > 0:
			return nil, fmt.Errorf("penalty: group %d: with an intercept the columns' means (XMean) are needed", i)
		}
		filled = append(filled, &own)
	}
	if len(filled) < 2 {
		return nil, errors.New("penalty: grouped cross validation needs at least two groups with rows of positive weight")
	}
	return choose(ctx, merge(filled), &opts, filled)
}

// merge adds up moments, each centred at its own means.
func merge(groups []*Problem) *Problem {
	first := groups[0]
	dim := len(first.XZ)
	p := &Problem{Intercept: first.Intercept, Terms: first.Terms, Independent: first.Independent}
	xx := mat.NewSymDense(max(dim, 1), nil)
	if dim > 0 {
		p.XX = xx
	}
	for _, g := range groups {
		p.Rows += g.Rows
		p.SumW += g.SumW
		p.SumLogW += g.SumLogW
	}
	if p.Intercept {
		p.XMean = make([]float64, dim)
		for _, g := range groups {
			for i, m := range g.XMean {
				p.XMean[i] += g.SumW / p.SumW * m
			}
		}
	}
	for _, g := range groups {
		if dim > 0 {
			xx.AddSym(xx, g.about(p.XMean, g.SumW))
		}
	}
	z := mergeResponse(groups, p, 0)
	p.XZ, p.ZZ, p.ZMean = z.XZ, z.ZZ, z.ZMean
	for r := range first.Others {
		p.Others = append(p.Others, mergeResponse(groups, p, r+1))
	}
	return p
}

// mergeResponse adds up the products of response r about the means of all rows, of which
// the columns' are p's.
func mergeResponse(groups []*Problem, p *Problem, r int) Response {
	sum := Response{XZ: make([]float64, len(p.XMean))}
	if !p.Intercept {
		sum.XZ = make([]float64, len(groups[0].XZ))
	} else {
		for _, g := range groups {
			sum.ZMean += g.SumW / p.SumW * g.responses()[r].ZMean
		}
	}
	for _, g := range groups {
		xz, zz := g.responseAbout(r, p.XMean, sum.ZMean, g.SumW)
		sum.ZZ += zz
		for i, v := range xz {
			sum.XZ[i] += v
		}
	}
	return sum
}

// about is X'WX of p plus weight times the outer product of its means less the given
// ones. Without an intercept it is p's own.
func (p *Problem) about(mean []float64, weight float64) *mat.SymDense {
	if p.XX == nil {
		return nil
	}
	xx := mat.NewSymDense(len(p.XZ), nil)
	xx.CopySym(p.XX)
	if p.Intercept {
		xx.SymRankOne(xx, weight, mat.NewVecDense(len(p.XZ), p.meansLess(mean)))
	}
	return xx
}

// responseAbout is the same of X'Wz and z'Wz of response r.
func (p *Problem) responseAbout(r int, mean []float64, meanZ, weight float64) (xz []float64, zz float64) {
	z := p.responses()[r]
	xz, zz = append([]float64(nil), z.XZ...), z.ZZ
	if !p.Intercept {
		return xz, zz
	}
	dz := z.ZMean - meanZ
	zz += weight * dz * dz
	for i, dx := range p.meansLess(mean) {
		xz[i] += weight * dx * dz
	}
	return xz, zz
}

func (p *Problem) meansLess(mean []float64) []float64 {
	dx := make([]float64, len(p.XZ))
	for i := range dx {
		dx[i] = p.XMean[i] - mean[i]
	}
	return dx
}

// fold is one group left out, in coordinates b of the system.
type fold struct {
	gram      *mat.SymDense // of the other rows, centred at their means
	test      *mat.SymDense // of the group, about the means of the others
	responses []foldResponse
}

// foldResponse are a response's products: of the other rows, and those of the group
// about the means of the others.
type foldResponse struct {
	cross, s []float64
	zz       float64
}

// withFolds prepares the groups of p.
func (c *criterion) withFolds(p *Problem, groups []*Problem, tol float64) error {
	c.sumW = p.SumW
	for _, g := range groups {
		if c.stopped() {
			return c.ctx.Err()
		}
		rest := p.SumW - g.SumW
		var f fold
		testWeight, ownWeight := g.SumW*(p.SumW/rest)*(p.SumW/rest), g.SumW*p.SumW/rest
		across := new(mat.Dense)
		if c.q > 0 {
			across.CloneFrom(c.basis.dense().T())
			own := g.about(p.XMean, ownWeight)
			for i := range own.SymmetricDim() {
				for j := i; j < own.SymmetricDim(); j++ {
					own.SetSym(i, j, p.XX.At(i, j)-own.At(i, j))
				}
			}
			f.gram, f.test = sandwich(across, own), sandwich(across, g.about(p.XMean, testWeight))
			if err := f.determine(c.penalised, rest, tol); err != nil {
				return err
			}
		}
		for r, z := range p.responses() {
			var of foldResponse
			var s []float64
			s, of.zz = g.responseAbout(r, p.XMean, z.ZMean, testWeight)
			if c.q > 0 {
				rest, _ := g.responseAbout(r, p.XMean, z.ZMean, ownWeight)
				for i, v := range rest {
					rest[i] = z.XZ[i] - v
				}
				of.cross, of.s = make([]float64, c.q), make([]float64, c.q)
				mat.NewVecDense(c.q, of.cross).MulVec(across, mat.NewVecDense(len(rest), rest))
				mat.NewVecDense(c.q, of.s).MulVec(across, mat.NewVecDense(len(s), s))
			}
			f.responses = append(f.responses, of)
		}
		c.folds = append(c.folds, f)
	}
	if c.q > 0 {
		// One set of workspaces for all folds, with a system of its own.
		own := *c.system
		own.responses = slices.Clone(own.responses)
		c.left = newCriterion(&own, &Options{Criterion: Fixed}, nil)
	}
	return nil
}

// determine makes the unpenalised directions that the other rows say nothing of
// zero in the fit, by a unit in the gram matrix.
func (f *fold) determine(penalised int, unit, tol float64) error {
	q := f.gram.SymmetricDim()
	if q == penalised {
		return nil
	}
	free := sequence(q)[penalised:]
	_, drop, err := splitNull(f.gram, free, unit, tol)
	if err != nil || drop == nil {
		return err
	}
	rows, columns := drop.Dims()
	for d := range columns {
		for i := range rows {
			for j := i; j < rows; j++ {
				f.gram.SetSym(penalised+i, penalised+j, f.gram.At(penalised+i, penalised+j)+unit*drop.At(i, d)*drop.At(j, d))
			}
		}
	}
	return nil
}

// crossValidation sums the squared errors of the folds; the objective is n/2
// times their log. With e_g = H_g a_g - s_g and u_g = A_g^-1 e_g,
//
//	da/drho_j  = a_j = -A^-1 lambda_j S_j a
//	dE/drho_j  = 2 e'a_j
//	d2E        = 2 a_j'H_g a_k + 2 (delta e'a_j - u'S_j a_k - u'S_k a_j).
func (c *criterion) crossValidation(p *point) {
	k := len(c.penalties)
	sum := 0.0
	first, second := make([]float64, k), mat.NewSymDense(max(k, 1), nil)
	for i := range c.folds {
		f, l := &c.folds[i], c.left
		if c.q > 0 {
			l.gram = f.gram
			for r := range f.responses {
				l.responses[r].cross = f.responses[r].cross
			}
			if _, ok := l.solve(p.each); !ok {
				return
			}
		}
		for r := range f.responses {
			sum = c.addFoldError(sum, f, r, p, first, second)
		}
	}
	if !(sum > 0) {
		return
	}
	p.score = sum / c.sumW / c.among
	p.objective = c.n / 2 * math.Log(p.score)
	p.phi = c.scale
	if free := c.n - p.edf; c.scale == 0 && free > 1e-9*c.n {
		p.phi = p.rss / free
	}
	if p.grad == nil {
		return
	}
	for j := range k {
		p.grad[j] = c.n / 2 * first[j] / sum
		for m := j; m < k; m++ {
			p.hess.SetSym(j, m, c.n/2*(second.At(j, m)/sum-first[j]*first[m]/(sum*sum)))
		}
	}
}

// addFoldError is sum plus the squared error of response r of a fold, solved for, whose
// derivatives are added to first and second if there are to be some.
func (c *criterion) addFoldError(sum float64, f *fold, r int, p *point, first []float64, second *mat.SymDense) float64 {
	of := &f.responses[r]
	sum += of.zz
	if c.q == 0 {
		return sum
	}
	l, k := c.left, len(c.penalties)
	a, inner := mat.NewVecDense(c.q, l.at[r].alpha), l.at[r].inner
	var e mat.VecDense
	e.MulVec(f.test, a)
	for j, s := range of.s {
		sum += a.AtVec(j) * (e.AtVec(j) - 2*s)
	}
	if p.grad == nil {
		return sum
	}
	e.SubVec(&e, mat.NewVecDense(c.q, of.s))
	u := make([]float64, c.q)
	l.solveInto(make([]float64, c.q), u, e.RawVector().Data)
	moved, movedInner := make([]*mat.VecDense, k), make([][]float64, k)
	for j := range k {
		right := l.applyPenalty(j, p.each, inner)
		movedInner[j] = l.solveInner(right)
		for r := range movedInner[j] {
			movedInner[j][r] *= -1
		}
		moved[j] = mat.NewVecDense(c.q, l.outer(movedInner[j]))
		first[j] += 2 * mat.Dot(&e, moved[j])
	}
	for j := range k {
		su := l.applyPenalty(j, p.each, u)
		for m := range k {
			h := 0.0
			for r, v := range su {
				h -= 2 * v * movedInner[m][r]
			}
			if j == m {
				// Both of u'S_j a_k and u'S_k a_j.
				h = 2*h + 2*mat.Dot(&e, moved[j])
			}
			second.SetSym(j, m, second.At(j, m)+h)
		}
		for m := j; m < k; m++ {
			second.SetSym(j, m, second.At(j, m)+2*mat.Inner(moved[j], f.test, moved[m]))
		}
	}
	return sum
}

// applyPenalty is lambda_j S_j x in the coordinates of the overlaps.
func (c *criterion) applyPenalty(j int, each, x []float64) []float64 {
	pen := &c.penalties[j]
	lo := c.blocks[pen.block].lo
	y := make([]float64, c.q)
	diag, root := c.scaledRoot(j, each)
	for r := range pen.rank {
		if diag != nil {
			y[lo+r] = diag[r] * diag[r] * x[lo+r]
			continue
		}
		row, sum := root.RawRowView(r), 0.0
		for i, v := range row {
			sum += v * x[lo+i]
		}
		for i, v := range row {
			y[lo+i] += sum * v
		}
	}
	return y
}

// solveInner is A^-1 b in the coordinates of the overlaps.
func (c *criterion) solveInner(b []float64) []float64 {
	x := make([]float64, c.q)
	for i, e := range c.e {
		x[i] = e * b[i]
	}
	c.chol.Solve(x)
	for i, e := range c.e {
		x[i] *= e
	}
	return x
}

// outer maps coefficients in the coordinates of the overlaps to the system's.
func (c *criterion) outer(x []float64) []float64 {
	y := append([]float64(nil), x...)
	for i, o := range c.overlap {
		if o != nil {
			lo, hi := c.blocks[i].lo, c.blocks[i].lo+c.blocks[i].dim
			mat.NewVecDense(hi-lo, y[lo:hi]).MulVec(o.to, mat.NewVecDense(hi-lo, x[lo:hi]))
		}
	}
	return y
}
