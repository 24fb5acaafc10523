package native

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/kernel"
)

// Model is a trained network as a decompose.Model, in the response's units and
// in float64: formula terms with their coefficients, feature networks as learned
// terms whose basis is the last hidden layer, and the deep part as zeta. It is
// immutable and safe for concurrent use. The offset of training is not part of
// its predictors.
type Model struct {
	family    family.Differentiable
	names     []string
	columns   []string // that Forward reads
	intercept []float64
	blocks    [][]decompose.Block // formula terms, then learned ones
	plans     []*towerPlan
	net       *network[float64]      // its towers; heads are scaled to the response
	ranges    map[string]onnx.Domain // of the formula's columns, over the training rows
	replicas  *sync.Pool
	// online is what PredictOnline needs: the standardised columns of each predictor.
	online []*structured
	// away is, for predictors whose deep part was orthogonalized online, what is taken
	// from it: its projection over the training rows. nil: nothing.
	away []*fixedProjection
	// levels are those of the text columns that the model reads, in the order of their
	// numbers in a saved network; classes those of the response, nil if it is numbers.
	levels   map[string][]string
	response string
	classes  []string
}

var _ decompose.Model = (*Model)(nil)

// newModel copies the trained network, in the response's units: y = shift + scale
// times what was trained on.
func newModel[T kernel.Float](j *job, trained *network[T], away []*projection) *Model {
	own := j.cfg.Family.Predictors() // what follows are parameters, now known
	names, parts := j.names[:own], j.parts[:own]
	m := &Model{family: j.cfg.Family, response: j.cfg.Response, classes: j.fit.Classes, names: names, plans: j.plans, online: parts, away: make([]*fixedProjection, own), replicas: new(sync.Pool), net: newNetwork[float64](names, parts, j.plans, 0)}
	if h, ok := m.family.(family.Held); ok && h.Unknown() != nil {
		logs := slices.Clone(asFloat64(trained.intercept.Value[own:]))
		if h.Unknown()[0] == "sigma" {
			logs[0] += math.Log(j.scaling.scale)
		}
		m.family = h.With(logs)
	}
	from := trained.params()
	for i, p := range m.net.params() {
		copy(p.Value, asFloat64(from[i].Value))
		p.Version++
	}
	for k := range names {
		scale, shift := 1.0, 0.0
		switch {
		case j.scaling == scaling{0, 1}:
		case k == 0:
			scale, shift = j.scaling.scale, j.scaling.shift
		case k == 1: // a log scale
			shift = math.Log(j.scaling.scale)
		}
		var coef []float64
		if l := m.net.lines[k]; l != nil {
			coef = scaleBy(l.W.Value, scale)
			l.W.Version++
		}
		for _, t := range m.net.towers {
			t.scaleHead(k, scale)
			t.settle()
		}
		m.net.intercept.Value[k] = shift + scale*m.net.intercept.Value[k]
		blocks, means := j.parts[k].raw(coef)
		m.intercept = append(m.intercept, m.net.intercept.Value[k]+means)
		m.blocks = append(m.blocks, blocks)
		for _, a := range away {
			if a.predictor == k {
				m.away[k] = a.fixed(j.parts[k], scale)
			}
		}
	}
	m.ranges = rangesOf(m.blocks, j.train.batch)
	m.addLearned()
	m.columns = m.reads()
	return m
}

func scaleBy(v []float64, f float64) []float64 {
	for i := range v {
		v[i] *= f
	}
	return v
}

// scaleHead multiplies the outputs for predictor k.
func (t *tower[T]) scaleHead(k int, f float64) {
	p := len(t.plan.predictors)
	for i := range t.head.W.Value {
		if t.plan.predictors[i%p] == k {
			t.head.W.Value[i] *= T(f)
		}
	}
	t.head.W.Version++
}

// settle prepares what the layers would else compute in the first forward pass:
// replicas in other goroutines then only read.
func (t *tower[T]) settle() {
	for _, l := range t.chain.Layers {
		if e, ok := l.(*nn.ExU[T]); ok {
			e.Effective()
		}
	}
}

// addLearned appends the feature networks: one Tap serves all predictors.
func (m *Model) addLearned() {
	for i, p := range m.plans {
		if p.deep {
			continue
		}
		for g := range p.groups() {
			tap := &decompose.Tap{Tensor: p.tap(g), Features: p.columns[g], Width: p.q}
			for at, k := range p.predictors {
				m.blocks[k] = append(m.blocks[k], decompose.Block{Term: tap, Coef: m.net.towers[i].headOf(g, at)})
			}
		}
	}
}

// headOf are the weights of group g for the tower's predictor number at.
func (t *tower[T]) headOf(g, at int) []float64 {
	p, q := len(t.plan.predictors), t.plan.q
	v := make([]float64, q)
	for i := range v {
		v[i] = float64(t.head.W.Value[(g*q+i)*p+at])
	}
	return v
}

// tap is the tensor of group g's basis, in Taps and in ONNX files.
func (p *towerPlan) tap(g int) string { return p.term(g) + ".basis" }

func (m *Model) reads() []string {
	var names []string
	for _, blocks := range m.blocks {
		for _, b := range blocks {
			names = append(names, b.Term.Columns()...)
		}
	}
	for _, p := range m.plans {
		for _, group := range p.columns {
			names = append(names, group...)
		}
	}
	return unique(names)
}

// Family is the family the model was trained for, with what it did not know.
func (m *Model) Family() family.Differentiable { return m.family }

// Predictors names the predictors: eta, or mu and sigma.
func (m *Model) Predictors() []string { return slices.Clone(m.names) }

// Columns names the data columns that Forward reads.
func (m *Model) Columns() []string { return slices.Clone(m.columns) }

// Intercept is the constant of predictor k.
func (m *Model) Intercept(k int) float64 { return m.intercept[k] }

// Blocks are the formula terms of predictor k with their penalties and
// coefficients, then the feature networks.
func (m *Model) Blocks(k int) []decompose.Block { return slices.Clone(m.blocks[k]) }

// Taps names the last hidden layers of the feature networks with their widths.
func (m *Model) Taps() map[string]int {
	taps := map[string]int{}
	for _, p := range m.plans {
		if p.deep {
			continue
		}
		for g := range p.groups() {
			taps[p.tap(g)] = p.q
		}
	}
	return taps
}

// Forward evaluates the model on the rows of b: zeta is the deep part alone, eta
// the whole predictor, taps are the feature networks' last hidden layers. If the deep
// part was orthogonalized online, zeta is what is left of it after a projection that is
// fixed: zeta - X alpha, alpha = X^+ zeta of the training rows. So a row's values do not
// depend on other rows (see PredictOnline for those that do).
func (m *Model) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	net, err := m.towersAt(b)
	if err != nil {
		return err
	}
	defer m.replicas.Put(net)
	n, k := b.Rows(), len(m.names)
	zeta := make([]float64, n*k)
	features := make([]float64, n*k)
	for i, t := range net.towers {
		if m.plans[i].deep {
			t.addTo(zeta, k, n)
			continue
		}
		t.addTo(features, k, n)
		stride, q := m.plans[i].groups()*m.plans[i].q, m.plans[i].q
		for g := range m.plans[i].groups() {
			tap, ok := dst.Taps[m.plans[i].tap(g)]
			if !ok {
				return fmt.Errorf("native: no memory was given for tap %q", m.plans[i].tap(g))
			}
			for r := range n {
				tap.SetRow(r, t.u[r*stride+g*q:][:q])
			}
		}
	}
	for j := range k {
		x, err := m.formula(j, b)
		if err != nil {
			return err
		}
		if a := m.away[j]; a != nil {
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

// towersAt runs a replica's towers on b; its u and f hold the results.
func (m *Model) towersAt(b *data.Batch) (*network[float64], error) {
	net, ok := m.replicas.Get().(*network[float64])
	if !ok {
		net = m.net.replica()
	}
	for i, t := range net.towers {
		x, codes, err := m.plans[i].read(b)
		if err != nil {
			return nil, err
		}
		mode := nn.Mode{Workers: 1}
		t.hidden(x, codes, net.towers, b.Rows(), mode)
		t.f = t.head.Forward(t.u, b.Rows(), mode)
	}
	return net, nil
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

// Predict is eta (n x K, link scale, without offset) at the rows of b.
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

// PredictOnline is eta (n x K) with U projected on the complement of the
// structured columns of these rows, as online orthogonalization does (paper,
// section 3.1, Limitations): a row's prediction depends on the rows that come
// with it, and with fewer rows than structured columns the deep part vanishes.
// It exists to show that, as Unprojected does for the projection left off; the rows'
// own predictions, those that are scored and saved, are Predict's. The model must have
// been trained with Deep.Orthogonalize.
func (m *Model) PredictOnline(b *data.Batch) (*mat.Dense, error) {
	if !slices.ContainsFunc(m.plans, func(p *towerPlan) bool { return p.orthogonalize }) {
		return nil, fmt.Errorf("native: the model was not trained with Deep.Orthogonalize: use Predict")
	}
	if b.Rows() == 0 {
		return nil, fmt.Errorf("native: there are no rows to predict")
	}
	in := &batch[float64]{n: b.Rows()}
	for _, p := range m.plans {
		x, codes, err := p.read(b)
		if err != nil {
			return nil, err
		}
		in.x, in.codes = append(in.x, x), append(in.codes, codes)
	}
	for _, s := range m.online {
		x := make([]float64, in.n*s.width())
		if err := s.eval(x, s.width(), b); err != nil {
			return nil, err
		}
		in.lines = append(in.lines, x)
	}
	net := m.net.replica()
	eta := net.forward(in, nn.Mode{Workers: 1}, true)
	return mat.NewDense(in.n, len(m.names), slices.Clone(eta)), nil
}
