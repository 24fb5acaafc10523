package design

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Work is memory that products reuse from call to call. The zero value is ready; it
// serves one goroutine.
type Work struct {
	cells []float64
	zeros []int32
	rows  [2][]int32 // of bands, as in entries

	weighted []float64
	one      [1]float64

	gathered []float64        // rows of dense columns,
	to, from []blas64.General // those of several operands
	four     Banded           // rows of codesFours, the codes and values that go with them
	codes    []int32
	scales   []float64

	picked       picked
	interpolated interpolatedWork
}

// Sizes of the tables of cells: maxCells bounds one that is cleared for every
// product (256 kB), cellColumns the dense columns that share one.
const (
	maxCells    = 32768
	cellColumns = 64
)

// clean returns n zeros.
func (k *Work) clean(n int) []float64 {
	if len(k.cells) < n {
		k.cells = kernel.Aligned(n)
	}
	clear(k.cells[:n])
	return k.cells[:n]
}

// entries returns the entries of one operand of a product, the first or the second.
func (k *Work) entries(a Columns, operand int) entries {
	e := entriesOf(a)
	if e.band != nil {
		if len(k.rows[operand]) < e.k {
			k.rows[operand] = make([]int32, e.k)
		}
		e.index = k.rows[operand][:e.k]
	}
	return e
}

// cubic reports whether a has the rows that the kernel is made for: those of cubic
// splines.
func cubic(a *Banded) bool { return a.K == kernel.Band }

// bandBand adds the product of two bands of four by way of cells.
func (k *Work) bandBand(c blas64.General, a, b *Banded, w []float64) error {
	rows, cols := a.starts(), b.starts()
	cells := k.clean(rows * cols * kernel.Band * kernel.Band)
	if i := kernel.AddOuter(cells, rows, cols, a.First, a.Value, b.First, b.Value, w); i < len(a.First) {
		if uint(a.First[i]) >= uint(rows) {
			return a.fault(i)
		}
		return b.fault(i)
	}
	kernel.FoldOuter(c.Data, c.Stride, a.D, b.D, cells, rows, cols)
	return nil
}

// bandGram adds the product of a band of four with itself: one cell for each place
// where rows begin, of which the upper triangle is used.
func (k *Work) bandGram(c blas64.General, a *Banded, w []float64) error {
	const size = kernel.Band
	rows := a.starts()
	cells := k.clean(rows * size * size)
	if n := len(a.First); len(k.zeros) < n {
		k.zeros = make([]int32, n)
	}
	if i := kernel.AddOuter(cells, rows, 1, a.First, a.Value, k.zeros[:len(a.First)], a.Value, w); i < len(a.First) {
		return a.fault(i)
	}
	for r := range rows {
		for l := range size {
			j := a.around(r + l)
			for m := l; m < size; m++ {
				v := cells[(r*size+l)*size+m]
				i := a.around(r + m)
				c.Data[j*c.Stride+i] += v
				if m > l {
					c.Data[i*c.Stride+j] += v
				}
			}
		}
	}
	return nil
}

// bandDense adds the product of a band of four with dense columns, or that product
// transposed.
func (k *Work) bandDense(c blas64.General, a *Banded, b blas64.General, w []float64, transposed bool) error {
	const size = kernel.Band
	rows := a.starts()
	for j := 0; j < b.Cols; j += cellColumns {
		q := min(cellColumns, b.Cols-j)
		cells := k.clean(rows * q * size)
		if i := kernel.AddScaled(cells, rows, a.First, a.Value, b.Data[j:], b.Stride, q, w); i < len(a.First) {
			return a.fault(i)
		}
		for r := range rows {
			for l := range size {
				i := a.around(r + l)
				for m := range q {
					v := cells[(r*q+m)*size+l]
					if transposed {
						c.Data[(j+m)*c.Stride+i] += v
					} else {
						c.Data[i*c.Stride+j+m] += v
					}
				}
			}
		}
	}
	return nil
}

// entriesBand adds to the rows of c that a points at multiples of bands of four: in
// the kernel, but for rows that go around the circle or have no entry in a.
func (k *Work) entriesBand(c blas64.General, a entries, b *Banded, w []float64) error {
	const size = kernel.Band
	if a.band != nil {
		return entriesEntries(c, a, k.entries(b, 1), w)
	}
	factor := k.factors(a, w)
	for done := 0; ; done++ {
		var f []float64
		if factor != nil {
			f = factor[done*a.k:]
		}
		done += kernel.ScatterBand(c.Data, c.Stride, a.d, b.D, a.index[done*a.k:], a.k, f, b.First[done:], b.Value[done*size:])
		if done == len(b.First) {
			return nil
		}
		index, value, err := a.row(done)
		if err != nil {
			return err
		}
		first := int(b.First[done])
		if uint(first) >= uint(b.starts()) {
			return b.fault(done)
		}
		for l, j := range index {
			row := c.Data[int(j)*c.Stride:][:b.D]
			f := weight(w, done) * at(value, l)
			for m, v := range b.Value[done*size:][:size] {
				row[(first+m)%b.D] += f * v
			}
		}
	}
}

// factors are the weighted values of a's entries; nil if all are 1.
func (k *Work) factors(a entries, w []float64) []float64 {
	if w == nil || a.value == nil && a.k == 1 {
		if w != nil {
			return w
		}
		return a.value
	}
	if len(k.weighted) < len(a.value) {
		k.weighted = make([]float64, len(a.value))
	}
	f := k.weighted[:len(a.value)]
	for i, wi := range w {
		for l := i * a.k; l < (i+1)*a.k; l++ {
			f[l] = wi * a.value[l]
		}
	}
	return f
}
