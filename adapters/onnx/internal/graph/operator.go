package graph

import (
	"fmt"
	"strings"
)

// Operator is what reading a graph has to know about an operator.
type Operator struct {
	Domain string // "" for ai.onnx
	Name   string
	Is     Traits
	// Versions are the opsets of its domain at which its definition begins or changes,
	// ascending; Check follows them all. A file of an opset before the first is refused.
	Versions []int
	Min, Max int // inputs; Max < 0: any number
	Outputs  int // at most; < 0: any number
	// SizeInputs may be shapes computed from the number of rows; of TypeInputs only the
	// type matters.
	SizeInputs, TypeInputs []int
	// AnyLayout: Check follows batch axes that hold each row several times (RowsAxis).
	// Without it they are refused before Check.
	AnyLayout bool
	// Check checks a node's inputs and attributes, sets its outputs' types and shapes
	// and, in Node.Resolved, what running it needs. It refuses what mixes rows. A
	// *Tensor in Resolved is the output itself.
	Check func(c *Check) error
	// View reports whether output 0 of a node is input 0's memory under another shape or
	// type; nil: never.
	View func(n *Node) bool
	// Sizes applies the operator to numbers that may depend on the number of rows; a
	// nil result: it cannot. nil: never. With ReadsShape these are the sizes of its
	// input's shape.
	Sizes      func(c *Check, in []Sizes) (*Sizes, error)
	ReadsShape bool
	// Texts: it takes and gives tensors of text, as others do of numbers. Without it they
	// are refused before Check.
	Texts bool
	// Replace gives the nodes that compute the outputs in the place of a node whose inputs
	// are known, in order (Check.Replacement); nil, or nil nodes: it stays.
	// So an operator that joins a linear part and a head, as LinearClassifier does, becomes Gemm,
	// Sigmoid and Concat, whose terms, heads and fast products are known.
	Replace func(c *Check) ([]*Node, error)
	// Moves reports whether the outputs of n hold numbers of its input v as they are;
	// nil: never.
	Moves func(n *Node, v *Value) bool
}

// Key names an operator; outside ai.onnx "domain.Name".
func (o *Operator) Key() string { return operatorKey(o.Domain, o.Name) }

// Key names the node's operator.
func (n *Node) Key() string { return operatorKey(n.Domain, n.Op) }

func operatorKey(domain, name string) string {
	if domain == "" {
		return name
	}
	return domain + "." + name
}

// Operators are what graphs are checked by, and constants folded with.
type Operators interface {
	// Find is the operator of that key, nil if there is none.
	Find(key string) *Operator
	// Jumps reports whether a small change of an operand may change the output of that
	// operator by much.
	Jumps(key string) bool
	// Evaluate computes n's outputs, whose memory is allocated, from its constant inputs.
	Evaluate(n *Node) error
}

// Unsupported says that a node's operator is unknown, or not of the version that its
// opset asks for.
type Unsupported struct {
	Node    string // as messages name it
	Op      string
	Domain  string // "" for ai.onnx
	Version int    // the opset of its domain
	Reason  string
}

func (e *Unsupported) Error() string { return fmt.Sprintf("onnx: %s: %s", e.Node, e.Reason) }

// find is the operator of n in its version.
func find(ops Operators, n *Node) (*Operator, error) {
	op := ops.Find(n.Key())
	switch {
	case op == nil && n.drawsNumbers():
		return nil, n.unsupported("operator %s draws random numbers: no answer would repeat; export the model for inference, without it", n.Op)
	case op == nil && n.kerasLayer() != "":
		return nil, n.ofTensorFlow()
	case op == nil && knownDomain(n.Domain):
		return nil, n.unsupported("operator %q of domain %s (version %d) is not supported; export the model with another opset or exporter, replace the operator by others before the export, or run the model in another engine", n.Op, opName(domainName(n.Domain)), n.Version)
	case op == nil:
		return nil, n.unsupported("operator %q of domain %s (version %d) is a custom one, whose computation is not in the file; export the model without it, or with it as a function of the model, or run it in another engine", n.Op, opName(n.Domain), n.Version)
	case n.Version < op.Versions[0]:
		return nil, tooEarly(n, op.Versions[0])
	}
	return op, nil
}

// kerasLayer says which layer of Keras a node is that tf2onnx writes as an operator of
// TensorFlow, in the main domain; "": none.
func (n *Node) kerasLayer() string {
	if n.Domain != "" {
		return ""
	}
	switch n.Op {
	case "LookupTableFind", "LookupTableFindV2":
		return "a lookup in a table (Keras: StringLookup, IntegerLookup), whose entries are not in the file"
	case "StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong":
		return "a hash of text (Keras: Hashing)"
	case "Bucketize":
		return "a choice of intervals (Keras: Discretization)"
	}
	return ""
}

// ofTensorFlow refuses a node that is none of ONNX's (kerasLayer).
func (n *Node) ofTensorFlow() error {
	return n.unsupported("this is %s; the exporter left it as an operator of TensorFlow, which no ONNX runtime computes; export the model again without this layer, with the layer's output as input, and apply the layer to the data instead", n.kerasLayer())
}

func (n *Node) drawsNumbers() bool {
	switch n.Op {
	case "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial":
		return n.Domain == ""
	}
	return false
}

// knownDomain reports whether the ONNX standard defines the domain.
func knownDomain(d string) bool {
	return d == "" || d == "ai.onnx.ml" || strings.HasPrefix(d, "ai.onnx.preview")
}

func domainName(d string) string {
	if d == "" {
		return "ai.onnx"
	}
	return d
}

func (n *Node) unsupported(format string, args ...any) error {
	return &Unsupported{n.String(), n.Op, n.Domain, n.Version, fmt.Sprintf(format, args...)}
}

// tooEarly refuses an operator that begins with a later opset than the model's.
func tooEarly(n *Node, since int) error {
	return n.unsupported("domain %s has operator %q since version %d, and the model imports version %d; export it again with a later opset", domainName(n.Domain), n.Op, since, n.Version)
}
