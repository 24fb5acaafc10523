package family

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Ordinal has ordered classes with cumulative logits: P(y <= level k) is logistic(c_k - eta)
// with one predictor and thresholds c_1 <= ... <= c_(K-1). The levels are numbers, of which
// only the order counts; where they decrease, it is P(y >= level k), and a larger predictor
// means a smaller response. The zero value does not know them yet (Estimate); until then
// LogLik, Deviance and Score give NaN.
type Ordinal struct {
	levels, cuts []float64
}

// NewOrdinal has these levels, increasing or decreasing, and one threshold fewer, not
// decreasing.
func NewOrdinal(levels, cuts []float64) (Ordinal, error) {
	for i, v := range levels {
		if math.IsNaN(v) || math.IsInf(v, 0) || i > 0 && (v == levels[i-1] || (v > levels[i-1]) != (levels[1] > levels[0])) {
			return Ordinal{}, fmt.Errorf("family ordinal: levels %g: they are finite and increase, or decrease", levels)
		}
	}
	if len(levels) < 2 || len(cuts) != len(levels)-1 || !slices.IsSorted(cuts) || slices.ContainsFunc(cuts, math.IsNaN) {
		return Ordinal{}, fmt.Errorf("family ordinal: %d levels with thresholds %g: there are two levels at least, and between any two a threshold that is no smaller than the one before", len(levels), cuts)
	}
	return Ordinal{slices.Clone(levels), slices.Clone(cuts)}, nil
}

// Name is "ordinal".
func (Ordinal) Name() string { return "ordinal" }

// Unknown is "the thresholds" until they have numbers.
func (f Ordinal) Unknown() []string {
	if f.Known() {
		return nil
	}
	return []string{"the thresholds"}
}

func (f Ordinal) estimate(s Sample) (Family, error) { return f.Refit(s) }

// Refit is EstimateOrdinal.
func (Ordinal) Refit(s Sample) (Differentiable, error) { return EstimateOrdinal(s.Y, s.W, s.Eta) }

func (f Ordinal) untrained() error {
	if f.Known() {
		return errors.New("family ordinal: levels and thresholds are found by training: leave it at the zero value")
	}
	return nil
}

// Known reports whether levels and thresholds are.
func (f Ordinal) Known() bool { return f.levels != nil }

// Levels are the responses that there are; nil: not known.
func (f Ordinal) Levels() []float64 { return slices.Clone(f.levels) }

// Thresholds are those between levels; nil: not known.
func (f Ordinal) Thresholds() []float64 { return slices.Clone(f.cuts) }

// Predictors is 1.
func (Ordinal) Predictors() int { return 1 }

// Link is the cumulative logit.
func (Ordinal) Link(int) Link { return Link{Name: "cumulative logit"} }

// Check accepts the levels; while they are not known, any finite number.
func (f Ordinal) Check(y float64) error {
	if _, ok := f.find(y); ok || !f.Known() && !math.IsNaN(y) && !math.IsInf(y, 0) {
		return nil
	}
	if !f.Known() {
		return fmt.Errorf("family ordinal: response %v is no number that others could be above", y)
	}
	return fmt.Errorf("family ordinal: response %v is none of the levels %.20g", y, f.levels)
}

// LogLik is w log P(y); phi is ignored.
func (f Ordinal) LogLik(y, w float64, eta []float64, _ float64) float64 {
	if len(eta) != 1 || !(w >= 0) || !f.Known() {
		return math.NaN()
	}
	a, b := f.around(f.Place(y), eta[0])
	return times(w, logBetween(a, b))
}

// around are the thresholds below and above class k, less eta.
func (f Ordinal) around(k int, eta float64) (a, b float64) {
	a, b = math.Inf(-1), math.Inf(1)
	if k > 0 {
		a = f.cuts[k-1] - eta
	}
	if k < len(f.cuts) {
		b = f.cuts[k] - eta
	}
	return a, b
}

// logBetween is log(logistic(b) - logistic(a)) for a <= b: the difference is
// (1 - exp(a-b)) logistic(b) logistic(-a), whose factors keep their digits.
func logBetween(a, b float64) float64 {
	return math.Log(-math.Expm1(a-b)) - softplus(-b) - softplus(a)
}

// Deviance is -2w log P(y): the saturated model gives y the probability 1.
func (f Ordinal) Deviance(y, w float64, eta []float64) float64 {
	return 0 - 2*f.LogLik(y, w, eta, 1)
}

// HasDispersion is false.
func (Ordinal) HasDispersion() bool { return false }

// Mass is true.
func (Ordinal) Mass() bool { return true }

// Mean is the mean of the levels.
func (f Ordinal) Mean(eta []float64) float64 {
	if len(eta) != 1 || !f.Known() {
		return math.NaN()
	}
	mean := 0.0
	for k, level := range f.levels {
		mean += level * math.Exp(logBetween(f.around(k, eta[0])))
	}
	return mean
}

// Classes is the number of levels.
func (f Ordinal) Classes() int { return len(f.levels) }

// Place is the number of the level y, from 0.
func (f Ordinal) Place(y float64) int {
	k, _ := f.find(y)
	return k
}

func (f Ordinal) find(y float64) (k int, ok bool) {
	if n := len(f.levels); n > 1 && f.levels[0] > f.levels[n-1] {
		return slices.BinarySearchFunc(f.levels, y, func(level, y float64) int { return cmp.Compare(y, level) })
	}
	return slices.BinarySearch(f.levels, y)
}

// Class is the number of the most probable level, the first of several.
func (f Ordinal) Class(eta []float64) int {
	best, most := 0, math.Inf(-1)
	for k := range f.levels {
		if p := logBetween(f.around(k, eta[0])); p > most {
			best, most = k, p
		}
	}
	return best
}

// Score of the predictor, thresholds held: w (logistic(a) - logistic(-b)) with a and b the
// thresholds around y less eta; the information is the expectation of its square.
func (f Ordinal) Score(grad, info []float64, y, w float64, eta []float64, _ float64) {
	if !f.Known() {
		grad[0] = math.NaN()
		return
	}
	slope := func(k int) float64 {
		a, b := f.around(k, eta[0])
		return logistic(a) - logistic(-b)
	}
	grad[0] = times(w, slope(f.Place(y)))
	if info == nil {
		return
	}
	info[0] = 0
	for k := range f.levels {
		s := slope(k)
		info[0] += w * math.Exp(logBetween(f.around(k, eta[0]))) * s * s
	}
}

// maxLevels bounds the classes of an Ordinal.
const maxLevels = 1000

// EstimateOrdinal finds the levels and, by maximum likelihood, the thresholds for responses
// y with weights w (nil: ones) at predictors eta, which stay as they are. The likelihood is
// concave in the thresholds (Pratt 1981), so Newton's method with step halving finds them.
//
// Errors: fewer than two levels among rows of positive weight, or more than 1000; what is
// not finite; no convergence.
func EstimateOrdinal(y, w, eta []float64) (Ordinal, error) {
	rows := rowsOf(y, w, eta)
	levels := slices.Compact(slices.Sorted(slices.Values(rows.y)))
	switch {
	case len(levels) < 2:
		return Ordinal{}, fmt.Errorf("family ordinal: the rows of positive weight have %d different responses: there are no thresholds to find between fewer than two", len(levels))
	case len(levels) > maxLevels:
		return Ordinal{}, fmt.Errorf("family ordinal: %d different responses are too many to be ordered classes (%d): round them, or take a family for numbers", len(levels), maxLevels)
	}
	f := Ordinal{levels, rows.start(levels)}
	step := make([]float64, len(f.cuts))
	last := rows.loglik(f)
	if math.IsNaN(last) || math.IsInf(last, 0) {
		return Ordinal{}, errors.New("family ordinal: the predictor is not finite in some row")
	}
	for range 200 {
		slope, promise := rows.newton(f, step)
		if slope <= 1e-13*(1+math.Abs(last)) {
			return f, nil
		}
		moved := Ordinal{levels, make([]float64, len(f.cuts))}
		improved := false
		for size := 1.0; size > 1e-10 && !improved; size /= 2 {
			for k := range f.cuts {
				moved.cuts[k] = f.cuts[k] + size*step[k]
			}
			if next := rows.loglik(moved); slices.IsSorted(moved.cuts) && next >= last {
				improved = next > last
				f, last = moved, next
				if !improved {
					return f, nil
				}
			}
		}
		if !improved {
			if promise <= 1e-8*(1+math.Abs(last)) { // rounding
				return f, nil
			}
			break
		}
	}
	return Ordinal{}, errors.New("family ordinal: the thresholds do not converge: is the predictor on the scale of log odds?")
}

// ordinalRows are rows of positive weight.
type ordinalRows struct{ y, w, eta []float64 }

func rowsOf(y, w, eta []float64) (r ordinalRows) {
	for i := range y {
		weight := 1.0
		if w != nil {
			weight = w[i]
		}
		if weight > 0 {
			r.y, r.w, r.eta = append(r.y, y[i]), append(r.w, weight), append(r.eta, eta[i])
		}
	}
	return r
}

// start are the thresholds that have the frequencies of the levels at the mean predictor.
func (r ordinalRows) start(levels []float64) []float64 {
	of, mean, sum := make([]float64, len(levels)), 0.0, 0.0
	for i, y := range r.y {
		k, _ := slices.BinarySearch(levels, y)
		of[k] += r.w[i]
		sum += r.w[i]
		mean += r.w[i] * r.eta[i]
	}
	cuts, below := make([]float64, len(levels)-1), 0.0
	for k := range cuts {
		below += of[k]
		cuts[k] = mean/sum + math.Log(below/(sum-below))
	}
	return cuts
}

func (r ordinalRows) loglik(f Ordinal) float64 {
	sum := 0.0
	for i, y := range r.y {
		sum += f.LogLik(y, r.w[i], r.eta[i:i+1], 1)
	}
	return sum
}

// newton sets the Newton step of the thresholds, by their tridiagonal Hessian, and returns the
// largest derivative and the gain that the step promises. With d = b - a
//
//	log P = log(1 - exp(-d)) + log logistic(b) + log logistic(-a).
func (r ordinalRows) newton(f Ordinal, step []float64) (slope, promise float64) {
	n := len(f.cuts)
	g, diag, off := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, y := range r.y {
		k, w := f.Place(y), r.w[i]
		a, b := f.around(k, r.eta[i])
		inner, curve := 0.0, 0.0 // derivatives of log(1 - exp(-d))
		if k > 0 && k < n {
			inner = 1 / math.Expm1(b-a)
			curve = inner * (1 + inner)
			off[k-1] -= w * curve
		}
		if k < n {
			g[k] += w * (inner + logistic(-b))
			diag[k] += w * (curve + logistic(b)*logistic(-b))
		}
		if k > 0 {
			g[k-1] -= w * (inner + logistic(a))
			diag[k-1] += w * (curve + logistic(a)*logistic(-a))
		}
	}
	step[0] = g[0]
	for k := 1; k < n; k++ { // elimination (Thomas)
		m := off[k-1] / diag[k-1]
		diag[k] -= m * off[k-1]
		step[k] = g[k] - m*step[k-1]
	}
	for k := n - 1; k >= 0; k-- {
		if k < n-1 {
			step[k] -= off[k] * step[k+1]
		}
		step[k] /= diag[k]
		slope = math.Max(slope, math.Abs(g[k]))
		promise += g[k] * step[k]
	}
	return slope, promise
}
