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
	// float network's weights are exact in it.
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
	want   []*Value
	run    func(dst, inputs [][]float64, rows int) error
	perRow int64 // bytes of arena
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
	r := &Runner{want: want}
	p := planRun(g, want)
	var err error
	if o.Precision == Single && !p.double {
		r.run, r.perRow, err = prepare[float32](g, p, want, o)
	} else {
		r.run, r.perRow, err = prepare[float64](g, p, want, o)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Width is the number of elements that each row of v has.
func (v *Value) Width() int {
	n, _ := elements(v.Shape)
	return n
}

// Run evaluates a block of rows. inputs follow Graph.Inputs, each rows x Width,
// row-major (whatever the tensor's axes: the batch axis comes first here); dst
// follows the tensors asked for, likewise, and is overwritten. inputs are only
// read. Row i of dst depends on row i of inputs alone, bit for bit: neither on
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
	return r.run(dst, inputs, rows)
}

// program is a graph prepared for one precision.
type program[T kernel.Float] struct {
	g       *Graph
	plan    *runPlan
	want    []*Value
	steps   []step[T]
	relus   map[*Node]bool // products that apply a Relu, too
	consts  map[*Value]tensor[T]
	max     int64
	arenas  sync.Pool
	perRow  int64 // bytes of arena per row
	element int64 // bytes of a T
}

// prepare compiles the plan's nodes.
func prepare[T kernel.Float](g *Graph, plan *runPlan, want []*Value, o RunOptions) (run func(dst, inputs [][]float64, rows int) error, perRow int64, err error) {
	p := &program[T]{g: g, plan: plan, want: want, relus: map[*Node]bool{}, consts: map[*Value]tensor[T]{}, max: o.MaxMemory, element: 8}
	if _, single := any(T(0)).(float32); single {
		p.element = 4
	}
	ops := operators[T]()
	rectified := plan.rectified(want)
	for _, n := range plan.nodes {
		if from := rectified[n]; from != nil {
			p.relus[from] = true
		}
		if plan.isView[n] || rectified[n] != nil {
			p.steps = append(p.steps, nil)
			continue
		}
		run, err := ops[opKey(n)].compile(n)
		if err != nil {
			return nil, 0, fmt.Errorf("onnx: %s: %w", describe(n), err)
		}
		p.steps = append(p.steps, run)
		for _, v := range n.Inputs {
			if v == nil || v.Const == nil {
				continue
			}
			if _, ok := p.consts[v]; !ok {
				t := tensor[T]{shape: v.Shape, i: v.Const.I}
				if v.Type.Floating() {
					t.f = constF[T](v)
				}
				p.consts[v] = t
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
		temp = max(temp, n.temp)
	}
	if int64(temp) > (math.MaxInt64/8-p.perRow)/8 {
		return nil, 0, fmt.Errorf("onnx: one row needs more memory than can be counted")
	}
	p.perRow += p.element * int64(temp)
	return p.run, p.perRow, nil
}

// arena is the memory of one Run, kept between runs.
type arena[T kernel.Float] struct {
	rows    int // what the tensors are cut for; -1: nothing yet
	f       [][]T
	i       [][]int64
	execs   []exec[T]
	scratch []T
}

func (p *program[T]) run(dst, inputs [][]float64, rows int) error {
	if len(inputs) != len(p.g.Inputs) {
		return fmt.Errorf("onnx: %d inputs given, the graph has %d", len(inputs), len(p.g.Inputs))
	}
	if rows == 0 {
		return nil
	}
	if p.perRow > p.max/int64(rows) {
		return fmt.Errorf("onnx: %d rows need more than %d bytes (MaxMemory); use smaller blocks of rows", rows, p.max)
	}
	a, ok := p.arenas.Get().(*arena[T])
	if !ok {
		a = &arena[T]{rows: -1}
	}
	defer p.arenas.Put(a)
	p.cut(a, rows)
	for i, v := range p.g.Inputs {
		if _, used := p.plan.slot[v]; !used {
			continue
		}
		if err := p.load(a, v, inputs[i], rows); err != nil {
			return err
		}
	}
	for i, n := range p.plan.nodes {
		if p.steps[i] == nil {
			continue
		}
		if err := p.steps[i](&a.execs[i]); err != nil {
			return fmt.Errorf("onnx: %s: %w", describe(n), err)
		}
	}
	for i, v := range p.want {
		t := p.tensor(a, v, rows)
		toRows(dst[i], t, v, rows)
	}
	return nil
}

// cut sizes the arena for the number of rows and points every step's operands
// into it.
func (p *program[T]) cut(a *arena[T], rows int) {
	if a.rows == rows {
		return
	}
	if a.f == nil {
		a.f, a.i = make([][]T, len(p.plan.slots)), make([][]int64, len(p.plan.slots))
		a.execs = make([]exec[T], len(p.plan.nodes))
	}
	for i, s := range p.plan.slots {
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
	operand := func(list []tensor[T], k int, v *Value) []tensor[T] {
		if k == len(list) {
			list = append(list, tensor[T]{})
		}
		if v == nil {
			return list
		}
		if c, ok := p.consts[v]; ok {
			list[k] = c
			return list
		}
		if _, ok := p.plan.slot[v]; !ok {
			return list // a shape followed symbolically, or an output nobody reads
		}
		shape := list[k].shape
		list[k] = p.tensor(a, v, rows)
		list[k].shape = append(shape[:0], v.Shape...)
		for j, d := range list[k].shape {
			if d == Batch {
				list[k].shape[j] = rows
			}
		}
		return list
	}
	for i, n := range p.plan.nodes {
		if p.steps[i] == nil {
			continue
		}
		x := &a.execs[i]
		x.rows, x.scratch, x.relu = rows, &a.scratch, p.relus[n]
		for k, v := range n.Inputs {
			x.in = operand(x.in, k, v)
		}
		for k, v := range n.Outputs {
			x.out = operand(x.out, k, v)
		}
	}
	a.rows = rows
}

// tensor is v's memory, without its shape.
func (p *program[T]) tensor(a *arena[T], v *Value, rows int) tensor[T] {
	s := p.plan.slot[v]
	n := v.Width() * rows
	if v.Type.Floating() {
		return tensor[T]{f: a.f[s][:n]}
	}
	return tensor[T]{i: a.i[s][:n]}
}

// load moves an input, rows first, to its tensor.
func (p *program[T]) load(a *arena[T], v *Value, src []float64, rows int) error {
	width := v.Width()
	if len(src) != rows*width {
		return fmt.Errorf("onnx: input %q was given %d values, but %d rows of %d need %d", v.Name, len(src), rows, width, rows*width)
	}
	t := p.tensor(a, v, rows)
	outer, inner := aroundBatch(v)
	for r := range rows {
		for o := range outer {
			from, to := r*width+o*inner, (o*rows+r)*inner
			for i, x := range src[from : from+inner] {
				if t.f != nil {
					t.f[to+i] = T(x)
					continue
				}
				k, err := integer(x, v.Type)
				if err != nil {
					return fmt.Errorf("onnx: input %q, row %d of the block: %w", v.Name, r, err)
				}
				t.i[to+i] = k
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
func toRows[T kernel.Float](dst []float64, t tensor[T], v *Value, rows int) {
	outer, inner := aroundBatch(v)
	width := outer * inner
	for r := range rows {
		for o := range outer {
			to, from := r*width+o*inner, (o*rows+r)*inner
			d := dst[to : to+inner]
			if t.f != nil {
				for i, x := range t.f[from : from+inner] {
					d[i] = float64(x)
				}
			} else {
				for i, x := range t.i[from : from+inner] {
					d[i] = float64(x)
				}
			}
		}
	}
}

// aroundBatch is the number of elements before and after v's batch axis.
func aroundBatch(v *Value) (outer, inner int) {
	at := v.BatchAxis()
	return product(v.Shape[:at]), product(v.Shape[at+1:])
}
