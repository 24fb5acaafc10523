// Command convergence counts how many more epochs a semi-structured network with
// online orthogonalization (ONO) trains than one without constraint, to which PHO
// is applied afterwards (paper, section 5.1 and its appendix figure).
//
//	go run -C examples/paper ./convergence [-quick]
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
	"github.com/pho-go/pho/examples/paper/internal/lineareffects"
)

func main() {
	experiment.Main("convergence", "Additional epochs of training with online orthogonalization.", func(ctx context.Context, e *experiment.Experiment) error {
		s := lineareffects.Full()
		if e.Quick {
			s = lineareffects.Quick()
		}
		return run(ctx, e, s)
	})
}

// methods are the trainings by the names of what is made of them.
var methods = []string{"PHO", "ONO", "PHO, warm start"}

func run(ctx context.Context, e *experiment.Experiment, s lineareffects.Study) error {
	if e.Draw {
		return errors.New("-draw: leave it out; runs that the directory of the results has (lineareffects.json) are not made again")
	}
	s.Describe(e)
	runs, err := s.Run(ctx, e)
	if err != nil {
		return err
	}
	all := experiment.NewTable("n", "p", "q", "repetition", "method", "epochs", "stopped_early")
	summary := experiment.NewTable("n", "p/q", "PHO", "ONO", "PHO, warm start", "ONO − PHO", "lower quartile", "upper quartile")
	fig := &experiment.Figure{
		Title: "Epochs that training with online orthogonalization takes beyond unconstrained training",
		Note:  []string{fmt.Sprintf("Early stopping after %d epochs without a better validation loss. One epoch: n = 100 two steps, n = 1000 eighteen.", lineareffects.Patience)},
	}
	for _, n := range s.Sizes() {
		panel := experiment.Panel{Title: fmt.Sprintf("n = %d, %d repetitions", n, s.Repetitions(n)), X: "structured / deep features (p/q)", Y: "additional epochs"}
		against, warm := experiment.Boxes{Name: "against unconstrained training (PHO)"}, experiment.Boxes{Name: "against unconstrained training from the least squares start"}
		for k, at := range s.Settings {
			if at.N != n {
				continue
			}
			reps := runs[k]
			epochs, more := make([][]float64, len(methods)), [2][]float64{}
			for i, r := range reps {
				for j, t := range r.Runs {
					all.Add(at.N, at.P, at.P+at.Noise, i, methods[j], t.Epochs, fmt.Sprint(!t.Limit))
					epochs[j] = append(epochs[j], float64(t.Epochs))
				}
				more[0] = append(more[0], epochs[1][i]-epochs[0][i])
				more[1] = append(more[1], epochs[1][i]-epochs[2][i])
			}
			panel.Categories = append(panel.Categories, at.Ratio())
			against.Values, warm.Values = append(against.Values, more[0]), append(warm.Values, more[1])
			summary.Add(at.N, at.Ratio(), experiment.Median(epochs[0]), experiment.Median(epochs[1]), experiment.Median(epochs[2]),
				experiment.Median(more[0]), experiment.Quantile(0.25, more[0]), experiment.Quantile(0.75, more[0]))
			e.Printf("n %d, p/q %s: %.0f more epochs (median)", at.N, at.Ratio(), experiment.Median(more[0]))
		}
		panel.Boxes = []experiment.Boxes{against, warm}
		fig.Panels = append(fig.Panels, panel)
	}
	if err := e.WriteCSV("convergence.csv", all); err != nil {
		return err
	}
	if err := e.WriteMarkdown("convergence.md", summary); err != nil {
		return err
	}
	return e.WriteFigure("convergence.svg", fig)
}
