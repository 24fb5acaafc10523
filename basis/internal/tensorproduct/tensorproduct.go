// Package tensorproduct multiplies marginal bases out (Wood 2017, 5.6): row by row the
// Kronecker product of the margins' values, the first margin slowest, and the penalties
// and maps that belong to it.
package tensorproduct

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Rows are the values of one margin at n rows: Width of its Dim functions from number
// First on, the first following the last.
type Rows struct {
	Width, Dim int
	First      []int32
	Value      []float64 // n x Width
}

// NewRows has room for n rows.
func NewRows(n, width, dim int) *Rows {
	return &Rows{Width: width, Dim: dim, First: make([]int32, n), Value: make([]float64, n*width)}
}

// Sized is room for n rows of width of dim functions, in the memory of r if that is large enough; r
// may be nil.
func (r *Rows) Sized(n, width, dim int) *Rows {
	if r == nil {
		return NewRows(n, width, dim)
	}
	r.Width, r.Dim = width, dim
	r.First, r.Value = slices.Grow(r.First[:0], n)[:n], slices.Grow(r.Value[:0], n*width)[:n*width]
	return r
}

// Dense writes row i to dst (Dim).
func (r *Rows) Dense(dst []float64, i int) {
	clear(dst)
	for l, v := range r.Value[i*r.Width : (i+1)*r.Width] {
		dst[(int(r.First[i])+l)%r.Dim] = v
	}
}

// Kronecker multiplies the margins' rows out, the last margin fastest: k products in
// each row, at the places index. factors multiply the rows; nil: ones. index and value are
// in the memory of those given, if it is large enough.
func Kronecker(index []int32, value []float64, margins []*Rows, factors []float64) (int, []int32, []float64) {
	n, k := len(margins[0].First), 1
	for _, r := range margins {
		k *= r.Width
	}
	index, value = slices.Grow(index[:0], n*k)[:n*k], slices.Grow(value[:0], n*k)[:n*k]
	if len(margins) == 2 {
		two(index, value, margins[0], margins[1], factors)
		return k, index, value
	}
	for i := range n {
		value, index := value[i*k:(i+1)*k], index[i*k:(i+1)*k]
		value[0], index[0] = 1, 0
		if factors != nil {
			value[0] = factors[i]
		}
		have := 1
		for _, r := range margins {
			// From the back, so that nothing is overwritten before it is read.
			for a := have - 1; a >= 0; a-- {
				v, at := value[a], int(index[a])*r.Dim
				for l := r.Width - 1; l >= 0; l-- {
					j := int(r.First[i]) + l
					if j >= r.Dim {
						j -= r.Dim
					}
					value[a*r.Width+l] = v * r.Value[i*r.Width+l]
					index[a*r.Width+l] = int32(at + j)
				}
			}
			have *= r.Width
		}
	}
	return k, index, value
}

// two is Kronecker of two margins.
func two(index []int32, value []float64, a, b *Rows, factors []float64) {
	places := make([]int32, b.Width)
	for i, first := range a.First {
		for l := range places {
			places[l] = around(b.First[i], l, b.Dim)
		}
		last := b.Value[i*b.Width:][:len(places)]
		for l, v := range a.Value[i*a.Width:][:a.Width] {
			if factors != nil {
				v *= factors[i]
			}
			at := around(first, l, a.Dim) * int32(b.Dim)
			to, products := index[:len(places)], value[:len(places)]
			for m, j := range places {
				to[m] = at + j
				products[m] = v * last[m]
			}
			index, value = index[len(places):], value[len(places):]
		}
	}
}

// around is the number of the function l places behind the first, behind the last of which
// comes 0.
func around(first int32, l, dim int) int32 {
	j := first + int32(l)
	if j >= int32(dim) {
		j -= int32(dim)
	}
	return j
}

// Norms are the 1-norms of the product's rows after its margins are mapped (a map of
// nil is the identity): the products of the margins' norms.
func Norms(margins []*Rows, maps []*mat.Dense) []float64 {
	norm := make([]float64, len(margins[0].First))
	for i := range norm {
		norm[i] = 1
	}
	for l, r := range margins {
		if maps[l] == nil {
			for i := range norm {
				norm[i] *= sumOfSizes(r.Value[i*r.Width : (i+1)*r.Width])
			}
			continue
		}
		_, c := maps[l].Dims()
		mapped := make([]float64, c)
		for i := range norm {
			clear(mapped)
			values, first := r.Value[i*r.Width:(i+1)*r.Width], int(r.First[i])
			if r.Width == 4 && first+4 <= r.Dim {
				norm[i] *= mappedNorm(maps[l].RawMatrix(), first, *(*[4]float64)(values))
				continue
			}
			around := max(0, min(r.Width, first+r.Width-r.Dim)) // those at functions 0, 1, ...
			for k, v := range values[r.Width-around:] {
				addRow(mapped, maps[l].RawRowView(k), v)
			}
			for k, v := range values[:r.Width-around] {
				addRow(mapped, maps[l].RawRowView(first+k), v)
			}
			norm[i] *= sumOfSizes(mapped)
		}
	}
	return norm
}

// mappedNorm is the 1-norm of four adjacent values mapped.
func mappedNorm(m blas64.General, first int, v [4]float64) float64 {
	at := m.Data[first*m.Stride:]
	r0 := at[:m.Cols]
	r1, r2, r3 := at[m.Stride:][:len(r0)], at[2*m.Stride:][:len(r0)], at[3*m.Stride:][:len(r0)]
	sum := 0.0
	for j, u := range r0 {
		sum += math.Abs(v[0]*u + v[1]*r1[j] + v[2]*r2[j] + v[3]*r3[j])
	}
	return sum
}

// addRow adds v x to dst.
func addRow(dst, x []float64, v float64) {
	for j := range dst {
		dst[j] += v * x[j]
	}
}

func sumOfSizes(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += max(v, -v)
	}
	return sum
}

// Penalties are I x ... x S_l x ... x I, one for each margin's penalty S_l.
func Penalties(each []*mat.SymDense) []*mat.SymDense {
	n := 1
	for _, s := range each {
		n *= s.SymmetricDim()
	}
	out := make([]*mat.SymDense, len(each))
	before, after := 1, n
	for l, s := range each {
		d := s.SymmetricDim()
		after /= d
		out[l] = mat.NewSymDense(n, nil)
		for a := range before {
			for c := range after {
				for i := range d {
					for j := i; j < d; j++ {
						out[l].SetSym((a*d+i)*after+c, (a*d+j)*after+c, s.At(i, j))
					}
				}
			}
		}
		before *= d
	}
	return out
}

// Map multiplies the margins' maps out; nil is the identity of dims[i] functions.
func Map(maps []*mat.Dense, dims []int) *mat.Dense {
	var out *mat.Dense
	for i, m := range maps {
		if m == nil {
			d := dims[i]
			m = mat.NewDense(d, d, nil)
			for j := range d {
				m.Set(j, j, 1)
			}
		}
		if out == nil {
			out = m
			continue
		}
		var product mat.Dense
		product.Kronecker(out, m)
		out = &product
	}
	return out
}
