// Package radial holds layers of Gaussian radial basis functions (Broomhead and Lowe
// 1988): function j is exp(-|x - c_j|^2 / 2), distances taken in units of each variable.
package radial

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/distinct"
)

// Basis evaluates the functions. It is immutable.
type Basis struct {
	d       int
	knots   []float64 // k x d
	inverse []float64 // d factors that distances are taken in
}

// New makes the basis on knots (k x d, row by row), where d factors multiply distances.
// It keeps the slices.
func New(knots, inverse []float64) (*Basis, error) {
	b := &Basis{len(inverse), knots, inverse}
	for _, v := range inverse {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, errors.New("the width of the radial functions is not a positive number: rescale the columns")
		}
	}
	return b, nil
}

// Scales are 1 over the standard deviations of the points' d columns over their rows. bad
// is the first column whose is 0 or not a number; -1: none.
func Scales(p *distinct.Points) (inverse []float64, bad int) {
	at, _ := p.Centred()
	square := make([]float64, p.D)
	rows := 0.0
	for i, c := range p.Count {
		rows += float64(c)
		for j := range square {
			square[j] += float64(c) * at[i*p.D+j] * at[i*p.D+j]
		}
	}
	inverse = make([]float64, p.D)
	for j := range inverse {
		inverse[j] = 1 / math.Sqrt(square[j]/rows)
		if v := inverse[j]; math.IsNaN(v) || math.IsInf(v, 0) || v == 0 {
			return nil, j
		}
	}
	return inverse, -1
}

// Construct makes k functions on knots (k x d) by value or, without any, on k points of
// data far from each other, of which there must be as many. Distances are taken in
// units of width over the scales; a width of 0 is the knots' greatest distance over
// sqrt(2k), with which neighbours overlap. The penalty is K, the functions at the knots:
// the squared norm in the kernel's Hilbert space.
func Construct(data *distinct.Points, scales, knots []float64, k int, width float64) (*Basis, *mat.SymDense, error) {
	b := &Basis{d: data.D, inverse: scales}
	if b.knots = append(b.knots, knots...); len(b.knots) == 0 {
		b.knots = b.spread(data, k)
	}
	if width == 0 {
		widest := 0.0
		for i := range k {
			for j := range i {
				widest = max(widest, b.distance(b.knot(i), b.knot(j)))
			}
		}
		width = math.Sqrt(widest / float64(2*k))
	}
	for j := range b.inverse {
		b.inverse[j] /= width
	}
	penalty := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			r := b.distance(b.knot(i), b.knot(j))
			if i != j && r == 0 {
				return nil, nil, fmt.Errorf("knots %d and %d are the same", i+1, j+1)
			}
			penalty.SetSym(i, j, math.Exp(-r/2))
		}
	}
	b, err := New(b.knots, b.inverse)
	return b, penalty, err
}

// Dim is k.
func (b *Basis) Dim() int { return len(b.knots) / b.d }

// Knots (k x d) and Inverse (d) are what New was given, in the basis' own memory.
func (b *Basis) Knots() []float64 { return b.knots }

// Inverse are the factors of distances.
func (b *Basis) Inverse() []float64 { return b.inverse }

func (b *Basis) knot(i int) []float64 { return b.knots[i*b.d : (i+1)*b.d] }

// distance is the square of the scaled distance.
func (b *Basis) distance(p, q []float64) float64 {
	sum := 0.0
	for j, v := range p {
		u := (v - q[j]) * b.inverse[j]
		sum += u * u
	}
	return sum
}

// spread chooses k points, the first the least in order, each next one the
// farthest from all before.
func (b *Basis) spread(p *distinct.Points, k int) []float64 {
	var out []float64
	nearest := make([]float64, p.N()) // squared distance to the knots so far
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	for next := 0; ; {
		knot := p.X[next*p.D : (next+1)*p.D]
		if out = append(out, knot...); len(out) == k*p.D {
			return out
		}
		next = 0
		for i := range nearest {
			nearest[i] = min(nearest[i], b.distance(p.X[i*p.D:(i+1)*p.D], knot))
			if nearest[i] > nearest[next] {
				next = i
			}
		}
	}
}

// Evaluate writes the functions at finite points x (n x d, row by row) to dst, whose
// rows are stride apart.
func (b *Basis) Evaluate(dst []float64, stride int, x []float64) {
	k := b.Dim()
	for i := range len(x) / b.d {
		row, p := dst[i*stride:i*stride+k], x[i*b.d:(i+1)*b.d]
		for j := range row {
			row[j] = math.Exp(-b.distance(p, b.knot(j)) / 2)
		}
	}
}
