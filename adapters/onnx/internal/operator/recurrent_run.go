package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/kernel"
)

// cell is one direction of a recurrent operator, with its weights prepared.
type cell[T kernel.Float] struct {
	*recurrence
	input, state *kernel.Weights[T] // W and R
	candidate    *kernel.Weights[T] // of a GRU that resets before the product: R of its last gate
	bias         []T                // what is added once to the inputs' part
	stateBias    []T                // and to the state's, nil: nothing
	peepholes    []T                // of the gates i, o and f; nil: none
	act          []func(dst, src []T)
	backwards    bool
}

func compileRecurrent[T kernel.Float](n *graph.Node) Step[T] {
	r := n.Resolved.(*recurrence)
	cells := make([]*cell[T], len(r.backwards))
	for d := range cells {
		cells[d] = newCell[T](n, r, d)
	}
	return func(x *Exec[T]) error {
		for d, c := range cells {
			if err := c.run(x, d); err != nil {
				return err
			}
		}
		return nil
	}
}

func newCell[T kernel.Float](n *graph.Node, r *recurrence, d int) *cell[T] {
	weights := func(i int) []T {
		if i >= len(n.Inputs) || n.Inputs[i] == nil {
			return nil
		}
		all := Floats[T](n.Inputs[i])
		size := len(all) / len(r.backwards)
		return all[d*size : (d+1)*size]
	}
	h, wide := r.hidden, r.kind.gates()*r.hidden
	c := &cell[T]{recurrence: r, backwards: r.backwards[d], peepholes: weights(recurrentPeepholes)}
	c.input = kernel.Pack(r.in, wide, weights(1), true)
	state := weights(2)
	if r.kind == gatedCell && !r.resetAfter {
		c.state, c.candidate = kernel.Pack(h, 2*h, state, true), kernel.Pack(h, h, state[2*h*h:], true)
	} else {
		c.state = kernel.Pack(h, wide, state, true)
	}
	if b := weights(recurrentBias); b != nil {
		c.bias = make([]T, wide)
		kernel.Add(c.bias, b[:wide], b[wide:])
		if r.kind == gatedCell && r.resetAfter {
			copy(c.bias[2*h:], b[2*h:wide])
			c.stateBias = make([]T, wide)
			copy(c.stateBias[2*h:], b[wide+2*h:])
		}
	}
	functions := r.activations[d*len(r.activations)/len(r.backwards):]
	for _, f := range functions[:len(r.activations)/len(r.backwards)] {
		c.act = append(c.act, loopOf[T](f))
	}
	return c
}

// sequences is one direction at work on a block of rows.
type sequences[T kernel.Float] struct {
	rows          int
	gates         []T // of the steps of a chunk: the inputs' part, rows x gates each
	recurrent     []T // the state's part of a step
	state, memory []T // rows x hidden
	spare         []T // rows x hidden
	lengths       []int64
}

// run makes all steps of direction d.
func (c *cell[T]) run(x *Exec[T], d int) error {
	in := x.In[0]
	rows, wide := in.Shape[1], c.kind.gates()*c.hidden
	if c.rowsFirst {
		rows = in.Shape[0]
	}
	s := &sequences[T]{rows: rows}
	some := min(c.steps, chunk)
	free := x.temp(rows * c.Scratch())
	take := func(n int) []T {
		t := free[: rows*n : rows*n]
		free = free[rows*n:]
		return t
	}
	s.gates, s.recurrent, s.state, s.memory, s.spare = take(some*wide), take(wide), take(c.hidden), take(c.hidden), take(c.hidden)
	c.begin(s.state, x, recurrentState, d, rows)
	c.begin(s.memory, x, recurrentMemory, d, rows)
	if len(x.In) > recurrentLengths {
		s.lengths = x.In[recurrentLengths].I
	}
	for r, k := range s.lengths {
		if k < 0 || k > int64(c.steps) {
			return fmt.Errorf("row %d of the block: a length of %d in sequences of %d steps", r, k, c.steps)
		}
	}
	for done := 0; done < c.steps; done += some {
		some = min(some, c.steps-done)
		first := done
		if c.backwards {
			first = c.steps - done - some
		}
		c.project(s, in.F, first, some)
		for i := range some {
			at := i
			if c.backwards {
				at = some - 1 - i
			}
			c.step(s, s.gates[at*rows*wide:(at+1)*rows*wide], first+at)
			c.emit(s, x, d, first+at)
		}
	}
	for row := range rows { // of a sequence without steps ONNX Runtime gives 0
		if s.over(row, 0) {
			clear(s.state[row*c.hidden : (row+1)*c.hidden])
			clear(s.memory[row*c.hidden : (row+1)*c.hidden])
		}
	}
	c.end(s.state, x, 1, d, rows)
	c.end(s.memory, x, 2, d, rows)
	return nil
}

// project multiplies the inputs of some steps by their weights.
func (c *cell[T]) project(s *sequences[T], in []T, first, some int) {
	wide := c.kind.gates() * c.hidden
	if !c.rowsFirst {
		c.input.Mul(s.gates, wide, in[first*s.rows*c.in:], c.in, some*s.rows, c.bias)
		return
	}
	for i := range some {
		c.input.Mul(s.gates[i*s.rows*wide:], wide, in[(first+i)*c.in:], c.steps*c.in, s.rows, c.bias)
	}
}

// at is where direction d of a row begins in a tensor of states.
func (r *recurrence) at(d, row, rows int) int {
	if r.rowsFirst {
		return (row*len(r.backwards) + d) * r.hidden
	}
	return (d*rows + row) * r.hidden
}

// begin sets dst to the initial state that input i holds, or 0.
func (c *cell[T]) begin(dst []T, x *Exec[T], i, d, rows int) {
	if i >= len(x.In) || x.In[i].F == nil {
		clear(dst)
		return
	}
	given := x.In[i]
	count := given.Shape[1] // rows, or 1 for all
	if c.rowsFirst {
		count = given.Shape[0]
	}
	for row := range rows {
		from := c.at(d, min(row, count-1), count)
		copy(dst[row*c.hidden:(row+1)*c.hidden], given.F[from:])
	}
}

// end writes the last state to output i.
func (c *cell[T]) end(src []T, x *Exec[T], i, d, rows int) {
	if i >= len(x.Out) || x.Out[i].F == nil {
		return
	}
	for row := range rows {
		copy(x.Out[i].F[c.at(d, row, rows):], src[row*c.hidden:(row+1)*c.hidden])
	}
}

// emit writes the state after step t to output 0; 0 beyond the end of a sequence.
func (c *cell[T]) emit(s *sequences[T], x *Exec[T], d, t int) {
	out := x.Out[0].F
	if out == nil {
		return
	}
	h, dirs := c.hidden, len(c.recurrence.backwards)
	for row := range s.rows {
		to := ((t*dirs+d)*s.rows + row) * h
		if c.rowsFirst {
			to = ((row*c.steps+t)*dirs + d) * h
		}
		if s.over(row, t) {
			clear(out[to : to+h])
		} else {
			copy(out[to:to+h], s.state[row*h:])
		}
	}
}

// over reports whether step t is beyond the end of a row's sequence. Backwards, too, such
// steps are left out: the sequence begins at its last element.
func (s *sequences[T]) over(row, t int) bool {
	return len(s.lengths) > 0 && int64(t) >= s.lengths[min(row, len(s.lengths)-1)]
}
