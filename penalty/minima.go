package penalty

import "math"

// lowerBounds lowers the bounds at which the criterion still falls with lambda although
// the penalty takes effective degrees of freedom there, and tells whether there was any.
// The bounds are relative to the lambda at which data and penalty have the same size,
// and one value far from all others adds to the size of the data as it is far away.
func (s *search) lowerBounds(p *point) (moved bool) {
	for _, j := range s.free {
		if p.rho[j] <= s.lo[j] && p.grad[j] > s.gradTolerance(p) && s.ranks[j]-s.edfLeft(p, j) >= minSpent && !s.loFinal[j] && s.lo[j] > math.Log(1e-100) {
			s.lo[j] += math.Log(1e-3)
			s.loLowered[j], moved = true, true
		}
	}
	if moved {
		s.converged = p
	}
	return moved
}

// fixLowered gives up the bounds that were lowered last, because the search fails there
// for lack of digits, and returns the point from which they were lowered, at which the
// search had converged. nil: none were lowered.
func (s *search) fixLowered() *point {
	last := s.converged
	s.converged = nil
	for _, j := range s.free {
		if last != nil && s.loLowered[j] && !s.loFinal[j] {
			s.lo[j], s.loFinal[j], s.lostDigits = last.rho[j], true, true
		}
	}
	return last
}

// tryBound tries the upper bound for the lambdas of terms that are nearly in the null space of
// their penalties, together and then one by one, or the lower bound for the lambda of a term that
// is hardly penalised. Newton's steps towards a bound have length 1, however far it is. nil: no
// bound is as good as p.
func (s *search) tryBound(p *point) *point {
	var candidates []int // for the upper bound
	for _, j := range s.free {
		if !s.triedZero[j] && p.rho[j] > s.lo[j] && p.grad[j] > 0 && s.ranks[j]-s.edfLeft(p, j) < minSpent {
			s.triedZero[j] = true
			rho := append([]float64(nil), p.rho...)
			rho[j] = s.lo[j]
			if q := s.eval(rho, true); q.objective <= p.objective && s.atBound(q, j) {
				return q
			}
		}
		if p.rho[j] >= s.hi[j] || p.grad[j] >= 0 || !(s.exponentialTail(p, j) || !s.triedInfinity[j] && s.edfLeft(p, j) <= tailEDF) {
			continue
		}
		candidates = append(candidates, j)
	}
	together := s.betterAlone(p, candidates, 0)
	if q := s.tryInfinityAndStep(p, together); q != nil {
		s.tried(p, together...)
		return q
	}
	if len(together) > 1 {
		if q := s.tryInfinity(p, together); q != nil {
			s.tried(p, together...)
			return q
		}
	}
	for _, j := range candidates {
		s.tried(p, j)
		if change, rounding, ok := s.changeAlone(p, j, s.hi[j]); ok && change-rounding > 0 {
			continue
		}
		if q := s.tryInfinity(p, []int{j}); q != nil {
			return q
		}
	}
	return nil
}

// betterAlone are those of some parameters of which infinity is better than p by so much, or as good if that is
// 0, without the others.
func (s *search) betterAlone(p *point, candidates []int, by float64) []int {
	var good []int
	for _, j := range candidates {
		if change, rounding, ok := s.changeAlone(p, j, s.hi[j]); ok && change+rounding <= -by {
			good = append(good, j)
		}
	}
	return good
}

// tried notes that infinity was tried for some parameters at p.
func (s *search) tried(p *point, parameters ...int) {
	for _, j := range parameters {
		s.triedInfinity[j], s.slope[j] = true, math.Abs(p.grad[j])
	}
}

// exponentialTail tells whether the criterion falls towards infinity as exp(-rho_j)
// does: the second derivative is the negative of the first, and Newton's steps are 1.
// Infinity may have been tried before the other terms had converged, and with
// overlapping penalties the edf left to one of them does not show the tail. So it is
// tried again when the other gradients are no larger and this one is a tenth of what it
// was at the last try.
func (s *search) exponentialTail(p *point, j int) bool {
	g := math.Abs(p.grad[j])
	return g < 0.01 && g < s.slope[j]/10 && g >= s.gradNorm(p) && math.Abs(p.hess.At(j, j)-g) < 0.1*g
}

// otherMinimum tests, once for each lambda, whether another minimum is better. If lambda
// is at infinity, finite values are tried: the criterion is flat there, so its gradient
// says nothing about them. If not, infinity is tried. REML can have both minima, GCV
// several finite ones as well (Wood 2011, section 1). nil: nothing better.
func (s *search) otherMinimum(p *point) *point {
	if q := s.fromInfinity(p); q != nil {
		return q
	}
	if q := s.toInfinity(p); q != nil {
		return q
	}
	for _, j := range s.free {
		var down []float64 // from the upper bound
		infinite := p.rho[j] >= s.hi[j]
		switch {
		case infinite && !s.triedFinite[j]:
			s.triedFinite[j] = true
			down = []float64{4, 8, 12, 16, 20}
			for s.kind == GCV && down[len(down)-1]+4 < s.hi[j]-s.lo[j] {
				down = append(down, down[len(down)-1]+4)
			}
		case !infinite:
			if !s.triedInfinity[j] {
				s.triedInfinity[j] = true
				down = []float64{0}
			}
			if s.kind == GCV && !s.triedOthers[j] {
				s.triedOthers[j] = true
				for _, d := range []float64{-6, -3, -1.5, 1.5, 3} {
					down = append(down, math.Max(0, s.hi[j]-p.rho[j]-d))
				}
			}
		}
		rho := append([]float64(nil), p.rho...)
		last := p.objective
		for _, d := range down {
			rho[j] = math.Max(s.lo[j], s.hi[j]-d)
			if about, sure := s.notBetter(p, j, rho[j]); sure {
				last = about
				continue
			}
			q := s.eval(rho, false)
			if last = q.objective; s.better(q, p) {
				return s.withDerivatives(rho)
			}
		}
		switch {
		case infinite && len(down) > 0:
		case !infinite && !s.triedFinite[j] && p.hess != nil && math.Abs(p.hess.At(j, j)) < flatCurvature:
			s.triedFinite[j], rho[j], last = true, p.rho[j], p.objective
		default:
			continue
		}
		if q := s.belowPlateau(p, j, rho[j], last); q != nil {
			return q
		}
	}
	return nil
}

// belowPlateau looks for a clearly better value of a log lambda that is so large that
// the criterion does not depend on it. It starts at from, where the criterion is last.
// Usually the criterion depends on lambda there already, and there is nothing to do. If
// one value is far from all others the plateau is wider; then smaller lambdas are tried
// until the criterion is clearly worse. It stays flat all the way if the rows hold no
// information about the term.
func (s *search) belowPlateau(p *point, j int, from, last float64) *point {
	const step, steps, flat, clearly, worse = 4.0, 25, 0.1, 1.0, 10.0
	if math.Abs(last-p.objective) >= flat {
		return nil
	}
	rho, ended := append([]float64(nil), p.rho...), false
	rho[j] = from
	for range steps {
		if last >= p.objective+worse {
			break
		}
		ended = ended || math.Abs(last-p.objective) >= flat
		rho[j] -= step
		if about, sure := s.notBetter(p, j, rho[j]); sure {
			last = about
			continue
		}
		last = s.eval(rho, false).objective
		if last < p.objective-clearly {
			if s.fewDigits() { // it may be rounding that is better
				s.lostDigits = true
				return nil
			}
			s.lo[j] = math.Min(s.lo[j], rho[j]-step)
			return s.withDerivatives(rho)
		}
	}
	s.lostDigits = s.lostDigits || ended && math.IsInf(last, 1)
	return nil
}

// withDerivatives is eval where the criterion exists; nil: it was stopped meanwhile.
func (s *search) withDerivatives(rho []float64) *point {
	q := s.eval(rho, true)
	if q.grad == nil {
		return nil
	}
	return q
}

// better tells whether q's criterion is less than p's by more than rounding.
func (s *search) better(q, p *point) bool {
	return q.objective < p.objective-s.gradTolerance(p)-s.noise(p)
}
