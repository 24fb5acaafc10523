package nn

import (
	"math"
	"math/rand/v2"

	"github.com/pho-go/pho/internal/kernel"
)

// Dense is y_g = x_g W_g + b_g for each of G groups of columns: x has G In columns, y has
// G Out, W_g is In x Out.
type Dense[T kernel.Float] struct {
	G, In, OutEach int
	W              *Param[T] // G blocks of In x OutEach, row-major
	B              *Param[T] // G OutEach; nil: no bias
	// Relu applies max(., 0) to the output in the same pass.
	Relu bool
	// First tells that nobody needs the gradient of the input.
	First bool

	mode  Mode
	n     int              // rows of the last pass
	x     []T              // of the last pass
	dy    []kernel.Rows[T] // of the last pass, of each group, as it was before the activation
	y, dx []T
}

// NewDense returns a layer of zeros.
func NewDense[T kernel.Float](name string, groups, in, out int, bias bool) *Dense[T] {
	d := &Dense[T]{G: groups, In: in, OutEach: out, W: NewParam[T](name+".weight", groups*in*out, true)}
	if bias {
		d.B = NewParam[T](name+".bias", groups*out, false)
	}
	return d
}

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
	return &Dense[T]{G: d.G, In: d.In, OutEach: d.OutEach, W: d.W, B: d.B, Relu: d.Relu, First: d.First}
}

// share calls f for rows i to j-1 of the matrix of each group, of which every group has
// the given number: whole groups, or tiles of the only one.
func (d *Dense[T]) share(rows int, f func(g, i, j int)) {
	work := d.n * d.G * d.In * d.OutEach
	if d.G > 1 {
		Share(d.G, 1, work, d.mode.Workers, func(from, to int) {
			for g := from; g < to; g++ {
				f(g, 0, rows)
			}
		})
		return
	}
	Share(rows, 12, work, d.mode.Workers, func(i, j int) { f(0, i, j) })
}

func (d *Dense[T]) Forward(x []T, n int, m Mode) []T {
	ld := kernel.UnitStride[T](n)
	d.x, d.n, d.mode = x[:d.G*d.In*ld], n, m
	d.y = kernel.Units(d.y, d.Out(), n)
	d.share(d.OutEach, func(g, i, j int) {
		var bias []T
		if d.B != nil {
			bias = d.B.Value[g*d.OutEach+i : g*d.OutEach+j]
		}
		w := kernel.Matrix[T]{Data: d.weights(g)[i:], Rows: j - i, Cols: d.In, RowStep: 1, ColStep: d.OutEach}
		w.MulUnits(d.y[(g*d.OutEach+i)*ld:], d.x[g*d.In*ld:], n, bias, d.Relu)
	})
	return d.y
}

// weights are those of group g.
func (d *Dense[T]) weights(g int) []T { return d.W.Value[g*d.In*d.OutEach:][:d.In*d.OutEach] }

func (d *Dense[T]) Backward(dy []T, n int) []T {
	ld := kernel.UnitStride[T](n)
	dy = dy[:d.Out()*ld]
	d.gradients(dy)
	if d.First {
		return nil
	}
	d.dx = kernel.Units(d.dx, d.G*d.In, n)
	d.share(d.In, func(g, i, j int) {
		w := kernel.Matrix[T]{Data: d.weights(g)[i*d.OutEach:], Rows: j - i, Cols: d.OutEach, RowStep: d.OutEach, ColStep: 1}
		w.MulUnits(d.dx[(g*d.In+i)*ld:], dy[g*d.OutEach*ld:], n, nil, false)
	})
	return d.dx
}

// gradients takes dy back through the activation, in its place. Then it adds x'dy to the
// gradients of the weights and the sums of dy to those of the biases, unless they are
// deferred.
func (d *Dense[T]) gradients(dy []T) {
	var mask []T
	if d.Relu {
		mask = d.y
	}
	if !d.W.trained() && !d.B.trained() {
		if mask != nil {
			kernel.ReluGrad(dy, dy, mask)
		}
		return
	}
	if len(d.dy) == 0 {
		d.dy = make([]kernel.Rows[T], d.G)
	}
	size := d.OutEach * kernel.UnitStride[T](d.n)
	for g := range d.dy {
		d.dy[g].Turn(dy[g*size:], mask, d.OutEach, d.n)
		if mask != nil {
			mask = mask[size:]
		}
	}
	if d.mode.Defer {
		return
	}
	for g := range d.dy {
		d.addSums(g)
	}
	if d.W.trained() {
		d.share(d.In, func(g, i, j int) {
			for at := 0; at < d.OutEach; at += d.dy[g].PanelUnits() {
				d.addGradient(g, i, j, at)
			}
		})
	}
}

// addSums does so for the biases of group g.
func (d *Dense[T]) addSums(g int) {
	if d.B.trained() {
		d.dy[g].AddSums(d.B.Grad[g*d.OutEach:][:d.OutEach])
	}
}

// addGradient does so for rows i to j-1 of the weights of group g, and a panel of columns.
func (d *Dense[T]) addGradient(g, i, j, column int) {
	ld := kernel.UnitStride[T](d.n)
	grad := d.W.Grad[(g*d.In+i)*d.OutEach:][:(j-i)*d.OutEach]
	d.dy[g].AddProduct(grad, d.OutEach, d.x[(g*d.In+i)*ld:], j-i, column)
}
