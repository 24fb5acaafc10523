package native

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/householder"
	"github.com/pho-go/pho/internal/kernel"
)

// Training with online orthogonalization projects the deep part zeta in each batch. A
// row by itself has no batch. What takes its place is the projection over all training
// rows, which is a fixed linear map (paper, appendix "Out-of-sample contributions"):
//
//	eta = X beta + zeta - X alpha,   alpha = X^+ zeta over the training rows.

// projection is alpha of one predictor in the columns of training: the coefficient of
// the intercept, then p others.
type projection struct {
	predictor int
	intercept float64
	alpha     []float64
}

// projections are those of the towers that are orthogonalized online, over the rows of d.
func (m *network[T]) projections(d *dataset[T], mode nn.Mode) ([]*projection, error) {
	var out []*projection
	for i, t := range m.towers {
		if m.bases[i] == nil {
			continue
		}
		k := t.plan.predictors[0]
		p := 0
		if m.lines[k] != nil {
			p = m.lines[k].In
		}
		sums := newRegression(p, m.free[k])
		for from := 0; from < d.n; from += evaluated {
			b := d.part(from, min(from+evaluated, d.n))
			t.hidden(b.x[i], b.codes[i], m.towers, b.n, mode)
			zeta := t.head.Forward(t.u, b.n, mode)
			addRows(sums, b.lines[k], zeta, b.n)
		}
		coef, err := sums.solve()
		if err != nil {
			return nil, fmt.Errorf("native: online orthogonalization: the projection of tower %q on the formula's columns: %w", t.plan.name, err)
		}
		a := &projection{predictor: k, alpha: coef[len(coef)-p:]}
		if m.free[k] {
			a.intercept = coef[0]
		}
		out = append(out, a)
	}
	return out, nil
}

// subtract takes X alpha from predictor a.predictor of eta (n x k); x is n x p.
func subtract[T kernel.Float](a *projection, eta []T, k int, x []T, n int) {
	p := len(a.alpha)
	for i := range n {
		sum := a.intercept
		for j, v := range x[i*p:][:p] {
			sum += a.alpha[j] * float64(v)
		}
		eta[i*k+a.predictor] -= T(sum)
	}
}

// fixedProjection is alpha on the raw columns of the formula's terms, in the response's
// units: its blocks are those of the predictor with alpha as coefficients.
type fixedProjection struct {
	intercept float64
	blocks    []decompose.Block
}

func (a *projection) fixed(s *structured, scale float64) *fixedProjection {
	blocks, means := s.raw(scaleBy(slices.Clone(a.alpha), scale))
	return &fixedProjection{intercept: scale*a.intercept + means, blocks: blocks}
}

// Unprojected is the model of a network that was trained with Deep.Orthogonalize with
// the projection left off: eta = X beta + zeta, zeta as the network has it. Training
// never sees what zeta has of X, so that part is arbitrary; the method exists to show
// what becomes of predictions then. Other models are returned as they are.
func (m *Model) Unprojected() *Model {
	u := *m
	u.away = make([]*fixedProjection, len(m.away))
	return &u
}

// written is the structured part of predictor k as a file has it, learned terms after
// the formula's: a graph holds one set of coefficients for each basis, so X beta and
// -X alpha are one there, X (beta - alpha).
func (m *Model) written(k int) (intercept float64, blocks []decompose.Block) {
	a := m.away[k]
	if a == nil {
		return m.intercept[k], m.blocks[k]
	}
	blocks = slices.Clone(m.blocks[k])
	for i, own := range a.blocks {
		coef := slices.Clone(blocks[i].Coef)
		for j, v := range own.Coef {
			coef[j] -= v
		}
		blocks[i].Coef = coef
	}
	return m.intercept[k] - a.intercept, blocks
}

// regression accumulates the triangular factor of rows [1, x, y], p numbers in x, from
// which least squares of y follow.
type regression struct {
	width, ones int
	r, rows     []float64
	work        householder.Work
}

func newRegression(p int, intercept bool) *regression {
	s := &regression{width: p + 1}
	if intercept {
		s.width, s.ones = s.width+1, 1
	}
	s.r = make([]float64, s.width*s.width)
	return s
}

// addRows adds n rows; x is n x p.
func addRows[T kernel.Float](s *regression, x, y []T, n int) {
	p := s.width - s.ones - 1
	s.rows = grow(s.rows, n*s.width)
	for i := range n {
		row := s.rows[i*s.width:][:s.width]
		row[0] = 1 // overwritten if there is no intercept
		for j, v := range x[i*p:][:p] {
			row[s.ones+j] = float64(v)
		}
		row[s.width-1] = float64(y[i])
	}
	householder.Stack(s.r, s.width, s.rows, s.width, n, n, &s.work)
}

// solve returns the coefficients of [1, x]. Columns are left out, with coefficient 0, if
// next to nothing beside the largest is left of them by earlier ones: the columns of
// training are conditioned, so that would be the rounding errors of aliased terms.
func (s *regression) solve() ([]float64, error) {
	const negligible = 1e-8
	n := s.width - 1
	coef := make([]float64, n)
	column := func(j int) []float64 {
		v := make([]float64, s.width)
		for i := range j + 1 {
			v[i] = s.r[i*s.width+j]
		}
		return v
	}
	largest := 0.0
	for j := range n {
		largest = math.Max(largest, norm(column(j)))
	}
	c := &complement{rows: s.width}
	var kept []int
	for j := range n {
		if c.add(column(j), negligible*largest) {
			kept = append(kept, j)
		}
	}
	if len(kept) == 0 {
		return coef, nil
	}
	a := mat.NewDense(s.width, len(kept), nil)
	for i, j := range kept {
		a.SetCol(i, column(j))
	}
	var qr mat.QR
	qr.Factorize(a)
	var b mat.VecDense
	var condition mat.Condition
	if err := qr.SolveVecTo(&b, false, mat.NewVecDense(s.width, column(n))); err != nil && !errors.As(err, &condition) {
		return nil, err
	}
	for i, j := range kept {
		if coef[j] = b.AtVec(i); coef[j]-coef[j] != 0 {
			return nil, fmt.Errorf("a coefficient is %g", coef[j])
		}
	}
	return coef, nil
}
