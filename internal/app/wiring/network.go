package wiring

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pho-go/pho/adapters/boosters"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/served"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/durable"
)

// Network is a model that was read from a file and checked: a network of ONNX, or a booster of a library.
type Network struct {
	Graph   *onnx.Graph // of a model behind an address its inputs alone
	Library string      // of a booster: see boosters.Library; "": it is a network of ONNX
	Path    string      // as given; "": it was read from a stream
	SHA256  string      // of the very bytes that were loaded (onnx.Graph.SHA256)

	MaxMemory int64 // as Load was given it; it bounds the bytes that blocks of rows are computed in, too

	// Predictions says that the network is a model that is known by its predictions; nil: it is one of an ONNX file.
	Predictions *Predictions
	// Asked says that these predictions are asked for at an address, which is Path; nil: the data have them.
	Asked *Asked

	Constants map[string][]float64 // of its inputs, as LoadWith was given them

	place string // Path made absolute, whatever directory the program goes to
	raw   []byte // the file, if there is no Path
}

// String names the network in messages.
func (n *Network) String() string {
	if n.inColumns() {
		return fmt.Sprintf("the predictions %.300q", n.Predictions.Columns)
	}
	if n.Path == "" {
		return "the network that was read from a stream"
	}
	return fmt.Sprintf("model %q", n.Path)
}

// inColumns reports whether columns of the data hold what the model predicts.
func (n *Network) inColumns() bool { return n.Predictions != nil && n.Asked == nil }

// predicted reports whether the model is known by what it predicts.
func (ref *Reference) predicted() bool { return ref.Kind == Columns || ref.Kind == Address }

// Load reads and checks a network. maxMemory bounds its tensors in bytes; 0 is the
// bound that onnx.LoadOptions has.
func Load(path string, maxMemory int64) (*Network, error) {
	return LoadWith(path, &onnx.LoadOptions{MaxMemory: maxMemory})
}

// LoadWith is Load with options of onnx.Load; files of its tensors are read from beside it. For ONNXRuntime they have KeepFile.
func LoadWith(path string, o *onnx.LoadOptions) (*Network, error) {
	if served.IsAddress(path) {
		return nil, fmt.Errorf("model %q is an address, and a file is needed here: a model behind an address has no structure to read, and is asked when it is decomposed", path)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // to open a pipe could wait for ever
		return nil, fmt.Errorf("model %q is not a regular file: name the file of a model", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", path, durable.Reason(err))
	}
	defer f.Close()
	n := &Network{Path: path, MaxMemory: o.MaxMemory, Constants: o.Constants}
	own := *o
	own.External = onnx.Beside(path)
	if err := n.read(f, &own); err != nil {
		return nil, &RefusedError{fmt.Errorf("model %q: %w", path, err)}
	}
	if n.place, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("model %q: %w", path, err)
	}
	return n, nil
}

// read takes the network from a file of any kind that is known by its content.
func (n *Network) read(file io.Reader, o *onnx.LoadOptions) (err error) {
	whole := &headed{bufio.NewReaderSize(file, boosters.HeadSize), file}
	head, _ := whole.Peek(boosters.HeadSize) // what cannot be read is told below
	start := bytes.Clone(head[:min(len(head), 64)])
	if n.Library = boosters.Library(head); n.Library == "" {
		if n.Graph, err = onnx.Load(whole, o); err != nil {
			err = cmp.Or(foreign(start), err)
		}
	} else if len(o.Constants) > 0 {
		err = fmt.Errorf("constants are of inputs of an ONNX file, and this is one of %s", n.Library)
	} else {
		n.Graph, err = boosters.Load(whole, o)
	}
	if err == nil {
		n.SHA256 = n.Graph.SHA256()
	}
	return err
}

// headed is a file whose first bytes were looked at.
type headed struct {
	*bufio.Reader
	file io.Reader
}

// Stat is that of the file, if it is one.
func (h *headed) Stat() (fs.FileInfo, error) {
	if f, ok := h.file.(*os.File); ok {
		return f.Stat()
	}
	return nil, errors.ErrUnsupported
}

// LoadFrom reads and checks a network from r, to whose end it reads. It keeps the bytes. A network
// whose tensors lie in files of their own is an error.
func LoadFrom(r io.Reader, maxMemory int64) (*Network, error) {
	n := &Network{MaxMemory: maxMemory}
	var err error
	if n.raw, err = io.ReadAll(r); err == nil {
		err = n.read(bytes.NewReader(n.raw), &onnx.LoadOptions{MaxMemory: maxMemory, KeepFile: true})
	}
	if err != nil {
		return nil, &RefusedError{fmt.Errorf("%s: %w", n, err)}
	}
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
	Address  = "address"  // it runs behind an address, and is asked there
)

// Reference is what a result says of its model: of a network enough to open it again.
type Reference struct {
	Kind    string   `json:"kind,omitempty"`    // Function, Columns, Address; "": ONNX
	Columns []string `json:"columns,omitempty"` // that a Function reads, or the model that made the predictions, if a caller notes them
	Engine  *Engine  `json:"engine,omitempty"`  // that computed the network; nil: this program's own
	// Checked says how the model was compared with what it was made of; nil: it was not, or nobody says so.
	Checked *Checked `json:"checked,omitempty"`

	Predictions []string `json:"predictions,omitempty"` // of Columns: those of the one model, see Predictions
	Link        string   `json:"link,omitempty"`

	Address string       `json:"address,omitempty"` // of an Address; SHA256 is that of the form
	Form    *served.Form `json:"form,omitempty"`    // what is asked there

	Path   string              `json:"path"`
	SHA256 string              `json:"sha256"`
	Inputs map[string][]string `json:"inputs"` // columns of each input, in order

	// BoundBy says how the columns of an input were found whose names do not decide it.
	BoundBy     map[string]string    `json:"bound_by,omitempty"`
	Rounded     []string             `json:"rounded,omitempty"` // columns that terms see as the network does (onnx.Model.Rows)
	Factors     []string             `json:"factors,omitempty"` // columns held as categories
	Units       map[string]string    `json:"units,omitempty"`   // what columns of dates and times count
	MaxOrder    int                  `json:"max_order,omitempty"`
	TreeOrder   int                  `json:"tree_order,omitempty"` // of a network with trees, if MaxOrder is 0; 0: 3, as earlier versions had it
	Deep        []string             `json:"deep,omitempty"`
	Learned     []string             `json:"learned,omitempty"`
	Predictor   []string             `json:"predictor,omitempty"`
	NoStructure bool                 `json:"no_structure,omitempty"`
	Clip        float64              `json:"clip,omitempty"`      // onnx.Options.Clip, or that of Predictions
	Missing     bool                 `json:"missing,omitempty"`   // onnx.Options.Missing
	Constants   map[string][]float64 `json:"constants,omitempty"` // of inputs: onnx.LoadOptions.Constants
	Precision   string               `json:"precision,omitempty"` // Single; "": Double
	// Classes are predictors that a softmax takes together; nil: predictors are the network's own.
	Classes *ClassesReference `json:"classes,omitempty"`
	// Members are several networks; Path is the folder that they lie in then, and SHA256 "".
	Members []MemberReference `json:"members,omitempty"`
}

// Checked is how a model was compared with what its user has of it: an exported file with the estimator's own
// predictions, say.
type Checked struct {
	Rows    int64    `json:"rows,omitempty"`    // that were compared; 0: none
	Largest *float64 `json:"largest,omitempty"` // difference, on the scale of the response
	Against string   `json:"against,omitempty"` // the other side of the comparison, or the address that is called in its place
}

// How the columns of an input were found where their names do not decide it.
const (
	ByPosition = "position" // the columns that were left, in the order of the data
	ByOption   = "option"   // somebody named them
)

// boundBy says it for each input whose columns have other names than its numbers; named are the
// inputs with columns that somebody named.
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
	case Address:
		return ref.addressJSON()
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
