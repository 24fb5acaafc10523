package network

import (
	"fmt"
	"math/rand/v2"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Tower is a part of the network with a last hidden layer U and linear heads on it: the
// deep part (one group), or feature networks side by side (a group each).
type Tower[T kernel.Float] struct {
	Plan       *Plan
	Embeddings []*nn.Embedding[T] // of the plan's factors
	Chain      *nn.Chain[T]       // the hidden layers
	// Head maps the q units of each group to the tower's predictors: its output has
	// groups * predictors columns.
	Head *nn.Dense[T]
	// U are groups * q columns after a forward pass (see nn.Layer), projected if the tower
	// is orthogonalized online; the tower's own memory.
	U []T

	dropout   *nn.Dropout[T] // of whole groups
	x         []T            // input of the chain, if it is made here
	projected []T            // memory of a projected U
	f         []T            // groups * predictors columns: the outputs
	df        []T            // gradient in f
	du, dx    []T            // gradients in U and x
	parts     [][]group[T]   // that go apart
	out       []T            // the heads' output in that mode
}

// reluNTop is n of ReLU-n.
const reluNTop = 1

// newTower builds the layers, with all parameters 0 but those of batch norm.
func newTower[T kernel.Float](p *Plan, seed uint64) *Tower[T] {
	t := &Tower[T]{Plan: p, Chain: &nn.Chain[T]{}}
	groups, in := p.Groups(), p.Numeric
	for _, f := range p.Factors {
		t.Embeddings = append(t.Embeddings, nn.NewEmbedding[T](p.Name+".embedding."+f.Column, len(f.Levels), f.Width))
		in += f.Width
	}
	t.Chain.Width = groups * p.Units
	for l, width := range p.Hidden {
		t.addHidden(l, in, width, seed)
		in = width
	}
	t.Head = nn.NewDense[T](p.Name+".head", groups, p.Units, len(p.Predictors), false)
	t.dropout = &nn.Dropout[T]{Width: groups * len(p.Predictors), Run: len(p.Predictors), P: p.FeatureDropout, Seed: seed + 1<<32}
	return t
}

// addHidden appends hidden layer l: a linear map, batch norm, activation, dropout.
func (t *Tower[T]) addHidden(l, in, width int, seed uint64) {
	p, groups := t.Plan, t.Plan.Groups()
	name := fmt.Sprintf("%s.%d", p.Name, l)
	activation := p.Activation
	reads := l == 0 && len(p.Factors) == 0 // data, in which nobody needs a gradient
	if l == 0 && p.ExU {
		e := nn.NewExU[T](name, groups, in, width)
		e.First = reads
		t.add(e)
	} else {
		d := nn.NewDense[T](name, groups, in, width, true)
		d.First = reads
		if l == 0 && p.WithoutFirstBias {
			d.B.Grad = nil // biases that stay 0
		}
		if activation == nn.Relu && !p.BatchNorm {
			d.Relu, activation = true, ""
		}
		t.add(d)
	}
	if p.BatchNorm {
		t.add(nn.NewBatchNorm[T](name+".norm", groups*width))
	}
	if activation != "" {
		t.add(&nn.Activation[T]{Width: groups * width, F: activation, N: reluNTop})
	}
	if p.Dropout > 0 && (p.LastDropout || l+1 < len(p.Hidden)) {
		t.add(&nn.Dropout[T]{Width: groups * width, Run: 1, P: p.Dropout, Seed: seed + uint64(l)})
	}
}

func (t *Tower[T]) add(l nn.Layer[T]) { t.Chain.Layers = append(t.Chain.Layers, l) }

// init draws the parameters as the plan's initialisation says.
func (t *Tower[T]) init(rng *rand.Rand) {
	for _, e := range t.Embeddings {
		e.Init(rng)
	}
	for i, l := range t.Chain.Layers {
		switch l := l.(type) {
		case *nn.Dense[T]:
			gain, bias := t.Plan.Initialization.hidden(t.Plan, i, l.In, l.OutEach)
			l.Init(rng, gain)
			if l.B.Grad == nil {
				continue
			}
			for i := range l.B.Value {
				l.B.Value[i] = T(bias * (2*rng.Float64() - 1)) // kinks of ReLU units off the mean
			}
		case *nn.ExU[T]:
			l.Init(rng, 0.5)
		}
	}
	t.Head.Init(rng, t.Plan.Initialization.head(t.Plan))
}

func (t *Tower[T]) params() []*nn.Param[T] {
	var p []*nn.Param[T]
	for _, e := range t.Embeddings {
		p = append(p, e.Table)
	}
	return append(append(p, t.Chain.Params()...), t.Head.Params()...)
}

func (t *Tower[T]) replica() *Tower[T] {
	r := &Tower[T]{Plan: t.Plan, Chain: t.Chain.Replica().(*nn.Chain[T]), Head: t.Head.Replica().(*nn.Dense[T]), dropout: t.dropout.Replica().(*nn.Dropout[T])}
	for _, e := range t.Embeddings {
		r.Embeddings = append(r.Embeddings, e.Replica())
	}
	return r
}

// hidden computes U from the numeric inputs of n rows and the codes of each
// factor, or as products of another tower's U.
func (t *Tower[T]) hidden(x []T, codes [][]int32, towers []*Tower[T], n int, m nn.Mode) {
	p := t.Plan
	switch {
	case p.ProductOf >= 0:
		t.x = kernel.Units(t.x, p.Groups()*p.Units, n)
		from, ld := towers[p.ProductOf], kernel.UnitStride[T](n)
		q := from.Plan.Units
		for g, pair := range p.Pairs {
			nn.RowTensor(t.x[g*p.Units*ld:], from.U[pair[0]*q*ld:], q, from.U[pair[1]*q*ld:], q, n)
		}
		x = t.x
	case len(t.Embeddings) > 0:
		x = t.embedded(x, codes, n)
	}
	t.U = t.Chain.Forward(x, n, m)
}

// embedded puts the columns of the embeddings behind the numeric ones.
func (t *Tower[T]) embedded(x []T, codes [][]int32, n int) []T {
	ld := kernel.UnitStride[T](n)
	t.x = kernel.Units(t.x, t.embeddedWidth(), n)
	at := copy(t.x, x[:t.Plan.Numeric*ld])
	for j, e := range t.Embeddings {
		e.Forward(t.x[at:], codes[j][:n])
		at += e.Width * ld
	}
	return t.x
}

// embeddedWidth is the number of columns that the layers read if there are embeddings.
func (t *Tower[T]) embeddedWidth() int {
	width := t.Plan.Numeric
	for _, e := range t.Embeddings {
		width += e.Width
	}
	return width
}

// AddTo adds the outputs of the last forward pass to the predictors eta (n x k).
func (t *Tower[T]) AddTo(eta []T, k, n int) {
	p, ld := len(t.Plan.Predictors), kernel.UnitStride[T](n)
	for j := range t.dropout.Width {
		column, at := t.f[j*ld:][:n], t.Plan.Predictors[j%p]
		if k == 1 { // by far the most frequent
			sum := eta[:len(column)]
			for i, v := range column {
				sum[i] += v
			}
			continue
		}
		for i, v := range column {
			eta[i*k+at] += v
		}
	}
}

// ScaleHead multiplies the outputs for predictor k by f.
func (t *Tower[T]) ScaleHead(k int, f float64) {
	p := len(t.Plan.Predictors)
	for i := range t.Head.W.Value {
		if t.Plan.Predictors[i%p] == k {
			t.Head.W.Value[i] *= T(f)
		}
	}
	t.Head.W.Version++
}

// HeadOf are the q weights of group g for number at of the tower's predictors.
func (t *Tower[T]) HeadOf(g, at int) []float64 {
	p, q := len(t.Plan.Predictors), t.Plan.Units
	v := make([]float64, q)
	for i := range v {
		v[i] = float64(t.Head.W.Value[(g*q+i)*p+at])
	}
	return v
}

// Settle prepares what the layers would else compute in the first forward pass: replicas
// in other goroutines then only read.
func (t *Tower[T]) Settle() {
	for _, l := range t.Chain.Layers {
		if e, ok := l.(*nn.ExU[T]); ok {
			e.Effective()
		}
	}
}
