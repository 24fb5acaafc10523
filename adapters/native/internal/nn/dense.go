package nn

import (
	"math"
	"math/rand/v2"

	"github.com/pho-go/pho/internal/base/kernel"
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

	mode     Mode
	n        int // rows of the last pass
	x, y, dy []T // of the last pass
	back     *back[T]
}

// back is memory of a layer's backward pass, of no use when that of the layer before it is
// through, unless gradients are deferred.
type back[T kernel.Float] struct {
	dx     []T
	dyRows []kernel.Rows[T] // dy of each group as it was before the activation
}

// NewDense returns a layer of zeros.
func NewDense[T kernel.Float](name string, groups, in, out int, bias bool) *Dense[T] {
	d := &Dense[T]{G: groups, In: in, OutEach: out, W: NewParam[T](name+".weight", groups*in*out, true), back: &back[T]{}}
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
	return &Dense[T]{G: d.G, In: d.In, OutEach: d.OutEach, W: d.W, B: d.B, Relu: d.Relu, First: d.First, back: &back[T]{}}
}

// which is one of the three products of a step.
type which int

const (
	output   which = iota // y = xW + b
	input                 // dx = dy W'
	gradient              // x'dy
)

// share computes a product whose result has the given number of rows in every group:
// workers share out whole groups, or tiles of the only one.
func (d *Dense[T]) share(p which, rows int) {
	work := d.n * d.G * d.In * d.OutEach
	switch {
	case Alone(work, d.mode.Workers):
		d.groups(p, 0, d.G, rows)
	case d.G > 1:
		Share(d.G, 1, work, d.mode.Workers, func(from, to int) { d.groups(p, from, to, rows) })
	default:
		Share(rows, 12, work, d.mode.Workers, func(i, j int) { d.part(p, 0, i, j) })
	}
}

// groups computes the product of some groups.
func (d *Dense[T]) groups(p which, from, to, rows int) {
	for g := from; g < to; g++ {
		d.part(p, g, 0, rows)
	}
}

// part computes rows i to j-1 of the product of group g.
func (d *Dense[T]) part(p which, g, i, j int) {
	ld := kernel.UnitStride[T](d.n)
	switch p {
	case output:
		var bias []T
		if d.B != nil {
			bias = d.B.Value[g*d.OutEach+i : g*d.OutEach+j]
		}
		w := kernel.Matrix[T]{Data: d.weights(g)[i:], Rows: j - i, Cols: d.In, RowStep: 1, ColStep: d.OutEach}
		w.MulUnits(d.y[(g*d.OutEach+i)*ld:], d.x[g*d.In*ld:], d.n, bias, d.Relu)
	case input:
		w := kernel.Matrix[T]{Data: d.weights(g)[i*d.OutEach:], Rows: j - i, Cols: d.OutEach, RowStep: d.OutEach, ColStep: 1}
		w.MulUnits(d.back.dx[(g*d.In+i)*ld:], d.dy[g*d.OutEach*ld:], d.n, nil, false)
	case gradient:
		for at := 0; at < d.OutEach; at += d.back.dyRows[g].Columns(at) {
			d.addGradient(g, i, j, at)
		}
	}
}

func (d *Dense[T]) Forward(x []T, n int, m Mode) []T {
	d.x, d.n, d.mode = x[:d.G*d.In*kernel.UnitStride[T](n)], n, m
	d.y = kernel.Units(d.y, d.Out(), n)
	d.share(output, d.OutEach)
	return d.y
}

// weights are those of group g.
func (d *Dense[T]) weights(g int) []T { return d.W.Value[g*d.In*d.OutEach:][:d.In*d.OutEach] }

func (d *Dense[T]) Backward(dy []T, n int) []T {
	d.dy = dy[:d.Out()*kernel.UnitStride[T](n)]
	d.gradients()
	if d.First {
		return nil
	}
	d.back.dx = kernel.Units(d.back.dx, d.G*d.In, n)
	d.share(input, d.In)
	return d.back.dx
}

// gradients takes dy back through the activation, in its place. Then it adds x'dy to the
// gradients of the weights and the sums of dy to those of the biases, unless they are
// deferred.
func (d *Dense[T]) gradients() {
	var mask []T
	if d.Relu {
		mask = d.y
	}
	if !d.W.trained() && !d.B.trained() {
		if mask != nil {
			kernel.ReluGrad(d.dy, d.dy, mask)
		}
		return
	}
	if len(d.back.dyRows) == 0 {
		d.back.dyRows = make([]kernel.Rows[T], d.G)
	}
	size := d.OutEach * kernel.UnitStride[T](d.n)
	if d.First && d.In == 1 && !d.mode.Defer && d.W.trained() && d.B.trained() {
		d.addOneInput(mask, size)
		return
	}
	for g := range d.back.dyRows {
		d.back.dyRows[g].Turn(d.dy[g*size:], mask, d.OutEach, d.n)
		if mask != nil {
			mask = mask[size:]
		}
	}
	if d.mode.Defer {
		return
	}
	for g := range d.back.dyRows {
		d.addSums(g)
	}
	if d.W.trained() {
		d.share(gradient, d.In)
	}
}

// addOneInput does all that gradients does for a layer of one input, of which nobody needs the
// gradient: dy is of no use afterwards. size is that of a group's units.
func (d *Dense[T]) addOneInput(mask []T, size int) {
	ld := kernel.UnitStride[T](d.n)
	for g := range d.back.dyRows {
		var off []T
		if mask != nil {
			off = mask[g*size:]
		}
		i := g * d.OutEach
		d.back.dyRows[g].AddOneInput(d.W.Grad[i:], d.B.Grad[i:], d.x[g*ld:], d.dy[g*size:], off, d.OutEach, d.n)
	}
}

// addSums does so for the biases of group g.
func (d *Dense[T]) addSums(g int) {
	if d.B.trained() {
		d.back.dyRows[g].AddSums(d.B.Grad[g*d.OutEach:][:d.OutEach])
	}
}

// addGradient does so for rows i to j-1 of the weights of group g, and the columns that go together.
func (d *Dense[T]) addGradient(g, i, j, column int) {
	ld := kernel.UnitStride[T](d.n)
	grad := d.W.Grad[(g*d.In+i)*d.OutEach:][:(j-i)*d.OutEach]
	d.back.dyRows[g].AddProduct(grad, d.OutEach, d.x[(g*d.In+i)*ld:], j-i, column)
}
