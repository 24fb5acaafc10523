package projection

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
	"github.com/pho-go/pho/penalty"
)

// Problem is the projection on a predictor's columns as (penalised) least squares.
type Problem struct {
	columns *Constrained
	total   bool             // X beta + zeta is projected, not zeta
	beta    []float64        // raw
	sums    *penalty.Problem // constrained; products of the factor's rows if there is one
	factor  *factored        // nil: there is none, or no column
}

// Problem is that of zeta or, to refit the total, of X beta + zeta.
func (c *Constrained) Problem(intercept, total bool) *Problem {
	p := &Problem{columns: c, total: total, beta: c.Beta()}
	p.sums = c.products(intercept, total, p.beta)
	if p.factor = c.factor(intercept, total, p.beta); p.factor != nil {
		p.factor.into(p.sums, c)
	}
	return p
}

// products is the problem by sums of products. Nearly constant columns are set to
// exactly zero so that rounding is not taken for signal.
func (c *Constrained) products(intercept, total bool, beta []float64) *penalty.Problem {
	p := &penalty.Problem{Rows: c.view.Positive, SumW: c.view.SumW, SumLogW: c.view.SumLogW, Intercept: intercept, Terms: c.terms}
	var xx mat.Symmetric
	var xz []float64
	xx, xz, p.ZZ = c.rawProducts(intercept, total, beta)
	if c.width() == 0 {
		return p
	}
	p.XX, p.XZ = c.reduce(xx), c.reduceVector(xz)
	if intercept {
		p.XMean, p.ZMean = c.reduceVector(c.view.Mean), c.view.MeanR
		if total {
			p.ZMean += floats.Dot(c.view.Mean, beta)
		}
		c.clearConstant(p)
	}
	return p
}

// rawProducts are the products of the raw columns with each other, with the projected
// variable z, and of z with itself; z is zeta or X beta + zeta.
func (c *Constrained) rawProducts(intercept, total bool, beta []float64) (xx mat.Symmetric, xz []float64, zz float64) {
	xx, xz, zz = c.view.XX, c.view.XR, c.view.RR
	if !intercept {
		xx, xz, zz = c.view.Raw()
	}
	if !total || c.width() == 0 {
		return xx, xz, zz
	}
	fitted := linalg.MulVec(xx, beta)
	zz += 2*floats.Dot(xz, beta) + floats.Dot(fitted, beta)
	xz = append([]float64(nil), xz...)
	floats.Add(xz, fitted)
	return xx, xz, zz
}

// clearConstant sets the products of columns that do not vary to 0.
func (c *Constrained) clearConstant(p *penalty.Problem) {
	for i, mean := range p.XMean {
		if c.varies(c.blockOf(i), p.XX.At(i, i), mean) {
			continue
		}
		p.XZ[i] = 0
		linalg.Clear(p.XX, i)
	}
}
