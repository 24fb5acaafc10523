package penalty

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// direction is the Newton step in the components that can move and are not among others,
// with the Hessian's eigenvalues made positive (Wood 2017, 6.2.1), at most maxStep long.
func (s *search) direction(p *point, others ...int) []float64 {
	step := make([]float64, len(p.rho))
	var moving []int
	for _, j := range s.free {
		if !s.atBound(p, j) && !slices.Contains(others, j) {
			moving = append(moving, j)
		}
	}
	if len(moving) == 0 {
		return step
	}
	h := mat.NewSymDense(len(moving), nil)
	for a, j := range moving {
		for b := a; b < len(moving); b++ {
			h.SetSym(a, b, p.hess.At(j, moving[b]))
		}
	}
	values, vectors, err := eigenDescending(h)
	if err != nil { // steepest descent
		for _, j := range moving {
			step[j] = -p.grad[j]
		}
	} else {
		largest := 0.0
		for _, v := range values {
			largest = math.Max(largest, math.Abs(v))
		}
		for i, v := range values {
			v = math.Max(math.Abs(v), math.Max(1e-9*largest, 1e-300))
			along := 0.0
			for a, j := range moving {
				along += vectors.At(a, i) * p.grad[j]
			}
			for a, j := range moving {
				step[j] -= vectors.At(a, i) * along / v
			}
		}
	}
	longest := 0.0
	for _, v := range step {
		longest = math.Max(longest, math.Abs(v))
	}
	if longest > maxStep {
		for j := range step {
			step[j] *= maxStep / longest
		}
	}
	return step
}

// noise is the rounding error of the objective. The residual is a difference of
// numbers of the size of z'Wz, and the objective holds n/2 times its log.
func (s *search) noise(p *point) float64 {
	n, zz := s.n*s.among, s.zz()
	noise := 1e-13 * (n + math.Abs(p.objective))
	if s.scale == 0 {
		noise += 1e-15 * n * zz / math.Max(p.rss, zeroResidual*zz)
	}
	return noise
}

// moved is p's rho and f times a step, inside the bounds.
func (s *search) moved(p *point, step []float64, f float64) []float64 {
	rho := append([]float64(nil), p.rho...)
	for _, j := range s.free {
		rho[j] = math.Min(s.hi[j], math.Max(s.lo[j], rho[j]+f*step[j]))
	}
	return rho
}

// lineSearch halves the step, kept inside the bounds, until the criterion improves.
// Close to the minimum, where rounding decides, half the gradient counts too.
func (s *search) lineSearch(p *point, step []float64) (*point, int) {
	noise := s.noise(p)
	f := 1.0
	for halvings := range maxHalvings {
		rho := s.moved(p, step, f)
		q := s.eval(rho, halvings == 0)
		if q.objective <= p.objective+noise {
			if q.grad == nil {
				q = s.eval(rho, true)
			}
			if q.objective < p.objective-noise || q.grad != nil && s.gradNorm(q) < s.gradNorm(p)/2 { // nil: cancelled meanwhile
				return q, halvings
			}
		}
		f /= 2
	}
	return nil, maxHalvings
}
