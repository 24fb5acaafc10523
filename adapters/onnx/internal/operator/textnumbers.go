package operator

import (
	"errors"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// textNumbers is the name of the operator that turns texts into numbers by a function that no file holds: Give names it.
const textNumbers = "TextNumbers"

// TextNumbers is the key of its nodes.
const TextNumbers = partDomain + "." + textNumbers

func textNumberOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Domain: partDomain, Name: textNumbers, Texts: true, Versions: []int{1}, Min: 1, Max: 1, Outputs: 1, Check: func(*graph.Check) error {
			return errors.New("takes a function of the program, which a file cannot hold")
		}}, Rule: elementwiseRule, Compile: compileTextNumbers[T], Missing: mayBeNaN},
	}
}

func (t Table[T]) giveTexts(functions map[string]func(string) float64) {
	e := *t[TextNumbers]
	refuse := e.Check
	e.Check = func(c *graph.Check) error {
		f := functions[c.Name]
		if f == nil {
			return refuse(c)
		}
		if err := ofText(c); err != nil {
			return err
		}
		c.Resolved = f
		return c.Set(0, graph.Float64, c.Inputs[0].Shape)
	}
	t[e.Key()] = &e
}

// mayBeNaN: the function may give any text no number.
func mayBeNaN(*graph.Node, *graph.Value) bool { return true }

func compileTextNumbers[T kernel.Float](n *graph.Node) Step[T] {
	of := n.Resolved.(func(string) float64)
	return func(x *Exec[T]) error {
		for i, k := range x.In[0].I {
			x.Out[0].F[i] = T(of(x.Texts.Text(k)))
		}
		return nil
	}
}
