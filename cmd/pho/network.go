package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/durable"
)

// networkFlags say how to read the structure of a network.
type networkFlags struct {
	maxOrder    int
	deep        []string
	learned     []string
	predictor   []string
	noStructure bool
	maxMemory   string
	precision   string
}

func (n *networkFlags) add(f *pflag.FlagSet) {
	f.IntVar(&n.maxOrder, "max-order", 0, "largest `NUMBER` of columns of a learned term (default 3)")
	f.StringArrayVar(&n.deep, "deep", nil, "`NAME` of a term, node or tensor that belongs to the deep part (repeatable)")
	f.StringArrayVar(&n.learned, "learned", nil, "`NAME` of a term, node or tensor that is a learned term (repeatable)")
	f.StringArrayVar(&n.predictor, "predictor", nil, "`TENSOR` to decompose as it is, in place of the outputs (repeatable)")
	f.BoolVar(&n.noStructure, "no-structure", false, "treat the whole network as the deep part")
}

func (n *networkFlags) options() *onnx.Options {
	return &onnx.Options{MaxOrder: n.maxOrder, Deep: n.deep, Learned: n.learned, Predictor: n.predictor, NoStructure: n.noStructure, Run: onnx.RunOptions{Precision: precisionOf(n.precision)}, Decode: basis.Decode}
}

// network is what an artifact says of its network: enough to open it again.
type network struct {
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
	Precision   string            `json:"precision,omitempty"` // float32; "": float64

	file string // where reopen found it
}

// loadNetwork reads and checks a network.
func loadNetwork(path, maxMemory string) (g *onnx.Graph, hash string, err error) {
	bound := int64(0) // as the adapter has it
	if maxMemory != "" {
		if bound, err = parseSize(maxMemory); err != nil {
			return nil, "", usagef("--max-memory: %w", err)
		}
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // to open a pipe could wait for ever
		return nil, "", fmt.Errorf("model %q is not a regular file: name an ONNX file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, "", fmt.Errorf("model %q: %w", path, durable.Reason(err))
	}
	defer f.Close()
	sum := sha256.New() // of the very bytes that are loaded
	if g, err = onnx.Load(io.TeeReader(f, sum), &onnx.LoadOptions{MaxMemory: bound}); err != nil {
		hint := ""
		if strings.Contains(err.Error(), "(MaxMemory)") {
			hint = "; --max-memory sets the bound"
		}
		return nil, "", fmt.Errorf("model %q: %w%s", path, err, hint)
	}
	return g, hex.EncodeToString(sum.Sum(nil)), nil
}

// describe records how the network was opened.
func (n *networkFlags) describe(dir, path, hash string, bind onnx.Binding, by map[string]string, rounded, factors []string) (json.RawMessage, error) {
	place, err := relativeTo(dir, path)
	if err != nil {
		return nil, err
	}
	ref := network{
		Path: place, SHA256: hash, Inputs: map[string][]string{}, BoundBy: by, Rounded: rounded, Factors: factors,
		MaxOrder: n.maxOrder, Deep: n.deep, Learned: n.learned, Predictor: n.predictor, NoStructure: n.noStructure,
	}
	if n.precision == single {
		ref.Precision = single
	}
	for _, in := range bind {
		ref.Inputs[in.Input] = in.Columns
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

// reopen opens the network that r, read from dir, was made of; path overrides the
// recorded one, precision (if it is not "") the precision.
func reopen(r *decompose.Result, dir, path, maxMemory, precision string) (*onnx.Model, *network, error) {
	var ref network
	if err := json.Unmarshal(r.Model, &ref); err != nil || ref.SHA256 == "" {
		return nil, nil, fmt.Errorf("the decomposition does not say which network it is of: %w", err)
	}
	moved := ""
	if path == "" {
		path, moved = ref.find(dir), "; if the network has moved, give its place with --model"
	}
	g, hash, err := loadNetwork(path, maxMemory)
	if err != nil {
		return nil, nil, fmt.Errorf("%w%s", err, moved)
	}
	if hash != ref.SHA256 {
		return nil, nil, fmt.Errorf("model %q is not the network of this decomposition: its sha256 is %s, want %q%s", path, hash, ref.SHA256, moved)
	}
	if precision == "" {
		precision = ref.Precision
	}
	run, err := runOptions(precision)
	if err != nil {
		return nil, nil, err
	}
	bind := make(onnx.Binding, len(g.Inputs))
	for i, in := range g.Inputs {
		bind[i] = onnx.BoundInput{Input: in.Name, Columns: ref.Inputs[in.Name]}
	}
	m, err := onnx.NewModel(g, bind, &onnx.Options{
		MaxOrder: ref.MaxOrder, Deep: ref.Deep, Learned: ref.Learned, Predictor: ref.Predictor, NoStructure: ref.NoStructure, Run: run, Decode: basis.Decode,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("model %q: %w", path, err)
	}
	ref.file = path
	return m, &ref, nil
}

// find is where the network is: the recorded path, seen from dir (earlier versions
// recorded absolute ones), or, if there is nothing, its file name beside dir. The
// hash decides whether it is the right one.
func (n *network) find(dir string) string {
	recorded := filepath.FromSlash(n.Path)
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

// The names of the precisions.
const (
	double = "float64"
	single = "float32"
)

// addPrecision defines --precision.
func addPrecision(f *pflag.FlagSet, to *string, otherwise, note string) {
	f.StringVar(to, "precision", otherwise, "float64 or float32: what the network is computed in; float32 is faster, its contributions sum to eta to 1e-4"+note)
}

// precisionOf is the precision of that name; checkPrecision refuses others.
func precisionOf(name string) onnx.Precision {
	if name == single {
		return onnx.Single
	}
	return onnx.Double
}

func checkPrecision(name string) error {
	if name != "" && name != double && name != single {
		return usagef("--precision %q: it is %s or %s", name, double, single)
	}
	return nil
}

// runOptions are those of the precision that an artifact or a flag names.
func runOptions(precision string) (onnx.RunOptions, error) {
	if err := checkPrecision(precision); err != nil {
		return onnx.RunOptions{}, err
	}
	return onnx.RunOptions{Precision: precisionOf(precision)}, nil
}

// tolerance is the largest error of a reconstruction, relative to eta's largest
// value, that is rounding.
func tolerance(precision string) float64 {
	if precision == single {
		return 1e-4
	}
	return 1e-8
}

// parseSize reads 512MiB, 4GiB, 1000000.
func parseSize(text string) (int64, error) {
	units := []struct {
		suffix string
		bytes  float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(v > 0) || v*u.bytes > 1<<60 {
			break
		}
		return int64(v * u.bytes), nil
	}
	return 0, fmt.Errorf("%q is not a size; write 512MiB, 4GiB or a number of bytes", text)
}
