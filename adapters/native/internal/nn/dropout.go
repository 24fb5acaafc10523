package nn

import "github.com/pho-go/pho/internal/base/kernel"

// Dropout sets each run of Run neighbouring elements of a row to 0 with
// probability P in training and divides the others by 1 - P (Srivastava et al.
// 2014). Which ones depends on Seed, the step and the place alone.
type Dropout[T kernel.Float] struct {
	Width, Run int
	P          float64
	Seed       uint64

	first, others int // runs of other groups, before the layer's own and in all

	mode Mode
	y    []T
}

func (d *Dropout[T]) Out() int            { return d.Width }
func (d *Dropout[T]) Params() []*Param[T] { return nil }
func (d *Dropout[T]) Replica() Layer[T] {
	return &Dropout[T]{Width: d.Width, Run: d.Run, P: d.P, Seed: d.Seed, first: d.first, others: d.others}
}

func (d *Dropout[T]) Forward(x []T, n int, m Mode) []T {
	d.mode = m
	if !m.Train || d.P == 0 {
		return x[:d.Width*kernel.UnitStride[T](n)]
	}
	d.y = kernel.Units(d.y, d.Width, n)
	d.mask(d.y, x, n)
	return d.y
}

func (d *Dropout[T]) Backward(dy []T, n int) []T {
	if d.mode.Train && d.P > 0 {
		d.mask(dy, dy, n)
	}
	return dy[:d.Width*kernel.UnitStride[T](n)]
}

// mask sets dst to src where it is kept, over 1 - P.
func (d *Dropout[T]) mask(dst, src []T, n int) {
	runs := d.Width / d.Run
	if work := 4 * n * d.Width; Alone(work, d.mode.Workers) {
		d.maskRuns(dst, src, n, 0, runs)
	} else {
		Share(runs, 1, work, d.mode.Workers, func(from, to int) { d.maskRuns(dst, src, n, from, to) })
	}
}

// maskRuns draws a number for every run anew, so forward and backward agree without
// storing it. The numbers are counted row by row.
func (d *Dropout[T]) maskRuns(dst, src []T, n, from, to int) {
	keep := T(1 / (1 - d.P))
	limit := uint64(d.P * (1 << 53))
	start := mix(d.Seed ^ mix(d.mode.Step))
	runs, ld := d.Width/d.Run+d.others, kernel.UnitStride[T](n)
	for r := from; r < to; r++ {
		for i := range n {
			f := keep
			if mix(start+uint64((d.mode.Row+i)*runs+d.first+r)*0x9e3779b97f4a7c15)>>11 < limit {
				f = 0
			}
			for k := r * d.Run; k < (r+1)*d.Run; k++ {
				dst[k*ld+i] = src[k*ld+i] * f
			}
		}
	}
}

// mix is the finaliser of splitmix64 (Steele, Lea and Flood 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
