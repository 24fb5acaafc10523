package main

import (
	"context"
	"fmt"
	"math"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// scenario is a kind of sample.
type scenario struct {
	N        int  `json:"n"`
	Weighted bool `json:"weighted"`
}

func (s scenario) String() string {
	if s.Weighted {
		return fmt.Sprintf("n%d-weighted", s.N)
	}
	return fmt.Sprintf("n%d", s.N)
}

// Points of the grids, from the 1st to the 99th percentile of a feature.
const (
	curvePoints = 51
	sidePoints  = 15
)

// counts are how often bands held one term, summed over samples.
type counts struct {
	Samples      int   `json:"samples"`
	Robust       []int `json:"robust"`       // by grid point
	Projection   []int `json:"projection"`   // by grid point
	Simultaneous int   `json:"simultaneous"` // all of the grid
	Range        int   `json:"range"`        // all of a grid over the sample's own range
	All          int   `json:"all"`          // pointwise robust bands at all of the grid, to compare
	// Squared: sums over samples of the squares of the curve's share of the grid that is
	// held, for the Monte Carlo error of their mean.
	Share  float64 `json:"share"`
	Square float64 `json:"square"`
}

func (c *counts) add(o counts) {
	if c.Robust == nil {
		c.Robust, c.Projection = make([]int, len(o.Robust)), make([]int, len(o.Projection))
	}
	for i := range o.Robust {
		c.Robust[i] += o.Robust[i]
		c.Projection[i] += o.Projection[i]
	}
	c.Samples, c.Simultaneous, c.Range, c.All = c.Samples+o.Samples, c.Simultaneous+o.Simultaneous, c.Range+o.Range, c.All+o.All
	c.Share, c.Square = c.Share+o.Share, c.Square+o.Square
}

// sample decomposes sample number seed and says for each term what the bands hold.
func sample(ctx context.Context, s scenario, seed uint64) ([]counts, error) {
	tab, err := draw(s.N, s.Weighted, seed)
	if err != nil {
		return nil, err
	}
	f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
	if err != nil {
		return nil, err
	}
	blocks, err := decompose.Prepare(ctx, tab, f.Specs, nil)
	if err != nil {
		return nil, err
	}
	m, err := decompose.With(world{}, map[string][]decompose.Block{"": blocks})
	if err != nil {
		return nil, err
	}
	o := &decompose.Options{Resources: decompose.Resources{Workers: 1}}
	if s.Weighted {
		o.Weights = "w"
	}
	stats, err := decompose.Accumulate(ctx, m, tab, o)
	if err != nil {
		return nil, err
	}
	r, err := decompose.Solve(ctx, m, stats, o)
	if err != nil {
		return nil, err
	}
	a, err := r.Applier(m)
	if err != nil {
		return nil, err
	}
	means, err := meanEffects(ctx, tab, s.Weighted)
	if err != nil {
		return nil, err
	}
	out := make([]counts, len(terms))
	before := make([]*decompose.Effect, len(terms)) // the last pass: bands of the projection
	for j := range terms {
		b, _, err := grid(j, nil)
		if err != nil {
			return nil, err
		}
		if before[j], err = a.Effect(ctx, 0, at(r, j), b); err != nil {
			return nil, err
		}
	}
	if err := decompose.Explain(ctx, m, tab, r, o); err != nil {
		return nil, err
	}
	for j := range terms {
		if out[j], err = count(ctx, r, a, j, means[j], before[j]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// at is the result's number of term j.
func at(r *decompose.Result, j int) int {
	for i, t := range r.Predictors[0].Terms {
		if t.Name == terms[j].name {
			return i
		}
	}
	return -1
}

// meanEffects are the weighted means of the effects over the rows: the target is centred.
func meanEffects(ctx context.Context, tab *data.Table, weighted bool) ([]float64, error) {
	means, sum := make([]float64, len(terms)), 0.0
	columns := append(world{}.Columns(), "w")
	if !weighted {
		columns = columns[:len(columns)-1]
	}
	for b, err := range tab.Batches(ctx, columns) {
		if err != nil {
			return nil, err
		}
		var w []float64
		if weighted {
			if w, err = b.Numeric("w"); err != nil {
				return nil, err
			}
		}
		err := eachRow(b, func(i int, x func(string) float64, level int) {
			wi := 1.0
			if w != nil {
				wi = w[i]
			}
			for j := range terms {
				means[j] += wi * effect(j, x, level)
			}
			sum += wi
		})
		if err != nil {
			return nil, err
		}
	}
	for j := range means {
		means[j] /= sum
	}
	return means, nil
}

// count compares the bands of term j with the truth.
func count(ctx context.Context, r *decompose.Result, a *decompose.Applier, j int, mean float64, before *decompose.Effect) (counts, error) {
	b, truth, err := grid(j, nil)
	if err != nil {
		return counts{}, err
	}
	e, err := a.SimultaneousEffect(ctx, 0, []int{at(r, j)}, b, 1)
	if err != nil {
		return counts{}, err
	}
	c := counts{Samples: 1, Robust: make([]int, len(truth)), Projection: make([]int, len(truth))}
	held := 0
	for i := range truth {
		miss := math.Abs(e.After[i] - truth[i] + mean)
		if miss <= 1.96*e.SE[i] {
			c.Robust[i] = 1
			held++
		}
		if miss <= 1.96*before.SE[i] {
			c.Projection[i] = 1
		}
	}
	c.Share = float64(held) / float64(len(truth))
	c.Square = c.Share * c.Share
	if held == len(truth) {
		c.All = 1
	}
	c.Simultaneous = holds(e, truth, mean)
	if b, truth, err = grid(j, r); err != nil {
		return counts{}, err
	}
	if e, err = a.SimultaneousEffect(ctx, 0, []int{at(r, j)}, b, 1); err != nil {
		return counts{}, err
	}
	c.Range = holds(e, truth, mean)
	return c, nil
}

// holds is 1 if the simultaneous band holds all of the curve.
func holds(e *decompose.Effect, truth []float64, mean float64) int {
	for i := range truth {
		if !(math.Abs(e.After[i]-truth[i]+mean) <= e.Simultaneous[i]) {
			return 0
		}
	}
	return 1
}

// grid lays out term j from percentile to percentile or, with a result, over the range of
// its rows, and gives the effect there.
func grid(j int, r *decompose.Result) (*data.Batch, []float64, error) {
	axes := map[string][]float64{}
	points := curvePoints
	if len(terms[j].features) == 2 {
		points = sidePoints
	}
	n := 1
	for _, name := range terms[j].features {
		if name == "g" {
			n = len(levels)
			continue
		}
		lo, hi := quantile(name, 0.01), quantile(name, 0.99)
		if r != nil {
			for _, f := range r.Features {
				if f.Name == name {
					lo, hi = f.Min, f.Max
				}
			}
		}
		for i := range points {
			axes[name] = append(axes[name], lo+(hi-lo)*float64(i)/float64(points-1))
		}
		n *= points
	}
	b := data.NewBatch(n, 0)
	codes := data.Codes{Index: make([]int32, n), Levels: levels}
	if terms[j].name == "g" {
		for i := range n {
			codes.Index[i] = int32(i)
		}
	}
	if err := b.SetCodes("g", codes); err != nil {
		return nil, nil, err
	}
	repeat := n
	for _, name := range numeric {
		v := make([]float64, n)
		if axis := axes[name]; axis != nil {
			repeat /= len(axis)
			for i := range v {
				v[i] = axis[i/repeat%len(axis)]
			}
		}
		if err := b.SetNumeric(name, v); err != nil {
			return nil, nil, err
		}
	}
	truth := make([]float64, n)
	err := eachRow(b, func(i int, x func(string) float64, level int) { truth[i] = effect(j, x, level) })
	return b, truth, err
}
