// Package piecewise computes networks of one number exactly as what they are if their activations
// are: layers that rectify make a piecewise linear function, of as many pieces as units change sign.
package piecewise

import (
	"math"
	"slices"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Layer is y = a(xW + b), where a multiplies numbers below 0 by Below.
type Layer struct {
	In, Out int
	W       []float64 // In x Out
	B       []float64 // Out
	Below   float64   // 0: Relu; 1: no activation
}

// Limit is the size of the numbers that a Function is of; beyond, and of NaN, layers are computed.
const Limit = 1e30

// Function is layers of one number, as pieces: between breaks[j-1] and breaks[j] output i is
// values[j*Out+i] + slopes[j*Out+i] (x - centers[j]). The center is the place of the piece that is
// next to 0, so that values there and slopes err as the layers' own products do.
type Function struct {
	layers                          []Layer
	breaks, centers, values, slopes []float64
}

// New finds the pieces of layers, the first of which takes one number. It spends multiply-adds of the
// budget; nil: that was not enough, or numbers are too large.
func New(layers []Layer, budget *int) *Function {
	f := &Function{layers: layers, centers: []float64{0}, values: []float64{0}, slopes: []float64{1}}
	for _, l := range layers {
		if *budget -= 2 * len(f.centers) * (l.In + 8) * l.Out; *budget < 0 {
			return nil
		}
		f.linear(l)
		if l.Below != 1 {
			f.bend(l.Out, l.Below)
		}
	}
	for _, list := range [][]float64{f.values, f.slopes} {
		if slices.ContainsFunc(list, func(v float64) bool { return !(math.Abs(v) <= Limit) }) {
			return nil
		}
	}
	return f
}

// Outputs is how many numbers f gives.
func (f *Function) Outputs() int { return f.layers[len(f.layers)-1].Out }

// Pieces is how many there are.
func (f *Function) Pieces() int { return len(f.centers) }

// linear puts a linear map behind f.
func (f *Function) linear(l Layer) {
	n := len(f.centers)
	values, slopes := make([]float64, n*l.Out), make([]float64, n*l.Out)
	kernel.Gemm(values, f.values, l.W, n, l.Out, l.In)
	kernel.Gemm(slopes, f.slopes, l.W, n, l.Out, l.In)
	for j := range n {
		kernel.Add(values[j*l.Out:][:l.Out], values[j*l.Out:][:l.Out], l.B)
	}
	f.values, f.slopes = values, slopes
}

// bend puts an activation of n units behind f: pieces end where a unit changes its sign.
func (f *Function) bend(n int, below float64) {
	g := &Function{layers: f.layers}
	var crossed []float64
	for j, center := range f.centers {
		lo, hi := f.ends(j)
		v, s := f.values[j*n:][:n], f.slopes[j*n:][:n]
		crossed = crossed[:0]
		for i := range v {
			if at := center - v[i]/s[i]; s[i] != 0 && at > lo && at < hi && math.Abs(at) <= Limit {
				crossed = append(crossed, at)
			}
		}
		slices.Sort(crossed)
		for _, end := range append(slices.Compact(crossed), hi) {
			at, middle := min(max(0, lo), end), inside(lo, end)
			for i := range v {
				value, slope := v[i]+s[i]*(at-center), s[i]
				if v[i]+s[i]*(middle-center) < 0 {
					value, slope = below*value, below*slope
				}
				g.values, g.slopes = append(g.values, value), append(g.slopes, slope)
			}
			g.centers = append(g.centers, at)
			if end < math.Inf(1) {
				g.breaks = append(g.breaks, end)
			}
			lo = end
		}
	}
	*f = *g
}

// ends are where piece j begins and ends.
func (f *Function) ends(j int) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if j > 0 {
		lo = f.breaks[j-1]
	}
	if j < len(f.breaks) {
		hi = f.breaks[j]
	}
	return lo, hi
}

// inside is a number between lo and hi.
func inside(lo, hi float64) float64 {
	switch {
	case math.IsInf(lo, -1) && math.IsInf(hi, 1):
		return 0
	case math.IsInf(lo, -1):
		return hi - 1 - math.Abs(hi)
	case math.IsInf(hi, 1):
		return lo + 1 + math.Abs(lo)
	}
	return lo + (hi-lo)/2
}

// dense sets y, as many as outputs, to the layers of x.
func (f *Function) dense(y []float64, x float64) {
	in := []float64{x}
	for _, l := range f.layers {
		out := slices.Clone(l.B)
		for k, v := range in {
			for j := range out {
				out[j] += v * l.W[k*l.Out+j]
			}
		}
		for j, v := range out {
			if l.Below == 0 {
				out[j] = max(v, 0)
			} else if v < 0 {
				out[j] = l.Below * v
			}
		}
		in = out
	}
	copy(y, in)
}

// Knots are where pieces end, increasing, with f there (as many numbers as outputs each), and its slopes before the first
// and behind the last; of a single piece its center is a knot.
func (f *Function) Knots() (knots []float64, values, before, behind []float64) {
	m, last := f.Outputs(), len(f.centers)-1
	before, behind = slices.Clone(f.slopes[:m]), slices.Clone(f.slopes[last*m:])
	if last == 0 {
		return slices.Clone(f.centers), slices.Clone(f.values[:m]), before, behind
	}
	for j, at := range f.breaks {
		for i := range m { // of the two pieces that meet, by the flatter: what is constant there is exactly so
			k := j
			if math.Abs(f.slopes[(j+1)*m+i]) < math.Abs(f.slopes[j*m+i]) {
				k++
			}
			values = append(values, f.values[k*m+i]+f.slopes[k*m+i]*(at-f.centers[k]))
		}
	}
	return slices.Clone(f.breaks), values, before, behind
}
