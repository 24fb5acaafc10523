package projection

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// width is the number of constrained columns, those of zeros for kept blocks included.
func (c *Constrained) width() int { return c.start[len(c.blocks)] }

// reduce maps raw products to constrained ones: T'XX T with T the block diagonal
// of the Z_j.
func (c *Constrained) reduce(xx *mat.SymDense) *mat.SymDense {
	n := c.width()
	if n == 0 {
		return nil
	}
	maps := make([]linalg.Map, len(c.blocks))
	for j := range c.blocks {
		maps[j] = linalg.Map{From: c.raw[j], To: c.start[j], Rows: c.raw[j+1] - c.raw[j], Columns: c.start[j+1] - c.start[j], Z: c.z[j], First: c.first[j]}
	}
	return linalg.Reduce(xx, maps)
}

// reduceVector is T'x for products with another column, or means.
func (c *Constrained) reduceVector(x []float64) []float64 {
	out := make([]float64, c.width())
	for j := range c.blocks {
		v, dst := x[c.raw[j]:c.raw[j+1]], out[c.start[j]:c.start[j+1]]
		if c.z[j] == nil {
			copy(dst, v[c.first[j]:])
			continue
		}
		mat.NewVecDense(len(dst), dst).MulVec(c.z[j].T(), mat.NewVecDense(len(v), v))
	}
	return out
}

// expand maps constrained coefficients to raw ones.
func (c *Constrained) expand(alpha []float64) []float64 {
	raw := make([]float64, c.raw[len(c.blocks)])
	for j := range c.blocks {
		a, dst := alpha[c.start[j]:c.start[j+1]], raw[c.raw[j]:c.raw[j+1]]
		if c.z[j] == nil {
			copy(dst[c.first[j]:], a)
			continue
		}
		mat.NewVecDense(len(dst), dst).MulVec(c.z[j], mat.NewVecDense(len(a), a))
	}
	return raw
}

// expandCov maps a constrained covariance to raw coordinates: T V T'.
func (c *Constrained) expandCov(v *mat.SymDense) *mat.SymDense {
	if v == nil {
		return nil
	}
	maps := make([]linalg.Map, len(c.blocks))
	for j := range c.blocks {
		maps[j] = linalg.Map{From: c.start[j], To: c.raw[j], Rows: c.start[j+1] - c.start[j], Columns: c.raw[j+1] - c.raw[j], Z: c.z[j], First: c.first[j], Turned: true}
	}
	return linalg.Reduce(v, maps)
}

// expandOwn is expandCov in the memory of v, if nothing is to be mapped.
func (c *Constrained) expandOwn(v *mat.SymDense) *mat.SymDense {
	if c.isRaw() {
		return v
	}
	return c.expandCov(v)
}

// isRaw tells whether constrained coefficients are the raw ones.
func (c *Constrained) isRaw() bool {
	return !slices.ContainsFunc(c.z, func(z *mat.Dense) bool { return z != nil }) && !slices.ContainsFunc(c.first, func(n int) bool { return n > 0 })
}

// expandRows is T x.
func (c *Constrained) expandRows(x *mat.Dense) *mat.Dense {
	_, q := x.Dims()
	out := mat.NewDense(c.raw[len(c.blocks)], q, nil)
	for j := range c.blocks {
		if c.start[j] == c.start[j+1] {
			continue
		}
		from, to := x.Slice(c.start[j], c.start[j+1], 0, q), out.Slice(c.raw[j], c.raw[j+1], 0, q).(*mat.Dense)
		if c.z[j] == nil {
			to.Slice(c.first[j], c.first[j]+c.start[j+1]-c.start[j], 0, q).(*mat.Dense).Copy(from)
			continue
		}
		if shift, ok := linalg.Shift(c.z[j]); ok {
			to.Slice(shift, shift+c.start[j+1]-c.start[j], 0, q).(*mat.Dense).Copy(from)
			continue
		}
		linalg.ProductInto(to.RawMatrix(), c.z[j].RawMatrix(), linalg.Compact(from.(*mat.Dense)), false)
	}
	return out
}

// asRaw tells whether the constrained columns [lo, hi) are raw ones, of the same order and without gaps,
// and which is the first.
func (c *Constrained) asRaw(lo, hi int) (first int, ok bool) {
	for j := range c.blocks {
		if lo < c.start[j] || hi > c.start[j+1] {
			continue
		}
		shift := c.first[j]
		if z := c.z[j]; z != nil {
			if shift, ok = linalg.Shift(z); !ok {
				return 0, false
			}
		}
		return c.raw[j] + lo - c.start[j] + shift, true
	}
	return 0, false
}

// contract maps raw coefficients to constrained ones: the nearest, where the
// network's own lie outside the constraint.
func (c *Constrained) contract(raw []float64) []float64 {
	theta := make([]float64, c.width())
	for j := range c.blocks {
		from, to := raw[c.raw[j]:c.raw[j+1]], theta[c.start[j]:c.start[j+1]]
		if c.z[j] == nil {
			copy(to, from[c.first[j]:])
			continue
		}
		if c.blocks[j].Map == nil { // orthonormal columns
			mat.NewVecDense(len(to), to).MulVec(c.z[j].T(), mat.NewVecDense(len(from), from))
			continue
		}
		var t mat.VecDense
		if err := t.SolveVec(c.z[j], mat.NewVecDense(len(from), append([]float64(nil), from...))); err == nil {
			copy(to, t.RawVector().Data)
		}
	}
	return theta
}

// congruence is Z'SZ; z nil is the identity.
func congruence(z *mat.Dense, s mat.Symmetric) *mat.SymDense {
	if z == nil {
		out := mat.NewSymDense(s.SymmetricDim(), nil)
		out.CopySym(s)
		return out
	}
	_, c := z.Dims()
	zsz := times(z.T(), times(s, z))
	out := mat.NewSymDense(c, nil)
	for i := range c {
		for j := i; j < c; j++ {
			out.SetSym(i, j, (zsz.At(i, j)+zsz.At(j, i))/2)
		}
	}
	return out
}

func times(a, b mat.Matrix) *mat.Dense {
	return linalg.Times(a, b)
}
