package command

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/kernel"
)

// networkFlags say how to read the structure of a network.
type networkFlags struct {
	maxOrder    int
	deep        []string
	learned     []string
	predictor   []string
	noStructure bool
	clip        float64
	constants   []string
	maxMemory   string
	computing
	vectors bool // no products on matrix units: the plan's machine has none
}

func (n *networkFlags) add(f *pflag.FlagSet) {
	f.IntVar(&n.maxOrder, "max-order", 0, "largest `NUMBER` of columns of a learned term (default 3, of trees 2)")
	f.StringArrayVar(&n.deep, "deep", nil, "`NAME` of a term, node or tensor that belongs to the deep part (repeatable)")
	f.StringArrayVar(&n.learned, "learned", nil, "`NAME` of a term, node or tensor that is a learned term, or of an array to compare with the terms (repeatable)")
	f.StringArrayVar(&n.predictor, "predictor", nil, "`TENSOR` to decompose as it is, in place of the outputs (repeatable)")
	f.Float64Var(&n.clip, "clip", 0, "keep probabilities `EPS` away from 0 and 1 and take log odds: those of classes, as of a forest, or --predictions")
	f.StringArrayVar(&n.constants, "constant", nil, "`NAME=VALUES` of a network's input that is a constant, as mean=0.5,12: row-major (repeatable; once for each of several networks)")
	f.BoolVar(&n.noStructure, "no-structure", false, "treat the whole network as the deep part")
}

// structured tells whether they say how to read a structure.
func (n *networkFlags) structured() bool {
	return n.maxOrder != 0 || len(n.deep)+len(n.learned)+len(n.predictor) > 0
}

func (n *networkFlags) options() *onnx.Options {
	return &onnx.Options{MaxOrder: n.maxOrder, Deep: n.deep, Learned: n.learned, Predictor: n.predictor, NoStructure: n.noStructure, Clip: n.clip, Decode: basis.Decode}
}

// computing says by which engine and in what networks are computed.
type computing struct{ engine, precision string }

// again is the note of flags of what has a decomposition already.
const again = " (default: that of the decomposition)"

// add defines --engine and --precision; note says what they are by default.
func (c *computing) add(f *pflag.FlagSet, note string) {
	engine, precision := note, note
	if note == "" {
		engine, precision = " (default go)", " (default float64)"
	}
	f.StringVar(&c.engine, "engine", "", "what computes the network: go, pho's own engine, or onnxruntime, ONNX Runtime in a helper program (docs/networks.md), in the types of the file"+engine)
	f.StringVar(&c.precision, "precision", "", "float64 or float32: what the network is computed in by pho's own engine; float32 is faster, its contributions sum to eta to 1e-4"+precision)
}

// check refuses names that are none.
func (c *computing) check() error {
	if err := c.wiring().Check(); err != nil {
		return usagef("--%w", err)
	}
	return nil
}

func (c *computing) wiring() wiring.Computing {
	return wiring.Computing{Engine: c.engine, Precision: c.precision}
}

// single tells whether results have the digits of float32.
func (c *computing) single() bool {
	return c.precision == wiring.Single || c.engine == wiring.ONNXRuntime
}

// kernels is the family of floating-point kernels that decides last digits on this machine.
func (n *networkFlags) kernels() string {
	return kernel.Family(n.single() && !n.vectors && kernel.MatrixUnits())
}

// frugal collects garbage early until what it returns is called: most of the memory in which a file is read is free again at once.
func frugal() (back func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	percent := debug.SetGCPercent(15)
	return func() { debug.SetGCPercent(percent) }
}

// loadNetwork reads and checks a network, within the bound that --max-memory names; ""
// is the adapter's own. constants are the values of inputs that are constants.
func loadNetwork(path, maxMemory string, constants map[string][]float64, by computing) (*wiring.Network, error) {
	bound, err := memoryBound(maxMemory)
	if err != nil {
		return nil, err
	}
	defer frugal()()
	return wiring.LoadWith(path, &onnx.LoadOptions{MaxMemory: bound, Constants: constants, KeepFile: by.engine == wiring.ONNXRuntime})
}

// constantValues reads the values of --constant, NAME=number,number,...; nil for none. Given once for each of
// several networks, a name has values for each, in their order.
func constantValues(flags []string, networks int) ([]map[string][]float64, error) {
	given := make([]map[string][]float64, networks)
	values := map[string][][]float64{}
	for _, flag := range flags {
		at := strings.LastIndexByte(flag, '=')
		if at <= 0 {
			return nil, usagef("--constant %q is not of the form NAME=VALUES, as mean=0.5,12", flag)
		}
		var x []float64
		for _, text := range strings.Split(flag[at+1:], ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				return nil, usagef("--constant %q: %q is no number", flag, text)
			}
			x = append(x, v)
		}
		values[flag[:at]] = append(values[flag[:at]], x)
	}
	for name, all := range values {
		if len(all) > 1 && len(all) != networks {
			return nil, usagef("--constant %q: input %q is given %d times, for %d networks: give it once for all, or once for each in their order", name, name, len(all), networks)
		}
		for i := range given {
			if given[i] == nil {
				given[i] = map[string][]float64{}
			}
			given[i][name] = all[min(i, len(all)-1)]
		}
	}
	return given, nil
}

// reopen opens the network that r, read from dir, was made of, or the networks; path
// overrides the recorded one, by what the result says of how it is computed.
func reopen(r *decompose.Result, dir, path, maxMemory string, by computing) (*wiring.Opened, error) {
	bound, err := memoryBound(maxMemory)
	if err != nil {
		return nil, err
	}
	return wiring.ReopenAll(r, dir, path, bound, by.wiring())
}
