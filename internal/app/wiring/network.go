package wiring

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	Path   string // as given; "": it was read from a stream
	SHA256 string // of the very bytes that were loaded (onnx.Graph.SHA256)

	MaxMemory int64 // as Load was given it; it bounds the bytes that blocks of rows are computed in, too

	// Predictions says that the network is a model that is known by its predictions; nil: it is one of an ONNX file.
	Predictions *Predictions

	raw []byte // the file, if there is no Path
}

// String names the network in messages.
func (n *Network) String() string {
	if n.Predictions != nil {
		return fmt.Sprintf("the predictions %.300q", n.Predictions.Columns)
	}
	if n.Path == "" {
		return "the network that was read from a stream"
	}
	return fmt.Sprintf("model %q", n.Path)
}

// engine computes the network within its bound.
func (n *Network) engine(p onnx.Precision) onnx.GoEngine {
	return onnx.GoEngine{Precision: p, MaxMemory: n.MaxMemory}
}

// Load reads and checks a network. maxMemory bounds its tensors in bytes; 0 is the
// bound that onnx.LoadOptions has.
func Load(path string, maxMemory int64) (*Network, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // to open a pipe could wait for ever
		return nil, fmt.Errorf("model %q is not a regular file: name an ONNX file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", path, durable.Reason(err))
	}
	defer f.Close()
	g, err := onnx.Load(f, &onnx.LoadOptions{MaxMemory: maxMemory, External: onnx.Beside(path)})
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", path, err)
	}
	return &Network{Graph: g, Path: path, SHA256: g.SHA256(), MaxMemory: maxMemory}, nil
}

// LoadFrom reads and checks a network from r, to whose end it reads. It keeps the bytes. A network
// whose tensors lie in files of their own is an error.
func LoadFrom(r io.Reader, maxMemory int64) (*Network, error) {
	n := &Network{MaxMemory: maxMemory}
	var err error
	if n.raw, err = io.ReadAll(r); err == nil {
		n.Graph, err = onnx.Load(bytes.NewReader(n.raw), &onnx.LoadOptions{MaxMemory: maxMemory})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n, err)
	}
	n.SHA256 = n.Graph.SHA256()
	return n, nil
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

// The kinds of models that are no ONNX file.
const (
	Function = "function" // a value of a program
	Columns  = "columns"  // it is known by columns of the data, which hold what it predicts
)

// Reference is what a result says of its model: of a network enough to open it again.
type Reference struct {
	Kind    string   `json:"kind,omitempty"`    // Function, Columns; "": ONNX
	Columns []string `json:"columns,omitempty"` // of a Function: those that it reads

	Predictions []string `json:"predictions,omitempty"` // of Columns: those of the one model, see Predictions
	Link        string   `json:"link,omitempty"`
	Clip        float64  `json:"clip,omitempty"`

	Path   string              `json:"path"`
	SHA256 string              `json:"sha256"`
	Inputs map[string][]string `json:"inputs"` // columns of each input, in order

	// BoundBy says how the columns of an input were found whose names do not decide it.
	BoundBy     map[string]string `json:"bound_by,omitempty"`
	Rounded     []string          `json:"rounded,omitempty"` // columns that terms see as the network does (onnx.Model.Rows)
	Factors     []string          `json:"factors,omitempty"` // columns held as categories
	MaxOrder    int               `json:"max_order,omitempty"`
	Deep        []string          `json:"deep,omitempty"`
	Learned     []string          `json:"learned,omitempty"`
	Predictor   []string          `json:"predictor,omitempty"`
	NoStructure bool              `json:"no_structure,omitempty"`
	Precision   string            `json:"precision,omitempty"` // Single; "": Double
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
	switch ref.Kind {
	case Function:
		return json.Marshal(function{ref.Kind, ref.Columns, ref.Rounded})
	case Columns:
		return ref.columnsJSON()
	}
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

// function is what a result says of a model that is no file.
type function struct {
	Kind    string   `json:"kind"`
	Columns []string `json:"columns"`
	Rounded []string `json:"rounded,omitempty"`
}

// relativeTo is path as seen from the directory dir, with slashes, so that a result
// and its network can move together and equal work in two places is equal; the
// absolute path where there is none (another volume).
func relativeTo(dir, path string) (string, error) {
	if path == "" { // there is no file
		return "", nil
	}
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
	if ref.Kind == Columns && len(ref.Members) == 0 {
		m, err := ref.reopenPredictions(ref.Predictions, path, cmp.Or(precision, ref.Precision))
		return m, &ref, err
	}
	if err := ref.ofOneFile(); err != nil {
		return nil, nil, err
	}
	moved := func(err error) error { return err }
	if path == "" {
		moved = func(err error) error { return &MovedError{err} }
		if ref.Path == "" {
			return nil, nil, moved(fmt.Errorf("the decomposition is of a network that was read from a stream, so it names no file: give the network, whose sha256 is %s", ref.SHA256))
		}
		path = ref.find(dir)
	}
	n, err := Load(path, maxMemory)
	if err != nil {
		return nil, nil, moved(err)
	}
	if err := ref.is(n); err != nil {
		return nil, nil, moved(err)
	}
	m, err := ref.model(n, cmp.Or(precision, ref.Precision))
	if err != nil {
		return nil, nil, err
	}
	ref.File = path
	return m, &ref, nil
}

// ReopenAs is n as the decomposition r has it, whose network it must be.
func ReopenAs(r *decompose.Result, n *Network) (*onnx.Model, *Reference, error) {
	ref := ReferenceOf(r)
	if err := ref.ofOneFile(); err != nil {
		return nil, nil, err
	}
	if err := ref.is(n); err != nil {
		return nil, nil, err
	}
	m, err := ref.model(n, ref.Precision)
	if err != nil {
		return nil, nil, err
	}
	ref.Path, ref.File = n.Path, n.Path
	return m, &ref, nil
}

// CheckModel refuses m if it cannot be the model, no file, that r was made of.
func CheckModel(r *decompose.Result, m decompose.Model) (*Reference, error) {
	ref := ReferenceOf(r)
	if ref.Kind != Function {
		return nil, errors.New("the decomposition is of an ONNX network: read it with that")
	}
	if own := m.Columns(); !slices.Equal(own, ref.Columns) {
		return nil, fmt.Errorf("the model reads the columns %.300q, and the one that was decomposed %.300q: give the model that was decomposed", own, ref.Columns)
	}
	return &ref, nil
}

// ofOneFile refuses a reference that is not to a file.
func (ref *Reference) ofOneFile() error {
	switch {
	case ref.Kind == Function:
		return errors.New("the decomposition is of a model that is no file, but a value of the Go program that decomposed it: only a program that has the model can open it (pho.ReadModel)")
	case ref.Kind == Columns:
		return errors.New("the decomposition is of a model that is known by its predictions, columns of the data, and not of a file")
	case ref.Kind != "":
		return fmt.Errorf("the decomposition is of a model of kind %q, which this version does not know: use a newer one", ref.Kind)
	case len(ref.Members) > 0:
		return fmt.Errorf("the decomposition is of %d networks, not of one", len(ref.Members))
	case ref.SHA256 == "":
		return errors.New("the decomposition does not say which network it is of: it has no sha256")
	}
	return nil
}

// is refuses another network than the one that was decomposed.
func (ref *Reference) is(n *Network) error {
	if n.SHA256 == ref.SHA256 {
		return nil
	}
	return fmt.Errorf("%s is not the network of this decomposition: its sha256 is %s, want %q", n, n.SHA256, ref.SHA256)
}

// model is the network as it was bound and read.
func (ref *Reference) model(n *Network, precision string) (*onnx.Model, error) {
	g := n.Graph
	p, err := Precision(precision)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n, err)
	}
	bind := make(onnx.Binding, len(g.Inputs()))
	for i, in := range g.Inputs() {
		bind[i] = onnx.BoundInput{Input: in.Name, Columns: ref.Inputs[in.Name]}
	}
	m, err := onnx.NewModel(g, bind, &onnx.Options{
		MaxOrder: ref.MaxOrder, Deep: ref.Deep, Learned: ref.Learned, Predictor: ref.Predictor, NoStructure: ref.NoStructure,
		Engine: n.engine(p), Decode: basis.Decode,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n, err)
	}
	return m, nil
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
