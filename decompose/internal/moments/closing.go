package moments

import "github.com/pho-go/pho/internal/kernel"

// Moments closes the chunk and returns what it holds, centred; it shares nothing
// with the chunk but the layout.
func (b *Chunk) Moments() *Moments {
	m := b.MomentsInto(nil)
	m.fill()
	return m
}

// MomentsInto is Moments for Sum.Add: products of a factor's levels with each other are left out of
// XX, to be filled in at the end (apart.go). It takes the memory of old, moments that nobody reads
// any more (Spare), unless that is nil or of another layout.
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
	if !fresh && (b.sumW == 0 || b.stack != nil) { // else all of it is overwritten
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

// block is a pair of bases, or some side by side: of one basis with neighbours.
type block struct {
	pair       // b is the first of the neighbours, dimB the columns of all of them
	below bool // the products stand below the diagonal
}

// blocksOf joins pairs that are side by side: rows of few numbers take as long as the calls for them.
func blocksOf(pairs []pair, below func(pair) bool) []block {
	var blocks []block
	for _, q := range pairs {
		next := block{q, below(q)}
		if n := len(blocks); n > 0 {
			if last := &blocks[n-1]; last.a == q.a && last.offB+last.dimB == q.offB && last.below == next.below {
				last.dimB += q.dimB
				continue
			}
		}
		blocks = append(blocks, next)
	}
	return blocks
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
	xx, c := b.xx.RawMatrix(), m.XX.RawSymmetric()
	clear(m.known)
	for _, q := range b.pairs {
		if q.a == q.b {
			m.open[q.a] = q.dimA > 1 && b.coded[b.panel.of[q.a]]
		}
	}
	for _, q := range b.blocks {
		for i := q.offA; i < q.offA+q.dimA; i++ {
			s := xr.Data[i*xr.Stride+resp]
			from, to := q.offB, q.offB+q.dimB
			if q.a == q.b { // the block begins on the diagonal
				c.Data[i*c.Stride+i] = max(xx.Data[i*xx.Stride+i]-s*d[i], 0)
				if from = i + 1; m.open[q.a] {
					from = q.offA + q.dimA
				}
			}
			dst := c.Data[i*c.Stride:][from:to]
			mean := d[from:to][:len(dst)]
			if q.below {
				for l := range dst {
					dst[l] = xx.Data[(from+l)*xx.Stride+i] - s*mean[l]
				}
				continue
			}
			copy(dst, xx.Data[i*xx.Stride:][from:to])
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
