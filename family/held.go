package family

import (
	"fmt"
	"math"
	"strings"
)

// Shaped is a family whose predictors after the first are shape parameters, which may as
// well be numbers: NegativeBinomial, Beta, StudentT, ZIP, AFT. They are positive and on the
// logarithmic scale, but for a probability (pi of ZIP), which is on that of its log odds.
type Shaped interface {
	Differentiable
	// Parameters names the predictors.
	Parameters() []string
	// Start is the intercept-only model by moments: predictors (link scale) at
	// which the distribution has this mean and variance, shapes within sane bounds.
	Start(mean, variance float64) []float64
	// deviance is twice the log-likelihood that a row falls short of its largest
	// over the first predictor.
	deviance(y float64, eta []float64) float64
}

// Held is a family whose last parameters are numbers and not predictors. A number may be
// unknown until it is estimated (Estimate, or training); until then LogLik, Deviance and
// Score give NaN. Parameters with unknown numbers come before those with known ones.
// Training takes an unknown number as a predictor of an intercept alone, so that it needs no code
// of its own in checkpoints, the best epoch and gradients; a decomposition estimates it in a pass
// of its own.
type Held struct {
	of            Shaped
	held, unknown int
	values        [2]float64 // the held ones on their predictors' scale, in order; 0 for the unknown
}

// Hold makes the last len(values) parameters of f numbers (response scale: theta of a
// NegativeBinomial, phi of a Beta, df or sigma and df of a StudentT, pi of a ZIP, sigma of
// an AFT). NaN: unknown.
//
// Errors: no values or as many as there are predictors; one that is not positive, or a
// probability that is not below 1; an unknown one after a known one.
func Hold(f Shaped, values ...float64) (Held, error) {
	h := Held{of: f, held: len(values)}
	if h.held < 1 || h.held > len(h.values) || h.held >= f.Predictors() {
		return Held{}, fmt.Errorf("family %s has %d parameters, of which %d cannot be held: hold 1 to %d", f.Name(), f.Predictors(), len(values), f.Predictors()-1)
	}
	for i, v := range values {
		name := f.Parameters()[f.Predictors()-h.held+i]
		switch {
		case math.IsNaN(v):
			if i > h.unknown {
				return Held{}, fmt.Errorf("family %s: %s is unknown while parameters before it are given: give %[2]s too", f.Name(), name)
			}
			h.unknown++
			continue
		case !(v > 0) || math.IsInf(v, 1):
			return Held{}, fmt.Errorf("family %s: %s is %g: it is a positive number", f.Name(), name, v)
		case name == proportion && !(v < 1):
			return Held{}, fmt.Errorf("family %s: %s is %g: it is a number between 0 and 1", f.Name(), name, v)
		}
		h.values[i] = math.Log(v)
		if name == proportion {
			h.values[i] = logit(v)
		}
	}
	return h, nil
}

// Name is that of the family with its known numbers, as Parse takes it:
// "student-t(df=4)". Numbers are rounded to six digits.
func (h Held) Name() string {
	var known []string
	for i := h.unknown; i < h.held; i++ {
		name, v := h.of.Parameters()[h.Predictors()+i], math.Exp(h.values[i])
		if name == proportion {
			v = logistic(h.values[i])
		}
		known = append(known, fmt.Sprintf("%s=%.6g", name, v))
	}
	if known == nil {
		return h.of.Name()
	}
	return h.of.Name() + "(" + strings.Join(known, ",") + ")"
}

// proportion is the name of a parameter that is a probability.
const proportion = "pi"

// Of is the family whose parameters are all predictors.
func (h Held) Of() Shaped { return h.of }

// Predictors is how many parameters are not held.
func (h Held) Predictors() int { return h.of.Predictors() - h.held }

// Parameters names the predictors.
func (h Held) Parameters() []string { return h.of.Parameters()[:h.Predictors()] }

// Unknown names the held parameters that have no number yet; nil: none.
func (h Held) Unknown() []string {
	if h.unknown == 0 {
		return nil
	}
	k := h.Predictors()
	return h.of.Parameters()[k : k+h.unknown]
}

// Link is that of the family.
func (h Held) Link(k int) Link { return h.of.Link(k) }

// Free is the family in which the unknown parameters are further predictors.
func (h Held) Free() Shaped {
	if h.unknown == h.held {
		return h.of
	}
	f := Held{of: h.of, held: h.held - h.unknown}
	copy(f.values[:], h.values[h.unknown:h.held])
	return f
}

// With gives the unknown parameters their numbers: logs are their logarithms (the log odds
// of a probability), the last predictors of Free.
func (h Held) With(logs []float64) Held {
	copy(h.values[:h.unknown], logs)
	h.unknown = 0
	return h
}

// all is the predictors of the whole family: eta, and behind it the numbers.
func (h Held) all(dst *[3]float64, eta []float64) []float64 {
	n := copy(dst[:], eta)
	for i := range h.unknown {
		dst[n+i] = math.NaN()
	}
	return dst[:n+h.unknown+copy(dst[n+h.unknown:], h.values[h.unknown:h.held])]
}

// Check is that of the family.
func (h Held) Check(y float64) error { return h.of.Check(y) }

// LogLik is that of the family at predictors and numbers.
func (h Held) LogLik(y, w float64, eta []float64, phi float64) float64 {
	if len(eta) != h.Predictors() {
		return math.NaN()
	}
	var buf [3]float64
	return h.of.LogLik(y, w, h.all(&buf, eta), phi)
}

// Deviance is 2w times the log-likelihood that the row falls short of the largest
// that its predictor can give it while the numbers stay. Beta has that largest one at
// a mean near y, an AFT at the predictor log y, the other families at the mean y. NaN with more than one predictor.
func (h Held) Deviance(y, w float64, eta []float64) float64 {
	if len(eta) != 1 || h.Predictors() != 1 || !(w >= 0) || h.Unknown() != nil {
		return math.NaN()
	}
	var buf [3]float64
	return times(w, h.of.deviance(y, h.all(&buf, eta)))
}

func (h Held) deviance(y float64, eta []float64) float64 {
	var buf [3]float64
	return h.of.deviance(y, h.all(&buf, eta))
}

// HasDispersion is false: the numbers are the family's own.
func (h Held) HasDispersion() bool { return false }

// Mass is that of the family.
func (h Held) Mass() bool { return h.of.Mass() }

// Traits are those of the family, but for units: a given scale is in the response's own.
func (h Held) Traits() Traits {
	t := TraitsOf(h.of)
	t.Affine = t.Affine && h.Predictors() == 1
	t.Units = t.Units && h.Predictors() > 1
	return t
}

// Mean is that of the family.
func (h Held) Mean(eta []float64) float64 {
	if len(eta) != h.Predictors() {
		return math.NaN()
	}
	var buf [3]float64
	return h.of.Mean(h.all(&buf, eta))
}

// Score is that of the family in the predictors.
func (h Held) Score(grad, info []float64, y, w float64, eta []float64, phi float64) {
	var buf, g, i [3]float64
	k := h.of.Predictors()
	expected := i[:k]
	if info == nil {
		expected = nil
	}
	h.of.Score(g[:k], expected, y, w, h.all(&buf, eta), phi)
	copy(grad[:h.Predictors()], g[:])
	if info != nil {
		copy(info[:h.Predictors()], i[:])
	}
}

// Start is that of the family, without the numbers.
func (h Held) Start(mean, variance float64) []float64 {
	return h.of.Start(mean, variance)[:h.Predictors()]
}
