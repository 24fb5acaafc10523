package boosters

import (
	"errors"
	"fmt"

	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// model is what every reader makes of its file:
//
//	eta_k = base_k + sum over the trees, prediction = link^-1(eta)
type model struct {
	library, version string
	columns []column
	named   bool // the file has the names of its columns
	single  bool // numbers enter as float32
	forest  *tree.Forest
	link    link
	outputs []string // a name for each target
	notes   []string
}

// column is a feature of the model.
type column struct {
	name string
}

// link is the response function of a model, as nodes of ONNX.
type link uint8

const (
	identity link = iota
	logit         // p = 1/(1 + exp(-eta))
	log           // mu = exp(eta)
	softplus      // mu = log(1 + exp(eta))
	softmax       // p_k = exp(eta_k)/sum exp(eta_j)
)

func (l link) operator() string {
	return [...]string{"Identity", "Sigmoid", "Exp", "Softplus", "Softmax"}[l]
}

// The names of tensors.
const (
	features = "features"
	score    = "score"
)

// check makes errors of what a damaged file may hold.
func (m *model) check() error {
	if len(m.columns) == 0 || len(m.columns) > maxColumns {
		return fmt.Errorf("it has %d features; 1 to %d are supported", len(m.columns), maxColumns)
	}
	seen := map[string]bool{}
	for _, c := range m.columns {
		if m.named && (c.name == "" || seen[c.name]) {
			return fmt.Errorf("the feature name %q is empty or there twice", c.name)
		}
		seen[c.name] = true
	}
	for i := range m.forest.Nodes {
		if n := &m.forest.Nodes[i]; n.Mode != tree.Leaf && int(n.Feature) >= len(m.columns) {
			return fmt.Errorf("%s splits feature %d of %d", m.forest.Name(int32(i)), n.Feature, len(m.columns))
		}
	}
	return nil
}

const maxColumns = 100_000

// load is the network of the model.
func (m *model) load(sha256 string, o *onnx.LoadOptions) (*onnx.Graph, error) {
	b := onnxpb.NewBuilder(21)
	b.Import("ai.onnx.ml", 5)
	b.Model().ProducerName, b.Model().ProducerVersion = m.library, m.version
	t := onnxpb.TensorProto_DOUBLE
	if m.single {
		t = onnxpb.TensorProto_FLOAT
	}
	if m.named {
		var names []string
		for _, c := range m.columns {
			b.AddInput(c.name, t, onnxpb.Rows, 1)
			names = append(names, c.name)
		}
		b.AddNode("Concat", names, m.inner(features), onnxpb.Int("axis", 1))
	} else {
		b.AddInput(features, t, onnxpb.Rows, len(m.columns))
	}
	b.AddNodes("ai.onnx.ml", "TreeEnsemble", []string{m.inner(features)}, []string{m.inner(score)})
	m.respond(b, t)
	file, err := b.Marshal()
	if err != nil {
		return nil, fmt.Errorf("boosters: %w", err)
	}
	a := onnx.Assembly{File: file, Forests: map[string]*tree.Forest{m.inner(score): m.forest}, Notes: m.notes, SHA256: sha256}
	g, err := a.Load(o)
	return g, errors.Join(err)
}

// inner is a name that no column has.
func (m *model) inner(name string) string {
	if !m.named && name == features {
		return name
	}
	return "pho/" + name
}

// respond writes the outputs.
func (m *model) respond(b *onnxpb.Builder, t onnxpb.TensorProto_DataType) {
	k := m.forest.Targets
	if m.link == softmax {
		b.AddNode("Softmax", []string{m.inner(score)}, m.outputs[0], onnxpb.Int("axis", 1))
		b.Output(m.outputs[0], t, onnxpb.Rows, k)
		return
	}
	if k == 1 {
		b.AddNode(m.link.operator(), []string{m.inner(score)}, m.outputs[0])
		b.Output(m.outputs[0], t, onnxpb.Rows, 1)
		return
	}
	b.AddNode(m.link.operator(), []string{m.inner(score)}, m.inner("response"))
	b.AddNodes("", "Split", []string{m.inner("response")}, m.outputs, onnxpb.Int("axis", 1), onnxpb.Int("num_outputs", int64(k)))
	for _, name := range m.outputs {
		b.Output(name, t, onnxpb.Rows, 1)
	}
}
