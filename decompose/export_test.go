package decompose

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// MaxRowNorm is the largest row 1-norm of the first basis.
func (s *Statistics) MaxRowNorm() float64 { return s.sum.Total().MaxRowNorm[0] }

// Ordered is the number at a place of numbers in order.
func Ordered(v []float64, place int) float64 { return ordered(v, place) }

// Judge gives the verdicts again.
func (r *Result) Judge() { r.judge() }

// MeanSquaredError is that of term j of predictor k.
func (r *Result) MeanSquaredError(k, j int) float64 {
	return r.Predictors[k].meanSquaredError(func(v mat.Symmetric, terms ...int) float64 {
		return linalg.Trace(v, r.sum.Total().Predictor(k).Products(terms...))
	}, j)
}

// Covariances are those of predictor k's raw coefficients, of the projection and of the
// last pass (nil: none), with the latter's of the intercept.
func (r *Result) Covariances(k int) (projection, robust *mat.SymDense, intercept []float64, variance float64) {
	d := &r.Predictors[k]
	if d.cov != nil {
		projection = linalg.Dense(d.cov)
	}
	if d.robust == nil {
		return projection, nil, nil, 0
	}
	return projection, linalg.Dense(d.robust.cov), d.robust.intercept, d.robust.variance
}

// Means are those of predictor k's raw columns.
func (r *Result) Means(k int) []float64 { return r.Predictors[k].mean }

// BandBytes are the sums of the bands.
func BandBytes(s *Explanation) []byte {
	var w sumsWriter
	s.bands.append(&w)
	return w.out
}

// BiasVariance is what smoothing adds to the squared standard errors of term j of predictor k, at rows x of its
// pieces' columns less their means.
func (r *Result) BiasVariance(k, j int, x *mat.Dense) []float64 {
	n, _ := x.Dims()
	out := make([]float64, n)
	d := r.Predictors[k]
	if d.fit.bias.M == nil {
		return out
	}
	d.cov, d.robust = d.fit.bias.Matrix(), nil
	u, err := d.uncertainty(j)
	if err != nil {
		panic(err)
	}
	for i := range out {
		out[i] = mat.Inner(x.RowView(i), u.cov, x.RowView(i))
	}
	return out
}

// PieceTerms are the terms whose columns term j of predictor k has.
func (r *Result) PieceTerms(k, j int) (terms []int) {
	for _, p := range r.Predictors[k].pieces([]int{j}) {
		terms = append(terms, p.term)
	}
	return terms
}

// SumsOfTerms are the sums of terms of predictor k that have bands of their own.
func (r *Result) SumsOfTerms(k int) [][]int { return r.Predictors[k].sumsOfTerms() }

// Leaders are, by predictor, which one finds its leverages in the last pass.
func (r *Result) Leaders(o *Options) (leaders []int, err error) {
	_, at := r.layout()
	p, err := r.newSandwich(at, o)
	if err != nil {
		return nil, err
	}
	for _, s := range p.predictors {
		leaders = append(leaders, s.leader)
	}
	return leaders, nil
}
