package onnx

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/internal/kernel"
)

// elementwiseOps are functions of one tensor, element by element.
func elementwiseOps[T kernel.Float](t table[T]) {
	f := func(fn func(float64) float64) func(*Node) func(dst, src []T) {
		return func(*Node) func(dst, src []T) {
			return func(dst, src []T) {
				for i, x := range src {
					dst[i] = T(fn(float64(x)))
				}
			}
		}
	}
	unary := func(name string, loop func(n *Node) func(dst, src []T)) {
		t[name] = operator[T]{min: 1, max: 1, outputs: 1, inPlace: true,
			infer: func(c *nodeCheck) error {
				if err := c.floating(0); err != nil {
					return err
				}
				return c.set(0, c.Inputs[0].Type, c.Inputs[0].Shape)
			},
			compile: func(n *Node) (step[T], error) {
				run := loop(n)
				return func(x *exec[T]) error { run(x.out[0].f, x.in[0].f); return nil }, nil
			}}
	}
	fixed := func(loop func(dst, src []T)) func(*Node) func(dst, src []T) {
		return func(*Node) func(dst, src []T) { return loop }
	}
	unary("Relu", fixed(kernel.Relu[T]))
	unary("Sigmoid", fixed(kernel.Sigmoid[T]))
	unary("Tanh", fixed(kernel.Tanh[T]))
	unary("Sqrt", f(math.Sqrt))
	unary("Exp", fixed(kernel.Exp[T]))
	unary("Log", f(math.Log))
	unary("Reciprocal", f(func(x float64) float64 { return 1 / x }))
	unary("Erf", f(math.Erf))
	unary("Sin", f(math.Sin))
	unary("Cos", f(math.Cos))
	unary("Tan", f(math.Tan))
	unary("Asin", f(math.Asin))
	unary("Acos", f(math.Acos))
	unary("Atan", f(math.Atan))
	unary("Sinh", f(math.Sinh))
	unary("Cosh", f(math.Cosh))
	jump := func(fn func(float64) float64) func(*Node) func(dst, src []T) {
		return func(n *Node) func(dst, src []T) {
			read := operand[T](n.Inputs[0].Type)
			if read == nil {
				return f(fn)(n)
			}
			return f(func(x float64) float64 { return fn(float64(read(T(x)))) })(n)
		}
	}
	unary("Floor", jump(math.Floor))
	unary("Ceil", jump(math.Ceil))
	unary("Round", jump(math.RoundToEven))
	unary("Softplus", f(softplus))
	unary("Softsign", f(func(x float64) float64 { return x / (1 + math.Abs(x)) }))
	unary("HardSwish", f(func(x float64) float64 { return x * min(max(x/6+0.5, 0), 1) }))
	unary("Mish", f(func(x float64) float64 { return x * math.Tanh(softplus(x)) }))
	unary("LeakyRelu", func(n *Node) func(dst, src []T) {
		a := n.attrFloat("alpha", 0.01)
		return func(dst, src []T) { kernel.LeakyRelu(dst, src, T(a)) }
	})
	param := func(name string, fn func(n *Node) func(float64) float64) {
		unary(name, func(n *Node) func(dst, src []T) { return f(fn(n))(n) })
	}
	param("Elu", func(n *Node) func(float64) float64 {
		a := n.attrFloat("alpha", 1)
		return func(x float64) float64 { return elu(x, a) }
	})
	param("Selu", func(n *Node) func(float64) float64 {
		a, g := n.attrFloat("alpha", 1.67326319217681884765625), n.attrFloat("gamma", 1.05070102214813232421875)
		return func(x float64) float64 { return g * elu(x, a) }
	})
	param("Celu", func(n *Node) func(float64) float64 {
		a := n.attrFloat("alpha", 1)
		return func(x float64) float64 { return max(x, 0) + min(0, a*math.Expm1(x/a)) }
	})
	param("ThresholdedRelu", func(n *Node) func(float64) float64 {
		a, typ := n.attrFloat("alpha", 1), n.Inputs[0].Type
		return func(x float64) float64 {
			if typ.round(x) > a || math.IsNaN(x) {
				return x
			}
			return 0
		}
	})
	param("HardSigmoid", func(n *Node) func(float64) float64 {
		a, b := n.attrFloat("alpha", 0.2), n.attrFloat("beta", 0.5)
		return func(x float64) float64 { return min(max(a*x+b, 0), 1) }
	})
	param("Gelu", func(n *Node) func(float64) float64 {
		if n.Attrs["approximate"].String == "tanh" {
			return func(x float64) float64 {
				return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
			}
		}
		return func(x float64) float64 { return 0.5 * x * math.Erfc(-x/math.Sqrt2) }
	})
	signedOps(t)
	castOps(t)
	t["Clip"] = clipOp[T]()
	t["Not"] = operator[T]{min: 1, max: 1, outputs: 1,
		infer: func(c *nodeCheck) error {
			if c.Inputs[0].Type != Bool {
				return fmt.Errorf("input must be bool, is %s", c.Inputs[0].Type)
			}
			return c.set(0, Bool, c.Inputs[0].Shape)
		},
		compile: func(*Node) (step[T], error) {
			return func(x *exec[T]) error {
				for i, v := range x.in[0].i {
					x.out[0].i[i] = 1 - v
				}
				return nil
			}, nil
		}}
}

// softplus is log(1 + e^x) without overflow.
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func elu(x, a float64) float64 {
	if x < 0 {
		return a * math.Expm1(x)
	}
	return x
}

// signedOps also take integers.
func signedOps[T kernel.Float](t table[T]) {
	add := func(name string, f func(T) T, g func(int64) int64) {
		t[name] = operator[T]{min: 1, max: 1, outputs: 1, inPlace: true,
			infer: func(c *nodeCheck) error {
				if c.Inputs[0].Type == Bool {
					return fmt.Errorf("input must be a number, is bool")
				}
				return c.set(0, c.Inputs[0].Type, c.Inputs[0].Shape)
			},
			compile: func(*Node) (step[T], error) {
				return func(x *exec[T]) error {
					for i, v := range x.in[0].f {
						x.out[0].f[i] = f(v)
					}
					for i, v := range x.in[0].i {
						x.out[0].i[i] = g(v)
					}
					return nil
				}, nil
			}}
	}
	add("Abs", func(v T) T { return T(math.Abs(float64(v))) }, func(v int64) int64 { return max(v, -v) })
	add("Neg", func(v T) T { return -v }, func(v int64) int64 { return -v })
	add("Sign", func(v T) T {
		switch {
		case v > 0:
			return 1
		case v < 0:
			return -1
		}
		return v // 0, or NaN
	}, func(v int64) int64 { return int64(compare(v)) })
}

func compare(v int64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// castOps convert between types. Numbers that entered the network are rounded to the
// narrower of two floating types; what it has computed keeps the engine's precision,
// whatever the declared type: no noise is added on purpose.
func castOps[T kernel.Float](t table[T]) {
	view := func(n *Node) bool {
		from, to := n.Inputs[0].Type, n.Outputs[0].Type
		constant := n.Inputs[0].Const != nil
		return from == to || from.Floating() && to.Floating() && !(narrows(from, to) && (n.rounds || constant))
	}
	compile := func(n *Node) (step[T], error) {
		from, to := n.Inputs[0].Type, n.Outputs[0].Type
		return func(x *exec[T]) error {
			in, out := x.in[0], x.out[0]
			switch {
			case from.Floating() && to.Floating():
				for i, v := range in.f {
					out.f[i] = T(to.round(float64(v)))
				}
			case to.Floating():
				for i, v := range in.i {
					out.f[i] = T(to.round(float64(v)))
				}
			case from.Floating():
				for i, v := range in.f {
					out.i[i] = castInt(from.round(float64(v)), to)
				}
			default:
				for i, v := range in.i {
					out.i[i] = wrapInt(v, to)
				}
			}
			return nil
		}, nil
	}
	t["Cast"] = operator[T]{min: 1, max: 1, outputs: 1, view: view, compile: compile,
		infer: func(c *nodeCheck) error {
			to, err := dtype(int32(c.attrInt("to", 0)))
			if err != nil {
				return err
			}
			return c.set(0, to, c.Inputs[0].Shape)
		}}
	t["CastLike"] = operator[T]{min: 2, max: 2, outputs: 1, view: view, compile: compile,
		infer: func(c *nodeCheck) error { return c.set(0, c.Inputs[1].Type, c.Inputs[0].Shape) }}
}

// castInt truncates towards zero; values outside the type become its limits,
// NaN becomes 0 (the format leaves both open).
func castInt(v float64, to DType) int64 {
	switch {
	case to == Bool:
		if v != 0 {
			return 1
		}
		return 0
	case math.IsNaN(v):
		return 0
	case to == Int32:
		return int64(min(max(v, math.MinInt32), math.MaxInt32))
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return int64(v)
}

func wrapInt(v int64, to DType) int64 {
	switch {
	case to == Bool && v != 0:
		return 1
	case to == Int32:
		return int64(int32(v))
	}
	return v
}

// clipOp limits values; the limits are attributes before opset 11, scalar
// inputs since.
func clipOp[T kernel.Float]() operator[T] {
	return operator[T]{min: 1, max: 3, outputs: 1, inPlace: true,
		infer: func(c *nodeCheck) error {
			if err := c.same(); err != nil {
				return err
			}
			for i := 1; i < len(c.Inputs); i++ {
				if v := c.Inputs[i]; v != nil {
					if n, _ := elements(v.Shape); n != 1 || v.BatchAxis() >= 0 {
						return fmt.Errorf("limit %q must be a scalar, has shape %v", v.Name, v.Shape)
					}
				}
			}
			return c.set(0, c.Inputs[0].Type, c.Inputs[0].Shape)
		},
		compile: func(n *Node) (step[T], error) {
			// Attributes are read first; inputs given replace them.
			lo, hi := T(n.attrFloat("min", math.Inf(-1))), T(n.attrFloat("max", math.Inf(1)))
			return func(x *exec[T]) error {
				lo, hi := lo, hi
				ilo, ihi := int64(math.MinInt64), int64(math.MaxInt64)
				if len(x.in) > 1 {
					readScalar(x.in[1], &lo, &ilo)
				}
				if len(x.in) > 2 {
					readScalar(x.in[2], &hi, &ihi)
				}
				for i, v := range x.in[0].f {
					if v < lo {
						v = lo
					}
					if v > hi {
						v = hi
					}
					x.out[0].f[i] = v
				}
				for i, v := range x.in[0].i {
					x.out[0].i[i] = min(max(v, ilo), ihi)
				}
				return nil
			}, nil
		}}
}

func readScalar[T kernel.Float](t tensor[T], f *T, i *int64) {
	if len(t.f) > 0 {
		*f = t.f[0]
	}
	if len(t.i) > 0 {
		*i = t.i[0]
	}
}
