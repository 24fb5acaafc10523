package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

const (
	structured = 10 // features in X
	features   = 20 // in Z
	patience   = 50
)

// once trains a network on c.n rows and predicts as many others.
func (s study) once(ctx context.Context, c cell, rng *rand.Rand) (*repetition, error) {
	train, err := c.draw(rng, c.n)
	if err != nil {
		return nil, err
	}
	test, err := c.draw(rng, min(c.n, s.test))
	if err != nil {
		return nil, err
	}
	var deep []string
	for j := range features {
		deep = append(deep, fmt.Sprintf("z%d", j))
	}
	m, fit, err := native.Train(ctx, native.Config{
		Structured: native.Structured{Formulas: []string{c.formula()}},
		Deep:       native.Deep{Columns: deep, Hidden: []int{10}, Orthogonalize: true},
		Training: native.Training{
			Epochs: c.epochs, BatchSize: c.batch, LearningRate: 0.003, Patience: patience, Seed: rng.Uint64() >> 1, Workers: 1,
			WithoutResponseScaling: true, WithoutInterceptStart: true, WithoutWarmStart: true,
			Initialization: native.He, // as in the committed runs
		},
	}, train)
	if err != nil {
		return nil, err
	}
	o := &decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}, Resources: decompose.Resources{Workers: 1}}
	if !c.design.overlap {
		o.WithoutIntercept = m.Predictors()
	}
	off := m.Unprojected() // zeta as the network has it, of which alpha is found here
	stats, err := decompose.Accumulate(ctx, off, train, o)
	if err != nil {
		return nil, err
	}
	r, err := decompose.Solve(ctx, off, stats, o)
	if err != nil {
		return nil, err
	}
	out := &repetition{on: make([]float64, len(s.batches)), epochs: len(fit.Epochs)}
	return out, out.predict(ctx, m, r, test, s.batches)
}

// predict fills in the errors on the rows of test.
func (out *repetition) predict(ctx context.Context, m *native.Model, r *decompose.Result, test *data.Table, batches []int) error {
	test.BatchRows = test.Rows()
	for b, err := range test.Batches(ctx, test.Schema().Names()) { // one batch
		if err != nil {
			return err
		}
		y, err := b.Numeric("y")
		if err != nil {
			return err
		}
		n := b.Rows()
		net := &decompose.Outputs{Zeta: mat.NewDense(n, 1, nil), Eta: mat.NewDense(n, 1, nil)}
		if err := m.Unprojected().Forward(ctx, net, b); err != nil {
			return err
		}
		moved, err := moved(r, b)
		if err != nil {
			return err
		}
		for i, v := range y {
			eta := net.Eta.At(i, 0)
			left := net.Zeta.At(i, 0) - moved[i]
			out.off += (v - eta) * (v - eta) / float64(n)
			out.alpha += (v - eta + moved[i]) * (v - eta + moved[i]) / float64(n)
			out.deep += left * left / float64(n)
		}
		for k, size := range batches {
			for from := 0; from < n; from += size {
				to := min(from+size, n)
				eta, err := m.PredictOnline(b.Slice(from, to))
				if err != nil {
					return err
				}
				for i := from; i < to; i++ {
					d := y[i] - eta.At(i-from, 0)
					out.on[k] += d * d / float64(n)
				}
			}
		}
	}
	return nil
}

// moved is alpha_0 + X alpha, alpha of the training rows, at the rows of b.
func moved(r *decompose.Result, b *data.Batch) ([]float64, error) {
	p := &r.Predictors[0]
	out := constant(p.InterceptMoved, b.Rows())
	for j := range p.Terms {
		t := &p.Terms[j]
		x := mat.NewDense(b.Rows(), t.Term().Dim(), nil)
		if err := t.Term().Eval(x, b); err != nil {
			return nil, err
		}
		for i := range out {
			for k, v := range x.RawRowView(i) {
				out[i] += v * t.Alpha[k]
			}
		}
	}
	return out, nil
}

// expected is the excess error if X is independent of the deep part: a projection
// on p of b directions takes p/b of its squares, all if b <= p.
func (r *repetition) expected(d design, b int) float64 {
	if d.overlap {
		return math.NaN()
	}
	return r.deep * math.Min(1, structured/float64(b))
}

// draw draws X and Z standard normal and y = sin(Z1) + Z2^2 + e.
func (c cell) draw(rng *rand.Rand, n int) (*data.Table, error) {
	t := data.NewTable(n)
	y := make([]float64, n)
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	add := func(format string, count int, f func(j int, x float64) float64) error {
		for j := range count {
			x := make([]float64, n)
			for i := range x {
				x[i] = rng.NormFloat64()
				y[i] += f(j, x[i])
			}
			if err := t.AddNumeric(fmt.Sprintf(format, j), x); err != nil {
				return err
			}
		}
		return nil
	}
	if err := add("z%d", features, func(j int, z float64) float64 {
		switch j {
		case 0:
			return math.Sin(z)
		case 1:
			return z * z
		}
		return 0
	}); err != nil {
		return nil, err
	}
	if !c.design.overlap {
		if err := add("x%d", structured, func(int, float64) float64 { return 0 }); err != nil {
			return nil, err
		}
	}
	return t, t.AddNumeric("y", y)
}

func (c cell) formula() string {
	name, end := "x%d", " - 1"
	if c.design.overlap {
		name, end = "z%d", ""
	}
	terms := make([]string, structured)
	for j := range terms {
		terms[j] = fmt.Sprintf(name, j)
	}
	return "y ~ " + strings.Join(terms, " + ") + end
}
