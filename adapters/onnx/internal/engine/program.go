package engine

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/internal/base/kernel"
)

// program is a graph prepared for one precision.
type program[T kernel.Float] struct {
	g       *graph.Graph
	plan    *runPlan
	want    []*graph.Value
	steps   []operator.Step[T]
	relus   map[*graph.Node]bool // products that apply a Relu, too
	takers  map[*graph.Value]taker[T]
	consts  map[*graph.Value]operator.Operand[T]
	max     int64
	perRow  int64 // bytes of arena per row
	element int64 // bytes of a T
}

// compile prepares a node, for matrix units where there are some that suit it.
func compile[T kernel.Float](ops operator.Table[T], n *graph.Node, o Options) operator.Step[T] {
	if p := operator.PiecesOf(n); p != nil {
		return operator.CompilePieces[T](p)
	}
	if t := operator.EmbeddedOf(n); t != nil {
		return operator.CompileEmbedded[T](n, t)
	}
	var x T
	if _, single := any(x).(float32); single && o.Split != nil {
		if step := operator.OnMatrixUnits(n, o.Split); step != nil {
			return any(step).(operator.Step[T])
		}
	}
	return ops.Of(n).Compile(n)
}

// prepare compiles the plan's nodes.
func prepare[T kernel.Float](g *graph.Graph, plan *runPlan, want []*graph.Value, o Options) (workspace func() Workspace, perRow int64, err error) {
	p := &program[T]{g: g, plan: plan, want: want, relus: map[*graph.Node]bool{}, consts: map[*graph.Value]operator.Operand[T]{}, max: o.MaxMemory, element: 8}
	if _, single := any(T(0)).(float32); single {
		p.element = 4
	}
	ops := operator.New[T]()
	var rectified map[*graph.Node]*graph.Node
	if !o.Apart {
		rectified = plan.rectified(want)
		p.takers = takersOf[T](plan.takers(g.Inputs, want))
	}
	for _, n := range plan.nodes {
		if from := rectified[n]; from != nil {
			p.relus[from] = true
		}
		if plan.isView[n] || rectified[n] != nil {
			p.steps = append(p.steps, nil)
			continue
		}
		p.steps = append(p.steps, compile(ops, n, o))
		for _, v := range n.Inputs {
			if v == nil || v.Const == nil {
				continue
			}
			if _, ok := p.consts[v]; !ok {
				p.consts[v] = operator.Operand[T]{Shape: v.Shape, F: operator.Floats[T](v), I: v.Const.I}
			}
		}
	}
	for _, s := range plan.slots {
		size := p.element
		if !s.floating {
			size = 8
		}
		if int64(s.width) > (math.MaxInt64/8-p.perRow)/size {
			return nil, 0, fmt.Errorf("onnx: one row needs more memory than can be counted")
		}
		p.perRow += size * int64(s.width)
	}
	temp := 0
	for _, n := range plan.nodes {
		temp = max(temp, operator.Scratch(n))
	}
	if int64(temp) > (math.MaxInt64/8-p.perRow)/8 {
		return nil, 0, fmt.Errorf("onnx: one row needs more memory than can be counted")
	}
	p.perRow += p.element * int64(temp)
	return func() Workspace { return &arena[T]{program: p, rows: -1} }, p.perRow, nil
}
