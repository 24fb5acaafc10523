package moments

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/kernel"
)

// meanRows is how many rows say about which numbers columns are summed: near their means is enough.
const meanRows = 64

// panel holds rows of positive weight, up to a number of them: copies, because
// dense columns are shifted before their products are formed.
type panel struct {
	of    []int  // the joined basis of each basis
	at    []int  // the first column of each basis in its joined basis
	off   []int  // the first column of each joined basis, then p
	idle  []bool // joined bases in no predictor: they have sums, but no products
	limit int    // rows

	n    int
	w    []float64
	unit bool             // all n weights are 1
	x    []design.Columns // limit rows of each joined basis; nil before the chunk's first row
	r    *mat.Dense       // responses, then a column of ones
	ones *mat.Dense       // that column

	shifts []float64 // what is subtracted from several rows at once
	sums   []float64 // of rows that lie as far apart

	// Stores that earlier chunks allocated, by joined basis. How a basis is
	// stored is decided anew for each chunk: it may not depend on what a worker
	// did before.
	dense    []design.Dense
	sparse   []*design.Sparse
	products []*design.Product
	banded   []*design.Banded
	codes    []*design.Codes
	pieces   []*design.Interpolated
	values   [][]float64 // of codes, which have none while all are 1
}

// newPanel makes a panel for the joined bases of a layout; off are the first
// columns of the bases that of joins.
func newPanel(fused Layout, of, off []int, limit int) panel {
	n := len(fused.Bases)
	p := panel{
		of: of, at: make([]int, len(of)), off: fused.offsets(), limit: limit,
		idle:     make([]bool, n),
		unit:     true,
		w:        make([]float64, limit),
		x:        make([]design.Columns, n),
		r:        mat.NewDense(limit, fused.Responses+1, nil),
		dense:    make([]design.Dense, n),
		sparse:   make([]*design.Sparse, n),
		products: make([]*design.Product, n),
		banded:   make([]*design.Banded, n),
		codes:    make([]*design.Codes, n),
		pieces:   make([]*design.Interpolated, n),
		values:   make([][]float64, n),
	}
	for a, u := range of {
		p.at[a] = off[a] - p.off[u]
	}
	for u, uses := range fused.uses() {
		p.idle[u] = len(uses) == 0
	}
	p.ones = p.r.Slice(0, limit, fused.Responses, fused.Responses+1).(*mat.Dense)
	m := p.r.RawMatrix()
	for i := range limit {
		m.Data[(i+1)*m.Stride-1] = 1
	}
	return p
}

// basesAtOnce is how many bases with few entries in a row are multiplied with each other before the next come. The table
// of a product is cleared and added to the sums once a panel, so a panel should have many rows and be read by many products.
const basesAtOnce = 4

// panelLimit is the number of rows to gather for the columns x of a layout: as many as
// stay in the second cache but for rows that are 0, of basesAtOnce bases if they have few entries in a row, for a table of
// products should be visited often once it is in the first. (Half of it was no faster where the second cache has 1 MB: each
// table is cleared and added up once a panel.) Bases in no predictor are not gathered, and those in none with a response do not count:
// the sums of others have the same bits with them.
func panelLimit(x []design.Columns, l Layout) int {
	cache, most := 2<<20, 32<<20
	if interpolated(x) {
		cache = most
	}
	row, uses := 8*(l.Responses+2), l.uses()
	all := row
	var apart []int // of the rows of bases that are stored each by itself
	for a, c := range x {
		n, d := c.Dims()
		if n == 0 || !slices.ContainsFunc(uses[a], func(k int) bool { return k < l.Responses }) {
			continue
		}
		switch c := c.(type) {
		case *design.Sparse:
			d = 2 * c.K
		case *design.Banded:
			d = c.K + 1
		case *design.Product:
			d = c.A.K + c.B.K + 1
		case *design.Codes:
			d = 2
		case *design.Interpolated:
			d = design.PieceColumns + 1
		}
		own := 8 * d * design.Occupied(c) / n
		if all += 8 * d; thin(c) {
			apart = append(apart, own)
		} else {
			row += own
		}
	}
	slices.Sort(apart)
	for _, own := range apart[max(0, len(apart)-basesAtOnce):] {
		row += own
	}
	limit := maxPanel
	if interpolated(x) {
		limit = PiecesRows
	}
	for limit > panelRows && (limit*row > cache || limit*all > most) {
		limit /= 2
	}
	return limit
}

// interpolated tells whether some columns are, and none is dense: a panel then holds few numbers of a row, and what is made
// of tables of knots by knots is worth many rows.
func interpolated(x []design.Columns) bool {
	some := false
	for _, c := range x {
		switch c.(type) {
		case design.Dense:
			return false
		case *design.Interpolated:
			some = true
		}
	}
	return some
}

func (p *panel) reset() {
	p.n, p.unit = 0, true
	clear(p.x)
}

// fewColumns that are 0 in most rows are better joined with their neighbours: a hundred indicators, say.
const fewColumns = 4

// thin reports whether c is worth keeping sparse. Columns with an entry in
// every place are dense, whatever their type: they need a shift. But a shift would fill rows that are 0, as
// most are of a smooth by one of several levels.
func thin(c design.Columns) bool {
	switch c := c.(type) {
	case design.Dense:
		n, d := c.Dims()
		return d >= fewColumns && 3*design.Occupied(c) <= n
	case *design.Sparse:
		return c.K < c.D
	case *design.Banded:
		return c.K < c.D
	case *design.Product:
		return c.A.K < c.A.D || c.B.K < c.B.D
	case *design.Codes:
		return c.D > 1
	}
	return false
}

// accepts reports whether basis a can take rows of c as it is stored now. A
// dense store takes everything; idle bases are not stored.
func (p *panel) accepts(a int, c design.Columns) bool {
	if p.idle[p.of[a]] {
		return true
	}
	switch s := p.x[p.of[a]].(type) {
	case design.Dense:
		return true
	case *design.Sparse:
		if s.K == s.D {
			_, ok := c.(design.Dense)
			return ok
		}
		c, ok := c.(*design.Sparse)
		return ok && c.K == s.K
	case *design.Banded:
		c, ok := c.(*design.Banded)
		return ok && c.K == s.K && c.Cyclic == s.Cyclic
	case *design.Product:
		c, ok := c.(*design.Product)
		return ok && c.A.D == s.A.D && c.B.D == s.B.D
	case *design.Codes:
		_, ok := c.(*design.Codes)
		return ok
	case *design.Interpolated:
		i, ok := c.(*design.Interpolated)
		return ok && i.Parts[0].Of == s.Parts[p.part(a)].Of
	}
	return false
}

// store makes room for basis a: sparse if its first rows are, dense if later
// rows come in another form. The panel is empty; x are the columns of all bases.
func (p *panel) store(a int, x []design.Columns) {
	c, u := x[a], p.of[a]
	d := p.off[u+1] - p.off[u]
	if p.x[u] == nil && thin(c) {
		switch c := c.(type) {
		case design.Dense:
			if s := p.sparse[u]; s == nil || s.K != d {
				p.sparse[u] = everyColumn(p.limit, d)
			}
			p.x[u] = p.sparse[u]
		case *design.Sparse:
			if s := p.sparse[u]; s == nil || s.K != c.K {
				p.sparse[u] = &design.Sparse{D: d, K: c.K, Index: make([]int32, p.limit*c.K), Value: make([]float64, p.limit*c.K)}
			}
			p.x[u] = p.sparse[u]
		case *design.Banded:
			if s := p.banded[u]; s == nil || s.K != c.K || s.Cyclic != c.Cyclic {
				p.banded[u] = &design.Banded{D: d, K: c.K, Cyclic: c.Cyclic, First: make([]int32, p.limit), Value: make([]float64, p.limit*c.K)}
			}
			p.x[u] = p.banded[u]
		case *design.Product:
			p.products[u] = p.products[u].Sized(p.limit, c.A.D, c.B.D)
			p.x[u] = p.products[u]
		case *design.Codes:
			if p.codes[u] == nil {
				p.codes[u] = &design.Codes{D: d, Code: make([]int32, p.limit)}
			}
			p.codes[u].Value = nil
			p.x[u] = p.codes[u]
		}
		return
	}
	if p.x[u] != nil || !p.storePieces(u, x) {
		p.storeDense(u)
	}
}

// part is which of the bases of its joined basis a is.
func (p *panel) part(a int) int {
	first := a
	for first > 0 && p.of[first-1] == p.of[a] {
		first--
	}
	return a - first
}

// storePieces makes room for rows of joined basis u as they come, if all its bases are functions of a number that are
// linear between knots.
func (p *panel) storePieces(u int, x []design.Columns) bool {
	var of []*design.Pieces
	for a, c := range x {
		if p.of[a] != u {
			continue
		}
		i, ok := c.(*design.Interpolated)
		if !ok || len(i.Parts) != 1 || i.About != nil {
			return false
		}
		of = append(of, i.Parts[0].Of)
	}
	store := p.pieces[u]
	if store == nil || !slices.EqualFunc(store.Parts, of, func(part design.Part, own *design.Pieces) bool { return part.Of == own }) {
		store = &design.Interpolated{}
		for _, own := range of {
			store.Parts = append(store.Parts, own.Part(p.limit))
		}
		p.pieces[u] = store
	}
	p.x[u] = store
	return true
}

// filled tells whether joined basis u is summed about a point: its rows are not mostly 0.
func (p *panel) filled(u int) bool {
	switch p.x[u].(type) {
	case design.Dense, *design.Interpolated:
		return true
	}
	return false
}

// everyColumn are n rows that have an entry in each of d columns.
func everyColumn(n, d int) *design.Sparse {
	s := &design.Sparse{D: d, K: d, Index: make([]int32, n*d), Value: make([]float64, n*d)}
	for i := range s.Index {
		s.Index[i] = int32(i % d)
	}
	return s
}

// storeDense makes room for dense rows of joined basis u.
func (p *panel) storeDense(u int) {
	if p.dense[u].Dense == nil {
		d := p.off[u+1] - p.off[u]
		p.dense[u] = design.Dense{Dense: mat.NewDense(p.limit, d, nil)}
	}
	p.x[u] = p.dense[u]
}

// add copies rows i to j-1 of the operands, which have positive weights w (nil:
// ones). There is room for them.
func (p *panel) add(x []design.Columns, w []float64, r *mat.Dense, i, j int) {
	n, rows := p.n, j-i
	if w == nil {
		fill(p.w[n:n+rows], 1)
	} else {
		for l, wi := range w[i:j] {
			p.unit = p.unit && wi == 1
			p.w[n+l] = wi
		}
	}
	for a, c := range x {
		u := p.of[a]
		switch s := p.x[u].(type) {
		case *design.Interpolated:
			copyBand(&s.Parts[p.part(a)].Band, n, &c.(*design.Interpolated).Parts[0].Band, i, j)
		case design.Dense:
			m := s.RawMatrix()
			copyRows(m.Data[n*m.Stride+p.at[a]:], m.Stride, c, i, j)
		case *design.Sparse:
			if s.K == s.D {
				copyRows(s.Value[n*s.K:], s.K, c, i, j)
				continue
			}
			c := c.(*design.Sparse)
			copy(s.Index[n*s.K:], c.Index[i*s.K:j*s.K])
			copy(s.Value[n*s.K:], c.Value[i*s.K:j*s.K])
		case *design.Banded:
			copyBand(s, n, c.(*design.Banded), i, j)
		case *design.Product:
			c := c.(*design.Product)
			copyBand(s.A, n, c.A, i, j)
			copyBand(s.B, n, c.B, i, j)
		case *design.Codes:
			c := c.(*design.Codes)
			copy(s.Code[n:], c.Code[i:j])
			if n == 0 {
				s.Value = nil
			}
			if c.Value != nil && s.Value == nil {
				if p.values[u] == nil {
					p.values[u] = make([]float64, p.limit)
				}
				s.Value = p.values[u]
				fill(s.Value[:n], 1)
			}
			switch {
			case c.Value != nil:
				copy(s.Value[n:], c.Value[i:j])
			case s.Value != nil:
				fill(s.Value[n:n+rows], 1)
			}
		}
	}
	if r != nil {
		to := p.r.RawMatrix()
		copyRows(to.Data[n*to.Stride:], to.Stride, design.Dense{Dense: r}, i, j)
	}
	p.n += rows
}

func fill(v []float64, x float64) {
	for i := range v {
		v[i] = x
	}
}

// copyBand writes rows i to j-1 of c to those of dst from n on.
func copyBand(dst *design.Banded, n int, c *design.Banded, i, j int) {
	copy(dst.First[n:], c.First[i:j])
	copy(dst.Value[n*dst.K:], c.Value[i*c.K:j*c.K])
}

// copyRows writes rows i to j-1 of c densely to dst.
func copyRows(dst []float64, stride int, c design.Columns, i, j int) {
	_, d := c.Dims()
	if c, ok := c.(design.Dense); ok {
		m := c.RawMatrix()
		if stride == d && m.Stride == d {
			copy(dst, m.Data[i*d:j*d])
			return
		}
		if d == 1 { // a call of copy for each row would take longer
			for l := range j - i {
				dst[l*stride] = m.Data[(i+l)*m.Stride]
			}
			return
		}
		if d == 2 {
			for l := range j - i {
				*(*[2]float64)(dst[l*stride:]) = *(*[2]float64)(m.Data[(i+l)*m.Stride:])
			}
			return
		}
		for l := range j - i {
			copy(dst[l*stride:], m.Data[(i+l)*m.Stride:][:d])
		}
		return
	}
	for l := range j - i {
		design.CopyRow(dst[l*stride:][:d], c, i+l)
	}
}

// means writes the weighted means of the dense columns and the responses over the
// first meanRows rows, taken about the first row so that a constant column has
// exactly its value. Sparse columns keep 0: a shift would fill them.
func (p *panel) means(shift, shiftR []float64) {
	sum := 0.0
	for _, w := range p.w[:min(p.n, meanRows)] {
		sum += w
	}
	for u, c := range p.x {
		switch c := c.(type) {
		case design.Dense:
			p.mean(shift[p.off[u]:p.off[u+1]], c.Dense, sum)
		case *design.Interpolated:
			n, d := min(p.n, meanRows), p.off[u+1]-p.off[u]
			some := mat.NewDense(n, d, nil)
			copyRows(some.RawMatrix().Data, d, c, 0, n)
			p.mean(shift[p.off[u]:p.off[u+1]], some, sum)
		}
	}
	ones := len(shiftR) - 1
	p.mean(shiftR[:ones], p.r, sum)
}

func (p *panel) mean(dst []float64, x *mat.Dense, sum float64) {
	m := x.RawMatrix()
	first, step := m.Data[:len(dst)], make([]float64, len(dst))
	for i := 1; i < min(p.n, meanRows); i++ {
		kernel.Sub(step, m.Data[i*m.Stride:][:len(dst)], first)
		kernel.Axpy(dst, step, p.w[i]/sum)
	}
	kernel.Add(dst, dst, first)
}

// addUp adds the rows of the dense columns to sum, several at a time, for they may be short.
func (p *panel) addUp(sum []float64, work *design.Work) {
	for u, c := range p.x {
		to := sum[p.off[u]:p.off[u+1]]
		if i, ok := c.(*design.Interpolated); ok {
			_ = work.AddSums(to, i.Leading(p.n)) // which were checked
		}
		c, ok := c.(design.Dense)
		if !ok {
			continue
		}
		step := len(to) * max(1, 256/len(to))
		p.sums = slices.Grow(p.sums[:0], step)[:step]
		clear(p.sums)
		for data := c.RawMatrix().Data[:p.n*len(to)]; len(data) > 0; {
			some := data[:min(step, len(data))]
			kernel.Add(p.sums[:len(some)], p.sums[:len(some)], some)
			data = data[len(some):]
		}
		for i, v := range p.sums {
			to[i%len(to)] += v
		}
	}
}

// subtract shifts the rows x of the panel, of columns that are filled, and the responses.
func (p *panel) subtract(x []design.Columns, shift, shiftR []float64) {
	for u, c := range x {
		switch c := c.(type) {
		case design.Dense:
			p.minus(c.Dense, shift[p.off[u]:p.off[u+1]])
		case *design.Interpolated:
			c.About = shift[p.off[u]:p.off[u+1]]
		}
	}
	p.minus(p.r, shiftR[:len(shiftR)-1])
}

func (p *panel) minus(x *mat.Dense, shift []float64) {
	m := x.RawMatrix()
	if m.Stride > len(shift) { // the responses: their last column is 1
		for i := range p.n {
			row := m.Data[i*m.Stride:][:len(shift)]
			for j, s := range shift {
				row[j] -= s
			}
		}
		return
	}
	// Several rows at a time, for rows may be short.
	step := len(shift) * max(1, 1024/len(shift))
	for len(p.shifts) < step {
		p.shifts = append(p.shifts, 0)
	}
	for i := range step {
		p.shifts[i] = shift[i%len(shift)]
	}
	for data := m.Data[:p.n*m.Stride]; len(data) > 0; {
		k := min(step, len(data))
		kernel.Sub(data[:k], data[:k], p.shifts[:k])
		data = data[k:]
	}
}

// rows returns the n rows the panel holds; the weights are nil if all are 1,
// ones is the last column of r.
func (p *panel) rows() (w []float64, x []design.Columns, r design.Dense, ones *mat.Dense) {
	if !p.unit {
		w = p.w[:p.n]
	}
	for _, c := range p.x {
		if c, ok := c.(*design.Interpolated); ok {
			c.About = nil
		}
	}
	if p.n == p.limit {
		return w, p.x, design.Dense{Dense: p.r}, p.ones
	}
	x = make([]design.Columns, len(p.x))
	for a, c := range p.x {
		switch c := c.(type) {
		case design.Dense:
			_, d := c.Dims()
			x[a] = design.Dense{Dense: c.Slice(0, p.n, 0, d).(*mat.Dense)}
		case *design.Sparse:
			x[a] = c.First(p.n)
		case *design.Product:
			x[a] = c.First(p.n)
		case *design.Banded:
			x[a] = c.Leading(p.n)
		case *design.Interpolated:
			x[a] = c.Leading(p.n)
		case *design.Codes:
			s := &design.Codes{D: c.D, Code: c.Code[:p.n]}
			if c.Value != nil {
				s.Value = c.Value[:p.n]
			}
			x[a] = s
		}
	}
	_, d := p.r.Dims()
	return w, x, design.Dense{Dense: p.r.Slice(0, p.n, 0, d).(*mat.Dense)}, p.ones.Slice(0, p.n, 0, 1).(*mat.Dense)
}
