package onnx

import (
	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// Assembly is a network that another package of this module has made of a file that is not ONNX; no other
// module can name the type of its trees.
type Assembly struct {
	File []byte // the network as ONNX
	// Sums are the trees of the nodes of TreeEnsemble, by the name of the node, whose attributes are left out.
	Sums map[string]*tree.Sum
	// Texts are the functions of the nodes of pho.TextNumbers, which turn a text into a number or NaN, by the name of
	// the node.
	Texts   map[string]func(string) float64
	Classes []string // of outputs that are probabilities of classes; nil: the file does not name them
	Notes   []string // what its user should know of it
	SHA256  string   // of the file that it was made of, in hexadecimal digits
}

// Load checks the network as the function Load does, and folds it; of o the bounds count.
func (a *Assembly) Load(o *LoadOptions) (*Graph, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	table := operator.NewFloat64()
	table.Give(a.Sums, a.Texts)
	g, err := graph.Read(a.File, graph.Limits{MaxMemory: opts.MaxMemory, MaxElements: opts.MaxElements, MaxWork: opts.MaxWork}, table)
	if err != nil {
		return nil, typed(err)
	}
	g.Notes = append(g.Notes, a.Notes...)
	if len(a.Classes) > 0 {
		g.ClassLabels = append(g.ClassLabels, a.Classes)
	}
	return &Graph{g: g, sha256: a.SHA256}, nil
}
