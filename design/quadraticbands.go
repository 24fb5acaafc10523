package design

import "github.com/pho-go/pho/internal/base/kernel"

// bandWork is what forms with cubic bands need.
type bandWork struct {
	one   []float64 // ones
	part  []float64 // of the form, at the rows
	table []float64 // products of the rows' bands with C_sd
	list  []formBand
	count int        // of the list
	rows  []occupied // by basis: memory for bands that nobody arranged
}

// formBand are four entries of each row, which begin in a column of C. It may stand for several
// bases next to each other of which no row has entries that are not 0 in two: smooths by the
// levels of a factor. What is left out are zeros, so that each sum has the same bits.
type formBand struct {
	first []int32
	value []float64
	set   []uint64  // the rows that are not 0, as in occupied; nil: they may be all
	own   []float64 // memory for values of several bases,
	sets  []uint64  // and for their rows
	two   bool      // as of Banded
}

func (k *QuadraticWork) listBands(x []Columns) {
	w := &k.band
	w.count = 0
	for b, c := range x {
		if !k.isBand(b, c) {
			continue
		}
		start, own := int32(k.of.starts[b]), c.(*Banded)
		rows := w.rowsOf(b, own)
		if w.count > 0 && w.list[w.count-1].take(start, own, rows) {
			continue
		}
		if w.count == len(w.list) {
			w.list = append(w.list, formBand{})
		}
		w.list[w.count].put(start, own, rows)
		w.count++
	}
}

// rowsOf are the rows of basis b that are not 0; nil: all.
func (w *bandWork) rowsOf(b int, x *Banded) *occupied {
	if x.occupied != nil {
		return x.occupied
	}
	for len(w.rows) <= b {
		w.rows = append(w.rows, occupied{})
	}
	if o := &w.rows[b]; o.find(len(x.First), x.Value, x.K) {
		pickBand(&o.band, x, o.rows)
		return o
	}
	return nil
}

// isBand tells whether basis b goes entry by entry, in cubic bands.
func (k *QuadraticWork) isBand(b int, c Columns) bool { return k.thin[b] && straight(c) }

func (f *formBand) put(start int32, x *Banded, rows *occupied) {
	f.first, f.value, f.set, f.two = grown(f.first, len(x.First)), x.Value, nil, x.two
	for i, first := range x.First {
		f.first[i] = start + first
	}
	if rows != nil {
		f.sets = append(f.sets[:0], rows.set...)
		f.set = f.sets
	}
}

// take takes in x, unless a row may have entries in both.
func (f *formBand) take(start int32, x *Banded, rows *occupied) bool {
	if f.set == nil || rows == nil || !apart(f.set, rows.set) {
		return false
	}
	if len(f.own) == 0 || &f.value[0] != &f.own[0] {
		f.own = append(f.own[:0], f.value...)
		f.value = f.own
	}
	for l, i := range rows.rows {
		f.first[i] = start + rows.band.First[l]
		*(*[kernel.Band]float64)(f.own[kernel.Band*i:]) = *(*[kernel.Band]float64)(rows.band.Value[kernel.Band*l:])
	}
	for i, word := range rows.set {
		f.set[i] |= word
	}
	return true
}

// ones are n of them.
func (k *QuadraticWork) ones(n int) []float64 {
	for len(k.band.one) < n {
		k.band.one = append(k.band.one, 1)
	}
	return k.band.one[:n]
}

// bandsAtOnce are multiplied with each other before the next come: their rows, which may be thousands, stay in the second cache.
const bandsAtOnce = 4

// addBands adds the products of bands with each other, with their means and with the dense
// columns.
func (k *QuadraticWork) addBands(dst []float64) {
	w := &k.band
	list := w.list[:w.count]
	if len(list) == 0 {
		return
	}
	w.part = grown(w.part, len(dst))
	off, c, stride, p := w.part, k.of.data, k.of.stride, len(k.of.mean)
	clear(off)
	for lo := 0; lo < len(list); lo += bandsAtOnce {
		for b := lo + 1; b < len(list); b++ {
			own := &list[b]
			for _, other := range list[lo:min(b, lo+bandsAtOnce)] {
				if own.two && other.two {
					own.addTwos(off, c, stride, &other)
					continue
				}
				kernel.AddBilinear(off, c, stride, p, p, own.first, own.value, other.first, other.value)
			}
		}
	}
	kernel.Axpy(dst, off, 2)
	for _, own := range list {
		if own.two {
			own.addTwos(dst, c, stride, &own)
		} else {
			kernel.AddBilinear(dst, c, stride, p, p, own.first, own.value, own.first, own.value)
		}
		kernel.MulBand(off, own.first, own.value, k.linear)
		kernel.Add(dst, dst, off)
		if k.width > 0 {
			k.addAcross(dst, own)
		}
	}
}

// addTwos adds the products of two entries of each row with two others.
func (f *formBand) addTwos(dst, c []float64, stride int, other *formBand) {
	first, second := f.first[:len(dst)], other.first[:len(dst)]
	for i := range dst {
		u, v := (*[2]float64)(f.value[kernel.Band*i:]), (*[2]float64)(other.value[kernel.Band*i:])
		at := int(first[i])*stride + int(second[i])
		upper, lower := (*[2]float64)(c[at:]), (*[2]float64)(c[at+stride:])
		dst[i] += u[0]*(v[0]*upper[0]+v[1]*upper[1]) + u[1]*(v[0]*lower[0]+v[1]*lower[1])
	}
}

// addAcross adds 2 s'C_sd d of the bands s and the dense columns d.
func (k *QuadraticWork) addAcross(dst []float64, s formBand) {
	n, cross := len(dst), k.cross.RawMatrix()
	k.dots, k.band.table = grown(k.dots, n), grown(k.band.table, n*k.width)
	kernel.MulBandRows(k.band.table, k.width, s.first, s.value, cross.Data, cross.Stride, cross.Rows, k.width)
	kernel.RowDots(k.dots, k.band.table, k.width, n, nil, k.rows, k.width, k.width)
	kernel.Add(dst, dst, k.dots)
}

// addRows adds the products of the bands with twice factors of rows of c.
func (f *formBand) addRows(dst []float64, c *lean, row []int32, factor []float64) {
	hi, gap := int32(c.hi), int32(c.hi-c.lo)
	for i, first := range f.first {
		if first >= hi {
			first -= gap
		}
		dst[i] += 2 * factor[i] * dot4((*[4]float64)(c.data[int(row[i])*c.stride+int(first):]), (*[4]float64)(f.value[4*i:]))
	}
}

func dot4(a, b *[4]float64) float64 { return (a[0]*b[0] + a[1]*b[1]) + (a[2]*b[2] + a[3]*b[3]) }
