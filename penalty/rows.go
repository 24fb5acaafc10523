package penalty

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// rotatedRows is G w of the rows [G, y]. Columns that do not vary are zero.
func rotatedRows(rows, w *mat.Dense, varies []float64) *mat.Dense {
	m, width := rows.Dims()
	x := mat.DenseCopyOf(rows.Slice(0, m, 0, width-1))
	for i := range m {
		floats.Mul(x.RawRowView(i), varies)
	}
	_, q := w.Dims()
	out := mat.NewDense(m, q, nil)
	out.Mul(x, w)
	return out
}

// solveRows is the end of solve from the rows themselves: the triangular factor of the
// rows and the roots of the penalties below them has the condition number of which
// that of A is the square (Wood 2017, 6.1). logDet is what the overlaps have added.
func (c *criterion) solveRows(rho []float64, logDet float64) (float64, bool) {
	stack := c.stacked(rho)
	norms := make([]float64, c.q)
	for j := range norms {
		norms[j] = mat.Norm(stack.ColView(j), 2)
		if !(norms[j] > 0) || math.IsInf(norms[j], 0) {
			return 0, false
		}
		c.e[j] = 1 / norms[j]
		logDet += 2 * math.Log(norms[j])
	}
	n, _ := stack.Dims()
	for i := range n {
		floats.Mul(stack.RawRowView(i)[:c.q], c.e)
	}
	if !c.triangular(bySize(stack, c.q)) {
		return 0, false
	}
	logDet += c.chol.LogDet()
	return logDet, finite(logDet)
}

// stacked is the rows [X, z, ...] of all responses in the coordinates of the overlaps, with the roots of the
// total penalties below them.
func (c *criterion) stacked(rho []float64) *mat.Dense {
	m, _ := c.data.Dims()
	stack := mat.NewDense(m+c.penalised, c.q+len(c.responses), nil)
	stack.Slice(0, m, 0, c.q).(*mat.Dense).Copy(c.data)
	for r := range c.responses {
		for i, v := range c.responses[r].y {
			stack.Set(i, c.q+r, v)
		}
	}
	for i := range c.blocks {
		b := &c.blocks[i]
		root := make([]float64, b.dim)
		if o := c.overlap[i]; o != nil {
			columns := stack.Slice(0, m, b.lo, b.lo+b.dim).(*mat.Dense)
			columns.Copy(product(mat.DenseCopyOf(columns), o.to))
			for l := range root {
				root[l] = 1
			}
		} else {
			root, _ = c.scaledRoot(b.penalties[0], rho)
		}
		for l, r := range root {
			stack.Set(m+b.lo+l, b.lo+l, r)
		}
	}
	return stack
}

// bySize puts large rows first: reflections then leave the digits of small ones alone
// (Cox and Higham 1998).
func bySize(x *mat.Dense, columns int) *mat.Dense {
	n, _ := x.Dims()
	size := make([]float64, n)
	for i := range n {
		for _, v := range x.RawRowView(i)[:columns] {
			size[i] = max(size[i], math.Abs(v))
		}
	}
	order := sequence(n)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	return pick(x, order, nil)
}

// triangular takes the Cholesky factor of X'X and alpha from the QR decomposition of
// [X, z, ...]; false if the columns of X, which have norm 1, depend on each other.
func (c *criterion) triangular(rows *mat.Dense) bool {
	const dependent = 1e-14
	n := c.q
	if m, _ := rows.Dims(); m <= n {
		return false
	}
	raw := rows.RawMatrix()
	tau, work := make([]float64, min(raw.Rows, raw.Cols)), make([]float64, 1)
	lapack64.Geqrf(raw, tau, work, -1)
	work = make([]float64, int(work[0]))
	lapack64.Geqrf(raw, tau, work, len(work))
	for i := range n {
		row := raw.Data[i*raw.Stride:]
		sign := 1.0
		if row[i] < 0 {
			sign = -1
		}
		if !(sign*row[i] > dependent) {
			return false
		}
		for j := i; j < n; j++ {
			c.a.SetSym(i, j, sign*row[j])
		}
		for r := range c.at {
			c.at[r].inner[i] = sign * row[n+r]
		}
	}
	c.chol.Triangle(c.a)
	for r := range c.at {
		copy(c.work, c.at[r].inner)
		c.solveTriangular(&c.at[r])
	}
	return true
}

// solveTriangular sets alpha and inner to U^-1 work, in their coordinates.
func (c *criterion) solveTriangular(s *solution) {
	n := c.q
	for i := n - 1; i >= 0; i-- {
		row := c.a.RawSymmetric().Data[i*n:]
		for j := i + 1; j < n; j++ {
			c.work[i] -= row[j] * c.work[j]
		}
		c.work[i] /= row[i]
	}
	for i, e := range c.e {
		s.inner[i] = e * c.work[i]
	}
	c.fromInner(s.alpha, s.inner)
}

// residualOfRows is |z - X alpha|^2 of response r.
func (c *criterion) residualOfRows(r int) float64 {
	m, _ := c.data.Dims()
	sum := 0.0
	for i := range m {
		row := c.data.RawRowView(i)
		left := c.responses[r].y[i] - floats.Dot(row, c.at[r].alpha)
		sum += left * left
	}
	return sum
}
