package projection

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/internal/base/linalg"
	"github.com/pho-go/pho/penalty"
)

// Response is the projection of another response on the columns of a Fit, with its
// smoothing parameters, rank and split of what aliasing leaves open.
type Response struct {
	Columns *Constrained // of this response: its moments and variances
	Alpha   []float64    // raw
	Scale   float64      // residual variance, on the degrees of freedom of the Fit
}

// Response projects the response of c, which Constrained.Response made of the columns of f.
// With (X'WX + S)^-1 at hand from the covariance it is one product of that matrix, so
// twenty networks cost little more than one; where the fit came from the factor, whose
// digits that product would lose, or left no residual, it is solved anew. known is the
// scale, or 0. Call it after Settle.
func (f *Fit) Response(ctx context.Context, c *Constrained, known float64) (*Response, error) {
	out := &Response{Columns: c}
	if len(f.alpha) == 0 {
		out.Alpha, out.Scale = c.expand(nil), f.residualVariance(c.view.RR, known)
		return out, nil
	}
	if f.problem.factor != nil || !(f.Scale > 0) {
		return out, out.solve(ctx, f, known)
	}
	_, xz, zz := c.rawProducts(f.problem.sums.Intercept, f.problem.total, c.Beta())
	z := mat.NewVecDense(len(f.alpha), c.reduceVector(xz))
	for i, sd := range f.sd {
		if sd == 0 {
			z.SetVec(i, 0)
		}
	}
	alpha := mat.NewVecDense(len(f.alpha), linalg.MulVec(f.cov, z.RawVector().Data))
	alpha.ScaleVec(1/f.Scale, alpha)
	out.Scale = f.residualVariance(zz-2*mat.Dot(z, alpha)+mat.Dot(alpha, f.products(alpha.RawVector().Data)), known)
	f.shift(alpha.RawVector().Data, c.Beta())
	out.Alpha = f.raw(alpha.RawVector().Data, c.Beta())
	return out, nil
}

// solve does it without the covariance.
func (out *Response) solve(ctx context.Context, f *Fit, known float64) (err error) {
	c := out.Columns
	problem, own := c.Problem(f.problem.sums.Intercept, f.problem.total), (*Fit)(nil)
	if f.Status == "" {
		own, err = problem.Orthogonal()
	} else {
		problem.sums.Terms = slices.Clone(problem.sums.Terms)
		for j := range problem.sums.Terms {
			if !c.blocks[j].Kept {
				problem.sums.Terms[j].SP, problem.sums.Terms[j].DF = f.Lambda[j], 0
			}
		}
		own, err = problem.Penalised(ctx, nil, penalty.Options{Criterion: penalty.Fixed, Scale: known, WithoutVc: true})
	}
	if err != nil {
		return err
	}
	if err := own.Settle(); err != nil {
		return err
	}
	out.Alpha, out.Scale = own.Alpha(), own.Scale
	return nil
}

// Response is c with column r of the moments' responses in place of its own, of a network
// whose own raw coefficients are beta (one for each raw column of the blocks).
func (c *Constrained) Response(m *moments.Moments, r int, beta []float64) *Constrained {
	of := *c
	of.mix = make([]float64, m.Layout.Responses)
	of.mix[r] = 1
	of.view = m.Mixture(c.k, of.mix)
	of.blocks = slices.Clone(c.blocks)
	for j := range of.blocks {
		of.blocks[j].Beta = beta[c.raw[j]:c.raw[j+1]]
	}
	return &of
}

// Response is the problem of the response of c, which Constrained.Response made of p's
// columns. Their products are shared.
func (p *Problem) Response(c *Constrained) *Problem {
	if p.factor != nil || c.width() == 0 {
		return c.Problem(p.sums.Intercept, p.total)
	}
	own, sums := &Problem{columns: c, total: p.total, beta: c.Beta()}, *p.sums
	var xz []float64
	_, xz, sums.ZZ = c.rawProducts(sums.Intercept, p.total, own.beta)
	sums.XZ = c.reduceVector(xz)
	for i := range sums.XZ {
		if sums.XX.At(i, i) == 0 { // see clearConstant
			sums.XZ[i] = 0
		}
	}
	if sums.Intercept {
		sums.ZMean = c.view.MeanR
		if p.total {
			sums.ZMean += floats.Dot(c.view.Mean, own.beta)
		}
	}
	own.sums = &sums
	return own
}

// residualVariance is the sum of squares rss on the degrees of freedom that the fit
// leaves; the known one, if it is not 0.
func (f *Fit) residualVariance(rss, known float64) float64 {
	if df := float64(f.problem.sums.Rows) - f.EDFTotal; known == 0 && df > 0.5 {
		return math.Max(rss, 0) / df
	}
	return known
}
