package nn

import (
	"math"

	"github.com/pho-go/pho/internal/kernel"
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
	Workers  int

	Steps         int   // taken so far
	First, Second [][]T // moments of each trained parameter
	params        []*Param[T]
}

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
	}
	return o
}

// ZeroGrad clears the gradients.
func (o *Optimizer[T]) ZeroGrad() {
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

// Step takes one step at the given learning rate.
func (o *Optimizer[T]) Step(rate float64) {
	const beta1, beta2, eps = 0.9, 0.999, 1e-8
	o.Steps++
	c1 := 1 - math.Pow(beta1, float64(o.Steps))
	c2 := math.Sqrt(1 - math.Pow(beta2, float64(o.Steps)))
	for k, p := range o.params {
		decay := 0.0
		if p.Decay {
			decay = o.Decay
		}
		Share(len(p.Value), 64, 16*len(p.Value), o.Workers, func(i, j int) {
			w, g, m := p.Value[i:j], p.Grad[i:j], o.First[k][i:j]
			if o.Method != AdamW && decay > 0 {
				for i := range g {
					g[i] += T(decay) * w[i]
				}
			}
			switch o.Method {
			case Adam:
				kernel.AdamStep(w, g, m, o.Second[k][i:j], beta1, beta2, T(rate*c2/c1), T(eps*c2), 0)
			case AdamW:
				kernel.AdamStep(w, g, m, o.Second[k][i:j], beta1, beta2, T(rate*c2/c1), T(eps*c2), T(rate*decay))
			case SGD:
				for i := range g {
					m[i] = T(o.Momentum)*m[i] + g[i]
					w[i] -= T(rate) * m[i]
				}
			}
		})
		p.Version++
	}
}
