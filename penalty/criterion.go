package penalty

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// criterion evaluates one selection criterion of a system. It owns the
// workspaces; one goroutine.
type criterion struct {
	*system
	kind      Criterion
	withoutVe bool
	withoutVc bool
	gamma     float64
	scale     float64 // known, or 0

	set     []int // which smoothing parameter each of system.penalties has
	params  int
	ranks   []float64  // of the penalties with each parameter
	inside  *criterion // ML: what is integrated out, alone; else nil
	folds   []fold     // grouped cross validation; else nil
	left    *criterion // workspaces for the folds
	crossed bool       // levels are among the columns, so that the rows' products have cost far less than n q^2
	schur   *schur     // in place of all that holds a matrix, if columns are eliminated first; else nil
	sumW    float64    // of all rows, for the folds

	a       *mat.SymDense   // X'WX + S, scaled to a unit diagonal
	e       []float64       // alpha = e * scaled alpha, e = diag^-1/2
	chol    linalg.Cholesky // of a, in its memory
	inverse *mat.SymDense   // (X'WX + S)^-1, in the coordinates of the overlaps, in the memory of a; made by invert
	at      []solution      // of every response
	overlap []*overlap      // one per block; nil for a block with one penalty
	work    []float64

	solved   []float64 // log lambda of each of system.penalties that was solved for last; nil: it failed, or is gone
	inverted bool      // and the factor is gone: inverse and m are those there

	rows  int        // of the stacked roots
	half  *mat.Dense // penalised x rows: (X'WX + S)^-1 root'; nil if all roots are diagonal
	m, m2 *mat.Dense // rows x rows; m is in the memory of a if all roots are diagonal; m2 is nil until it is needed
}

// solution is the fit of one response at the lambdas that were solved for last.
type solution struct {
	alpha []float64
	inner []float64 // alpha in the coordinates of the overlaps
	g     []float64 // rows: sqrt(lambda_j) root_j alpha, stacked
}

// point is the criterion at one rho.
type point struct {
	rho       []float64 // log lambda of each parameter
	each      []float64 // and of each of system.penalties
	objective float64   // what is minimised, in units of the log-likelihood; +Inf where it does not exist
	score     float64   // what is reported
	rss, rp   float64   // sums over the responses by the number of independent ones
	phi       float64   // REML's
	edf       float64   // with the intercept; set if derivatives or GCV
	grad      []float64 // one per parameter
	hess      *mat.SymDense
	alone     []*alone  // by parameter, for what happens if it alone changes; nil: not known
	spent     []float64 // t_j = lambda_j tr((X'WX+S)^-1 S_j), by system.penalties; rank_j - t_j is what is left of the term
}

// newCriterion takes the sets of linked penalties as Problem.links gives them;
// nil: none.
func newCriterion(s *system, o *Options, links []int) *criterion {
	c := &criterion{system: s, kind: o.Criterion, gamma: o.Gamma, scale: o.Scale}
	c.chol.Stopped, c.withoutVe, c.withoutVc = s.stopped, o.WithoutVe, o.WithoutVc
	c.number(links)
	if s.q == 0 {
		return c
	}
	c.a = s.memory(s.q)
	c.e, c.work = make([]float64, s.q), make([]float64, s.q)
	c.overlap = make([]*overlap, len(s.blocks))
	if c.rows > 0 {
		if s.diagonal() {
			c.m = mat.NewDense(s.q, s.q, c.a.RawSymmetric().Data).Slice(0, c.rows, 0, c.rows).(*mat.Dense)
		} else {
			c.m, c.half = mat.NewDense(c.rows, c.rows, nil), mat.NewDense(s.penalised, c.rows, nil)
		}
	}
	c.at = make([]solution, len(s.responses))
	for r := range c.at {
		c.at[r] = solution{alpha: make([]float64, s.q), inner: make([]float64, s.q), g: make([]float64, c.rows)}
	}
	return c
}

// number numbers the smoothing parameters.
func (c *criterion) number(links []int) {
	number := make(map[int]int)
	for j := range c.penalties {
		first := c.penalties[j].index
		if links != nil {
			first = links[first]
		}
		if _, ok := number[first]; !ok {
			number[first] = c.params
			c.ranks = append(c.ranks, 0)
			c.params++
		}
		c.set = append(c.set, number[first])
		c.ranks[number[first]] += float64(c.penalties[j].rank)
		c.rows = c.penalties[j].lo + c.penalties[j].rank
	}
}

// solve factors A = X'WX + sum_j exp(rho_j) S_j and sets alpha = A^-1 X'Wz of
// every response. It returns log|A|, or false if A is not positive definite in floating point.
// Blocks with overlapping penalties are in coordinates where the total penalty
// is the identity, however far their lambdas are apart.
func (c *criterion) solve(rho []float64) (logDet float64, ok bool) {
	c.solved, c.inverted = nil, false
	if c.stopped() {
		return 0, false
	}
	if c.schur != nil {
		logDet, ok = c.schur.solve(c, rho)
	} else {
		logDet, ok = c.solveDense(rho)
	}
	if ok {
		c.solved = slices.Clone(rho)
	}
	return logDet, ok
}

// solveDense is solve with one matrix of all coordinates.
func (c *criterion) solveDense(rho []float64) (logDet float64, ok bool) {
	linalg.CopyTriangle(c.a, c.gram)
	if logDet, ok = c.intoOverlaps(rho); !ok {
		return 0, false
	}
	for i := range c.blocks {
		b := &c.blocks[i]
		if len(b.penalties) > 1 {
			continue
		}
		lambda := math.Exp(rho[b.penalties[0]])
		for l, r := range c.penalties[b.penalties[0]].diag {
			c.a.SetSym(b.lo+l, b.lo+l, c.a.At(b.lo+l, b.lo+l)+lambda*r*r)
		}
	}
	if c.data != nil {
		return c.solveRows(rho, logDet)
	}
	// With a unit diagonal, a large lambda does no harm to the factorisation.
	for i := range c.e {
		v := c.a.At(i, i)
		if !(v > 0) || math.IsInf(v, 0) {
			return 0, false
		}
		c.e[i] = 1 / math.Sqrt(v)
		logDet -= 2 * math.Log(c.e[i])
	}
	linalg.ScaleBoth(c.a, c.e)
	if !c.chol.Factorize(c.a) {
		return 0, false
	}
	logDet += c.chol.LogDet()
	for r := range c.at {
		c.solveInto(c.at[r].alpha, c.at[r].inner, c.responses[r].cross)
	}
	return logDet, finite(logDet)
}

// fewDigits tells whether what solve has factored last depends on less than four digits
// of some pivot, next to a diagonal of ones.
func (c *criterion) fewDigits() bool {
	if c.schur != nil {
		return c.schur.fewDigits()
	}
	if c.q == 0 {
		return false
	}
	least := c.chol.Least()
	if c.data == nil {
		least *= least
	}
	return least < 1e-12
}

// solveInto sets dst = A^-1 b with the factor at hand, and inner to the same in
// the coordinates of the overlaps.
func (c *criterion) solveInto(dst, inner, b []float64) {
	copy(c.work, b)
	for i, o := range c.overlap {
		if o != nil {
			lo, hi := c.blocks[i].lo, c.blocks[i].lo+c.blocks[i].dim
			mat.NewVecDense(hi-lo, c.work[lo:hi]).MulVec(o.to.T(), mat.NewVecDense(hi-lo, b[lo:hi]))
		}
	}
	for i, e := range c.e {
		c.work[i] *= e
	}
	c.chol.Solve(c.work)
	for i, e := range c.e {
		inner[i] = c.work[i] * e
	}
	c.fromInner(dst, inner)
}

// fromInner sets dst to the coefficients that are inner in the coordinates of the
// overlaps.
func (c *criterion) fromInner(dst, inner []float64) {
	copy(dst, inner)
	for i, o := range c.overlap {
		if o != nil {
			lo, hi := c.blocks[i].lo, c.blocks[i].lo+c.blocks[i].dim
			mat.NewVecDense(hi-lo, dst[lo:hi]).MulVec(o.to, mat.NewVecDense(hi-lo, inner[lo:hi]))
		}
	}
}

// invert sets inverse = A^-1 from the factor at hand, which is gone then.
func (c *criterion) invert() {
	c.inverted = true
	c.chol.InvertUpper()
	c.inverse = c.a
	linalg.ScaleBoth(c.inverse, c.e)
}

// residual is the sum of the responses' |z - X alpha|^2, each at least 0, by the number
// of independent ones.
func (c *criterion) residual() float64 {
	sum := 0.0
	for r := range c.responses {
		sum += c.residualOf(r)
	}
	return sum / c.among
}

// residualOf is |z - X alpha|^2 of response r, at least 0.
func (c *criterion) residualOf(r int) float64 { return math.Max(0, c.residualSum(r)) }

// residualSum returns, of response r, z'Wz - 2 alpha'X'Wz + alpha'X'WX alpha. In this form an error in
// alpha enters squared. It is negative by more than rounding if X'WX has lost the digits
// that make it positive definite.
func (c *criterion) residualSum(r int) float64 {
	of := &c.responses[r]
	if c.q == 0 {
		return of.zz
	}
	if c.schur != nil {
		return c.schur.residualSum(c.at[r].alpha, r, of.zz)
	}
	if c.data != nil {
		return c.residualOfRows(r)
	}
	return of.zz + linalg.Quadratic(c.gram, c.at[r].alpha, of.cross)
}

// perPenalty expands one value per parameter to one per penalty.
func (c *criterion) perPenalty(x []float64) []float64 {
	y := make([]float64, len(c.set))
	for j, i := range c.set {
		y[j] = x[i]
	}
	return y
}

// eval evaluates the criterion at rho (not kept), with gradient and Hessian in
// rho if asked.
func (c *criterion) eval(rho []float64, derivatives bool) *point {
	k := len(c.penalties)
	p := &point{rho: append([]float64(nil), rho...), each: c.perPenalty(rho), objective: math.Inf(1), score: math.Inf(1)}
	if derivatives && c.stopped() { // what asks for them takes them for granted
		p.grad, p.hess = make([]float64, c.params), mat.NewSymDense(max(c.params, 1), nil)
		return p
	}
	logDetA := 0.0
	if c.q > 0 {
		var ok bool
		if logDetA, ok = c.solve(p.each); !ok {
			return p
		}
	}
	p.rss = c.residual()
	p.rp = p.rss
	if k > 0 {
		c.rootTimesAlpha(p.each)
		for r := range c.at {
			for _, v := range c.at[r].g {
				p.rp += v * v / c.among
			}
		}
	}
	if derivatives || c.kind == GCV {
		c.traces(p)
	}
	if derivatives && k > 0 {
		p.grad, p.hess = make([]float64, k), mat.NewSymDense(k, nil)
	}
	switch c.kind {
	case GCV:
		c.gcv(p)
	case ML:
		c.ml(p)
	case groupedCV:
		c.crossValidation(p)
	default:
		c.reml(p, logDetA)
	}
	c.ofAll(p)
	if !finite(p.objective) {
		p.objective, p.score = math.Inf(1), math.Inf(1)
	}
	c.contract(p)
	c.keepAlone(p)
	return p
}

// ofAll turns the criterion per independent response, which p has, into that of all. An
// error of prediction, as GCV is, stays one.
func (c *criterion) ofAll(p *point) {
	p.objective *= c.among
	if c.kind != GCV && c.kind != groupedCV {
		p.score *= c.among
	}
	if p.grad != nil {
		floats.Scale(c.among, p.grad)
		p.hess.ScaleSym(c.among, p.hess)
	}
}

// traces sets what is spent by each penalty, and edf, from the factor at hand.
func (c *criterion) traces(p *point) {
	c.invertAll(p.each)
	p.edf = c.one + float64(c.q)
	p.spent = make([]float64, len(c.penalties))
	for j := range p.spent {
		p.spent[j] = c.spentBy(j)
		p.edf -= p.spent[j]
	}
}

// contract turns derivatives by penalties into those by parameters.
func (c *criterion) contract(p *point) {
	if p.grad == nil || c.params == len(c.set) {
		return
	}
	grad, hess := make([]float64, c.params), mat.NewSymDense(c.params, nil)
	for j, a := range c.set {
		grad[a] += p.grad[j]
		for l, b := range c.set {
			if a <= b {
				hess.SetSym(a, b, hess.At(a, b)+p.hess.At(j, l))
			}
		}
	}
	p.grad, p.hess = grad, hess
}
