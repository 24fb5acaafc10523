package penalty

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// fewRows is a ridge of many more columns than rows, S = D^2, by the span of its rows (Hastie and Tibshirani 2004). With
// D^-1 X'WX D^-1 = U L U', U p x r and L diagonal,
//
//	alpha = D^-1 U c,   c = (L + lambda I)^-1 U'D^-1 X'Wz,
//	A^-1  = D^-1 [I/lambda + U K U'] D^-1,   K = (L + lambda I)^-1 - I/lambda,
//
// and log|A| - log|lambda S| is that of the r coordinates c, so criteria are, too.
type fewRows struct {
	d      []float64
	u      *mat.Dense
	values []float64 // L
	lambda float64   // once it is chosen
}

// fewestWide is the least number of columns for which the way by rows is worth it.
const fewestWide = 300

// newFewRows is nil where the problem is another one. reduced is that of c.
func newFewRows(p *Problem, o *Options) (f *fewRows, reduced *Problem) {
	n := len(p.XZ)
	if len(p.Terms) != 1 || n < fewestWide || int64(n) < 4*p.Rows || p.Factor != nil || o.Criterion == ML || !o.WithoutVc || !o.WithoutVe {
		return nil, nil
	}
	t := &p.Terms[0]
	if len(t.S) != 1 || t.SP != nil && t.SP[0] == 0 {
		return nil, nil
	}
	diag, ok := diagonalOf(t.S[0])
	if !ok {
		return nil, nil
	}
	f = &fewRows{d: make([]float64, n)}
	for i, v := range diag {
		if !(v > 0) {
			return nil, nil
		}
		f.d[i] = math.Sqrt(v)
	}
	if !f.decompose(p.dense(), int(p.Rows)) {
		return nil, nil
	}
	own, r := *p, len(f.values)
	xx := mat.NewSymDense(r, nil)
	own.XX, own.XZ, own.Others = xx, f.down(p.XZ), nil
	ones := make([]float64, r)
	for i, v := range f.values {
		ones[i] = 1
		xx.SetSym(i, i, v)
	}
	if p.XMean != nil {
		own.XMean = f.down(p.XMean)
	}
	for _, z := range p.Others {
		own.Others = append(own.Others, Response{XZ: f.down(z.XZ), ZZ: z.ZZ, ZMean: z.ZMean})
	}
	own.Terms = []Component{{Name: t.Name, Dim: r, S: []mat.Symmetric{mat.NewDiagDense(r, ones)}, SP: t.SP, Link: t.Link, DF: t.DF}}
	return f, &own
}

// decompose finds U and L by a Cholesky factor with pivots that ends where rounding begins; false if that has more than
// most columns, or none.
func (f *fewRows) decompose(xx *mat.SymDense, most int) bool {
	const rounding = 1e-13
	n := len(f.d)
	left, columns := make([]float64, n), [][]float64{}
	largest := 0.0
	for i := range left {
		left[i] = xx.At(i, i) / (f.d[i] * f.d[i])
		largest = math.Max(largest, left[i])
	}
	for {
		pivot := 0
		for i, v := range left {
			if v > left[pivot] {
				pivot = i
			}
		}
		if !(left[pivot] > rounding*largest) {
			break
		}
		if len(columns) == most {
			return false
		}
		column, root := make([]float64, n), math.Sqrt(left[pivot])
		for i := range column {
			column[i] = xx.At(i, pivot) / (f.d[i] * f.d[pivot])
		}
		for _, earlier := range columns {
			kernel.Axpy(column, earlier, -earlier[pivot])
		}
		for i, v := range column {
			column[i] = v / root
			left[i] -= column[i] * column[i]
		}
		left[pivot] = 0
		columns = append(columns, column)
	}
	if len(columns) == 0 {
		return false
	}
	factor := mat.NewDense(n, len(columns), nil)
	for j, c := range columns {
		factor.SetCol(j, c)
	}
	var svd mat.SVD
	if !svd.Factorize(factor, mat.SVDThin) {
		return false
	}
	f.u = new(mat.Dense)
	svd.UTo(f.u)
	f.values = svd.Values(nil)
	for i, v := range f.values {
		f.values[i] = v * v
	}
	return f.values[len(f.values)-1] > 0
}

// down is U'D^-1 x.
func (f *fewRows) down(x []float64) []float64 {
	scaled := mat.NewVecDense(len(x), nil)
	for i, v := range x {
		scaled.SetVec(i, v/f.d[i])
	}
	out := mat.NewVecDense(len(f.values), nil)
	out.MulVec(f.u.T(), scaled)
	return out.RawVector().Data
}

// choose is the fit of p by that of the reduced problem.
func (f *fewRows) choose(ctx context.Context, p, reduced *Problem, o *Options) (*Fit, error) {
	fit, err := choose(ctx, reduced, o, nil)
	if err != nil {
		return nil, err
	}
	f.lambda = fit.Lambda[0]
	for _, own := range fit.all() {
		c := mat.NewVecDense(len(own.Alpha), own.Alpha)
		alpha := mat.NewVecDense(len(p.XZ), nil)
		alpha.MulVec(f.u, c)
		own.Alpha = alpha.RawVector().Data
		for i, d := range f.d {
			own.Alpha[i] /= d
		}
		own.Rank, own.Dropped, own.schur, own.fewRows = len(p.XZ), nil, nil, f
		own.Vp = f.around(own.Scale/f.lambda, func(l float64) float64 { return own.Scale/(l+f.lambda) - own.Scale/f.lambda })
	}
	return fit, nil
}

// around is D^-1 [a I + U diag(k(l)) U'] D^-1.
func (f *fewRows) around(a float64, k func(l float64) float64) *mat.SymDense {
	n := len(f.d)
	out, uk := mat.NewSymDense(n, nil), mat.DenseCopyOf(f.u)
	for i := range n {
		out.SetSym(i, i, a)
		for j, l := range f.values {
			uk.Set(i, j, uk.At(i, j)*k(l))
		}
	}
	linalg.AddSymmetric(out, transposed(uk), transposed(f.u))
	f.scale(out)
	return out
}

// scale sets m to D^-1 m D^-1.
func (f *fewRows) scale(m *mat.SymDense) {
	over := make([]float64, len(f.d))
	for i, d := range f.d {
		over[i] = 1 / d
	}
	linalg.ScaleBoth(m, over)
}

// shrinkage is A^-1 S A^-1.
func (f *fewRows) shrinkage() *mat.SymDense {
	return f.around(1/f.lambda, func(l float64) float64 { return f.lambda/((l+f.lambda)*(l+f.lambda)) - 1/f.lambda })
}

// sandwich sets m to A^-1 m A^-1: with M = D^-1 m D^-1, T = MU and Y = TK/lambda + U K U'T K/2 it is
// D^-1 [M/lambda^2 + UY' + YU'] D^-1.
func (f *fewRows) sandwich(m *mat.SymDense) *mat.SymDense {
	f.scale(m)
	tk := linalg.Times(linalg.Mirror(m), f.u)
	ukq := linalg.TransTimes(f.u, tk) // U'T
	k := func(l float64) float64 { return -l / (f.lambda * (l + f.lambda)) }
	for j, l := range f.values {
		for i := range len(f.d) {
			tk.Set(i, j, tk.At(i, j)*k(l)/f.lambda)
		}
		for i, li := range f.values {
			ukq.Set(i, j, k(li)*ukq.At(i, j)*k(l)/2)
		}
	}
	y := linalg.Times(f.u, ukq)
	y.Add(y, tk)
	var left, right mat.Dense
	left.Augment(f.u, y)
	right.Augment(y, f.u)
	m.ScaleSym(1/(f.lambda*f.lambda), m)
	linalg.AddSymmetric(m, transposed(&left), transposed(&right))
	f.scale(m)
	return m
}
