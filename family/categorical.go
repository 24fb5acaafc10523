package family

import (
	"errors"
	"fmt"
	"math"
)

// Categorical has K classes with probabilities exp(eta_k)/sum_l exp(eta_l), the softmax of
// their predictors, which counts for nothing what all have in common. The response is the
// class's number, 0 to K-1. The zero value has no classes yet: networks are trained for it
// on those that the response has. With a reference class, whose predictor is 0, there are K-1
// predictors, of the other classes in their order. With the link identity the predictors are the
// probabilities themselves.
type Categorical struct {
	classes   int
	reference int // 1 + the class; 0: none
	identity  bool
}

// NewCategorical has that many classes, two at least; reference is the class whose predictor
// is 0, negative for none.
func NewCategorical(classes, reference int) (Categorical, error) {
	if classes < 2 || reference >= classes {
		return Categorical{}, fmt.Errorf("family categorical: %d classes with class %d as reference: two classes are the least, and the reference is one of them", classes, reference)
	}
	return Categorical{classes: classes, reference: max(reference, -1) + 1}, nil
}

// categoricalProbabilities has K classes whose probabilities are the predictors. categoricalProbabilities
// has K classes, with their probabilities as predictors. A row of a class with probability 0, which
// forests give to classes that they have not met, has the log-likelihood -Inf. Fewer than two classes are
// an error.
func categoricalProbabilities(classes int) (Categorical, error) {
	f, err := NewCategorical(classes, -1)
	f.identity = err == nil
	return f, err
}

// Name is "categorical", or "categorical(link=identity)".
func (f Categorical) Name() string {
	if f.identity {
		return "categorical(link=identity)"
	}
	return "categorical"
}

// Classes is the number of classes.
func (f Categorical) Classes() int { return f.classes }

// Predictors is the number of classes that are not the reference.
func (f Categorical) Predictors() int {
	if f.reference > 0 {
		return f.classes - 1
	}
	return f.classes
}

// Link is the multinomial logit; of two classes with one predictor the log odds; or the identity.
func (f Categorical) Link(int) Link {
	if f.identity {
		return Link{Name: "identity", Of: ClassProbability}
	}
	if f.Predictors() == 1 {
		return Link{Name: "logit", Of: ClassProbability}
	}
	return Link{Name: "multinomial logit", Of: ClassProbability}
}

// Traits: classes without an order.
func (Categorical) Traits() Traits { return Traits{Nominal: true} }

// untrained refuses classes, which are those of the response.
func (f Categorical) untrained() error {
	if f == (Categorical{}) {
		return nil
	}
	return errors.New("family categorical: its classes are those of the response: leave it at the zero value")
}

// Check accepts whole numbers from 0 to K-1.
func (f Categorical) Check(y float64) error {
	if y >= 0 && y < float64(f.classes) && y == math.Trunc(y) {
		return nil
	}
	return fmt.Errorf("family categorical: response %v is no class: they are the numbers 0 to %d", y, f.classes-1)
}

// LogLik is w log p of the class y; phi is ignored.
func (f Categorical) LogLik(y, w float64, eta []float64, _ float64) float64 {
	if len(eta) != f.Predictors() || !(w >= 0) {
		return math.NaN()
	}
	return 0 - times(w, f.surprise(int(y), eta))
}

// surprise is -log p of class c, log sum_k exp(eta_k - eta_c): all terms are positive, and that of
// c is 1.
func (f Categorical) surprise(c int, eta []float64) float64 {
	if f.identity {
		return -math.Log(max(0, eta[c]))
	}
	own, most := f.at(eta, c), math.Inf(-1)
	for k := range f.classes {
		if k != c {
			most = math.Max(most, f.at(eta, k))
		}
	}
	if math.IsInf(most, -1) && own > most || math.IsInf(own, 1) && own > most {
		return 0
	}
	sum := 0.0 // of the others, relative to the largest of them
	for k := range f.classes {
		if k != c {
			sum += math.Exp(f.at(eta, k) - most)
		}
	}
	return softplus(most - own + math.Log(sum))
}

// at is the predictor of class k, 0 of the reference.
func (f Categorical) at(eta []float64, k int) float64 {
	switch {
	case f.reference == 0 || k < f.reference-1:
		return eta[k]
	case k == f.reference-1:
		return 0
	}
	return eta[k-1]
}

// Deviance is -2w log p of the class y: the saturated model gives it the probability 1.
func (f Categorical) Deviance(y, w float64, eta []float64) float64 {
	if len(eta) != f.Predictors() || !(w >= 0) {
		return math.NaN()
	}
	return times(2*w, f.surprise(int(y), eta))
}

// HasDispersion is false.
func (Categorical) HasDispersion() bool { return false }

// Mass is true.
func (Categorical) Mass() bool { return true }

// Mean is NaN: numbers of classes have none. See Class.
func (Categorical) Mean([]float64) float64 { return math.NaN() }

// Place is the class y.
func (Categorical) Place(y float64) int { return int(y) }

// Class is the most probable class, the first of several.
func (f Categorical) Class(eta []float64) int {
	best := 0
	for k := range f.classes {
		if f.at(eta, k) > f.at(eta, best) {
			best = k
		}
	}
	return best
}

// Score of the predictors: w (1{y = k} - p_k), information w p_k (1 - p_k). Odds are taken
// relative to the most probable class, m: those of the others sum to (1 - p_m)/p_m, so that
// 1 - p_k keeps its digits.
func (f Categorical) Score(grad, info []float64, y, w float64, eta []float64, _ float64) {
	if f.identity { // w 1{y = k}/p_k, w/p_k
		for k, p := range eta {
			grad[k] = 0
			if k == int(y) {
				grad[k] = w / p
			}
			if info != nil {
				info[k] = w / p
			}
		}
		return
	}
	m, others := f.Class(eta), 0.0
	top := f.at(eta, m)
	for k := range f.classes {
		if k != m {
			others += math.Exp(f.at(eta, k) - top)
		}
	}
	at := 0
	for k := range f.classes {
		if k == f.reference-1 {
			continue
		}
		odds, rest := 1.0, others
		if k != m {
			odds = math.Exp(f.at(eta, k) - top)
			rest = 1 + others - odds
		}
		p, q := odds/(1+others), rest/(1+others)
		grad[at] = -w * p
		if k == int(y) {
			grad[at] = w * q
		}
		if info != nil {
			info[at] = w * p * q
		}
		at++
	}
}
