package operator

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// elementwiseOps are functions of one tensor, element by element.
func elementwiseOps[T kernel.Float]() []Entry[T] {
	f := func(fn func(float64) float64) func(*graph.Node) func(dst, src []T) {
		return func(*graph.Node) func(dst, src []T) { return each[T](fn) }
	}
	loop := func(run func(dst, src []T)) func(*graph.Node) func(dst, src []T) {
		return func(*graph.Node) func(dst, src []T) { return run }
	}
	return slices.Concat(activationOps[T](), []Entry[T]{
		is(graph.Undefined, unary("Sqrt", []int{6, 13}, f(math.Sqrt))),
		headed("exp", unary("Exp", []int{6, 13}, loop(kernel.Exp[T]))),
		is(graph.Undefined, unary("Log", []int{6, 13}, f(math.Log))),
		is(graph.Undefined, unary("Reciprocal", []int{6, 13}, f(func(x float64) float64 { return 1 / x }))),
		unary("Erf", []int{9, 13}, loop(kernel.Erf[T])),
		unary("Sin", []int{7, 22}, f(math.Sin)),
		unary("Cos", []int{7, 22}, f(math.Cos)),
		unary("Tan", []int{7, 22}, f(math.Tan)),
		is(graph.Undefined, unary("Asin", []int{7, 22}, f(math.Asin))),
		is(graph.Undefined, unary("Acos", []int{7, 22}, f(math.Acos))),
		unary("Atan", []int{7, 22}, f(math.Atan)),
		unary("Sinh", []int{9, 22}, f(math.Sinh)),
		unary("Cosh", []int{9, 22}, f(math.Cosh)),
		unary("Asinh", []int{9, 22}, f(math.Asinh)),
		is(graph.Undefined, unary("Acosh", []int{9, 22}, f(math.Acosh))),
		is(graph.Undefined, unary("Atanh", []int{9, 22}, f(math.Atanh))),
		step[T]("Floor", []int{6, 13}, math.Floor),
		step[T]("Ceil", []int{6, 13}, math.Ceil),
		step[T]("Round", []int{11, 22}, math.RoundToEven),
		signed("Abs", []int{6, 13}, elementwiseRule, func(v T) T { return T(math.Abs(float64(v))) }, func(v int64) int64 { return max(v, -v) }),
		is(graph.Affine|graph.Indexing, signed("Neg", []int{6, 13}, negRule, func(v T) T { return -v }, func(v int64) int64 { return -v })),
		signed("Sign", []int{9, 13}, elementwiseRule, func(v T) T {
			switch {
			case v > 0:
				return 1
			case v < 0:
				return -1
			}
			return v // 0, or NaN
		}, func(v int64) int64 { return int64(compare(v)) }),
		{Operator: graph.Operator{Name: "Clip", Is: graph.Pointwise, Versions: []int{6, 11, 12, 13}, Min: 1, Max: 3, Outputs: 1, AnyLayout: true, Check: checkClip},
			Rule: elementwiseRule, Compile: compileClip[T], InPlace: true},
	})
}

// activationOps are the non-linearities of networks.
func activationOps[T kernel.Float]() []Entry[T] {
	loop := func(run func(dst, src []T)) func(*graph.Node) func(dst, src []T) {
		return func(*graph.Node) func(dst, src []T) { return run }
	}
	param := func(name string, versions []int, fn func(n *graph.Node) func(float64) float64) Entry[T] {
		return unary(name, versions, func(n *graph.Node) func(dst, src []T) { return each[T](fn(n)) })
	}
	return []Entry[T]{
		rectifier[T](),
		headed("sigmoid", unary("Sigmoid", []int{6, 13}, loop(kernel.Sigmoid[T]))),
		unary("Tanh", []int{6, 13}, loop(kernel.Tanh[T])),
		headed("softplus", unary("Softplus", []int{1, 22}, loop(kernel.Softplus[T]))),
		unary("Softsign", []int{1, 22}, loop(kernel.Softsign[T])),
		unary("HardSwish", []int{14, 22}, loop(kernel.HardSwish[T])),
		unary("Mish", []int{18, 22}, loop(kernel.Mish[T])),
		unary("LeakyRelu", []int{6, 16}, func(n *graph.Node) func(dst, src []T) {
			a := n.AttrFloat("alpha", 0.01)
			return func(dst, src []T) { kernel.LeakyRelu(dst, src, T(a)) }
		}),
		unary("Elu", []int{6, 22}, func(n *graph.Node) func(dst, src []T) {
			a := n.AttrFloat("alpha", 1)
			return func(dst, src []T) { kernel.Elu(dst, src, T(a)) }
		}),
		unary("Selu", []int{6, 22}, func(n *graph.Node) func(dst, src []T) {
			a, g := n.AttrFloat("alpha", 1.67326319217681884765625), n.AttrFloat("gamma", 1.05070102214813232421875)
			return func(dst, src []T) {
				kernel.Elu(dst, src, T(a))
				kernel.Mul(dst, dst, []T{T(g)})
			}
		}),
		unary("Celu", []int{12, 28}, func(n *graph.Node) func(dst, src []T) {
			a := n.AttrFloat("alpha", 1)
			if a == 1 {
				return func(dst, src []T) { kernel.Elu(dst, src, 1) }
			}
			return each[T](func(x float64) float64 { return max(x, 0) + min(0, a*math.Expm1(x/a)) })
		}),
		jumps(param("ThresholdedRelu", []int{10, 22}, func(n *graph.Node) func(float64) float64 {
			a, typ := n.AttrFloat("alpha", 1), n.Inputs[0].Type
			return func(x float64) float64 {
				if typ.Round(x) > a || math.IsNaN(x) {
					return x
				}
				return 0
			}
		})),
		unary("HardSigmoid", []int{6, 22}, func(n *graph.Node) func(dst, src []T) {
			a, b := n.AttrFloat("alpha", 0.2), n.AttrFloat("beta", 0.5)
			return func(dst, src []T) { kernel.HardSigmoid(dst, src, T(a), T(b)) }
		}),
		unary("Swish", []int{24}, func(n *graph.Node) func(dst, src []T) {
			a := T(n.AttrFloat("alpha", 1))
			return func(dst, src []T) { swish(dst, src, a) }
		}),
		unary("Gelu", []int{20}, func(n *graph.Node) func(dst, src []T) {
			if n.Attrs["approximate"].String == "tanh" {
				return kernel.GeluTanh[T]
			}
			return kernel.Gelu[T]
		}),
	}
}

// unary is an operator on one tensor of floating type; loop prepares the run over
// its elements.
func unary[T kernel.Float](name string, versions []int, loop func(n *graph.Node) func(dst, src []T)) Entry[T] {
	return Entry[T]{
		Operator: graph.Operator{Name: name, Is: graph.Pointwise, Versions: versions, Min: 1, Max: 1, Outputs: 1, AnyLayout: true, Check: checkFloating},
		Rule:     elementwiseRule,
		Compile: func(n *graph.Node) Step[T] {
			run := loop(n)
			return func(x *Exec[T]) error { run(x.Out[0].F, x.In[0].F); return nil }
		},
		InPlace: true,
	}
}

// rectifier is Relu, since opset 14 of integers, too.
func rectifier[T kernel.Float]() Entry[T] {
	e := signed("Relu", []int{6, 13, 14}, elementwiseRule, func(v T) T { return max(v, 0) }, func(v int64) int64 { return max(v, 0) })
	integers := e.Compile
	e.Compile = func(n *graph.Node) Step[T] {
		if !n.Outputs[0].Type.Floating() {
			return integers(n)
		}
		return func(x *Exec[T]) error { kernel.Relu(x.Out[0].F, x.In[0].F); return nil }
	}
	return e
}

// each applies fn to every element.
func each[T kernel.Float](fn func(float64) float64) func(dst, src []T) {
	return func(dst, src []T) {
		for i, x := range src {
			dst[i] = T(fn(float64(x)))
		}
	}
}

// step is a unary function that is constant between jumps.
func step[T kernel.Float](name string, versions []int, fn func(float64) float64) Entry[T] {
	return jumps(unary(name, versions, func(n *graph.Node) func(dst, src []T) {
		read := asDeclared[T](n.Inputs[0].Type)
		if read == nil {
			return each[T](fn)
		}
		return each[T](func(x float64) float64 { return fn(float64(read(T(x)))) })
	}))
}

func jumps[T kernel.Float](e Entry[T]) Entry[T] {
	e.Jumps = true
	return e
}

// headed marks a response function: see Entry.Head.
func headed[T kernel.Float](head string, e Entry[T]) Entry[T] {
	e.Head = head
	return e
}

// checkFloating: one tensor of floating type in, one of its shape out.
func checkFloating(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	return c.Set(0, c.Inputs[0].Type, c.Inputs[0].Shape)
}

// signed operators also take integers.
func signed[T kernel.Float](name string, versions []int, rule func(*graph.Node) Rule, f func(T) T, g func(int64) int64) Entry[T] {
	return Entry[T]{
		Operator: graph.Operator{Name: name, Is: graph.Pointwise, Versions: versions, Min: 1, Max: 1, Outputs: 1, AnyLayout: true, Check: checkNumber},
		Rule:     rule,
		Compile: func(n *graph.Node) Step[T] {
			typ, g := n.Outputs[0].Type, g
			if typ == graph.Uint64 {
				g = unsigned(name, g)
			}
			return func(x *Exec[T]) error {
				for i, v := range x.In[0].F {
					x.Out[0].F[i] = f(v)
				}
				for i, v := range x.In[0].I {
					x.Out[0].I[i] = g(v)
				}
				typ.WrapAll(x.Out[0].I)
				return nil
			}
		},
		InPlace: true,
	}
}

// unsigned is g, of the operator of that name, for numbers without a sign that may not be
// ones of int64.
func unsigned(name string, g func(int64) int64) func(int64) int64 {
	switch name {
	case "Abs", "Relu":
		return func(v int64) int64 { return v }
	case "Sign":
		return func(v int64) int64 { return toInt(v != 0) }
	}
	return g
}

func checkNumber(c *graph.Check) error {
	if err := isNumber(c); err != nil {
		return err
	}
	return c.Set(0, c.Inputs[0].Type, c.Inputs[0].Shape)
}

// isNumber requires numbers of input 0, of whatever type.
func isNumber(c *graph.Check) error {
	if t := c.Inputs[0].Type; !t.Floating() && !t.Integer() {
		return fmt.Errorf("input must be a number, is %s", t)
	}
	return nil
}

func negRule(n *graph.Node) Rule { return weightedRule(n, -1) }

func compare(v int64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// checkClip: the limits are attributes before opset 11, scalar inputs since.
func checkClip(c *graph.Check) error {
	if err := c.SameType(); err != nil {
		return err
	}
	if err := isNumber(c); err != nil {
		return err
	}
	for i := 1; i < len(c.Inputs); i++ {
		if v := c.Inputs[i]; v != nil {
			if n, _ := graph.Elements(v.Shape); n != 1 || v.BatchAxis() >= 0 {
				return fmt.Errorf("limit %q must be a scalar, has shape %s", v.Name, graph.ShapeText(v.Shape))
			}
		}
	}
	return c.Set(0, c.Inputs[0].Type, c.Inputs[0].Shape)
}

func compileClip[T kernel.Float](n *graph.Node) Step[T] {
	// Attributes are read first; inputs given replace them.
	lo, hi := T(n.AttrFloat("min", math.Inf(-1))), T(n.AttrFloat("max", math.Inf(1)))
	typ := n.Outputs[0].Type
	return func(x *Exec[T]) error {
		lo, hi := lo, hi
		ilo, ihi := typ.Order(math.MinInt64), typ.Order(math.MaxInt64)
		if len(x.In) > 1 {
			readScalar(x.In[1], &lo, &ilo)
		}
		if len(x.In) > 2 {
			readScalar(x.In[2], &hi, &ihi)
		}
		kernel.Clip(x.Out[0].F, x.In[0].F, lo, hi)
		if typ == graph.Uint64 {
			clipUnsigned(x.Out[0].I, x.In[0].I, ilo, ihi)
			return nil
		}
		for i, v := range x.In[0].I {
			x.Out[0].I[i] = min(max(v, ilo), ihi)
		}
		return nil
	}
}

func clipUnsigned(dst, src []int64, lo, hi int64) {
	for i, v := range src {
		dst[i] = int64(min(max(uint64(v), uint64(lo)), uint64(hi)))
	}
}

func readScalar[T kernel.Float](t Operand[T], f *T, i *int64) {
	if len(t.F) > 0 {
		*f = t.F[0]
	}
	if len(t.I) > 0 {
		*i = t.I[0]
	}
}
