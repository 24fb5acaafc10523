package importance

import (
	"math"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// prediction adds up how well the network itself predicts the response, and how well
// the mean of the response does.
type prediction struct {
	w, mean, ss float64 // of z: sum of weights, weighted mean, sum of w (z - mean)^2
	miss        float64 // sum of w (y - E y)^2
	base        float64 // sum of w d(y; 0): the deviance at a predictor of 0
}

// add adds a row; offset is part of eta[0]. z is the response, less the offset where
// that is a part of the mean: then the mean of z and the offset are what the null
// model predicts.
func (p *prediction) add(v *Visitor, y, w, offset float64, eta []float64) {
	z := y
	if v.traits.Location {
		z -= offset
	}
	p.w += w
	d := z - p.mean
	p.mean += d * w / p.w
	p.ss += w * d * (z - p.mean)
	d = y - v.family.Mean(eta)
	p.miss += w * d * d
	if v.traits.Affine {
		p.base += v.family.Deviance(y, w, []float64{0})
	}
}

// merge is the pairwise update of Chan, Golub and LeVeque (1983).
func (p *prediction) merge(o prediction) {
	switch {
	case o.w == 0:
		return
	case p.w == 0: // to the bit
		*p = o
		return
	}
	d, w := o.mean-p.mean, p.w+o.w
	p.ss += o.ss + d*d*p.w*o.w/w
	p.mean += d * o.w / w
	p.w = w
	p.miss += o.miss
	p.base += o.base
}

// prediction is what the sums say; figures that are not finite are nil. With d0 the deviance of a
// row at predictor 0, the deviance of the null model, which predicts the mean response, is
//
//	D0 = sum w d(y; ybar) = sum w d0(y) - W d0(ybar)
//
// since d(y; ybar) - d0(y) is affine in y and d(ybar; ybar) = 0. With an offset the
// null model is a constant beside it (type constant). A mean says nothing of a time
// that is censored: then a constant, or a baseline of its own, tells whether no predictor
// does better.
func (v *Visitor) prediction() *decompose.Prediction {
	if _, ok := v.family.(family.Classifier); ok {
		return v.classPrediction()
	}
	p := v.total.prediction
	if v.result.Event != "" {
		return v.timePrediction()
	}
	out := &decompose.Prediction{R2: finite(1 - p.miss/p.ss), RMSE: finite(math.Sqrt(p.miss / p.w))}
	switch {
	case p.ss == 0: // a constant response: there is nothing to explain
		return out
	case v.traits.Affine && v.result.Offset == "":
		most := p.base - v.family.Deviance(p.mean, p.w, []float64{0})
		out.DevianceExplained = finite(1 - v.total.full.deviance/most)
		out.Worse = !(v.total.full.deviance <= most)
	case v.total.constant != nil:
		most := v.total.constant.best(false)
		out.DevianceExplained = finite(1 - v.total.full.deviance/most)
		out.Worse = v.total.full.deviance > most || math.IsNaN(most) && !(p.miss <= p.ss)
	default:
		out.Worse = !(p.miss <= p.ss)
	}
	return out
}
