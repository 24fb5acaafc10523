package moments

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// panel holds up to panelRows rows of positive weight: copies, because dense
// columns are shifted before their products are formed.
type panel struct {
	of  []int // the joined basis of each basis
	at  []int // the first column of each basis in its joined basis
	off []int // the first column of each joined basis, then p

	n int
	w []float64
	x []design.Columns // panelRows rows of each joined basis; nil before the block's first row
	r *mat.Dense       // responses, then a column of ones

	// Stores that earlier blocks allocated, by joined basis. How a basis is
	// stored is decided anew for each block: it may not depend on what a worker
	// did before.
	dense  []design.Dense
	sparse []*design.Sparse
	codes  []*design.Codes
}

// newPanel makes a panel for the joined bases of a layout; off are the first
// columns of the bases that of joins.
func newPanel(fused Layout, of, off []int) panel {
	n := len(fused.Bases)
	p := panel{
		of: of, at: make([]int, len(of)), off: fused.offsets(),
		w:      make([]float64, panelRows),
		x:      make([]design.Columns, n),
		r:      mat.NewDense(panelRows, fused.Responses+1, nil),
		dense:  make([]design.Dense, n),
		sparse: make([]*design.Sparse, n),
		codes:  make([]*design.Codes, n),
	}
	for a, u := range of {
		p.at[a] = off[a] - p.off[u]
	}
	return p
}

func (p *panel) reset() {
	p.n = 0
	clear(p.x)
}

// thin reports whether c is worth keeping sparse. Columns with an entry in
// every place are dense, whatever their type: they need a shift.
func thin(c design.Columns) bool {
	switch c := c.(type) {
	case *design.Sparse:
		return c.K < c.D
	case *design.Codes:
		return c.D > 1
	}
	return false
}

// accepts reports whether basis a can take rows of c as it is stored now. A
// dense store takes everything.
func (p *panel) accepts(a int, c design.Columns) bool {
	switch s := p.x[p.of[a]].(type) {
	case design.Dense:
		return true
	case *design.Sparse:
		c, ok := c.(*design.Sparse)
		return ok && c.K == s.K
	case *design.Codes:
		_, ok := c.(*design.Codes)
		return ok
	}
	return false
}

// store makes room for basis a: sparse if its first rows are, dense if later
// rows come in another form. The panel is empty.
func (p *panel) store(a int, c design.Columns) {
	u := p.of[a]
	d := p.off[u+1] - p.off[u]
	if p.x[u] == nil && thin(c) {
		switch c := c.(type) {
		case *design.Sparse:
			if s := p.sparse[u]; s == nil || s.K != c.K {
				p.sparse[u] = &design.Sparse{D: d, K: c.K, Index: make([]int32, panelRows*c.K), Value: make([]float64, panelRows*c.K)}
			}
			p.x[u] = p.sparse[u]
		case *design.Codes:
			if p.codes[u] == nil {
				p.codes[u] = &design.Codes{D: d, Code: make([]int32, panelRows), Value: make([]float64, panelRows)}
			}
			p.x[u] = p.codes[u]
		}
		return
	}
	if p.dense[u].Dense == nil {
		p.dense[u] = design.Dense{Dense: mat.NewDense(panelRows, d, nil)}
	}
	p.x[u] = p.dense[u]
}

// add copies row i of the operands.
func (p *panel) add(x []design.Columns, w float64, r *mat.Dense, i int) {
	n := p.n
	p.w[n] = w
	for a, c := range x {
		switch s := p.x[p.of[a]].(type) {
		case design.Dense:
			_, d := c.Dims()
			m := s.RawMatrix()
			copyRow(m.Data[n*m.Stride+p.at[a]:][:d], c, i)
		case *design.Sparse:
			c := c.(*design.Sparse)
			copy(s.Index[n*s.K:][:s.K], c.Index[i*s.K:])
			copy(s.Value[n*s.K:][:s.K], c.Value[i*s.K:])
		case *design.Codes:
			c := c.(*design.Codes)
			s.Code[n] = c.Code[i]
			s.Value[n] = 1
			if c.Value != nil {
				s.Value[n] = c.Value[i]
			}
		}
	}
	m := p.r.RawMatrix()
	row := m.Data[n*m.Stride:][:m.Cols]
	if r != nil {
		from := r.RawMatrix()
		copy(row, from.Data[i*from.Stride:][:from.Cols])
	}
	row[len(row)-1] = 1
	p.n++
}

// copyRow writes row i of c densely to dst.
func copyRow(dst []float64, c design.Columns, i int) {
	switch c := c.(type) {
	case design.Dense:
		m := c.RawMatrix()
		copy(dst, m.Data[i*m.Stride:][:m.Cols])
	case *design.Sparse:
		clear(dst)
		for l := i * c.K; l < (i+1)*c.K; l++ {
			dst[c.Index[l]] = c.Value[l]
		}
	case *design.Codes:
		clear(dst)
		if j := c.Code[i]; j >= 0 {
			dst[j] = 1
			if c.Value != nil {
				dst[j] = c.Value[i]
			}
		}
	}
}

// means writes the weighted means of the dense columns and the responses, taken
// about the first row so that a constant column has exactly its value. Sparse
// columns keep 0: a shift would fill them.
func (p *panel) means(shift, shiftR []float64) {
	sum := 0.0
	for _, w := range p.w[:p.n] {
		sum += w
	}
	for u, c := range p.x {
		if c, ok := c.(design.Dense); ok {
			p.mean(shift[p.off[u]:p.off[u+1]], c.Dense, sum)
		}
	}
	ones := len(shiftR) - 1
	p.mean(shiftR[:ones], p.r, sum)
}

func (p *panel) mean(dst []float64, x *mat.Dense, sum float64) {
	m := x.RawMatrix()
	for i := 1; i < p.n; i++ {
		row := m.Data[i*m.Stride:][:len(dst)]
		f := p.w[i] / sum
		for j, v := range row {
			dst[j] += f * (v - m.Data[j])
		}
	}
	for j := range dst {
		dst[j] += m.Data[j]
	}
}

// subtract shifts the dense columns and the responses.
func (p *panel) subtract(shift, shiftR []float64) {
	for u, c := range p.x {
		if c, ok := c.(design.Dense); ok {
			p.minus(c.Dense, shift[p.off[u]:p.off[u+1]])
		}
	}
	p.minus(p.r, shiftR[:len(shiftR)-1])
}

func (p *panel) minus(x *mat.Dense, shift []float64) {
	m := x.RawMatrix()
	for i := range p.n {
		row := m.Data[i*m.Stride:][:len(shift)]
		for j, s := range shift {
			row[j] -= s
		}
	}
}

// rows returns the n rows the panel holds.
func (p *panel) rows() (w []float64, x []design.Columns, r design.Dense) {
	if p.n == panelRows {
		return p.w, p.x, design.Dense{Dense: p.r}
	}
	x = make([]design.Columns, len(p.x))
	for a, c := range p.x {
		switch c := c.(type) {
		case design.Dense:
			_, d := c.Dims()
			x[a] = design.Dense{Dense: c.Slice(0, p.n, 0, d).(*mat.Dense)}
		case *design.Sparse:
			x[a] = &design.Sparse{D: c.D, K: c.K, Index: c.Index[:p.n*c.K], Value: c.Value[:p.n*c.K]}
		case *design.Codes:
			x[a] = &design.Codes{D: c.D, Code: c.Code[:p.n], Value: c.Value[:p.n]}
		}
	}
	_, d := p.r.Dims()
	return p.w[:p.n], x, design.Dense{Dense: p.r.Slice(0, p.n, 0, d).(*mat.Dense)}
}
