package importance

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// classes adds up how often the network's most probable class is the row's, and how often
// each class is there.
type classes struct {
	w, right float64
	of       []float64 // by class; nil: of a family without classes
}

func (c *classes) add(f family.Classifier, y, w float64, eta []float64) {
	c.w += w
	c.of[f.Place(y)] += w
	if f.Class(eta) == f.Place(y) {
		c.right += w
	}
}

func (c *classes) merge(o classes) {
	c.w += o.w
	c.right += o.right
	floats.Add(c.of, o.of)
}

// nullDeviance is that of the classes' frequencies, -2 sum_k w_k log(w_k/w).
func (c *classes) nullDeviance() float64 {
	sum := 0.0
	for _, w := range c.of {
		if w > 0 {
			sum -= 2 * w * math.Log(w/c.w)
		}
	}
	return sum
}

// classPrediction is how well the network predicts a class. With one class in all rows
// there is no deviance to explain, and with a class of probability 0 it is infinite: then shares
// of right classes are compared.
func (v *Visitor) classPrediction() *decompose.Prediction {
	c := &v.total.classes
	out := &decompose.Prediction{Accuracy: finite(c.right / c.w), Frequent: finite(maximum(c.of) / c.w)}
	if null := c.nullDeviance(); null > 0 && v.result.Offset == "" {
		out.DevianceExplained = finite(1 - v.total.full.deviance/null)
		out.Worse = !(v.total.full.deviance <= null)
		if math.IsInf(v.total.full.deviance, 1) {
			out.Worse = !(c.right >= maximum(c.of))
		}
	}
	return out
}

func maximum(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		most = math.Max(most, v)
	}
	return most
}
