package native

import (
	"context"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/family"
)

// TestBadInput: what can be known before training is told before training.
func TestBadInput(t *testing.T) {
	tab := simulated(t, 60, 1)
	f := &frame{schema: tab.Schema(), batch: whole(t, tab)}
	constant := make([]float64, 60)
	ones := make([]float64, 60)
	negative := make([]float64, 60)
	for i := range ones {
		ones[i], constant[i] = 1, 3.5
	}
	negative[17] = -1
	src, err := f.with([]string{"constant", "ones", "negative"}, [][]float64{constant, ones, negative})
	if err != nil {
		t.Fatal(err)
	}
	validation := data.NewTable(2)
	for _, name := range []string{"x1", "y"} {
		if err := validation.AddNumeric(name, []float64{1, 2}); err != nil {
			t.Fatal(err)
		}
	}
	if err := validation.AddText("g", []string{"a", "zz"}); err != nil {
		t.Fatal(err)
	}
	mlp := func(y string) Config {
		return Config{Kind: MLP, Response: y, Deep: Deep{Columns: []string{"x1"}}, Training: Training{Epochs: 1}}
	}
	change := func(c Config, f func(*Config)) Config { f(&c); return c }
	for _, c := range []struct {
		name string
		cfg  Config
		src  data.Source
		want string
	}{
		{"outside the support", change(mlp("y"), func(c *Config) { c.Family = family.Binomial{} }), src, `native: column "y", row `},
		{"negative counts", change(mlp("negative"), func(c *Config) { c.Family, c.Training.ValidationShare = family.Poisson{}, -1 }), src,
			`native: column "negative", row 17: family poisson: response -1 is outside the support, the non-negative integers`},
		{"constant", mlp("constant"), src, `native: the response "constant" is constant: it is 3.5 on all training rows`},
		{"one class", change(mlp("ones"), func(c *Config) { c.Family = family.Binomial{} }), src, `native: the response "ones" has one class only: it is 1 on all training rows`},
		{"no rows", mlp("y"), simulated(t, 0, 1), `native: there are no rows to train on`},
		{"no columns", change(mlp("y"), func(c *Config) { c.Deep.Columns = []string{"x1", "nope"} }), src, `native: deep part: no column "nope" in the data, which has ["x1"`},
		{"no response", mlp(""), src, "native: no response: set Response or write y ~ ... in a formula"},
		{"the response as input", change(mlp("y"), func(c *Config) { c.Deep.Columns = []string{"y"} }), src, `native: deep part: column "y" is the response or the weights`},
		{"unseen level, embedding", change(mlp("y"), func(c *Config) {
			c.Deep.Columns, c.Training.Validation = []string{"x1", "g"}, validation
		}), src, `native: validation rows: native: column "g", row 1: level "zz" was not among the training rows, which have 3`},
		{"unseen level, formula", Config{Structured: Structured{Formulas: []string{"y ~ x1 + g"}}, Training: Training{Epochs: 1, Validation: validation}}, src,
			`native: validation rows: term g: `},
		{"validation without a column", change(mlp("y"), func(c *Config) { c.Deep.Columns, c.Training.Validation = []string{"x2"}, validation }), src, `native: validation rows: native: no column "x2"`},
		{"share too small", change(mlp("y"), func(c *Config) { c.Training.ValidationShare = 0.001 }), src, "native: a validation share of 0.001 leaves 0 of 60 rows for validation"},
		{"weights", change(mlp("y"), func(c *Config) { c.Weights, c.Training.ValidationShare = "negative", -1 }), src, `native: weights column "negative", row 17: -1: weights are finite and not negative`},
		{"several faults", Config{Kind: MLP, Response: "y", Features: Features{Columns: []string{"g"}, Dropout: 1}, Training: Training{Optimizer: "lbfgs", LearningRate: -1}}, src,
			"native: an mlp needs Deep.Columns\nnative: an mlp has neither formula terms nor feature networks: that is an ssn\nnative: feature network: column \"g\" holds text, where numbers are needed\n" +
				"native: Features.Dropout is 1: it must be at least 0 and below 1\nnative: Training.LearningRate is -1: it must be positive and finite\nnative: unknown optimizer \"lbfgs\": known are adam, adamw and sgd"},
		{"products", Config{Kind: NAM, Response: "y", Features: Features{Columns: []string{"x1", "x2"}, Pairs: [][2]string{{"x1", "x2"}}, Products: [][2]string{{"x2", "x1"}, {"x1", "x3"}}}}, src,
			"native: product (x2, x1) is listed twice\nnative: product (x1, x3): column \"x3\" has no feature network of its own: add it to Features.Columns"},
		{"gam of counts", Config{Kind: GAM, Family: family.Poisson{}, Structured: Structured{Formulas: []string{"c ~ x1"}}}, src, "native: a gam of family poisson is not solved from moments"},
		{"shared deep part, online", Config{Family: family.GaussianLS{}, Response: "y", Deep: Deep{Columns: []string{"x1"}, Orthogonalize: true}}, src, "native: online orthogonalization of 2 predictors needs Deep.Separate"},
		{"unknown predictor", Config{Structured: Structured{Formulas: []string{"y ~ x1", "tau = ~ x1"}}}, src, `native: formula for predictor "tau": the gaussian model has ["eta"]`},
		{"smoothing parameter", Config{Structured: Structured{Formulas: []string{"y ~ x1"}, SP: map[string][]float64{"s(x9)": {1}}}}, src, `native: smoothing parameters for term "s(x9)", which no formula has`},
		{"resume from nothing", change(mlp("y"), func(c *Config) { c.Training.Resume = true }), src, "native: Training.Resume needs Training.Checkpoint"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Train(context.Background(), c.cfg, c.src)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%v\nwant\n%s", err, c.want)
			}
		})
	}
}

// TestBadRows: rows that the model cannot take are named.
func TestBadRows(t *testing.T) {
	tab := simulated(t, 100, 1)
	m, _ := mustTrain(t, Config{Response: "y", Kind: MLP, Deep: Deep{Columns: []string{"x1", "g"}}, Training: Training{Epochs: 1}}, tab)
	b := data.NewBatch(2, 10)
	if err := b.SetNumeric("x1", []float64{0, 1}); err != nil {
		t.Fatal(err)
	}
	if err := b.SetCodes("g", data.Codes{Index: []int32{0, 1}, Levels: []string{"b", "d"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Predict(context.Background(), b); err == nil || !strings.HasPrefix(err.Error(), `native: column "g", row 11: level "d" was not among the training rows`) {
		t.Errorf("unseen level: %v", err)
	}
	if _, err := m.Predict(context.Background(), data.NewBatch(2, 0)); err == nil {
		t.Error("rows without columns")
	}
}
