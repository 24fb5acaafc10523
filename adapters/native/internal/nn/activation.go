package nn

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Function is an activation function.
type Function string

// The activation functions.
const (
	Relu     Function = "relu"
	ReluN    Function = "relu-n" // min(max(x, 0), N)
	Tanh     Function = "tanh"
	Sigmoid  Function = "sigmoid"
	Softplus Function = "softplus"
	Gelu     Function = "gelu" // x Phi(x), exact
)

// Functions lists the activation functions.
func Functions() []Function { return []Function{Relu, ReluN, Tanh, Sigmoid, Softplus, Gelu} }

// Activation applies a function to each element.
type Activation[T kernel.Float] struct {
	Width int
	F     Function
	N     float64 // of ReluN

	workers int
	x, y    []T
}

func (a *Activation[T]) Out() int            { return a.Width }
func (a *Activation[T]) Params() []*Param[T] { return nil }
func (a *Activation[T]) Replica() Layer[T] {
	return &Activation[T]{Width: a.Width, F: a.F, N: a.N}
}

func (a *Activation[T]) Forward(x []T, n int, m Mode) []T {
	size := a.Width * kernel.UnitStride[T](n)
	a.x, a.y, a.workers = x[:size], kernel.Units(a.y, a.Width, n), m.Workers
	if work := 16 * size; Alone(work, a.workers) {
		a.apply(a.y, a.x)
	} else {
		Share(size, 64, work, a.workers, func(i, j int) { a.apply(a.y[i:j], a.x[i:j]) })
	}
	return a.y
}

func (a *Activation[T]) apply(y, x []T) {
	switch a.F {
	case Relu:
		kernel.Relu(y, x)
	case ReluN:
		kernel.HardSigmoid(y, x, T(1/a.N), 0)
		kernel.Mul(y, y, []T{T(a.N)})
	case Tanh:
		kernel.Tanh(y, x)
	case Sigmoid:
		kernel.Sigmoid(y, x)
	case Softplus:
		kernel.Softplus(y, x)
	case Gelu:
		kernel.Gelu(y, x)
	default:
		panic(fmt.Sprintf("nn: unknown activation %q", a.F))
	}
}

func (a *Activation[T]) Backward(dy []T, n int) []T {
	dy = dy[:a.Width*kernel.UnitStride[T](n)]
	if work := 16 * len(dy); Alone(work, a.workers) {
		a.scale(dy, a.x, a.y)
	} else {
		Share(len(dy), 64, work, a.workers, func(i, j int) { a.scale(dy[i:j], a.x[i:j], a.y[i:j]) })
	}
	return dy
}

// scale multiplies dy by the derivative, which stays in the first cache meanwhile.
func (a *Activation[T]) scale(dy, x, y []T) {
	const most = 512
	var derivative, product [most]T
	for i := 0; i < len(dy); i += most {
		j := min(i+most, len(dy))
		a.scalePart(dy[i:j], x[i:j], y[i:j], derivative[:j-i], product[:j-i])
	}
}

// scalePart works in d and e.
func (a *Activation[T]) scalePart(dy, x, y, d, e []T) {
	one := []T{1}
	switch a.F {
	case Relu:
		kernel.ReluGrad(dy, dy, y)
		return
	case ReluN: // where y is neither 0 nor N
		kernel.ReluGrad(dy, dy, y)
		kernel.Sub(d, []T{T(a.N)}, y)
		kernel.ReluGrad(dy, dy, d)
		return
	case Tanh: // 1 - y^2
		kernel.Mul(d, y, y)
		kernel.Sub(d, one, d)
	case Sigmoid: // y (1 - y)
		kernel.Sub(d, one, y)
		kernel.Mul(d, d, y)
	case Softplus:
		kernel.Sigmoid(d, x)
	case Gelu: // Phi(x) + x phi(x)
		kernel.Mul(e, x, x)
		kernel.Mul(e, e, []T{-0.5})
		kernel.Exp(e, e)
		kernel.Mul(e, e, x)
		kernel.Mul(e, e, []T{T(1 / math.Sqrt(2*math.Pi))})
		kernel.Mul(d, x, []T{T(1 / math.Sqrt2)})
		kernel.Erf(d, d)
		kernel.Add(d, d, one)
		kernel.Mul(d, d, []T{0.5})
		kernel.Add(d, d, e)
	}
	kernel.Mul(dy, dy, d)
}
