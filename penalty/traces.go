package penalty

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// scaledRoot returns sqrt(lambda_j) root_j in the coordinates of the overlaps:
// a diagonal, or else a matrix.
func (c *criterion) scaledRoot(j int, rho []float64) (diag []float64, root *mat.Dense) {
	pen := &c.penalties[j]
	if o := c.overlap[pen.block]; o != nil {
		return nil, o.part[slices.Index(c.blocks[pen.block].penalties, j)]
	}
	diag = make([]float64, pen.rank)
	for i, r := range pen.diag {
		diag[i] = math.Exp(rho[j]/2) * r
	}
	return diag, nil
}

// spentBy is lambda_j tr(A^-1 S_j), once inverted.
func (c *criterion) spentBy(j int) float64 {
	if c.schur != nil {
		return c.schur.spent(j)
	}
	pen, sum := &c.penalties[j], 0.0
	for i := pen.lo; i < pen.lo+pen.rank; i++ {
		sum += c.m.At(i, i)
	}
	return sum
}

// rootTimesAlpha sets g_j = sqrt(lambda_j) root_j alpha of every response, so that
// lambda_j alpha'S_j alpha = |g_j|^2.
func (c *criterion) rootTimesAlpha(rho []float64) {
	if c.schur != nil {
		c.schur.rootTimesAlpha(c)
		return
	}
	for r := range c.at {
		c.at[r].rootTimesAlpha(c, rho)
	}
}

func (s *solution) rootTimesAlpha(c *criterion, rho []float64) {
	for j := range c.penalties {
		pen := &c.penalties[j]
		lo := c.blocks[pen.block].lo
		diag, root := c.scaledRoot(j, rho)
		for i := range pen.rank {
			if diag != nil {
				s.g[pen.lo+i] = diag[i] * s.inner[lo+i]
				continue
			}
			sum := 0.0
			for a, r := range root.RawRowView(i) {
				sum += r * s.inner[lo+a]
			}
			s.g[pen.lo+i] = sum
		}
	}
}

// middle sets the blocks M_jk = sqrt(lambda_j lambda_k) root_j A^-1 root_k' of m,
// from which every trace in the derivatives follows.
func (c *criterion) middle(rho []float64) {
	if c.half == nil {
		c.middleDiagonal(rho)
		return
	}
	inverse, half, m := linalg.Mirror(c.inverse).RawMatrix(), c.half.RawMatrix(), c.m.RawMatrix()
	for k := range c.penalties {
		pen := &c.penalties[k]
		lo := c.blocks[pen.block].lo
		diag, root := c.scaledRoot(k, rho)
		if diag == nil {
			linalg.ProductInto(part(half, 0, c.penalised, pen.lo, pen.rank), part(inverse, 0, c.penalised, lo, c.blocks[pen.block].dim), linalg.Compact(root), true)
			continue
		}
		for i := range c.penalised {
			row := half.Data[i*half.Stride+pen.lo:]
			for l, v := range inverse.Data[i*inverse.Stride+lo:][:pen.rank] {
				row[l] = diag[l] * v
			}
		}
	}
	for j := range c.penalties {
		pen := &c.penalties[j]
		lo := c.blocks[pen.block].lo
		diag, root := c.scaledRoot(j, rho)
		if diag == nil {
			from := c.half.Slice(lo, lo+c.blocks[pen.block].dim, 0, c.rows).(*mat.Dense)
			linalg.ProductInto(part(m, pen.lo, pen.rank, 0, c.rows), root.RawMatrix(), linalg.Compact(from), false)
			continue
		}
		for i := range pen.rank {
			dst := m.Data[(pen.lo+i)*m.Stride:][:c.rows]
			for l, v := range half.Data[(lo+i)*half.Stride:][:c.rows] {
				dst[l] = diag[i] * v
			}
		}
	}
}

// part is rows and columns of a.
func part(a blas64.General, row, rows, column, columns int) blas64.General {
	return blas64.General{Rows: rows, Cols: columns, Stride: a.Stride, Data: a.Data[row*a.Stride+column:]}
}

// middleDiagonal is middle where all roots are diagonal: it overwrites the inverse; the penalties
// are on its first coordinates.
func (c *criterion) middleDiagonal(rho []float64) {
	if len(c.penalties) == 0 {
		return
	}
	own := c.penalisedInverse()
	linalg.ScaleBoth(own, c.roots(rho))
	linalg.Mirror(own)
}

// restoreInverse makes inverse what it was before middle; m is gone then.
func (c *criterion) restoreInverse(rho []float64) {
	if c.half != nil || c.schur != nil || len(c.penalties) == 0 {
		return
	}
	each := c.perPenalty(rho)
	if roots := c.roots(each); inverted(roots) {
		linalg.ScaleBoth(c.penalisedInverse(), roots)
	} else {
		c.solve(each)
		c.invert()
	}
	c.solved = nil
}

// inverted overwrites x with 1/x; false: products of some lose digits.
func inverted(x []float64) bool {
	const far = 1e100
	for i, v := range x {
		if v < 1/far || v > far {
			return false
		}
		x[i] = 1 / v
	}
	return true
}

// penalisedInverse are the coordinates of inverse with penalties, if all roots are diagonal:
// they come first, and m is in their memory.
func (c *criterion) penalisedInverse() *mat.SymDense {
	raw := c.inverse.RawSymmetric()
	raw.N = c.rows
	var own mat.SymDense
	own.SetRawSymmetric(raw)
	return &own
}

// roots are the diagonal roots of all penalties.
func (c *criterion) roots(rho []float64) []float64 {
	roots := make([]float64, c.rows)
	for k := range c.penalties {
		diag, _ := c.scaledRoot(k, rho)
		copy(c.part(roots, k), diag)
	}
	return roots
}

// part is the piece of a stacked vector that belongs to penalty j.
func (c *criterion) part(x []float64, j int) []float64 {
	pen := &c.penalties[j]
	return x[pen.lo : pen.lo+pen.rank]
}

// bilinears are x_j'M_jl x_l, by penalties.
func (c *criterion) bilinears(x []float64) *mat.SymDense {
	parts := make([][]float64, len(c.penalties))
	for j := range parts {
		parts[j] = c.part(x, j)
	}
	if c.schur != nil {
		return c.schur.bilinears(parts)
	}
	out := mat.NewSymDense(len(parts), nil)
	for j := range parts {
		for l := j; l < len(parts); l++ {
			out.SetSym(j, l, c.bilinearOf(parts[j], parts[l], j, l))
		}
	}
	return out
}

// bilinear is x_j'M_jl y_l where nothing was eliminated.
func (c *criterion) bilinear(x, y []float64, j, l int) float64 {
	return c.bilinearOf(c.part(x, j), c.part(y, l), j, l)
}

// bilinearOf is bilinear of the parts that belong to j and l.
func (c *criterion) bilinearOf(x, y []float64, j, l int) float64 {
	pj, pl := &c.penalties[j], &c.penalties[l]
	sum := 0.0
	for a, v := range x {
		row, inner := c.m.RawRowView(pj.lo + a)[pl.lo:], 0.0
		for b, w := range y {
			inner += row[b] * w
		}
		sum += v * inner
	}
	return sum
}

// traceProduct is |M_jl|^2 = lambda_j lambda_l tr(A^-1 S_j A^-1 S_l).
func (c *criterion) traceProduct(j, l int) float64 {
	if c.schur != nil {
		return c.schur.traceProduct(j, l)
	}
	pj, pl := &c.penalties[j], &c.penalties[l]
	sum := 0.0
	for a := pj.lo; a < pj.lo+pj.rank; a++ {
		row := c.m.RawRowView(a)[pl.lo : pl.lo+pl.rank]
		sum += kernel.Dot(row, row)
	}
	return sum
}
