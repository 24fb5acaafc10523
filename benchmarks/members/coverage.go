package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// coverage is the study of bands: how often they hold the projection of the truth, over
// samples of rows on each of which networks are trained.
type coverage struct {
	world    world
	rows     int
	formula  string
	recipes  []recipe
	networks []int // M, increasing
	grid     []float64
	outer    []float64
	target   *curves
}

func newCoverage(ctx context.Context) (*coverage, error) {
	c := &coverage{
		world: world{features: 4, correlation: 0.3, noise: 0.5, interaction: 0.8}, rows: 400,
		formula: `~ s(x0, bs="ps") + s(x1, bs="ps") + s(x2, bs="ps") + s(x3, bs="ps")`,
		recipes: []recipe{
			{name: "resamples", hidden: []int{16}, epochs: 300, from: decompose.Resamples},
			{name: "resamples, stopped early", hidden: []int{16}, epochs: 300, stopping: true, from: decompose.Resamples},
			{name: "resamples, weight decay", hidden: []int{16}, epochs: 300, decay: 0.003, from: decompose.Resamples},
			{name: "seeds", hidden: []int{16}, epochs: 300, from: decompose.Seeds},
		},
		networks: []int{5, 10, 20},
		outer:    []float64{-0.985, -0.965, 0.965, 0.985}, // 2.5 % of the rows lie beyond 0.95 on each side
	}
	for i := range 39 {
		c.grid = append(c.grid, -0.95+1.9*float64(i)/38)
	}
	var err error
	c.target, err = c.project(ctx)
	return c, err
}

// project is the additive model of the truth over a population of rows, unpenalised: what
// every curve estimates.
func (c *coverage) project(ctx context.Context) (*curves, error) {
	population, _, err := c.world.draw(rand.New(rand.NewPCG(0, 99)), 60000)
	if err != nil {
		return nil, err
	}
	formula := ""
	for j := range c.world.features {
		formula += fmt.Sprintf(` + s(x%d, bs="ps", k=15)`, j)
	}
	blocks, err := terms(ctx, population, "~ "+formula[3:])
	if err != nil {
		return nil, err
	}
	m := &column{"mu", blocks}
	r, err := decompose.Decompose(ctx, m, population, &decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}})
	if err != nil {
		return nil, err
	}
	return newCurves(r, m)
}

// outcome is what one band did on one sample: the shares of points that it held, in the
// middle 95 % of the rows and beyond, and its mean half width.
type outcome struct {
	recipe   string
	band     string
	networks int
	held     float64
	outer    float64
	width    float64
}

// sample trains networks on one sample and compares their bands with the target.
func (c *coverage) sample(ctx context.Context, s uint64) ([]outcome, error) {
	rows, features, err := c.world.draw(rand.New(rand.NewPCG(s, 1)), c.rows)
	if err != nil {
		return nil, err
	}
	blocks, err := terms(ctx, rows, c.formula)
	if err != nil {
		return nil, err
	}
	target, err := c.centred(ctx, features)
	if err != nil {
		return nil, err
	}
	var out []outcome
	for _, r := range c.recipes {
		members, err := r.joined(ctx, c.world, rows, s, c.networks[len(c.networks)-1], blocks)
		if err != nil {
			return nil, err
		}
		for _, n := range c.networks {
			m, err := decompose.Join(members[:n], r.from)
			if err != nil {
				return nil, err
			}
			result, err := decompose.Decompose(ctx, m, rows, &decompose.Options{Resources: decompose.Resources{Workers: 1}})
			if err != nil {
				return nil, err
			}
			fitted, err := newCurves(result, m)
			if err != nil {
				return nil, err
			}
			bands, err := c.bands(ctx, fitted, target, n == c.networks[len(c.networks)-1])
			if err != nil {
				return nil, err
			}
			for _, b := range bands {
				b.recipe, b.networks = r.name, n
				out = append(out, b)
			}
		}
	}
	return out, nil
}

// centred is the target at the points of each feature, less its mean over these rows.
func (c *coverage) centred(ctx context.Context, features [][]float64) ([][]float64, error) {
	var out [][]float64
	for j := range c.world.features {
		at, err := c.target.at(ctx, j, c.points())
		if err != nil {
			return nil, err
		}
		own, err := c.target.at(ctx, j, features[j])
		if err != nil {
			return nil, err
		}
		mean := 0.0
		for _, v := range own.After {
			mean += v / float64(len(own.After))
		}
		for i := range at.After {
			at.After[i] -= mean
		}
		out = append(out, at.After)
	}
	return out, nil
}

func (c *coverage) points() []float64 { return append(append([]float64(nil), c.grid...), c.outer...) }

// bands compares: the mean of the networks with the total band; with all networks at hand
// the first alone with the projection's, and with the total variance round it.
func (c *coverage) bands(ctx context.Context, fitted *curves, target [][]float64, single bool) ([]outcome, error) {
	kinds := []outcome{{band: "mean, B+P, t"}}
	if single {
		kinds = append(kinds, outcome{band: "mean, P alone"}, outcome{band: "first network, P alone"}, outcome{band: "first network, B+P, t"})
	}
	for j := range c.world.features {
		e, err := fitted.at(ctx, j, c.points())
		if err != nil {
			return nil, err
		}
		half := e.Half(0.95)
		for b := range kinds {
			for i, want := range target[j] {
				centre, h := e.After[i], half[i]
				if b == 1 || b == 2 {
					h = 1.96 * e.SE[i]
				}
				if b >= 2 {
					centre = e.Networks.After[0][i]
				}
				hit := 0.0
				if math.Abs(centre-want) <= h {
					hit = 1
				}
				if i < len(c.grid) {
					kinds[b].held += hit / float64(len(c.grid)*c.world.features)
					kinds[b].width += h / float64(len(c.grid)*c.world.features)
				} else {
					kinds[b].outer += hit / float64(len(c.outer)*c.world.features)
				}
			}
		}
	}
	return kinds, nil
}

// curves evaluates the terms of a result, one of each feature.
type curves struct {
	applier *decompose.Applier
	result  *decompose.Result
	columns []string
}

func newCurves(r *decompose.Result, m decompose.Model) (*curves, error) {
	a, err := r.Applier(m)
	if err != nil {
		return nil, err
	}
	return &curves{a, r, a.Columns()}, nil
}

// at is the curve of feature j at points of it; other columns are 0.
func (c *curves) at(ctx context.Context, j int, x []float64) (*decompose.Effect, error) {
	b := data.NewBatch(len(x), 0)
	for _, column := range c.columns {
		v := make([]float64, len(x))
		if column == name(j) {
			copy(v, x)
		}
		if err := b.SetNumeric(column, v); err != nil {
			return nil, err
		}
	}
	for t, term := range c.result.Predictors[0].Terms {
		if term.Features[0] == name(j) {
			return c.applier.Effect(ctx, 0, t, b)
		}
	}
	return nil, fmt.Errorf("no term of %s", name(j))
}
