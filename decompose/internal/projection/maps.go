package projection

import "gonum.org/v1/gonum/mat"

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
				part = times(z.T(), part)
			}
			if z := c.z[j]; z != nil {
				part = times(part, z)
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
				part = times(z, part)
			}
			if z := c.z[l]; z != nil {
				part = times(part, z.T())
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

func times(a, b mat.Matrix) *mat.Dense {
	var c mat.Dense
	c.Mul(a, b)
	return &c
}
