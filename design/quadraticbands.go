package design

import "github.com/pho-go/pho/internal/kernel"

// bandWork is what forms with cubic bands need.
type bandWork struct {
	one    []float64 // ones
	part   []float64 // of the form, at the rows
	table  []float64 // products of the rows' dense columns with all columns of a basis
	across []*kernel.Weights[float64]
}

// ones are n of them.
func (k *QuadraticWork) ones(n int) []float64 {
	for len(k.band.one) < n {
		k.band.one = append(k.band.one, 1)
	}
	return k.band.one[:n]
}

// addBands adds the products of bands with each other, with their means and with the dense
// columns.
func (k *QuadraticWork) addBands(dst []float64, x []Columns) {
	if k.bands == 0 {
		return
	}
	k.band.part = grown(k.band.part, len(dst))
	off, p := k.band.part, len(k.of.mean)
	clear(off)
	for b, c := range x {
		if !k.isBand(b, c) {
			continue
		}
		own, start := c.(*Banded), k.of.starts[b]
		for o, c := range x[:b] {
			if k.isBand(o, c) {
				other, at := c.(*Banded), k.of.starts[o]
				kernel.AddBilinear(off, k.of.data[start*p+at:(start+own.D-1)*p+at+other.D], p, own.D, other.D, own.First, own.Value, other.First, other.Value)
			}
		}
	}
	kernel.Axpy(dst, off, 2)
	for b, c := range x {
		if !k.isBand(b, c) {
			continue
		}
		own, start := c.(*Banded), k.of.starts[b]
		kernel.AddBilinear(dst, k.of.data[start*p+start:(start+own.D-1)*p+start+own.D], p, own.D, own.D, own.First, own.Value, own.First, own.Value)
		kernel.MulBand(off, own.First, own.Value, k.linear[start:start+own.D])
		kernel.Add(dst, dst, off)
		if k.width > 0 {
			k.addAcross(dst, own, b)
		}
	}
}

// isBand tells whether basis b goes entry by entry, in cubic bands.
func (k *QuadraticWork) isBand(b int, c Columns) bool { return k.thin[b] && straight(c) }

// addAcross adds 2 s'C_sd d of the bands s of basis b and the dense columns d: first C_sd d,
// then its products with the bands.
func (k *QuadraticWork) addAcross(dst []float64, x *Banded, b int) {
	if k.band.across == nil {
		k.band.across = make([]*kernel.Weights[float64], len(k.thin))
	}
	if k.band.across[b] == nil {
		k.band.across[b] = kernel.Pack(k.width, x.D, k.crossOf(b), false)
	}
	n := len(dst)
	k.band.table = grown(k.band.table, n*x.D)
	table := k.band.table
	k.band.across[b].Mul(table, x.D, k.rows, k.width, n, nil)
	for i, first := range x.First {
		dst[i] += dot4((*[4]float64)(table[i*x.D+int(first):]), (*[4]float64)(x.Value[4*i:]))
	}
}

// crossOf is 2 C_ds, the dense columns by those of basis b.
func (k *QuadraticWork) crossOf(b int) []float64 {
	lo, hi := k.of.starts[b], k.of.starts[b+1]
	out := make([]float64, 0, k.width*(hi-lo))
	for d := range k.width {
		for j := lo; j < hi; j++ {
			out = append(out, k.cross.At(j, d))
		}
	}
	return out
}
