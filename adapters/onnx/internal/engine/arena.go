package engine

import (
	"errors"
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/internal/base/kernel"
)

// arena is the workspace of a program, kept between runs.
type arena[T kernel.Float] struct {
	*program[T]
	rows    int // what the tensors are cut for; -1: nothing yet
	f       [][]T
	i       [][]int64
	execs   []operator.Exec[T]
	scratch []T
	texts   *graph.Texts // of the rows, made when there are some
}

// Texts numbers the texts of inputs, until Forget is called on it.
func (a *arena[T]) Texts() *graph.Texts {
	if a.texts == nil && a.g.Texts != nil {
		a.texts = a.g.Texts.Extend()
	}
	return a.texts
}

func (a *arena[T]) Run(dst, inputs [][]float64) error {
	for i, v := range a.g.Inputs {
		if _, used := a.plan.slot[v]; !used {
			continue
		}
		if err := a.load(v, inputs[i]); err != nil {
			return err
		}
	}
	for i, n := range a.plan.nodes {
		if a.steps[i] == nil {
			continue
		}
		if err := a.steps[i](&a.execs[i]); err != nil {
			if inside := (*operator.Inside)(nil); errors.As(err, &inside) {
				n, err = inside.Node, inside.Err
			}
			return fmt.Errorf("onnx: %s: %w", n.String(), err)
		}
	}
	for i, v := range a.want {
		a.toRows(dst[i], v)
	}
	return nil
}

func (a *arena[T]) View(v *graph.Value) []float64 {
	if !a.plan.batchFirst(v) {
		return nil
	}
	f, _ := any(a.tensor(v).F).([]float64)
	return f
}

// Cut points every step's operands into the arena, too.
func (a *arena[T]) Cut(rows int) error {
	if a.rows == rows {
		return nil
	}
	if a.perRow > a.max/int64(rows) {
		return graph.MemoryError(fmt.Sprintf("onnx: %d rows need more than %d bytes (MaxMemory); use smaller blocks of rows", rows, a.max))
	}
	a.rows = rows
	if a.f == nil {
		a.f, a.i = make([][]T, len(a.plan.slots)), make([][]int64, len(a.plan.slots))
		a.execs = make([]operator.Exec[T], len(a.plan.nodes))
	}
	for i, s := range a.plan.slots {
		n := s.width * rows
		switch {
		case s.floating && cap(a.f[i]) < n:
			a.f[i] = make([]T, n)
		case s.floating:
			a.f[i] = a.f[i][:n]
		case cap(a.i[i]) < n:
			a.i[i] = make([]int64, n)
		default:
			a.i[i] = a.i[i][:n]
		}
	}
	operand := func(list []operator.Operand[T], k int, v *graph.Value) []operator.Operand[T] {
		if k == len(list) {
			list = append(list, operator.Operand[T]{})
		}
		if v == nil {
			return list
		}
		if c, ok := a.consts[v]; ok {
			list[k] = c
			return list
		}
		if _, ok := a.plan.slot[v]; !ok {
			return list // a shape followed symbolically, or an output nobody reads
		}
		shape := list[k].Shape
		list[k] = a.tensor(v)
		list[k].Shape = graph.AtRows(shape[:0], v.Shape, rows)
		return list
	}
	for i, n := range a.plan.nodes {
		if a.steps[i] == nil {
			continue
		}
		x := &a.execs[i]
		x.Rows, x.Relu, x.Texts = rows, a.relus[n], a.Texts()
		x.Share(&a.scratch)
		for k, v := range n.Inputs {
			x.In = operand(x.In, k, v)
		}
		for k, v := range n.Outputs {
			x.Out = operand(x.Out, k, v)
		}
	}
	return nil
}

// tensor is v's memory, without its shape.
func (a *arena[T]) tensor(v *graph.Value) operator.Operand[T] {
	s := a.plan.slot[v]
	n := v.Width() * a.rows
	if v.Type.Floating() {
		return operator.Operand[T]{F: a.f[s][:n]}
	}
	return operator.Operand[T]{I: a.i[s][:n]}
}
