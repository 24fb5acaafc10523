// Package thinplate holds thin plate regression splines (Wood 2003; Wood 2017, 5.5.1) of
// 1 to 3 variables: the functions of the full thin plate spline on a set of points, its
// radial part truncated to the leading eigenvectors, next to the polynomials that the
// penalty does not see.
package thinplate

import (
	"slices"

	"github.com/pho-go/pho/internal/base/kernel"
)

// MaxPoints bounds the points that a basis is made from, as in mgcv. Time and memory of
// the construction grow with its square.
const MaxPoints = 2000

// MaxOrder bounds the order of the derivatives in the penalty.
const MaxOrder = 6

// Space names the functions: K of them in D variables, the penalty on derivatives of
// order M, 2M > D.
type Space struct{ D, M, K int }

// DefaultOrder is the least m with 2m > d + 1: 2, 2 and 3 in 1, 2 and 3 variables.
func DefaultOrder(d int) int {
	m := 1
	for 2*m < d+2 {
		m++
	}
	return m
}

// Polynomials is the number of polynomials that the penalty does not see: those in D
// variables of degree less than M.
func (s Space) Polynomials() int { return choose(s.M+s.D-1, s.D) }

// choose is the binomial coefficient.
func choose(n, k int) int {
	c := 1
	for i := range k {
		c = c * (n - i) / (i + 1)
	}
	return c
}

// Parameters are the numbers of a basis, n points in all.
type Parameters struct {
	Shift   []float64 // D, subtracted from the variables
	Points  []float64 // n x D, shifted; of one variable increasing
	Weights []float64 // n x (K - Polynomials): of each radial function, row by row
	Scale   []float64 // factors of the polynomials
}

// Basis evaluates a thin plate regression spline basis: first the radial functions,
// each a combination of the thin plate functions of the distances to the points, then
// the polynomials. It is immutable.
type Basis struct {
	d, m, k  int
	shift    []float64
	points   []float64
	weights  []float64
	scale    []float64
	powers   [][]int // exponents of the variables in each polynomial
	constant float64 // of the thin plate function

	packed *kernel.Weights[float64] // weights, for d > 1
	planar [][]float64              // for d = 2 and m = 2: the points' coordinates by themselves
	line   *piecewise               // the radial functions, for d = 1
}

// New makes the basis of the space that has the parameters, whose lengths must fit. It
// keeps the slices.
func New(s Space, p Parameters) *Basis {
	b := newBasis(s)
	b.shift, b.points, b.weights, b.scale = p.Shift, p.Points, p.Weights, p.Scale
	b.prepare()
	return b
}

// newBasis has what follows from the space alone.
func newBasis(s Space) *Basis {
	return &Basis{d: s.D, m: s.M, k: s.K, powers: exponents(s.D, s.M), constant: radialConstant(s.D, s.M)}
}

// Space is what New was given.
func (b *Basis) Space() Space { return Space{b.d, b.m, b.k} }

// Parameters are what New was given, in the basis' own memory.
func (b *Basis) Parameters() Parameters { return Parameters{b.shift, b.points, b.weights, b.scale} }

// Factor is that of the thin plate function: r^(2M-D), for even D times log r.
func (b *Basis) Factor() float64 { return b.constant }

// Powers are the exponents of the variables in each polynomial, in the basis' own memory.
func (b *Basis) Powers() [][]int { return b.powers }

// Dim is K.
func (b *Basis) Dim() int { return b.k }

// Width is K: no function is 0 anywhere but by chance.
func (b *Basis) Width() int { return b.k }

// Breaks are the points of a basis of one variable: from one to the next the functions
// are polynomials of degree 2M - 1, beyond them of degree M - 1.
func (b *Basis) Breaks() []float64 {
	breaks := slices.Clone(b.points)
	for i := range breaks {
		breaks[i] += b.shift[0]
	}
	return breaks
}

// prepare makes the tables that evaluation needs from weights and points.
func (b *Basis) prepare() {
	if b.d == 1 {
		b.line = b.tabulate()
		return
	}
	n := len(b.points) / b.d
	b.packed = kernel.Pack(n, b.k-len(b.powers), b.weights, false)
	if b.d != 2 || b.m != 2 {
		return
	}
	b.planar = [][]float64{make([]float64, n), make([]float64, n)}
	for i, v := range b.points {
		b.planar[i%2][i/2] = v
	}
}

// block is how many rows have their distances to all points in memory at once.
const block = 32

// Evaluate writes the basis at n points (n x d, not shifted, row by row) to dst,
// whose rows are stride apart.
func (b *Basis) Evaluate(dst []float64, stride int, x []float64) {
	if b.d == 1 {
		b.line.evaluate(dst, stride, x, b.shift[0])
		for i, v := range x {
			power, row := 1.0, dst[i*stride+b.line.width:]
			for j, s := range b.scale {
				row[j] = power * s
				power *= v - b.shift[0]
			}
		}
		return
	}
	n, knots, radial := len(x)/b.d, len(b.points)/b.d, b.k-len(b.powers)
	values, spare := make([]float64, min(n, block)*knots), make([]float64, min(knots, together))
	at := make([]float64, b.d)
	for first := 0; first < n; first += block {
		rows := min(block, n-first)
		for i := range rows {
			row := dst[(first+i)*stride:]
			for j := range at {
				at[j] = x[(first+i)*b.d+j] - b.shift[j]
			}
			b.semiKernels(values[i*knots:(i+1)*knots], at, spare)
			b.monomials(row[radial:b.k], at)
			for j, s := range b.scale {
				row[radial+j] *= s
			}
		}
		b.packed.Mul(dst[first*stride:], stride, values, knots, rows, nil)
	}
}

// together is how many distances are worked out at once, in the first cache.
const together = 1024

// semiKernels writes the thin plate functions of the distances from p; those of a surface are r^2 log r^2 times
// a constant.
func (b *Basis) semiKernels(out, p, spare []float64) {
	if b.planar == nil {
		for j := range out {
			out[j] = b.semiKernel(squaredDistance(p, b.points[j*b.d:(j+1)*b.d]))
		}
		return
	}
	for lo := 0; lo < len(out); lo += together {
		hi := min(lo+together, len(out))
		r, v := out[lo:hi], spare[:hi-lo]
		kernel.Sub(r, p[:1], b.planar[0][lo:hi])
		kernel.Sub(v, p[1:], b.planar[1][lo:hi])
		kernel.Mul(r, r, r)
		kernel.Mul(v, v, v)
		kernel.Add(r, r, v)
		kernel.XLogX(r, r)
		kernel.Mul(r, r, []float64{b.constant / 2})
	}
}

// Row writes the basis at one value of one variable, and returns 0: its first function.
func (b *Basis) Row(out []float64, x float64) int {
	b.Evaluate(out, b.k, []float64{x})
	return 0
}
