// Package projection solves for alpha: the coefficients by which the columns of a
// predictor's terms explain its deep part, X^+ zeta or (X'WX + S)^-1 X'W zeta, from the
// moments of the rows alone. It knows columns, constraints and penalties, and
// nothing of terms, models or rows.
//
// The steps are Constrain, Constrained.Problem, Problem.Orthogonal or
// Problem.Penalised, and Fit.Settle; the methods of Fit and Constrained then say what
// the solution does.
package projection

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/internal/base/linalg"
	"github.com/pho-go/pho/penalty"
)

// Block holds the constraint and the penalties on the coefficients a (d) of one basis of a
// predictor; the moments know its name and size.
type Block struct {
	Beta   []float64 // the network's own coefficients (d); nil: zeros
	Normal []float64 // v'a = 0 (d); nil or zeros: no constraint
	// Map (d x c; nil: the identity) takes the coefficients that Penalty is about to a.
	Map     *mat.Dense
	Penalty penalty.Penalty
	Norm    float64 // largest row 1-norm, by which penalties are scaled
	// Standardised: the penalties are about columns divided by their weighted standard
	// deviations, and not scaled. Not with Map.
	Standardised bool
	Select       bool    // penalise what the penalties leave free, too
	DF           float64 // effective degrees of freedom asked for; 0: none
	Kept         bool    // nothing is projected on the columns: a = 0
	Learned      bool    // the columns were computed in float32
	// Variables of a smooth. Smooths with a variable in common lose the columns that
	// others span; nil: the basis takes no part in this.
	Variables []string
}

// Constrained is one predictor's columns in coordinates in which coefficients are
// free: raw coefficients of block j are Z_j times constrained ones. The intercept is
// not among the columns.
type Constrained struct {
	blocks []Block
	names  []string
	k      int       // the predictor
	mix    []float64 // of the predictors' deep parts, that stands for its own; nil: its own
	view   moments.View
	raw    []int        // first raw column of each block in the view, and the end
	start  []int        // first constrained column of each block, and the end
	z      []*mat.Dense // d_j x c_j; nil: the identity below first_j rows of zeros
	first  []int        // more than 0: the coefficients of a contrast's first level, and of those without rows before it
	terms  []penalty.Component
	notes  []string

	tolerance float64 // of ranks
}

// Constrain resolves the constraints and penalty scales of predictor k from the
// moments: both are linear maps after the fact, so that one pass over raw bases is
// enough. Blocks are in the order of the predictor's bases; tolerance decides ranks.
func Constrain(m *moments.Moments, k int, blocks []Block, tolerance float64) (*Constrained, error) {
	view := m.Predictor(k)
	c := &Constrained{blocks: blocks, k: k, view: view, raw: view.Starts, start: []int{0}, tolerance: tolerance}
	for _, b := range view.Bases {
		c.names = append(c.names, m.Layout.Bases[b].Name)
	}
	for j := range blocks {
		if err := c.constrain(j); err != nil {
			return nil, err
		}
	}
	if err := c.side(); err != nil {
		return nil, err
	}
	c.notes = append(c.notes, c.tooCloseToConstant()...)
	return c, nil
}

// Mixture is c with sum_l mix_l of the deep parts of predictors in place of its own, and
// the same of their own coefficients, columns being those that mix has numbers for (in
// the order of the predictors; nil: of no account). m is what c was made from.
func (c *Constrained) Mixture(m *moments.Moments, mix []float64, columns []*Constrained) *Constrained {
	own := *c
	own.mix, own.view = mix, m.Mixture(c.k, mix)
	own.blocks = slices.Clone(c.blocks)
	for j := range own.blocks {
		beta := make([]float64, c.raw[j+1]-c.raw[j])
		for l, other := range columns {
			if other != nil && other.blocks[j].Beta != nil {
				floats.AddScaled(beta, mix[l], other.blocks[j].Beta)
			}
		}
		own.blocks[j].Beta = beta
	}
	return &own
}

// viewOf is what c's view is, of other rows.
func (c *Constrained) viewOf(m *moments.Moments) moments.View {
	if c.mix != nil {
		return m.Mixture(c.k, c.mix)
	}
	return m.Predictor(c.k)
}

// Same tells whether o has the columns of c, with the same constraints and penalties.
func (c *Constrained) Same(o *Constrained) bool {
	return slices.Equal(c.view.Bases, o.view.Bases) && slices.Equal(c.raw, o.raw) &&
		slices.Equal(c.first, o.first) && slices.EqualFunc(c.z, o.z, sameMatrix) && slices.EqualFunc(c.terms, o.terms, sameComponent)
}

func sameMatrix(a, b *mat.Dense) bool {
	return a == b || a != nil && b != nil && mat.Equal(a, b)
}

func sameComponent(a, b penalty.Component) bool {
	return a.Start == b.Start && a.Dim == b.Dim && a.DF == b.DF &&
		penalty.Penalty{S: a.S, SP: a.SP, Link: a.Link}.Equal(penalty.Penalty{S: b.S, SP: b.SP, Link: b.Link})
}

// constrain adds the coordinates of block j.
func (c *Constrained) constrain(j int) error {
	b, dim := c.blocks[j], c.raw[j+1]-c.raw[j]
	if b.Kept {
		b = b.zeroColumn(dim)
	}
	if n := b.contrast(c.view.Mean[c.raw[j]:c.raw[j+1]]); n > 0 {
		c.terms = append(c.terms, penalty.Component{Name: c.names[j], Start: c.start[j], Dim: dim - n, SP: b.Penalty.SP, Link: b.Penalty.Link, DF: b.DF})
		c.z, c.first, c.start = append(c.z, nil), append(c.first, n), append(c.start, c.start[j]+dim-n)
		return nil
	}
	null, err := c.nullSpace(j, b)
	if err != nil {
		return err
	}
	z, free := null, dim
	switch {
	case b.Map != nil && null == nil:
		z = b.Map
	case b.Map != nil:
		z = times(b.Map, null)
	}
	if z != nil {
		_, free = z.Dims()
	}
	t := penalty.Component{Name: c.names[j], Start: c.start[j], Dim: free, SP: b.Penalty.SP, Link: b.Penalty.Link, DF: b.DF}
	if t.S, err = c.scaled(j, b, null); err != nil {
		return err
	}
	if b.Select {
		if err := selectNull(&t); err != nil {
			return fmt.Errorf("term %q: %w", t.Name, err)
		}
	}
	c.terms, c.z, c.first, c.start = append(c.terms, t), append(c.z, z), append(c.first, 0), append(c.start, t.Start+free)
	return nil
}

// contrast is how many of the first coefficients are 0, if the constraint is that one of several
// is 0, those before it are of levels without rows (mean are the columns'), and nothing is penalised: of
// many levels the matrix that says so would be large. 0: it is another constraint.
func (b Block) contrast(mean []float64) int {
	reference := slices.IndexFunc(b.Normal, func(v float64) bool { return v != 0 })
	if b.Map != nil || b.Select || len(b.Penalty.S) > 0 || reference < 0 || len(b.Normal)-reference < 2 ||
		anyNonZero(b.Normal[reference+1:]) || anyNonZero(mean[:reference]) {
		return 0
	}
	return reference + 1
}

func anyNonZero(v []float64) bool {
	return slices.ContainsFunc(v, func(x float64) bool { return x != 0 })
}

// zeroColumn is b with a column of zeros under a fixed penalty in place of its own, so
// that every block has a column: its coefficient is exactly 0, and no other one
// feels it.
func (b Block) zeroColumn(dim int) Block {
	return Block{
		Map: mat.NewDense(dim, 1, nil), Norm: b.Norm,
		Penalty: penalty.Penalty{S: []mat.Symmetric{penalty.Ridge(1)}, SP: []float64{1}},
	}
}

// nullSpace is an orthonormal basis of {a : v'Map a = 0}; nil if that is everything.
func (c *Constrained) nullSpace(j int, b Block) (*mat.Dense, error) {
	v := b.Normal
	if v == nil {
		return nil, nil
	}
	if b.Map != nil {
		_, n := b.Map.Dims()
		mapped := mat.NewVecDense(n, nil)
		mapped.MulVec(b.Map.T(), mat.NewVecDense(len(v), v))
		v = mapped.RawVector().Data
	}
	switch norm := floats.Norm(v, 2); {
	case norm == 0:
		return nil, nil
	case len(v) == 1:
		return nil, fmt.Errorf("term %q has no column left after its constraint", c.names[j])
	}
	return complement(v), nil
}

// scaled are the penalties of block j in constrained coordinates.
func (c *Constrained) scaled(j int, b Block, null *mat.Dense) (all []mat.Symmetric, err error) {
	for i, s := range b.Penalty.S {
		if b.Standardised {
			all = append(all, congruence(null, c.inStandardised(j, s)))
			continue
		}
		scaled, factor := penalty.Scale(s, b.Norm)
		if !(factor > 0) || math.IsInf(factor, 0) {
			return nil, fmt.Errorf("term %q: penalty %d cannot be scaled, its basis is zero on all rows", c.names[j], i)
		}
		if null != nil {
			scaled = congruence(null, scaled)
		}
		all = append(all, scaled)
	}
	return all, nil
}

// inStandardised is D S D for the raw columns of block j, D their weighted standard
// deviations. A column that does not vary has no penalty, as it has no effect.
func (c *Constrained) inStandardised(j int, s mat.Symmetric) *mat.SymDense {
	dim := s.SymmetricDim()
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
	z := mat.NewDense(d, d-1, linalg.Zeros(d*(d-1)))
	for i, v := range u {
		row := z.RawRowView(i)
		for j, w := range u[1:] {
			if v != 0 && w != 0 {
				row[j] = -2 * v * w / uu
			}
		}
		if i > 0 {
			row[i-1]++
		}
	}
	return z
}

// Z maps constrained coefficients of block j to raw ones (d x c); nil: the identity.
func (c *Constrained) Z(j int) *mat.Dense {
	if c.first[j] == 0 {
		return c.z[j]
	}
	d := c.raw[j+1] - c.raw[j]
	z := mat.NewDense(d, d-c.first[j], nil)
	for i := c.first[j]; i < d; i++ {
		z.Set(i, i-c.first[j], 1)
	}
	return z
}

// Terms are the blocks' columns and penalties in constrained coordinates, to be read.
func (c *Constrained) Terms() []penalty.Component { return slices.Clone(c.terms) }

// Notes are whole sentences on what was done that the reader should know.
func (c *Constrained) Notes() []string { return c.notes }

// Columns is the number of constrained columns of block j; 0 for one that is kept.
func (c *Constrained) Columns(j int) int {
	if c.blocks[j].Kept {
		return 0
	}
	return c.start[j+1] - c.start[j]
}

// Width is the number of constrained columns of all blocks.
func (c *Constrained) Width() int {
	n := 0
	for j := range c.blocks {
		n += c.Columns(j)
	}
	return n
}

// Beta are the network's own raw coefficients of all blocks.
func (c *Constrained) Beta() []float64 {
	beta := make([]float64, c.raw[len(c.blocks)])
	for j, b := range c.blocks {
		copy(beta[c.raw[j]:c.raw[j+1]], b.Beta)
	}
	return beta
}

// Raw is the range of raw columns of block j.
func (c *Constrained) Raw(j int) (from, to int) { return c.raw[j], c.raw[j+1] }

// Mean are the weighted means of the raw columns, MeanZeta that of zeta.
func (c *Constrained) Mean() []float64 { return c.view.Mean }

// MeanZeta is the weighted mean of the deep part.
func (c *Constrained) MeanZeta() float64 { return c.view.MeanR }

// ConstantZeta tells whether the deep part is the same in all rows of weight.
func (c *Constrained) ConstantZeta() bool { return c.view.RR == 0 }

// blockOf is the block of constrained column i.
func (c *Constrained) blockOf(i int) int {
	j := 0
	for c.start[j+1] <= i {
		j++
	}
	return j
}
