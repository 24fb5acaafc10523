package nn

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/internal/kernel"
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
	Share(size, 64, 16*size, m.Workers, func(i, j int) { a.apply(a.y[i:j], a.x[i:j]) })
	return a.y
}

func (a *Activation[T]) apply(y, x []T) {
	switch a.F {
	case Relu:
		kernel.Relu(y, x)
	case Tanh:
		kernel.Tanh(y, x)
	case Sigmoid:
		kernel.Sigmoid(y, x)
	case ReluN:
		top := T(a.N)
		for i, v := range x {
			y[i] = min(max(v, 0), top)
		}
	case Softplus:
		for i, v := range x {
			y[i] = T(softplus(float64(v)))
		}
	case Gelu:
		for i, v := range x {
			y[i] = T(float64(v) * normal(float64(v)))
		}
	default:
		panic(fmt.Sprintf("nn: unknown activation %q", a.F))
	}
}

func (a *Activation[T]) Backward(dy []T, n int) []T {
	size := a.Width * kernel.UnitStride[T](n)
	Share(size, 64, 16*size, a.workers, func(i, j int) { a.scale(dy[i:j], a.x[i:j], a.y[i:j]) })
	return dy[:size]
}

// scale multiplies dy by the derivative.
func (a *Activation[T]) scale(dy, x, y []T) {
	switch a.F {
	case Relu:
		kernel.ReluGrad(dy, dy, y)
	case ReluN:
		top := T(a.N)
		for i, v := range x {
			if !(v > 0 && v < top) {
				dy[i] = 0
			}
		}
	case Tanh:
		for i, v := range y {
			dy[i] *= 1 - v*v
		}
	case Sigmoid:
		for i, v := range y {
			dy[i] *= v * (1 - v)
		}
	case Softplus:
		for i, v := range x {
			dy[i] *= T(logistic(float64(v)))
		}
	case Gelu:
		for i, v := range x {
			z := float64(v)
			dy[i] *= T(normal(z) + z*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi))
		}
	}
}

// normal is the standard normal distribution function.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func logistic(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	if x >= 0 {
		return 1 / (1 + e)
	}
	return e / (1 + e)
}
