package gorgonia

import (
	"fmt"
	"strings"
	"sync"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// building serialises the construction of graphs: gorgonia and onnx-go number what they
// make by globals of theirs.
var building sync.Mutex

// program evaluates nodes of a graph one after another, in the goroutine of its caller.
// gorgonia's own machines run in a goroutine of theirs, where a panic on an unexpected
// shape ends the process and cannot be recovered; the operations are the same.
type program struct {
	nodes    G.Nodes // what is needed, operands first
	operands [][]int // by node: where its operands are in nodes
	at       map[*G.Node]int
	values   []G.Value
	in       []G.Value // of one operation
}

// newProgram prepares the evaluation of the nodes wanted. Every leaf gets a copy of its
// value: operations flip shared tensors to transpose them. Dropout and normalisation are
// set to inference.
func newProgram(wanted ...*G.Node) (p *program, err error) {
	defer recovered(&err, "preparing the graph")
	p = &program{at: map[*G.Node]int{}}
	for _, n := range wanted {
		if err := p.add(n); err != nil {
			return nil, err
		}
	}
	p.values = make([]G.Value, len(p.nodes))
	for i, n := range p.nodes {
		if op := n.Op(); op != nil {
			if t, ok := op.(G.TrainModeOp); ok {
				if err := t.SetTraining(false); err != nil {
					return nil, fmt.Errorf("gorgonia: node %q: %w", n.Name(), err)
				}
			}
			continue
		}
		if n.Value() == nil {
			continue // an input; a weight without a value is told when it is read
		}
		if p.values[i], err = G.CloneValue(n.Value()); err != nil {
			return nil, fmt.Errorf("gorgonia: node %q: copying its value: %w", n.Name(), err)
		}
	}
	return p, nil
}

// add puts n after its operands. The walk keeps its own stack: graphs may be deep.
func (p *program) add(n *G.Node) error {
	stack := []*G.Node{n}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		if _, done := p.at[n]; done {
			stack = stack[:len(stack)-1]
			continue
		}
		if n.Op() != nil && strings.HasSuffix(fmt.Sprintf("%T", n.Op()), "randomOp") {
			return fmt.Errorf("gorgonia: node %q draws random numbers: a row would have another answer each time; build the graph for inference", n.Name())
		}
		var operands []int
		ready := true
		for it := n.Graph().From(n.ID()); it.Next(); {
			child := it.Node().(*G.Node)
			i, ok := p.at[child]
			if !ok {
				stack, ready = append(stack, child), false
			}
			operands = append(operands, i)
		}
		if ready {
			p.at[n] = len(p.nodes)
			p.nodes, p.operands = append(p.nodes, n), append(p.operands, operands)
			stack = stack[:len(stack)-1]
		}
	}
	return nil
}

// set gives an input its value.
func (p *program) set(n *G.Node, v tensor.Tensor) {
	if i, ok := p.at[n]; ok {
		p.values[i] = v
	}
}

// value is that of a node after run.
func (p *program) value(n *G.Node) G.Value { return p.values[p.at[n]] }

func (p *program) run() (err error) {
	var n *G.Node
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("gorgonia: node %q (%v) panics: %v", n.Name(), n.Op(), r)
		}
	}()
	for i := range p.nodes {
		n = p.nodes[i]
		if n.Op() == nil {
			if p.values[i] == nil {
				return fmt.Errorf("gorgonia: node %q has no value; bind its weights before (gorgonia.Let, WithValue, WithInit)", n.Name())
			}
			continue
		}
		p.in = p.in[:0]
		for _, k := range p.operands[i] {
			p.in = append(p.in, p.values[k])
		}
		if p.values[i], err = n.Op().Do(p.in...); err != nil {
			return fmt.Errorf("gorgonia: node %q: %w", n.Name(), err)
		}
	}
	return nil
}

// recovered turns a panic into an error.
func recovered(err *error, doing string) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("gorgonia: %s: panic: %v", doing, r)
	}
}
