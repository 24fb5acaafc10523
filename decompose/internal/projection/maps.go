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
func (c *Constrained) reduce(xx mat.Symmetric) mat.Symmetric {
	n := c.width()
	if n == 0 {
		return nil
	}
	if many, ok := xx.(*linalg.Structured); ok {
		if c.keepsLevels(many) {
			return c.reduceMany(many)
		}
		xx = many.Dense()
	}
	maps := make([]linalg.Map, len(c.blocks))
	for j := range c.blocks {
		maps[j] = linalg.Map{From: c.raw[j], To: c.start[j], Rows: c.raw[j+1] - c.raw[j], Columns: c.start[j+1] - c.start[j], Z: c.z[j], First: c.first[j]}
	}
	return linalg.Reduce(xx.(*mat.SymDense), maps)
}

// keepsLevels tells whether the block of many columns has neighbouring ones of them as its coordinates, or none. Others, as those of
// a factor that sum to 0, have products with each other.
func (c *Constrained) keepsLevels(many *linalg.Structured) bool {
	for j := range c.blocks {
		if _, few := slices.BinarySearch(many.Few, c.raw[j]); few {
			continue
		}
		if _, ok := c.shift(j); !ok {
			return false
		}
	}
	return true
}

// reduceMany is reduce where one block has many columns, of which its map chooses some, and all of the others are Few.
func (c *Constrained) reduceMany(xx *linalg.Structured) *linalg.Structured {
	out := &linalg.Structured{D: make([]float64, c.width()), U: c.reduceRows(xx.U), N: c.reduceRows(xx.N)}
	block := -1 // of many columns
	for j := range c.blocks {
		if lo := c.raw[j]; c.start[j] < c.start[j+1] {
			if _, few := slices.BinarySearch(xx.Few, lo); !few {
				first, _ := c.shift(j)
				copy(out.D[c.start[j]:c.start[j+1]], xx.D[lo+first:])
				block = j
				continue
			}
		}
		for i := c.start[j]; i < c.start[j+1]; i++ {
			out.Few = append(out.Few, i)
		}
	}
	if len(out.Few) == 0 {
		return out
	}
	rows := c.reduceRows(xx.V) // T'V, then V's columns by the same maps
	out.V = mat.NewDense(c.width(), len(out.Few), nil)
	from, to := 0, 0
	for j := range c.blocks {
		if j == block {
			continue
		}
		n, m := c.raw[j+1]-c.raw[j], c.start[j+1]-c.start[j]
		if m > 0 {
			own, into := rows.Slice(0, c.width(), from, from+n).(*mat.Dense), out.V.Slice(0, c.width(), to, to+m).(*mat.Dense)
			if c.z[j] == nil {
				into.Copy(own.Slice(0, c.width(), c.first[j], n))
			} else {
				linalg.ProductInto(into.RawMatrix(), own.RawMatrix(), linalg.Compact(c.z[j]), false)
			}
		}
		from, to = from+n, to+m
	}
	return out
}

// reduceRows is T'x; nil of nil.
func (c *Constrained) reduceRows(x *mat.Dense) *mat.Dense {
	if x == nil {
		return nil
	}
	_, q := x.Dims()
	out := mat.NewDense(c.width(), q, nil)
	for j := range c.blocks {
		if c.start[j] == c.start[j+1] {
			continue
		}
		from, to := x.Slice(c.raw[j], c.raw[j+1], 0, q).(*mat.Dense), out.Slice(c.start[j], c.start[j+1], 0, q).(*mat.Dense)
		if first, ok := c.shift(j); ok {
			n, _ := to.Dims()
			to.Copy(from.Slice(first, first+n, 0, q))
			continue
		}
		to.Copy(linalg.TransTimes(c.z[j], from))
	}
	return out
}

// shift tells whether the constrained columns of block j are raw ones, of the same order and without gaps, and which is the first.
func (c *Constrained) shift(j int) (first int, ok bool) {
	if c.z[j] == nil {
		return c.first[j], true
	}
	return linalg.Shift(c.z[j])
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
func (c *Constrained) expandCov(v mat.Symmetric) mat.Symmetric {
	if v == nil {
		return nil
	}
	if many, ok := v.(*linalg.Structured); ok {
		out := &linalg.Structured{D: make([]float64, c.raw[len(c.blocks)]), U: c.expandRows(many.U), N: c.expandRows(many.N)}
		for j := range c.blocks {
			if first, ok := c.shift(j); ok { // else they are 0
				copy(out.D[c.raw[j]+first:], many.D[c.start[j]:c.start[j+1]])
			}
		}
		return out
	}
	maps := make([]linalg.Map, len(c.blocks))
	for j := range c.blocks {
		maps[j] = linalg.Map{From: c.start[j], To: c.raw[j], Rows: c.start[j+1] - c.start[j], Columns: c.raw[j+1] - c.raw[j], Z: c.z[j], First: c.first[j], Turned: true}
	}
	return linalg.Reduce(v.(*mat.SymDense), maps)
}

// expandOwn is expandCov in the memory of v, if nothing is to be mapped.
func (c *Constrained) expandOwn(v mat.Symmetric) mat.Symmetric {
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
		if first, ok = c.shift(j); !ok {
			return 0, false
		}
		return c.raw[j] + lo - c.start[j] + first, true
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
