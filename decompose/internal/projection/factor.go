package projection

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/penalty"
)

// factored is the projection as least squares on few rows: with R the triangular
// factor of [X, zeta], G = R_x T and y = R_zeta have G'G = X'WX and G'y = X'W zeta,
// but the condition number of X, not its square.
type factored struct {
	g *mat.Dense // m x n, n constrained columns
	y *mat.VecDense
}

// factor is nil without a factor or without columns. total refits X beta + zeta.
func (c *Constrained) factor(intercept, total bool, beta []float64) *factored {
	if c.view.R == nil || c.width() == 0 {
		return nil
	}
	r := c.view.R
	if !intercept {
		r = c.view.RawFactor()
	}
	m, _ := r.Dims()
	rows := mat.DenseCopyOf(r)
	f := &factored{g: mat.NewDense(m, c.width(), nil), y: mat.NewVecDense(m, nil)}
	f.y.CopyVec(rows.ColView(m - 1))
	if total && m > 1 {
		var moved mat.VecDense
		moved.MulVec(rows.Slice(0, m, 0, m-1), mat.NewVecDense(m-1, beta))
		f.y.AddVec(f.y, &moved)
	}
	for j := range c.blocks {
		from := rows.Slice(0, m, c.raw[j]+c.first[j], c.raw[j+1])
		to := f.g.Slice(0, m, c.start[j], c.start[j+1]).(*mat.Dense)
		if c.z[j] == nil {
			to.Copy(from)
		} else {
			to.Mul(from, c.z[j])
		}
	}
	return f
}

// into replaces the products of p by those of f. What varies by less than rounding
// explains is constant: columns as c has it, a response by less than 1e-12 of its mean.
func (f *factored) into(p *penalty.Problem, c *Constrained) {
	m, n := f.g.Dims()
	if p.XMean != nil {
		for i, mean := range p.XMean {
			if norm := mat.Norm(f.g.ColView(i), 2); !c.varies(c.blockOf(i), norm*norm, mean) {
				f.g.SetCol(i, make([]float64, m))
			}
		}
		if norm := mat.Norm(f.y, 2); norm*norm <= 1e-24*p.ZMean*p.ZMean*p.SumW {
			f.y.Zero()
		}
	}
	var xz mat.VecDense
	xz.MulVec(f.g.T(), f.y)
	xx := mat.NewSymDense(n, nil)
	xx.SymOuterK(1, f.g.T())
	p.XX = xx
	p.XZ, p.ZZ = xz.RawVector().Data, mat.Dot(f.y, f.y)
}

// standardised is G D^-1 with columns of norm 1: D is the standard deviations times
// the root of SumW. Constant columns are zero.
func (f *factored) standardised(sd []float64, sumW float64) *mat.Dense {
	g := mat.DenseCopyOf(f.g)
	m, _ := g.Dims()
	scale := make([]float64, len(sd))
	for i, s := range sd {
		if s > 0 {
			scale[i] = 1 / (s * math.Sqrt(sumW))
		}
	}
	for i := range m {
		floats.Mul(g.RawRowView(i), scale)
	}
	return g
}

// spectrum is that of the standardised columns by their singular value
// decomposition.
func (f *factored) spectrum(sd []float64, sumW, tolerance float64) (*spectrum, error) {
	var svd mat.SVD
	if !svd.Factorize(f.standardised(sd, sumW), mat.SVDThin) {
		return nil, errors.New("the singular value decomposition of the columns did not converge: are they finite?")
	}
	values := svd.Values(nil) // decreasing
	n := len(values)
	rank := 0
	for rank < n && values[rank] > tolerance*values[0] {
		rank++
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	m, _ := u.Dims()
	s := &spectrum{values: values[:rank]}
	floats.Scale(math.Sqrt(sumW), s.values) // of X D^-1, D the standard deviations
	if rank < n {
		s.dropped = mat.DenseCopyOf(v.Slice(0, n, rank, n))
	}
	left := mat.VecDenseCopyOf(f.y)
	if rank > 0 {
		s.kept = mat.DenseCopyOf(v.Slice(0, n, 0, rank))
		span := u.Slice(0, m, 0, rank)
		var coordinates, fitted mat.VecDense
		coordinates.MulVec(span.T(), f.y)
		fitted.MulVec(span, &coordinates)
		left.SubVec(left, &fitted)
		s.coordinates = coordinates.RawVector().Data
	}
	s.rss = mat.Dot(left, left)
	return s, nil
}

// orthogonality is the largest |correlation| of a column with what is left.
func (f *factored) orthogonality(alpha, sd []float64, sumW float64) float64 {
	left := f.left(alpha)
	norm := mat.Norm(left, 2)
	if !(norm > 1e-10*mat.Norm(f.y, 2)) {
		return 0
	}
	var cross mat.VecDense
	cross.MulVec(f.g.T(), left)
	var worst float64
	for i, s := range sd {
		if s > 0 {
			worst = math.Max(worst, math.Abs(cross.AtVec(i))/(s*math.Sqrt(sumW)*norm))
		}
	}
	return worst
}

// left is y - G alpha.
func (f *factored) left(alpha []float64) *mat.VecDense {
	var fitted mat.VecDense
	fitted.MulVec(f.g, mat.NewVecDense(len(alpha), alpha))
	left := mat.VecDenseCopyOf(f.y)
	left.SubVec(left, &fitted)
	return left
}
