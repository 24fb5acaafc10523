package projection

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// width is the number of constrained columns, those of zeros for kept blocks included.
func (c *Constrained) width() int { return c.start[len(c.blocks)] }

// reduce maps raw products to constrained ones: T'XX T with T the block diagonal
// of the Z_j.
func (c *Constrained) reduce(xx mat.Symmetric) *mat.SymDense {
	n := c.width()
	if n == 0 {
		return nil
	}
	out := mat.NewSymDense(n, nil)
	to, dense := out.RawSymmetric(), mat.DenseCopyOf(xx)
	for i := range c.blocks {
		for j := i; j < len(c.blocks); j++ {
			part := dense.Slice(c.raw[i], c.raw[i+1], c.raw[j], c.raw[j+1]).(*mat.Dense)
			if z := c.z[i]; z != nil {
				part = firstTimes(z, part)
			}
			if z := c.z[j]; z != nil {
				part = timesLast(part, z)
			}
			for r := range c.start[i+1] - c.start[i] { // what falls below the diagonal is not read
				copy(to.Data[(c.start[i]+r)*to.Stride+c.start[j]:], part.RawRowView(r))
			}
		}
	}
	return out
}

// reduceVector is T'x for products with another column, or means.
func (c *Constrained) reduceVector(x []float64) []float64 {
	out := make([]float64, c.width())
	for j := range c.blocks {
		v, dst := x[c.raw[j]:c.raw[j+1]], out[c.start[j]:c.start[j+1]]
		if c.z[j] == nil {
			copy(dst, v)
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
			copy(dst, a)
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
	out, from := mat.NewSymDense(c.raw[len(c.blocks)], nil), v.RawSymmetric()
	to := out.RawSymmetric()
	for j := range c.blocks {
		for l := j; l < len(c.blocks); l++ { // Z_j V_jl Z_l'
			if c.start[j] == c.start[j+1] || c.start[l] == c.start[l+1] {
				continue
			}
			part := mat.NewDense(c.start[j+1]-c.start[j], c.start[l+1]-c.start[l], nil)
			for i := range c.start[j+1] - c.start[j] {
				row := part.RawRowView(i)
				copy(row, from.Data[(c.start[j]+i)*from.Stride+c.start[l]:])
				for k := 0; l == j && k < i; k++ { // below the diagonal
					row[k] = part.At(k, i)
				}
			}
			if z := c.z[j]; z != nil {
				part = spreadRows(z, part)
			}
			if z := c.z[l]; z != nil {
				part = spreadColumns(part, z)
			}
			for i := range c.raw[j+1] - c.raw[j] {
				copy(to.Data[(c.raw[j]+i)*to.Stride+c.raw[l]:], part.RawRowView(i))
			}
		}
	}
	return out
}

// contract maps raw coefficients to constrained ones: the nearest, where the
// network's own lie outside the constraint.
func (c *Constrained) contract(raw []float64) []float64 {
	theta := make([]float64, c.width())
	for j := range c.blocks {
		from, to := raw[c.raw[j]:c.raw[j+1]], theta[c.start[j]:c.start[j+1]]
		if c.z[j] == nil {
			copy(to, from)
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
	var sz, zsz mat.Dense
	sz.Mul(s, z)
	zsz.Mul(z.T(), &sz)
	out := mat.NewSymDense(c, nil)
	for i := range c {
		for j := i; j < c; j++ {
			out.SetSym(i, j, (zsz.At(i, j)+zsz.At(j, i))/2)
		}
	}
	return out
}

// selection lists the rows that the columns of z are, if each is a column of the identity,
// as where a factor's first level has no column; nil: not so.
func selection(z *mat.Dense) []int {
	_, n := z.Dims()
	at := make([]int, n)
	for j := range at {
		at[j] = -1
	}
	for i := range z.RawMatrix().Rows {
		for j, v := range z.RawRowView(i) {
			switch {
			case v == 0:
			case v == 1 && at[j] < 0:
				at[j] = i
			default:
				return nil
			}
		}
	}
	if slices.Contains(at, -1) {
		return nil
	}
	return at
}

// firstTimes is z'x.
func firstTimes(z, x *mat.Dense) *mat.Dense {
	at := selection(z)
	if at == nil {
		return times(z.T(), x)
	}
	_, n := x.Dims()
	out := mat.NewDense(len(at), n, nil)
	for i, a := range at {
		out.SetRow(i, x.RawRowView(a))
	}
	return out
}

// timesLast is x z.
func timesLast(x, z *mat.Dense) *mat.Dense {
	at := selection(z)
	if at == nil {
		return times(x, z)
	}
	return columns(x, at)
}

// spreadRows is z x.
func spreadRows(z, x *mat.Dense) *mat.Dense {
	at := selection(z)
	if at == nil {
		return times(z, x)
	}
	m, _ := z.Dims()
	_, n := x.Dims()
	out := mat.NewDense(m, n, nil)
	for i, a := range at {
		floats.Add(out.RawRowView(a), x.RawRowView(i))
	}
	return out
}

// spreadColumns is x z'.
func spreadColumns(x, z *mat.Dense) *mat.Dense {
	at := selection(z)
	if at == nil {
		return times(x, z.T())
	}
	m, _ := x.Dims()
	n, _ := z.Dims()
	out := mat.NewDense(m, n, nil)
	for i := range m {
		row := out.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			row[at[j]] += v
		}
	}
	return out
}

func times(a, b mat.Matrix) *mat.Dense {
	var c mat.Dense
	c.Mul(a, b)
	return &c
}
