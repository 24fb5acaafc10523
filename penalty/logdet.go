package penalty

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// overlap is the total penalty S = sum_j lambda_j S_j of a block with several
// penalties, at one rho. The stack E = [sqrt(lambda_j) root_j] is factored
// E P = Q R with rows sorted by size and columns pivoted, which is backward
// stable row by row (Cox and Higham 1998), so that a penalty with a small lambda
// is not drowned by one with a large lambda. In the coordinates c of
// b = to c, to = P R^-1, the total penalty is the identity and
// sqrt(lambda_j) root_j b = part_j c, part_j being penalty j's rows of Q.
type overlap struct {
	rho    []float64    // log lambda of the block's penalties
	logDet float64      // log|S|
	to     *mat.Dense   // dim x dim
	part   []*mat.Dense // rank_j x dim, in the order of block.penalties
	share  [][]float64  // of a pair: the diagonals of part_j'part_j (dim each); nil: they are not diagonal
}

// overlapOf is the total penalty of a block, which is last (nil: none) if that is at the same lambdas; nil if it is
// singular in floating point.
func (s *system) overlapOf(b *block, rho []float64, last *overlap) *overlap {
	own := make([]float64, len(b.penalties))
	for i, j := range b.penalties {
		own[i] = rho[j]
	}
	if last != nil && slices.Equal(last.rho, own) {
		return last
	}
	var o *overlap
	var ok bool
	if p := s.penalties[b.penalties[0]].pair; p != nil {
		o, ok = p.overlap([2]float64{math.Exp(own[0]), math.Exp(own[1])})
	} else {
		o, ok = s.factorOverlap(b, rho)
	}
	if !ok {
		return nil
	}
	o.rho = own
	return o
}

// factorOverlap returns false if the total penalty is singular in floating
// point.
func (s *system) factorOverlap(b *block, rho []float64) (*overlap, bool) {
	type row struct {
		penalty int // its place in b.penalties
		values  []float64
		norm    float64
	}
	var rows []row
	for place, j := range b.penalties {
		pen := &s.penalties[j]
		f := math.Exp(rho[j] / 2)
		for i := range pen.rank {
			r := row{penalty: place, values: make([]float64, b.dim)}
			for c, v := range pen.root.RawRowView(i) {
				r.values[c] = f * v
				r.norm = max(r.norm, math.Abs(r.values[c]))
			}
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.norm, a.norm) })
	e := blas64.General{Rows: len(rows), Cols: b.dim, Stride: b.dim, Data: make([]float64, 0, len(rows)*b.dim)}
	for _, r := range rows {
		e.Data = append(e.Data, r.values...)
	}
	pivot := make([]int, b.dim)
	for i := range pivot {
		pivot[i] = -1
	}
	tau := make([]float64, b.dim)
	work := make([]float64, 1)
	lapack64.Geqp3(e, pivot, tau, work, -1)
	work = make([]float64, int(work[0]))
	lapack64.Geqp3(e, pivot, tau, work, len(work))

	o := &overlap{to: mat.NewDense(b.dim, b.dim, nil)}
	r := mat.NewTriDense(b.dim, mat.Upper, nil)
	for i := range b.dim {
		for j := i; j < b.dim; j++ {
			r.SetTri(i, j, e.Data[i*e.Stride+j])
		}
		o.logDet += 2 * math.Log(math.Abs(r.At(i, i)))
	}
	if !finite(o.logDet) {
		return nil, false
	}
	var inverse mat.TriDense
	// The error is a warning: R is graded, and its inverse is accurate by columns.
	_ = inverse.InverseTri(r)
	for i, p := range pivot {
		for j := i; j < b.dim; j++ {
			o.to.Set(p, j, inverse.At(i, j))
		}
	}
	lapack64.Orgqr(e, tau, work[:1], -1)
	work = make([]float64, max(int(work[0]), b.dim))
	lapack64.Orgqr(e, tau, work, len(work))
	q := mat.NewDense(e.Rows, e.Cols, e.Data)
	for place := range b.penalties {
		var mine []int
		for i, r := range rows {
			if r.penalty == place {
				mine = append(mine, i)
			}
		}
		o.part = append(o.part, pick(q, mine, nil))
	}
	return o, true
}

// addLogDetS returns log|sum_j lambda_j S_j|_+ of one block and adds its
// derivatives in the log lambdas to grad and hess (indexed by system.penalties;
// nil if not wanted). For one penalty it is closed form; o may be nil. For
// several, with Q_j = o.part[j]:
//
//	d_j  = |Q_j|^2 = lambda_j tr(S^- S_j),
//	d_jk = delta_jk d_j - |Q_j Q_k'|^2.
func (s *system) addLogDetS(b *block, o *overlap, rho []float64, grad []float64, hess *mat.SymDense) float64 {
	if len(b.penalties) == 1 {
		j := b.penalties[0]
		pen := &s.penalties[j]
		v := float64(pen.rank) * rho[j]
		for _, r := range pen.diag {
			v += 2 * math.Log(r)
		}
		if grad != nil {
			grad[j] += float64(pen.rank)
		}
		return v
	}
	if grad == nil {
		return o.logDet
	}
	if o.share != nil {
		o.addShares(b.penalties, grad, hess)
		return o.logDet
	}
	var product mat.Dense
	for a, j := range b.penalties {
		dj := squaredNorm(o.part[a])
		grad[j] += dj
		for c := a; c < len(b.penalties); c++ {
			k := b.penalties[c]
			product.Reset()
			product.Mul(o.part[a], o.part[c].T())
			h := -squaredNorm(&product)
			if j == k {
				h += dj
			}
			hess.SetSym(j, k, hess.At(j, k)+h)
		}
	}
	return o.logDet
}

// addShares adds the derivatives where all of Q_j'Q_j are diagonal.
func (o *overlap) addShares(penalties []int, grad []float64, hess *mat.SymDense) {
	for a, j := range penalties {
		for _, v := range o.share[a] {
			grad[j] += v
		}
		for c := a; c < len(penalties); c++ {
			k, h := penalties[c], 0.0
			for i, v := range o.share[a] {
				h -= v * o.share[c][i]
				if j == k {
					h += v
				}
			}
			hess.SetSym(j, k, hess.At(j, k)+h)
		}
	}
}

// intoOverlaps changes the coordinates of the blocks of the matrix a that have several penalties, and adds their
// total penalties, there the identity; logDet is the sum of these' log determinants. false: one is singular in
// floating point.
func (c *criterion) intoOverlaps(rho []float64) (logDet float64, ok bool) {
	linalg.Each(len(c.blocks), func(i int) {
		if b := &c.blocks[i]; len(b.penalties) > 1 {
			c.overlap[i] = c.overlapOf(b, rho, c.overlap[i])
		}
	})
	for i, b := range c.blocks {
		if len(b.penalties) < 2 {
			continue
		}
		if c.overlap[i] == nil {
			return 0, false
		}
		logDet += c.overlap[i].logDet
	}
	linalg.Congruence(c.a, c.overlaps(), true)
	for i, b := range c.blocks {
		if c.overlap[i] == nil {
			continue
		}
		for j := b.lo; j < b.lo+b.dim; j++ {
			c.a.SetSym(j, j, c.a.At(j, j)+1)
		}
	}
	return logDet, true
}

// innerBasis is the system's basis (alpha = basis b) for the coordinates of the
// overlaps.
func (c *criterion) innerBasis() *mat.Dense {
	basis := c.basis.dense()
	rows, _ := basis.Dims()
	for i, o := range c.overlap {
		if o != nil {
			columns := basis.Slice(0, rows, c.blocks[i].lo, c.blocks[i].lo+c.blocks[i].dim).(*mat.Dense)
			var product mat.Dense
			product.Mul(columns, o.to)
			columns.Copy(&product)
		}
	}
	return basis
}

// overlaps are the changes of coordinates of the overlaps, as blocks.
func (c *criterion) overlaps() []linalg.Block {
	var blocks []linalg.Block
	for i, o := range c.overlap {
		if o != nil {
			blocks = append(blocks, linalg.Block{At: c.blocks[i].lo, B: o.to})
		}
	}
	return blocks
}
