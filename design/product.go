package design

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Product holds the products of two bands of four entries that are on no circle, as tensor products
// of cubic splines have: row i has A.Value[4i+l]*B.Value[4i+m] in column
// (A.First[i]+l)*B.D + B.First[i]+m. They are multiplied out where that is needed, and in cells.
type Product struct {
	A, B *Banded

	arranged *Sparse // a row of each cell, with the entries of all rows by cells; nil unless Arrange found them
	cells    *cells  // its memory
	sparse   *Sparse // what Sparse gave last
	current  bool    // that is what it would give now
}

// Sized is room for n rows of a times b columns, in the memory of x if that is large enough; x may be nil.
func (x *Product) Sized(n, a, b int) *Product {
	if x == nil {
		x = &Product{A: &Banded{}, B: &Banded{}}
	}
	x.arranged, x.current, x.A.occupied = nil, false, nil
	x.A.resize(n, a)
	x.B.resize(n, b)
	return x
}

// resize makes a cubic band of n rows of d columns.
func (x *Banded) resize(n, d int) {
	x.D, x.K, x.Cyclic = d, kernel.Band, false
	x.First, x.Value = slices.Grow(x.First[:0], n)[:n], slices.Grow(x.Value[:0], n*kernel.Band)[:n*kernel.Band]
}

// Dims returns the rows and the columns.
func (x *Product) Dims() (n, d int) { return len(x.A.First), x.A.D * x.B.D }

func (*Product) columns() {}

// First is the first n rows of x, in x's memory, Arrange's included.
func (x *Product) First(n int) *Product {
	return &Product{A: x.A.Leading(n), B: x.B.Leading(n), cells: x.cells, sparse: x.sparse}
}

// shape checks the bands by themselves and next to each other.
func (x *Product) shape() error {
	if x == nil {
		return fmt.Errorf("design: the columns of a product are nil")
	}
	for _, b := range []*Banded{x.A, x.B} {
		switch err := shape(b); {
		case err != nil:
			return err
		case !cubic(b) || b.Cyclic:
			return fmt.Errorf("design: columns of a product: each row of a band has %d entries; need 4, not around a circle", b.K)
		}
	}
	if n, m := len(x.A.First), len(x.B.First); n != m {
		return fmt.Errorf("design: columns of a product: bands of %d and %d rows", n, m)
	}
	return nil
}

// fault is the error for row i, one of whose bands begins where no row may.
func (x *Product) fault(i int) error {
	if uint(x.A.First[i]) >= uint(x.A.starts()) {
		return x.A.fault(i)
	}
	return x.B.fault(i)
}

// row writes row i's products in order to value, and their columns to index.
func (x *Product) row(index *[kernel.Band * kernel.Band]int32, value *[kernel.Band * kernel.Band]float64, i int) {
	const four = kernel.Band
	a, b := (*[four]float64)(x.A.Value[four*i:]), (*[four]float64)(x.B.Value[four*i:])
	multiply(value, a, b)
	x.places(index, x.A.First[i], x.B.First[i])
}

// multiply is the products of a and b, the latter fastest.
func multiply(dst *[kernel.Band * kernel.Band]float64, a, b *[kernel.Band]float64) {
	b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
	for l, v := range a {
		to := (*[kernel.Band]float64)(dst[kernel.Band*l:])
		to[0], to[1], to[2], to[3] = v*b0, v*b1, v*b2, v*b3
	}
}

// places are the columns of a row's products.
func (x *Product) places(index *[kernel.Band * kernel.Band]int32, a, b int32) {
	for l := range index {
		index[l] = (a+int32(l/kernel.Band))*int32(x.B.D) + b + int32(l%kernel.Band)
	}
}

// Sparse are the products themselves, in memory of x. They hold until an entry of a band is changed: then
// Sized or Arrange must be called before the next Sparse.
func (x *Product) Sparse() *Sparse {
	if x.current {
		return x.sparse
	}
	if x.sparse == nil {
		x.sparse = &Sparse{K: kernel.Band * kernel.Band}
	}
	n, d := x.Dims()
	s := x.sparse
	s.D, s.Index, s.Value = d, slices.Grow(s.Index[:0], n*s.K)[:n*s.K], slices.Grow(s.Value[:0], n*s.K)[:n*s.K]
	for i := range n {
		x.row((*[kernel.Band * kernel.Band]int32)(s.Index[i*s.K:]), (*[kernel.Band * kernel.Band]float64)(s.Value[i*s.K:]), i)
		if uint(x.A.First[i]) >= uint(x.A.starts()) || uint(x.B.First[i]) >= uint(x.B.starts()) {
			s.Index[i*s.K] = -1 // whoever reads it finds the fault
		}
	}
	x.current = true
	return s
}

// Arrange sorts the rows by the cell of the knots that they are in and multiplies them out there, if there
// are few enough cells for products to be faster then, and leaves out rows of A that are 0. It holds until an
// entry is changed: then Arrange must be called again. The columns must pass Check.
func (x *Product) Arrange() {
	x.arranged, x.current = nil, false
	if len(x.A.First) == 0 {
		return
	}
	if x.cells == nil {
		x.cells = &cells{}
	}
	x.A.Arrange()
	o := x.A.occupied
	if o == nil {
		x.arranged = x.cells.multiply(x)
		return
	}
	pickProduct(&o.product, x, o.rows)
	if x.arranged = x.cells.multiply(&o.product); x.arranged != nil {
		x.cells.renumber(o.rows)
	}
}

// multiply is nil if there are too many cells.
func (c *cells) multiply(x *Product) *Sparse {
	const size = kernel.Band * kernel.Band
	n, d := x.Dims()
	across := int32(x.B.starts())
	b := x.B.First[:n]
	if x.A.starts()*int(across)*rowsPerCell > n {
		return nil
	}
	c.next = slices.Grow(c.next[:0], x.A.starts()*int(across))[:x.A.starts()*int(across)]
	clear(c.next)
	for i, first := range x.A.First {
		c.next[first*across+b[i]]++
	}
	s := &Sparse{D: d, K: size, cells: c, Index: c.columns[:0]}
	c.end, c.lead = c.end[:0], c.lead[:0]
	at := int32(0)
	for j, rows := range c.next {
		c.next[j] = at
		if rows > 0 {
			at += rows
			c.end, c.lead = append(c.end, int(at)), append(c.lead, int32(len(c.lead)))
			s.Index = append(s.Index, make([]int32, size)...)
			x.places((*[size]int32)(s.Index[len(s.Index)-size:]), int32(j)/across, int32(j)%across)
		}
	}
	c.columns = s.Index
	c.row = slices.Grow(c.row[:0], n)[:n]
	c.value = slices.Grow(c.value[:0], n*size)[:n*size]
	for i, first := range x.A.First {
		to := &c.next[first*across+b[i]]
		c.row[*to] = int32(i)
		multiply((*[size]float64)(c.value[int(*to)*size:]), (*[kernel.Band]float64)(x.A.Value[kernel.Band*i:]), (*[kernel.Band]float64)(x.B.Value[kernel.Band*i:]))
		*to++
	}
	return s
}

// norm is MaxRowNorm: a row's is the product of those of the bands.
func (x *Product) norm() float64 {
	const block = 64
	var a, b [block]float64
	norm := 0.0
	for i := 0; i < len(x.A.First); i += block {
		n := min(block, len(x.A.First)-i)
		kernel.RowSizes(a[:n], x.A.Value[i*kernel.Band:], kernel.Band, kernel.Band)
		kernel.RowSizes(b[:n], x.B.Value[i*kernel.Band:], kernel.Band, kernel.Band)
		kernel.Mul(a[:n], a[:n], b[:n])
		_, largest, finite := kernel.Bounds(a[:n])
		if !finite {
			return math.NaN()
		}
		norm = max(norm, largest)
	}
	return norm
}

// codesProduct adds the product of coded columns with b. In a row of c, what a value of b.A is multiplied by
// stands side by side: all of these runs are taken for rows of a matrix, one of which begins at each number of c.
func (k *Work) codesProduct(c blas64.General, a *Codes, b *Product, w []float64) error {
	const four = kernel.Band
	n := len(a.Code)
	runs := (a.D-1)*c.Stride + (b.A.D-1)*b.B.D + 1
	if runs > math.MaxInt32 {
		return entriesEntries(c, k.entries(a, 0), k.entries(b, 1), w)
	}
	k.codes = grown(k.codes, n*four)
	factors, first, starts := b.A.Value, b.A.First[:n], b.A.starts()
	if f := k.factors(entriesOf(a), w); f != nil {
		k.scales = grown(k.scales, n*four)
		to, from := k.scales, factors
		for _, f := range f {
			t, v := (*[four]float64)(to), (*[four]float64)(from)
			t[0], t[1], t[2], t[3] = f*v[0], f*v[1], f*v[2], f*v[3]
			to, from = to[four:], from[four:]
		}
		factors = k.scales
	}
	to, step := k.codes, int32(b.B.D)
	for i, j := range a.Code {
		if int(j) >= a.D {
			return indexError("coded", i, j, a.D)
		}
		if uint(first[i]) >= uint(starts) {
			return b.A.fault(i)
		}
		t := (*[four]int32)(to)
		if at := j*int32(c.Stride) + first[i]*step; j >= 0 {
			t[0], t[1], t[2], t[3] = at, at+step, at+2*step, at+3*step
		} else { // no entry
			t[0], t[1], t[2], t[3] = -1, -1, -1, -1
		}
		to = to[four:]
	}
	for done := 0; ; done++ {
		done += kernel.ScatterBand(c.Data, 1, runs, b.B.D, k.codes[done*four:], four, factors[done*four:], b.B.First[done:], b.B.Value[done*four:])
		if done == n {
			return nil
		}
		if a.Code[done] >= 0 {
			return b.B.fault(done)
		}
	}
}
