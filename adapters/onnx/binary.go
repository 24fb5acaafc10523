package onnx

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/internal/kernel"
)

// number is what elementwise arithmetic runs on.
type number interface{ float32 | float64 | int64 }

// walk describes a broadcast of up to three operands over an output after axes
// have been merged: sizes and, per operand, element strides (0: repeated).
type walk struct {
	n      int
	size   [maxRank]int
	stride [3][maxRank]int
}

// plan merges adjacent axes on which every operand is either dense or repeated.
// The innermost axis then has stride 0 or 1 for each operand.
func (w *walk) plan(out []int, in ...[]int) {
	w.n = 0
	var dense [3]int
	for k := range in {
		dense[k] = 1
	}
	for i := len(out) - 1; i >= 0; i-- {
		var s [3]int
		for k, shape := range in {
			if j := i - len(out) + len(shape); j >= 0 && shape[j] != 1 {
				s[k] = dense[k]
				dense[k] *= shape[j]
			}
		}
		if out[i] == 1 {
			continue
		}
		merge := w.n > 0
		for k := range in {
			merge = merge && s[k] == w.stride[k][w.n-1]*w.size[w.n-1]
		}
		if merge {
			w.size[w.n-1] *= out[i]
			continue
		}
		w.size[w.n] = out[i]
		for k := range in {
			w.stride[k][w.n] = s[k]
		}
		w.n++
	}
	if w.n == 0 {
		w.n, w.size[0] = 1, 1
		for k := range in {
			w.stride[k][0] = 0
		}
	}
}

// each calls f with the operands' offsets for every run along axis 0 (the
// innermost); the output is dense.
func (w *walk) each(f func(out, a, b, c int)) {
	var at [maxRank]int
	var off [3]int
	total := 1
	for i := 1; i < w.n; i++ {
		total *= w.size[i]
	}
	if w.size[0] == 0 {
		return
	}
	for run := range total {
		f(run*w.size[0], off[0], off[1], off[2])
		for i := 1; i < w.n; i++ {
			at[i]++
			for k := range off {
				off[k] += w.stride[k][i]
			}
			if at[i] < w.size[i] {
				break
			}
			for k := range off {
				off[k] -= w.stride[k][i] * w.size[i]
			}
			at[i] = 0
		}
	}
}

// zip applies an operator to two broadcast operands. vv works on runs of equal
// length; a repeated operand is passed as a slice of one element.
func zip[A number, B number](dst []B, out []int, a []A, ashape []int, b []A, bshape []int, vv func(dst []B, a, b []A)) {
	var w walk
	w.plan(out, ashape, bshape)
	n, sa, sb := w.size[0], w.stride[0][0], w.stride[1][0]
	w.each(func(o, i, j, _ int) {
		x, y := a[i:i+1], b[j:j+1]
		if sa != 0 {
			x = a[i : i+n]
		}
		if sb != 0 {
			y = b[j : j+n]
		}
		vv(dst[o:o+n], x, y)
	})
}

// lift turns a scalar function into one on runs.
func lift[A number, B number](f func(x, y A) B) func(dst []B, a, b []A) {
	return func(dst []B, a, b []A) {
		switch {
		case len(a) == len(dst) && len(b) == len(dst):
			for i, x := range a {
				dst[i] = f(x, b[i])
			}
		case len(a) == len(dst):
			y := b[0]
			for i, x := range a {
				dst[i] = f(x, y)
			}
		case len(b) == len(dst):
			x := a[0]
			for i, y := range b {
				dst[i] = f(x, y)
			}
		default:
			v := f(a[0], b[0])
			for i := range dst {
				dst[i] = v
			}
		}
	}
}

// binaryOps are functions of two broadcast tensors.
func binaryOps[T kernel.Float](t table[T]) {
	arithmetic(t, "Add", kernel.Add[T], kernel.Add[int64])
	arithmetic(t, "Sub", kernel.Sub[T], kernel.Sub[int64])
	arithmetic(t, "Mul", kernel.Mul[T], kernel.Mul[int64])
	arithmetic(t, "Div", kernel.Div[T], nil)
	arithmetic(t, "Min", lift(func(x, y T) T { return min(x, y) }), lift(func(x, y int64) int64 { return min(x, y) }))
	arithmetic(t, "Max", lift(func(x, y T) T { return max(x, y) }), lift(func(x, y int64) int64 { return max(x, y) }))
	arithmetic(t, "Sum", kernel.Add[T], kernel.Add[int64])
	arithmetic(t, "Mean", kernel.Add[T], nil)
	arithmetic(t, "PRelu", lift(func(x, a T) T {
		if x < 0 {
			return x * a
		}
		return x
	}), nil)
	arithmetic(t, "Mod", lift(func(x, y T) T { return T(math.Mod(float64(x), float64(y))) }), nil)
	powOp(t)
	comparison(t, "Equal", func(x, y T) bool { return x == y }, func(x, y int64) bool { return x == y })
	comparison(t, "Greater", func(x, y T) bool { return x > y }, func(x, y int64) bool { return x > y })
	comparison(t, "Less", func(x, y T) bool { return x < y }, func(x, y int64) bool { return x < y })
	comparison(t, "GreaterOrEqual", func(x, y T) bool { return x >= y }, func(x, y int64) bool { return x >= y })
	comparison(t, "LessOrEqual", func(x, y T) bool { return x <= y }, func(x, y int64) bool { return x <= y })
	logical(t, "And", func(x, y int64) int64 { return x & y })
	logical(t, "Or", func(x, y int64) int64 { return x | y })
	logical(t, "Xor", func(x, y int64) int64 { return x ^ y })
	whereOp(t)
}

// arithmetic registers an operator whose output has its inputs' type. Min, Max,
// Sum and Mean take any number of inputs.
func arithmetic[T kernel.Float](t table[T], name string, f func(dst, a, b []T), g func(dst, a, b []int64)) {
	lo, hi := 2, 2
	switch name {
	case "Min", "Max", "Sum", "Mean":
		lo, hi = 1, -1
	}
	t[name] = operator[T]{min: lo, max: hi, outputs: 1, inPlace: true,
		infer: func(c *nodeCheck) error {
			if err := c.same(); err != nil {
				return err
			}
			typ := c.Inputs[0].Type
			integer := g != nil || name == "Div" || name == "Mod"
			if typ == Bool || !typ.Floating() && !integer {
				return fmt.Errorf("inputs of type %s are not supported", typ)
			}
			shape := c.Inputs[0].Shape
			for _, v := range c.Inputs[1:] {
				if v == nil {
					return errors.New("an input is left out")
				}
				var err error
				if shape, err = broadcast(shape, v.Shape); err != nil {
					return err
				}
			}
			if name == "PRelu" && len(shape) != len(c.Inputs[0].Shape) {
				return fmt.Errorf("slope of shape %v does not fit input %v", c.Inputs[1].Shape, c.Inputs[0].Shape)
			}
			return c.set(0, typ, shape)
		},
		compile: func(n *Node) (step[T], error) {
			floating, f := n.Outputs[0].Type.Floating(), f
			if read := operand[T](n.Outputs[0].Type); read != nil && name == "Mod" {
				f = lift(func(x, y T) T { return T(math.Mod(float64(read(x)), float64(read(y)))) })
			}
			return func(x *exec[T]) error {
				out, a := x.out[0], x.in[0]
				if len(x.in) == 1 {
					copy(out.f, a.f)
					copy(out.i, a.i)
					return nil
				}
				for _, b := range x.in[1:] {
					switch {
					case floating:
						zip(out.f, out.shape, a.f, a.shape, b.f, b.shape, f)
					case g != nil:
						zip(out.i, out.shape, a.i, a.shape, b.i, b.shape, g)
					default:
						if err := divide(name, out, a, b, n.attrInt("fmod", 0) != 0); err != nil {
							return err
						}
					}
					a = out
				}
				if name == "Mean" {
					for i := range out.f {
						out.f[i] /= T(len(x.in))
					}
				}
				return nil
			}, nil
		}}
}

// divide is integer Div and Mod.
func divide[T kernel.Float](name string, out, a, b tensor[T], fmod bool) error {
	for _, y := range b.i {
		if y == 0 {
			return errors.New("integer division by zero")
		}
	}
	f := func(x, y int64) int64 { return x / y }
	if name == "Mod" {
		f = func(x, y int64) int64 {
			r := x % y
			if !fmod && r != 0 && (r < 0) != (y < 0) {
				r += y
			}
			return r
		}
	}
	zip(out.i, out.shape, a.i, a.shape, b.i, b.shape, lift(f))
	return nil
}

// powOp is Pow: the exponent's type may differ; the usual constant exponents
// are products.
func powOp[T kernel.Float](t table[T]) {
	t["Pow"] = operator[T]{min: 2, max: 2, outputs: 1,
		infer: func(c *nodeCheck) error {
			if err := c.floating(0); err != nil {
				return err
			}
			if c.Inputs[1].Type == Bool {
				return errors.New("the exponent must be a number")
			}
			shape, err := broadcast(c.Inputs[0].Shape, c.Inputs[1].Shape)
			if err != nil {
				return err
			}
			return c.set(0, c.Inputs[0].Type, shape)
		},
		compile: func(*Node) (step[T], error) {
			pow := lift(func(x, y T) T {
				switch y {
				case 1:
					return x
				case 2:
					return x * x
				case 3:
					return x * x * x
				}
				return T(math.Pow(float64(x), float64(y)))
			})
			return func(x *exec[T]) error {
				out, a, b := x.out[0], x.in[0], x.in[1]
				e := b.f
				if b.i != nil {
					e = x.temp(len(b.i))
					for i, v := range b.i {
						e[i] = T(v)
					}
				}
				zip(out.f, out.shape, a.f, a.shape, e, b.shape, pow)
				return nil
			}, nil
		}}
}

func toInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func comparison[T kernel.Float](t table[T], name string, f func(x, y T) bool, g func(x, y int64) bool) {
	t[name] = operator[T]{min: 2, max: 2, outputs: 1,
		infer: func(c *nodeCheck) error {
			if err := c.same(); err != nil {
				return err
			}
			shape, err := broadcast(c.Inputs[0].Shape, c.Inputs[1].Shape)
			if err != nil {
				return err
			}
			return c.set(0, Bool, shape)
		},
		compile: func(n *Node) (step[T], error) {
			floating := n.Inputs[0].Type.Floating()
			ff := lift(func(x, y T) int64 { return toInt(f(x, y)) })
			if read := operand[T](n.Inputs[0].Type); read != nil {
				ff = lift(func(x, y T) int64 { return toInt(f(read(x), read(y))) })
			}
			gg := lift(func(x, y int64) int64 { return toInt(g(x, y)) })
			return func(x *exec[T]) error {
				out, a, b := x.out[0], x.in[0], x.in[1]
				if floating {
					zip(out.i, out.shape, a.f, a.shape, b.f, b.shape, ff)
				} else {
					zip(out.i, out.shape, a.i, a.shape, b.i, b.shape, gg)
				}
				return nil
			}, nil
		}}
}

func logical[T kernel.Float](t table[T], name string, f func(x, y int64) int64) {
	t[name] = operator[T]{min: 2, max: 2, outputs: 1,
		infer: func(c *nodeCheck) error {
			if c.Inputs[0].Type != Bool || c.Inputs[1].Type != Bool {
				return errors.New("inputs must be bool")
			}
			shape, err := broadcast(c.Inputs[0].Shape, c.Inputs[1].Shape)
			if err != nil {
				return err
			}
			return c.set(0, Bool, shape)
		},
		compile: func(*Node) (step[T], error) {
			ff := lift(f)
			return func(x *exec[T]) error {
				out, a, b := x.out[0], x.in[0], x.in[1]
				zip(out.i, out.shape, a.i, a.shape, b.i, b.shape, ff)
				return nil
			}, nil
		}}
}

// whereOp picks from two broadcast tensors by a third.
func whereOp[T kernel.Float](t table[T]) {
	t["Where"] = operator[T]{min: 3, max: 3, outputs: 1,
		infer: func(c *nodeCheck) error {
			if c.Inputs[0].Type != Bool || c.Inputs[1].Type != c.Inputs[2].Type {
				return fmt.Errorf("needs a bool and two tensors of one type, has %s, %s, %s", c.Inputs[0].Type, c.Inputs[1].Type, c.Inputs[2].Type)
			}
			shape, err := broadcast(c.Inputs[0].Shape, c.Inputs[1].Shape)
			if err != nil {
				return err
			}
			if shape, err = broadcast(shape, c.Inputs[2].Shape); err != nil {
				return err
			}
			return c.set(0, c.Inputs[1].Type, shape)
		},
		compile: func(n *Node) (step[T], error) {
			floating := n.Outputs[0].Type.Floating()
			return func(x *exec[T]) error {
				var w walk
				w.plan(x.out[0].shape, x.in[0].shape, x.in[1].shape, x.in[2].shape)
				if floating {
					choose(&w, x.out[0].f, x.in[0].i, x.in[1].f, x.in[2].f)
				} else {
					choose(&w, x.out[0].i, x.in[0].i, x.in[1].i, x.in[2].i)
				}
				return nil
			}, nil
		}}
}

func choose[A number](w *walk, dst []A, cond []int64, a, b []A) {
	w.each(func(o, i, j, k int) {
		for range w.size[0] {
			if cond[i] != 0 {
				dst[o] = a[j]
			} else {
				dst[o] = b[k]
			}
			o++
			i += w.stride[0][0]
			j += w.stride[1][0]
			k += w.stride[2][0]
		}
	})
}
