package nn

import (
	"math"

	"github.com/pho-go/pho/internal/kernel"
)

// BatchNorm is y = scale (x - mean)/sqrt(variance + Eps) + shift by column
// (Ioffe and Szegedy 2015): with the batch's moments in training, else with the
// running ones, which follow them with weight Momentum.
type BatchNorm[T kernel.Float] struct {
	Width          int
	Eps, Momentum  float64
	Scale, Shift   *Param[T]
	Mean, Variance *Param[T] // states

	mode Mode
	xhat []T
	y    []T
	inv  []T
	sums [2][]T
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
	w := b.Width
	b.mode = m
	b.y, b.xhat, b.inv = Sized(b.y, n*w), Sized(b.xhat, n*w), Sized(b.inv, w)
	mean, variance := b.Mean.Value, b.Variance.Value
	if m.Train {
		mean, variance = b.moments(x, n)
	}
	for j := range w {
		b.inv[j] = T(1 / math.Sqrt(float64(variance[j])+b.Eps))
	}
	for i := range n {
		row := x[i*w:][:w]
		for j, v := range row {
			h := (v - mean[j]) * b.inv[j]
			b.xhat[i*w+j] = h
			b.y[i*w+j] = b.Scale.Value[j]*h + b.Shift.Value[j]
		}
	}
	return b.y
}

// moments are the batch's mean and variance; the running ones follow, the
// variance with divisor n - 1.
func (b *BatchNorm[T]) moments(x []T, n int) (mean, variance []T) {
	w := b.Width
	for k := range b.sums {
		b.sums[k] = Sized(b.sums[k], w)
		clear(b.sums[k])
	}
	mean, variance = b.sums[0], b.sums[1]
	kernel.AddRows(mean, x[:n*len(mean)])
	for j := range mean {
		mean[j] /= T(n)
	}
	for i := range n {
		for j, v := range x[i*w:][:w] {
			variance[j] += (v - mean[j]) * (v - mean[j])
		}
	}
	a := T(b.Momentum)
	for j := range variance {
		variance[j] /= T(n)
		b.Mean.Value[j] += a * (mean[j] - b.Mean.Value[j])
		unbiased := variance[j] * T(n) / T(max(n-1, 1))
		b.Variance.Value[j] += a * (unbiased - b.Variance.Value[j])
	}
	return mean, variance
}

// Backward: dx = scale/sqrt(var + eps) (dy - mean(dy) - xhat mean(dy xhat)).
func (b *BatchNorm[T]) Backward(dy []T, n int) []T {
	w := b.Width
	sum, dot := b.sums[0], b.sums[1]
	if !b.mode.Train {
		sum, dot = make([]T, w), make([]T, w)
	}
	clear(sum)
	clear(dot)
	for i := range n {
		for j, g := range dy[i*w:][:w] {
			sum[j] += g
			dot[j] += g * b.xhat[i*w+j]
		}
	}
	if b.Shift.trained() {
		kernel.Add(b.Shift.Grad, b.Shift.Grad, sum)
	}
	if b.Scale.trained() {
		kernel.Add(b.Scale.Grad, b.Scale.Grad, dot)
	}
	for i := range n {
		for j := range w {
			k := i*w + j
			g := dy[k]
			if b.mode.Train {
				g -= (sum[j] + b.xhat[k]*dot[j]) / T(n)
			}
			dy[k] = b.Scale.Value[j] * b.inv[j] * g
		}
	}
	return dy[:n*w]
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
