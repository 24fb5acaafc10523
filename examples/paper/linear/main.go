// Command linear compares estimates of linear effects in semi-structured networks:
// without constraint, with online orthogonalization (ONO) and after PHO (paper,
// section 5.2 and figure "linear_perf").
//
//	go run -C examples/paper ./linear [-quick]
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
	"github.com/pho-go/pho/examples/paper/internal/lineareffects"
)

func main() {
	experiment.Main("linear", "Root mean squared error of linear effects.", func(ctx context.Context, e *experiment.Experiment) error {
		s := lineareffects.Full()
		if e.Quick {
			s = lineareffects.Quick()
		}
		return run(ctx, e, s)
	})
}

// estimators picks the estimates of a repetition.
var estimators = []struct {
	name string
	rmse func(r *lineareffects.Repetition) float64
}{
	{"unconstrained", func(r *lineareffects.Repetition) float64 { return r.Runs[0].Before }},
	{"ONO", func(r *lineareffects.Repetition) float64 { return r.Runs[1].Before }},
	{"PHO", func(r *lineareffects.Repetition) float64 { return r.Runs[0].After }},
	{"unconstrained, warm start", func(r *lineareffects.Repetition) float64 { return r.Runs[2].Before }},
	{"PHO, warm start", func(r *lineareffects.Repetition) float64 { return r.Runs[2].After }},
	{"least squares", func(r *lineareffects.Repetition) float64 { return r.LeastSquares }},
}

func run(ctx context.Context, e *experiment.Experiment, s lineareffects.Study) error {
	if e.Draw {
		return errors.New("-draw: leave it out; runs that the directory of the results has (lineareffects.json) are not made again")
	}
	s.Describe(e)
	runs, err := s.Run(ctx, e)
	if err != nil {
		return err
	}
	all := experiment.NewTable("n", "p", "q", "repetition", "method", "rmse")
	header := []string{"n", "p/q"}
	for _, m := range estimators {
		header = append(header, m.name)
	}
	summary := experiment.NewTable(header...)
	fig := &experiment.Figure{
		Title: "Error of the linear effects", Columns: 1, Width: 960, Height: 290,
		Note: []string{"The coefficients' mean absolute value is 1.5 at p = 10; an estimate of 0 errs by 2.5, 2.0 and 1.7 at p = 1, 3 and 10."},
	}
	for _, n := range s.Sizes() {
		panel := experiment.Panel{Title: fmt.Sprintf("n = %d, %d repetitions", n, s.Repetitions(n)), X: "structured / deep features (p/q)", Y: "RMSE of β (log scale)", LogY: true}
		for _, m := range estimators {
			panel.Boxes = append(panel.Boxes, experiment.Boxes{Name: m.name})
		}
		for k, at := range s.Settings {
			if at.N != n {
				continue
			}
			reps := runs[k]
			panel.Categories = append(panel.Categories, at.Ratio())
			row := []any{at.N, at.Ratio()}
			for j, m := range estimators {
				var v []float64
				for i := range reps {
					v = append(v, m.rmse(&reps[i]))
					all.Add(at.N, at.P, at.P+at.Noise, i, m.name, v[i])
				}
				panel.Boxes[j].Values = append(panel.Boxes[j].Values, v)
				row = append(row, experiment.Median(v))
			}
			summary.Add(row...)
			e.Printf("n %d, p/q %s: medians %.3g", at.N, at.Ratio(), row[2:])
		}
		fig.Panels = append(fig.Panels, panel)
	}
	if err := e.WriteCSV("linear.csv", all); err != nil {
		return err
	}
	if err := e.WriteMarkdown("linear.md", summary); err != nil {
		return err
	}
	return e.WriteFigure("linear.svg", fig)
}
