package main

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
	"github.com/pho-go/pho/examples/paper/internal/simulation"
)

// methods in the order of the figures, with their colours: published ones plain,
// ours dark.
var methods = []struct{ name, color string }{
	{"GAM", "#1b1f24"}, {"unconstrained", "#d55e00"}, {"ONO", "#e69f00"}, {"PHO", "#56b4e9"}, {"PHOGAM", "#0072b2"},
	{"unconstrained, ours", "#cc79a7"}, {"PHO, ours", "#66c2a5"}, {"PHOGAM, ours", "#007a5a"},
}

// errors of a method and function over the repetitions that have it.
func errors(reps []repetition, method string, function int) []float64 {
	var v []float64
	for i := range reps {
		if e := reps[i].of(method); e != nil {
			v = append(v, e.error[function])
		}
	}
	return v
}

func (s study) record(t *experiment.Table, c cell, reps []repetition) {
	for i := range reps {
		for _, m := range methods {
			e := reps[i].of(m.name)
			if e == nil {
				continue
			}
			for j := range e.error {
				t.Add(c.n, c.noise, c.k, i, m.name, fmt.Sprintf("f%d", j), e.error[j], e.raw[j])
			}
		}
	}
}

// compare adds to t, for each function, the GAM's median error and the others' in
// its units, and returns the largest of these by method.
func (s study) compare(t *experiment.Table, c cell, reps []repetition) map[string]float64 {
	worst := map[string]float64{}
	for j := range s.functions {
		gam := experiment.Median(errors(reps, "GAM", j))
		row := []any{c.n, c.noise, simulation.Names()[j], gam}
		for _, m := range methods[1:] {
			ratio := experiment.Median(errors(reps, m.name, j)) / gam
			worst[m.name] = math.Max(worst[m.name], ratio)
			row = append(row, fmt.Sprintf("%.2f", ratio))
		}
		t.Add(row...)
	}
	row := []any{c.n, c.noise, "largest", math.NaN()}
	for _, m := range methods[1:] {
		row = append(row, fmt.Sprintf("%.2f", worst[m.name]))
	}
	t.Add(row...)
	return worst
}

// draw writes the figure of errors, from nonlinear.csv.
func (s study) draw(e *experiment.Experiment) error {
	all, err := e.ReadCSV("nonlinear.csv")
	if err != nil {
		return err
	}
	f := &experiment.Figure{
		Title: "Error of ten smooth effects", Columns: 1, Width: 1250, Height: 300,
		Note: []string{"Truth and estimate centred over the rows; error at the rows."},
	}
	for _, c := range s.cells {
		p := experiment.Panel{Title: fmt.Sprintf("%s; %d basis functions each; %d repetitions (ONO %d)", c.name(), c.k, c.repetitions, c.onlineReps), Y: "RIMSE (log scale)", LogY: true, Categories: simulation.Names()[:s.functions]}
		for _, m := range methods {
			b := experiment.Boxes{Name: m.name, Color: m.color}
			of := all.With("n", fmt.Sprint(c.n)).With("noise_features", fmt.Sprint(c.noise)).With("method", m.name)
			for j := range p.Categories {
				b.Values = append(b.Values, of.With("function", fmt.Sprintf("f%d", j)).Numbers("rimse"))
			}
			p.Boxes = append(p.Boxes, b)
		}
		f.Panels = append(f.Panels, p)
	}
	return e.WriteFigure("nonlinear.svg", f)
}

// curves are the averages over the repetitions, as in the paper's figure.
func (s study) curves(c cell, reps []repetition) *experiment.Figure {
	f := &experiment.Figure{
		Title: fmt.Sprintf("Average estimated effects, %s", c.name()), Columns: 5, Width: 290, Height: 260,
		Note: []string{"Averages over the repetitions; a method may err in each and still be right on average: see the errors in nonlinear.svg."},
	}
	for j := range s.functions {
		p := experiment.Panel{Title: simulation.Names()[j], X: "x", Y: "effect, centred"}
		add := func(name, color string, dashed bool) {
			mean, n := make([]float64, s.grid), 0.0
			for i := range reps {
				e := reps[i].of(name)
				if e == nil {
					continue
				}
				n++
				for k, v := range e.curve[j] {
					mean[k] += v
				}
			}
			for k := range mean {
				mean[k] /= n
			}
			p.Lines = append(p.Lines, experiment.Line{Name: name, Color: color, X: s.points(), Y: mean, Dashed: dashed})
		}
		add("truth", "#d62728", false)
		for _, m := range methods {
			switch m.name {
			case "GAM", "unconstrained", "ONO", "PHOGAM", "PHOGAM, ours":
				add(m.name, m.color, m.name == "PHOGAM, ours" || m.name == "GAM")
			}
		}
		f.Panels = append(f.Panels, p)
	}
	return f
}

// stepsTable shows what each change of training does: errors in units of the
// GAM's, medians over the repetitions, for the worst function and for -x^3.
func (s study) stepsTable(reps []repetition) *experiment.Table {
	t := experiment.NewTable("training", "as trained: −x³", "largest", "PHO: −x³", "PHO: largest", "PHOGAM: −x³", "PHOGAM: largest", "PHOGAM: mean", "refit total: largest")
	ran := reps[:min(s.steps, len(reps))]
	for k, step := range steps {
		row := []any{step.name}
		for i, of := range []func(stepErrors) []float64{
			func(e stepErrors) []float64 { return e.before }, func(e stepErrors) []float64 { return e.pho },
			func(e stepErrors) []float64 { return e.phogam }, func(e stepErrors) []float64 { return e.total },
		} {
			cube, largest, mean := s.ratios(ran, k, of)
			switch i {
			case 2:
				row = append(row, cube, largest, mean)
			case 3:
				row = append(row, largest)
			default:
				row = append(row, cube, largest)
			}
		}
		t.Add(row...)
	}
	return t
}

// ratios of median errors in step k to the GAM's: of -x^3, the largest of all
// functions, and their mean.
func (s study) ratios(reps []repetition, k int, of func(stepErrors) []float64) (cube, largest, mean float64) {
	cube = math.NaN()
	for j := range s.functions {
		var v []float64
		for i := range reps {
			v = append(v, of(reps[i].steps[k])[j])
		}
		ratio := experiment.Median(v) / experiment.Median(errors(reps, "GAM", j))
		largest, mean = math.Max(largest, ratio), mean+ratio/float64(s.functions)
		if j == 2 {
			cube = ratio
		}
	}
	return cube, largest, mean
}
