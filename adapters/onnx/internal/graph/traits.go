package graph

// Traits say what kind of function an operator is. Whoever rewrites a graph, or reads what it
// computes, asks for them in place of names.
type Traits uint16

const (
	// Pointwise: a function of its first input, number by number.
	Pointwise Traits = 1 << iota
	// Broadcasting: a function of several inputs, number by number.
	Broadcasting
	// Reducing: over axes that an attribute or the second input names.
	Reducing
	// Reshaping: the numbers of its first input in their order, in another shape or type.
	Reshaping
	// Affine: if its inputs grow by the same number from each row to the next, so do its outputs.
	Affine
	// Indexing: indices and masks are made by it, so it is computed when the graph is read if all
	// rows have the same inputs.
	Indexing
	// Sizing: shapes are made by it.
	Sizing
	// Arithmetic: of inputs with finitely many values it makes outputs with finitely many.
	Arithmetic
	// Indicating: 1 at the level that the input has, 0 at the others.
	Indicating
	// Comparing: its answer for NaN is one that numbers have, too.
	Comparing
	// Ordering: it tells which of two inputs is larger.
	Ordering
	// Undefined: NaN for some numbers, as the logarithm of a negative one.
	Undefined
	// Adding: products, sums and joined axes, of which linear layers are made.
	Adding
	// Multiplying: the matrix product of its first two inputs, plus a third one if it has that.
	Multiplying
)

// is reports whether the operator of n has one of the traits.
func (c *checker) is(n *Node, t Traits) bool {
	op := c.ops.Find(n.Key())
	return op != nil && op.Is&t != 0
}
