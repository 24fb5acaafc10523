// Package tensorproduct multiplies marginal bases out (Wood 2017, 5.6): row by row the
// Kronecker product of the margins' values, the first margin slowest, and the penalties
// and maps that belong to it.
package tensorproduct

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Rows are the values of one margin at n rows: Width of its Dim functions from number
// First on, the first following the last.
type Rows struct {
	Width, Dim int
	First      []int32
	Value      []float64 // n x Width
}

// newRows has room for n rows.
func newRows(n, width, dim int) *Rows {
	return &Rows{Width: width, Dim: dim, First: make([]int32, n), Value: make([]float64, n*width)}
}

// Sized is room for n rows of width of dim functions, in the memory of r if that is large enough; r
// may be nil.
func (r *Rows) Sized(n, width, dim int) *Rows {
	if r == nil {
		return newRows(n, width, dim)
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
	switch {
	case len(margins) == 2 && margins[0].Width == kernel.Band && margins[1].Width == kernel.Band:
		twoCubic(index, value, margins[0], margins[1], factors)
		return k, index, value
	case len(margins) == 2:
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

// twoCubic is two of margins of four values.
func twoCubic(index []int32, value []float64, a, b *Rows, factors []float64) {
	const four = kernel.Band
	for i, first := range a.First {
		s := b.First[i]
		places := [four]int32{s, around(s, 1, b.Dim), around(s, 2, b.Dim), around(s, 3, b.Dim)}
		va, vb := *(*[four]float64)(a.Value[four*i:]), (*[four]float64)(b.Value[four*i:])
		if factors != nil {
			for l := range va {
				va[l] *= factors[i]
			}
		}
		to, products := (*[four * four]int32)(index[four*four*i:]), (*[four * four]float64)(value[four*four*i:])
		for l, v := range va {
			at := around(first, l, a.Dim) * int32(b.Dim)
			row, index := (*[four]float64)(products[four*l:]), (*[four]int32)(to[four*l:])
			index[0], row[0] = at+places[0], v*vb[0]
			index[1], row[1] = at+places[1], v*vb[1]
			index[2], row[2] = at+places[2], v*vb[2]
			index[3], row[3] = at+places[3], v*vb[3]
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

// Norms sets norm to the 1-norms of the product's rows after its margins are mapped (a map of
// nil is the identity): the products of the margins' norms.
func Norms(norm []float64, margins []*Rows, maps []*mat.Dense) {
	for i := range norm {
		norm[i] = 1
	}
	for l, r := range margins {
		switch {
		case maps[l] == nil:
			timesSizes(norm, r.Value, r.Width)
		case r.Width == kernel.Band:
			r.timesCubicNorms(norm, maps[l].RawMatrix())
		default:
			_, c := maps[l].Dims()
			mapped := make([]float64, c)
			for i := range norm {
				r.mapped(mapped, maps[l].RawMatrix(), i)
				timesSizes(norm[i:i+1], mapped, c)
			}
		}
	}
}

// block is how many rows are mapped at once.
const block = 64

// mapped writes row i times m to dst.
func (r *Rows) mapped(dst []float64, m blas64.General, i int) {
	clear(dst)
	for k, v := range r.Value[i*r.Width : (i+1)*r.Width] {
		j := (int(r.First[i]) + k) % r.Dim
		kernel.Axpy(dst, m.Data[j*m.Stride:][:m.Cols], v)
	}
}

// timesCubicNorms multiplies norm by the 1-norms of rows of four values times m, all but those that
// go around a circle at once.
func (r *Rows) timesCubicNorms(norm []float64, m blas64.General) {
	var few [16 * block]float64 // for calls are of few rows, too
	mapped := few[:]
	if len(mapped) < block*m.Cols {
		mapped = make([]float64, block*m.Cols)
	}
	for i := 0; i < len(norm); {
		n := min(block, len(norm)-i)
		done := kernel.MulBandRows(mapped, m.Cols, r.First[i:i+n], r.Value[i*kernel.Band:(i+n)*kernel.Band], m.Data, m.Stride, m.Rows, m.Cols)
		if done == 0 {
			done = 1
			r.mapped(mapped[:m.Cols], m, i)
		}
		timesSizes(norm[i:i+done], mapped, m.Cols)
		i += done
	}
}

// timesSizes multiplies norm by the 1-norms of rows of k values.
func timesSizes(norm, rows []float64, k int) {
	var sizes [block]float64
	for i := 0; i < len(norm); i += block {
		some := norm[i:min(i+block, len(norm))]
		kernel.RowSizes(sizes[:len(some)], rows[i*k:], k, k)
		kernel.Mul(some, some, sizes[:len(some)])
	}
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
