// Command onoerror measures the prediction error that online orthogonalization
// (ONO) adds at test time, when batches of b rows are projected (paper, lemma
// "Error rate ONO prediction", section 5.4 and figure "ozbias").
//
//	go run -C examples/paper ./onoerror [-quick]
package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

func main() {
	experiment.Main("onoerror", "Prediction error of online orthogonalization over the batch size.", func(ctx context.Context, e *experiment.Experiment) error {
		s := full()
		if e.Quick {
			s = quick()
		}
		return run(ctx, e, s)
	})
}

// study is what is varied.
type study struct {
	cells       []cell
	repetitions int
	batches     []int // sizes at test time
	test        int   // most test rows
}

// cell is a design with n rows for training and validation, and how it is trained.
type cell struct {
	design design
	n      int
	epochs int
	batch  int
}

// design is how structured and deep features are related.
type design struct {
	name, about string
	overlap     bool // X is the first ten of Z, with an intercept
}

var (
	published = design{"X and Z independent", "10 structured features independent of the 20 deep ones, no intercept (the paper's design)", false}
	overlap   = design{"X among Z", "the structured features are the first 10 of the 20 deep ones, with an intercept", true}
)

func full() study {
	return study{
		cells: []cell{
			{published, 1e4, 500, 256}, {published, 1e5, 100, 1000}, {published, 1e6, 25, 1000}, {overlap, 1e5, 100, 1000},
		},
		repetitions: 4,
		batches:     []int{1, 3, 10, 15, 20, 30, 50, 100, 200, 500, 1000, 10000},
		test:        1e5,
	}
}

func quick() study {
	s := full()
	s.cells = []cell{{published, 1e4, 60, 256}, {overlap, 1e4, 60, 256}}
	s.repetitions, s.test = 2, 1e4
	return s
}

// repetition holds the mean squared errors of one trained network on test rows.
type repetition struct {
	on     []float64 // projected in batches, for each size
	off    float64   // not projected
	alpha  float64   // with the training rows' alpha, as PHO does
	deep   float64   // mean of zeta^2, the deep part: what a projection can take away
	epochs int
}

func run(ctx context.Context, e *experiment.Experiment, s study) error {
	if e.Draw {
		return s.draw(e)
	}
	e.Set("repetitions", s.repetitions)
	e.Set("test rows", fmt.Sprintf("as many as training and validation rows, at most %d", s.test))
	e.Set("network", "one hidden layer of 10 ReLU units with biases")
	e.Set("training", fmt.Sprintf("Adam, rate 0.003, validation share 0.2, patience %d", patience))
	all := experiment.NewTable("design", "n", "repetition", "batch", "mse_projected", "mse_not_projected", "mse_training_alpha", "mean_square_of_deep_part", "excess", "expected_excess")
	summary := experiment.NewTable("design", "n", "RMSE, b = 1", "b = 10", "b = 100", "b = 1000", "b = 10000", "projection off", "training α", "slope of log excess in log b, 50 ≤ b ≤ 500")
	for i, c := range s.cells {
		e.Set(fmt.Sprintf("%s, n = %d", c.design.name, c.n), fmt.Sprintf("%s; at most %d epochs, batches of %d", c.design.about, c.epochs, c.batch))
		reps, err := experiment.Repeat(ctx, e, uint64(i), s.repetitions, func(ctx context.Context, _ int, rng *rand.Rand) (*repetition, error) {
			return s.once(ctx, c, rng)
		})
		if err != nil {
			return err
		}
		for j, r := range reps {
			for k, b := range s.batches {
				all.Add(c.design.name, c.n, j, b, r.on[k], r.off, r.alpha, r.deep, r.on[k]-r.alpha, r.expected(c.design, b))
			}
		}
		m := mean(reps)
		excess := make([]float64, len(s.batches))
		at := map[int]float64{}
		for k, b := range s.batches {
			excess[k], at[b] = (m.on[k]-m.alpha)/m.deep, math.Sqrt(m.on[k])
		}
		summary.Add(c.design.name, c.n, at[1], at[10], at[100], at[1000], at[10000], math.Sqrt(m.off), math.Sqrt(m.alpha), slope(s.batches, excess))
		e.Printf("%s, n %d: RMSE %.4f projected in batches of %d, %.4f not projected, %.4f with the training alpha", c.design.name, c.n, at[s.batches[0]], s.batches[0], math.Sqrt(m.off), math.Sqrt(m.alpha))
	}
	if err := e.WriteCSV("onoerror.csv", all); err != nil {
		return err
	}
	if err := e.WriteMarkdown("onoerror.md", summary); err != nil {
		return err
	}
	return s.draw(e)
}

// draw writes the figures, from onoerror.csv.
func (s study) draw(e *experiment.Experiment) error {
	all, err := e.ReadCSV("onoerror.csv")
	if err != nil {
		return err
	}
	errors := &experiment.Figure{Title: "Prediction error with online orthogonalization, by the size of test batches", Columns: 2, Width: 380}
	rates := experiment.Panel{Title: "excess error and its expectation", X: "batch size b", Y: "excess MSE / mean of ζ²", LogX: true, LogY: true, MinY: 1e-4, MaxY: 1.6}
	for _, c := range s.cells {
		of := all.With("design", c.design.name).With("n", fmt.Sprint(c.n))
		mean := func(column string) float64 { return stat.Mean(of.Numbers(column), nil) }
		off, alpha, deep := mean("mse_not_projected"), mean("mse_training_alpha"), mean("mean_square_of_deep_part")
		var x, rmse, excess []float64
		for _, b := range s.batches {
			on := stat.Mean(of.With("batch", fmt.Sprint(b)).Numbers("mse_projected"), nil)
			x, rmse, excess = append(x, float64(b)), append(rmse, math.Sqrt(on)), append(excess, (on-alpha)/deep)
		}
		flat := func(v float64) []float64 { return constant(math.Sqrt(v), len(x)) }
		errors.Panels = append(errors.Panels, experiment.Panel{
			Title: fmt.Sprintf("%s, n = %d", c.design.name, c.n), X: "batch size b at test time", Y: "RMSE on test rows", LogX: true,
			Lines: []experiment.Line{
				{Name: "projected in test batches (ONO)", X: x, Y: rmse, Dots: true},
				{Name: "projection off", X: x, Y: flat(off)},
				{Name: "projected with the training rows' α (as PHO)", X: x, Y: flat(alpha), Dashed: true},
			},
			Levels: []experiment.Level{{Name: "noise (Bayes error)", Y: 1}},
		})
		if !c.design.overlap {
			rates.Lines = append(rates.Lines, experiment.Line{Name: fmt.Sprintf("n = %d", c.n), X: x, Y: excess, Dots: true})
		}
	}
	var x, y []float64
	for b := 1.0; b <= 10000; b *= 1.1 {
		x, y = append(x, b), append(y, math.Min(1, structured/b))
	}
	rates.Lines = append(rates.Lines, experiment.Line{Name: "min(1, p/b)", Color: "#1b1f24", X: x, Y: y, Dashed: true})
	if err := e.WriteFigure("onoerror.svg", errors); err != nil {
		return err
	}
	return e.WriteFigure("onoerror_rate.svg", &experiment.Figure{
		Title: "How the excess error falls with the batch size", Width: 640, Height: 380, Panels: []experiment.Panel{rates},
		Note: []string{"Design with independent X and Z. ζ: the deep part on test rows; excess: over the same network with the training rows' α."},
	})
}

func constant(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// mean of the repetitions.
func mean(reps []*repetition) *repetition {
	m := &repetition{on: make([]float64, len(reps[0].on))}
	for _, r := range reps {
		n := float64(len(reps))
		for k, v := range r.on {
			m.on[k] += v / n
		}
		m.off += r.off / n
		m.alpha += r.alpha / n
		m.deep += r.deep / n
	}
	return m
}

// slope is that of the least squares line through log excess over log b, where the
// excess is neither saturated nor as small as its noise.
func slope(batches []int, excess []float64) float64 {
	var n, sx, sy, sxx, sxy float64
	for k, b := range batches {
		if b < 50 || b > 500 || !(excess[k] > 0) {
			continue
		}
		x, y := math.Log(float64(b)), math.Log(excess[k])
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
