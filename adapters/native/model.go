package native

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/additive"
	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Model is a trained network as a decompose.Model, in float64. Its predictors are on the
// link scale and in the response's units, without the offset of training. Its terms are
// the formula's terms with their coefficients, and the feature networks as learned terms
// with the last hidden layer as basis; zeta is the deep part. A Model is immutable and
// safe for concurrent use.
type Model struct {
	family    family.Differentiable // with what training found
	asked     string                // name of the family that was asked for
	names     []string
	columns   []string // that Forward reads
	intercept []float64
	blocks    [][]decompose.Block       // formula terms, then learned ones
	net       *network.Network[float64] // its towers; heads are scaled to the response
	ranges    map[string]onnx.Domain    // of the formula's columns, over the training rows
	replicas  *sync.Pool                // of net
	parts     []*additive.Part          // the formula's columns as in training, for PredictOnline
	// projected is, for predictors whose deep part was orthogonalized online, the
	// projection over the training rows, which is subtracted. nil: none.
	projected []*fixedProjection
	// levels are those of the text columns that the model reads, in the order of their
	// numbers in a saved network; classes those of the response, nil if it is numbers.
	levels   map[string][]string
	response string
	event    string // of censored times; "": none
	classes  []string
}

var _ decompose.Model = (*Model)(nil)

// Family is the family that the model was trained for. Parameters that were unknown have
// the values that training found.
func (m *Model) Family() family.Differentiable { return m.family }

// Censored reports whether it was trained on times that may be right censored.
func (m *Model) Censored() bool { return m.event != "" }

// Predictors names the K predictors: eta, or the family's parameters, as mu and sigma.
func (m *Model) Predictors() []string { return slices.Clone(m.names) }

// Columns names the data columns that Forward reads.
func (m *Model) Columns() []string { return slices.Clone(m.columns) }

// Intercept is the constant of predictor k, on the link scale.
func (m *Model) Intercept(k int) float64 { return m.intercept[k] }

// Blocks are the formula terms of predictor k with their penalties and
// coefficients, then the feature networks.
func (m *Model) Blocks(k int) []decompose.Block { return slices.Clone(m.blocks[k]) }

// Taps names the last hidden layers of the feature networks with their widths: what
// Forward writes to Outputs.Taps.
func (m *Model) Taps() map[string]int {
	taps := map[string]int{}
	for _, t := range m.net.Towers {
		if t.Plan.Deep {
			continue
		}
		for g := range t.Plan.Groups() {
			taps[t.Plan.Tap(g)] = t.Plan.Units
		}
	}
	return taps
}

// Forward evaluates the model on the n rows of b and overwrites dst: Zeta (n x K) with the
// deep part, Eta (n x K) with the whole predictors, Taps (n x q each) with the last hidden
// layers of the feature networks. If the deep part was orthogonalized online, Zeta is
// zeta - X alpha, alpha = X^+ zeta of the training rows: a fixed map, so that a row's
// values do not depend on other rows (PredictOnline's do). A level that training has not
// seen and a value that is not finite are errors.
func (m *Model) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n, k := b.Rows(), len(m.names)
	zeta := make([]float64, n*k)
	features := make([]float64, n*k)
	if err := m.towersAt(b, zeta, features, dst.Taps); err != nil {
		return err
	}
	for j := range k {
		x, err := m.formula(j, b)
		if err != nil {
			return err
		}
		if a := m.projected[j]; a != nil {
			moved, err := combine(a.blocks, b)
			if err != nil {
				return err
			}
			for i, v := range moved {
				zeta[i*k+j] -= a.intercept + v
			}
		}
		for i := range n {
			eta := m.intercept[j] + x[i] + features[i*k+j] + zeta[i*k+j]
			if eta-eta != 0 {
				return fmt.Errorf("native: predictor %q is %g at data row %d", m.names[j], eta, b.Row(i)+1)
			}
			dst.Zeta.Set(i, j, zeta[i*k+j])
			dst.Eta.Set(i, j, eta)
		}
	}
	return nil
}

// towersAt adds what the towers say of b to zeta, if they are the deep part, else to
// features (both n x K), and fills the taps: some rows at a time, for the layers of many
// would not stay in the caches.
func (m *Model) towersAt(b *data.Batch, zeta, features []float64, taps map[string]*mat.Dense) error {
	all, err := m.inputs(b)
	if err != nil {
		return err
	}
	net, ok := m.replicas.Get().(*network.Network[float64])
	if !ok {
		net = m.net.Replica()
	}
	defer m.replicas.Put(net)
	k, in := len(m.names), &network.Batch[float64]{}
	for i := 0; i < all.N; i += blockRows {
		all.Part(in, i, min(i+blockRows, all.N))
		net.ForwardTowers(in, nn.Mode{Workers: 1})
		for _, t := range net.Towers {
			if t.Plan.Deep {
				t.AddTo(zeta[i*k:], k, in.N)
				continue
			}
			t.AddTo(features[i*k:], k, in.N)
			if err := fillTaps(taps, t, i, in.N); err != nil {
				return err
			}
		}
	}
	return nil
}

// fillTaps copies the last hidden layer of each feature network in t to the n rows of the
// taps from row i on.
func fillTaps(taps map[string]*mat.Dense, t *network.Tower[float64], i, n int) error {
	ld, q := kernel.UnitStride[float64](n), t.Plan.Units
	for g := range t.Plan.Groups() {
		tap, ok := taps[t.Plan.Tap(g)]
		if !ok {
			return fmt.Errorf("native: no memory was given for tap %q", t.Plan.Tap(g))
		}
		for r := range n {
			row := tap.RawRowView(i + r)
			for u := range row {
				row[u] = t.U[(g*q+u)*ld+r]
			}
		}
	}
	return nil
}

// inputs are what the towers read of b.
func (m *Model) inputs(b *data.Batch) (*network.Table[float64], error) {
	in := &network.Table[float64]{N: b.Rows()}
	for _, t := range m.net.Towers {
		x, codes, err := t.Plan.Read(b)
		if err != nil {
			return nil, err
		}
		in.X, in.Codes = append(in.X, x), append(in.Codes, codes)
	}
	return in, nil
}

// formula is X beta of predictor k at the rows of b, learned terms left out.
func (m *Model) formula(k int, b *data.Batch) ([]float64, error) { return combine(m.blocks[k], b) }

// combine is the sum of the blocks' columns times their coefficients, learned terms
// left out.
func combine(blocks []decompose.Block, b *data.Batch) ([]float64, error) {
	sum := make([]float64, b.Rows())
	for _, block := range blocks {
		if block.Term.Kind() == decompose.Learned || b.Rows() == 0 {
			continue
		}
		x := mat.NewDense(b.Rows(), block.Term.Dim(), nil)
		if err := block.Term.Eval(x, b); err != nil {
			return nil, err
		}
		for i := range sum {
			for j, v := range x.RawRowView(i) {
				sum[i] += v * block.Coef[j]
			}
		}
	}
	return sum, nil
}

// Predict is eta (n x K, link scale, without offset) at the rows of b, of which there must
// be one at least; see Forward.
func (m *Model) Predict(ctx context.Context, b *data.Batch) (*mat.Dense, error) {
	if b.Rows() == 0 {
		return nil, fmt.Errorf("native: there are no rows to predict")
	}
	out, err := forward(ctx, m, b)
	if err != nil {
		return nil, err
	}
	return out.Eta, nil
}
