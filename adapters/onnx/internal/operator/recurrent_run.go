package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// cell is one direction of a recurrent operator, with its weights prepared. Its gates are
// in two parts, which have an activation each: all but the candidate, and the candidate.
type cell[T kernel.Float] struct {
	*recurrence
	parts     []part[T]
	peepholes []T // of the gates i, o and f; nil: none
	act       []func(dst, src []T)
	backwards bool
}

// part is what some of the gates are computed with.
type part[T kernel.Float] struct {
	width        int
	input, state *kernel.Weights[T] // of W and R
	bias         []T                // what is added to the inputs' part
	stateBias    []T                // and to the state's, nil: nothing

	inputScale, stateScale []T // of columns of bytes; nil: the weights are floats
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
	bias := weights(recurrentBias)
	var input, state, inputScales, stateScales []T
	if r.bytes {
		input, inputScales = unpackBytes[T](n, r, 1, inputScale, inputZero, d)
		state, stateScales = unpackBytes[T](n, r, 2, stateScale, stateZero, d)
	} else {
		input, state = weights(1), weights(2)
	}
	for from := 0; from < wide; {
		width := wide
		if r.kind != simpleCell {
			width = wide - h
			if from > 0 {
				width = h
			}
		}
		p := part[T]{width: width}
		p.input = kernel.Pack(r.in, width, input[from*r.in:(from+width)*r.in], true)
		p.state = kernel.Pack(h, width, state[from*h:(from+width)*h], true)
		if r.bytes {
			p.inputScale, p.stateScale = inputScales[from:from+width], stateScales[from:from+width]
		}
		if bias != nil {
			p.bias, p.stateBias = bias[from:from+width], bias[wide+from:wide+from+width]
			if from == 0 || !r.resetAfter || r.kind != gatedCell {
				sum := make([]T, width)
				kernel.Add(sum, p.bias, p.stateBias)
				p.bias, p.stateBias = sum, nil
			}
		}
		c.parts = append(c.parts, p)
		from += width
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
	gates         [2][]T // by part, of the steps of a chunk: the inputs' share, rows x gates each
	recurrent     [2][]T // by part, the state's share of a step
	state, memory []T    // rows x hidden
	spare         []T    // rows x hidden
	lengths       []int64
	bytes         quantised[T] // of weights of bytes
}

// run makes all steps of direction d.
func (c *cell[T]) run(x *Exec[T], d int) error {
	in := x.In[0]
	rows := in.Shape[1]
	if c.rowsFirst {
		rows = in.Shape[0]
	}
	some := min(c.steps, chunk)
	s := c.room(x, rows, some)
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
	from := in.F
	if c.bytes {
		c.quantiseInputs(s, in.F)
		from = s.bytes.inputs
	}
	for done := 0; done < c.steps; done += some {
		some = min(some, c.steps-done)
		first := done
		if c.backwards {
			first = c.steps - done - some
		}
		c.project(s, from, first, some)
		for i := range some {
			at := i
			if c.backwards {
				at = some - 1 - i
			}
			c.step(s, at, first+at)
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

// room cuts the scratch memory.
func (c *cell[T]) room(x *Exec[T], rows, some int) *sequences[T] {
	s := &sequences[T]{rows: rows}
	free := x.temp(rows * c.Scratch())
	take := func(n int) []T {
		t := free[: rows*n : rows*n]
		free = free[rows*n:]
		return t
	}
	for k, p := range c.parts {
		s.gates[k], s.recurrent[k] = take(some*p.width), take(p.width)
	}
	s.state, s.memory, s.spare = take(c.hidden), take(c.hidden), take(c.hidden)
	if c.bytes {
		s.bytes = quantised[T]{take(c.steps * c.in), take(1), take(c.hidden), take(1)}
	}
	return s
}

// project multiplies the inputs of some steps by their weights.
func (c *cell[T]) project(s *sequences[T], in []T, first, some int) {
	for k, p := range c.parts {
		if c.bytes {
			p.input.Mul(s.gates[k], p.width, in[first*s.rows*c.in:], c.in, some*s.rows, nil)
			for i := range some {
				rescale(c.gatesAt(s, k, i), s.bytes.inputScales, p.inputScale, p.bias)
			}
			continue
		}
		if !c.rowsFirst {
			p.input.Mul(s.gates[k], p.width, in[first*s.rows*c.in:], c.in, some*s.rows, p.bias)
			continue
		}
		for i := range some {
			p.input.Mul(s.gates[k][i*s.rows*p.width:], p.width, in[(first+i)*c.in:], c.steps*c.in, s.rows, p.bias)
		}
	}
}

// gatesAt is the inputs' share of part k at step at of the chunk.
func (c *cell[T]) gatesAt(s *sequences[T], k, at int) []T {
	size := s.rows * c.parts[k].width
	return s.gates[k][at*size : (at+1)*size]
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
