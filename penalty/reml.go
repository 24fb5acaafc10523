package penalty

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

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
		v -= c.addLogDetS(&c.blocks[i], c.overlap[i], p.each, dS, dSS) / 2
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
// |g_j|^2 and delta_jk |g_j|^2 - 2 g_j'M_jk g_k, as rp summed over the responses by the
// number of independent ones.
func (c *criterion) penalisedResidual() ([]float64, *mat.SymDense) {
	k := len(c.penalties)
	first, second := make([]float64, k), mat.NewSymDense(k, nil)
	between := make([]*mat.SymDense, len(c.at))
	for r := range c.at {
		between[r] = c.bilinears(c.at[r].g)
	}
	for j := range k {
		for r := range c.at {
			for _, v := range c.part(c.at[r].g, j) {
				first[j] += v * v / c.among
			}
		}
		for l := j; l < k; l++ {
			h := 0.0
			for _, b := range between {
				h -= 2 * b.At(j, l) / c.among
			}
			if j == l {
				h += first[j]
			}
			second.SetSym(j, l, h)
		}
	}
	return first, second
}
