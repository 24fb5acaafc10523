package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/native/internal/likelihood"
	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/family"
)

// saved is a model as bytes.
func saved(t *testing.T, m *Model) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := m.WriteONNX(&file, &ExportOptions{Double: true}); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// varied uses dropout, batch norm, embeddings, feature dropout and splines.
func varied() Config {
	return Config{
		Structured:      Structured{Formulas: []string{`y ~ x1 + s(x2, bs="ps", k=8)`}},
		Deep:            Deep{Columns: []string{"x1", "x2", "x3", "d"}, Factors: []string{"d"}, Hidden: []int{40, 20}, Dropout: 0.2, BatchNorm: true},
		FeatureNetworks: FeatureNetworks{Columns: []string{"x1", "x2", "x3"}, Hidden: []int{16, 8}, FeatureDropout: 0.1},
		Training:        Training{Seed: 7, Epochs: 6, BatchSize: 100, ClipNorm: 5},
	}
}

func TestReproducible(t *testing.T) {
	tab := simulated(t, 700, 1)
	for _, single := range []bool{false, true} {
		cfg := varied()
		cfg.Training.Single = single
		cfg.Training.Workers = 1
		m, fit := mustTrain(t, cfg, tab)
		want := saved(t, m)
		for _, workers := range []int{2, 3} {
			cfg.Training.Workers = workers
			again, fitAgain := mustTrain(t, cfg, tab)
			if !bytes.Equal(saved(t, again), want) || !slices.Equal(fit.Epochs, fitAgain.Epochs) {
				t.Errorf("single %v: %d workers give other bytes than one", single, workers)
			}
		}
		cfg.Training.Seed++
		other, _ := mustTrain(t, cfg, tab)
		if bytes.Equal(saved(t, other), want) {
			t.Error("another seed gives the same bytes")
		}
	}
}

// TestWorkersShareTraining: networks and batches that are large enough for several
// workers give the bytes of one, in both precisions, the losses of validation included.
func TestWorkersShareTraining(t *testing.T) {
	rows, workers := 5000, []int{1, 2, 5}
	if testing.Short() {
		rows, workers = 2000, []int{2, 5}
	}
	tab := simulated(t, rows, 1)
	numbers := []string{"x1", "x2", "x3"}
	for name, cfg := range map[string]Config{
		"ssn":        {Structured: Structured{Formulas: []string{splineFormula}}, Deep: Deep{Columns: numbers, Hidden: []int{130, 90}, Dropout: 0.2}},
		"nam":        {Architecture: NAM, Response: "y", FeatureNetworks: FeatureNetworks{Columns: numbers, Pairs: [][2]string{{"x1", "d"}}, Factors: []string{"d"}, Hidden: []int{70, 60, 30}, ExU: true}},
		"batch norm": {Architecture: MLP, Response: "y", Deep: Deep{Columns: numbers, Hidden: []int{130, 90}, BatchNorm: true}},
		"ono":        {Structured: Structured{Formulas: []string{splineFormula}}, Deep: Deep{Columns: numbers, Hidden: []int{130, 90}, Orthogonalize: true}},
	} {
		for _, single := range []bool{false, true} {
			var want []byte
			var losses []Epoch
			for _, workers := range workers {
				cfg.Training = Training{Epochs: 2, BatchSize: 700, ValidationShare: 0.5, Workers: workers, Single: single}
				m, fit := mustTrain(t, cfg, tab)
				if got := saved(t, m); want == nil {
					want, losses = got, fit.Epochs
				} else if !bytes.Equal(got, want) || !slices.Equal(fit.Epochs, losses) {
					t.Errorf("%s, single %v: %d workers give other bytes than those before", name, single, workers)
				}
			}
		}
	}
}

// TestPlan: blocks cover the rows, every worker has work worth meeting for, and small
// steps have one worker.
func TestPlan(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 16} {
		for _, n := range []int{1, 5, 32, 100, 132, 133, 256, 1000, 1024, 8192} {
			for _, weights := range []int{10, 300, 2800, 52000, 1e6} {
				tr := &trainer[float64]{cfg: &Config{Training: Training{Workers: workers}}, blockRows: blockRows, weights: weights, minWork: minStepWork}
				block, w, lanes := tr.share(n)
				what := fmt.Sprintf("%d rows, %d weights, %d workers: blocks of %d, %d workers, %d lanes", n, weights, workers, block, w, lanes)
				if block < 1 || block > blockRows || w < 1 || w > workers || lanes < 1 || lanes > (n+block-1)/block {
					t.Error(what)
				}
				work := 3 * n * weights
				if shared := lanes > 1; shared != (workers > 1 && work >= minStepWork && n > rowGrain) {
					t.Errorf("%s, %d multiplications", what, work)
				}
				if lanes > 1 && lanes < (n+block-1)/block && 3*lanes*block*weights < minStepWork/2 {
					t.Errorf("%s: workers meet too often", what)
				}
			}
		}
	}
	tr := &trainer[float64]{cfg: &Config{Training: Training{Workers: 2}}, weights: 1e6, minWork: minStepWork}
	if block, _, lanes := tr.share(5000); block != 5000 || lanes != 1 {
		t.Errorf("a network that looks at the whole batch gets blocks of %d in %d lanes", block, lanes)
	}
}

// TestResume: training that stopped and went on ends with the bytes of training
// that did not, whether it stopped by the limit of epochs or was cancelled.
func TestResume(t *testing.T) {
	tab := simulated(t, 500, 2)
	for _, optimizer := range []Optimizer{AdamW, SGD} {
		for _, single := range []bool{false, true} {
			cfg := varied()
			cfg.Training.Optimizer, cfg.Training.Single, cfg.Training.WeightDecay = optimizer, single, 0.01
			cfg.Training.Epochs = 9
			m, fit := mustTrain(t, cfg, tab)
			want := saved(t, m)

			cfg.Training.Checkpoint, cfg.Training.Resume = filepath.Join(t.TempDir(), "checkpoint"), true
			cfg.Training.CheckpointEvery = 2
			cfg.Training.Epochs = 4
			mustTrain(t, cfg, tab)
			cfg.Training.Epochs = 9
			ctx, cancel := context.WithCancel(context.Background())
			cfg.Training.Progress = func(p Progress) {
				if p.Epoch.Epoch == 7 {
					cancel()
				}
			}
			if _, _, err := Train(ctx, cfg, tab); !errors.Is(err, context.Canceled) {
				t.Fatalf("cancelled training: %v", err)
			}
			cfg.Training.Progress = nil
			again, fitAgain := mustTrain(t, cfg, tab)
			if !bytes.Equal(saved(t, again), want) || !slices.Equal(fit.Epochs, fitAgain.Epochs) || fit.Best != fitAgain.Best {
				t.Errorf("%s, single %v: resumed training ends elsewhere:\n%+v\n%+v", optimizer, single, fit, fitAgain)
			}
			cfg.Deep.Dropout = 0.3
			if _, _, err := Train(context.Background(), cfg, tab); err == nil || !strings.Contains(err.Error(), "is of another configuration or other data") {
				t.Errorf("checkpoint of another configuration: %v", err)
			}
			if err := os.WriteFile(cfg.Training.Checkpoint, []byte("no checkpoint"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := Train(context.Background(), cfg, tab); err == nil || !strings.Contains(err.Error(), "cannot be read") {
				t.Errorf("broken checkpoint: %v", err)
			}
		}
	}
}

func TestEarlyStopping(t *testing.T) {
	tab := simulated(t, 400, 3)
	cfg := Config{Architecture: MLP, Response: "y", Deep: Deep{Columns: []string{"x1", "x2", "x3"}, Hidden: []int{64, 64}},
		Training: Training{Epochs: 400, Patience: 5, LearningRate: 0.01, BatchSize: 32}}
	m, fit := mustTrain(t, cfg, tab)
	last := len(fit.Epochs)
	if fit.Status != Stopped || last != fit.Best+5 {
		t.Fatalf("%s after %d epochs, best %d", fit.Status, last, fit.Best)
	}
	lowest := math.Inf(1)
	for _, e := range fit.Epochs {
		lowest = math.Min(lowest, e.Validation)
	}
	if lowest != fit.Epochs[fit.Best-1].Validation {
		t.Errorf("best epoch has loss %v, the lowest is %v", fit.Epochs[fit.Best-1].Validation, lowest)
	}
	// The parameters are those of the best epoch: training only so far gives them.
	cfg.Training.Epochs = fit.Best
	short, _ := mustTrain(t, cfg, tab)
	if !bytes.Equal(saved(t, short), saved(t, m)) {
		t.Error("the model is not the best epoch's")
	}
	cfg.Training.Epochs, cfg.Training.ValidationShare = 3, -1
	if _, fit := mustTrain(t, cfg, tab); fit.Status != EpochLimit || fit.Best != 3 || !math.IsNaN(fit.Epochs[0].Validation) {
		t.Errorf("without validation: %+v", fit)
	}
	cfg.Training.ValidationShare, cfg.Training.Validation = 0, simulated(t, 50, 33)
	if _, fit := mustTrain(t, cfg, tab); fit.Validation != 50 || fit.Rows != 400 {
		t.Errorf("given validation rows: %+v", fit)
	}
}

func TestSchedules(t *testing.T) {
	tab := simulated(t, 100, 3)
	for schedule, want := range map[Schedule][]float64{
		Constant: {0.01, 0.01, 0.01, 0.01},
		Step:     {0.01, 0.01, 0.001, 0.001},
		Cosine:   {0.01, 0.01 * (1 + math.Sqrt2/2) / 2, 0.005, 0.01 * (1 - math.Sqrt2/2) / 2},
	} {
		_, fit := mustTrain(t, Config{Architecture: MLP, Response: "y", Deep: Deep{Columns: []string{"x1"}}, Training: Training{
			Epochs: 4, BatchSize: 200, LearningRate: 0.01, Schedule: schedule, StepEpochs: 2, StepFactor: 0.1, Patience: -1}}, tab)
		for i, e := range fit.Epochs {
			if math.Abs(e.Rate-want[i]) > 1e-15 {
				t.Errorf("%s: rate %v in epoch %d, want %v", schedule, e.Rate, i+1, want[i])
			}
		}
	}
}

func TestDivergence(t *testing.T) {
	tab := simulated(t, 300, 3)
	cfg := Config{Architecture: MLP, Response: "y", Deep: Deep{Columns: []string{"x1", "x2"}}, Training: Training{Optimizer: SGD, LearningRate: 1e6, Epochs: 20}}
	_, _, err := Train(context.Background(), cfg, tab)
	if err == nil || !strings.Contains(err.Error(), "training diverged in epoch ") || !strings.Contains(err.Error(), "Lower Training.LearningRate (1e+06)") {
		t.Errorf("learning rate 1e6: %v", err)
	}
}

// TestScalingAndStart: each can be switched off, and then a response far from 0
// is not reached in a few epochs: why the paper's rows failed.
func TestScalingAndStart(t *testing.T) {
	tab := simulated(t, 500, 4)
	y, _ := whole(t, tab).Numeric("y")
	errorOf := func(change func(*Training)) float64 {
		cfg := Config{Architecture: MLP, Response: "y", Deep: Deep{Columns: []string{"x1", "x2", "x3"}}, Training: Training{Epochs: 5}}
		change(&cfg.Training)
		m, _ := mustTrain(t, cfg, tab)
		return rootMeanSquare(y, etaOf(t, m, whole(t, tab)), 0)
	}
	both := errorOf(func(*Training) {})
	start := errorOf(func(c *Training) { c.WithoutResponseScaling = true })
	neither := errorOf(func(c *Training) { c.WithoutResponseScaling, c.WithoutInterceptStart = true, true })
	if !(both < 20 && start < 30 && neither > 80) {
		t.Errorf("root mean square errors: %.3g, without scaling %.3g, without both %.3g", both, start, neither)
	}
}

// TestWarmStart: with a fixed start at the additive model the first loss is
// already that of the additive model.
func TestWarmStart(t *testing.T) {
	tab := simulated(t, 600, 5)
	cfg := Config{Structured: Structured{Formulas: []string{`y ~ x1 + s(x2, bs="ps")`}}, Deep: Deep{Columns: []string{"x3"}}, Training: Training{Epochs: 1, LearningRate: 1e-6}}
	_, warm := mustTrain(t, cfg, tab)
	cfg.Training.WithoutWarmStart = true
	_, cold := mustTrain(t, cfg, tab)
	if w, c := warm.Epochs[0].Validation, cold.Epochs[0].Validation; !(w < c-0.2) {
		t.Errorf("first validation loss %v with, %v without the warm start", w, c)
	}
}

// TestFamilies: each recovers its predictor better than its intercept does.
func TestFamilies(t *testing.T) {
	tab := simulated(t, 2000, 6)
	for name, c := range map[string]struct {
		f        family.Differentiable
		response string
		offset   string
	}{
		"gaussian with scale": {family.GaussianLS{}, "h", ""},
		"softplus scale":      {family.GaussianLS{Scale: family.SoftplusScale}, "h", ""},
		"binomial":            {family.Binomial{}, "b", ""},
		"poisson":             {family.Poisson{}, "c", "o"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Family: c.f, Response: c.response, Offset: c.offset, Structured: Structured{Formulas: []string{`~ x1 + g + s(x2, bs="ps")`}},
				Deep: Deep{Columns: []string{"x2", "x3"}, Hidden: []int{16}}, Training: Training{Epochs: 40, Seed: 1}}
			m, fit := mustTrain(t, cfg, tab)
			b := whole(t, simulated(t, 1000, 66))
			y, _ := b.Numeric(c.response)
			o, _ := b.Numeric("o")
			eta := etaOf(t, m, b)
			target := &likelihood.Target{Y: y, W: slices.Repeat([]float64{1}, len(y)), SumW: float64(len(y))}
			if c.offset != "" {
				target.Offset = o
			}
			free := []bool{true, true}[:c.f.Predictors()]
			null := target.Intercepts(c.f, free)
			gain, row := 0.0, make([]float64, c.f.Predictors())
			for i := range y {
				target.At(row, eta.RawRowView(i), i)
				gain += c.f.LogLik(y[i], 1, row, 1)
				target.At(row, null, i)
				gain -= c.f.LogLik(y[i], 1, row, 1)
			}
			if gain /= float64(len(y)); !(gain > 0.05) {
				t.Errorf("log-likelihood per row only %v above the intercept's; %+v", gain, fit.Epochs[len(fit.Epochs)-1])
			}
			if name == "gaussian with scale" { // log sigma = -1 + 0.8 x1
				x, _ := b.Numeric("x1")
				miss := 0.0
				for i := range x {
					miss += math.Abs(eta.At(i, 1)-(-1+0.8*x[i])) / float64(len(x))
				}
				if miss > 0.25 {
					t.Errorf("log scale is off by %v on average", miss)
				}
			}
		})
	}
}

// TestWeights: rows of weight 2 are rows that come twice.
func TestWeights(t *testing.T) {
	tab := simulated(t, 300, 7)
	b := whole(t, tab)
	index := make([]int, 0, 600)
	w := make([]float64, 300)
	for i := range w {
		w[i] = float64(1 + i%2)
		for range 1 + i%2 {
			index = append(index, i)
		}
	}
	f := &rows.Frame{Columns: tab.Schema(), Batch: b}
	twice, err := f.Subset(index)
	if err != nil {
		t.Fatal(err)
	}
	weighted, err := f.With([]string{"twice"}, [][]float64{w})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Response: "y", Architecture: MLP, Deep: Deep{Columns: []string{"x1"}, Hidden: []int{4}}, Training: Training{ValidationShare: -1, Epochs: 30, BatchSize: 1000, Optimizer: SGD}}
	losses := map[string]float64{}
	for name, src := range map[string]data.Source{"rows": twice, "weights": weighted} {
		c := cfg
		if name == "weights" {
			c.Weights = "twice"
		}
		_, fit := mustTrain(t, c, src)
		// Without the constant: log(w)/2 of a weighted gaussian row.
		losses[name] = fit.Epochs[0].Train - fit.Epochs[29].Train
	}
	// Inputs are standardised without weights, so the two start apart a little.
	if math.Abs(losses["rows"]-losses["weights"]) > 0.02*losses["rows"] {
		t.Errorf("the loss falls by %v", losses)
	}
}
