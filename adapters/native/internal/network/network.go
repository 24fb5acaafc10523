// Package network is what training changes: the predictors
//
//	eta_k = intercept_k + X_k beta_k + towers,   k = 1..K,
//
// with forward and backward passes over batches, in float32 or float64. X_k are the
// columns of a formula, as they are given; a tower is the deep part or the feature
// networks of a neural additive model. Nothing here knows of files, families or epochs.
package network

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Network is intercepts, structured parts and towers. It keeps what a backward pass needs
// until the next Forward, so it serves one goroutine: see Replica.
type Network[T kernel.Float] struct {
	Intercept  *nn.Param[T]     // K numbers
	Free       []bool           // intercepts that are trained
	Structured []*Structured[T] // X_k beta_k; nil without columns
	Towers     []*Tower[T]

	penalties   [][]float64   // on beta_k, p x p; nil: none
	complements []*complement // of the towers that are orthogonalized online, by tower
	eta         []T           // n x K
	deta        []T           // gradient in eta at the last backward pass
}

// Predictor is what a predictor has beside towers.
type Predictor struct {
	Name      string
	Columns   int           // p, of X_k
	Intercept bool          // it is trained; else it stays
	Penalty   *mat.SymDense // on beta_k, p x p; nil: none
}

// New returns a network whose parameters are all 0; seed sets what dropout draws.
func New[T kernel.Float](predictors []Predictor, plans []*Plan, seed uint64) *Network[T] {
	m := &Network[T]{Intercept: nn.NewParam[T]("intercept", len(predictors), false), complements: make([]*complement, len(plans))}
	for _, p := range predictors {
		m.Free = append(m.Free, p.Intercept)
		m.penalties = append(m.penalties, full(p.Penalty))
		var s *Structured[T]
		if p.Columns > 0 {
			s = newStructured[T](p.Name, p.Columns)
		}
		m.Structured = append(m.Structured, s)
	}
	for i, p := range plans {
		t := newTower[T](p, seed*1000003+uint64(i)<<40)
		m.Towers = append(m.Towers, t)
		if p.Orthogonalize {
			m.complements[i] = &complement{}
		}
	}
	return m
}

// Init draws the parameters of the towers.
func (m *Network[T]) Init(rng *rand.Rand) {
	for _, t := range m.Towers {
		t.init(rng)
	}
}

// SetAdditive sets the intercepts and the coefficients beta_k, nil for predictors without
// columns.
func (m *Network[T]) SetAdditive(intercepts []float64, beta [][]float64) {
	for k, v := range intercepts {
		m.Intercept.Value[k] = T(v)
		for i, c := range beta[k] {
			m.Structured[k].W.Value[i] = T(c)
		}
		if m.Structured[k] != nil {
			m.Structured[k].W.Version++
		}
	}
	m.Intercept.Version++
}

// Params are all parameters: intercepts, structured parts, towers.
func (m *Network[T]) Params() []*nn.Param[T] {
	p := []*nn.Param[T]{m.Intercept}
	for _, l := range m.Structured {
		if l != nil {
			p = append(p, l.W)
		}
	}
	for _, t := range m.Towers {
		p = append(p, t.params()...)
	}
	return p
}

// Heads are the last weights of all towers: at 0 the network is its intercepts and
// structured parts alone. They have a gradient there, for what they multiply is not 0.
func (m *Network[T]) Heads() []*nn.Param[T] {
	var p []*nn.Param[T]
	for _, t := range m.Towers {
		p = append(p, t.Head.W)
	}
	return p
}

// Weights is the number of parameters that multiply something: all but the tables of
// factors.
func (m *Network[T]) Weights() int {
	n := 0
	for _, p := range m.Params() {
		n += len(p.Value)
	}
	for _, t := range m.Towers {
		for _, e := range t.Embeddings {
			n -= len(e.Table.Value)
		}
	}
	return n
}

// Forward computes the predictors without offset: n x K in the network's memory.
// online projects U of the towers that ask for it on the complement of this
// batch's structured columns.
func (m *Network[T]) Forward(b *Batch[T], mode nn.Mode, online bool) []T {
	k := len(m.Free)
	m.eta = nn.Sized(m.eta, b.N*k)
	for i := range b.N {
		copy(m.eta[i*k:], m.Intercept.Value)
	}
	for j, l := range m.Structured {
		if l == nil {
			continue
		}
		for i, v := range l.forward(b.Structured[j], b.N) {
			m.eta[i*k+j] += v
		}
	}
	for i, t := range m.Towers {
		t.f = t.dropout.Forward(m.heads(i, b, mode, online), b.N, mode)
		t.AddTo(m.eta, k, b.N)
	}
	return m.eta
}

// heads is the output of tower i.
func (m *Network[T]) heads(i int, b *Batch[T], mode nn.Mode, online bool) []T {
	t := m.Towers[i]
	if mode.Parts > 0 {
		return t.forwardApart(b.X[i], b.N, mode)
	}
	t.hidden(b.X[i], b.Codes[i], m.Towers, b.N, mode)
	if c := m.complements[i]; c != nil && online {
		j := t.Plan.Predictors[0]
		c.of(nn.Float64s(b.Structured[j]), b.N, m.Free[j])
		t.projected = append(t.projected[:0], t.U...) // the layers still need theirs
		t.U = t.projected
		project(c, t.U, b.N)
	}
	return t.Head.Forward(t.U, b.N, mode)
}

// ForwardTowers runs the towers alone: their U, and the outputs that AddTo adds.
func (m *Network[T]) ForwardTowers(b *Batch[T], mode nn.Mode) {
	for i, t := range m.Towers {
		t.hidden(b.X[i], b.Codes[i], m.Towers, b.N, mode)
		t.f = t.Head.Forward(t.U, b.N, mode)
	}
}

// Replica shares the parameters and nothing else, for passes in another goroutine.
func (m *Network[T]) Replica() *Network[T] {
	r := &Network[T]{Intercept: m.Intercept, Free: m.Free, penalties: m.penalties, complements: make([]*complement, len(m.complements))}
	for _, l := range m.Structured {
		if l != nil {
			l = l.replica()
		}
		r.Structured = append(r.Structured, l)
	}
	for i, t := range m.Towers {
		r.Towers = append(r.Towers, t.replica())
		if m.complements[i] != nil {
			r.complements[i] = &complement{}
		}
	}
	return r
}

// Finite is an error that names the first parameter that is not finite; nil if all are.
func (m *Network[T]) Finite() error {
	for _, p := range m.Params() {
		for _, v := range p.Value {
			if v-v != 0 {
				return fmt.Errorf("parameter %q is %v", p.Name, v)
			}
		}
	}
	return nil
}
