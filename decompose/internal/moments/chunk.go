package moments

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/kernel"
)

// panelRows to maxPanel rows are gathered before their products are formed, see
// panelLimit. Panels are filled from the chunk's first row on, so sums do not depend
// on how the rows were cut into calls of Add, whatever the order of summation
// inside a product.
const (
	panelRows = 256
	maxPanel  = 4096
	// PiecesRows are gathered of interpolated columns, if a chunk has as many.
	PiecesRows = 16384
)

// Chunk accumulates the moments of consecutive rows: one chunk, or any
// run of rows. It is meant for one goroutine. In steady state Add allocates
// nothing.
type Chunk struct {
	layout Layout
	err    error // the layout's fault
	off    []int
	pairs  []pair
	closed bool // Moments were taken

	rows, positive int64
	sumW, sumLogW  float64
	sum, norm      []float64
	row            []float64 // of one basis
	norms          []float64 // of the rows of one Add

	// Dense columns and responses are summed about the first panel's means.
	shifted       bool
	shift, shiftR []float64

	// Accumulators, nil before the first Add. The last response is 1, so that
	// the sums of the columns are products like any others.
	xr *mat.Dense // p x (R+1)
	rr *mat.Dense // (R+1) x (R+1)

	// Products are formed between joined bases; which bases are joined is
	// decided by the chunk's first rows.
	started bool
	kinds   []kind // of the bases' first rows
	joined  []pair
	order   []int        // of joined: that of their products
	own     []band       // products of joined bases with themselves,
	blocks  []block      // and with others
	views   []*mat.Dense // of own and blocks, by joined pairs
	rViews  []*mat.Dense // xr by joined bases
	sViews  []*mat.Dense // sum by bases
	panel   panel
	work    design.Work
	part    mat.Dense      // products of a panel that are needed twice
	with    []design.Dense // of products that are added up together, and where they go
	to      []*mat.Dense

	stack *stack // with Layout.Factor, instead of all of the above but the counts
}

// NewChunk returns an empty chunk. A faulty layout is reported by Add.
func NewChunk(l Layout) *Chunk {
	b := &Chunk{layout: l.clone(), err: l.Check(), off: l.offsets(), pairs: l.meeting()}
	if l.Factor && b.err == nil {
		b.stack = newStack(b.layout)
	}
	return b
}

func (b *Chunk) allocate() {
	p, r := b.layout.Columns(), b.layout.Responses
	b.sum, b.row, b.norm = make([]float64, p), make([]float64, p), make([]float64, len(b.layout.Bases))
	if b.stack != nil {
		b.stack.allocate()
		return
	}
	b.shift, b.shiftR = make([]float64, p), make([]float64, r+1)
	b.xr, b.rr = rectangle(p, r+1), rectangle(r+1, r+1)
}

// kind is what decides how the rows of a basis are stored and multiplied.
type kind struct {
	dense  bool
	form   string
	k      int
	cyclic bool
}

func kindOf(c design.Columns) kind {
	switch s := c.(type) {
	case *design.Sparse:
		return kind{!thin(c), "sparse", s.K, false}
	case *design.Banded:
		return kind{!thin(c), "banded", s.K, s.Cyclic}
	case *design.Product:
		return kind{!thin(c), "product", s.A.D, false}
	case *design.Codes:
		return kind{!thin(c), "codes", 1, false}
	case *design.Interpolated:
		return kind{true, "interpolated", s.Parts[0].Band.D, false}
	}
	_, d := c.Dims()
	return kind{dense: !thin(c), form: "dense", k: d}
}

// start decides by the chunk's first rows which bases are joined and how many rows
// are gathered.
func (b *Chunk) start(x []design.Columns) {
	b.started = true
	same := b.kinds != nil
	if !same {
		b.kinds = make([]kind, len(x))
	}
	for a, c := range x {
		k := kindOf(c)
		same = same && k == b.kinds[a]
		b.kinds[a] = k
	}
	if same {
		return
	}
	dense := make([]bool, len(x))
	for a, k := range b.kinds {
		dense[a] = k.dense
	}
	fused, of := b.layout.fuse(dense)
	off := fused.offsets()
	forms := make([]design.Columns, len(fused.Bases)) // one of each joined basis
	for a, u := range of {
		forms[u] = x[a]
		if dense[a] {
			forms[u] = design.Dense{}
		}
	}
	b.joined, b.rViews, b.sViews = fused.meeting(), nil, nil
	for u := range fused.Bases {
		b.rViews = append(b.rViews, b.xr.Slice(off[u], off[u+1], 0, b.layout.Responses+1).(*mat.Dense))
	}
	for a, basis := range b.layout.Bases {
		b.sViews = append(b.sViews, mat.NewDense(basis.Dim, 1, b.sums(a)))
	}
	b.panel = newPanel(fused, of, b.off, panelLimit(x, b.layout))
	b.place(func(q pair) bool { return design.Swapped(forms[q.a], forms[q.b]) })
}

// Reset empties the chunk for reuse; its memory is kept.
func (b *Chunk) Reset() {
	clean := b.rows == 0
	b.rows, b.positive, b.sumW, b.sumLogW = 0, 0, 0, 0
	b.closed, b.shifted, b.started = false, false, false
	if b.sum == nil || clean {
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
	for u := range b.own {
		b.own[u].empty()
	}
	for _, c := range b.blocks {
		c.sums.Zero()
	}
	b.xr.Zero()
	b.rr.Zero()
	b.panel.reset()
}

// Add adds n rows: x holds one n x d Columns for each basis of the layout, w (n)
// their weights, finite and >= 0 (nil: ones), r (n x R) the responses (nil only
// if R is 0). The operands are read, not kept. Rows of weight 0 count in Rows,
// Sum and MaxRowNorm only. Faulty input is an error that names the basis or
// response and the row (counted from the chunk's first row), and adds nothing.
func (b *Chunk) Add(x []design.Columns, w []float64, r *mat.Dense) error {
	if b.err != nil {
		return b.err
	}
	if b.closed {
		return fmt.Errorf("moments: Add to a chunk whose Moments were taken; Reset it first")
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
		if b.stack == nil && !b.panel.accepts(a, c) {
			if err := b.flush(); err != nil {
				return err
			}
			b.panel.store(a, x)
		}
		if b.summedAtOnce(a) {
			if err := b.work.AddSums(b.sums(a), c); err != nil {
				return fmt.Errorf("moments: basis %q: %w", b.layout.Bases[a].Name, err)
			}
		}
		b.norm[a] = max(b.norm[a], b.norms[a])
	}
	for i := 0; i < n; {
		j, err := b.run(x, w, r, i, n)
		if err != nil {
			return err
		}
		i = j
	}
	b.rows += int64(n)
	return nil
}

// run adds rows from i on, as many as have positive weight or all no weight and
// find room, and returns the first that it did not add.
func (b *Chunk) run(x []design.Columns, w []float64, r *mat.Dense, i, n int) (int, error) {
	j := i + 1
	if w != nil && w[i] == 0 {
		b.unweighted(x, i)
		return j, nil
	}
	if b.stack != nil {
		j = n
	} else {
		j = min(n, i+b.panel.limit-b.panel.n)
	}
	if w != nil {
		for l, wi := range w[i:j] {
			if wi == 0 {
				j = i + l
				break
			}
			if wi != 1 {
				b.sumLogW += math.Log(wi)
			}
		}
	}
	b.positive += int64(j - i)
	if b.stack != nil {
		for ; i < j; i++ {
			wi := 1.0
			if w != nil {
				wi = w[i]
			}
			b.sumW += wi
			b.stack.add(x, wi, r, i)
		}
		return j, nil
	}
	b.panel.add(x, w, r, i, j)
	if b.panel.n == b.panel.limit {
		return j, b.flush()
	}
	return j, nil
}

func (b *Chunk) sums(a int) []float64 { return b.sum[b.off[a]:b.off[a+1]] }

// summedAtOnce reports whether Add adds up basis a's columns, which no panel does: of a stack, or in no predictor.
func (b *Chunk) summedAtOnce(a int) bool { return b.stack != nil || b.panel.idle[b.panel.of[a]] }

// unweighted adds row i, which has no weight and misses the panel, to those sums.
func (b *Chunk) unweighted(x []design.Columns, i int) {
	for a, c := range x {
		if b.summedAtOnce(a) {
			continue
		}
		sum := b.sums(a)
		switch c := c.(type) { // a few of many columns
		case *design.Sparse:
			for l, j := range c.Index[i*c.K:][:c.K] {
				sum[j] += c.Value[i*c.K+l]
			}
			continue
		case *design.Codes:
			if j := c.Code[i]; j >= 0 {
				if c.Value == nil {
					sum[j]++
				} else {
					sum[j] += c.Value[i]
				}
			}
			continue
		}
		row := b.row[:len(sum)]
		design.CopyRow(row, c, i)
		kernel.Add(sum, sum, row)
	}
}

// flush adds the products of the panel's rows and empties it.
func (b *Chunk) flush() error {
	p := &b.panel
	if p.n == 0 {
		return nil
	}
	if !b.shifted {
		p.means(b.shift, b.shiftR)
		b.shifted = true
	}
	w, x, r, ones := p.rows()
	for _, c := range x {
		if c, ok := c.(interface{ Arrange() }); ok {
			c.Arrange()
		}
	}
	if !p.unit { // else products with the responses have the sums
		for a, u := range p.of {
			if p.idle[u] || p.filled(u) {
				continue
			}
			if err := b.work.AddTMul(b.sViews[a], x[u], nil, ones); err != nil {
				return fmt.Errorf("moments: basis %q: %w", b.layout.Bases[a].Name, err)
			}
		}
		p.addUp(b.sum, &b.work)
	}
	p.subtract(x, b.shift, b.shiftR)
	for _, i := range b.order {
		q := b.joined[i]
		if own := &b.own[q.a]; q.a == q.b && own.width < own.n {
			width := own.width
			if own.widen(design.Bandwidth(x[q.a])); own.width > width {
				b.views[i] = matrix(own.general())
			}
		}
		if together(x[q.a], x[q.b]) {
			continue
		}
		if err := b.work.AddCross(b.views[i], x[q.a], x[q.b], w); err != nil {
			return fmt.Errorf("moments: columns from %d and from %d: %w", q.offA, q.offB, err)
		}
	}
	for u, c := range x {
		if p.idle[u] {
			continue
		}
		if err := b.addResponses(u, c, x, w, r); err != nil {
			return fmt.Errorf("moments: columns from %d: %w", p.off[u], err)
		}
	}
	if err := b.work.AddCross(b.rr, r, r, w); err != nil {
		return fmt.Errorf("moments: responses: %w", err)
	}
	if p.unit {
		b.sumW += float64(p.n)
	} else {
		for _, v := range w {
			b.sumW += v
		}
	}
	p.n, p.unit = 0, true
	return nil
}
