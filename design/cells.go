package design

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/pho-go/pho/internal/base/kernel"
)

// cells are the rows of sparse columns sorted by where their entries are: the rows of a
// tensor product of splines, say, have entries in the same columns wherever they lie in the
// same cell of the knots. The products of such rows are those of dense columns.
type cells struct {
	end   []int     // cell by cell, the rows up to its end
	row   []int32   // the rows in that order; inside a cell they stay in theirs
	value []float64 // their k entries each
	lead  []int32   // a row of each cell, whose entries are in the columns of all
	next  []int32   // of each column: where the next row that begins there goes; of a Product, of each cell

	columns []int32 // of a Product: those of each cell's entries

	weights []float64 // of the rows in that order
}

// rowsPerCell is how many rows a cell must have on average: with fewer, adding up its
// own products costs more than it saves.
const rowsPerCell = 4

// Arrange sorts the rows by the columns of their entries, if there are few enough such sets
// of columns for products to be faster then, and leaves out rows that are 0. It changes no entry, and holds until an
// entry is changed: then Arrange must be called again. The columns must pass Check.
func (x *Sparse) Arrange() {
	x.cells, x.occupied = nil, nil
	n, _ := x.Dims()
	if n == 0 {
		return
	}
	if x.memory == nil {
		x.memory, x.found = &cells{}, &occupied{}
	}
	rows := x
	if o := x.found; o.find(n, x.Value, x.K) {
		pickSparse(&o.sparse, x, o.rows)
		x.occupied, rows, n = o, &o.sparse, len(o.rows)
	}
	if !x.memory.sort(rows, n) {
		return
	}
	x.cells = x.memory
	if x.occupied != nil {
		x.cells.renumber(x.occupied.rows)
		for l, i := range x.cells.lead {
			x.cells.lead[l] = x.occupied.rows[i]
		}
	}
}

// renumber takes the numbers of rows that were sorted, some of all, to their numbers among all.
func (c *cells) renumber(rows []int32) {
	for s, i := range c.row {
		c.row[s] = rows[i]
	}
}

// First is the first n rows of x, in x's memory, Arrange's included.
func (x *Sparse) First(n int) *Sparse {
	if x.memory == nil {
		x.memory, x.found = &cells{}, &occupied{}
	}
	return &Sparse{D: x.D, K: x.K, Index: x.Index[:n*x.K], Value: x.Value[:n*x.K], memory: x.memory, found: x.found}
}

// sort reports false if there are too many cells.
func (c *cells) sort(x *Sparse, n int) bool {
	c.next = slices.Grow(c.next[:0], x.D)[:x.D]
	clear(c.next)
	for i := 0; i < len(x.Index); i += x.K {
		c.next[x.Index[i]]++
	}
	c.end, c.lead = c.end[:0], c.lead[:0]
	at := int32(0)
	for j, rows := range c.next {
		c.next[j] = at
		if rows > 0 {
			at += rows
			c.end = append(c.end, int(at))
		}
	}
	if len(c.end)*rowsPerCell > n {
		return false
	}
	c.row = slices.Grow(c.row[:0], n)[:n]
	for i := range n {
		j := x.Index[i*x.K]
		c.row[c.next[j]] = int32(i)
		c.next[j]++
	}
	return c.gather(x)
}

// gather copies the entries, and reports false if rows of a cell differ in their columns.
func (c *cells) gather(x *Sparse) bool {
	c.value = slices.Grow(c.value[:0], len(x.Value))[:len(x.Value)]
	from := 0
	for _, end := range c.end {
		lead := x.of(c.row[from])
		c.lead = append(c.lead, c.row[from])
		for s := from; s < end; s++ {
			i := c.row[s]
			if !equal(x.of(i), lead) {
				return false
			}
			copy(c.value[s*x.K:][:x.K], x.Value[int(i)*x.K:])
		}
		from = end
	}
	return true
}

// arranged are columns by cells; nil if nobody arranged them.
func arranged(a Columns) *Sparse {
	switch a := a.(type) {
	case *Sparse:
		if a.cells != nil {
			return a
		}
	case *Product:
		return a.arranged
	}
	return nil
}

// of are the columns of row i's entries.
func (x *Sparse) of(i int32) []int32 { return x.Index[int(i)*x.K:][:x.K] }

// equal compares 16 numbers at a time: tensor products of cubic splines have so many.
func equal(a, b []int32) bool {
	for ; len(a) >= 16; a, b = a[16:], b[16:] {
		if *(*[16]int32)(a) != *(*[16]int32)(b) {
			return false
		}
	}
	return slices.Equal(a, b)
}

// sorted are w's weights in the order of the cells; nil if w is.
func (c *cells) sorted(w []float64) []float64 {
	if w == nil {
		return nil
	}
	c.weights = slices.Grow(c.weights[:0], len(w))[:len(w)]
	for s, i := range c.row {
		c.weights[s] = w[i]
	}
	return c.weights
}

// each calls f for each cell with its columns, and its rows' entries and weights.
func (c *cells) each(x *Sparse, w []float64, f func(from, end int, columns []int32, value, w []float64)) {
	w = c.sorted(w)
	from := 0
	for i, end := range c.end {
		var weights []float64
		if w != nil {
			weights = w[from:end]
		}
		f(from, end, x.of(c.lead[i]), c.value[from*x.K:end*x.K], weights)
		from = end
	}
}

// cellsGram is entriesGram by cells.
func (k *Work) cellsGram(c blas64.General, a *Sparse, w []float64) error {
	size := a.K
	a.cells.each(a, w, func(from, end int, columns []int32, value, w []float64) {
		own := k.clean(size * size)
		kernel.AddGram(own, size, value, size, size, end-from, w)
		for l, j := range columns {
			row := c.Data[int(j)*c.Stride:][:a.D]
			for m, v := range own[l*size:][:size] {
				row[columns[m]] += v
			}
		}
	})
	return nil
}

// cellsDense is entriesDense by cells, of several dense columns.
func (k *Work) cellsDense(c []blas64.General, a *Sparse, b []blas64.General, w []float64) error {
	const block = 256 // rows of b side by side: half of the first cache for 10 columns
	size, q := a.K, 0
	for _, b := range b {
		q += b.Cols
	}
	if len(k.gathered) < block*q {
		k.gathered = kernel.Aligned(block * q)
	}
	a.cells.each(a, w, func(from, end int, columns []int32, value, w []float64) {
		own := k.clean(size * q)
		for i := from; i < end; i += block {
			rows, first := a.cells.row[i:min(i+block, end)], 0
			for _, b := range b {
				gather(k.gathered[first:], q, b, rows)
				first += b.Cols
			}
			var weights []float64
			if w != nil {
				weights = w[i-from:]
			}
			kernel.AddCross(own, q, value[(i-from)*size:], size, size, k.gathered, q, q, len(rows), weights)
		}
		first := 0
		for _, c := range c {
			kernel.ScatterRows(c.Data, c.Stride, a.D, columns, 1, nil, own[first:], q, c.Cols, size)
			first += c.Cols
		}
	})
	return nil
}

// gather copies rows of b to rows that are ldd apart.
func gather(dst []float64, ldd int, b blas64.General, rows []int32) {
	switch b.Cols {
	case 1:
		for s, i := range rows {
			dst[s*ldd] = b.Data[int(i)*b.Stride]
		}
	case 2:
		for s, i := range rows {
			*(*[2]float64)(dst[s*ldd:]) = *(*[2]float64)(b.Data[int(i)*b.Stride:])
		}
	default:
		for s, i := range rows {
			copy(dst[s*ldd:][:b.Cols], b.Data[int(i)*b.Stride:])
		}
	}
}

// inFours reports whether the columns of each cell's entries come in adjacent fours, as
// those of products with cubic splines do that do not go around a circle.
func (x *Sparse) inFours() bool {
	if x.cells == nil || x.K%kernel.Band != 0 {
		return false
	}
	for _, lead := range x.cells.lead {
		columns := x.of(lead)
		for l, j := range columns {
			if int(j) != int(columns[l-l%kernel.Band])+l%kernel.Band {
				return false
			}
		}
	}
	return true
}

// codesFours adds the product of coded columns with entries that come in adjacent fours,
// each of which is taken for a row of a band.
func (k *Work) codesFours(c blas64.General, a *Codes, b *Sparse, w []float64) error {
	const size = kernel.Band
	fours := b.K / size
	n := len(a.Code) * fours
	k.four.D, k.four.K, k.four.Value = b.D, size, b.Value
	k.four.First = slices.Grow(k.four.First[:0], n)[:n]
	k.codes = slices.Grow(k.codes[:0], n)[:n]
	for s := range n {
		k.four.First[s] = b.Index[s*size]
	}
	for i, j := range a.Code {
		if int(j) >= a.D {
			return indexError("coded", i, j, a.D)
		}
		for s := range fours {
			k.codes[i*fours+s] = j
		}
	}
	e := entries{kind: "coded", d: a.D, k: 1, index: k.codes, skip: true}
	if w != nil || a.Value != nil {
		k.scales = slices.Grow(k.scales[:0], n)[:n]
		for i := range a.Code {
			v := weight(w, i) * at(a.Value, i)
			for s := range fours {
				k.scales[i*fours+s] = v
			}
		}
		e.value = k.scales
	}
	return k.entriesBand(c, e, &k.four, nil)
}
