package operator

import (
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// castOps convert between types. Numbers that entered the network are rounded to the
// narrower of two floating types; what it has computed keeps the engine's precision,
// whatever the declared type: no noise is added on purpose.
func castOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Cast", Texts: true, Versions: []int{6, 9, 13, 19, 21, 23, 24, 25, 28}, Min: 1, Max: 1, Outputs: 1, Check: checkCast, View: castView, Sizes: castSizes, Moves: castMoves},
			Rule: castRule, Compile: compileCast[T], Jumps: true},
		{Operator: graph.Operator{Name: "CastLike", Texts: true, Versions: []int{15, 19, 21, 23, 24, 25}, Min: 2, Max: 2, Outputs: 1, TypeInputs: []int{1}, Check: checkCastLike, View: castView, Moves: castMoves},
			Rule: castRule, Compile: compileCast[T], Jumps: true},
	}
}

func checkCast(c *graph.Check) error {
	to, err := graph.TypeOf(int32(c.AttrInt("to", 0)))
	if err != nil {
		return err
	}
	c.Resolved = &graph.Conversion{}
	return c.Set(0, to, c.Inputs[0].Shape)
}

func checkCastLike(c *graph.Check) error {
	c.Resolved = &graph.Conversion{}
	return c.Set(0, c.Inputs[1].Type, c.Inputs[0].Shape)
}

// castSizes: numbers of rows stay what they are among integers.
func castSizes(c *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
	t, err := graph.TypeOf(int32(c.AttrInt("to", 0)))
	if err != nil || t != graph.Int32 && t != graph.Int64 {
		return nil, err
	}
	out := in[0]
	out.Type = t
	return &out, nil
}

func castMoves(n *graph.Node, v *graph.Value) bool {
	return v.Type != graph.String && n.Inputs[0] == v && n.Outputs[0] != nil && n.Outputs[0].Type.Floating()
}

func castView(n *graph.Node) bool {
	from, to := n.Inputs[0].Type, n.Outputs[0].Type
	constant := n.Inputs[0].Const != nil
	return from == to || from.Floating() && to.Floating() && !(graph.Narrows(from, to) && (n.Rounds() || constant))
}

func castRule(n *graph.Node) Rule {
	if n.Outputs[0].Type.Floating() && n.Inputs[0].Type != graph.String && !n.Rounds() {
		return sameOrderRule(n)
	}
	return elementwiseRule(n)
}

func compileCast[T kernel.Float](n *graph.Node) Step[T] {
	from, to := n.Inputs[0].Type, n.Outputs[0].Type
	switch {
	case to == graph.String && from != graph.String:
		return writeNumbers[T](from)
	case from == graph.String && to != graph.String:
		return readNumbers[T](to)
	}
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0]
		switch {
		case from.Floating() && to.Floating():
			for i, v := range in.F {
				out.F[i] = T(to.Round(float64(v)))
			}
		case to.Floating():
			for i, v := range in.I {
				out.F[i] = T(to.Round(float64(v)))
			}
		case from.Floating():
			for i, v := range in.F {
				out.I[i] = castInt(from.Round(float64(v)), to)
			}
		default:
			for i, v := range in.I {
				out.I[i] = wrapInt(v, to)
			}
		}
		return nil
	}
}

// castInt truncates towards zero; values outside the type become its limits,
// NaN becomes 0 (the format leaves both open).
func castInt(v float64, to graph.DType) int64 {
	switch {
	case to == graph.Bool:
		if v != 0 {
			return 1
		}
		return 0
	case math.IsNaN(v):
		return 0
	case to == graph.Int32:
		return int64(min(max(v, math.MinInt32), math.MaxInt32))
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return int64(v)
}

func wrapInt(v int64, to graph.DType) int64 {
	switch {
	case to == graph.Bool && v != 0:
		return 1
	case to == graph.Int32:
		return int64(int32(v))
	}
	return v
}
