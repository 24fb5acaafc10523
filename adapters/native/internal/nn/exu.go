package nn

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/pho-go/pho/internal/base/kernel"
)

// ExU is the layer of exp-centred units of neural additive models (Agarwal et al.
// 2021): y_u = sum_i exp(w_iu) (x_i - c_iu), for G groups. It is a Dense with weights exp(w) and
// biases -sum_i exp(w_iu) c_iu.
type ExU[T kernel.Float] struct {
	W, C *Param[T] // G blocks of In x OutEach
	// First tells that nobody needs the gradient of the input.
	First bool

	dense *Dense[T]
	seen  *seen // shared with replicas
}

// seen is the version of W and C that dense holds.
type seen struct {
	mu      sync.Mutex
	version int
}

// NewExU returns a layer with w and c of 0.
func NewExU[T kernel.Float](name string, groups, in, out int) *ExU[T] {
	e := &ExU[T]{
		W: NewParam[T](name+".log_weight", groups*in*out, false), C: NewParam[T](name+".center", groups*in*out, false),
		dense: NewDense[T](name, groups, in, out, true), seen: &seen{version: -1},
	}
	return e
}

// Init draws w from a normal distribution with the given mean and standard
// deviation 0.5, and c uniformly over -1.5..1.5, where standardised columns have
// most of their values.
func (e *ExU[T]) Init(rng *rand.Rand, mean float64) {
	for i := range e.W.Value {
		e.W.Value[i] = T(mean + 0.5*rng.NormFloat64())
		e.C.Value[i] = T(3*rng.Float64() - 1.5)
	}
	e.W.Version++
}

// Effective is the equivalent linear layer, with weights exp(w) and biases -sum exp(w) c.
func (e *ExU[T]) Effective() *Dense[T] {
	e.refresh()
	return e.dense
}

func (e *ExU[T]) Out() int            { return e.dense.Out() }
func (e *ExU[T]) Params() []*Param[T] { return []*Param[T]{e.W, e.C} }
func (e *ExU[T]) Replica() Layer[T] {
	return &ExU[T]{W: e.W, C: e.C, First: e.First, dense: e.dense.Replica().(*Dense[T]), seen: e.seen}
}

// refresh computes weights and biases anew if w or c have changed.
func (e *ExU[T]) refresh() {
	e.seen.mu.Lock()
	defer e.seen.mu.Unlock()
	if e.seen.version == e.W.Version+e.C.Version {
		return
	}
	d := e.dense
	clear(d.B.Value)
	for i, w := range e.W.Value {
		d.W.Value[i] = T(math.Exp(float64(w)))
		d.B.Value[e.unit(i)] -= d.W.Value[i] * e.C.Value[i]
	}
	d.W.Version++
	e.seen.version = e.W.Version + e.C.Version
}

// unit is the output that weight i belongs to.
func (e *ExU[T]) unit(i int) int {
	d := e.dense
	return i/(d.In*d.OutEach)*d.OutEach + i%d.OutEach
}

func (e *ExU[T]) Forward(x []T, n int, m Mode) []T {
	e.refresh()
	return e.dense.Forward(x, n, m)
}

// Backward adds up the gradients of weights and biases; Finish turns them into those of w
// and c.
func (e *ExU[T]) Backward(dy []T, n int) []T {
	e.dense.First = e.First
	return e.dense.Backward(dy, n)
}

// Finish adds the gradients of w and c that the backward passes since the last Finish
// stand for.
func (e *ExU[T]) Finish() {
	d := e.dense
	for i, w := range d.W.Value {
		db := d.B.Grad[e.unit(i)]
		if e.W.trained() {
			e.W.Grad[i] += w * (d.W.Grad[i] - db*e.C.Value[i])
		}
		if e.C.trained() {
			e.C.Grad[i] -= w * db
		}
	}
	clear(d.W.Grad)
	clear(d.B.Grad)
}
