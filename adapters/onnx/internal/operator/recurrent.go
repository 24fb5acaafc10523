package operator

import (
	"errors"
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// recurrentOps step along a sequence and carry a state. Rows are sequences of their own.
func recurrentOps[T kernel.Float]() []Entry[T] {
	entry := func(name string, inputs, outputs int, kind recurrentKind) Entry[T] {
		return Entry[T]{
			Operator: graph.Operator{Name: name, Versions: []int{7, 14, 22}, Min: 3, Max: inputs, Outputs: outputs,
				Check: func(c *graph.Check) error { return checkRecurrent(c, kind) }},
			Rule: recurrentRule, Compile: compileRecurrent[T], Weighs: true,
		}
	}
	return []Entry[T]{entry("RNN", 6, 2, simpleCell), entry("GRU", 6, 2, gatedCell), entry("LSTM", 8, 3, memoryCell), byteLSTM[T]()}
}

// recurrentKind is the cell that is repeated.
type recurrentKind int

const (
	simpleCell recurrentKind = iota // RNN
	gatedCell                       // GRU
	memoryCell                      // LSTM
	byteCell                        // DynamicQuantizeLSTM: a memoryCell, its weights of bytes
)

// gates is how many vectors of the state's size a step computes.
func (k recurrentKind) gates() int { return [...]int{1, 3, 4}[k] }

// The inputs after X, W and R, by number; the last two are the LSTM's.
const (
	recurrentBias = iota + 3
	recurrentLengths
	recurrentState
	recurrentMemory
	recurrentPeepholes
)

// recurrence is what the attributes and shapes of a node say.
type recurrence struct {
	kind                recurrentKind
	steps, in, hidden   int
	backwards           []bool // by direction
	rowsFirst           bool   // layout 1: the batch axis is the first of all tensors
	clip                float64
	coupled, resetAfter bool // attributes input_forget and linear_before_reset
	activations         []activation
	bytes               bool // weights of bytes: see byteLSTM
}

// chunk bounds the steps whose inputs are multiplied by their weights at once: enough for
// a few rows to fill a product.
const chunk = 16

// Scratch is the elements per row of a step's gates, of its recurrent part, and of state
// and memory.
func (r *recurrence) Scratch() int {
	wide := r.kind.gates() * r.hidden
	return min(r.steps, chunk)*wide + wide + 3*r.hidden + r.byteScratch()
}

func checkRecurrent(c *graph.Check, kind recurrentKind) error {
	for i, v := range c.Inputs {
		if bytes := kind == byteCell && (i == 1 || i == 2 || i >= inputScale); bytes {
			continue
		}
		if i != recurrentLengths && v != nil && (!v.Type.Floating() || v.Type != c.Inputs[0].Type) {
			return fmt.Errorf("input %d (%q) must be of the floating type of input 0, is %s", i, v.Name, v.Type)
		}
	}
	r := &recurrence{kind: kind, clip: c.AttrFloat("clip", 0), rowsFirst: c.AttrInt("layout", 0) != 0,
		coupled: c.AttrInt("input_forget", 0) != 0, resetAfter: c.AttrInt("linear_before_reset", 0) != 0}
	if kind == byteCell {
		r.kind, kind, r.bytes, r.rowsFirst = memoryCell, memoryCell, true, false
	}
	x := c.Inputs[0].Shape
	if len(x) != 3 {
		return fmt.Errorf("needs a tensor of three axes, has %s", graph.ShapeText(x))
	}
	batch, steps := 1, 0
	if r.rowsFirst {
		batch, steps = 0, 1
	}
	if graph.IsRows(x[steps]) || graph.IsRows(x[2]) {
		return fmt.Errorf("mixes rows: it takes axis %d of %s for the rows, and the batch axis is %d; exchange them with Transpose, or set layout", batch, graph.ShapeText(x), c.Inputs[0].BatchAxis())
	}
	if r.steps, r.in = x[steps], x[2]; r.in == 0 {
		return fmt.Errorf("its sequences %s hold no numbers", graph.ShapeText(x))
	}
	switch d := c.Attrs["direction"].String; d {
	case "", "forward":
		r.backwards = []bool{false}
	case "reverse":
		r.backwards = []bool{true}
	case "bidirectional":
		r.backwards = []bool{false, true}
	default:
		return fmt.Errorf("unknown direction %q", d)
	}
	if err := r.readWeights(c); err != nil {
		return err
	}
	if err := r.readStates(c, x[batch]); err != nil {
		return err
	}
	var err error
	if r.activations, err = readActivations(c, kind, len(r.backwards)); err != nil {
		return err
	}
	c.Resolved = r
	return r.setOutputs(c, x[batch])
}

// readWeights checks W [directions, gates*hidden, in], R, B and P.
func (r *recurrence) readWeights(c *graph.Check) error {
	if r.bytes {
		if err := r.readBytes(c); err != nil {
			return err
		}
		return r.readFloats(c, recurrentBias, recurrentPeepholes)
	}
	dirs, gates := len(r.backwards), r.kind.gates()
	if s := c.Inputs[2].Shape; len(s) != 3 || s[2] < 1 {
		return fmt.Errorf("input 2 (%q) has shape %s, needs [%d, %d*hidden, hidden]", c.Inputs[2].Name, graph.ShapeText(s), dirs, gates)
	} else {
		r.hidden = s[2]
	}
	if err := r.checkHidden(c); err != nil {
		return err
	}
	return r.readFloats(c, 1, 2, recurrentBias, recurrentPeepholes)
}

func (r *recurrence) checkHidden(c *graph.Check) error {
	if h := c.AttrInt("hidden_size", int64(r.hidden)); h != int64(r.hidden) {
		return fmt.Errorf("attribute \"hidden_size\" is %d, and the weights are for %d", h, r.hidden)
	}
	if r.hidden > 1<<28 {
		return fmt.Errorf("a state of %d numbers is too large", r.hidden)
	}
	return nil
}

// readFloats checks those of the weights that are floats.
func (r *recurrence) readFloats(c *graph.Check, inputs ...int) error {
	dirs, gates := len(r.backwards), r.kind.gates()
	want := map[int][]int{1: {dirs, gates * r.hidden, r.in}, 2: {dirs, gates * r.hidden, r.hidden}, recurrentBias: {dirs, 2 * gates * r.hidden}, recurrentPeepholes: {dirs, 3 * r.hidden}}
	for _, i := range inputs {
		if !c.Has(i) {
			continue
		}
		v := c.Inputs[i]
		if !sameShape(v.Shape, want[i]) {
			return fmt.Errorf("input %d (%q) has shape %s, needs %v", i, v.Name, graph.ShapeText(v.Shape), want[i])
		}
		if v.Const == nil {
			return fmt.Errorf("input %d (%q) holds weights, which must be constants", i, v.Name)
		}
	}
	return nil
}

func sameShape(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// readStates checks lengths and initial states. A model traced with one row may hold
// those of one row.
func (r *recurrence) readStates(c *graph.Check, rows int) error {
	one := func(d int) bool { return d == rows || d == 1 && c.TracedWithOneRow() }
	if c.Has(recurrentLengths) {
		v := c.Inputs[recurrentLengths]
		if v.Type.Floating() || v.Type == graph.Bool || len(v.Shape) != 1 || !one(v.Shape[0]) {
			return fmt.Errorf("input %d (%q) must be the length of each sequence, is %s %s", recurrentLengths, v.Name, v.Type, graph.ShapeText(v.Shape))
		}
	}
	for _, i := range []int{recurrentState, recurrentMemory} {
		if !c.Has(i) {
			continue
		}
		s := append([]int(nil), c.Inputs[i].Shape...)
		if len(s) == 3 && r.rowsFirst {
			s[0], s[1] = s[1], s[0]
		}
		if len(s) != 3 || s[0] != len(r.backwards) || !one(s[1]) || s[2] != r.hidden {
			return fmt.Errorf("input %d (%q) has shape %s, needs a state of %d for each row and direction", i, c.Inputs[i].Name, graph.ShapeText(c.Inputs[i].Shape), r.hidden)
		}
	}
	return nil
}

func (r *recurrence) setOutputs(c *graph.Check, rows int) error {
	dirs, t := len(r.backwards), c.Inputs[0].Type
	all, last := []int{r.steps, dirs, rows, r.hidden}, []int{dirs, rows, r.hidden}
	if r.rowsFirst {
		all, last = []int{rows, r.steps, dirs, r.hidden}, []int{rows, dirs, r.hidden}
	}
	if err := errors.Join(c.Set(0, t, all), c.Set(1, t, last), c.Set(2, t, append([]int(nil), last...))); err != nil {
		return err
	}
	if !graph.IsRows(rows) {
		work := []int{rows, r.Scratch()}
		n, ok := graph.Elements(work)
		if !ok {
			return fmt.Errorf("shape %v overflows", work)
		}
		if err := c.Fits(n, "the states of all rows", work); err != nil {
			return err
		}
	}
	return c.MultiplyAdds(append(all, r.kind.gates()), r.in+r.hidden)
}

// recurrentRule: at a step the output depends on the inputs up to that step, backwards on
// those from it on, and on the initial state; the last state depends on all steps.
func recurrentRule(n *graph.Node) Rule {
	r, ok := n.Resolved.(*recurrence)
	if !ok {
		return opaque(n)
	}
	dirs := len(r.backwards)
	given := func(i int) bool { return i < len(n.Inputs) && n.Inputs[i] != nil }
	return Rule{Cost: r.steps*r.in + 2*r.hidden + 1, Each: func(out, e int, yield Link) {
		from, to := 0, r.steps
		d := e / r.hidden % dirs
		if out == 0 {
			if t := e / (r.hidden * dirs); r.backwards[d] {
				from = t
			} else {
				to = t + 1
			}
		}
		for i := from * r.in; i < to*r.in; i++ {
			yield(0, i, 1)
		}
		if given(recurrentLengths) {
			yield(recurrentLengths, 0, 1)
		}
		for _, k := range []int{recurrentState, recurrentMemory} {
			if given(k) {
				for j := range r.hidden {
					yield(k, d*r.hidden+j, 1)
				}
			}
		}
	}}
}
