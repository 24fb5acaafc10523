package operator

import (
	"errors"
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// whereRule chooses by a constant condition; otherwise all three inputs enter.
func whereRule(n *graph.Node) Rule {
	r := elementwiseRule(n)
	if r.Each == nil || len(n.Inputs) != 3 || n.Inputs[0] == nil || n.Inputs[0].Const == nil {
		return r
	}
	at, _ := indices(n)
	c := n.Inputs[0].Const
	return Rule{Linear: true, Cost: 1, Each: func(_, e int, yield Link) {
		if c.At(at[0](e)) != 0 {
			yield(1, at[1](e), 1)
			return
		}
		yield(2, at[2](e), 1)
	}}
}

func toInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// logicOps compares, joins truth values and chooses by them.
func logicOps[T kernel.Float]() []Entry[T] {
	equal := comparison("Equal", []int{7, 11, 13, 19}, func(x, y T) bool { return x == y }, func(x, y int64) bool { return x == y })
	equal.Texts = true
	return []Entry[T]{
		sized(comparedSizes(0, 0), equal),
		sized(comparedSizes(1, 1), is(graph.Ordering, comparison("Greater", []int{7, 9, 13}, func(x, y T) bool { return x > y }, func(x, y int64) bool { return x > y }))),
		sized(comparedSizes(-1, -1), is(graph.Ordering, comparison("Less", []int{7, 9, 13}, func(x, y T) bool { return x < y }, func(x, y int64) bool { return x < y }))),
		sized(comparedSizes(0, 1), is(graph.Ordering, comparison("GreaterOrEqual", []int{12, 16}, func(x, y T) bool { return x >= y }, func(x, y int64) bool { return x >= y }))),
		sized(comparedSizes(-1, 0), is(graph.Ordering, comparison("LessOrEqual", []int{12, 16}, func(x, y T) bool { return x <= y }, func(x, y int64) bool { return x <= y }))),
		is(graph.Indexing, logical[T]("And", func(x, y int64) int64 { return x & y })),
		is(graph.Indexing, logical[T]("Or", func(x, y int64) int64 { return x | y })),
		logical[T]("Xor", func(x, y int64) int64 { return x ^ y }),
		{Operator: graph.Operator{Name: "Not", Is: graph.Pointwise | graph.Indexing, Versions: []int{1}, Min: 1, Max: 1, Outputs: 1, AnyLayout: true, Check: checkNot},
			Rule: elementwiseRule, Compile: compileNot[T]},
		{Operator: graph.Operator{Name: "Where", Is: graph.Broadcasting | graph.Indexing | graph.Arithmetic, Texts: true, Versions: []int{9, 16}, Min: 3, Max: 3, Outputs: 1, AnyLayout: true, Check: checkWhere, Sizes: whereSizes},
			Rule: whereRule, Compile: compileWhere[T], Missing: choosesByNaN},
	}
}

func comparison[T kernel.Float](name string, versions []int, f func(x, y T) bool, g func(x, y int64) bool) Entry[T] {
	return Entry[T]{
		Operator: graph.Operator{Name: name, Is: graph.Broadcasting | graph.Comparing | graph.Indexing, Versions: versions, Min: 2, Max: 2, Outputs: 1, AnyLayout: true, Check: checkComparison},
		Rule:     elementwiseRule,
		Compile: func(n *graph.Node) Step[T] {
			floating := n.Inputs[0].Type.Floating()
			ff := lift(func(x, y T) int64 { return toInt(f(x, y)) })
			if read := asDeclared[T](n.Inputs[0].Type); read != nil {
				ff = lift(func(x, y T) int64 { return toInt(f(read(x), read(y))) })
			}
			gg := lift(func(x, y int64) int64 { return toInt(g(x, y)) })
			if typ := n.Inputs[0].Type; typ == graph.Uint64 {
				gg = lift(func(x, y int64) int64 { return toInt(g(typ.Order(x), typ.Order(y))) })
			}
			return func(x *Exec[T]) error {
				out, a, b := x.Out[0], x.In[0], x.In[1]
				if floating {
					zip(out.I, out.Shape, a.F, a.Shape, b.F, b.Shape, ff)
				} else {
					zip(out.I, out.Shape, a.I, a.Shape, b.I, b.Shape, gg)
				}
				return nil
			}
		},
		Jumps: true,
	}
}

func checkComparison(c *graph.Check) error {
	if err := c.SameType(); err != nil {
		return err
	}
	return setBool(c)
}

// setBool gives the output the broadcast shape of two inputs.
func setBool(c *graph.Check) error {
	shape, err := graph.Broadcast(c.Inputs[0].Shape, c.Inputs[1].Shape)
	if err != nil {
		return err
	}
	return c.Set(0, graph.Bool, shape)
}

func logical[T kernel.Float](name string, f func(x, y int64) int64) Entry[T] {
	return Entry[T]{
		Operator: graph.Operator{Name: name, Is: graph.Broadcasting, Versions: []int{7}, Min: 2, Max: 2, Outputs: 1, AnyLayout: true, Check: checkLogical},
		Rule:     elementwiseRule,
		Compile: func(*graph.Node) Step[T] {
			ff := lift(f)
			return func(x *Exec[T]) error {
				out, a, b := x.Out[0], x.In[0], x.In[1]
				zip(out.I, out.Shape, a.I, a.Shape, b.I, b.Shape, ff)
				return nil
			}
		},
	}
}

func checkLogical(c *graph.Check) error {
	if c.Inputs[0].Type != graph.Bool || c.Inputs[1].Type != graph.Bool {
		return errors.New("inputs must be bool")
	}
	return setBool(c)
}

func checkNot(c *graph.Check) error {
	if c.Inputs[0].Type != graph.Bool {
		return fmt.Errorf("input must be bool, is %s", c.Inputs[0].Type)
	}
	return c.Set(0, graph.Bool, c.Inputs[0].Shape)
}

func compileNot[T kernel.Float](*graph.Node) Step[T] {
	return func(x *Exec[T]) error {
		for i, v := range x.In[0].I {
			x.Out[0].I[i] = 1 - v
		}
		return nil
	}
}

// choosesByNaN: v is chosen where it is not NaN, by IsNaN of v itself.
func choosesByNaN(n *graph.Node, v *graph.Value) bool {
	if len(n.Inputs) != 3 || n.Inputs[0] == nil || n.Inputs[1] == n.Inputs[2] || n.Inputs[0].Producer == nil {
		return false
	}
	test, chosen := n.Inputs[0].Producer, n.Inputs[2]
	if test.Op == "Not" && test.Inputs[0].Producer != nil {
		test, chosen = test.Inputs[0].Producer, n.Inputs[1]
	}
	return v == chosen && test.Key() == "IsNaN" && test.Inputs[0] == v
}

func checkWhere(c *graph.Check) error {
	if c.Inputs[0].Type != graph.Bool || c.Inputs[1].Type != c.Inputs[2].Type {
		return fmt.Errorf("needs a bool and two tensors of one type, has %s, %s, %s", c.Inputs[0].Type, c.Inputs[1].Type, c.Inputs[2].Type)
	}
	shape, err := graph.Broadcast(c.Inputs[0].Shape, c.Inputs[1].Shape)
	if err != nil {
		return err
	}
	if shape, err = graph.Broadcast(shape, c.Inputs[2].Shape); err != nil {
		return err
	}
	return c.Set(0, c.Inputs[1].Type, shape)
}

func compileWhere[T kernel.Float](n *graph.Node) Step[T] {
	floating := n.Outputs[0].Type.Floating()
	return func(x *Exec[T]) error {
		var w walk
		w.plan(x.Out[0].Shape, x.In[0].Shape, x.In[1].Shape, x.In[2].Shape)
		if floating {
			choose(&w, x.Out[0].F, x.In[0].I, x.In[1].F, x.In[2].F)
		} else {
			choose(&w, x.Out[0].I, x.In[0].I, x.In[1].I, x.In[2].I)
		}
		return nil
	}
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
