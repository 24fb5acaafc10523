package moments

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// panelRows is the number of rows that are gathered before their products are
// formed. Panels are filled from the block's first row on, so sums do not depend
// on how the rows were cut into calls of Add, whatever the order of summation
// inside a product.
const panelRows = 256

// Block accumulates the moments of consecutive rows: one merge block, or any
// run of rows. It is meant for one goroutine. In steady state Add allocates
// nothing.
type Block struct {
	layout Layout
	err    error // the layout's fault
	off    []int
	pairs  []pair
	closed bool // Moments were taken

	rows, positive int64
	sumW, sumLogW  float64
	sum, norm      []float64

	// Dense columns and responses are summed about the first panel's means.
	shifted       bool
	shift, shiftR []float64

	// Accumulators, nil before the first Add. The last response is 1, so that
	// the sums of the columns are products like any others.
	xx *mat.Dense // p x p, on and above the diagonal blocks
	xr *mat.Dense // p x (R+1)
	rr *mat.Dense // (R+1) x (R+1)

	// Products are formed between joined bases; which bases are joined is
	// decided by the block's first rows.
	started bool
	dense   []bool // bases whose first rows are dense
	joined  []pair
	views   []*mat.Dense // xx by joined pairs
	rViews  []*mat.Dense // xr by joined bases
	panel   panel

	stack *stack // with Layout.Factor, instead of all of the above but the counts
}

// NewBlock returns an empty block. A faulty layout is reported by Add.
func NewBlock(l Layout) *Block {
	b := &Block{layout: l.clone(), err: l.Check(), off: l.offsets(), pairs: l.meeting()}
	if l.Factor && b.err == nil {
		b.stack = newStack(b.layout)
	}
	return b
}

// allocate makes the accumulators.
func (b *Block) allocate() {
	p, r := b.layout.Columns(), b.layout.Responses
	b.sum, b.norm = make([]float64, p), make([]float64, len(b.layout.Bases))
	if b.stack != nil {
		b.stack.allocate()
		return
	}
	b.shift, b.shiftR = make([]float64, p), make([]float64, r+1)
	b.xx, b.xr, b.rr = rectangle(p, p), rectangle(p, r+1), rectangle(r+1, r+1)
}

// start decides by the block's first rows which bases are joined.
func (b *Block) start(x []design.Columns) {
	b.started = true
	same := b.dense != nil
	if !same {
		b.dense = make([]bool, len(x))
	}
	for a, c := range x {
		dense := !thin(c)
		same = same && dense == b.dense[a]
		b.dense[a] = dense
	}
	if same {
		return
	}
	fused, of := b.layout.fuse(b.dense)
	off := fused.offsets()
	b.joined, b.views, b.rViews = fused.meeting(), nil, nil
	for _, q := range b.joined {
		b.views = append(b.views, b.xx.Slice(q.offA, q.offA+q.dimA, q.offB, q.offB+q.dimB).(*mat.Dense))
	}
	for u := range fused.Bases {
		b.rViews = append(b.rViews, b.xr.Slice(off[u], off[u+1], 0, b.layout.Responses+1).(*mat.Dense))
	}
	b.panel = newPanel(fused, of, b.off)
}

// Reset empties the block for reuse; its memory is kept.
func (b *Block) Reset() {
	b.rows, b.positive, b.sumW, b.sumLogW = 0, 0, 0, 0
	b.closed, b.shifted, b.started = false, false, false
	if b.sum == nil {
		return
	}
	clear(b.sum)
	clear(b.norm)
	if b.stack != nil {
		b.stack.reset()
		return
	}
	clear(b.shift)
	clear(b.shiftR)
	b.xx.Zero()
	b.xr.Zero()
	b.rr.Zero()
	b.panel.reset()
}

// Add adds n rows: x holds one n x d Columns for each basis of the layout, w (n)
// their weights, finite and >= 0 (nil: ones), r (n x R) the responses (nil only
// if R is 0). The operands are read, not kept. Rows of weight 0 count in Rows,
// Sum and MaxRowNorm only. Faulty input is an error that names the basis or
// response and the row (counted from the block's first row), and adds nothing.
func (b *Block) Add(x []design.Columns, w []float64, r *mat.Dense) error {
	if b.err != nil {
		return b.err
	}
	if b.closed {
		return fmt.Errorf("moments: Add to a block whose Moments were taken; Reset it first")
	}
	n, err := b.check(x, w, r)
	if err != nil || n == 0 {
		return err
	}
	if b.sum == nil {
		b.allocate()
	}
	if !b.started && b.stack == nil {
		b.start(x)
	}
	for a, c := range x {
		if err := design.AddSums(b.sum[b.off[a]:b.off[a+1]], c); err != nil {
			return fmt.Errorf("moments: basis %q: %w", b.layout.Bases[a].Name, err)
		}
		b.norm[a] = max(b.norm[a], design.MaxRowNorm(c))
		if b.stack == nil && !b.panel.accepts(a, c) {
			if err := b.flush(); err != nil {
				return err
			}
			b.panel.store(a, c)
		}
	}
	for i := range n {
		wi := 1.0
		if w != nil {
			wi = w[i]
		}
		if wi == 0 {
			continue
		}
		b.positive++
		b.sumLogW += math.Log(wi)
		if b.stack != nil {
			b.sumW += wi
			b.stack.add(x, wi, r, i)
			continue
		}
		b.panel.add(x, wi, r, i)
		if b.panel.n == panelRows {
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
	b.rows += int64(n)
	return nil
}

// flush adds the products of the panel's rows and empties it.
func (b *Block) flush() error {
	p := &b.panel
	if p.n == 0 {
		return nil
	}
	if !b.shifted {
		p.means(b.shift, b.shiftR)
		b.shifted = true
	}
	p.subtract(b.shift, b.shiftR)
	w, x, r := p.rows()
	for i, q := range b.joined {
		if err := design.AddCross(b.views[i], x[q.a], x[q.b], w); err != nil {
			return fmt.Errorf("moments: columns from %d and from %d: %w", q.offA, q.offB, err)
		}
	}
	for u, c := range x {
		if err := design.AddTMul(b.rViews[u], c, w, r.Dense); err != nil {
			return fmt.Errorf("moments: columns from %d: %w", p.off[u], err)
		}
	}
	if err := design.AddCross(b.rr, r, r, w); err != nil {
		return fmt.Errorf("moments: responses: %w", err)
	}
	for _, v := range w {
		b.sumW += v
	}
	p.n = 0
	return nil
}

// Moments closes the block and returns what it holds, centred; it shares nothing
// with the block but the layout.
func (b *Block) Moments() *Moments {
	b.closed = true
	m := empty(b.layout, b.pairs)
	if b.err != nil || b.sum == nil {
		return m
	}
	if b.stack == nil {
		// The panel's columns and rows were checked by Add.
		_ = b.flush()
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

// centre turns sums about the shift into sums about the mean: with d the mean of
// the shifted column, sum w (x - d)(y - e) = sum w x y - W d e.
func (b *Block) centre(m *Moments) {
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
	for _, q := range b.pairs {
		for i := q.offA; i < q.offA+q.dimA; i++ {
			s := xr.Data[i*xr.Stride+resp]
			from := q.offB
			if q.a == q.b {
				from = i
				c.Data[i*c.Stride+i] = max(xx.Data[i*xx.Stride+i]-s*d[i], 0)
				from++
			}
			for j := from; j < q.offB+q.dimB; j++ {
				c.Data[i*c.Stride+j] = xx.Data[i*xx.Stride+j] - s*d[j]
			}
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
