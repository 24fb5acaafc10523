package main

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/examples/paper/internal/simulation"
)

// ends of the grid on which curves are drawn: 99 % of the rows.
const ends = 2.5

// gridOf has every structured feature on the grid; the other features, which no
// effect depends on, are 0.
func (s study) gridOf(sample *simulation.Sample) (*data.Table, error) {
	t := data.NewTable(s.grid)
	x := s.points()
	for j, name := range sample.Deep {
		v := x
		if j >= s.functions {
			v = make([]float64, s.grid)
		}
		if err := t.AddNumeric(name, v); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (s study) points() []float64 { return floats.Span(make([]float64, s.grid), -ends, ends) }

// truth is the estimate without error: curves less their means over the rows.
func (f *fitting) truth() estimate {
	e := estimate{method: "truth"}
	for j, at := range f.sample.Truth {
		e.error, e.raw = append(e.error, 0), append(e.raw, 0)
		curve := f.points()
		for i, x := range curve {
			curve[i] = simulation.Functions()[j](x) - floats.Sum(at)/float64(len(at))
		}
		e.curve = append(e.curve, curve)
	}
	return e
}

// estimate is the effects of m before or after projection.
func (f *fitting) estimate(ctx context.Context, m *native.Model, r *decompose.Result, before bool) (e estimate, err error) {
	a, err := r.Applier(m)
	if err != nil {
		return e, err
	}
	for j := range f.sample.X {
		rows, err := effect(ctx, a, j, f.sample.Table, f.sample.Deep, before)
		if err != nil {
			return e, err
		}
		mean := floats.Sum(rows) / float64(len(rows))
		fit := simulation.Centred(rows)
		e.error = append(e.error, simulation.RMSE(fit, simulation.Centred(f.sample.Truth[j])))
		e.raw = append(e.raw, simulation.RMSE(fit, f.sample.Truth[j]))
		curve, err := effect(ctx, a, j, f.grid, f.sample.Deep, before)
		if err != nil {
			return e, err
		}
		floats.AddConst(-mean, curve)
		e.curve = append(e.curve, curve)
	}
	return e, nil
}

// effect is that of term j at the rows of t.
func effect(ctx context.Context, a *decompose.Applier, j int, t *data.Table, columns []string, before bool) ([]float64, error) {
	var out []float64
	for b, err := range t.Batches(ctx, columns) {
		if err != nil {
			return nil, err
		}
		e, err := a.Effect(ctx, 0, j, b)
		if err != nil {
			return nil, fmt.Errorf("effect of x%d: %w", j, err)
		}
		if before {
			out = append(out, e.Before...)
		} else {
			out = append(out, e.After...)
		}
	}
	return slices.Clip(out), nil
}
