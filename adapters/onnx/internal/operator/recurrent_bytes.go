package operator

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// The inputs of DynamicQuantizeLSTM after the LSTM's: scales and zero points of W and R.
const (
	inputScale = iota + 8
	inputZero
	stateScale
	stateZero
)

// byteLSTM is ONNX Runtime's LSTM with weights of bytes: what they multiply is quantised
// when it runs, the inputs of all steps together and the state at each step. As in dynamicOps
// the range is a row's own.
func byteLSTM[T kernel.Float]() Entry[T] {
	return Entry[T]{
		Operator: graph.Operator{Domain: "com.microsoft", Name: "DynamicQuantizeLSTM", Versions: []int{1}, Min: 3, Max: 12, Outputs: 3, Check: checkByteLSTM},
		Rule:     opaque, Compile: compileRecurrent[T], Jumps: true, ByRow: byRow,
	}
}

func checkByteLSTM(c *graph.Check) error {
	for _, i := range []int{1, 2, inputScale, inputZero, stateScale, stateZero} {
		switch {
		case !c.Has(i):
			return fmt.Errorf("lacks input %d: weights of bytes with scale and zero point are needed", i)
		case c.Inputs[i].Const == nil:
			return fmt.Errorf("input %d (%q) holds weights, which must be constants", i, c.Inputs[i].Name)
		}
	}
	if x := c.Inputs[0]; x.Type != graph.Float32 {
		return fmt.Errorf("input 0 (%q) must be float, is %s", x.Name, x.Type)
	} else if len(x.Shape) == 3 && x.BatchAxis() < 0 && x.Shape[1] > 1 {
		return fmt.Errorf("quantises %d constant sequences by one range, and here each has its own; take the node out of the network, with its outputs as constants", x.Shape[1])
	}
	return checkRecurrent(c, byteCell)
}

// readBytes checks W [directions, in, 4 hidden], R, and their scales and zero points: one
// for each direction, or one for each of its columns.
func (r *recurrence) readBytes(c *graph.Check) error {
	dirs := len(r.backwards)
	r.hidden = 1
	if s := c.Inputs[2].Shape; len(s) == 3 {
		r.hidden = max(s[1], 1)
	}
	if err := r.checkHidden(c); err != nil {
		return err
	}
	wide := 4 * r.hidden
	for i, want := range [][]int{{dirs, r.in, wide}, {dirs, r.hidden, wide}} {
		if v := c.Inputs[1+i]; !isByte(v.Type) || !sameShape(v.Shape, want) {
			return fmt.Errorf("input %d (%q) is %s %s, needs int8 or uint8 %v", 1+i, v.Name, v.Type, graph.ShapeText(v.Shape), want)
		}
	}
	types := []graph.DType{graph.Float32, c.Inputs[1].Type, graph.Float32, c.Inputs[2].Type}
	for i, of := range types {
		if v := c.Inputs[inputScale+i]; v.Type != of || !sameShape(v.Shape, []int{dirs}) && !sameShape(v.Shape, []int{dirs, wide}) {
			return fmt.Errorf("input %d (%q) is %s %s, needs %s %v or %v", inputScale+i, v.Name, v.Type, graph.ShapeText(v.Shape), of, []int{dirs}, []int{dirs, wide})
		}
	}
	return nil
}

// unpackBytes is direction d of weights of bytes, less their zero points, as an LSTM has
// them: a row for each column of input i. The scales are those of the columns.
func unpackBytes[T kernel.Float](n *graph.Node, r *recurrence, i, scale, zero, d int) (weights, scales []T) {
	wide := 4 * r.hidden
	of := func(count, column int) int { // which of count scales or zero points is the column's
		if each := count / len(r.backwards); each > 1 {
			return d*each + column
		}
		return d
	}
	all, zeros, given := n.Inputs[i].Const.I, n.Inputs[zero].Const.I, Floats[T](n.Inputs[scale])
	k := len(all) / len(r.backwards) / wide
	weights, scales = make([]T, k*wide), make([]T, wide)
	for column := range wide {
		scales[column] = given[of(len(given), column)]
		z := zeros[of(len(zeros), column)]
		for at := range k {
			weights[column*k+at] = T(all[(d*k+at)*wide+column] - z)
		}
	}
	return weights, scales
}

// quantised is the room of a block of rows whose inputs and states become bytes.
type quantised[T kernel.Float] struct {
	inputs, inputScales []T // steps x rows x in, and rows
	state, stateScales  []T // rows x hidden, and rows
}

// byteScratch is the elements per row of quantised.
func (r *recurrence) byteScratch() int {
	if !r.bytes {
		return 0
	}
	return r.steps*r.in + r.hidden + 2
}

// quantiseInputs fills q.inputs with the integers of all steps of each sequence.
func (c *cell[T]) quantiseInputs(s *sequences[T], in []T) {
	q, r := &s.bytes, byteRounder()
	for row := range s.rows {
		steps := 0
		for ; steps < c.steps && !s.over(row, steps); steps++ {
		}
		stride := s.rows * c.in
		scale, zero := rowRange(in, row*c.in, steps, stride, c.in)
		q.inputScales[row] = T(scale)
		for t := range c.steps {
			at := t*stride + row*c.in
			if t >= steps { // no step of the sequence
				clear(q.inputs[at : at+c.in])
				continue
			}
			quantiseLess(&r, q.inputs[at:at+c.in], in[at:], scale, zero)
		}
	}
}

// quantiseState fills q.state with the integers of the states.
func (c *cell[T]) quantiseState(s *sequences[T], state []T) []T {
	q, r, h := &s.bytes, byteRounder(), c.hidden
	for row := range s.rows {
		scale, zero := rowRange(state, row*h, 1, 0, h)
		q.stateScales[row] = T(scale)
		quantiseLess(&r, q.state[row*h:(row+1)*h], state[row*h:], scale, zero)
	}
	return q.state
}

func byteRounder() rounder {
	var r rounder
	r.to(graph.Uint8)
	return r
}

// quantiseLess is the integers of x less their zero point.
func quantiseLess[T kernel.Float](r *rounder, dst, x []T, scale float32, zero int64) {
	for i := range dst {
		dst[i] = T(r.integer(float32(x[i])/scale, zero) - zero)
	}
}

// rescale makes numbers of a product of integers: it multiplies each by the scale of its
// row and the scale of its column, and adds the bias.
func rescale[T kernel.Float](v, rows, columns, bias []T) {
	width := len(columns)
	for row, scale := range rows {
		out := v[row*width : (row+1)*width]
		for i, x := range out {
			out[i] = T(x * T(scale*columns[i]))
		}
		if bias != nil {
			kernel.Add(out, out, bias)
		}
	}
}
