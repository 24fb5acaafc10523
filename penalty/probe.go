package penalty

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// alone is what REML at a point says of one smoothing parameter when all others stay: with
// M = lambda R A^-1 R' for the roots R of its penalties, and g = sqrt(lambda) R alpha.
type alone struct {
	left *mat.SymDense // I - M
	g    [][]float64   // of each response
}

// changeAlone is how the objective of p changes when parameter i alone becomes rho, and
// a bound of its rounding error; false: it is not known without solving. For lambda' = t lambda,
//
//	log|A'| - log|S'|_+ = log|A| - log|S|_+ + log|B|,   B = I + (1/t - 1)(I - M),
//	rp'                 = rp - (1/t - 1) g'B^-1 g,
//
// the determinant lemma and Woodbury's formula, in a form without cancellation where lambda
// is large and I - M small.
//
// So hundreds of terms are sent to infinity or back without a factorisation for each; what it
// promises is evaluated before it is taken.
func (c *criterion) changeAlone(p *point, i int, rho float64) (change, rounding float64, ok bool) {
	if p.alone == nil || p.alone[i] == nil {
		return 0, 0, false
	}
	at := p.alone[i]
	f, n := math.Expm1(p.rho[i]-rho), at.left.SymmetricDim()
	b := mat.NewSymDense(n, nil)
	b.ScaleSym(f, at.left)
	for r := range n {
		b.SetSym(r, r, b.At(r, r)+1)
	}
	var chol linalg.Cholesky
	if !chol.Factorize(b) {
		return 0, 0, false
	}
	rp := p.rp
	for _, g := range at.g {
		x := append([]float64(nil), g...)
		chol.Solve(x)
		for r, v := range g {
			rp -= f * v * x[r] / c.among
		}
	}
	if !(rp > zeroResidual*c.zz()) {
		return 0, 0, false
	}
	fit := (c.n/c.gamma - c.mp()) / 2 * math.Log(rp/p.rp)
	if c.scale > 0 {
		fit = (rp - p.rp) / (2 * c.gamma * c.scale)
	}
	least := chol.Least()
	change = chol.LogDet()/2 + fit
	// A large lambda leaves g few digits.
	rounding = 1e-15*float64(n)*(1+math.Abs(f))/(least*least) + 1e-6*math.Abs(fit)
	return c.among * change, c.among * rounding, true
}

// keepAlone notes, of a point that was evaluated with derivatives, what changeAlone needs; for
// parameters of penalties that overlap with others, are on eliminated columns or of very many columns,
// it notes nothing.
func (c *criterion) keepAlone(p *point) {
	m := c.m
	if c.schur != nil {
		m = c.schur.left.m
	}
	if c.kind != REML || m == nil || p.grad == nil || !finite(p.objective) {
		return
	}
	p.alone = make([]*alone, c.params)
	for i := range p.alone {
		if n := int(c.ranks[i]); n > 0 && n <= max(50, c.q/4) && c.apart(i) {
			p.alone[i] = c.aloneOf(m, i, n)
		}
	}
}

// apart tells whether no penalty of parameter i has a block in common with others, or is on eliminated columns.
func (c *criterion) apart(i int) bool {
	for j, of := range c.set {
		if of == i && (len(c.blocks[c.penalties[j].block].penalties) > 1 || c.rowInMiddle(j) < 0) {
			return false
		}
	}
	return true
}

// rowInMiddle is the first row of penalty j in M, which of a criterion with eliminated columns is that of
// the columns left; -1 on the former.
func (c *criterion) rowInMiddle(j int) int {
	if c.schur == nil {
		return c.penalties[j].lo
	}
	if k := c.schur.leftOf[j]; k >= 0 {
		return c.schur.left.penalties[k].lo
	}
	return -1
}

func (c *criterion) aloneOf(m *mat.Dense, i, n int) *alone {
	at := &alone{left: mat.NewSymDense(n, nil), g: make([][]float64, len(c.at))}
	var rows []int // of M
	for j, of := range c.set {
		if of != i {
			continue
		}
		for r := range c.penalties[j].rank {
			rows = append(rows, c.rowInMiddle(j)+r)
		}
		for r := range c.at {
			at.g[r] = append(at.g[r], c.part(c.at[r].g, j)...)
		}
	}
	for a, row := range rows {
		for b := a; b < n; b++ {
			v := -m.At(row, rows[b])
			if a == b {
				v++
			}
			at.left.SetSym(a, b, v)
		}
	}
	return at
}

// notBetter tells, without solving, that the criterion with parameter i at rho and all
// others as in p is no better than at p; last is about what it is.
func (s *search) notBetter(p *point, i int, rho float64) (last float64, sure bool) {
	change, rounding, ok := s.changeAlone(p, i, rho)
	return p.objective + change, ok && change-rounding > -s.gradTolerance(p)-s.noise(p)
}

// fromInfinity takes all lambdas at infinity to finite values that are better for each of them
// alone, and far from it as Newton's steps would not go at once; nil: there are none, or
// together they are no better.
func (s *search) fromInfinity(p *point) *point {
	const steps = 24 // in log lambda
	rho := append([]float64(nil), p.rho...)
	var moved []int
	for _, j := range s.free {
		if p.rho[j] < s.hi[j] || s.triedFinite[j] {
			continue
		}
		least := -s.gradTolerance(p) - s.noise(p)
		for d := 1.0; d <= steps && s.hi[j]-d >= s.lo[j]; d++ {
			if change, rounding, ok := s.changeAlone(p, j, s.hi[j]-d); ok && change+rounding < least {
				least, rho[j] = change+rounding, s.hi[j]-d
			}
		}
		if rho[j] < p.rho[j] {
			moved = append(moved, j)
		}
	}
	return s.jump(p, rho, moved, s.triedFinite)
}

// toInfinity takes all finite lambdas to infinity for each of which alone that is better, and
// has not been tried; nil: there are none, or together they are no better.
func (s *search) toInfinity(p *point) *point {
	var finite []int
	for _, j := range s.free {
		if p.rho[j] < s.hi[j] && !s.triedInfinity[j] {
			finite = append(finite, j)
		}
	}
	moved := s.betterAlone(p, finite, s.gradTolerance(p)+s.noise(p))
	rho := append([]float64(nil), p.rho...)
	for _, j := range moved {
		rho[j] = s.hi[j]
	}
	return s.jump(p, rho, moved, s.triedInfinity)
}

// jump is the criterion at rho, where some parameters moved to from p, and notes that they were tried;
// nil: none moved, or it is no better.
func (s *search) jump(p *point, rho []float64, moved []int, tried []bool) *point {
	if len(moved) == 0 {
		return nil
	}
	q := s.withDerivatives(rho)
	if q == nil || !s.better(q, p) {
		return nil
	}
	for _, j := range moved {
		tried[j] = true
	}
	return q
}

// tryInfinityAndStep is tryInfinity with a Newton step of the others at the same time, which
// saves an evaluation; nil also if there is nothing to try.
func (s *search) tryInfinityAndStep(p *point, candidates []int) *point {
	if len(candidates) == 0 {
		return nil
	}
	rho := s.moved(p, s.direction(p, candidates...), 1)
	for _, j := range candidates {
		rho[j] = s.hi[j]
	}
	if q := s.eval(rho, true); q.objective < p.objective-s.noise(p) {
		return q
	}
	return nil
}

// tryInfinity tries the upper bounds for several parameters at once, where each of them
// alone is as good as p; nil: together they are worse.
func (s *search) tryInfinity(p *point, candidates []int) *point {
	rho := append([]float64(nil), p.rho...)
	for _, j := range candidates {
		rho[j] = s.hi[j]
	}
	if q := s.eval(rho, true); q.objective <= p.objective {
		return q
	}
	return nil
}
