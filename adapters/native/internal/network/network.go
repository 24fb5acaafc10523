package native

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/internal/kernel"
)

// network is the whole predictor: intercepts, structured lines and towers.
type network[T kernel.Float] struct {
	intercept *nn.Param[T]
	free      []bool         // intercepts that are trained
	lines     []*nn.Dense[T] // X_k beta_k; nil without columns
	penalties []*mat.SymDense
	towers    []*tower[T]
	bases     []*complement // of the towers that are orthogonalized online, by tower

	eta     []T   // n x K
	deta    []T   // gradient in eta at the last backward pass
	columns [][]T // n each: those of deta that lines got
}

// batch is what the network reads of n rows.
type batch[T kernel.Float] struct {
	n     int
	x     [][]T       // numeric inputs of each tower, n x inputs
	codes [][][]int32 // of each tower's factors
	lines [][]T       // standardised structured columns of each predictor, n x p
}

// newNetwork has all parameters 0; seed sets what dropout draws.
func newNetwork[T kernel.Float](names []string, s []*structured, plans []*towerPlan, seed uint64) *network[T] {
	k := len(names)
	m := &network[T]{intercept: nn.NewParam[T]("intercept", k, false), bases: make([]*complement, len(plans))}
	for i, name := range names {
		m.free = append(m.free, s[i].intercept)
		m.penalties = append(m.penalties, s[i].penalty)
		var line *nn.Dense[T]
		if p := s[i].width(); p > 0 {
			line = nn.NewDense[T](name+".structured", 1, p, 1, false)
			line.First, line.W.Decay = true, false
		}
		m.lines = append(m.lines, line)
	}
	for i, p := range plans {
		t := newTower[T](p, seed*1000003+uint64(i)<<40)
		m.towers = append(m.towers, t)
		if p.orthogonalize {
			m.bases[i] = &complement{}
		}
	}
	return m
}

// init draws the towers' parameters and sets the others' start.
func (m *network[T]) init(rng *rand.Rand, intercepts []float64, coef [][]float64) {
	m.begin(beginning{intercepts, coef})
	for _, t := range m.towers {
		t.init(rng)
	}
}

func (m *network[T]) params() []*nn.Param[T] {
	p := []*nn.Param[T]{m.intercept}
	for _, l := range m.lines {
		if l != nil {
			p = append(p, l.W)
		}
	}
	for _, t := range m.towers {
		p = append(p, t.params()...)
	}
	return p
}

// weights is the number of parameters that multiply something: all but the tables of
// factors.
func (m *network[T]) weights() int {
	n := 0
	for _, p := range m.params() {
		n += len(p.Value)
	}
	for _, t := range m.towers {
		for _, e := range t.embed {
			n -= len(e.Table.Value)
		}
	}
	return n
}

// forward computes the predictors without offset: n x K in the network's memory.
// online projects U of the towers that ask for it on the complement of this
// batch's structured columns.
func (m *network[T]) forward(b *batch[T], mode nn.Mode, online bool) []T {
	k := len(m.free)
	m.eta = grow(m.eta, b.n*k)
	for i := range b.n {
		copy(m.eta[i*k:], m.intercept.Value)
	}
	for j, l := range m.lines {
		if l == nil {
			continue
		}
		for i, v := range l.Forward(b.lines[j], b.n, mode) {
			m.eta[i*k+j] += v
		}
	}
	for i, t := range m.towers {
		t.hidden(b.x[i], b.codes[i], m.towers, b.n, mode)
		if base := m.bases[i]; base != nil && online {
			j := t.plan.predictors[0]
			base.of(asFloat64(b.lines[j]), b.n, m.free[j])
			t.projected = append(t.projected[:0], t.u...) // the layers still need theirs
			t.u = t.projected
			project(base, t.u, b.n)
		}
		t.f = t.drop.Forward(t.head.Forward(t.u, b.n, mode), b.n, mode)
		t.addTo(m.eta, k, b.n)
	}
	return m.eta
}

// addTo sums the groups' outputs into the predictors.
func (t *tower[T]) addTo(eta []T, k, n int) {
	p, w := len(t.plan.predictors), t.drop.Width
	for i := range n {
		for j, v := range t.f[i*w:][:w] {
			eta[i*k+t.plan.predictors[j%p]] += v
		}
	}
}

// penalise adds the gradients of the formula terms' penalties and returns their
// part of the loss; sumW is W.
func (m *network[T]) penalise(sumW float64) float64 {
	loss := 0.0
	for j, l := range m.lines {
		if l != nil {
			loss += addPenalty(l.W, m.penalties[j], sumW)
		}
	}
	return loss
}

// backward adds to the gradients, given that of the mean loss in the predictors (n
// x K) at rows of a batch of the given size. It follows a forward pass in training
// mode. If that pass was in mode Later, gradients of the parameters wait for left.
func (m *network[T]) backward(b *batch[T], deta []T, size int, mode nn.Mode) {
	k := len(m.free)
	m.deta = deta[:b.n*k]
	if !mode.Later {
		m.interceptGradients()
	}
	m.columns = append(m.columns, make([][]T, k-len(m.columns))...)
	for j, l := range m.lines {
		if l == nil {
			continue
		}
		column := grow(m.columns[j], b.n)
		for i := range column {
			column[i] = deta[i*k+j]
		}
		l.Backward(column, b.n)
		m.columns[j] = column
	}
	for i, t := range m.towers {
		df := t.outputGradient(deta, k, b.n, size)
		du := t.head.Backward(t.drop.Backward(df, b.n), b.n)
		if base := m.bases[i]; base != nil {
			project(base, du, b.n)
		}
		t.du = append(t.du[:0], du...)
	}
	for i := len(m.towers) - 1; i >= 0; i-- {
		m.towers[i].backward(m.towers[i].du, m.towers, b.n, mode.Later)
	}
}

// interceptGradients adds those of the last backward pass.
func (m *network[T]) interceptGradients() {
	k := len(m.free)
	for i, v := range m.deta {
		if m.free[i%k] {
			m.intercept.Grad[i%k] += v
		}
	}
}

// finish ends the backward passes of a step.
func (m *network[T]) finish() {
	for _, t := range m.towers {
		t.finish()
	}
}

// outputGradient is the gradient in the groups' outputs (after dropout), the penalty's
// included.
func (t *tower[T]) outputGradient(deta []T, k, n, size int) []T {
	p, w := len(t.plan.predictors), t.drop.Width
	t.df = grow(t.df, n*w)
	df := t.df
	for i := range n {
		for j := range w {
			df[i*w+j] = deta[i*k+t.plan.predictors[j%p]]
		}
	}
	if t.plan.outputPenalty != 0 {
		each := t.penaltyOf(1, size)
		for i, f := range t.f[:n*w] {
			df[i] += T(2 * each * float64(f))
		}
	}
	return df
}

// penaltyOf is the output penalty of a batch of the given size, the mean of the squared
// outputs, from their sum.
func (t *tower[T]) penaltyOf(squares float64, size int) float64 {
	return t.plan.outputPenalty / float64(size*t.drop.Width) * squares
}

// addSquares adds the squared outputs of the last forward pass, by tower, where there is
// a penalty on them.
func (m *network[T]) addSquares(sums []float64) {
	for i, t := range m.towers {
		if t.plan.outputPenalty == 0 {
			continue
		}
		for _, f := range t.f[:len(m.deta)/len(m.free)*t.drop.Width] {
			sums[i] += float64(f) * float64(f)
		}
	}
}

// addPenalty adds S beta/W to the gradient and returns beta'S beta/(2W).
func addPenalty[T kernel.Float](beta *nn.Param[T], s *mat.SymDense, sumW float64) float64 {
	if s == nil {
		return 0
	}
	raw, loss := s.RawSymmetric(), 0.0
	for i := range beta.Value {
		sum := 0.0
		for j, v := range beta.Value {
			sum += raw.Data[min(i, j)*raw.Stride+max(i, j)] * float64(v)
		}
		beta.Grad[i] += T(sum / sumW)
		loss += float64(beta.Value[i]) * sum / (2 * sumW)
	}
	return loss
}

func asFloat64[T kernel.Float](v []T) []float64 {
	if w, ok := any(v).([]float64); ok {
		return w
	}
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}

// replica shares the parameters and nothing else, for prediction elsewhere.
func (m *network[T]) replica() *network[T] {
	r := &network[T]{intercept: m.intercept, free: m.free, penalties: m.penalties, bases: make([]*complement, len(m.bases))}
	for _, l := range m.lines {
		if l != nil {
			l = l.Replica().(*nn.Dense[T])
		}
		r.lines = append(r.lines, l)
	}
	for i, t := range m.towers {
		r.towers = append(r.towers, t.replica())
		if m.bases[i] != nil {
			r.bases[i] = &complement{}
		}
	}
	return r
}

// finite names the first parameter that is not finite.
func (m *network[T]) finite() error {
	for _, p := range m.params() {
		for _, v := range p.Value {
			if v-v != 0 {
				return fmt.Errorf("parameter %q is %v", p.Name, v)
			}
		}
	}
	return nil
}
