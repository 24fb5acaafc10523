package penalty

import "math"

// Minimum is a minimum of the criterion.
type Minimum struct {
	Score float64   // as Fit.Score
	EDF   []float64 // effective degrees of freedom of each term there
}

const (
	// lessPenalised is how much the log lambdas are lower where the search starts again.
	// Newton's method from the usual start ends in the smoother one of two minima.
	lessPenalised = 8.0
	// otherEDF is the difference in a term's effective degrees of freedom from which two
	// minima are not the same.
	otherEDF = 0.05
	// A search costs some hundred times q^3, and the rows some n q^2.
	cheapColumns, cheapRows = 100, 100
)

// secondStart searches once more, from where terms are hardly penalised: REML and ML can have
// two minima that differ in several lambdas at once, of which otherMinimum looks along one
// each (Wood 2011, section 1). It returns the better of p and what it finds, with its search,
// and the other one; nil: there is none, or looking for it would take longer than what
// made the moments.
func (s *search) secondStart(p *point, status Status, start []float64, fixed []bool, iterations int) (*search, *point, Status, *point) {
	cheap := s.schur == nil && (s.q <= cheapColumns || s.n >= cheapRows*float64(s.q))
	if !cheap || len(s.free) == 0 || status != Converged && status != AtBound || s.kind != REML && s.kind != ML {
		return s, p, status, nil
	}
	own := newSearch(s.criterion, s.tol, fixed)
	rho := append([]float64(nil), start...)
	for _, j := range s.free {
		rho[j] = math.Max(own.lo[j], rho[j]-lessPenalised)
	}
	q, found, err := own.run(rho, iterations)
	if err != nil || found != Converged && found != AtBound || !s.differ(p, q) {
		return s, p, status, nil
	}
	if own.better(q, p) {
		own.log = append(s.log, own.log...)
		return own, q, found, p
	}
	return s, p, status, q
}

// differ tells whether a parameter's penalties leave another number of degrees of freedom.
func (s *search) differ(p, q *point) bool {
	for _, j := range s.free {
		if math.Abs(s.edfLeft(p, j)-s.edfLeft(q, j)) > otherEDF {
			return true
		}
	}
	return false
}

// minimumAt is q, next to the fit at p.
func (f *Fit) minimumAt(problem *Problem, s *search, p, q *point) *Minimum {
	m := &Minimum{Score: q.score, EDF: append([]float64(nil), f.EDF...)}
	term := make([]int, 0, len(f.Lambda))
	for t := range problem.Terms {
		for range problem.Terms[t].S {
			term = append(term, t)
		}
	}
	for j := range s.penalties {
		m.EDF[term[s.penalties[j].index]] += p.spent[j] - q.spent[j]
	}
	return m
}
