package decompose

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/moments"
	"github.com/pho-go/pho/penalty"
)

// constrained is one predictor's design in constrained coordinates: raw
// coefficients of block j are Z_j times constrained ones.
type constrained struct {
	blocks []Block
	view   moments.View
	raw    []int        // first raw column of each block in the view, and the end
	start  []int        // first constrained column of each block, and the end
	z      []*mat.Dense // d_j x c_j; nil: the identity
	terms  []penalty.Component
	notes  []string // what was done that the reader should know

	tolerance float64 // of ranks
}

// constrain resolves constraints and penalty scales from the moments: both are
// linear maps after the fact, so that one pass over raw bases is enough.
func (p *plan) constrain(d planned, m *moments.Moments, k int, tolerance float64, sp map[string][]float64) (*constrained, error) {
	c := &constrained{blocks: d.blocks, view: m.Predictor(k), raw: []int{0}, start: []int{0}, tolerance: tolerance}
	for j, b := range d.blocks {
		if b.Keep {
			b = b.kept()
		}
		null, err := p.nullSpace(b, m)
		if err != nil {
			return nil, err
		}
		z := null
		switch {
		case b.Map != nil && null == nil:
			z = b.Map
		case b.Map != nil:
			z = new(mat.Dense)
			z.Mul(b.Map, null)
		}
		dim := b.Term.Dim()
		free := dim
		if z != nil {
			_, free = z.Dims()
		}
		t := penalty.Component{Name: b.Term.Name(), Start: c.start[j], Dim: free}
		norm := p.norm(b, m)
		for i, s := range b.Penalty.S {
			if b.Standardised {
				t.S = append(t.S, congruence(null, c.inStandardised(j, dim, s)))
				continue
			}
			scaled, factor := penalty.Scale(s, norm)
			if !(factor > 0) || math.IsInf(factor, 0) {
				return nil, fmt.Errorf("decompose: term %q: penalty %d cannot be scaled, its basis is zero on all rows", b.Term.Name(), i)
			}
			t.S = append(t.S, congruence(null, scaled))
		}
		t.SP, t.Link = b.Penalty.SP, b.Penalty.Link
		if v, ok := sp[b.Term.Name()]; ok {
			t.SP = v
		}
		if b.Select {
			if err := selectNull(&t); err != nil {
				return nil, fmt.Errorf("decompose: term %q: %w", b.Term.Name(), err)
			}
		}
		c.terms = append(c.terms, t)
		c.z = append(c.z, z)
		c.raw = append(c.raw, c.raw[j]+dim)
		c.start = append(c.start, c.start[j]+free)
	}
	if err := c.side(); err != nil {
		return nil, err
	}
	return c, nil
}

// nullSpace is the map from constrained coefficients to the block's: raw ones, or
// those that its Map takes to raw ones.
func (p *plan) nullSpace(b Block, m *moments.Moments) (*mat.Dense, error) {
	d := b.Term.Dim()
	switch b.Constraint {
	case Free:
		return nil, nil
	case SumToZero:
		mean := make([]float64, d)
		for _, t := range b.base() {
			at := p.offset[p.index[t]]
			floats.Add(mean, m.Sum[at:at+d])
		}
		return b.orthogonalTo(mean)
	case Orthogonal:
		return b.orthogonalTo(b.Normal)
	case Treatment:
		if d == 1 {
			return nil, b.nothingLeft()
		}
		z := mat.NewDense(d, d-1, nil)
		for i := 1; i < d; i++ {
			z.Set(i, i-1, 1)
		}
		return z, nil
	}
	return nil, errors.New("decompose: unknown constraint on term " + b.Term.Name())
}

// orthogonalTo is a basis of {a : v'Map a = 0}; nil if that is everything.
func (b Block) orthogonalTo(v []float64) (*mat.Dense, error) {
	if b.Map != nil {
		_, c := b.Map.Dims()
		mapped := mat.NewVecDense(c, nil)
		mapped.MulVec(b.Map.T(), mat.NewVecDense(len(v), v))
		v = mapped.RawVector().Data
	}
	switch norm := floats.Norm(v, 2); {
	case norm == 0:
		return nil, nil
	case len(v) == 1:
		return nil, b.nothingLeft()
	}
	return complement(v), nil
}

func (b Block) nothingLeft() error {
	return fmt.Errorf("decompose: term %q has no column left after its constraint", b.Term.Name())
}

func (b Block) base() []Term {
	if len(b.Base) > 0 {
		return b.Base
	}
	return []Term{b.Term}
}

// kept is b with a column of zeros under a fixed penalty in place of its own, so
// that every block has a column: its coefficient is exactly 0, and no other one
// feels it.
func (b Block) kept() Block {
	b.Map = mat.NewDense(b.Term.Dim(), 1, nil)
	b.Penalty = penalty.Penalty{S: []*mat.SymDense{penalty.Ridge(1)}, SP: []float64{1}}
	b.Standardised = false
	b.Norm = nil
	return b
}

// inStandardised is D S D for the raw columns of block j, D their weighted standard
// deviations. A column that does not vary has no penalty, as it has no effect.
func (c *constrained) inStandardised(j, dim int, s *mat.SymDense) *mat.SymDense {
	sd := make([]float64, dim)
	for i := range sd {
		at := c.raw[j] + i
		if squares := c.view.XX.At(at, at); c.varies(j, squares, c.view.Mean[at]) {
			sd[i] = math.Sqrt(squares / c.view.SumW)
		}
	}
	out := mat.NewSymDense(dim, nil)
	for i := range dim {
		for l := i; l < dim; l++ {
			out.SetSym(i, l, sd[i]*s.At(i, l)*sd[l])
		}
	}
	return out
}

// norm is the largest row 1-norm of the base basis, or of what stands for it.
func (p *plan) norm(b Block, m *moments.Moments) float64 {
	var norm float64
	terms := b.Norm
	if len(terms) == 0 {
		terms = b.base()
	}
	for _, t := range terms {
		norm = math.Max(norm, m.MaxRowNorm[p.index[t]])
	}
	return norm
}

// complement is an orthonormal basis (d x (d-1)) of {a : v'a = 0}: the last
// columns of the Householder reflection that maps v to its first axis.
func complement(v []float64) *mat.Dense {
	d := len(v)
	u := append([]float64(nil), v...)
	norm := floats.Norm(u, 2)
	if u[0] < -1e-10*norm { // rounding of a 0 must not choose
		norm = -norm
	}
	u[0] += norm // u = v + sign(v_1)|v| e_1
	uu := floats.Dot(u, u)
	z := mat.NewDense(d, d-1, nil)
	for j := 1; j < d; j++ {
		for i := range d {
			h := -2 * u[i] * u[j] / uu
			if i == j {
				h++
			}
			z.Set(i, j-1, h)
		}
	}
	return z
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

// width is the number of constrained columns.
func (c *constrained) width() int { return c.start[len(c.blocks)] }

// reduce maps raw products to constrained ones: T'XX T with T the block diagonal
// of the Z_j.
func (c *constrained) reduce(xx mat.Symmetric) *mat.SymDense {
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
func (c *constrained) reduceVector(x []float64) []float64 {
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
func (c *constrained) expand(alpha []float64) []float64 {
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
func (c *constrained) expandCov(v *mat.SymDense) *mat.SymDense {
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

func times(a, b mat.Matrix) *mat.Dense {
	var c mat.Dense
	c.Mul(a, b)
	return &c
}
