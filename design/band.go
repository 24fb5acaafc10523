package design

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/pho-go/pho/internal/kernel"
)

// Work is memory that products reuse from call to call. The zero value is ready; it
// serves one goroutine.
type Work struct {
	cells []float64
	zeros []int32
	rows  [2][]int32
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
			j := (r + l) % a.D
			for m := l; m < size; m++ {
				v := cells[(r*size+l)*size+m]
				i := (r + m) % a.D
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
				i := (r + l) % a.D
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

// entriesBand adds to the rows of c that a points at multiples of bands of four.
func entriesBand(c blas64.General, a entries, b *Banded, w []float64) error {
	const size = kernel.Band
	inner := uint(b.D - size) // the last start that does not go around the circle
	for i, first := range b.First {
		index, value, err := a.row(i)
		if err != nil {
			return err
		}
		if uint(first) > inner {
			if uint(first) >= uint(b.starts()) {
				return b.fault(i)
			}
			for l, j := range index {
				row := c.Data[int(j)*c.Stride:][:b.D]
				f := weight(w, i) * at(value, l)
				for m, v := range b.Value[i*size:][:size] {
					row[(int(first)+m)%b.D] += f * v
				}
			}
			continue
		}
		v := b.Value[i*size:][:size]
		v0, v1, v2, v3 := v[0], v[1], v[2], v[3]
		if w != nil {
			wi := w[i]
			v0, v1, v2, v3 = wi*v0, wi*v1, wi*v2, wi*v3
		}
		for l, j := range index {
			row := c.Data[int(j)*c.Stride+int(first):][:size]
			if value == nil {
				row[0] += v0
				row[1] += v1
				row[2] += v2
				row[3] += v3
				continue
			}
			f := value[l]
			row[0] += f * v0
			row[1] += f * v1
			row[2] += f * v2
			row[3] += f * v3
		}
	}
	return nil
}
