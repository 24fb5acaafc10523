package native

import (
	"math"
	"slices"
	"sync"

	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/base/kernel"
)

// newModel copies the trained network, in the response's units: y = shift + scale
// times what was trained on. projections are those of the deep parts that were
// orthogonalized online.
func newModel[T kernel.Float](j *job, trained *network.Network[T], projections []*network.Projection) *Model {
	own := j.cfg.Family.Predictors() // further ones were unknown parameters
	m := j.emptyModel(j.predictors(own))
	m.family = j.estimated(nn.Float64s(trained.Intercept.Value[own:]))
	from := trained.Params()
	for i, p := range m.net.Params() {
		copy(p.Value, nn.Float64s(from[i].Value))
		p.Version++
	}
	m.parts = j.parts[:own]
	for k := range m.names {
		scale, shift := j.units.Of(k)
		var coef []float64
		if l := m.net.Structured[k]; l != nil {
			coef = scaleBy(l.W.Value, scale)
			l.W.Version++
		}
		for _, t := range m.net.Towers {
			t.ScaleHead(k, scale)
			t.Settle()
		}
		m.net.Intercept.Value[k] = shift + scale*m.net.Intercept.Value[k]
		blocks, means := j.parts[k].Raw(coef)
		m.intercept[k] = m.net.Intercept.Value[k] + means
		m.blocks[k] = blocks
		for _, a := range projections {
			if a.Predictor == k {
				m.projected[k] = newFixedProjection(a, j.parts[k], scale)
			}
		}
	}
	m.finish(j)
	return m
}

// emptyModel has the towers of the job, with parameters of 0, and no terms yet.
func (j *job) emptyModel(predictors []network.Predictor) *Model {
	own := j.cfg.Family.Predictors()
	return &Model{
		family: j.cfg.Family, asked: j.cfg.Family.Name(), response: j.cfg.Response, event: j.cfg.Event, classes: j.fit.Classes, names: j.names[:own], replicas: new(sync.Pool),
		net:       network.New[float64](predictors, j.plans, 0),
		intercept: make([]float64, own), blocks: make([][]decompose.Block, own), projected: make([]*fixedProjection, own),
	}
}

// finish completes a model whose formula terms are there: learned terms, columns, and the
// ranges of the formula's columns over the training rows.
func (m *Model) finish(j *job) {
	m.ranges = rangesOf(m.blocks, j.seen.Batch)
	m.addLearned()
	m.columns = m.reads()
}

// estimated is the family with its unknown parameters as training found them; logs are
// their logarithms in training's units.
func (j *job) estimated(logs []float64) family.Differentiable {
	h, ok := j.cfg.Family.(family.Held)
	if !ok || h.Unknown() == nil {
		return j.family // with its baseline, if it has one
	}
	logs = slices.Clone(logs)
	if h.Unknown()[0] == "sigma" {
		logs[0] += math.Log(j.units.Scale)
	}
	return h.With(logs)
}

func scaleBy(v []float64, f float64) []float64 {
	for i := range v {
		v[i] *= f
	}
	return v
}

// addLearned appends the feature networks to the terms: one Tap serves all predictors.
func (m *Model) addLearned() {
	for _, t := range m.net.Towers {
		p := t.Plan
		if p.Deep {
			continue
		}
		for g := range p.Groups() {
			tap := &decompose.Tap{Tensor: p.Tap(g), Features: p.Columns[g], Width: p.Units}
			for at, k := range p.Predictors {
				m.blocks[k] = append(m.blocks[k], decompose.Block{Term: tap, Coef: t.HeadOf(g, at)})
			}
		}
	}
}

// reads are the columns of terms and towers.
func (m *Model) reads() []string {
	var names []string
	for _, blocks := range m.blocks {
		for _, b := range blocks {
			names = append(names, b.Term.Columns()...)
		}
	}
	for _, t := range m.net.Towers {
		for _, group := range t.Plan.Columns {
			names = append(names, group...)
		}
	}
	return unique(names)
}
