package penalty

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// ml is the Gaussian marginal likelihood (Wood 2017, 6.2.6):
//
//	V = (rp/phi + n log 2 pi phi - sum log w)/(2 gamma) + 1/2 log|R'AR| - 1/2 log|S|_+,
//
// with phi known or at its minimum rp/n, and R an orthonormal basis of range(S)
// in the problem's coordinates.
func (c *criterion) ml(p *point) {
	known := c.scale > 0
	p.phi = c.scale
	if !known {
		p.phi = p.rp / c.n
	}
	if !(p.phi > 0) {
		return
	}
	v := (p.rp/p.phi + c.n*math.Log(2*math.Pi*p.phi) - c.sumLogW) / (2 * c.gamma)
	in := &point{each: p.each}
	var dS []float64
	var dSS *mat.SymDense
	k := len(c.penalties)
	if p.grad != nil {
		dS, dSS = make([]float64, k), mat.NewSymDense(k, nil)
	}
	if c.inside != nil {
		logDet, ok := c.inside.solve(p.each)
		if !ok {
			return
		}
		v += (logDet + c.inside.logDetA - c.inside.logDetS) / 2
		for i := range c.inside.blocks {
			v -= c.inside.addLogDetS(&c.inside.blocks[i], c.inside.overlap[i], p.each, dS, dSS) / 2
		}
		if p.grad != nil {
			c.inside.traces(in)
		}
	}
	p.score, p.objective = v, v
	if p.grad == nil {
		return
	}
	rp1, rp2 := c.penalisedResidual()
	for j := range k {
		p.grad[j] = rp1[j]/(2*c.gamma*p.phi) + (in.spent[j]-dS[j])/2
		for l := j; l < k; l++ {
			h := rp2.At(j, l)
			if !known {
				h -= rp1[j] * rp1[l] / p.rp
			}
			h = h/(2*c.gamma*p.phi) - (c.inside.traceProduct(j, l)+dSS.At(j, l))/2
			if j == l {
				h += in.spent[j] / 2
			}
			p.hess.SetSym(j, l, h)
		}
	}
}

// withInside prepares the determinants of ML: those of the penalised
// coefficients without the others.
func (c *criterion) withInside(p *Problem, live []bool, o *Options) error {
	if len(c.penalties) == 0 {
		return nil
	}
	if p.Intercept && p.XMean == nil {
		return errors.New("penalty: ml with an intercept needs the columns' means (XMean): give them, or choose reml")
	}
	inside, alive, err := p.penalisedOnly(c.system, live)
	if err != nil {
		return err
	}
	s, err := reduce(c.ctx, inside, alive, o.RankTolerance)
	if err != nil {
		return err
	}
	if len(s.penalties) != len(c.penalties) {
		return fmt.Errorf("penalty: ml finds %d penalties and reml %d: a penalty is zero to rounding", len(s.penalties), len(c.penalties))
	}
	c.inside = newCriterion(s, o, nil)
	return nil
}

// penalisedOnly is the problem of R'alpha, R orthonormal bases of the ranges of
// the terms' total penalties, with raw columns and without an intercept.
func (p *Problem) penalisedOnly(s *system, live []bool) (*Problem, []bool, error) {
	dim := len(p.XZ)
	var terms []Component
	var alive []bool
	r := mat.NewDense(dim, s.penalised, nil)
	at, next := 0, 0
	for number, t := range p.Terms {
		rank := 0
		for i, b := range s.blocks {
			if s.penalties[b.penalties[0]].component == number {
				rank += s.blocks[i].dim
			}
		}
		if rank == 0 {
			next += len(t.S)
			continue
		}
		total := mat.NewSymDense(t.Dim, nil)
		part := Component{Name: t.Name, Start: at, Dim: rank}
		for j := range t.S {
			sj := t.S[j]
			if norm := mat.Norm(sj, 2); live[next+j] && norm > 0 {
				total.AddSym(total, scaledBy(sj, 1/norm))
			}
		}
		_, vectors, err := eigenDescending(total)
		if err != nil {
			return nil, nil, fmt.Errorf("penalty: term %q: the penalty has no eigendecomposition: %w", t.Name, err)
		}
		basis := mat.DenseCopyOf(vectors.Slice(0, t.Dim, 0, rank))
		for j := range t.S {
			part.S = append(part.S, sandwich(mat.DenseCopyOf(basis.T()), linalg.Dense(t.S[j])))
			alive = append(alive, live[next+j])
		}
		r.Slice(t.Start, t.Start+t.Dim, at, at+rank).(*mat.Dense).Copy(basis)
		terms = append(terms, part)
		at, next = at+rank, next+len(t.S)
	}
	xx := p.dense()
	if p.Intercept {
		xx = mat.NewSymDense(dim, nil)
		xx.SymRankOne(p.XX, p.SumW, mat.NewVecDense(dim, p.XMean))
	}
	q := &Problem{Rows: p.Rows, SumW: p.SumW, SumLogW: p.SumLogW, Terms: terms,
		XX: sandwich(mat.DenseCopyOf(r.T()), xx), XZ: make([]float64, s.penalised)}
	return q, alive, nil
}

func scaledBy(s mat.Symmetric, f float64) *mat.SymDense {
	x := mat.NewSymDense(s.SymmetricDim(), nil)
	x.ScaleSym(f, s)
	return x
}
