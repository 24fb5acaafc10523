// Command flights repeats the paper's analysis of flight delays (section "Flight Delay
// Data"): a semi-structured network with splines, cyclic splines and factors, its
// effects before and after PHO, and what each step costs.
//
//	go run -C examples/paper ./flights [-quick]
//
// The files are all flights from New York in 2013 and 2017, and the sample of the ASA
// Data Expo: the first flights of each year from 1987 to 2008.
package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/examples/paper/internal/analysis"
	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

const response = "arr_delay"

// set is one of the two files with its model. Where a column says too little for the
// paper's spline it is a factor, or left out: New York has two years; the months of the
// sample are a function of its year.
type set struct {
	name, title, file string
	formula           string
	numbers           []string // that have a spline, in the order of the figure
	factors           []string
}

var sets = []set{
	{
		name: "nyc", title: "Flights from New York, 2013 and 2017", file: "flights_nyc_2013_2017.csv.gz",
		formula: `s(month, k=10) + s(day, k=10) + s(distance, k=10)` + common + ` + year`,
		numbers: []string{"month", "day", "distance", "sched_dep_min", "sched_arr_min"},
		factors: append([]string{"year"}, categories...),
	},
	{
		name: "asa", title: "ASA Data Expo sample, 1987 to 2008", file: "flights_asa_sample.csv.gz",
		formula: `s(year, k=10) + s(day, k=10) + s(distance, k=10)` + common,
		numbers: []string{"year", "day", "distance", "sched_dep_min", "sched_arr_min"},
		factors: categories,
	},
}

// common to both: the scheduled times are cyclic over the day's 1,440 minutes.
// Destinations and routes are random effects. As factors, which the paper has, they span
// all of the distance but its small changes between years, by which a curve of distance
// would then be fitted: PHO, which has no penalty, shows it.
const common = ` + s(sched_dep_min, bs="cc", k=20, period=c(0,1440)) + s(sched_arr_min, bs="cc", k=20, period=c(0,1440)) + day_of_week + carrier + origin + s(dest, bs="re") + s(origin, dest, bs="re")`

var categories = []string{"day_of_week", "carrier", "origin", "dest"}

var units = map[string]string{
	"month": "month", "day": "day of the month", "distance": "distance, miles", "year": "year",
	"sched_dep_min": "scheduled departure, minutes after midnight", "sched_arr_min": "scheduled arrival, minutes after midnight",
}

func main() {
	experiment.Main("flights", "Flight delays: effects of a semi-structured network before and after PHO, time and memory.", run)
}

// setting is the size of a run. The paper keeps routes and carriers that are present in
// all years; here it is enough that they are not rare.
type setting struct {
	Step   int // every step-th row
	Least  int // rows of a carrier, airport, ...: rarer ones are left out
	Epochs int
	Sets   int
}

func run(ctx context.Context, e *experiment.Experiment) error {
	s := setting{Step: 1, Least: 50, Epochs: 120, Sets: len(sets)}
	if e.Quick {
		s = setting{Step: 40, Least: 50, Epochs: 10, Sets: 1}
	}
	return runWith(ctx, e, s)
}

func runWith(ctx context.Context, e *experiment.Experiment, s setting) error {
	if e.Draw {
		for _, set := range sets[:s.Sets] {
			if err := set.drawAgain(e); err != nil {
				return err
			}
		}
		return nil
	}
	e.Set("setting", s)
	costs := map[string]analysis.Cost{}
	variances, importances := analysis.Variances(), analysis.Importances()
	for _, set := range sets[:s.Sets] {
		if err := set.run(ctx, e, s, costs, variances, importances); err != nil {
			return fmt.Errorf("%s: %w", set.name, err)
		}
	}
	e.Set("costs", costs)
	if err := e.WriteCSV("flights_variance.csv", variances); err != nil {
		return err
	}
	return e.WriteCSV("flights_importance.csv", importances)
}

func (s set) columns() (c []string) {
	for _, name := range append(slices.Clone(s.numbers), s.factors...) {
		if !slices.Contains(c, name) {
			c = append(c, name)
		}
	}
	return c
}

func (s set) run(ctx context.Context, e *experiment.Experiment, size setting, costs map[string]analysis.Cost, variances, importances *experiment.Table) error {
	path, err := e.DataFile(s.file)
	if err != nil {
		return err
	}
	step := func(name string, f func() error) error {
		c, err := analysis.Measure(f)
		costs[s.name+": "+name] = c
		e.Printf("%s: %s: %.1f s, %.0f MiB", s.name, name, c.Seconds, c.PeakMiB)
		return err
	}
	var rows *data.Table
	if err := step("read", func() (err error) {
		rows, err = analysis.Read(ctx, path, append(s.columns(), response), s.factors, size.Step, size.Least)
		return err
	}); err != nil {
		return err
	}
	var m *native.Model
	if err := step("train", func() error {
		model, fit, err := native.Train(ctx, s.network(size.Epochs, e.Seed), rows)
		if err == nil {
			m = model
			e.Printf("%s: %s after %d epochs, best %d", s.name, fit.Status, len(fit.Epochs), fit.Best)
		}
		return err
	}); err != nil {
		return err
	}
	var results [2]*decompose.Result
	for i, how := range []decompose.Method{decompose.PHO, decompose.PHOGAM} {
		name := strings.ToUpper(string(how))
		if err := step(name, func() (err error) {
			results[i], err = decompose.Decompose(ctx, m, rows, analysis.Options(response, how))
			return err
		}); err != nil {
			return err
		}
		d := results[i].Predictors[0]
		e.Printf("%s: %s: %d columns, rank %d, structured %.2f of %.2f before, %.2f after", s.name, name, d.Columns, d.Rank, d.VarianceBefore.Structured, d.Variance.Total, d.Variance.Structured)
		analysis.AddVariances(variances, s.name+" "+name, results[i], 0)
		analysis.AddImportances(importances, s.name+" "+name, results[i], 0)
	}
	return s.draw(ctx, e, m, results)
}

// network is the paper's: three layers of 100 ReLU units, batches of 2,000, at most 120
// epochs, patience 5; nothing scaled, all coefficients start at zero.
func (s set) network(epochs int, seed uint64) native.Config {
	return native.Config{
		Response:   response,
		Structured: native.Structured{Formulas: []string{response + " ~ " + s.formula}, Factors: s.factors},
		Deep:       native.Deep{Columns: s.columns(), Factors: s.factors, Hidden: []int{100, 100, 100}},
		Training: native.Training{
			Epochs: epochs, Patience: 5, BatchSize: 2000, LearningRate: 0.001, ValidationShare: 0.1, Seed: seed, Single: true,
			WithoutResponseScaling: true, WithoutInterceptStart: true, WithoutWarmStart: true,
			Initialization: native.He, // as in the committed runs
		},
	}
}

// draw writes the curves and their figure: as trained, after PHO and after PHOGAM.
func (s set) draw(ctx context.Context, e *experiment.Experiment, m decompose.Model, results [2]*decompose.Result) error {
	const points = 100
	table := experiment.NewTable("feature", "x", "as trained", "PHO", "PHO standard error", "PHOGAM", "PHOGAM standard error")
	for _, name := range s.numbers {
		lo, hi, err := analysis.Range(results[0], name)
		if err != nil {
			return err
		}
		x := floats.Span(make([]float64, points), lo, hi)
		var effects [2]*decompose.Effect
		for i, r := range results {
			if effects[i], err = analysis.Curve(ctx, r, m, 0, []string{name}, map[string][]float64{name: x}); err != nil {
				return err
			}
		}
		pho, gam := effects[0], effects[1]
		for i := range x {
			table.Add(name, x[i], pho.Before[i], pho.After[i], pho.SE[i], gam.After[i], gam.SE[i])
		}
	}
	if err := e.WriteCSV("flights_"+s.name+"_effects.csv", table); err != nil {
		return err
	}
	return s.drawAgain(e)
}

// drawAgain writes the figure, from the CSV file of the effects.
func (s set) drawAgain(e *experiment.Experiment) error {
	all, err := e.ReadCSV("flights_" + s.name + "_effects.csv")
	if err != nil {
		return err
	}
	fig := &experiment.Figure{
		Title: s.title + ": effects on arrival delay", Columns: 3,
		Note: []string{
			"Centred effects of a semi-structured network, before and after projection; bands: two standard errors of the projection (PHOGAM).",
			"Without a penalty (PHO) the curve of distance is hardly identified next to destinations and routes; cut where it leaves the axis.",
		},
	}
	for _, name := range s.numbers {
		of := all.With("feature", name)
		x, trained, gam := of.Numbers("x"), of.Numbers("as trained"), of.Numbers("PHOGAM")
		below, above := make([]float64, len(x)), make([]float64, len(x))
		for i, se := range of.Numbers("PHOGAM standard error") {
			below[i], above[i] = gam[i]-2*se, gam[i]+2*se
		}
		// PHO may leave the axis.
		largest := 1.1 * max(absolute(trained), absolute(gam))
		fig.Panels = append(fig.Panels, experiment.Panel{Title: name, X: units[name], Y: "minutes", MinY: -largest, MaxY: largest, Lines: []experiment.Line{
			{Name: "as trained", X: x, Y: trained, Dashed: true},
			{Name: "PHO", X: x, Y: of.Numbers("PHO")},
			{Name: "PHOGAM", X: x, Y: gam, Lo: below, Hi: above},
		}})
	}
	return e.WriteFigure("flights_"+s.name+"_effects.svg", fig)
}

func absolute(v []float64) (largest float64) {
	for _, x := range v {
		largest = max(largest, math.Abs(x))
	}
	return largest
}
