package family

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Hazard is a hazard that is constant in intervals. It is immutable.
type Hazard struct {
	cuts       []float64 // where intervals end, the last being unbounded
	logRate    []float64
	cumulative []float64 // the integral up to the beginning of an interval
}

// Cuts are where the intervals end, all but the last, in order: an interval holds the
// time at which it ends. A copy.
func (h *Hazard) Cuts() []float64 { return slices.Clone(h.cuts) }

// Rates are the hazards of the len(Cuts)+1 intervals. A copy.
func (h *Hazard) Rates() []float64 {
	r := make([]float64, len(h.logRate))
	for j, l := range h.logRate {
		r[j] = math.Exp(l)
	}
	return r
}

// At is the logarithm of the hazard at a time t > 0, and its integral from 0 to t.
func (h *Hazard) At(t float64) (logRate, cumulative float64) {
	j := intervalOf(h.cuts, t)
	return h.logRate[j], h.cumulative[j] + times(math.Exp(h.logRate[j]), t-startOf(h.cuts, j))
}

// mean is the integral of exp(-L(t) exp(eta)) over all t, the last hazard that is not 0
// going on.
func (h *Hazard) mean(eta float64) float64 {
	sum, last := 0.0, len(h.logRate)-1
	for last > 0 && math.IsInf(h.logRate[last], -1) {
		last--
	}
	for j := range last + 1 {
		alive := math.Exp(-times(h.cumulative[j], math.Exp(eta)))
		rate := math.Exp(h.logRate[j] + eta)
		switch {
		case alive == 0:
		case j == last:
			sum += alive / rate
		case rate == 0:
			sum += alive * (h.cuts[j] - startOf(h.cuts, j))
		default:
			sum += alive * -math.Expm1(-rate*(h.cuts[j]-startOf(h.cuts, j))) / rate
		}
	}
	return sum
}

// intervalOf is the place of the interval that holds t.
func intervalOf(cuts []float64, t float64) int { return sort.SearchFloat64s(cuts, t) }

func startOf(cuts []float64, j int) float64 {
	if j == 0 {
		return 0
	}
	return cuts[j-1]
}

// Exposure adds up what the baseline of a proportional hazards model, and its
// log-likelihood, need of rows: two numbers and the events of every interval. Sums of
// parts of the rows merge to those of all, also in another process (MarshalBinary). It is
// not safe for concurrent use.
// A baseline is refitted for every set of terms: it is not the network's, and held fixed it would
// charge a feature for the level that it leaves behind.
type Exposure struct {
	cuts          []float64
	events        []float64 // sum of w of events in the interval
	ended, within []float64 // of rows that end in it: sum of w exp(eta), and of that times the time spent in it
	eta           float64   // sum of w eta of events
}

// NewExposure has the intervals (0, cuts[0]], (cuts[0], cuts[1]], ... and an unbounded
// last one; no cuts: one interval, the exponential model. Cuts that are not positive,
// finite and in ascending order are an error.
func NewExposure(cuts []float64) (*Exposure, error) {
	for j, c := range cuts {
		if !(c > startOf(cuts, j)) || math.IsInf(c, 1) {
			return nil, fmt.Errorf("family cox: cut %d of the time axis is %v: cuts are finite numbers > 0 in ascending order", j+1, c)
		}
	}
	m := len(cuts) + 1
	return &Exposure{cuts: slices.Clone(cuts), events: make([]float64, m), ended: make([]float64, m), within: make([]float64, m)}, nil
}

// Add adds a row of weight w, time y > 0 and predictor eta, offset included.
func (e *Exposure) Add(y, w, eta float64, event bool) {
	if w == 0 {
		return
	}
	j := intervalOf(e.cuts, y)
	risk := w * math.Exp(eta)
	e.ended[j] += risk
	e.within[j] += risk * (y - startOf(e.cuts, j))
	if event {
		e.events[j] += w
		e.eta += w * eta
	}
}

// Merge adds what o holds. Other intervals are an error.
func (e *Exposure) Merge(o *Exposure) error {
	if !slices.Equal(e.cuts, o.cuts) {
		return fmt.Errorf("family cox: sums over intervals that end at %.4g and at %.4g do not add up", e.cuts, o.cuts)
	}
	for j := range e.events {
		e.events[j] += o.events[j]
		e.ended[j] += o.ended[j]
		e.within[j] += o.within[j]
	}
	e.eta += o.eta
	return nil
}

// New has the same intervals and no rows.
func (e *Exposure) New() *Exposure {
	n, _ := NewExposure(e.cuts) // which were checked
	return n
}

// times are the sums of w exp(eta) times the time that rows spent in each interval.
func (e *Exposure) times() []float64 {
	t := make([]float64, len(e.events))
	later := 0.0
	for j := len(t) - 1; j >= 0; j-- {
		t[j] = e.within[j]
		if j < len(e.cuts) {
			t[j] += times(later, e.cuts[j]-startOf(e.cuts, j))
		}
		later += e.ended[j]
	}
	return t
}

// Hazard is the baseline of largest likelihood, events over exposure in each interval: 0
// in one without events. No events at all, and exposures that are not finite, are errors.
func (e *Exposure) Hazard() (*Hazard, error) {
	h := &Hazard{cuts: e.cuts, logRate: make([]float64, len(e.events)), cumulative: make([]float64, len(e.events))}
	sum, all := 0.0, 0.0
	for j, t := range e.times() {
		if t-t != 0 {
			return nil, fmt.Errorf("family cox: hazard ratios add up to %v in the time up to %v: the predictor is too large for them", t, sum)
		}
		h.cumulative[j] = sum
		h.logRate[j] = math.Inf(-1)
		if e.events[j] > 0 {
			h.logRate[j] = math.Log(e.events[j]) - math.Log(t)
		}
		if j < len(e.cuts) {
			sum += times(math.Exp(h.logRate[j]), e.cuts[j]-startOf(e.cuts, j))
		}
		all += e.events[j]
	}
	if all == 0 {
		return nil, fmt.Errorf("family cox: no row of positive weight has an event, so nothing tells the baseline")
	}
	return h, nil
}

// LogLik is the log-likelihood with that baseline: sum over events of w eta, and over
// intervals d log(d/T) - d, d being the events and T the exposure.
func (e *Exposure) LogLik() float64 {
	l := e.eta
	for j, t := range e.times() {
		if d := e.events[j]; d > 0 {
			l += d*(math.Log(d)-math.Log(t)) - d
		}
	}
	return l
}
