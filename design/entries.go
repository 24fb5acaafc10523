package design

import "gonum.org/v1/gonum/blas/blas64"

// entries is the common form of sparse and coded columns: k entries in each
// row; a nil value means ones. With skip a negative index means no entry.
type entries struct {
	kind  string
	d, k  int
	index []int32
	value []float64
	skip  bool
}

func entriesOf(a Columns) entries {
	switch a := a.(type) {
	case *Sparse:
		return entries{kind: "sparse", d: a.D, k: a.K, index: a.Index, value: a.Value}
	case *Codes:
		return entries{kind: "coded", d: a.D, k: 1, index: a.Code, value: a.Value, skip: true}
	}
	return entries{k: 1}
}

func (e entries) rows() int { return len(e.index) / e.k }

func (e entries) at(l int) float64 {
	if e.value == nil {
		return 1
	}
	return e.value[l]
}

// outside reports whether entry l is to be skipped; if it is in no column at
// all that is an error. Callers ask only for indices outside 0..d-1.
func (e entries) outside(l int) error {
	if e.skip && e.index[l] < 0 {
		return nil
	}
	return indexError(e.kind, l/e.k, e.index[l], e.d)
}

func weight(w []float64, i int) float64 {
	if w == nil {
		return 1
	}
	return w[i]
}

// table adds the weighted contingency table of two codes.
func table(c blas64.General, a, b *Codes, w []float64) error {
	ea, eb := entriesOf(a), entriesOf(b)
	for i, ja := range a.Code {
		jb := b.Code[i]
		if uint(ja) >= uint(a.D) {
			if err := ea.outside(i); err != nil {
				return err
			}
			continue
		}
		if uint(jb) >= uint(b.D) {
			if err := eb.outside(i); err != nil {
				return err
			}
			continue
		}
		v := weight(w, i)
		if a.Value != nil {
			v *= a.Value[i]
		}
		if b.Value != nil {
			v *= b.Value[i]
		}
		c.Data[int(ja)*c.Stride+int(jb)] += v
	}
	return nil
}

// entriesEntries adds the ka*kb products of each row.
func entriesEntries(c blas64.General, a, b entries, w []float64) error {
	if b.k == cubic && b.value != nil && a.value != nil {
		return entriesCubic(c, a, b, w)
	}
	n := a.rows()
	for i := range n {
		wi := weight(w, i)
		first := i * b.k
		ib := b.index[first : first+b.k]
		var vb []float64
		if b.value != nil {
			vb = b.value[first : first+b.k]
		}
		for l := i * a.k; l < (i+1)*a.k; l++ {
			ja := a.index[l]
			if uint(ja) >= uint(a.d) {
				if err := a.outside(l); err != nil {
					return err
				}
				continue
			}
			row := c.Data[int(ja)*c.Stride:][:b.d]
			if m := addEntries(row, ib, vb, wi*a.at(l)); m >= 0 {
				if err := b.outside(first + m); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// cubic is the number of B-splines of degree 3 that are not 0 at a point: the
// case that smooth terms are made of.
const cubic = 4

// entriesCubic is entriesEntries with the loop over b's entries written out.
func entriesCubic(c blas64.General, a, b entries, w []float64) error {
	for i := range a.rows() {
		wi := weight(w, i)
		ib, vb := b.index[i*cubic:][:cubic], b.value[i*cubic:][:cubic]
		j0, j1, j2, j3 := uint(ib[0]), uint(ib[1]), uint(ib[2]), uint(ib[3])
		v0, v1, v2, v3 := vb[0], vb[1], vb[2], vb[3]
		if d := uint(b.d); j0 >= d || j1 >= d || j2 >= d || j3 >= d {
			for m, j := range ib {
				if uint(j) >= d {
					return b.outside(i*cubic + m)
				}
			}
		}
		va := a.value[i*a.k:][:a.k]
		for l, ja := range a.index[i*a.k:][:a.k] {
			if uint(ja) >= uint(a.d) {
				if err := a.outside(i*a.k + l); err != nil {
					return err
				}
				continue
			}
			f := wi * va[l]
			row := c.Data[int(ja)*c.Stride:][:b.d]
			row[j0] += f * v0
			row[j1] += f * v1
			row[j2] += f * v2
			row[j3] += f * v3
		}
	}
	return nil
}

// addEntries adds f times the entries to row. Of an entry outside the row it
// returns the position, else -1. The entries after it are left out, which is
// right for codes (there are none) and an error for sparse columns.
func addEntries(row []float64, index []int32, value []float64, f float64) int {
	if value == nil {
		for m, j := range index {
			if uint(j) >= uint(len(row)) {
				return m
			}
			row[j] += f
		}
		return -1
	}
	value = value[:len(index)]
	for m, j := range index {
		if uint(j) >= uint(len(row)) {
			return m
		}
		row[j] += f * value[m]
	}
	return -1
}

// entriesGram adds the k(k+1)/2 different products of each row, those off the
// diagonal in both places: cheaper than copying a triangle of wide columns.
func entriesGram(c blas64.General, a entries, w []float64) error {
	for i := range a.rows() {
		wi := weight(w, i)
		first := i * a.k
		index := a.index[first : first+a.k]
		value := a.value[first : first+a.k]
		for l, jl := range index {
			if uint(jl) >= uint(a.d) {
				return a.outside(first + l)
			}
			wv := wi * value[l]
			row := c.Data[int(jl)*c.Stride:][:a.d]
			for m, jm := range index[:l] {
				v := wv * value[m]
				row[jm] += v
				c.Data[int(jm)*c.Stride+int(jl)] += v
			}
			row[jl] += wv * value[l]
		}
	}
	return nil
}

// entriesDense adds multiples of b's rows to the rows of c that a points at.
func entriesDense(c blas64.General, a entries, b blas64.General, w []float64) error {
	for i := range a.rows() {
		wi := weight(w, i)
		rb := b.Data[i*b.Stride:][:b.Cols]
		for l := i * a.k; l < (i+1)*a.k; l++ {
			ja := a.index[l]
			if uint(ja) >= uint(a.d) {
				if err := a.outside(l); err != nil {
					return err
				}
				continue
			}
			wa := wi * a.at(l)
			row := c.Data[int(ja)*c.Stride:][:len(rb)]
			for j, v := range rb {
				row[j] += wa * v
			}
		}
	}
	return nil
}

// denseEntries is entriesDense transposed.
func denseEntries(c blas64.General, a blas64.General, b entries, w []float64) error {
	for i := range a.Rows {
		wi := weight(w, i)
		ra := a.Data[i*a.Stride:][:a.Cols]
		for m := i * b.k; m < (i+1)*b.k; m++ {
			jb := b.index[m]
			if uint(jb) >= uint(b.d) {
				if err := b.outside(m); err != nil {
					return err
				}
				continue
			}
			wb := wi * b.at(m)
			at := int(jb)
			for _, v := range ra {
				c.Data[at] += wb * v
				at += c.Stride
			}
		}
	}
	return nil
}
