package family

import (
	"fmt"
	"math"
	"slices"
)

// Cox is the proportional hazards model: the hazard of a row at time t is lambda(t)
// exp(eta), with eta the logarithm of its hazard ratio (K = 1) and a baseline lambda that
// is constant in each of some intervals (piecewise exponential; Breslow 1974, Holford
// 1980). Responses are positive times, which may be right censored (see Censored).
//
// The zero value has no baseline yet (see Incomplete): Estimate finds one at given
// predictors, in intervals with about equally many events. Between models of the same
// rows differences of log-likelihoods with a baseline each (Exposure.LogLik) are those of
// Poisson regressions of the events in intervals, with the logarithm of the time spent
// there as offset; with a cut at every time of an event, and rows that are censored
// between two of them censored at the first, they are those of Cox's partial likelihood
// with Breslow's ties.
type Cox struct {
	Intervals int     // that Estimate chooses at most; 0: 20
	Baseline  *Hazard // nil: unknown
	censored  bool
}

const defaultIntervals = 20

// Name is "cox", or "cox(intervals=10)".
func (f Cox) Name() string {
	if f.Intervals == 0 {
		return "cox"
	}
	return fmt.Sprintf("cox(intervals=%d)", f.Intervals)
}

// Predictors is 1: the logarithm of the hazard ratio.
func (Cox) Predictors() int { return 1 }

// Link is the logarithm of the hazard ratio.
func (Cox) Link(int) Link { return Link{Name: "log hazard ratio", Of: HazardRatio} }

// Unknown is the baseline while there is none.
func (f Cox) Unknown() []string {
	if f.Baseline == nil {
		return []string{"baseline"}
	}
	return nil
}

// Check accepts the finite positive numbers.
func (f Cox) Check(y float64) error { return checkPositive(f.Name(), y) }

func (f Cox) censor() Family {
	f.censored = true
	return f
}

// Exposure has the intervals of the baseline and no rows; of one interval without a baseline.
func (f Cox) Exposure() *Exposure {
	var cuts []float64
	if f.Baseline != nil {
		cuts = f.Baseline.cuts
	}
	e, _ := NewExposure(cuts) // of a baseline that is right
	return e
}

// LogLik is w [log lambda(y) + eta - L(y) exp(eta)] with L the integral of the baseline
// from 0; without the first two terms for a censored row; phi is ignored.
func (f Cox) LogLik(y, w float64, eta []float64, _ float64) float64 {
	if len(eta) != 1 || !(w >= 0) || f.Baseline == nil {
		return math.NaN()
	}
	logRate, cumulative := f.Baseline.At(y)
	l := -times(cumulative, math.Exp(eta[0]))
	if !f.censored && !math.IsInf(l, -1) {
		l += logRate + eta[0]
	}
	return times(w, l)
}

// Deviance is 2w [L exp(eta) - 1 - log(L exp(eta))], or 2w L exp(eta) of a censored row:
// the squared deviance residual of Therneau, Grambsch and Fleming (1990), the baseline
// held.
func (f Cox) Deviance(y, w float64, eta []float64) float64 {
	if len(eta) != 1 || !(w >= 0) || f.Baseline == nil {
		return math.NaN()
	}
	_, cumulative := f.Baseline.At(y)
	if f.censored {
		return times(2*w, times(cumulative, math.Exp(eta[0])))
	}
	return times(2*w, exp1m(math.Log(cumulative)+eta[0]))
}

// HasDispersion is false.
func (Cox) HasDispersion() bool { return false }

// Mass is false: a density.
func (Cox) Mass() bool { return false }

// Mean is the expected time, the hazard of the last interval with events going on for
// ever; NaN without a baseline.
func (f Cox) Mean(eta []float64) float64 {
	if len(eta) != 1 || f.Baseline == nil {
		return math.NaN()
	}
	return f.Baseline.mean(eta[0])
}

// Score: w (1 - L exp(eta)), information w, 1 being the expected L exp(eta) of a time that
// is not censored; of a censored row -w L exp(eta) and w L exp(eta).
func (f Cox) Score(grad, info []float64, y, w float64, eta []float64, _ float64) {
	if f.Baseline == nil {
		grad[0] = math.NaN()
		return
	}
	_, cumulative := f.Baseline.At(y)
	expected := times(cumulative, math.Exp(eta[0]))
	grad[0] = times(w, 1-expected)
	own := w
	if f.censored {
		grad[0] = -times(w, expected)
		own = times(w, expected)
	}
	if info != nil {
		info[0] = own
	}
}

// Refit is f with the baseline at the predictors of s, in the intervals that it has.
func (f Cox) Refit(s Sample) (Differentiable, error) { return f.at(f.Exposure(), s) }

// at is f with the baseline of the rows of s, in the intervals of e, which has none.
func (f Cox) at(e *Exposure, s Sample) (Cox, error) {
	for i, y := range s.Y {
		e.Add(y, s.weight(i), s.Eta[i], s.event(i))
	}
	h, err := e.Hazard()
	if err != nil {
		return Cox{Intervals: f.Intervals}, err
	}
	f.Baseline = h
	return f, nil
}

func (f Cox) untrained() error {
	if f.Baseline != nil {
		return fmt.Errorf("family %s: the baseline is found by training: leave it out", f.Name())
	}
	return nil
}

// estimate cuts time at quantiles of the event times and takes the baseline there.
func (f Cox) estimate(s Sample) (Family, error) {
	m := f.Intervals
	if m == 0 {
		m = defaultIntervals
	}
	var times, weights []float64
	total := 0.0
	order := make([]int, len(s.Y))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case s.Y[a] < s.Y[b]:
			return -1
		case s.Y[a] > s.Y[b]:
			return 1
		}
		return 0
	})
	for _, i := range order {
		if s.event(i) && s.weight(i) > 0 {
			times, weights = append(times, s.Y[i]), append(weights, s.weight(i))
			total += s.weight(i)
		}
	}
	var cuts []float64
	sum, next := 0.0, 1
	for i, t := range times {
		sum += weights[i]
		if i+1 < len(times) && times[i+1] > t && sum >= total*float64(next)/float64(m) {
			cuts = append(cuts, t)
			for next < m && sum >= total*float64(next)/float64(m) {
				next++
			}
		}
	}
	e, err := NewExposure(cuts)
	if err != nil {
		return f, err
	}
	return f.at(e, s)
}
