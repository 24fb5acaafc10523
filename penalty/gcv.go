package penalty

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

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
//
// Those of RSS are sums over the responses by the number of independent ones.
func (c *criterion) residualAndEDF(p *point) (rss1 []float64, rss2 *mat.SymDense, edf1 []float64, edf2 *mat.SymDense) {
	k := len(c.penalties)
	rss1, edf1 = make([]float64, k), make([]float64, k)
	rss2, edf2 = mat.NewSymDense(k, nil), mat.NewSymDense(k, nil)
	if c.m2 == nil {
		c.m2 = mat.NewDense(c.rows, c.rows, nil)
	}
	productInto(c.m2.RawMatrix(), c.m.RawMatrix(), dense(c.m), false)
	for j := range k {
		edf1[j] = -p.spent[j]
		for l := range k {
			edf1[j] += c.traceProduct(j, l)
		}
	}
	for j := range k {
		for l := j; l < k; l++ {
			e := 2*c.traceProduct(j, l) - 2*c.traceCube(j, l)
			if j == l {
				e += edf1[j]
			}
			edf2.SetSym(j, l, e)
		}
	}
	for r := range c.at {
		c.addResidual(rss1, rss2, c.at[r].g)
	}
	return rss1, rss2, edf1, edf2
}

// addResidual adds the part of one response, with this g.
func (c *criterion) addResidual(rss1 []float64, rss2 *mat.SymDense, g []float64) {
	h := make([]float64, c.rows)
	mat.NewVecDense(c.rows, h).MulVec(c.m, mat.NewVecDense(c.rows, g))
	for j := range rss1 {
		first := 0.0
		for i, v := range c.part(g, j) {
			first += 2 * v * c.part(h, j)[i]
		}
		rss1[j] += first / c.among
		for l := j; l < len(rss1); l++ {
			r := 2*c.bilinear(g, g, j, l) - 2*(c.bilinear(g, h, j, l)+c.bilinear(h, g, j, l)+c.square(g, j, l))
			if j == l {
				r += first
			}
			rss2.SetSym(j, l, rss2.At(j, l)+r/c.among)
		}
	}
}

// square is g_j'(M M)_jl g_l.
func (c *criterion) square(g []float64, j, l int) float64 {
	pj, pl := &c.penalties[j], &c.penalties[l]
	sum := 0.0
	for a := pj.lo; a < pj.lo+pj.rank; a++ {
		row := c.m2.RawRowView(a)
		for b := pl.lo; b < pl.lo+pl.rank; b++ {
			sum += g[a] * row[b] * g[b]
		}
	}
	return sum
}

// traceCube is tr(M_jl (M M)_lj).
func (c *criterion) traceCube(j, l int) float64 {
	pj, pl := &c.penalties[j], &c.penalties[l]
	sum := 0.0
	for a := pj.lo; a < pj.lo+pj.rank; a++ {
		row, row2 := c.m.RawRowView(a), c.m2.RawRowView(a)
		for b := pl.lo; b < pl.lo+pl.rank; b++ {
			sum += row[b] * row2[b]
		}
	}
	return sum
}
