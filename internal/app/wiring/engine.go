package wiring

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxruntime"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// The names of the engines that compute networks.
const (
	Own         = "go"          // this program's own, onnx.GoEngine
	ONNXRuntime = "onnxruntime" // ONNX Runtime in a helper program, package onnxruntime
)

// Computing says what computes a network. Empty fields of a network that is opened again are as the
// result has them, else Own and Double.
type Computing struct {
	Engine    string // Own or ONNXRuntime, which computes in the types of the network's file
	Precision string // Double or Single, of Own
}

// Check refuses names that are none, and a precision beside an engine that has its own.
func (c Computing) Check() error {
	if c.Engine != "" && c.Engine != Own && c.Engine != ONNXRuntime {
		return fmt.Errorf("engine %q: it is %s or %s", c.Engine, Own, ONNXRuntime)
	}
	if c.Engine == ONNXRuntime && c.Precision == Double {
		return fmt.Errorf("precision %s: the engine %s computes in the types of the network's file, float32 for most: leave it out", Double, ONNXRuntime)
	}
	_, err := Precision(c.Precision)
	return err
}

// Engine is what a result says of the engine that computed its network.
type Engine struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

func (e *Engine) String() string {
	if e == nil {
		return "pho's own engine"
	}
	return "ONNX Runtime " + e.Version
}

// start starts the engine of that name; nil: it is this program's own.
func start(name string) (*onnxruntime.Helper, error) {
	if name != ONNXRuntime {
		return nil, nil
	}
	h, err := onnxruntime.Start("")
	if err != nil {
		return nil, fmt.Errorf("engine %s: %w", ONNXRuntime, err)
	}
	return h, nil
}

// engineOf is what a result says of h.
func engineOf(h *onnxruntime.Helper) *Engine {
	if h == nil {
		return nil
	}
	return &Engine{ONNXRuntime, h.Version()}
}

// engine computes the network within its bound, by h unless that is nil.
func (n *Network) engine(h *onnxruntime.Helper, p onnx.Precision) (onnx.Engine, error) {
	switch {
	case h == nil:
		return onnx.GoEngine{Precision: p, MaxMemory: n.MaxMemory}, nil
	case n.Predictions != nil || n.Library != "":
		return nil, fmt.Errorf("%s: the engine %s computes networks of ONNX files, which this is not: leave the engine out", n, ONNXRuntime)
	case len(n.Constants) > 0:
		return nil, fmt.Errorf("%s: the engine %s takes no values for inputs that are constants: leave the engine out", n, ONNXRuntime)
	}
	return &onnxruntime.Engine{Runtime: h}, nil
}

// computing is what computes a network of ref that is opened again, by the wishes of whoever opens it.
func (ref *Reference) computing(by Computing) Computing {
	if by == (Computing{}) && ref.Engine != nil { // a precision is that of this program's own engine
		by.Engine = ref.Engine.Name
	}
	return Computing{by.Engine, cmp.Or(by.Precision, ref.Precision)}
}

// elsewhere says that a result's network is computed by another engine than it was decomposed by; "": it is not.
func (ref *Reference) elsewhere(now *Engine) string {
	if was := ref.Engine.String(); was != now.String() {
		return fmt.Sprintf("the network was decomposed by %s and is computed here by %s: its output, and so the parts of rows, may differ in the last digits of float32", was, now)
	}
	return ""
}

// Differences of eta between the engines, in its standard deviations: rounding of float32, and what is no rounding.
const (
	roundingApart = 1e-5
	mostApart     = 1e-2
)

// comparison is how far two engines are apart on the first rows, by predictor.
type comparison struct {
	engine  *Engine
	rows    int
	largest []float64
}

// compareEngines compares what ONNX Runtime computes on the first of the rows with this program's own engine, one network
// after the other; rows nil: on none.
func (q *Request) compareEngines(ctx context.Context, s *subject, rows data.Source) (*comparison, error) {
	const first = 16 // a network that is worth another engine is slow by this one
	c := &comparison{engine: engineOf(q.helper)}
	if rows == nil {
		return c, nil
	}
	for i, m := range s.models {
		g, err := s.graphs[i].WithEngine(onnx.GoEngine{Precision: onnx.Single, MaxMemory: q.Network.MaxMemory})
		if err != nil {
			return nil, err
		}
		own, err := s.reference.Contrasted(g)
		if err != nil {
			return nil, err
		}
		for b, err := range data.Rebatch(rows.Batches(ctx, m.Columns()), first) {
			if err != nil {
				return nil, err
			}
			ours, err := forward(ctx, own, b)
			if err != nil {
				return nil, err
			}
			theirs, err := forward(ctx, m, b)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", q.networks()[i], err)
			}
			if c.largest == nil {
				c.largest = make([]float64, len(m.Predictors()))
			}
			c.rows = b.Rows()
			for k := range c.largest {
				for r := range b.Rows() {
					c.largest[k] = math.Max(c.largest[k], math.Abs(ours.At(r, k)-theirs.At(r, k)))
				}
			}
			break
		}
	}
	return c, nil
}

// forward is eta of the rows of b, n x K.
func forward(ctx context.Context, m decompose.Model, b *data.Batch) (*mat.Dense, error) {
	n, k := b.Rows(), len(m.Predictors())
	out := &decompose.Outputs{Eta: mat.NewDense(max(n, 1), k, nil), Zeta: mat.NewDense(max(n, 1), k, nil), Taps: map[string]*mat.Dense{}}
	for name, width := range m.Taps() {
		out.Taps[name] = mat.NewDense(max(n, 1), width, nil)
	}
	return out.Eta, m.Forward(ctx, out, b)
}

// judged is what is to be said of the engine of r, and an error if it computes something else than this program's own.
func (c *comparison) judged(r *decompose.Result) (notes []string, err error) {
	notes = []string{fmt.Sprintf("the network was computed by %s, not by pho's own engine: parts sum to its output, to the digits of float32", c.engine)}
	for k, largest := range c.largest {
		p := r.Predictors[k]
		sd := math.Sqrt(p.Variance.Total)
		if largest <= roundingApart*sd || sd == 0 { // a constant has no scale to judge by
			continue
		}
		if apart := fmt.Sprintf("on the first %d rows predictor %q by %s and by pho's own engine differ by up to %.3g, which is %.2g standard deviations of it", c.rows, p.Name, c.engine, largest, largest/sd); largest <= mostApart*sd {
			notes = append(notes, apart+": more than float32 rounds for most networks")
		} else {
			return nil, fmt.Errorf("%s: they compute different functions; decompose by pho's own engine, and tell the authors of both", apart)
		}
	}
	return notes, nil
}
