package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// networkFlags say how to read the structure of a network.
type networkFlags struct {
	maxOrder    int
	deep        []string
	learned     []string
	predictor   []string
	noStructure bool
	float32     bool
	maxMemory   string
}

func (n *networkFlags) add(f *pflag.FlagSet) {
	f.IntVar(&n.maxOrder, "max-order", 0, "largest number of columns of a learned term (default 3)")
	f.StringArrayVar(&n.deep, "deep", nil, "term, node or tensor that belongs to the deep part (repeatable)")
	f.StringArrayVar(&n.learned, "learned", nil, "term, node or tensor that is a learned term (repeatable)")
	f.StringArrayVar(&n.predictor, "predictor", nil, "tensor to decompose as it is, in place of the outputs (repeatable)")
	f.BoolVar(&n.noStructure, "no-structure", false, "treat the whole network as the deep part")
	f.StringVar(&n.maxMemory, "max-memory", "4GiB", "bound on a network's tensors")
}

func (n *networkFlags) options() *onnx.Options {
	return &onnx.Options{MaxOrder: n.maxOrder, Deep: n.deep, Learned: n.learned, Predictor: n.predictor, NoStructure: n.noStructure}
}

// network is what an artifact says of its network: enough to open it again.
type network struct {
	Path   string              `json:"path"`
	SHA256 string              `json:"sha256"`
	Inputs map[string][]string `json:"inputs"` // columns of each input, in order

	Factors     []string `json:"factors,omitempty"` // columns held as categories
	MaxOrder    int      `json:"max_order,omitempty"`
	Deep        []string `json:"deep,omitempty"`
	Learned     []string `json:"learned,omitempty"`
	Predictor   []string `json:"predictor,omitempty"`
	NoStructure bool     `json:"no_structure,omitempty"`
}

// loadNetwork reads and checks a network.
func loadNetwork(path, maxMemory string) (g *onnx.Graph, hash string, err error) {
	bound, err := parseSize(maxMemory)
	if err != nil {
		return nil, "", usagef("--max-memory: %w", err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, "", fmt.Errorf("model: %w", err)
	}
	sum := sha256.Sum256(raw)
	g, err = onnx.LoadFile(path, &onnx.LoadOptions{MaxMemory: bound})
	if err != nil {
		return nil, "", fmt.Errorf("model %q: %w", path, err)
	}
	return g, hex.EncodeToString(sum[:]), nil
}

// describe records how the network was opened.
func (n *networkFlags) describe(path, hash string, bind onnx.Binding, factors []string) (json.RawMessage, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	ref := network{
		Path: abs, SHA256: hash, Inputs: map[string][]string{}, Factors: factors,
		MaxOrder: n.maxOrder, Deep: n.deep, Learned: n.learned, Predictor: n.predictor, NoStructure: n.noStructure,
	}
	for _, in := range bind {
		ref.Inputs[in.Input] = in.Columns
	}
	return json.Marshal(ref)
}

// reopen opens the network that r was made of; path overrides the recorded one.
func reopen(r *decompose.Result, path, maxMemory string) (decompose.Model, *network, error) {
	var ref network
	if err := json.Unmarshal(r.Model, &ref); err != nil || ref.SHA256 == "" {
		return nil, nil, fmt.Errorf("the decomposition does not say which network it is of: %w", err)
	}
	recorded := path == ""
	if recorded {
		path = ref.Path
	}
	g, hash, err := loadNetwork(path, maxMemory)
	if err != nil {
		if recorded {
			err = fmt.Errorf("%w; if the network has moved, give its place with --model", err)
		}
		return nil, nil, err
	}
	if hash != ref.SHA256 {
		return nil, nil, fmt.Errorf("model %q is not the network of this decomposition: its sha256 is %s, want %s", path, hash, ref.SHA256)
	}
	bind := make(onnx.Binding, len(g.Inputs))
	for i, in := range g.Inputs {
		bind[i] = onnx.BoundInput{Input: in.Name, Columns: ref.Inputs[in.Name]}
	}
	m, err := onnx.NewModel(g, bind, &onnx.Options{
		MaxOrder: ref.MaxOrder, Deep: ref.Deep, Learned: ref.Learned, Predictor: ref.Predictor, NoStructure: ref.NoStructure,
	})
	return m, &ref, err
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

// dataFlags say how to read the rows.
type dataFlags struct {
	paths     []string
	delimiter string
	factors   []string
	na        string
	batch     int
}

func (d *dataFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&d.paths, "data", nil, "data file, glob, or - for standard input; repeatable, further files may follow the flags")
	f.StringVar(&d.delimiter, "delimiter", ",", `cell delimiter of CSV files ("\t" or "tab" for tabs)`)
	f.StringVar(&d.na, "na", "error", "missing cells: error, or drop to leave those rows out")
	f.IntVar(&d.batch, "batch-size", 0, "rows read at a time (default 4096; results do not depend on it)")
}

func (d *dataFlags) addFactors(f *pflag.FlagSet) {
	f.StringSliceVar(&d.factors, "factor", nil, "numeric columns that are categories (comma separated, repeatable)")
}

// open opens the files; further are positional arguments.
func (d *dataFlags) open(s streams, further []string) (*data.CSV, error) {
	patterns := append(append([]string(nil), d.paths...), further...)
	if len(d.paths) == 0 {
		return nil, usagef("--data is missing: name a CSV file, or - for standard input")
	}
	o := &data.CSVOptions{Factors: d.factors, BatchRows: d.batch, Stdin: s.in}
	switch delimiter := strings.NewReplacer(`\t`, "\t", "tab", "\t").Replace(d.delimiter); {
	case len([]rune(delimiter)) == 1:
		o.Delimiter = []rune(delimiter)[0]
	default:
		return nil, usagef("--delimiter %q: it is one character", d.delimiter)
	}
	switch d.na {
	case "error":
	case "drop":
		o.NA = data.NADrop
	default:
		return nil, usagef("--na %q: it is error or drop", d.na)
	}
	if d.batch < 0 {
		return nil, usagef("--batch-size %d is negative", d.batch)
	}
	paths, err := data.Expand(patterns)
	if err != nil {
		return nil, err
	}
	return data.OpenCSV(paths, o)
}
