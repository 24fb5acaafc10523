package nn

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/pho-go/pho/internal/kernel"
)

// Dense is y_g = x_g W_g + b_g for each of G groups of columns: x is n x (G In),
// y n x (G Out), W_g In x Out.
type Dense[T kernel.Float] struct {
	G, In, OutEach int
	W              *Param[T] // G blocks of In x OutEach, row-major
	B              *Param[T] // G OutEach; nil: no bias
	// Relu applies max(., 0) to the output in the same pass.
	Relu bool
	// First tells that nobody needs the gradient of the input.
	First bool

	packed *packed[T]
	mode   Mode
	n      int // rows of the last pass
	x, dy  []T // of the last pass; dy as it was before the activation
	y, dx  []T
}

// packed are the weights as the products want them; replicas share them.
type packed[T kernel.Float] struct {
	mu                sync.Mutex
	version           int
	forward, backward []*kernel.Weights[T]
	backwardVersion   int
}

// NewDense returns a layer of zeros.
func NewDense[T kernel.Float](name string, groups, in, out int, bias bool) *Dense[T] {
	d := &Dense[T]{G: groups, In: in, OutEach: out, W: NewParam[T](name+".weight", groups*in*out, true), packed: newPacked[T]()}
	if bias {
		d.B = NewParam[T](name+".bias", groups*out, false)
	}
	return d
}

func newPacked[T kernel.Float]() *packed[T] { return &packed[T]{version: -1, backwardVersion: -1} }

// Init draws weights uniformly with variance gain/In (He et al. 2015 for gain 2,
// LeCun for 1); biases are 0.
func (d *Dense[T]) Init(rng *rand.Rand, gain float64) {
	limit := math.Sqrt(3 * gain / float64(max(d.In, 1)))
	for i := range d.W.Value {
		d.W.Value[i] = T(limit * (2*rng.Float64() - 1))
	}
	d.W.Version++
}

func (d *Dense[T]) Out() int { return d.G * d.OutEach }

func (d *Dense[T]) Params() []*Param[T] {
	if d.B == nil {
		return []*Param[T]{d.W}
	}
	return []*Param[T]{d.W, d.B}
}

func (d *Dense[T]) Replica() Layer[T] {
	return &Dense[T]{G: d.G, In: d.In, OutEach: d.OutEach, W: d.W, B: d.B, Relu: d.Relu, First: d.First, packed: d.packed}
}

// weights prepares the blocks of w for products, anew only if they changed.
func (p *packed[T]) weights(w *Param[T], groups, in, out int) []*kernel.Weights[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.version == w.Version && p.forward != nil {
		return p.forward
	}
	for g := range groups {
		block := w.Value[g*in*out:][:in*out]
		if len(p.forward) <= g {
			p.forward = append(p.forward, kernel.Pack(in, out, block, false))
		} else {
			p.forward[g].Repack(block, false)
		}
	}
	p.version = w.Version
	return p.forward
}

// transposed prepares the transposed blocks.
func (p *packed[T]) transposed(w *Param[T], groups, in, out int) []*kernel.Weights[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.backwardVersion == w.Version && p.backward != nil {
		return p.backward
	}
	for g := range groups {
		block := w.Value[g*in*out:][:in*out]
		if len(p.backward) <= g {
			p.backward = append(p.backward, kernel.Pack(out, in, block, true))
		} else {
			p.backward[g].Repack(block, true)
		}
	}
	p.backwardVersion = w.Version
	return p.backward
}

func (d *Dense[T]) Forward(x []T, n int, m Mode) []T {
	d.x, d.mode = x[:n*d.G*d.In], m
	d.y = Sized(d.y, n*d.Out())
	w := d.packed.weights(d.W, d.G, d.In, d.OutEach)
	in, out := d.G*d.In, d.Out()
	Share(n, 12, n*in*d.OutEach, m.Workers, func(i, j int) {
		for g, wg := range w {
			var bias []T
			if d.B != nil {
				bias = d.B.Value[g*d.OutEach:][:d.OutEach]
			}
			y, x := d.y[i*out+g*d.OutEach:], x[i*in+g*d.In:]
			if d.Relu {
				wg.MulRelu(y, out, x, in, j-i, bias)
			} else {
				wg.Mul(y, out, x, in, j-i, bias)
			}
		}
	})
	return d.y
}

func (d *Dense[T]) Backward(dy []T, n int) []T {
	in, out := d.G*d.In, d.Out()
	d.dy, d.n = dy[:n*out], n
	switch bias := d.B.trained() && !d.mode.Defer; {
	case d.Relu && bias:
		kernel.ReluGradRows(d.dy, dy, d.y, d.B.Grad)
	case d.Relu:
		kernel.ReluGrad(d.dy, dy, d.y)
	case bias:
		kernel.AddRows(d.B.Grad, d.dy)
	}
	if d.W.trained() && !d.mode.Defer {
		d.gradients()
	}
	if d.First {
		return nil
	}
	d.dx = Sized(d.dx, n*in)
	w := d.packed.transposed(d.W, d.G, d.In, d.OutEach)
	Share(n, 12, n*in*d.OutEach, d.mode.Workers, func(i, j int) {
		for g, wg := range w {
			wg.Mul(d.dx[i*in+g*d.In:], in, dy[i*out+g*d.OutEach:], out, j-i, nil)
		}
	})
	return d.dx
}

// gradients adds x'dy to that of the weights.
func (d *Dense[T]) gradients() {
	work := d.n * d.G * d.In * d.OutEach
	if d.G > 1 {
		Share(d.G, 1, work, d.mode.Workers, func(i, j int) {
			for g := i; g < j; g++ {
				d.addGradient(g, 0, d.OutEach)
			}
		})
	} else {
		Share(d.OutEach, 16, work, d.mode.Workers, func(i, j int) { d.addGradient(0, i, j) })
	}
}

// addGradient does so for columns j0 to j1-1 of group g.
func (d *Dense[T]) addGradient(g, j0, j1 int) {
	grad := d.W.Grad[g*d.In*d.OutEach:]
	kernel.AddTransMul(grad[j0:], d.OutEach, d.x[g*d.In:], d.G*d.In, d.In, d.dy[g*d.OutEach+j0:], d.Out(), j1-j0, d.n)
}
