package nn

import (
	"math"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/taskpool"
)

// Method names an optimiser.
type Method string

// The optimisers.
const (
	Adam  Method = "adam"
	AdamW Method = "adamw" // Loshchilov and Hutter 2019: decay apart from the gradient
	SGD   Method = "sgd"   // with momentum
)

// Optimizer changes parameters along their gradients.
type Optimizer[T kernel.Float] struct {
	Method   Method
	Momentum float64 // of SGD
	Decay    float64 // AdamW: per step and unit of rate; others: lambda/2 |w|^2 in the loss
	// Shares > 1: workers take as many shares of all parameters, as they do of networks side by
	// side, which then are in their caches; else parts as they come.
	Shares int

	Steps         int   // taken so far
	First, Second [][]T // moments of each trained parameter
	params        []*Param[T]
	parts         []part // of all parameters
	zero          bool   // all gradients are 0
}

// part are numbers i to j-1 of trained parameter k.
type part struct{ k, i, j int }

// partSize is the length of a part: what is read and written of it stays in the first cache.
const partSize = 2048

// NewOptimizer starts at step 0 for the trained ones of params.
func NewOptimizer[T kernel.Float](method Method, params []*Param[T]) *Optimizer[T] {
	o := &Optimizer[T]{Method: method}
	for _, p := range params {
		if p.Grad == nil {
			continue
		}
		o.params = append(o.params, p)
		o.First = append(o.First, make([]T, len(p.Value)))
		var second []T
		if method != SGD {
			second = make([]T, len(p.Value))
		}
		o.Second = append(o.Second, second)
		for i := 0; i < len(p.Value); i += partSize {
			o.parts = append(o.parts, part{len(o.params) - 1, i, min(i+partSize, len(p.Value))})
		}
	}
	return o
}

// ZeroGrad clears the gradients before they are added up; after a Step it has nothing to do.
func (o *Optimizer[T]) ZeroGrad() {
	if o.zero {
		o.zero = false
		return
	}
	for _, p := range o.params {
		clear(p.Grad)
	}
}

// Norm is the Euclidean norm of all gradients, summed in float64.
func (o *Optimizer[T]) Norm() float64 {
	sum := 0.0
	for _, p := range o.params {
		for _, g := range p.Grad {
			sum += float64(g) * float64(g)
		}
	}
	return math.Sqrt(sum)
}

// Scale multiplies all gradients.
func (o *Optimizer[T]) Scale(f float64) {
	for _, p := range o.params {
		for i := range p.Grad {
			p.Grad[i] *= T(f)
		}
	}
}

// Step takes one step at the given learning rate and clears the gradients. The workers of
// pool share out the parameters if there are many; nil: there are none.
func (o *Optimizer[T]) Step(rate float64, pool *taskpool.Pool) {
	o.Steps++
	c1, c2 := 1-math.Pow(beta1, float64(o.Steps)), math.Sqrt(1-math.Pow(beta2, float64(o.Steps)))
	const few = 8 // parts that one worker is done with before a second has begun
	switch {
	case pool == nil || len(o.parts) < few:
		for _, p := range o.parts {
			o.step(p, rate, c1, c2)
		}
	case o.Shares > 1:
		pool.Each(o.Shares, func(i int) {
			for k, p := range o.params {
				n := len(p.Value)
				o.step(part{k, i * n / o.Shares, (i + 1) * n / o.Shares}, rate, c1, c2)
			}
		})
	default:
		pool.Each(len(o.parts), func(i int) { o.step(o.parts[i], rate, c1, c2) })
	}
	for _, p := range o.params {
		p.Version++
	}
	o.zero = true
}

// Of Adam.
const beta1, beta2, eps = 0.9, 0.999, 1e-8

// step moves one part; c1 and c2 are Adam's corrections of its moments.
func (o *Optimizer[T]) step(a part, rate, c1, c2 float64) {
	p := o.params[a.k]
	w, g, m := p.Value[a.i:a.j], p.Grad[a.i:a.j], o.First[a.k][a.i:a.j]
	decay := 0.0
	if p.Decay {
		decay = o.Decay
	}
	if o.Method != AdamW && decay > 0 {
		for i := range g {
			g[i] += T(decay) * w[i]
		}
	}
	switch o.Method {
	case Adam:
		kernel.AdamStep(w, g, m, o.Second[a.k][a.i:a.j], beta1, beta2, T(rate*c2/c1), T(eps*c2), 0)
	case AdamW:
		kernel.AdamStep(w, g, m, o.Second[a.k][a.i:a.j], beta1, beta2, T(rate*c2/c1), T(eps*c2), T(rate*decay))
	case SGD:
		for i := range g {
			m[i] = T(o.Momentum)*m[i] + g[i]
			w[i] -= T(rate) * m[i]
		}
	}
	clear(g)
}
