package engine

import (
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// fusion puts fewer nodes in the place of some that compute the same, up to rounding. The graph
// stays as it is: readers of what a node does, or depends on, look there. Activations stay steps
// of their own: the rows of a block are in the second cache, where a pass over them takes a
// hundredth of their product.
type fusion struct {
	table   operator.Table[float64]
	nodes   [][]*graph.Node // those in the place of each
	at      map[*graph.Node]int
	from    map[*graph.Value]*graph.Node   // the node that computes a value
	readers map[*graph.Value][]*graph.Node // a node twice if it reads it twice
	wanted  map[*graph.Value]bool
	double  bool // computed in float64
	budget  int  // multiply-adds left for finding pieces
	room    int  // numbers left for tables of embeddings
}

// fused is nodes, in their order, with those joined that may be. Values in want, and those
// that a remaining node reads, are computed. pieces: networks of one number as piecewise linear functions.
func fused(table operator.Table[float64], nodes []*graph.Node, want []*graph.Value, double, pieces bool) []*graph.Node {
	f := &fusion{table, make([][]*graph.Node, len(nodes)), map[*graph.Node]int{}, map[*graph.Value]*graph.Node{}, map[*graph.Value][]*graph.Node{}, map[*graph.Value]bool{}, double, piecesBudget, tablesRoom}
	for _, v := range want {
		f.wanted[v] = true
	}
	for i, n := range nodes {
		f.enter(i, n)
	}
	f.everywhere(f.joins()...)
	f.everywhere(pass{f.multiplies, f.compose})
	if pieces {
		f.everywhere(pass{f.all, f.pieces})
	}
	f.everywhere(pass{f.multiplies, f.embedded})
	return slices.Concat(f.nodes...)
}

// pass rewrites a graph node by node: of the nodes that it is for, change replaces one, with others
// that end or begin there, or returns false.
type pass struct {
	of     func(*graph.Node) bool
	change func(*graph.Node) bool
}

// joins are the passes that know their pattern by its operators.
func (f *fusion) joins() []pass {
	of := func(keys ...string) func(*graph.Node) bool {
		return func(n *graph.Node) bool { return slices.Contains(keys, n.Key()) }
	}
	return []pass{
		{of("Mul"), f.silu},                      // x sigmoid(x)
		{of("Mul", "Div"), f.gelu},               // 0.5 x (1 + erf(x / sqrt 2))
		{of("Add"), f.bias},                      // a product plus a constant
		{of("Gemm"), f.column},                   // a product of one column that a Slice takes
		{of("Concat"), f.lookups},                // embeddings side by side
		{of("BatchNormalization"), f.normBehind}, // a product or convolution, scaled and shifted by channel
		{of("BatchNormalization"), f.normBefore}, // a product of scaled and shifted columns
	}
}

func (*fusion) all(*graph.Node) bool { return true }

func (f *fusion) multiplies(n *graph.Node) bool { return f.table.Is(n, graph.Multiplying) }

// everywhere lets passes replace the last node in each place, in order, as often as one of them does.
func (f *fusion) everywhere(passes ...pass) {
	for i := range f.nodes {
		for changed := true; changed && len(f.nodes[i]) > 0; {
			n := f.nodes[i][len(f.nodes[i])-1]
			changed = slices.ContainsFunc(passes, func(p pass) bool { return p.of(n) && p.change(n) })
		}
	}
}

func (f *fusion) enter(i int, n *graph.Node) {
	f.nodes[i], f.at[n] = append(f.nodes[i], n), i
	for _, v := range n.Inputs {
		if v != nil {
			f.readers[v] = append(f.readers[v], n)
		}
	}
	for _, v := range n.Outputs {
		if v != nil {
			f.from[v] = n
		}
	}
}

func (f *fusion) leave(n *graph.Node) {
	i := f.at[n]
	f.nodes[i] = slices.DeleteFunc(f.nodes[i], func(m *graph.Node) bool { return m == n })
	for _, v := range n.Inputs {
		f.readers[v] = slices.DeleteFunc(f.readers[v], func(r *graph.Node) bool { return r == n })
	}
}

// replace puts with in the place of last, and removes what led there.
func (f *fusion) replace(with, last *graph.Node, others ...*graph.Node) bool {
	i := f.at[last]
	f.leave(last)
	for _, n := range others {
		f.leave(n)
	}
	f.enter(i, with)
	return true
}

// into is the node that computes v if it is of that operator and its one output goes into
// one node alone, so that nobody misses it.
func (f *fusion) into(v *graph.Value, op string) *graph.Node {
	n := f.from[v]
	if n == nil || n.Key() != op || f.reader(v) == nil || len(n.Outputs) != 1 {
		return nil
	}
	return n
}

// reader is the node that alone reads v, and does so once.
func (f *fusion) reader(v *graph.Value) *graph.Node {
	if len(f.readers[v]) != 1 || f.wanted[v] {
		return nil
	}
	return f.readers[v][0]
}

// made is a node that computes the output of n from other inputs.
func made(n *graph.Node, op string, attrs map[string]graph.Attr, inputs ...*graph.Value) *graph.Node {
	c := *n
	c.Op, c.Domain, c.Attrs, c.Inputs, c.Resolved = op, "", attrs, inputs, nil
	return &c
}

// constant is a value like v with other numbers.
func constant(v *graph.Value, numbers []float64, shape ...int) *graph.Value {
	c := graph.NewInner(v.Name, v.Type, shape...)
	c.Const = &graph.Tensor{Type: v.Type, Shape: shape, F: numbers}
	return c
}
