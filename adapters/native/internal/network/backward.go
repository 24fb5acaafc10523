package network

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Backward adds to the gradients of the parameters, given the gradient deta of the mean
// loss in the predictors (n x K) at the rows of b, which are part of a batch of the given
// size. It follows a Forward pass in training mode. If that was in mode Defer, the
// gradients of the parameters wait for Deferred.
func (m *Network[T]) Backward(b *Batch[T], deta []T, size int, mode nn.Mode) {
	k := len(m.Free)
	m.deta = deta[:b.N*k]
	if !mode.Defer {
		m.interceptGradients()
	}
	for j, l := range m.Structured {
		if l == nil {
			continue
		}
		if l.backward(deta, k, j); !mode.Defer {
			l.addGradient()
		}
	}
	for i, t := range m.Towers {
		df := t.dropout.Backward(t.outputGradient(deta, k, b.N, size), b.N)
		if mode.Parts > 0 {
			t.backwardApart(df, b.N, mode)
			continue
		}
		du := t.Head.Backward(df, b.N)
		if c := m.complements[i]; c != nil {
			project(c, du, b.N)
		}
		t.du = du
	}
	for i := len(m.Towers) - 1; i >= 0 && mode.Parts == 0; i-- {
		m.Towers[i].backward(m.Towers[i].du, m.Towers, b.N, mode.Defer)
	}
}

// interceptGradients adds those of the last backward pass.
func (m *Network[T]) interceptGradients() {
	for j, free := range m.Free {
		if !free {
			continue
		}
		sum := m.Intercept.Grad[j]
		for i := j; i < len(m.deta); i += len(m.Free) {
			sum += m.deta[i]
		}
		m.Intercept.Grad[j] = sum
	}
}

// rows is the number of rows of the last backward pass.
func (m *Network[T]) rows() int { return len(m.deta) / len(m.Free) }

// outputGradient is the gradient in the groups' outputs (after dropout), the penalty's
// included.
func (t *Tower[T]) outputGradient(deta []T, k, n, size int) []T {
	p, w, ld := len(t.Plan.Predictors), t.dropout.Width, kernel.UnitStride[T](n)
	t.df = kernel.Units(t.df, w, n)
	each := t.OutputPenalty(1, size)
	for j := range w {
		column, at := t.df[j*ld:][:n], t.Plan.Predictors[j%p]
		if k == 1 {
			copy(column, deta)
		} else {
			for i := range column {
				column[i] = deta[i*k+at]
			}
		}
		if t.Plan.OutputPenalty != 0 {
			for i, f := range t.f[j*ld:][:n] {
				column[i] += T(2 * each * float64(f))
			}
		}
	}
	return t.df
}

// backward takes the gradient in U and passes it on; du is overwritten. Gradients of
// the parameters wait for Deferred if deferred.
func (t *Tower[T]) backward(du []T, towers []*Tower[T], n int, deferred bool) {
	p := t.Plan
	t.dx = t.Chain.Backward(du, n)
	switch {
	case p.ProductOf >= 0:
		from := towers[p.ProductOf]
		ld, q := kernel.UnitStride[T](n), from.Plan.Units
		for g, pair := range p.Pairs {
			a, b := pair[0]*q*ld, pair[1]*q*ld
			nn.RowTensorGrad(from.du[a:], from.du[b:], t.dx[g*p.Units*ld:], from.U[a:], q, from.U[b:], q, n)
		}
	case !deferred:
		t.embeddingGradients(n)
	}
}

// embeddingGradients adds those of the last backward pass.
func (t *Tower[T]) embeddingGradients(n int) {
	at := t.Plan.Numeric
	for _, e := range t.Embeddings {
		e.Backward(t.dx[at*kernel.UnitStride[T](n):])
		at += e.Width
	}
}

// Finish ends the backward passes of a step.
func (m *Network[T]) Finish() {
	for _, t := range m.Towers {
		for _, l := range t.Chain.Layers {
			if e, ok := l.(*nn.ExU[T]); ok {
				e.Finish()
			}
		}
	}
}

// Deferred lists what backward passes in mode Defer have still to do. nets are replicas of
// one network that took a block of rows each, in the order of the rows. The functions may
// run at once, see nn.Deferred.
func Deferred[T kernel.Float](nets []*Network[T]) []func() {
	each := func(f func(m *Network[T])) func() {
		return func() {
			for _, m := range nets {
				f(m)
			}
		}
	}
	layers := func(f func(m *Network[T]) nn.Layer[T]) []func() {
		blocks := make([]nn.Layer[T], len(nets))
		for i, m := range nets {
			blocks[i] = f(m)
		}
		return nn.Deferred(blocks)
	}
	todo := []func(){each((*Network[T]).interceptGradients)}
	for j, l := range nets[0].Structured {
		if l != nil {
			todo = append(todo, each(func(m *Network[T]) { m.Structured[j].addGradient() }))
		}
	}
	for i, t := range nets[0].Towers {
		todo = append(todo, layers(func(m *Network[T]) nn.Layer[T] { return m.Towers[i].Chain })...)
		todo = append(todo, layers(func(m *Network[T]) nn.Layer[T] { return m.Towers[i].Head })...)
		if len(t.Embeddings) > 0 {
			todo = append(todo, each(func(m *Network[T]) { m.Towers[i].embeddingGradients(m.rows()) }))
		}
	}
	return todo
}

// OutputPenalty is the penalty on the outputs of a batch of the given size, a multiple of
// their mean square, from the sum of their squares.
func (t *Tower[T]) OutputPenalty(squares float64, size int) float64 {
	return t.Plan.OutputPenalty / float64(size*t.dropout.Width) * squares
}

// AddSquares adds the squared outputs of the last forward pass to sums, one for each
// tower, where there is a penalty on them.
func (m *Network[T]) AddSquares(sums []float64) {
	for i, t := range m.Towers {
		if t.Plan.OutputPenalty == 0 {
			continue
		}
		n := m.rows()
		for r := range n {
			for j := range t.dropout.Width {
				f := float64(t.f[j*kernel.UnitStride[T](n)+r])
				sums[i] += f * f
			}
		}
	}
}

// AddPenalties adds the gradients of the penalties of the structured part, S beta/W, and
// returns their part of the loss, beta'S beta/(2W); sumW is W.
func (m *Network[T]) AddPenalties(sumW float64) float64 {
	loss := 0.0
	for j, l := range m.Structured {
		if l != nil && m.penalties[j] != nil {
			loss += l.addPenalty(m.penalties[j], sumW)
		}
	}
	return loss
}

// full are the p x p numbers of s, nil of nil.
func full(s *mat.SymDense) []float64 {
	if s == nil {
		return nil
	}
	return mat.DenseCopyOf(s).RawMatrix().Data
}
