package decompose

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
)

// Effect is a centred curve at the rows of a grid: Before with the network's own
// coefficients, After with what PHO moved, and SE, the standard error of the
// moved part (projection: the residual is taken as noise; Wood 2017, 6.10). SE
// is NaN where the curve is not identified or no covariance is at hand.
type Effect struct {
	Before, After, SE []float64 // one per row
}

// Effect evaluates term j of predictor k at the rows of b, which must have the
// columns of the model (the term depends on its own features only).
func (a *Applier) Effect(ctx context.Context, k, j int, b *data.Batch) (*Effect, error) {
	return a.SumEffect(ctx, k, []int{j}, b)
}

// SumEffect is Effect for the sum of several terms. The sum of terms that are
// entangled with each other only is identified, though none of them is.
func (a *Applier) SumEffect(ctx context.Context, k int, terms []int, b *data.Batch) (*Effect, error) {
	d := &a.result.Predictors[k]
	n := b.Rows()
	e := &Effect{Before: make([]float64, n), After: make([]float64, n), SE: make([]float64, n)}
	if n == 0 {
		return e, nil
	}
	rows := b.Slice(0, n)
	if slices.ContainsFunc(terms, func(j int) bool { return d.Terms[j].Kind == Learned }) {
		f := newForward(a.model, a.terms)
		if _, err := f.run(ctx, rows, f.outputs(n), 0); err != nil {
			return nil, err
		}
	}
	se := d.sumOf(terms)
	for _, j := range terms {
		t := &d.Terms[j]
		x := mat.NewDense(n, t.term.Dim(), nil)
		if err := t.term.Eval(x, rows); err != nil {
			return nil, fmt.Errorf("decompose: effect of %q: %w", t.Name, err)
		}
		for i := range n {
			before, moved := floats.Dot(x.RawRowView(i), t.Beta), floats.Dot(x.RawRowView(i), t.Alpha)
			e.Before[i] += before - t.Before.Mean
			e.After[i] += before + moved - t.Center
		}
		se.add(x)
	}
	se.errors(e.SE)
	return e, nil
}

// sumError gathers the columns of a sum of terms for its standard error.
type sumError struct {
	predictor  *Predictor
	at         []int // of the gathered columns among the raw ones
	x          [][]float64
	identified bool
}

func (d *Predictor) sumOf(terms []int) *sumError {
	s := &sumError{predictor: d, identified: d.cov != nil}
	var names []string
	for _, j := range terms {
		lo := 0
		for _, t := range d.Terms[:j] {
			lo += len(t.Alpha)
		}
		for c := range d.Terms[j].Alpha {
			s.at = append(s.at, lo+c)
		}
		names = append(names, d.Terms[j].Name)
	}
	for _, j := range terms {
		for _, other := range d.Terms[j].AliasedWith {
			s.identified = s.identified && contains(names, other)
		}
	}
	return s
}

func (s *sumError) add(x *mat.Dense) {
	if s.x == nil {
		n, _ := x.Dims()
		s.x = make([][]float64, n)
	}
	for i := range s.x {
		s.x[i] = append(s.x[i], x.RawRowView(i)...)
	}
}

// errors is the root of (x - m)'V(x - m), m the training means of the columns.
func (s *sumError) errors(dst []float64) {
	if !s.identified {
		for i := range dst {
			dst[i] = math.NaN()
		}
		return
	}
	p := len(s.at)
	cov := mat.NewSymDense(p, nil)
	for i, a := range s.at {
		for j := i; j < p; j++ {
			cov.SetSym(i, j, s.predictor.cov.At(a, s.at[j]))
		}
	}
	for i, x := range s.x {
		for c := range x {
			x[c] -= s.predictor.mean[s.at[c]]
		}
		v := mat.NewVecDense(p, x)
		dst[i] = math.Sqrt(math.Max(mat.Inner(v, cov, v), 0))
	}
}
