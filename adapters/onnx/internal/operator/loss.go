package operator

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// lossOps compare scores of classes with the classes that were seen.
func lossOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "NegativeLogLikelihoodLoss", Versions: []int{12, 13, 22}, Min: 2, Max: 3, Outputs: 1, Check: checkLoss},
			Rule: lossRule, Compile: compileLoss[T]},
		{Operator: graph.Operator{Name: "SoftmaxCrossEntropyLoss", Versions: []int{12, 13}, Min: 2, Max: 3, Outputs: 2, Check: checkLoss},
			Rule: lossRule, Compile: compileLoss[T]},
	}
}

// loss is -weight[class] score[class] of each place, places being all axes but the
// second, which is the classes'.
type loss struct {
	reduction string
	ignore    int64
	ignores   bool
	softmax   bool // scores are to be made logarithms of probabilities first
	places    int  // of one row
}

// Scratch: the logarithms of probabilities and the losses of a row.
func (l *loss) Scratch() int { return l.places }

func checkLoss(c *graph.Check) error {
	scores, target := c.Inputs[0], c.Inputs[1]
	if err := c.Floating(0); err != nil {
		return err
	}
	if err := positions(c, 1); err != nil {
		return err
	}
	d := scores.Shape
	if len(d) < 2 || !slices.Equal(target.Shape, slices.Concat(d[:1], d[2:])) {
		return fmt.Errorf("classes of shape %s for scores of shape %s", graph.ShapeText(target.Shape), graph.ShapeText(d))
	}
	if graph.IsRows(d[1]) {
		return fmt.Errorf("mixes rows: the batch axis 1 of %s is that of the classes", graph.ShapeText(d))
	}
	if c.Has(2) {
		if err := channel(c, 2, d[1]); err != nil {
			return err
		}
	}
	l := &loss{reduction: "mean", softmax: c.Op == "SoftmaxCrossEntropyLoss", places: scores.Width()}
	if a, ok := c.Attrs["reduction"]; ok {
		l.reduction = a.String
	}
	if a, ok := c.Attrs["ignore_index"]; ok {
		l.ignore, l.ignores = a.Int, true
	}
	shape := target.Shape
	switch l.reduction {
	case "none":
	case "sum", "mean":
		if scores.BatchAxis() >= 0 && len(c.Outputs) > 0 && c.Outputs[0] != nil {
			return fmt.Errorf("mixes rows: it is the %s over all rows; export it with reduction \"none\", or without the loss", l.reduction)
		}
		shape = []int{}
	default:
		return fmt.Errorf("reduction %q is none of none, sum and mean", l.reduction)
	}
	c.Resolved = l
	if err := c.Set(0, scores.Type, shape); err != nil {
		return err
	}
	return c.Set(1, scores.Type, d)
}

func compileLoss[T kernel.Float](n *graph.Node) Step[T] {
	l := n.Resolved.(*loss)
	return func(x *Exec[T]) error {
		scores, target, out := x.In[0], x.In[1].I, x.Out[0]
		classes, inner := scores.Shape[1], graph.Product(scores.Shape[2:])
		log := scores.F
		if l.softmax {
			if classes > 0 {
				work := softmaxWork(scores.Shape[0], classes, inner)
				buf := x.temp(work + len(scores.F))
				log = buf[work:]
				softmaxAll(log, scores.F, scores.Shape[0], classes, inner, true, buf[:work])
			}
			if len(x.Out) > 1 {
				copy(x.Out[1].F, log)
			}
		}
		var weights []T
		if len(x.In) > 2 {
			weights = x.In[2].F
		}
		sum, total := 0.0, 0.0
		for i, k := range target {
			value, weight := T(0), T(0)
			if !l.ignores || k != l.ignore {
				if k < 0 || k >= int64(classes) {
					return fmt.Errorf("class %d of %d", k, classes)
				}
				if weight = 1; weights != nil {
					weight = weights[k]
				}
				value = -log[i/inner*classes*inner+int(k)*inner+i%inner] * weight
			}
			if l.reduction == "none" && out.F != nil {
				out.F[i] = value
			}
			sum, total = sum+float64(value), total+float64(weight)
		}
		switch {
		case out.F == nil || l.reduction == "none":
		case l.reduction == "sum":
			out.F[0] = T(sum)
		default:
			out.F[0] = T(sum / total)
		}
		return nil
	}
}

// lossRule: a loss depends on its place's class and scores, and the class's weight.
func lossRule(n *graph.Node) Rule {
	l, ok := n.Resolved.(*loss)
	if !ok || l.reduction != "none" {
		return opaque(n)
	}
	d := n.Inputs[0].RowShape()
	classes, inner := d[1], graph.Product(d[2:])
	weighted := len(n.Inputs) > 2 && n.Inputs[2] != nil
	return Rule{Cost: 1 + 2*classes, Each: func(out, e int, yield Link) {
		if out == 1 { // the logarithms of probabilities
			e = e/(classes*inner)*inner + e%inner
		} else {
			yield(1, e, 1)
		}
		for k := range classes {
			yield(0, e/inner*classes*inner+k*inner+e%inner, 1)
			if out == 0 && weighted {
				yield(2, k, 1)
			}
		}
	}}
}
