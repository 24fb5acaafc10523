package network

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/internal/base/householder"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Training with online orthogonalization projects the deep part zeta in each batch. A row
// to predict has no batch. The projection over all training rows takes its place, a fixed
// linear map (Rügamer 2023, appendix "Out-of-sample contributions"):
//
//	eta = X beta + zeta - X alpha,   alpha = X^+ zeta over the training rows.

// Projection is alpha of one predictor in the structured columns of training: the
// coefficient of the intercept, then p others.
type Projection struct {
	Predictor int
	Intercept float64
	Alpha     []float64
}

// Projections are those of the towers that are orthogonalized online, over all rows of
// blocks.
func (m *Network[T]) Projections(blocks iter.Seq[*Batch[T]], mode nn.Mode) ([]*Projection, error) {
	var out []*Projection
	for i, t := range m.Towers {
		if m.complements[i] == nil {
			continue
		}
		k := t.Plan.Predictors[0]
		p := 0
		if m.Structured[k] != nil {
			p = len(m.Structured[k].W.Value)
		}
		sums := newRegression(p, m.Free[k])
		for b := range blocks {
			t.hidden(b.X[i], b.Codes[i], m.Towers, b.N, mode)
			zeta := t.Head.Forward(t.U, b.N, mode)
			addRows(sums, b.Structured[k], zeta, b.N)
		}
		coef, err := sums.solve()
		if err != nil {
			return nil, fmt.Errorf("native: online orthogonalization: the projection of tower %q on the formula's columns: %w", t.Plan.Name, err)
		}
		a := &Projection{Predictor: k, Alpha: coef[len(coef)-p:]}
		if m.Free[k] {
			a.Intercept = coef[0]
		}
		out = append(out, a)
	}
	return out, nil
}

// Subtract takes X alpha from the predictor of a in eta (n x k); x is n x p.
func Subtract[T kernel.Float](a *Projection, eta []T, k int, x []T, n int) {
	p := len(a.Alpha)
	for i := range n {
		sum := a.Intercept
		for j, v := range x[i*p:][:p] {
			sum += a.Alpha[j] * float64(v)
		}
		eta[i*k+a.Predictor] -= T(sum)
	}
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
	s.rows = nn.Sized(s.rows, n*s.width)
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

// solve returns the coefficients of [1, x]. A column gets coefficient 0 if what earlier ones
// leave of it is negligible beside the largest column: the columns of training are
// conditioned, so that would be the rounding errors of aliased terms.
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
