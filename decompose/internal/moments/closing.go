package moments

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Moments closes the chunk and returns what it holds, centred; it shares nothing
// with the chunk but the layout.
func (b *Chunk) Moments() *Moments {
	m := b.MomentsInto(nil)
	m.fill()
	return m
}

// MomentsInto is Moments for Sum.Add, whose products are packed. It takes the memory of old, moments that nobody
// reads any more (Spare), unless that is nil or of another layout.
func (b *Chunk) MomentsInto(old *Moments) *Moments {
	b.closed = true
	m := old
	fresh := m == nil || !m.Layout.Equal(b.layout)
	if fresh {
		m = blank(b.layout, b.pairs)
	}
	if b.err != nil || b.sum == nil {
		m.reset()
		return m
	}
	if b.stack == nil {
		// The panel's columns and rows were checked by Add.
		_ = b.flush()
	}
	if b.sumW == 0 || b.stack != nil && !fresh { // else all of it is overwritten
		m.reset()
	}
	m.Rows, m.Positive, m.SumW, m.SumLogW = b.rows, b.positive, b.sumW, b.sumLogW
	copy(m.Sum, b.sum)
	copy(m.MaxRowNorm, b.norm)
	if b.sumW == 0 {
		return m
	}
	if b.stack != nil {
		b.stack.centre(m)
		return m
	}
	b.centre(m)
	return m
}

// block are the products of a joined basis with another, or with some side by side: rows of few numbers take as
// long as the calls for them.
type block struct {
	pair        // b is the first of the neighbours, dimB the columns of all of them
	turned bool // the products are held by columns
	sums   *mat.Dense
}

// place makes room for the products of joined bases, of which some are swapped.
func (b *Chunk) place(swapped func(pair) bool) {
	b.own, b.blocks, b.views = nil, nil, make([]*mat.Dense, len(b.joined))
	for u, from := range b.panel.off[1:] {
		b.own = append(b.own, band{n: from - b.panel.off[u]})
	}
	for _, q := range b.joined {
		next := block{pair: q, turned: swapped(q)}
		if q.a == q.b {
			continue
		}
		if n := len(b.blocks); n > 0 && !next.turned {
			if last := &b.blocks[n-1]; !last.turned && last.a == q.a && last.offB+last.dimB == q.offB {
				last.dimB += q.dimB
				continue
			}
		}
		b.blocks = append(b.blocks, next)
	}
	for i := range b.blocks {
		c := &b.blocks[i]
		if c.turned {
			c.sums = rectangle(c.dimB, c.dimA)
		} else {
			c.sums = rectangle(c.dimA, c.dimB)
		}
	}
	at := 0
	for i, q := range b.joined {
		if q.a == q.b {
			continue
		}
		for c := b.blocks[at]; q.a != c.a || q.offB >= c.offB+c.dimB; c = b.blocks[at] {
			at++
		}
		c := b.blocks[at]
		if b.views[i] = c.sums; c.turned {
			b.joined[i] = pair{q.b, q.a, q.offB, q.offA, q.dimB, q.dimA}
		} else {
			b.views[i] = c.sums.Slice(0, q.dimA, q.offB-c.offB, q.offB-c.offB+q.dimB).(*mat.Dense)
		}
	}
	b.order = make([]int, len(b.joined))
	for i := range b.order {
		b.order[i] = i
	}
	slices.SortStableFunc(b.order, func(i, j int) int { return atOnce(b.joined[i].a, b.joined[i].b, b.joined[j].a, b.joined[j].b) })
}

// atOnce orders pairs of bases so that those of basesAtOnce of them are neighbours, one after the other with each basis.
func atOnce(a, b, c, d int) int {
	a, b, c, d = min(a, b), max(a, b), min(c, d), max(c, d)
	return cmp.Or(a/basesAtOnce-c/basesAtOnce, b-d, a-c)
}

// widths are the widths for the products of bases with themselves.
func (b *Chunk) widths() []int {
	width := make([]int, len(b.layout.Bases))
	for a, basis := range b.layout.Bases {
		own := b.own[b.panel.of[a]]
		if width[a] = heldWidth(max(own.width, 1), basis.Dim); own.width == own.n {
			width[a] = basis.Dim
		}
	}
	return width
}

// centre turns sums about the shift into sums about the mean: with d the mean of
// the shifted column, sum w (x - d)(y - e) = sum w x y - W d e.
func (b *Chunk) centre(m *Moments) {
	resp := b.layout.Responses
	xr, rr := b.xr.RawMatrix(), b.rr.RawMatrix()
	d, e := make([]float64, len(m.Mean)), make([]float64, resp)
	for j := range d {
		d[j] = xr.Data[j*xr.Stride+resp] / b.sumW
		m.Mean[j], m.low[j] = twoSum(b.shift[j], d[j])
	}
	for k := range e {
		e[k] = rr.Data[k*rr.Stride+resp] / b.sumW
		m.MeanR[k], m.lowR[k] = twoSum(b.shiftR[k], e[k])
	}
	m.held, m.XX = m.held.sized(b.off, b.widths()), unpacked()
	for _, q := range b.joined {
		if q.a == q.b {
			b.centreOwn(m.held, &b.own[q.a], q.offA, d)
		}
	}
	for _, c := range b.blocks {
		sums := c.sums.RawMatrix()
		for i := range c.dimA {
			s := xr.Data[(c.offA+i)*xr.Stride+resp]
			dst := m.held.rest(c.offA+i, c.offB, c.offB+c.dimB)
			mean := d[c.offB:][:len(dst)]
			if c.turned {
				for l := range dst {
					dst[l] = sums.Data[l*sums.Stride+i] - s*mean[l]
				}
				continue
			}
			copy(dst, sums.Data[i*sums.Stride:])
			kernel.Axpy(dst, mean, -s)
		}
	}
	for k := range e {
		for j := range d {
			m.XR.Set(j, k, xr.Data[j*xr.Stride+k]-xr.Data[j*xr.Stride+resp]*e[k])
		}
		s := rr.Data[k*rr.Stride+resp]
		m.RR.SetSym(k, k, max(rr.Data[k*rr.Stride+k]-s*e[k], 0))
		for l := k + 1; l < resp; l++ {
			m.RR.SetSym(k, l, rr.Data[k*rr.Stride+l]-s*e[l])
		}
	}
}

// centreOwn does so for the products of the joined basis whose columns begin at off.
func (b *Chunk) centreOwn(to *packed, own *band, off int, d []float64) {
	xr, resp := b.xr.RawMatrix(), b.layout.Responses
	for i := range own.n {
		s := xr.Data[(off+i)*xr.Stride+resp]
		dst := to.rowTo(off+i, off+own.n)
		from := own.upper(i)
		clear(dst[copy(dst, from):])
		mean := d[off+i:][:len(dst)]
		dst[0] = max(from[0]-s*mean[0], 0)
		kernel.Axpy(dst[1:], mean[1:], -s)
	}
}
