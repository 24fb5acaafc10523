package wiring

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/durable"
)

// Network is an ONNX file that was read and checked.
type Network struct {
	Graph  *onnx.Graph
	Path   string // as given
	SHA256 string // of the very bytes that were loaded (onnx.Graph.SHA256)

	MaxMemory int64 // as Load was given it; it bounds the bytes that blocks of rows are computed in, too

	Constants map[string][]float64 // of its inputs, as LoadWith was given them
}

// engine computes the network within its bound.
func (n *Network) engine(p onnx.Precision) onnx.GoEngine {
	return onnx.GoEngine{Precision: p, MaxMemory: n.MaxMemory}
}

// Load reads and checks a network. maxMemory bounds its tensors in bytes; 0 is the
// bound that onnx.LoadOptions has.
func Load(path string, maxMemory int64) (*Network, error) { return LoadWith(path, maxMemory, nil) }

// LoadWith is Load with values of inputs that are constants (onnx.LoadOptions).
func LoadWith(path string, maxMemory int64, constants map[string][]float64) (*Network, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // to open a pipe could wait for ever
		return nil, fmt.Errorf("model %q is not a regular file: name an ONNX file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", path, durable.Reason(err))
	}
	defer f.Close()
	g, err := onnx.Load(f, &onnx.LoadOptions{MaxMemory: maxMemory, External: onnx.Beside(path), Constants: constants})
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", path, err)
	}
	return &Network{g, path, g.SHA256(), maxMemory, constants}, nil
}

// The names of the precisions that a network is computed in.
const (
	Double = "float64"
	Single = "float32"
)

// Precision is that of the name; "" is Double.
func Precision(name string) (onnx.Precision, error) {
	switch name {
	case "", Double:
		return onnx.Double, nil
	case Single:
		return onnx.Single, nil
	}
	return onnx.Double, fmt.Errorf("precision %q: it is %s or %s", name, Double, Single)
}

// Reference is what a result says of its network: enough to open it again.
type Reference struct {
	Path   string              `json:"path"`
	SHA256 string              `json:"sha256"`
	Inputs map[string][]string `json:"inputs"` // columns of each input, in order

	// BoundBy says how the columns of an input were found whose names do not decide it.
	BoundBy     map[string]string    `json:"bound_by,omitempty"`
	Rounded     []string             `json:"rounded,omitempty"` // columns that terms see as the network does (onnx.Model.Rows)
	Factors     []string             `json:"factors,omitempty"` // columns held as categories
	MaxOrder    int                  `json:"max_order,omitempty"`
	Deep        []string             `json:"deep,omitempty"`
	Learned     []string             `json:"learned,omitempty"`
	Predictor   []string             `json:"predictor,omitempty"`
	NoStructure bool                 `json:"no_structure,omitempty"`
	Clip        float64              `json:"clip,omitempty"`      // onnx.Options.Clip
	Constants   map[string][]float64 `json:"constants,omitempty"` // of inputs: onnx.LoadOptions.Constants
	Precision   string               `json:"precision,omitempty"` // Single; "": Double
	// Classes are predictors that a softmax takes together; nil: predictors are the network's own.
	Classes *ClassesReference `json:"classes,omitempty"`
	// Members are several networks; Path is the folder that they lie in then, and SHA256 "".
	Members []MemberReference `json:"members,omitempty"`

	File string `json:"-"` // where Reopen found it
}

// How the columns of an input were found where their names do not decide it.
const (
	ByPosition = "position" // the columns that were left, in the order of the data
	ByOption   = "option"   // somebody named them
)

// boundBy says it for each input whose columns have other names than its numbers;
// named are those whose columns somebody named.
func boundBy(g *onnx.Graph, bind onnx.Binding, named map[string][]string) map[string]string {
	how := map[string]string{}
	for i, own := range onnx.Unbound(g) {
		name := own.Input
		switch {
		case slices.Equal(bind[i].Columns, own.Columns) || slices.Equal(bind[i].Columns, []string{name}):
		case named[name] != nil:
			how[name] = ByOption
		default:
			how[name] = ByPosition
		}
	}
	return how
}

// ReferenceOf is what was written of r's network; nothing if somebody else wrote r.
func ReferenceOf(r *decompose.Result) Reference {
	var ref Reference
	if json.Unmarshal(r.Model, &ref) != nil {
		return Reference{}
	}
	return ref
}

// In is the reference as a result in dir has it: with the path as seen from there, or,
// if dir is "", the absolute one.
func (ref Reference) In(dir string) (json.RawMessage, error) {
	place, err := relativeTo(dir, ref.Path)
	if err != nil {
		return nil, err
	}
	ref.Path = place
	ref.Members = slices.Clone(ref.Members)
	for i := range ref.Members {
		if ref.Members[i].Path, err = relativeTo(dir, ref.Members[i].Path); err != nil {
			return nil, err
		}
	}
	return json.Marshal(ref)
}

// relativeTo is path as seen from the directory dir, with slashes, so that a result
// and its network can move together and equal work in two places is equal; the
// absolute path where there is none (another volume).
func relativeTo(dir, path string) (string, error) {
	abs, err := durable.Resolve(path)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(dir, abs); err == nil {
		return filepath.ToSlash(rel), nil
	}
	return abs, nil
}

// ByPosition lists the inputs that took their columns by position, in alphabetical order.
func (ref *Reference) ByPosition() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(ref.BoundBy)) {
		if ref.BoundBy[name] == ByPosition {
			names = append(names, name)
		}
	}
	return names
}

// Reopen opens the network that r, read from dir, was made of; path overrides the
// recorded one, precision (if it is not "") the precision. maxMemory as in Load.
//
// Errors: a network that is not there, or another one (*MovedError if path is ""), or
// that cannot be read.
func Reopen(r *decompose.Result, dir, path string, maxMemory int64, precision string) (*onnx.Model, *Reference, error) {
	var ref Reference
	if err := json.Unmarshal(r.Model, &ref); err != nil {
		return nil, nil, fmt.Errorf("the decomposition does not say which network it is of: %w", err)
	}
	if len(ref.Members) > 0 {
		return nil, nil, fmt.Errorf("the decomposition is of %d networks, not of one", len(ref.Members))
	}
	if ref.SHA256 == "" {
		return nil, nil, errors.New("the decomposition does not say which network it is of: it has no sha256")
	}
	moved := func(err error) error { return err }
	if path == "" {
		path, moved = ref.find(dir), func(err error) error { return &MovedError{err} }
	}
	n, err := LoadWith(path, maxMemory, ref.Constants)
	if err != nil {
		return nil, nil, moved(err)
	}
	if n.SHA256 != ref.SHA256 {
		return nil, nil, moved(fmt.Errorf("model %q is not the network of this decomposition: its sha256 is %s, want %q", path, n.SHA256, ref.SHA256))
	}
	if precision == "" {
		precision = ref.Precision
	}
	m, err := ref.model(n, precision)
	if err != nil {
		return nil, nil, fmt.Errorf("model %q: %w", path, err)
	}
	ref.File = path
	return m, &ref, nil
}

// model is the network as it was bound and read.
func (ref *Reference) model(n *Network, precision string) (*onnx.Model, error) {
	g := n.Graph
	p, err := Precision(precision)
	if err != nil {
		return nil, err
	}
	bind := make(onnx.Binding, len(g.Inputs()))
	for i, in := range g.Inputs() {
		bind[i] = onnx.BoundInput{Input: in.Name, Columns: ref.Inputs[in.Name]}
	}
	return onnx.NewModel(g, bind, &onnx.Options{
		MaxOrder: ref.MaxOrder, Deep: ref.Deep, Learned: ref.Learned, Predictor: ref.Predictor, NoStructure: ref.NoStructure, Clip: ref.Clip,
		Engine: n.engine(p), Decode: basis.Decode,
	})
}

// find is where the network is: the recorded path, seen from dir (earlier versions
// recorded absolute ones), or, if there is nothing, its file name beside dir. The
// hash decides whether it is the right one.
func (ref *Reference) find(dir string) string {
	recorded := filepath.FromSlash(ref.Path)
	if followed, err := durable.Resolve(dir); err == nil && !filepath.IsAbs(recorded) {
		recorded = filepath.Join(followed, recorded)
	}
	if _, err := os.Stat(recorded); err == nil {
		return recorded
	}
	beside := filepath.Join(dir, "..", filepath.Base(recorded))
	if _, err := os.Stat(beside); err == nil {
		return beside
	}
	return recorded
}
