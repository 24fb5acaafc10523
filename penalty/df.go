package penalty

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	dfTolerance = 1e-9 // of degrees of freedom, relative
	dfEdge      = 1e-6 // a target this close to an end of its range is that end
	dfRounds    = 30   // of choosing the other lambdas and reaching the targets again
)

// target is a term that is to have given degrees of freedom. Its free lambdas
// move together: rho_i = start_i + tau.
type target struct {
	name           string
	component      int
	df             float64
	params         []int
	start          []float64
	tau            float64
	minEDF, maxEDF float64 // degrees of freedom, whatever the lambdas
	minTau, maxTau float64 // of tau
	atEnd          bool    // at an end
}

// targets finds the terms with targets and takes their lambdas out of those
// that are free.
func (s *search) targets(p *Problem, fixed []bool) ([]*target, error) {
	var all []*target
	owner := make(map[int]string)
	for number, t := range p.Terms {
		if t.DF == 0 {
			continue
		}
		a := &target{name: t.Name, component: number, df: t.DF}
		for i := t.Start; i < t.Start+t.Dim; i++ {
			a.maxEDF += s.kept[i]
		}
		a.minEDF = a.maxEDF
		last := -1
		for j, i := range s.set {
			pen := &s.penalties[j]
			if pen.component != number {
				continue
			}
			if pen.block != last {
				a.minEDF -= float64(s.blocks[pen.block].dim)
				last = pen.block
			}
			if fixed[pen.index] || contains(a.params, i) {
				continue
			}
			if other, ok := owner[i]; ok {
				return nil, fmt.Errorf("penalty: terms %q and %q are linked, so only one of them can be given its degrees of freedom", other, t.Name)
			}
			owner[i] = t.Name
			a.params, a.start = append(a.params, i), append(a.start, s.start[i])
			a.maxTau = math.Max(a.maxTau, s.hi[i]-s.start[i])
		}
		a.minTau = math.Log(1e-11)
		if len(a.params) == 0 {
			return nil, fmt.Errorf("penalty: term %q: %g degrees of freedom are asked for, but it has no smoothing parameter to choose: leave the target or its sp out", t.Name, t.DF)
		}
		if edge := dfEdge * (1 + t.DF); t.DF < a.minEDF-edge || t.DF > a.maxEDF+edge {
			return nil, a.unreachable(a.minEDF, a.maxEDF, "")
		}
		switch {
		case t.DF-a.minEDF < dfEdge:
			a.tau, a.atEnd = a.maxTau, true
		case a.maxEDF-t.DF < dfEdge:
			a.tau, a.atEnd = a.minTau, true
		}
		all = append(all, a)
	}
	var free []int
	for _, i := range s.free {
		if _, ok := owner[i]; !ok {
			free = append(free, i)
		}
	}
	s.free = free
	return all, nil
}

func contains(list []int, x int) bool {
	for _, v := range list {
		if v == x {
			return true
		}
	}
	return false
}

func (a *target) unreachable(least, most float64, why string) error {
	return fmt.Errorf("penalty: term %q: %g degrees of freedom cannot be had: it has at least %.6g (what is not penalised) and at most %.6g%s; ask for a number between", a.name, a.df, least, most, why)
}

func (a *target) set(rho []float64) {
	for l, i := range a.params {
		rho[i] = a.start[l] + a.tau
	}
}

// reach changes the entries of rho that belong to targets so that the terms have
// their degrees of freedom, the others given. Newton's method on the log odds of
// edf in its range, nearly linear in tau, with bisection where it fails.
func (s *search) reach(rho []float64, targets []*target) error {
	var moving []*target
	for _, a := range targets {
		a.set(rho)
		if !a.atEnd {
			moving = append(moving, a)
		}
	}
	if len(moving) == 0 {
		return nil
	}
	m := len(moving)
	at, slope, ok := s.freedom(rho, moving)
	if !ok {
		return errSingular
	}
	for range 100 {
		if worst(moving, at) <= dfTolerance {
			return nil
		}
		before, tau := distance(moving, at), make([]float64, m)
		jacobian, right := mat.NewDense(m, m, nil), mat.NewVecDense(m, nil)
		for r, a := range moving {
			tau[r] = a.tau
			right.SetVec(r, -a.logOdds(at[r]))
			for c := range m {
				jacobian.Set(r, c, slope.At(r, c)*(1/(at[r]-a.minEDF)+1/(a.maxEDF-at[r])))
			}
		}
		var step mat.VecDense
		improved := false
		if err := step.SolveVec(jacobian, right); err == nil && finite(mat.Sum(&step)) {
			for f := 1.0; f > 1e-3 && !improved; f /= 2 {
				for r, a := range moving {
					a.tau = math.Max(a.minTau, math.Min(a.maxTau, tau[r]+f*math.Max(-maxStep, math.Min(maxStep, step.AtVec(r)))))
					a.set(rho)
				}
				next, nextSlope, ok := s.freedom(rho, moving)
				if ok && distance(moving, next) < before {
					at, slope, improved = next, nextSlope, true
				}
			}
		}
		if improved {
			continue
		}
		for r, a := range moving {
			a.tau = tau[r]
			a.set(rho)
		}
		if worst(moving, at) <= 1e3*dfTolerance {
			return nil // rounding
		}
		if err := s.bisect(rho, moving); err != nil {
			return err
		}
		next, nextSlope, ok := s.freedom(rho, moving)
		if !ok {
			return errSingular
		}
		if distance(moving, next) >= before {
			break
		}
		at, slope = next, nextSlope
	}
	for r, a := range moving {
		if math.Abs(at[r]-a.df) > dfEdge*a.df {
			return fmt.Errorf("penalty: term %q: %g degrees of freedom could not be reached next to the other terms: the nearest is %.6g", a.name, a.df, at[r])
		}
	}
	return nil
}

// bisect reaches each target in turn, the others as they are.
func (s *search) bisect(rho []float64, moving []*target) error {
	for r, a := range moving {
		value := func(tau float64) (float64, error) {
			a.tau = tau
			a.set(rho)
			at, _, ok := s.freedom(rho, moving)
			if !ok {
				return 0, errSingular
			}
			return at[r], nil
		}
		lo, hi := a.minTau, a.maxTau // edf falls with tau
		most, err := value(lo)
		if err != nil {
			return err
		}
		least, err := value(hi)
		if err != nil {
			return err
		}
		if a.df > most+dfEdge*a.df || a.df < least-dfEdge*a.df {
			return a.unreachable(least, most, " next to the other terms")
		}
		for range 60 {
			mid := (lo + hi) / 2
			v, err := value(mid)
			if err != nil {
				return err
			}
			if v > a.df {
				lo = mid
			} else {
				hi = mid
			}
		}
	}
	return nil
}

// logOdds is the log odds of edf in its range less those of the target.
func (a *target) logOdds(edf float64) float64 {
	return math.Log((edf-a.minEDF)/(a.maxEDF-edf)) - math.Log((a.df-a.minEDF)/(a.maxEDF-a.df))
}

// worst is the largest relative distance from a target.
func worst(moving []*target, at []float64) float64 {
	w := 0.0
	for r, a := range moving {
		w = math.Max(w, math.Abs(at[r]-a.df)/a.df)
	}
	return w
}

// distance is what reach makes smaller.
func distance(moving []*target, at []float64) float64 {
	sum := 0.0
	for r, a := range moving {
		sum += a.logOdds(at[r]) * a.logOdds(at[r])
	}
	return sum
}

// freedom is the edf of each target's term at rho and its derivatives in all
// taus: with t_j and M_jl as elsewhere, dt_j/drho_l = delta_jl t_j - |M_jl|^2.
// edf is kept off the ends of its range, where rounding may put it.
func (s *search) freedom(rho []float64, moving []*target) (at []float64, slope *mat.Dense, ok bool) {
	if !s.solveAll(rho) {
		return nil, nil, false
	}
	s.invertAll(s.perPenalty(rho))
	m := len(moving)
	at, slope = make([]float64, m), mat.NewDense(m, m, nil)
	for r, a := range moving {
		at[r] = a.maxEDF
		for j := range s.penalties {
			pen := &s.penalties[j]
			if pen.component != a.component {
				continue
			}
			spent := s.spentBy(j)
			at[r] -= spent
			for c, b := range moving {
				for l, i := range s.set {
					if !contains(b.params, i) {
						continue
					}
					d := s.traceProduct(j, l)
					if j == l {
						d -= spent
					}
					slope.Set(r, c, slope.At(r, c)+d)
				}
			}
		}
		gap := 1e-10 * (a.maxEDF - a.minEDF)
		at[r] = math.Max(a.minEDF+gap, math.Min(a.maxEDF-gap, at[r]))
	}
	return at, slope, true
}

// runWithTargets chooses the free lambdas by the criterion and those of targets
// by their degrees of freedom, in turn until neither moves.
func (s *search) runWithTargets(start []float64, iterations int, targets []*target) (*point, Status, error) {
	best, status, err := s.run(start, iterations)
	for round := range dfRounds {
		if err != nil || len(targets) == 0 {
			return best, status, err
		}
		for _, a := range targets {
			if a.atEnd && status == Converged {
				status = AtBound
			}
		}
		if len(s.free) == 0 {
			return best, status, nil
		}
		rho := append([]float64(nil), best.rho...)
		if err := s.reach(rho, targets); err != nil {
			return nil, 0, err
		}
		moved := 0.0
		for i := range rho {
			moved = math.Max(moved, math.Abs(rho[i]-best.rho[i]))
		}
		if moved < 1e-7 {
			return best, status, nil
		}
		if round == dfRounds-1 { // the targets are kept
			if best = s.eval(rho, true); !finite(best.objective) {
				return nil, 0, errSingular
			}
			return best, IterationLimit, nil
		}
		if round < 2 { // later, jumps between two minima would have no end
			clear(s.triedInfinity)
			clear(s.triedFinite)
		}
		best, status, err = s.run(rho, iterations)
	}
	return best, status, err
}
