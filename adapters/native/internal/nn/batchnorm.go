package nn

import (
	"math"

	"github.com/pho-go/pho/internal/base/kernel"
)

// BatchNorm is y = scale (x - mean)/sqrt(variance + Eps) + shift by column
// (Ioffe and Szegedy 2015): with the batch's moments in training, else with the
// running ones, which follow them with weight Momentum.
type BatchNorm[T kernel.Float] struct {
	Width          int
	Eps, Momentum  float64
	Scale, Shift   *Param[T]
	Mean, Variance *Param[T] // states

	mode     Mode
	xhat     []T
	y        []T
	inv      []T
	products []T // of a sum's two factors
	sums     [2][]T
	rows     kernel.Rows[T]
}

// NewBatchNorm returns the identity up to Eps.
func NewBatchNorm[T kernel.Float](name string, width int) *BatchNorm[T] {
	b := &BatchNorm[T]{
		Width: width, Eps: 1e-5, Momentum: 0.1,
		Scale: NewParam[T](name+".scale", width, false), Shift: NewParam[T](name+".shift", width, false),
		Mean:     &Param[T]{Name: name + ".mean", Value: make([]T, width)},
		Variance: &Param[T]{Name: name + ".variance", Value: make([]T, width)},
	}
	for i := range width {
		b.Scale.Value[i], b.Variance.Value[i] = 1, 1
	}
	return b
}

func (b *BatchNorm[T]) Out() int { return b.Width }
func (b *BatchNorm[T]) Params() []*Param[T] {
	return []*Param[T]{b.Scale, b.Shift, b.Mean, b.Variance}
}
func (b *BatchNorm[T]) Replica() Layer[T] {
	return &BatchNorm[T]{Width: b.Width, Eps: b.Eps, Momentum: b.Momentum, Scale: b.Scale, Shift: b.Shift, Mean: b.Mean, Variance: b.Variance}
}

func (b *BatchNorm[T]) Forward(x []T, n int, m Mode) []T {
	ld := kernel.UnitStride[T](n)
	b.mode = m
	b.y, b.xhat, b.inv = kernel.Units(b.y, b.Width, n), kernel.Units(b.xhat, b.Width, n), Sized(b.inv, b.Width)
	mean, variance := b.Mean.Value, b.Variance.Value
	if m.Train {
		mean, variance = b.moments(x, n)
	}
	for j := range b.Width {
		inv := T(1 / math.Sqrt(float64(variance[j])+b.Eps))
		b.inv[j] = inv
		y, xhat, centre, scale, shift := b.y[j*ld:][:ld], b.xhat[j*ld:][:ld], mean[j], b.Scale.Value[j], b.Shift.Value[j]
		kernel.Sub(xhat, x[j*ld:][:ld], []T{centre})
		kernel.Mul(xhat, xhat, []T{inv})
		kernel.Mul(y, xhat, []T{scale})
		kernel.Add(y, y, []T{shift})
	}
	return b.y
}

// moments are the batch's mean and variance; the running ones follow, the
// variance with divisor n - 1.
func (b *BatchNorm[T]) moments(x []T, n int) (mean, variance []T) {
	ld := kernel.UnitStride[T](n)
	for k := range b.sums {
		b.sums[k] = Sized(b.sums[k], b.Width)
	}
	mean, variance = b.sums[0], b.sums[1]
	b.sum(mean, x, n)
	b.products = kernel.Units(b.products, b.Width, n)
	for j := range mean {
		mean[j] /= T(n)
		centre, squares := mean[j], b.products[j*ld:][:ld]
		kernel.Sub(squares, x[j*ld:][:ld], []T{centre})
		kernel.Mul(squares, squares, squares)
	}
	b.sum(variance, b.products, n)
	a := T(b.Momentum)
	for j := range variance {
		variance[j] /= T(n)
		b.Mean.Value[j] += a * (mean[j] - b.Mean.Value[j])
		unbiased := variance[j] * T(n) / T(max(n-1, 1))
		b.Variance.Value[j] += a * (unbiased - b.Variance.Value[j])
	}
	return mean, variance
}

// sum sets dst to the sums of the columns of v.
func (b *BatchNorm[T]) sum(dst, v []T, n int) {
	clear(dst)
	b.rows.Turn(v, nil, b.Width, n)
	b.rows.AddSums(dst)
}

// Backward: dx = scale/sqrt(var + eps) (dy - mean(dy) - xhat mean(dy xhat)).
func (b *BatchNorm[T]) Backward(dy []T, n int) []T {
	ld := kernel.UnitStride[T](n)
	dy = dy[:b.Width*ld]
	for k := range b.sums {
		b.sums[k] = Sized(b.sums[k], b.Width)
	}
	sum, dot := b.sums[0], b.sums[1]
	b.products = kernel.Units(b.products, b.Width, n)
	kernel.Mul(b.products, dy, b.xhat)
	b.sum(sum, dy, n)
	b.sum(dot, b.products, n)
	if b.Shift.trained() {
		kernel.Add(b.Shift.Grad, b.Shift.Grad, sum)
	}
	if b.Scale.trained() {
		kernel.Add(b.Scale.Grad, b.Scale.Grad, dot)
	}
	for j := range b.Width {
		row := dy[j*ld:][:ld]
		if b.mode.Train {
			mean := b.products[j*ld:][:ld]
			kernel.Mul(mean, b.xhat[j*ld:][:ld], []T{dot[j]})
			kernel.Add(mean, mean, []T{sum[j]})
			kernel.Div(mean, mean, []T{T(n)})
			kernel.Sub(row, row, mean)
		}
		kernel.Mul(row, row, []T{b.Scale.Value[j] * b.inv[j]})
	}
	return dy
}

// Affine is the layer outside training: y = scale x + shift by column.
func (b *BatchNorm[T]) Affine() (scale, shift []float64) {
	for j := range b.Width {
		s := float64(b.Scale.Value[j]) / math.Sqrt(float64(b.Variance.Value[j])+b.Eps)
		scale = append(scale, s)
		shift = append(shift, float64(b.Shift.Value[j])-s*float64(b.Mean.Value[j]))
	}
	return scale, shift
}
