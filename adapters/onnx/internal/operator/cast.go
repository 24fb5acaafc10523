package operator

import (
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// castOps convert between types, and round to the narrower of two floating types.
func castOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "Cast", Is: graph.Pointwise | graph.Reshaping | graph.Affine | graph.Indexing | graph.Sizing, Texts: true, Versions: []int{6, 9, 13, 19, 21, 23, 24, 25, 28}, Min: 1, Max: 1, Outputs: 1, AnyLayout: true, Check: checkCast, View: castView, Sizes: castSizes, Moves: castMoves},
			Rule: castRule, Compile: compileCast[T], Jumps: true},
		{Operator: graph.Operator{Name: "CastLike", Is: graph.Pointwise, Texts: true, Versions: []int{15, 19, 21, 23, 24, 25}, Min: 2, Max: 2, Outputs: 1, TypeInputs: []int{1}, AnyLayout: true, Check: checkCastLike, View: castView, Sizes: castLikeSizes, Moves: castMoves},
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
	if err != nil {
		return nil, err
	}
	return sizesAs(t, in[0]), nil
}

func castLikeSizes(c *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
	return sizesAs(c.Inputs[1].Type, in[0]), nil
}

// sizesAs gives sizes another type, but none that they could wrap in.
func sizesAs(t graph.DType, s graph.Sizes) *graph.Sizes {
	if t != graph.Int32 && t != graph.Int64 {
		return nil
	}
	s.Type = t
	return &s
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

// truncate casts numbers of type from to integers or truth values of type to.
func truncate[T kernel.Float](dst []int64, src []T, from, to graph.DType) {
	fits := (to == graph.Int64 || to == graph.Int32) && (from == graph.Float32 || from == graph.Float64)
	_, single := any(src).([]float32)
	as := fits && (single || from == graph.Float64) // as they are, without a detour by float64
	for i, v := range src {
		if as && v > -1<<31 && v < 1<<31 {
			dst[i] = int64(v)
			continue
		}
		x := float64(v)
		if from == graph.Float32 {
			x = float64(float32(v))
		}
		if fits && x > math.MinInt32 && x < math.MaxInt32 { // codes, mostly
			dst[i] = int64(x)
			continue
		}
		dst[i] = to.Truncated(from.Round(x))
	}
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
				out.F[i] = T(to.Round(from.Number(v)))
			}
		case from.Floating():
			truncate(out.I, in.F, from, to)
		default:
			for i, v := range in.I {
				out.I[i] = to.Wrap(v)
			}
		}
		return nil
	}
}
