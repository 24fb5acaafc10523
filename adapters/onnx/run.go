package onnx

import (
	"fmt"
	"math"
	"sync"

	"github.com/pho-go/pho/internal/kernel"
)

// Precision is what floating point values are computed in.
type Precision uint8

const (
	// Double computes in float64: statistics need values without noise, and a
	// float network's weights are exact in it. Inputs, and operands of nodes that
	// jump, have the types that the graph declares all the same.
	Double Precision = iota
	// Single computes in float32, as most runtimes do, for speed. A graph with
	// tensors of type double is computed in float64 all the same.
	Single
)

// RunOptions are the settings of a Runner; the zero value holds the defaults.
type RunOptions struct {
	Precision Precision
	// MaxMemory bounds the bytes that one Run works in. 0: 4 GiB.
	MaxMemory int64
}

// Runner evaluates chosen tensors of a graph on blocks of rows. It is immutable
// and safe for concurrent use; each Run uses one goroutine and a pooled arena.
type Runner struct {
	inputs, want []*Value
	plan         *runPlan
	double       bool // computes in float64
	fresh        func() evaluator
	pool         sync.Pool // of evaluators
	perRow       int64     // bytes of arena
}

// evaluator runs a prepared graph in memory of its own, one block of rows at a time.
type evaluator interface {
	// cut sizes the memory for blocks of that many rows, at least one.
	cut(rows int) error
	// view is the memory of an input or a wanted tensor if it holds rows as Run
	// takes them, else nil. An input may be written there before run, rounded to its
	// type (enter), and what is wanted be read there until the next one; cut takes it
	// away.
	view(v *Value) []float64
	// run is Runner.Run; dst and inputs that are views are where they belong.
	run(dst, inputs [][]float64) error
}

// NewRunner prepares the evaluation of the given tensors of g (any of them:
// inputs, outputs or in between), and only of the nodes they need. Constants
// cannot be asked for: they do not depend on rows.
func NewRunner(g *Graph, want []*Value, o RunOptions) (*Runner, error) {
	if o.MaxMemory < 0 {
		return nil, fmt.Errorf("onnx: negative MaxMemory in RunOptions")
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = 4 << 30
	}
	for i, v := range want {
		if v == nil {
			return nil, fmt.Errorf("onnx: tensor %d to evaluate is nil", i)
		}
		if known := g.values[v.Name]; known != v {
			return nil, fmt.Errorf("onnx: tensor %q does not belong to the graph", v.Name)
		}
		if v.BatchAxis() < 0 {
			return nil, fmt.Errorf("onnx: tensor %q of shape %v does not depend on rows", v.Name, v.Shape)
		}
	}
	p := planRun(g, want)
	r := &Runner{inputs: g.Inputs, want: want, plan: p, double: o.Precision == Double || p.double}
	var err error
	if r.double {
		r.fresh, r.perRow, err = prepare[float64](g, p, want, o)
	} else {
		r.fresh, r.perRow, err = prepare[float32](g, p, want, o)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Run evaluates a block of rows. inputs follow Graph.Inputs, each rows x Width,
// row-major (whatever the tensor's axes: the batch axis comes first here); dst
// follows the tensors asked for, likewise, and is overwritten. inputs are only
// read. Their numbers enter the network rounded to the type that the input
// declares, infinite beyond its range; integers must be exact. Row i of dst depends on row i of inputs alone, bit for bit: neither on
// the other rows nor on how many there are. Blocks of some 256 rows stay in
// cache. An input that no wanted tensor needs may be nil.
func (r *Runner) Run(dst, inputs [][]float64, rows int) error {
	if rows < 0 {
		return fmt.Errorf("onnx: %d rows to run", rows)
	}
	if len(dst) != len(r.want) {
		return fmt.Errorf("onnx: %d destinations for %d tensors", len(dst), len(r.want))
	}
	for i, v := range r.want {
		if w := v.Width(); len(dst[i]) != rows*w {
			return fmt.Errorf("onnx: the destination of tensor %q holds %d values, but %d rows of %d need %d", v.Name, len(dst[i]), rows, w, rows*w)
		}
	}
	if len(inputs) != len(r.inputs) {
		return fmt.Errorf("onnx: %d inputs given, the graph has %d", len(inputs), len(r.inputs))
	}
	if rows == 0 {
		return nil
	}
	e, ok := r.pool.Get().(evaluator)
	if !ok {
		e = r.fresh()
	}
	defer r.pool.Put(e)
	if err := e.cut(rows); err != nil {
		return err
	}
	return e.run(dst, inputs)
}

// views reports whether evaluators have a view of v.
func (r *Runner) views(v *Value) bool { return r.double && r.plan.batchFirst(v) }

// program is a graph prepared for one precision.
type program[T kernel.Float] struct {
	g       *Graph
	plan    *runPlan
	want    []*Value
	steps   []Step[T]
	relus   map[*Node]bool // products that apply a Relu, too
	consts  map[*Value]Operand[T]
	max     int64
	perRow  int64 // bytes of arena per row
	element int64 // bytes of a T
}

// prepare compiles the plan's nodes.
func prepare[T kernel.Float](g *Graph, plan *runPlan, want []*Value, o RunOptions) (fresh func() evaluator, perRow int64, err error) {
	p := &program[T]{g: g, plan: plan, want: want, relus: map[*Node]bool{}, consts: map[*Value]Operand[T]{}, max: o.MaxMemory, element: 8}
	if _, single := any(T(0)).(float32); single {
		p.element = 4
	}
	ops := New[T]()
	rectified := plan.rectified(want)
	for _, n := range plan.nodes {
		if from := rectified[n]; from != nil {
			p.relus[from] = true
		}
		if plan.isView[n] || rectified[n] != nil {
			p.steps = append(p.steps, nil)
			continue
		}
		p.steps = append(p.steps, ops.Of(n).Compile(n))
		for _, v := range n.Inputs {
			if v == nil || v.Const == nil {
				continue
			}
			if _, ok := p.consts[v]; !ok {
				p.consts[v] = Operand[T]{Shape: v.Shape, F: Floats[T](v), I: v.Const.I}
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
		temp = max(temp, Scratch(n))
	}
	if int64(temp) > (math.MaxInt64/8-p.perRow)/8 {
		return nil, 0, fmt.Errorf("onnx: one row needs more memory than can be counted")
	}
	p.perRow += p.element * int64(temp)
	return func() evaluator { return &arena[T]{program: p, rows: -1} }, p.perRow, nil
}

// arena is the evaluator of a program, kept between runs.
type arena[T kernel.Float] struct {
	*program[T]
	rows    int // what the tensors are cut for; -1: nothing yet
	f       [][]T
	i       [][]int64
	execs   []Exec[T]
	scratch []T
}

func (a *arena[T]) run(dst, inputs [][]float64) error {
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
			return fmt.Errorf("onnx: %s: %w", n.String(), err)
		}
	}
	for i, v := range a.want {
		a.toRows(dst[i], v)
	}
	return nil
}

func (a *arena[T]) view(v *Value) []float64 {
	if !a.plan.batchFirst(v) {
		return nil
	}
	f, _ := any(a.tensor(v).F).([]float64)
	return f
}

// copyTo copies src, unless it is dst Itself.
func copyTo(dst, src []float64) {
	if len(src) > 0 && &dst[0] != &src[0] {
		copy(dst, src)
	}
}

// cut points every step's operands into the arena, too.
func (a *arena[T]) cut(rows int) error {
	if a.rows == rows {
		return nil
	}
	if a.perRow > a.max/int64(rows) {
		return fmt.Errorf("onnx: %d rows need more than %d bytes (MaxMemory); use smaller blocks of rows", rows, a.max)
	}
	a.rows = rows
	if a.f == nil {
		a.f, a.i = make([][]T, len(a.plan.slots)), make([][]int64, len(a.plan.slots))
		a.execs = make([]Exec[T], len(a.plan.nodes))
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
	operand := func(list []Operand[T], k int, v *Value) []Operand[T] {
		if k == len(list) {
			list = append(list, Operand[T]{})
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
		list[k].Shape = append(shape[:0], v.Shape...)
		for j, d := range list[k].Shape {
			if d == Batch {
				list[k].Shape[j] = rows
			}
		}
		return list
	}
	for i, n := range a.plan.nodes {
		if a.steps[i] == nil {
			continue
		}
		x := &a.execs[i]
		x.Rows, x.Relu = rows, a.relus[n]
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
func (a *arena[T]) tensor(v *Value) Operand[T] {
	s := a.plan.slot[v]
	n := v.Width() * a.rows
	if v.Type.Floating() {
		return Operand[T]{F: a.f[s][:n]}
	}
	return Operand[T]{I: a.i[s][:n]}
}

// load moves an input, rows first, to its tensor.
func (a *arena[T]) load(v *Value, src []float64) error {
	width, rows := v.Width(), a.rows
	if len(src) != rows*width {
		return fmt.Errorf("onnx: input %q was given %d values, but %d rows of %d need %d", v.Name, len(src), rows, width, rows*width)
	}
	if own := a.view(v); own != nil && len(src) > 0 && &own[0] == &src[0] {
		return nil // written there, and rounded, by the caller
	}
	t, entry := a.tensor(v), v.EntryType()
	outer, inner := aroundBatch(v)
	if outer == 1 && t.F != nil {
		Enter(t.F, 1, src, entry)
		return nil
	}
	for r := range rows {
		for o := range outer {
			from, to := r*width+o*inner, (o*rows+r)*inner
			if t.F != nil {
				Enter(t.F[to:], 1, src[from:from+inner], entry)
				continue
			}
			for i, x := range src[from : from+inner] {
				k, err := integer(x, v.Type)
				if err != nil {
					return fmt.Errorf("onnx: input %q, row %d of the block: %w", v.Name, r, err)
				}
				t.I[to+i] = int64(entry.Round(float64(k)))
			}
		}
	}
	return nil
}

// integer converts exactly or not at all.
func integer(x float64, t DType) (int64, error) {
	limit := float64(1 << 53)
	if t == Int32 {
		limit = math.MaxInt32
	}
	if x != math.Trunc(x) || math.Abs(x) > limit || math.IsNaN(x) || t == Bool && x != 0 && x != 1 {
		return 0, fmt.Errorf("%g is not a value of type %s", x, t)
	}
	return int64(x), nil
}

// toRows moves a tensor to dst, rows first.
func (a *arena[T]) toRows(dst []float64, v *Value) {
	if own := a.view(v); own != nil {
		copyTo(dst, own)
		return
	}
	t, rows := a.tensor(v), a.rows
	outer, inner := aroundBatch(v)
	width := outer * inner
	for r := range rows {
		for o := range outer {
			to, from := r*width+o*inner, (o*rows+r)*inner
			d := dst[to : to+inner]
			if t.F != nil {
				for i, x := range t.F[from : from+inner] {
					d[i] = float64(x)
				}
			} else {
				for i, x := range t.I[from : from+inner] {
					d[i] = float64(x)
				}
			}
		}
	}
}

// aroundBatch is the number of elements before and after v's batch axis.
func aroundBatch(v *Value) (outer, inner int) {
	at := v.BatchAxis()
	return Product(v.Shape[:at]), Product(v.Shape[at+1:])
}
