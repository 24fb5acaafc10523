package penalty

import "math"

// Minimum is a minimum of the criterion.
type Minimum struct {
	Score float64   // as Fit.Score
	EDF   []float64 // effective degrees of freedom of each term there
}

const (
	// otherEDF is the difference in a term's effective degrees of freedom from which two
	// minima are not the same.
	otherEDF = 0.05
	// A search costs some hundred times q^3, and the rows some n q^2.
	cheapColumns, cheapRows = 100, 100
)

// startAgain searches from elsewhere: REML and ML can have minima that differ in several
// lambdas at once, of which otherMinimum looks along one each (Wood 2011, section 1). It
// returns the best of p and what it finds, with its search, and the best other one; nil: there
// is none, or looking for it would take longer than what made the moments.
func (s *search) startAgain(p *point, status Status, start []float64, fixed []bool, iterations int) (*search, *point, Status, *point) {
	cheap := s.schur == nil && !s.crossed && (s.q <= cheapColumns || s.n >= cheapRows*float64(s.q))
	if !cheap || len(s.free) == 0 || status != Converged && status != AtBound || s.kind != REML && s.kind != ML {
		return s, p, status, nil
	}
	best, other := s, (*point)(nil)
	for _, step := range [...]float64{-8, 5} { // of all log lambdas: from hardly penalised terms, and from nearly straight ones
		own := newSearch(s.criterion, s.tol, fixed)
		rho := append([]float64(nil), start...)
		for _, j := range s.free {
			rho[j] = min(max(own.lo[j], rho[j]+step), own.hi[j])
		}
		q, found, err := own.run(rho, iterations)
		if err != nil || found != Converged && found != AtBound || !s.differ(p, q) {
			continue
		}
		if own.better(q, p) {
			best, p, q, status = own, q, p, found
		}
		if other == nil || other.score > q.score {
			other = q
		}
	}
	return best, p, status, other
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
