// Package nn holds the layers that networks are trained with: forward and
// backward passes written out by hand, in float32 or float64. Layers with
// several groups are several small networks side by side (neural additive
// models): group g reads and writes its own columns.
//
// No sum depends on the number of workers: rows and columns are shared out, and
// every element is added up in row order.
package nn

import (
	"sync"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/taskpool"
)

// Layer maps n rows of In columns to n rows of Out columns. Both lie column by column: n
// values each, kernel.UnitStride(n) apart, in memory of kernel.Units. What is between the
// columns is finite and means nothing.
// A layer keeps what its backward pass needs until the next Forward, so it
// serves one goroutine; Replica gives another one the same parameters.
// So products take weights as they are, forward and backward, and vectors are filled by the rows of
// a batch; only gradients of weights need rows, which are turned once.
type Layer[T kernel.Float] interface {
	// Out is the number of columns of the output.
	Out() int
	// Forward returns the layer's own memory, valid until the next call.
	Forward(x []T, n int, m Mode) []T
	// Backward takes the gradient of the loss in the output of the last Forward,
	// which it may overwrite, adds the parameters' gradients to their Grad and returns the input's
	// (nil if none was asked for).
	Backward(dy []T, n int) []T
	Params() []*Param[T]
	// Replica shares the parameters and nothing else.
	Replica() Layer[T]
}

// Mode says what a forward pass is for. The zero value is a prediction.
type Mode struct {
	Train   bool
	Step    uint64 // number of the training step: what is drawn at random depends on it
	Row     int    // place of the first row in the step's batch: what is drawn depends on it too
	Workers int    // that share out single products; 1 or less: none but the caller
	// Defer leaves the gradients of the parameters of Dense and ExU to Deferred, so that
	// several replicas can go backward at once. Batch norm looks at the whole batch and has
	// no such mode.
	Defer bool
	// Parts > 0: networks side by side go through all their layers apart from each other, in
	// as many parts, which the workers of Pool share out; nil: the caller takes all.
	Parts int
	Pool  *taskpool.Pool
}

// Param is a block of numbers that training changes.
type Param[T kernel.Float] struct {
	Name  string
	Value []T
	Grad  []T // nil: Value is not trained (running means, biases that stay 0)
	// Decay tells that weight decay applies: not to biases.
	Decay bool
	// Version counts changes of Value: who changes Value adds one, so that copies prepared for
	// products are made anew.
	Version int
}

// NewParam is a trained parameter of n zeros.
func NewParam[T kernel.Float](name string, n int, decay bool) *Param[T] {
	return &Param[T]{Name: name, Value: make([]T, n), Grad: make([]T, n), Decay: decay}
}

// group are the numbers of group g; nil if there is no such parameter.
func (p *Param[T]) group(g, groups int) *Param[T] {
	if p == nil {
		return nil
	}
	size := len(p.Value) / groups
	of := &Param[T]{Name: p.Name, Value: p.Value[g*size:][:size:size], Decay: p.Decay}
	if p.Grad != nil {
		of.Grad = p.Grad[g*size:][:size:size]
	}
	return of
}

// trained tells whether the parameter is there and has a gradient.
func (p *Param[T]) trained() bool { return p != nil && p.Grad != nil }

// minWork is the number of multiplications below which a second worker costs more
// than it saves: 8 million are a tenth of a millisecond in float32, and workers have
// to meet after each product.
const minWork = 1 << 23

// Alone tells whether Share has the caller do work of that cost alone. Who asks first need
// not make f, which would take memory in every step of a small network.
func Alone(work, workers int) bool { return work < minWork || workers < 2 }

// Share calls f on runs i to j-1 of 0..n-1, one for each worker at once; the lengths of all
// runs but the last are multiples of grain. work is the cost of all of it in
// multiplications: if it is small, the caller does it alone.
func Share(n, grain, work, workers int, f func(i, j int)) {
	if Alone(work, workers) || n <= grain {
		f(0, n)
		return
	}
	step := (n + workers - 1) / workers
	step = (step + grain - 1) / grain * grain
	var wait sync.WaitGroup
	for i := step; i < n; i += step {
		wait.Go(func() { f(i, min(i+step, n)) })
	}
	f(0, step)
	wait.Wait()
}

// Sized returns n elements in v's memory if that is large enough.
func Sized[T kernel.Float](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	return v[:n]
}

// Float64s is v in float64: v itself if it is that already, else a copy.
func Float64s[T kernel.Float](v []T) []float64 {
	if w, ok := any(v).([]float64); ok {
		return w
	}
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}

// Rounded is v in the precision of T: v itself if that is float64, else a copy.
func Rounded[T kernel.Float](v []float64) []T {
	if w, ok := any(v).([]T); ok {
		return w
	}
	w := make([]T, len(v))
	for i, x := range v {
		w[i] = T(x)
	}
	return w
}
