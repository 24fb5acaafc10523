package penalty

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// criterion evaluates one selection criterion of a system. It owns the
// workspaces; one goroutine.
type criterion struct {
	*system
	method Method
	gamma  float64
	scale  float64 // known, or 0

	a       *mat.SymDense // X'WX + S, scaled to a unit diagonal
	e       []float64     // alpha = e * scaled alpha, e = diag^-1/2
	chol    mat.Cholesky
	inverse *mat.SymDense // (X'WX + S)^-1, in the coordinates of the overlaps
	alpha   []float64
	inner   []float64  // alpha in the coordinates of the overlaps
	overlap []*overlap // one per block; nil for a block with one penalty
	work    []float64
	rows    int        // of the stacked roots
	half    *mat.Dense // penalised x rows: (X'WX + S)^-1 root'
	m, m2   *mat.Dense // rows x rows
	g, h    []float64  // rows
}

// point is the criterion at one rho.
type point struct {
	rho       []float64 // one per system.penalties
	objective float64   // what is minimised, in units of the log-likelihood; +Inf where it does not exist
	score     float64   // what is reported
	rss, rp   float64
	phi       float64 // REML's
	edf       float64 // with the intercept; set if derivatives or GCV
	grad      []float64
	hess      *mat.SymDense
	spent     []float64 // t_j = lambda_j tr((X'WX+S)^-1 S_j); rank_j - t_j is what is left of the term
}

func newCriterion(s *system, o *Options) *criterion {
	c := &criterion{system: s, method: o.Method, gamma: o.Gamma, scale: o.Scale}
	if s.q == 0 {
		return c
	}
	c.a = mat.NewSymDense(s.q, nil)
	c.inverse = mat.NewSymDense(s.q, nil)
	c.e, c.alpha, c.inner, c.work = make([]float64, s.q), make([]float64, s.q), make([]float64, s.q), make([]float64, s.q)
	c.overlap = make([]*overlap, len(s.blocks))
	if k := len(s.penalties); k > 0 {
		c.rows = s.penalties[k-1].lo + s.penalties[k-1].rank
		c.half = mat.NewDense(s.penalised, c.rows, nil)
		c.m, c.m2 = mat.NewDense(c.rows, c.rows, nil), mat.NewDense(c.rows, c.rows, nil)
		c.g, c.h = make([]float64, c.rows), make([]float64, c.rows)
	}
	return c
}

// solve factors A = X'WX + sum_j exp(rho_j) S_j and sets alpha = A^-1 X'Wz. It
// returns log|A|, or false if A is not positive definite in floating point.
// Blocks with overlapping penalties are in coordinates where the total penalty
// is the identity, however far their lambdas are apart.
func (c *criterion) solve(rho []float64) (logDet float64, ok bool) {
	c.a.CopySym(c.gram)
	for i := range c.blocks {
		b := &c.blocks[i]
		if len(b.penalties) > 1 {
			if c.overlap[i], ok = c.factorOverlap(b, rho); !ok {
				return 0, false
			}
			logDet += c.overlap[i].logDet
			c.intoOverlap(b, c.overlap[i])
			continue
		}
		lambda := math.Exp(rho[b.penalties[0]])
		for l, r := range c.penalties[b.penalties[0]].diag {
			c.a.SetSym(b.lo+l, b.lo+l, c.a.At(b.lo+l, b.lo+l)+lambda*r*r)
		}
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
	raw := c.a.RawSymmetric()
	for i := range c.q {
		for j := i; j < c.q; j++ {
			raw.Data[i*raw.Stride+j] *= c.e[i] * c.e[j]
		}
	}
	if !c.chol.Factorize(c.a) {
		return 0, false
	}
	logDet += c.chol.LogDet()
	c.solveInto(c.alpha, c.cross)
	return logDet, finite(logDet)
}

// intoOverlap changes the coordinates of a block of the matrix a, and adds its
// total penalty, there the identity.
func (c *criterion) intoOverlap(b *block, o *overlap) {
	var columns mat.Dense
	columns.Mul(pick(mat.DenseCopyOf(c.a), nil, sequence(c.q)[b.lo:b.lo+b.dim]), o.to)
	var own mat.Dense
	own.Mul(o.to.T(), columns.Slice(b.lo, b.lo+b.dim, 0, b.dim))
	for j := range b.dim {
		for i := range c.q {
			if i < b.lo || i >= b.lo+b.dim {
				c.a.SetSym(i, b.lo+j, columns.At(i, j))
			}
		}
		for i := range j + 1 {
			c.a.SetSym(b.lo+i, b.lo+j, own.At(i, j))
		}
		c.a.SetSym(b.lo+j, b.lo+j, c.a.At(b.lo+j, b.lo+j)+1)
	}
}

// solveInto sets dst = A^-1 b with the factor at hand, and inner to the same in
// the coordinates of the overlaps.
func (c *criterion) solveInto(dst, b []float64) {
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
	v := mat.NewVecDense(c.q, c.work)
	// The error is a warning about the condition number, which the scaled
	// factor overstates; A is positive definite here.
	_ = c.chol.SolveVecTo(v, v)
	for i, e := range c.e {
		c.inner[i] = c.work[i] * e
	}
	copy(dst, c.inner)
	for i, o := range c.overlap {
		if o != nil {
			lo, hi := c.blocks[i].lo, c.blocks[i].lo+c.blocks[i].dim
			mat.NewVecDense(hi-lo, dst[lo:hi]).MulVec(o.to, mat.NewVecDense(hi-lo, c.inner[lo:hi]))
		}
	}
}

// innerBasis is the system's basis (alpha = basis b) for the coordinates of the
// overlaps.
func (c *criterion) innerBasis() *mat.Dense {
	basis := mat.DenseCopyOf(c.basis)
	rows, _ := basis.Dims()
	for i, o := range c.overlap {
		if o != nil {
			columns := basis.Slice(0, rows, c.blocks[i].lo, c.blocks[i].lo+c.blocks[i].dim).(*mat.Dense)
			var product mat.Dense
			product.Mul(columns, o.to)
			columns.Copy(&product)
		}
	}
	return basis
}

// invert sets inverse = A^-1 from the factor at hand.
func (c *criterion) invert() {
	_ = c.chol.InverseTo(c.inverse) // a warning only, as in solveInto
	raw := c.inverse.RawSymmetric()
	for i := range c.q {
		for j := i; j < c.q; j++ {
			raw.Data[i*raw.Stride+j] *= c.e[i] * c.e[j]
		}
	}
}

// residual returns z'Wz - 2 alpha'X'Wz + alpha'X'WX alpha, at least 0. In this
// form an error in alpha enters squared.
func (c *criterion) residual() float64 {
	if c.q == 0 {
		return math.Max(0, c.zz)
	}
	fitted := mat.NewVecDense(c.q, c.work)
	fitted.MulVec(c.gram, mat.NewVecDense(c.q, c.alpha))
	sum := c.zz
	for i, a := range c.alpha {
		sum += a * (c.work[i] - 2*c.cross[i])
	}
	return math.Max(0, sum)
}

// eval evaluates the criterion at rho (not kept), with gradient and Hessian in
// rho if asked.
func (c *criterion) eval(rho []float64, derivatives bool) *point {
	k := len(c.penalties)
	p := &point{rho: append([]float64(nil), rho...), objective: math.Inf(1), score: math.Inf(1)}
	logDetA := 0.0
	if c.q > 0 {
		var ok bool
		if logDetA, ok = c.solve(rho); !ok {
			return p
		}
	}
	p.rss = c.residual()
	p.rp = p.rss
	if k > 0 {
		c.rootTimesAlpha(rho)
		for _, v := range c.g {
			p.rp += v * v
		}
	}
	if derivatives || c.method != REML {
		if c.q > 0 {
			c.invert()
		}
		c.middle(rho)
		p.edf = c.one + float64(c.q)
		p.spent = make([]float64, k)
		for j := range p.spent {
			pen := &c.penalties[j]
			for i := pen.lo; i < pen.lo+pen.rank; i++ {
				p.spent[j] += c.m.At(i, i)
			}
			p.edf -= p.spent[j]
		}
	}
	if derivatives && k > 0 {
		p.grad, p.hess = make([]float64, k), mat.NewSymDense(k, nil)
	}
	if c.method == GCV {
		c.gcv(p)
	} else {
		c.reml(p, logDetA)
	}
	if !finite(p.objective) {
		p.objective, p.score = math.Inf(1), math.Inf(1)
	}
	return p
}

// scaledRoot returns sqrt(lambda_j) root_j in the coordinates of the overlaps:
// a diagonal, or else a matrix.
func (c *criterion) scaledRoot(j int, rho []float64) (diag []float64, root *mat.Dense) {
	pen := &c.penalties[j]
	if o := c.overlap[pen.block]; o != nil {
		return nil, o.part[slices.Index(c.blocks[pen.block].penalties, j)]
	}
	diag = make([]float64, pen.rank)
	for i, r := range pen.diag {
		diag[i] = math.Exp(rho[j]/2) * r
	}
	return diag, nil
}

// rootTimesAlpha sets g_j = sqrt(lambda_j) root_j alpha, so that
// lambda_j alpha'S_j alpha = |g_j|^2.
func (c *criterion) rootTimesAlpha(rho []float64) {
	for j := range c.penalties {
		pen := &c.penalties[j]
		lo := c.blocks[pen.block].lo
		diag, root := c.scaledRoot(j, rho)
		for i := range pen.rank {
			if diag != nil {
				c.g[pen.lo+i] = diag[i] * c.inner[lo+i]
				continue
			}
			sum := 0.0
			for a, r := range root.RawRowView(i) {
				sum += r * c.inner[lo+a]
			}
			c.g[pen.lo+i] = sum
		}
	}
}

// middle sets the blocks M_jk = sqrt(lambda_j lambda_k) root_j A^-1 root_k' of m,
// from which every trace in the derivatives follows.
func (c *criterion) middle(rho []float64) {
	for k := range c.penalties {
		pen := &c.penalties[k]
		lo := c.blocks[pen.block].lo
		diag, root := c.scaledRoot(k, rho)
		for i := range c.penalised {
			row := c.half.RawRowView(i)
			for l := range pen.rank {
				if diag != nil {
					row[pen.lo+l] = diag[l] * c.inverse.At(i, lo+l)
					continue
				}
				sum := 0.0
				for a, r := range root.RawRowView(l) {
					sum += r * c.inverse.At(i, lo+a)
				}
				row[pen.lo+l] = sum
			}
		}
	}
	for j := range c.penalties {
		pen := &c.penalties[j]
		lo := c.blocks[pen.block].lo
		diag, root := c.scaledRoot(j, rho)
		for i := range pen.rank {
			dst := c.m.RawRowView(pen.lo + i)
			if diag != nil {
				for l, v := range c.half.RawRowView(lo + i) {
					dst[l] = diag[i] * v
				}
				continue
			}
			clear(dst)
			for a, r := range root.RawRowView(i) {
				for l, v := range c.half.RawRowView(lo + a) {
					dst[l] += r * v
				}
			}
		}
	}
}

// reml is the Gaussian restricted likelihood (Wood 2017, 6.2.6 and 6.5):
//
//	V = (rp/phi + n log 2 pi phi - sum log w)/(2 gamma) + 1/2 log|A| - 1/2 log|S|_+
//	    - Mp/2 (log 2 pi phi - log gamma),
//
// with phi known or at its minimum rp/(n - gamma Mp).
func (c *criterion) reml(p *point, logDetA float64) {
	known := c.scale > 0
	free := c.n - c.gamma*c.mp()
	p.phi = c.scale
	if !known {
		p.phi = p.rp / free
	}
	if !(p.phi > 0) {
		return
	}
	k := len(c.penalties)
	v := (p.rp/p.phi+c.n*math.Log(2*math.Pi*p.phi)-c.sumLogW)/(2*c.gamma) -
		c.mp()/2*(math.Log(2*math.Pi*p.phi)-math.Log(c.gamma)) +
		(logDetA+c.logDetA-c.logDetS)/2
	var dS []float64
	var dSS *mat.SymDense
	if p.grad != nil {
		dS, dSS = make([]float64, k), mat.NewSymDense(k, nil)
	}
	for i := range c.blocks {
		v -= c.addLogDetS(&c.blocks[i], c.overlap[i], p.rho, dS, dSS) / 2
	}
	p.score, p.objective = v, v
	if p.grad == nil {
		return
	}
	rp1, rp2 := c.penalisedResidual()
	for j := range k {
		p.grad[j] = rp1[j]/(2*c.gamma*p.phi) + (p.spent[j]-dS[j])/2
		for l := j; l < k; l++ {
			h := rp2.At(j, l)
			if !known {
				h -= rp1[j] * rp1[l] / p.rp
			}
			h = h/(2*c.gamma*p.phi) - (c.traceProduct(j, l)+dSS.At(j, l))/2
			if j == l {
				h += p.spent[j] / 2
			}
			p.hess.SetSym(j, l, h)
		}
	}
}

// penalisedResidual returns the derivatives of rp = RSS + alpha'S alpha:
// |g_j|^2 and delta_jk |g_j|^2 - 2 g_j'M_jk g_k.
func (c *criterion) penalisedResidual() ([]float64, *mat.SymDense) {
	k := len(c.penalties)
	first, second := make([]float64, k), mat.NewSymDense(k, nil)
	for j := range k {
		for _, v := range c.part(c.g, j) {
			first[j] += v * v
		}
		for l := j; l < k; l++ {
			h := -2 * c.bilinear(c.g, c.g, j, l)
			if j == l {
				h += first[j]
			}
			second.SetSym(j, l, h)
		}
	}
	return first, second
}

// gcv is n RSS/(n - gamma edf)^2, or UBRE = RSS/n - scale + 2 gamma scale edf/n
// if the scale is known (Wood 2017, 6.2.3). The objective is n/2 log GCV, or
// n/(2 scale) UBRE up to a constant, which has the size of a log-likelihood.
func (c *criterion) gcv(p *point) {
	k := len(c.penalties)
	free := c.n - c.gamma*p.edf
	if c.scale > 0 {
		p.phi = c.scale
		p.score = p.rss/c.n - c.scale + 2*c.gamma*c.scale*p.edf/c.n
		p.objective = p.rss/(2*c.scale) + c.gamma*p.edf
	} else {
		if free <= 1e-6*c.n || p.rss == 0 {
			return
		}
		p.phi = p.rss / (c.n - p.edf)
		p.score = c.n * p.rss / (free * free)
		p.objective = c.n / 2 * math.Log(p.score)
	}
	if p.grad == nil {
		return
	}
	rss1, rss2, edf1, edf2 := c.residualAndEDF(p)
	for j := range k {
		if c.scale > 0 {
			p.grad[j] = rss1[j]/(2*c.scale) + c.gamma*edf1[j]
		} else {
			p.grad[j] = c.n/2*rss1[j]/p.rss + c.n*c.gamma*edf1[j]/free
		}
		for l := j; l < k; l++ {
			var h float64
			if c.scale > 0 {
				h = rss2.At(j, l)/(2*c.scale) + c.gamma*edf2.At(j, l)
			} else {
				h = c.n/2*(rss2.At(j, l)/p.rss-rss1[j]*rss1[l]/(p.rss*p.rss)) +
					c.n*c.gamma*(edf2.At(j, l)/free+c.gamma*edf1[j]*edf1[l]/(free*free))
			}
			p.hess.SetSym(j, l, h)
		}
	}
}

// residualAndEDF returns first and second derivatives of RSS and edf. With
// h = M g and P = A^-1:
//
//	dRSS/drho_j        = 2 g_j'h_j
//	d2RSS/drho_j drho_k = delta 2 g_j'h_j + 2 g_j'M_jk g_k - 2 (g_j'M_jk h_k + g_k'M_kj h_j + g_j'(M M)_jk g_k)
//	dedf/drho_j        = -(t_j - sum_l |M_jl|^2)
//	d2edf              = -delta (t_j - sum_l |M_jl|^2) + 2 |M_jk|^2 - 2 tr(M_jk (M M)_kj)
func (c *criterion) residualAndEDF(p *point) (rss1 []float64, rss2 *mat.SymDense, edf1 []float64, edf2 *mat.SymDense) {
	k := len(c.penalties)
	rss1, edf1 = make([]float64, k), make([]float64, k)
	rss2, edf2 = mat.NewSymDense(k, nil), mat.NewSymDense(k, nil)
	mat.NewVecDense(c.rows, c.h).MulVec(c.m, mat.NewVecDense(c.rows, c.g))
	c.m2.Mul(c.m, c.m)
	for j := range k {
		g, h := c.part(c.g, j), c.part(c.h, j)
		for i := range g {
			rss1[j] += 2 * g[i] * h[i]
		}
		edf1[j] = -p.spent[j]
		for l := range k {
			edf1[j] += c.traceProduct(j, l)
		}
	}
	for j := range k {
		for l := j; l < k; l++ {
			pj, pl := &c.penalties[j], &c.penalties[l]
			square, cube := 0.0, 0.0 // g_j'(MM)_jl g_l and tr(M_jl (MM)_lj)
			for a := pj.lo; a < pj.lo+pj.rank; a++ {
				row, row2 := c.m.RawRowView(a), c.m2.RawRowView(a)
				for b := pl.lo; b < pl.lo+pl.rank; b++ {
					square += c.g[a] * row2[b] * c.g[b]
					cube += row[b] * row2[b]
				}
			}
			r := 2*c.bilinear(c.g, c.g, j, l) - 2*(c.bilinear(c.g, c.h, j, l)+c.bilinear(c.h, c.g, j, l)+square)
			e := 2*c.traceProduct(j, l) - 2*cube
			if j == l {
				r += rss1[j]
				e += edf1[j]
			}
			rss2.SetSym(j, l, r)
			edf2.SetSym(j, l, e)
		}
	}
	return rss1, rss2, edf1, edf2
}

// part is the piece of a stacked vector that belongs to penalty j.
func (c *criterion) part(x []float64, j int) []float64 {
	pen := &c.penalties[j]
	return x[pen.lo : pen.lo+pen.rank]
}

// bilinear is x_j'M_jl y_l.
func (c *criterion) bilinear(x, y []float64, j, l int) float64 {
	pj, pl := &c.penalties[j], &c.penalties[l]
	sum := 0.0
	for a := pj.lo; a < pj.lo+pj.rank; a++ {
		row, inner := c.m.RawRowView(a), 0.0
		for b := pl.lo; b < pl.lo+pl.rank; b++ {
			inner += row[b] * y[b]
		}
		sum += x[a] * inner
	}
	return sum
}

// traceProduct is |M_jl|^2 = lambda_j lambda_l tr(A^-1 S_j A^-1 S_l).
func (c *criterion) traceProduct(j, l int) float64 {
	pj, pl := &c.penalties[j], &c.penalties[l]
	sum := 0.0
	for a := pj.lo; a < pj.lo+pj.rank; a++ {
		for _, v := range c.m.RawRowView(a)[pl.lo : pl.lo+pl.rank] {
			sum += v * v
		}
	}
	return sum
}
