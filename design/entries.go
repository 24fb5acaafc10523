package design

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/pho-go/pho/internal/base/kernel"
)

// entries is the common form of sparse, banded and coded columns: k entries in each
// row; a nil value means ones. With skip a negative index means no entry.
type entries struct {
	kind  string
	d, k  int
	index []int32
	value []float64
	skip  bool
	band  *Banded // not nil: row writes its columns to index
}

// entriesOf returns the entries of columns that are not dense.
func entriesOf(a Columns) entries {
	switch a := a.(type) {
	case *Sparse:
		return entries{kind: "sparse", d: a.D, k: a.K, index: a.Index, value: a.Value}
	case *Banded:
		return entries{kind: "banded", d: a.D, k: a.K, value: a.Value, band: a}
	case *Codes:
		return entries{kind: "coded", d: a.D, k: 1, index: a.Code, value: a.Value, skip: true}
	case *Product:
		return entriesOf(a.Sparse())
	}
	return entries{k: 1}
}

func (e *entries) rows() int {
	if e.band != nil {
		return len(e.band.First)
	}
	return len(e.index) / e.k
}

// row returns the columns and the values (nil: ones) of row i's entries: all inside,
// or nothing if a code is negative. The columns are valid until the next call.
func (e *entries) row(i int) (index []int32, value []float64, err error) {
	if e.value != nil {
		value = e.value[i*e.k:][:e.k]
	}
	if e.band != nil {
		first := e.band.First[i]
		if uint(first) >= uint(e.band.starts()) {
			return nil, nil, e.band.fault(i)
		}
		for l := range e.index {
			j := int(first) + l
			if j >= e.d {
				j -= e.d
			}
			e.index[l] = int32(j)
		}
		return e.index, value, nil
	}
	index = e.index[i*e.k:][:e.k]
	for _, j := range index {
		if uint(j) >= uint(e.d) {
			return nil, nil, e.outside(i, j)
		}
	}
	return index, value, nil
}

// outside is the error for index j of row i, none if it says that there is no entry.
func (e *entries) outside(i int, j int32) error {
	if e.skip && j < 0 {
		return nil
	}
	return indexError(e.kind, i, j, e.d)
}

// at is value l of a row, or 1.
func at(value []float64, l int) float64 {
	if value == nil {
		return 1
	}
	return value[l]
}

func weight(w []float64, i int) float64 {
	if w == nil {
		return 1
	}
	return w[i]
}

// table adds the weighted contingency table of two codes.
func table(c blas64.General, a, b *Codes, w []float64) error {
	da, db := uint(a.D), uint(b.D)
	codes := b.Code[:len(a.Code)]
	counts := w == nil && a.Value == nil && b.Value == nil
	for i, ja := range a.Code {
		jb := codes[i]
		if uint(ja) >= da || uint(jb) >= db {
			if int(ja) >= a.D {
				return indexError("coded", i, ja, a.D)
			}
			if int(jb) >= b.D {
				return indexError("coded", i, jb, b.D)
			}
			continue
		}
		v := 1.0
		if !counts {
			v = weight(w, i) * at(a.Value, i) * at(b.Value, i)
		}
		c.Data[int(ja)*c.Stride+int(jb)] += v
	}
	return nil
}

// codesGram is table of a code with itself, whose sums stand next to each other first: on the
// diagonal of a large matrix each is on a page of its own.
func (k *Work) codesGram(c blas64.General, a *Codes, w []float64) error {
	sums := k.clean(a.D)
	for i, j := range a.Code {
		if uint(j) < uint(a.D) {
			v := at(a.Value, i)
			sums[j] += weight(w, i) * v * v
		} else if j >= 0 {
			return indexError("coded", i, j, a.D)
		}
	}
	for j, v := range sums {
		c.Data[j*c.Stride+j] += v
	}
	return nil
}

// entriesEntries adds the ka*kb products of each row.
func entriesEntries(c blas64.General, a, b entries, w []float64) error {
	for i := range a.rows() {
		ia, va, err := a.row(i)
		if err != nil {
			return err
		}
		ib, vb, err := b.row(i)
		if err != nil {
			return err
		}
		wi := weight(w, i)
		if len(ib) == 4 && vb != nil {
			j0, j1, j2, j3 := uint(ib[0]), uint(ib[1]), uint(ib[2]), uint(ib[3])
			v0, v1, v2, v3 := vb[0], vb[1], vb[2], vb[3]
			for l, ja := range ia {
				f := wi * at(va, l)
				row := c.Data[int(ja)*c.Stride:][:b.d]
				row[j0] += f * v0
				row[j1] += f * v1
				row[j2] += f * v2
				row[j3] += f * v3
			}
			continue
		}
		for l, ja := range ia {
			addEntries(c.Data[int(ja)*c.Stride:][:b.d], ib, vb, wi*at(va, l))
		}
	}
	return nil
}

// addEntries adds f times the entries to row.
func addEntries(row []float64, index []int32, value []float64, f float64) {
	if value == nil {
		for _, j := range index {
			row[j] += f
		}
		return
	}
	value = value[:len(index)]
	for m, j := range index {
		row[j] += f * value[m]
	}
}

// entriesGram adds the k(k+1)/2 different products of each row, those off the
// diagonal in both places: cheaper than copying a triangle of wide columns.
func entriesGram(c blas64.General, a entries, w []float64) error {
	for i := range a.rows() {
		index, value, err := a.row(i)
		if err != nil {
			return err
		}
		wi := weight(w, i)
		for l, jl := range index {
			wv := wi * at(value, l)
			row := c.Data[int(jl)*c.Stride:][:a.d]
			for m, jm := range index[:l] {
				v := wv * value[m]
				row[jm] += v
				c.Data[int(jm)*c.Stride+int(jl)] += v
			}
			row[jl] += wv * at(value, l)
		}
	}
	return nil
}

// entriesDense adds multiples of b's rows to the rows of c that a points at, which
// for a row without an entry are none.
func (k *Work) entriesDense(c blas64.General, a entries, b blas64.General, w []float64) error {
	if a.band != nil {
		return bandRows(c, a, b, w)
	}
	factor := k.factors(a, w)
	for done := 0; ; done++ {
		var f []float64
		if factor != nil {
			f = factor[done*a.k:]
		}
		n := b.Rows - done
		if n == 0 {
			return nil
		}
		done += kernel.ScatterRows(c.Data, c.Stride, a.d, a.index[done*a.k:], a.k, f, b.Data[done*b.Stride:], b.Stride, b.Cols, n)
		if done == b.Rows {
			return nil
		}
		if _, _, err := a.row(done); err != nil {
			return err
		}
	}
}

// bandRows is entriesDense for bands that are not of four.
func bandRows(c blas64.General, a entries, b blas64.General, w []float64) error {
	for i := range a.rows() {
		index, value, err := a.row(i)
		if err != nil {
			return err
		}
		wi := weight(w, i)
		rb := b.Data[i*b.Stride:][:b.Cols]
		for l, ja := range index {
			kernel.Axpy(c.Data[int(ja)*c.Stride:][:len(rb)], rb, wi*value[l])
		}
	}
	return nil
}

// denseEntries is entriesDense transposed.
func denseEntries(c blas64.General, a blas64.General, b entries, w []float64) error {
	for i := range a.Rows {
		index, value, err := b.row(i)
		if err != nil {
			return err
		}
		wi := weight(w, i)
		ra := a.Data[i*a.Stride:][:a.Cols]
		for m, jb := range index {
			wb := wi * at(value, m)
			to := int(jb)
			for _, v := range ra {
				c.Data[to] += wb * v
				to += c.Stride
			}
		}
	}
	return nil
}
