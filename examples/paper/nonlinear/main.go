// Command nonlinear estimates the paper's ten smooth effects with a GAM and with
// semi-structured networks: as trained, with online orthogonalization (ONO), after
// PHO and after PHOGAM; trained as published, and in our way (paper, section 5.3
// and figures "splines" and "nonlinear_perf").
//
//	go run -C examples/paper ./nonlinear [-quick]
package main

import (
	"context"
	"fmt"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

func main() {
	experiment.Main("nonlinear", "Error of ten smooth effects.", func(ctx context.Context, e *experiment.Experiment) error {
		s := full()
		if e.Quick {
			s = quick()
		}
		return run(ctx, e, s)
	})
}

// study is what is compared where.
type study struct {
	cells     []cell
	steps     int // repetitions of the steps from published to ours, in the first cell
	epochs    int // most epochs of a training
	functions int // the first of the paper's
	grid      int // points of the curves
}

// cell is n rows, noise features that only the deep part sees, and the dimension of
// each smooth.
type cell struct {
	n, noise, k int
	repetitions int
	online      training // ONO costs most
	onlineReps  int
}

func (c cell) name() string {
	return fmt.Sprintf("n = %d, p/q = 10/%d", c.n, 10+c.noise)
}

func full() study {
	return study{
		cells: []cell{
			{1000, 0, 20, 20, ono(300), 20}, {1000, 30, 20, 20, ono(300), 20},
			{100, 0, 10, 20, ono(1000), 20}, {100, 30, 10, 20, ono(1000), 20},
		},
		steps: 10, epochs: 2000, functions: 10, grid: 81,
	}
}

func quick() study {
	s := full()
	s.cells = []cell{{300, 0, 10, 4, ono(60), 2}, {100, 30, 10, 4, ono(60), 2}}
	s.steps, s.epochs = 2, 300
	return s
}

func run(ctx context.Context, e *experiment.Experiment, s study) error {
	if e.Draw { // the curves' numbers are in no file
		return s.draw(e)
	}
	s.describe(e)
	all := experiment.NewTable("n", "noise_features", "k", "repetition", "method", "function", "rimse", "rimse_truth_not_centred")
	ratios := experiment.NewTable("n", "noise features", "function", "GAM", "unconstrained", "ONO", "PHO", "PHOGAM", "unconstrained, ours", "PHO, ours", "PHOGAM, ours")
	for i, c := range s.cells {
		reps, err := s.run(ctx, e, c, i == 0)
		if err != nil {
			return err
		}
		s.record(all, c, reps)
		worst := s.compare(ratios, c, reps)
		e.Printf("%s: largest ratio of median errors to the GAM's: PHOGAM %.2f, PHOGAM (ours) %.2f", c.name(), worst["PHOGAM"], worst["PHOGAM, ours"])
		if i > 0 {
			continue
		}
		if err := e.WriteFigure("nonlinear_curves.svg", s.curves(c, reps)); err != nil {
			return err
		}
		if err := e.WriteMarkdown("nonlinear_steps.md", s.stepsTable(reps)); err != nil {
			return err
		}
	}
	if err := e.WriteCSV("nonlinear.csv", all); err != nil {
		return err
	}
	if err := e.WriteMarkdown("nonlinear.md", ratios); err != nil {
		return err
	}
	return s.draw(e)
}

func (s study) describe(e *experiment.Experiment) {
	e.Set("repetitions of the steps", s.steps)
	e.Set("network", "100 and 50 ReLU units with biases, dropout 0.2 after each; batches of 50; Adam, rate 0.001")
	e.Set("as published", fmt.Sprintf("no intercept, response not scaled, coefficients start at 0, validation share 0.1, patience %d, at most %d epochs; PHOGAM by GCV", patience, s.epochs))
	e.Set("ours", "intercept, response standardised, coefficients start at the REML GAM; early stopping finds the number of epochs, then trained on all rows for as many with a cosine schedule; PHOGAM by REML")
	for _, c := range s.cells {
		e.Set(c.name(), fmt.Sprintf("s(x, bs=ps, k=%d); %d repetitions; ONO: at most %d epochs, %d repetitions", c.k, c.repetitions, c.online.epochs, c.onlineReps))
	}
}
