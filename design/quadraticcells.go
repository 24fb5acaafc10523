package design

import (
	"slices"

	"github.com/pho-go/pho/internal/base/kernel"
)

// A row of a tensor product of splines, or of smooths of many levels, has many entries, in the same
// columns for all rows of a cell. Each cell's block of the form is copied once into one place, so
// that the rows of a cell become rows of a matrix product.

// minCellEntries is how many entries a row has for that to be a gain.
const minCellEntries = 8

// cellsWork is what a form needs of a sparse basis that goes cell by cell.
type cellsWork struct {
	basis int         // that goes cell by cell; -1: none
	x     Sparse      // its columns,
	pair  *Product    // which are those of this; nil: of none
	own   Sparse      // x with its rows arranged in memory of its own
	forms []*cellForm // by their first columns
	table []float64   // of a pair: C's columns of the basis, next to each other
	first []int32     // where a row's part of the table begins
	with  []float64   // C_js of the rows' single entries j
	prod  []float64
	alone [1]int32
}

// fewCellEntries is how many entries a row has at most for the numbers of C to be taken one by one
// where there are no dense columns: sorting rows would take longer.
const fewCellEntries = 12

// cellForm is what a cell's columns c need: the products with C_cc and 2 C_cd, and -2 (C m_s)_c.
type cellForm struct {
	columns  []int32
	weights  *kernel.Weights[float64]
	triangle []float64 // in place of weights: the triangle of C_cc, row by row, with doubled entries off the diagonal
	linear   []float64 // followed by as many zeros as there are dense columns
}

// chooseCells has the first sparse basis of many entries go cell by cell, of those that go entry by
// entry; none if one of these is in bands, whose products with cells nobody adds.
func (k *QuadraticWork) chooseCells(x []Columns) {
	chosen, w := -1, &k.cells
	w.pair = nil
	for b, c := range x {
		if !k.thin[b] {
			continue
		}
		if straight(c) {
			chosen = -1
			break
		}
		if chosen >= 0 || entriesIn(c) < minCellEntries {
			continue
		}
		switch c := c.(type) {
		case *Sparse:
			chosen, w.x = b, *c
		case *Product:
			chosen, w.pair = b, c
			if s := arranged(c); s != nil {
				w.x = *s
			} else {
				w.x = *c.Sparse()
			}
		}
	}
	if chosen != w.basis {
		w.basis, w.forms, w.table = chosen, nil, nil
	}
}

// entries are the columns in the basis and the values of row i's entries there.
func (w *cellsWork) entries(i int) (index []int32, value []float64) {
	return w.x.Index[i*w.x.K:][:w.x.K], w.x.Value[i*w.x.K:][:w.x.K]
}

// addCells adds s'C_ss s + 2 s'C_sd d - 2 (C m_s)'s of the entries s of that basis; addEntries adds
// their products with other bases' entries.
func (k *QuadraticWork) addCells(dst []float64) {
	w := &k.cells
	if w.forms == nil {
		w.forms = make([]*cellForm, w.x.D)
	}
	if k.oneByOne() {
		for i := range dst {
			columns, value := w.entries(i)
			dst[i] += k.cellForm(columns).at(value)
		}
		return
	}
	x := &w.x
	if x.cells == nil {
		w.own = Sparse{D: w.x.D, K: w.x.K, Index: w.x.Index, Value: w.x.Value, memory: w.own.memory, found: w.own.found}
		x = &w.own
		x.Arrange()
	}
	c := x.cells
	if c == nil {
		for i := range dst {
			columns, value := w.entries(i)
			w.alone[0] = int32(i)
			k.addCell(dst, w.alone[:], columns, value)
		}
		return
	}
	from := 0
	for l, end := range c.end {
		k.addCell(dst, c.row[from:end], x.of(c.lead[l]), c.value[from*w.x.K:end*w.x.K])
		from = end
	}
}

// withCells are C_js of each row's column j and its entries s of that basis; nil: there is none. A row of
// C_js of a pair is taken for a matrix with a row for each column of its first band.
func (k *QuadraticWork) withCells(column []int32) []float64 {
	w := &k.cells
	if w.basis < 0 {
		return nil
	}
	start := k.of.starts[w.basis]
	w.with = grown(w.with, len(column))
	if w.pair == nil {
		for i, j := range column {
			index, value := w.entries(i)
			w.with[i] = gathered(k.lean.row(int(j), start), index, value)
		}
		return w.with
	}
	a, b := w.pair.A, w.pair.B
	if w.table == nil {
		for j := range k.of.mean {
			w.table = append(w.table, k.row(j)[start:][:w.x.D]...)
		}
	}
	w.first = grown(w.first, len(column))
	for i, j := range column {
		w.first[i] = j*int32(a.D) + a.First[i]
	}
	clear(w.with)
	kernel.AddBilinear(w.with, w.table, b.D, len(k.of.mean)*a.D, b.D, w.first, a.Value, b.First, b.Value)
	return w.with
}

// oneByOne tells whether cells have triangles: rows of few entries that nobody has sorted yet.
func (k *QuadraticWork) oneByOne() bool {
	return k.width == 0 && k.cells.x.K <= fewCellEntries && k.cells.x.cells == nil
}

// at is v'C_cc v - 2 (C m_s)_c'v.
func (f *cellForm) at(v []float64) float64 {
	sum, c := 0.0, f.triangle
	for l, vl := range v {
		product := f.linear[l]
		for m, vm := range v[l:] {
			product += c[m] * vm
		}
		sum += vl * product
		c = c[len(v)-l:]
	}
	return sum
}

// addCell adds the quadratic forms of the rows of one cell; value holds the rows' entries one row after the other.
func (k *QuadraticWork) addCell(dst []float64, rows []int32, columns []int32, value []float64) {
	form, size := k.cellForm(columns), k.cells.x.K
	wide := size + k.width
	k.cells.prod, k.dots = grown(k.cells.prod, someRows*wide), grown(k.dots, someRows)
	for i := 0; i < len(rows); i += someRows {
		some, own := rows[i:min(i+someRows, len(rows))], value[i*size:]
		n, dots := len(some), k.dots[:len(some)]
		add := func() {
			for r, i := range some {
				dst[i] += dots[r]
			}
		}
		form.weights.Mul(k.cells.prod, wide, own, size, n, form.linear)
		kernel.RowDots(dots, k.cells.prod, wide, n, nil, own, size, size)
		add()
		if k.width > 0 {
			kernel.RowDots(dots, k.rows, k.width, len(dst), some, k.cells.prod[size:], wide, k.width)
			add()
		}
	}
}

// cellForm is that of these columns. Of cells with the same first column only the last one's form is
// kept, which bounds the memory; each cell of splines has a first column of its own.
func (k *QuadraticWork) cellForm(columns []int32) *cellForm {
	at := &k.cells.forms[columns[0]]
	if *at != nil && ((*at).triangle != nil) == k.oneByOne() && len((*at).columns) == len(columns) && equal((*at).columns, columns) {
		return *at
	}
	size, start := len(columns), k.of.starts[k.cells.basis]
	wide := size + k.width
	c, linear := make([]float64, 0, size*wide), make([]float64, wide)
	for l, j := range columns {
		row := k.row(start + int(j))
		for _, m := range columns {
			c = append(c, row[start+int(m)])
		}
		if k.width > 0 {
			c = append(c, k.cross.RawRowView(start+int(j))...)
		}
		linear[l] = k.linear[start+int(j)]
	}
	*at = &cellForm{columns: slices.Clone(columns), linear: linear}
	if k.oneByOne() {
		(*at).triangle = triangle(c, size)
	} else {
		(*at).weights = kernel.Pack(size, wide, c, false)
	}
	return *at
}

// triangle is the upper one of c (n x n), row by row, with twice what is off the diagonal.
func triangle(c []float64, n int) []float64 {
	out := make([]float64, 0, n*(n+1)/2)
	for i := range n {
		out = append(out, c[i*n+i])
		for _, v := range c[i*n+i+1 : (i+1)*n] {
			out = append(out, 2*v)
		}
	}
	return out
}
