package operator

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// binaryOps are functions of two broadcast tensors, some of any number.
func binaryOps[T kernel.Float]() []Entry[T] {
	least, most := func(x, y T) T { return min(x, y) }, func(x, y T) T { return max(x, y) }
	return []Entry[T]{
		sized(addSizes, is(graph.Affine|graph.Indexing|graph.Arithmetic|graph.Adding, arithmetic("Add", []int{7, 13, 14}, 2, 2, sumRule, kernel.Add[T], kernel.Add[int64]))),
		sized(subSizes, is(graph.Affine|graph.Indexing|graph.Arithmetic, arithmetic("Sub", []int{7, 13, 14}, 2, 2, subRule, kernel.Sub[T], kernel.Sub[int64]))),
		weighing(sized(mulSizes, is(graph.Affine|graph.Indexing|graph.Arithmetic, arithmetic("Mul", []int{7, 13, 14}, 2, 2, scaleRule, kernel.Mul[T], kernel.Mul[int64])))),
		weighing(sized(divSizes, is(graph.Indexing|graph.Arithmetic|graph.Undefined, arithmetic("Div", []int{7, 13, 14}, 2, 2, scaleRule, kernel.Div[T], nil)))),
		sized(extremeSizes(-1), is(graph.Indexing|graph.Arithmetic, arithmetic("Min", []int{6, 8, 12, 13}, 1, -1, elementwiseRule, lift(least), lift(func(x, y int64) int64 { return min(x, y) })))),
		sized(extremeSizes(1), is(graph.Indexing|graph.Arithmetic, arithmetic("Max", []int{6, 8, 12, 13}, 1, -1, elementwiseRule, lift(most), lift(func(x, y int64) int64 { return max(x, y) })))),
		is(graph.Arithmetic|graph.Adding, arithmetic("Sum", []int{6, 8, 13}, 1, -1, sumRule, kernel.Add[T], kernel.Add[int64])),
		is(graph.Arithmetic, arithmetic("Mean", []int{6, 8, 13}, 1, -1, meanRule, kernel.Add[T], nil)),
		arithmetic("PRelu", []int{7, 9, 16}, 2, 2, elementwiseRule, lift(func(x, a T) T {
			if x < 0 {
				return x * a
			}
			return x
		}), lift(func(x, a int64) int64 {
			if x < 0 {
				return x * a
			}
			return x
		})),
		modOp[T](),
		powOp[T](),
	}
}

func sized[T kernel.Float](f func(*graph.Check, []graph.Sizes) (*graph.Sizes, error), e Entry[T]) Entry[T] {
	e.Sizes = f
	return e
}

// weighing marks an operator that multiplies by weights: see Entry.Weighs.
func weighing[T kernel.Float](e Entry[T]) Entry[T] {
	e.Weighs = true
	return e
}

// sumRule: integers wrap around, so only floating sums are linear.
func sumRule(n *graph.Node) Rule { return weightedRule(n, 1) }

func subRule(n *graph.Node) Rule { return weightedRule(n, 1, -1) }

func meanRule(n *graph.Node) Rule { return weightedRule(n, 1/float64(len(n.Inputs))) }

// arithmetic is an operator on lo to hi inputs (hi < 0: any number) whose output has
// their type: f on floating types, g on integers; without g integers are Div's.
func arithmetic[T kernel.Float](name string, versions []int, lo, hi int, rule func(*graph.Node) Rule, f func(dst, a, b []T), g func(dst, a, b []int64)) Entry[T] {
	integers := g != nil || name == "Div"
	return Entry[T]{
		Operator: graph.Operator{Name: name, Is: graph.Broadcasting, Versions: versions, Min: lo, Max: hi, Outputs: 1, AnyLayout: true, Check: func(c *graph.Check) error { return checkArithmetic(c, integers) }},
		Rule:     rule,
		Compile: func(n *graph.Node) Step[T] {
			typ, floating, g := n.Outputs[0].Type, n.Outputs[0].Type.Floating(), g
			if typ == graph.Uint64 && g != nil {
				g = unsignedPairs(name, g)
			}
			quotient := quotientOf(typ)
			return func(x *Exec[T]) error {
				out, a := x.Out[0], x.In[0]
				if len(x.In) == 1 {
					copy(out.F, a.F)
					copy(out.I, a.I)
					return nil
				}
				for _, b := range x.In[1:] {
					switch {
					case floating:
						zip(out.F, out.Shape, a.F, a.Shape, b.F, b.Shape, f)
					case g != nil:
						zip(out.I, out.Shape, a.I, a.Shape, b.I, b.Shape, g)
					default:
						if err := divide(out, a, b, quotient); err != nil {
							return err
						}
					}
					a = out
				}
				typ.WrapAll(out.I)
				if name == "Mean" {
					for i := range out.F {
						out.F[i] /= T(len(x.In))
					}
				}
				return nil
			}
		},
		InPlace: true,
	}
}

// unsignedPairs is g, of the operator of that name, for numbers without a sign that may not
// be ones of int64. Sums, differences and products have the same bits.
func unsignedPairs(name string, g func(dst, a, b []int64)) func(dst, a, b []int64) {
	switch name {
	case "Min":
		return lift(func(x, y int64) int64 { return int64(min(uint64(x), uint64(y))) })
	case "Max":
		return lift(func(x, y int64) int64 { return int64(max(uint64(x), uint64(y))) })
	case "PRelu":
		return lift(func(x, _ int64) int64 { return x })
	}
	return g
}

// quotientOf divides integers of type t, cut off towards 0.
func quotientOf(t graph.DType) func(x, y int64) int64 {
	if t == graph.Uint64 {
		return func(x, y int64) int64 { return int64(uint64(x) / uint64(y)) }
	}
	return func(x, y int64) int64 { return x / y }
}

func checkArithmetic(c *graph.Check, integers bool) error {
	if err := c.SameType(); err != nil {
		return err
	}
	typ := c.Inputs[0].Type
	if !typ.Floating() && !(integers && typ.Integer()) {
		return fmt.Errorf("inputs of type %s are not supported", typ)
	}
	shape := c.Inputs[0].Shape
	for _, v := range c.Inputs[1:] {
		if v == nil {
			return errors.New("an input is left out")
		}
		var err error
		if shape, err = graph.Broadcast(shape, v.Shape); err != nil {
			return err
		}
	}
	if c.Op == "PRelu" && len(shape) != len(c.Inputs[0].Shape) {
		return fmt.Errorf("slope of shape %s does not fit input %s", graph.ShapeText(c.Inputs[1].Shape), graph.ShapeText(c.Inputs[0].Shape))
	}
	return c.Set(0, typ, shape)
}

// divide is f on integers, of which no divisor may be 0.
func divide[T kernel.Float](out, a, b Operand[T], f func(x, y int64) int64) error {
	if slices.Contains(b.I, 0) {
		return errors.New("integer division by zero")
	}
	zip(out.I, out.Shape, a.I, a.Shape, b.I, b.Shape, lift(f))
	return nil
}

// scaleRule is Mul by a constant or Div by one.
func scaleRule(n *graph.Node) Rule {
	r := elementwiseRule(n)
	if r.Each == nil || len(n.Inputs) != 2 || n.Inputs[0] == nil || n.Inputs[1] == nil || !n.Outputs[0].Type.Floating() {
		return r
	}
	by := 1
	if n.Op == "Mul" && n.Inputs[0].Const != nil {
		by = 0
	}
	c := n.Inputs[by].Const
	if c == nil {
		return r
	}
	at, _ := indices(n)
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
		w := c.At(at[by](e))
		if n.Op == "Div" {
			w = 1 / w
		}
		yield(1-by, at[1-by](e), w)
	}}
}
