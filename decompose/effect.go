package decompose

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
)

// Effect is a term's centred curve at the rows of a grid: Before with the
// network's own coefficients, After with what PHO moved, and SE, the standard
// error of the moved part (projection: the residual is taken as noise; Wood
// 2017, 6.10). SE is NaN where the split is not identified or no covariance is
// at hand.
type Effect struct {
	Before, After, SE []float64 // one per row
}

// Effect evaluates term j of predictor k at the rows of b, which must have the
// columns of the model (the term depends on its own features only).
func (a *Applier) Effect(ctx context.Context, k, j int, b *data.Batch) (*Effect, error) {
	d := &a.result.Predictors[k]
	t := &d.Terms[j]
	n, dim := b.Rows(), t.term.Dim()
	if n == 0 {
		return &Effect{}, nil
	}
	rows := b.Slice(0, n)
	f := newForward(a.model, a.terms)
	if t.Kind == Learned {
		out := f.outputs(n)
		if _, err := f.run(ctx, rows, out, 0); err != nil {
			return nil, err
		}
	}
	x := mat.NewDense(n, dim, nil)
	if err := t.term.Eval(x, rows); err != nil {
		return nil, fmt.Errorf("decompose: effect of %q: %w", t.Name, err)
	}
	e := &Effect{Before: make([]float64, n), After: make([]float64, n), SE: make([]float64, n)}
	cov, mean := d.covariance(j)
	for i := range n {
		row := x.RawRowView(i)
		var before, moved float64
		for c, v := range row {
			before += v * t.Beta[c]
			moved += v * t.Alpha[c]
		}
		e.Before[i] = before - t.Before.Mean
		e.After[i] = before + moved - t.Center
		e.SE[i] = math.NaN()
		if cov != nil && t.Identified {
			for c := range row {
				row[c] -= mean[c]
			}
			v := mat.NewVecDense(dim, row)
			e.SE[i] = math.Sqrt(math.Max(mat.Inner(v, cov, v), 0))
		}
	}
	return e, nil
}

// covariance is term j's block of the raw covariance and the weighted means of
// its raw columns; nil if the result carries none.
func (d *Predictor) covariance(j int) (*mat.SymDense, []float64) {
	if d.cov == nil {
		return nil, nil
	}
	lo := 0
	for i := range j {
		lo += len(d.Terms[i].Alpha)
	}
	hi := lo + len(d.Terms[j].Alpha)
	return d.cov.SliceSym(lo, hi).(*mat.SymDense), d.mean[lo:hi]
}
