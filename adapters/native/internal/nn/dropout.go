package nn

import "github.com/pho-go/pho/internal/kernel"

// Dropout sets each run of Run neighbouring elements of a row to 0 with
// probability P in training and divides the others by 1 - P (Srivastava et al.
// 2014). Which ones depends on Seed, the step and the place alone.
type Dropout[T kernel.Float] struct {
	Width, Run int
	P          float64
	Seed       uint64

	mode Mode
	y    []T
}

func (d *Dropout[T]) Out() int            { return d.Width }
func (d *Dropout[T]) Params() []*Param[T] { return nil }
func (d *Dropout[T]) Replica() Layer[T] {
	return &Dropout[T]{Width: d.Width, Run: d.Run, P: d.P, Seed: d.Seed}
}

func (d *Dropout[T]) Forward(x []T, n int, m Mode) []T {
	d.mode = m
	if !m.Train || d.P == 0 {
		return x[:n*d.Width]
	}
	d.y = Sized(d.y, n*d.Width)
	d.mask(d.y, x, n)
	return d.y
}

func (d *Dropout[T]) Backward(dy []T, n int) []T {
	if d.mode.Train && d.P > 0 {
		d.mask(dy, dy, n)
	}
	return dy[:n*d.Width]
}

// mask draws a number for every run anew, so forward and backward agree without
// storing it.
func (d *Dropout[T]) mask(dst, src []T, n int) {
	keep := T(1 / (1 - d.P))
	limit := uint64(d.P * (1 << 53))
	start := mix(d.Seed ^ mix(d.mode.Step))
	before := d.mode.Row * d.Width / d.Run
	Share(n*d.Width/d.Run, 1, 4*n*d.Width, d.mode.Workers, func(i, j int) {
		for r := i; r < j; r++ {
			f := keep
			if mix(start+uint64(before+r)*0x9e3779b97f4a7c15)>>11 < limit {
				f = 0
			}
			for k := r * d.Run; k < (r+1)*d.Run; k++ {
				dst[k] = src[k] * f
			}
		}
	})
}

// mix is the finaliser of splitmix64 (Steele, Lea and Flood 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
