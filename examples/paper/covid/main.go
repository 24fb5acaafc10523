// Command covid repeats the paper's analysis of COVID-19 prevalence in US counties
// (section "Covid-19 Analysis" and its appendix): semi-structured networks with
// online orthogonalization, PHO and PHOGAM, and a neural additive model with PHONAM.
//
//	go run -C examples/paper ./covid [-quick]
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/examples/paper/internal/analysis"
	"github.com/pho-go/pho/examples/paper/internal/experiment"
	"github.com/pho-go/pho/nam"
)

const (
	response = "log_prevalence_total"
	formula  = response + ` ~ s(day, k=10) + s(temp_clim_c, k=10) + s(rh_clim_pct, k=10) + s(log_population, k=10) + te(longitude, latitude, k=5, bs="tp")`
)

var (
	univariate = []string{"day", "temp_clim_c", "rh_clim_pct", "log_population"}
	units      = []string{"days since 22 January 2020", "temperature (climate), °C", "relative humidity (climate), %", "log of population"}
	space      = []string{"longitude", "latitude"}
	features   = append(slices.Clone(univariate), space...)
)

func main() {
	experiment.Main("covid", "COVID-19 prevalence in US counties: effects by ONO, PHO, PHOGAM, NAM and PHONAM.", run)
}

// setting is the size of a run; the full one is the paper's.
type setting struct{ Step, Epochs, EpochsNAM int }

func run(ctx context.Context, e *experiment.Experiment) error {
	s := setting{Step: 1, Epochs: 100, EpochsNAM: 150}
	if e.Quick {
		s = setting{Step: 10, Epochs: 40, EpochsNAM: 40}
	}
	return runWith(ctx, e, s)
}

func runWith(ctx context.Context, e *experiment.Experiment, s setting) error {
	if e.Draw {
		return errors.Join(drawCurves(e), drawMaps(e))
	}
	e.Set("setting", s)
	path, err := e.DataFile("covid_us_county.csv.gz")
	if err != nil {
		return err
	}
	rows, err := analysis.Read(ctx, path, append([]string{response}, features...), nil, s.Step, 0)
	if err != nil {
		return err
	}
	e.Printf("%d rows", rows.Rows())
	a := &study{Experiment: e, rows: rows, seconds: map[string]float64{}}
	if err := a.semiStructured(ctx, s.Epochs); err != nil {
		return err
	}
	if err := a.additive(ctx, s.EpochsNAM); err != nil {
		return err
	}
	e.Set("seconds", a.seconds)
	return a.write(ctx)
}

// study is what has been fitted so far.
type study struct {
	*experiment.Experiment
	rows    *data.Table
	shown   []method
	tables  []entry
	seconds map[string]float64
}

// method is a way to get the effects: those of a result before or after projection.
type method struct {
	name   string
	result *decompose.Result
	model  decompose.Model
	before bool
}

// entry is a decomposition in the tables.
type entry struct {
	name   string
	result *decompose.Result
}

// train fits a network with the paper's settings of Adam.
func (a *study) train(ctx context.Context, name string, cfg native.Config, epochs, patience int) (*native.Model, error) {
	cfg.Response = response
	cfg.Training = native.Training{Epochs: epochs, Patience: patience, BatchSize: 1024, LearningRate: 0.001, ValidationShare: 0.1, Seed: a.Seed, Single: true,
		WithoutResponseScaling: true, WithoutInterceptStart: true, WithoutWarmStart: true, Initialization: native.He} // drawn as in the committed run
	var m *native.Model
	took, err := analysis.Seconds(func() error {
		model, fit, err := native.Train(ctx, cfg, a.rows)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		m = model
		best := fit.Epochs[max(fit.Best, 1)-1]
		a.Printf("%s: %s after %d epochs, validation loss %.4f", name, fit.Status, len(fit.Epochs), best.Validation)
		return nil
	})
	a.seconds["train "+name] = took
	return m, err
}

// split decomposes m and enters it in the tables.
func (a *study) split(name string, f func() (*decompose.Result, error)) (*decompose.Result, error) {
	var r *decompose.Result
	took, err := analysis.Seconds(func() (err error) {
		r, err = f()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	a.seconds["decompose "+name] = took
	a.tables = append(a.tables, entry{name, r})
	d := r.Predictors[0]
	a.Printf("%s: structured %.1f %% of the variance before, %.1f %% after, deep %.1f %% and %.1f %%", name,
		100*d.VarianceBefore.Structured/d.VarianceBefore.Total, 100*d.Variance.Structured/d.Variance.Total,
		100*d.VarianceBefore.Unstructured/d.VarianceBefore.Total, 100*d.Variance.Unstructured/d.Variance.Total)
	return r, nil
}

// semiStructured trains the paper's SSN, free and with online orthogonalization, and
// projects the free one. As in the paper nothing is scaled and all coefficients start
// at zero.
func (a *study) semiStructured(ctx context.Context, epochs int) error {
	cfg := native.Config{
		Structured: native.Structured{Formulas: []string{formula}},
		Deep:       native.Deep{Columns: features, Hidden: []int{100, 100}, Dropout: 0.2},
	}
	free, err := a.train(ctx, "SSN", cfg, epochs, 3)
	if err != nil {
		return err
	}
	for _, how := range []decompose.Method{decompose.PHO, decompose.PHOGAM} {
		name := map[decompose.Method]string{decompose.PHO: "PHO", decompose.PHOGAM: "PHOGAM"}[how]
		r, err := a.split(name, func() (*decompose.Result, error) {
			return decompose.Decompose(ctx, free, a.rows, analysis.Options(response, how))
		})
		if err != nil {
			return err
		}
		if how == decompose.PHO {
			a.shown = append(a.shown, method{"unadjusted", r, free, true})
		}
		a.shown = append(a.shown, method{name, r, free, false})
	}
	cfg.Deep.Orthogonalize = true
	online, err := a.train(ctx, "ONO", cfg, epochs, 3)
	if err != nil {
		return err
	}
	online = online.Unprojected() // as published
	r, err := a.split("ONO", func() (*decompose.Result, error) {
		return decompose.Decompose(ctx, online, a.rows, analysis.Options(response, decompose.PHO))
	})
	a.shown = append(a.shown, method{"ONO", r, online, true})
	return err
}

// additive trains the neural additive model with a small deep part.
func (a *study) additive(ctx context.Context, epochs int) error {
	m, err := a.train(ctx, "NAM", native.Config{
		Architecture:    native.NAM,
		FeatureNetworks: native.FeatureNetworks{Columns: features, Products: [][2]string{{space[0], space[1]}}, Hidden: []int{64, 64, 5}},
		Deep:            native.Deep{Columns: features, Hidden: []int{20, 20}, Activation: native.Tanh, Dropout: 0.2},
	}, epochs, 15)
	if err != nil {
		return err
	}
	for _, v := range []nam.Variant{nam.Learned, nam.Spline} {
		name := "PHONAM " + string(v)
		var seen decompose.Model
		r, err := a.split(name, func() (r *decompose.Result, err error) {
			if seen, _, err = nam.Prepare(ctx, m, a.rows, v, nil); err != nil {
				return nil, err
			}
			return decompose.Decompose(ctx, seen, a.rows, analysis.Options(response, ""))
		})
		if err != nil {
			return err
		}
		if v == nam.Learned {
			a.shown = append(a.shown, method{"NAM", r, seen, true})
		}
		a.shown = append(a.shown, method{name, r, seen, false})
	}
	return nil
}

// effect is the method's effect of features at points.
func (m method) effect(ctx context.Context, features []string, at map[string][]float64) ([]float64, error) {
	e, err := analysis.Curve(ctx, m.result, m.model, 0, features, at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.name, err)
	}
	if m.before {
		return e.Before, nil
	}
	return e.After, nil
}

func (a *study) write(ctx context.Context) error {
	if err := a.curves(ctx); err != nil {
		return err
	}
	if err := a.maps(ctx); err != nil {
		return err
	}
	variances, importances := analysis.Variances(), analysis.Importances()
	for _, t := range a.tables {
		analysis.AddVariances(variances, t.name, t.result, 0)
		analysis.AddImportances(importances, t.name, t.result, 0)
	}
	if err := a.WriteCSV("covid_variance.csv", variances); err != nil {
		return err
	}
	return a.WriteCSV("covid_importance.csv", importances)
}

// curves are the univariate effects: the paper's figure "Estimated non-linear effects".
func (a *study) curves(ctx context.Context) error {
	const points = 60
	table := experiment.NewTable(append([]string{"feature", "x"}, a.names()...)...)
	for _, name := range univariate {
		lo, hi, err := analysis.Range(a.shown[0].result, name)
		if err != nil {
			return err
		}
		x := floats.Span(make([]float64, points), lo, hi)
		var effects [][]float64
		for _, m := range a.shown {
			y, err := m.effect(ctx, []string{name}, map[string][]float64{name: x})
			if err != nil {
				return err
			}
			effects = append(effects, y)
		}
		for i := range x {
			table.Add(append([]any{name, x[i]}, at(effects, i)...)...)
		}
	}
	if err := a.WriteCSV("covid_effects.csv", table); err != nil {
		return err
	}
	return drawCurves(a.Experiment)
}

// maps are the spatial effects where there are counties.
func (a *study) maps(ctx context.Context) error {
	grid, err := a.newGrid(ctx)
	if err != nil {
		return err
	}
	table := experiment.NewTable(append(slices.Clone(space), a.names()...)...)
	var effects [][]float64
	for _, m := range a.shown {
		y, err := m.effect(ctx, space, map[string][]float64{space[0]: grid.lon, space[1]: grid.lat})
		if err != nil {
			return err
		}
		effects = append(effects, y)
	}
	for i := range grid.lon {
		table.Add(append([]any{grid.lon[i], grid.lat[i]}, at(effects, i)...)...)
	}
	if err := a.WriteCSV("covid_space.csv", table); err != nil {
		return err
	}
	return drawMaps(a.Experiment)
}

// names of the methods, as columns of tables.
func (a *study) names() (names []string) {
	for _, m := range a.shown {
		names = append(names, m.name)
	}
	return names
}

// at are the effects at point i, to four decimals: a figure shows no more.
func at(effects [][]float64, i int) (cells []any) {
	for _, y := range effects {
		cells = append(cells, math.Round(1e4*y[i])/1e4)
	}
	return cells
}

// grid is the cells of a map that are near a county.
type grid struct{ lon, lat []float64 }

func (a *study) newGrid(ctx context.Context) (*grid, error) {
	near := map[[2]int]bool{}
	cell := func(lon, lat float64) [2]int { return [2]int{int(math.Floor(lon)), int(math.Floor(lat))} }
	for b, err := range a.rows.Batches(ctx, space) {
		if err != nil {
			return nil, err
		}
		lon, err := b.Numeric(space[0])
		if err != nil {
			return nil, err
		}
		lat, err := b.Numeric(space[1])
		if err != nil {
			return nil, err
		}
		for i := range lon {
			c := cell(lon[i], lat[i])
			for d := -1; d <= 1; d++ {
				for f := -1; f <= 1; f++ {
					near[[2]int{c[0] + d, c[1] + f}] = true
				}
			}
		}
	}
	g := &grid{}
	xs, ys := centres()
	for _, lon := range xs {
		for _, lat := range ys {
			if near[cell(lon, lat)] {
				g.lon, g.lat = append(g.lon, lon), append(g.lat, lat)
			}
		}
	}
	return g, nil
}

// centres of the map's columns and rows.
func centres() (x, y []float64) {
	for lon := -125.5; lon <= -66; lon++ {
		x = append(x, lon)
	}
	for lat := 24.5; lat <= 50; lat++ {
		y = append(y, lat)
	}
	return x, y
}
