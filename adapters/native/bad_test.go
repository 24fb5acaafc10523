package native

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/family"
)

// TestBadInput: what can be known before training is told before training, in full.
func TestBadInput(t *testing.T) {
	tab := simulated(t, 60, 1)
	f := &rows.Frame{Columns: tab.Schema(), Batch: whole(t, tab)}
	// Columns that are 1 but at row 18 (0 from 1), where they are what they are called.
	odd := map[string]float64{"ones": 1, "half": 0.5, "negative": -1, "nan": math.NaN(), "inf": math.Inf(1), "zero": 0, "two": 2}
	names, values := []string{"zeros", "constant"}, [][]float64{make([]float64, 60), slices.Repeat([]float64{3.5}, 60)}
	for _, name := range []string{"ones", "half", "negative", "nan", "inf", "zero", "two"} {
		v := slices.Repeat([]float64{1}, 60)
		v[17] = odd[name]
		names, values = append(names, name), append(values, v)
	}
	src, err := f.With(names, values)
	if err != nil {
		t.Fatal(err)
	}
	validation := data.NewTable(2)
	for _, name := range []string{"x1", "y"} {
		if err := validation.AddNumeric(name, []float64{1, 2}); err != nil {
			t.Fatal(err)
		}
	}
	if err := validation.AddTexts("g", []string{"a", "zz"}); err != nil {
		t.Fatal(err)
	}
	all := Training{Epochs: 1, ValidationShare: -1}
	mlp := func(y string) Config {
		return Config{Architecture: MLP, Response: y, Deep: Deep{Columns: []string{"x1"}}, Training: all}
	}
	of := func(f family.Differentiable, y string) Config { c := mlp(y); c.Family = f; return c }
	change := func(c Config, f func(*Config)) Config { f(&c); return c }
	const columns = `["x1" "x2" "x3" "d" "w" "o" "y" "b" "c" "h" "g" "zeros" "constant" "ones" "half" "negative" "nan" "inf" "zero" "two"]`
	for _, c := range []struct {
		name string
		cfg  Config
		src  data.Source
		want string
	}{
		{"gaussian, not a number", mlp("nan"), src,
			`native: response "nan", data row 18: family gaussian: response NaN is outside the support, the finite real numbers`},
		{"gaussian, infinite", mlp("inf"), src,
			`native: response "inf", data row 18: family gaussian: response +Inf is outside the support, the finite real numbers`},
		{"binomial, two", of(family.Binomial{}, "two"), src,
			`native: response "two", data row 18: family binomial: response 2 is outside the support, 0 or 1 or a proportion between them (with the number of trials as the weight)`},
		{"binomial, not a number", of(family.Binomial{}, "nan"), src,
			`native: response "nan", data row 18: family binomial: response NaN is outside the support, 0 or 1 or a proportion between them (with the number of trials as the weight)`},
		{"poisson, negative", of(family.Poisson{}, "negative"), src,
			`native: response "negative", data row 18: family poisson: response -1 is outside the support, the non-negative integers`},
		{"poisson, half", of(family.Poisson{}, "half"), src,
			`native: response "half", data row 18: family poisson: response 0.5 is outside the support, the non-negative integers`},
		{"gamma, zero", of(family.Gamma{}, "zero"), src,
			`native: response "zero", data row 18: family gamma: response 0 is outside the support, the finite positive numbers`},
		{"negative binomial, half", of(parsed("negative-binomial", 1), "half"), src,
			`native: response "half", data row 18: family negative-binomial: response 0.5 is outside the support, the non-negative integers`},
		{"negative binomial, two predictors", of(parsed("negative-binomial", 2), "negative"), src,
			`native: response "negative", data row 18: family negative-binomial: response -1 is outside the support, the non-negative integers`},
		{"beta, one", of(parsed("beta(phi=2)", 1), "half"), src,
			`native: response "half", data row 1: family beta: response 1 is outside the support, the numbers between 0 and 1, both excluded`},
		{"beta, not a number", of(parsed("beta", 2), "nan"), src,
			`native: response "nan", data row 1: family beta: response 1 is outside the support, the numbers between 0 and 1, both excluded`},
		{"student t, infinite", of(parsed("student-t", 3), "inf"), src,
			`native: response "inf", data row 18: family student-t: response +Inf is outside the support, the finite real numbers`},
		{"constant", mlp("constant"), src,
			`native: the response "constant" is constant: it is 3.5 on all training rows of positive weight, so there is nothing to learn`},
		{"constant counts", of(parsed("negative-binomial", 1), "ones"), src,
			`native: the response "ones" is constant: it is 1 on all training rows of positive weight, so there is nothing to learn`},
		{"constant but for a row of no weight", change(mlp("two"), func(c *Config) { c.Weights = "zero" }), src,
			`native: the response "two" is constant: it is 1 on all training rows of positive weight, so there is nothing to learn`},
		{"one class", of(family.Binomial{}, "ones"), src,
			`native: the response "ones" has one class only: it is 1 on all training rows of positive weight, and both classes are needed`},
		{"no rows", mlp("y"), simulated(t, 0, 1),
			`native: there are no rows to train on`},
		{"deep column missing", change(mlp("y"), func(c *Config) { c.Deep.Columns = []string{"x1", "nope"} }), src,
			`native: deep part: no column "nope" in the data, which has COLUMNS`},
		{"feature column missing", Config{Architecture: NAM, Response: "y", FeatureNetworks: FeatureNetworks{Columns: []string{"nope"}}}, src,
			`native: feature network: no column "nope" in the data, which has COLUMNS`},
		{"offset missing", change(mlp("y"), func(c *Config) { c.Offset = "nope" }), src,
			`native: offset: no column "nope" in the data, which has COLUMNS`},
		{"no response", mlp(""), src,
			`native: no response: set Response or write y ~ ... in a formula`},
		{"response missing", mlp("nope"), src,
			`native: response: no column "nope" in the data, which has COLUMNS`},
		{"response of text", mlp("g"), src,
			`native: response: column "g" holds text, where numbers are needed; two classes of text are a response of family binomial, more of categorical`},
		{"the response as input", change(mlp("y"), func(c *Config) { c.Deep.Columns = []string{"y"} }), src,
			`native: deep part: column "y" is the response or the weights`},
		{"the response as offset", change(mlp("y"), func(c *Config) { c.Offset = "y" }), src,
			`native: offset: column "y" is the response`},
		{"the response in a formula", Config{Architecture: SSN, Response: "y", Structured: Structured{Formulas: []string{"~ s(y)"}}}, src,
			"formula, character 5: \"y\" is the response; it cannot explain itself\n  ~ s(y)\n      ^"},
		{"negative weight", change(mlp("y"), func(c *Config) { c.Weights = "negative" }), src,
			`native: weights "negative", data row 18: -1 is not a finite number >= 0`},
		{"weight not a number", change(mlp("y"), func(c *Config) { c.Weights = "nan" }), src,
			`native: weights "nan", data row 18: NaN is not a finite number >= 0`},
		{"all weights zero", change(mlp("y"), func(c *Config) { c.Weights = "zeros" }), src,
			`native: all weights "zeros" of the training rows are zero: give some rows a positive weight`},
		{"infinite offset", change(mlp("y"), func(c *Config) { c.Offset = "inf" }), src,
			`native: offset "inf", data row 18: +Inf is not a finite number`},
		{"input not a number", change(mlp("y"), func(c *Config) { c.Deep.Columns = []string{"nan"} }), src,
			`native: column "nan" is NaN at data row 18: networks need finite numbers`},
		{"unseen level, embedding", change(mlp("y"), func(c *Config) { c.Deep.Columns, c.Training.Validation = []string{"x1", "g"}, validation }), src,
			`native: validation rows: native: column "g", data row 2: level "zz" was not among the training rows, which have 3: ["a" "b" "c"]; leave such rows out or merge the level with another`},
		{"unseen level, formula", Config{Structured: Structured{Formulas: []string{"y ~ x1 + g"}}, Training: Training{Epochs: 1, Validation: validation}}, src,
			`native: validation rows: term g: data row 2: level "zz" of column "g" did not occur in the data the term was made from ("a", "b", "c"): leave such rows out, or decompose again on data that have this level`},
		{"unseen level, feature", Config{Architecture: NAM, Response: "y", FeatureNetworks: FeatureNetworks{Columns: []string{"x1", "g"}}, Training: Training{Epochs: 1, Validation: validation}}, src,
			`native: validation rows: term g: data row 2: level "zz" of column "g" did not occur in the data the term was made from ("a", "b", "c"): leave such rows out, or decompose again on data that have this level`},
		{"unseen level, pair", Config{Architecture: NAM, Response: "y", FeatureNetworks: FeatureNetworks{Pairs: [][2]string{{"x1", "g"}}}, Training: Training{Epochs: 1, Validation: validation}}, src,
			`native: validation rows: native: column "g", data row 2: level "zz" was not among the training rows, which have 3: ["a" "b" "c"]; leave such rows out or merge the level with another`},
		{"validation without a column", change(mlp("y"), func(c *Config) { c.Deep.Columns, c.Training.Validation = []string{"x2"}, validation }), src,
			`native: validation rows: native: no column "x2" in the data, which has ["x1" "y" "g"]`},
		{"share too small", change(mlp("y"), func(c *Config) { c.Training.ValidationShare = 0.001 }), src,
			`native: a validation share of 0.001 leaves 0 of 60 rows for validation: give more rows, another share, or a negative one for none`},
		{"several faults", Config{Architecture: MLP, Response: "y", FeatureNetworks: FeatureNetworks{Columns: []string{"y"}, Dropout: 1}, Training: Training{Optimizer: "lbfgs", LearningRate: -1}}, src,
			"native: an mlp needs Deep.Columns\n" +
				"native: an mlp has neither formula terms nor feature networks: that is an ssn\n" +
				"native: feature network: column \"y\" is the response or the weights\n" +
				"native: FeatureNetworks.Dropout is 1: it must be at least 0 and below 1\n" +
				"native: Training.LearningRate is -1: it must be positive and finite\n" +
				"native: unknown optimizer \"lbfgs\": known are adam, adamw and sgd"},
		{"products", Config{Architecture: NAM, Response: "y", FeatureNetworks: FeatureNetworks{Columns: []string{"x1", "x2"}, Pairs: [][2]string{{"x1", "x2"}}, Products: [][2]string{{"x2", "x1"}, {"x1", "x3"}, {"g", "x1"}}}}, src,
			"native: product (x2, x1) is listed twice\n" +
				"native: product (x1, x3): column \"x3\" has no feature network of its own: add it to FeatureNetworks.Columns\n" +
				"native: product (g, x1): column \"g\" is a factor: make it one of FeatureNetworks.Pairs"},
		{"factors of features", Config{Structured: Structured{Formulas: []string{"y ~ g"}}, FeatureNetworks: FeatureNetworks{Columns: []string{"x1", "g"}, Factors: []string{"d"}}}, src,
			"native: feature networks: factor \"d\" is not among their columns [\"x1\" \"g\"]\n" +
				"native: feature networks: the factor \"g\" is a term of the formula already: leave one of them out"},
		{"shared deep part, online", Config{Family: family.GaussianLS{}, Response: "y", Deep: Deep{Columns: []string{"x1"}, Orthogonalize: true}}, src,
			`native: online orthogonalization of 2 predictors needs Deep.Separate: each has its own structured columns`},
		{"unknown predictor", Config{Structured: Structured{Formulas: []string{"y ~ x1", "tau = ~ x1"}}}, src,
			`native: formula for predictor "tau": the gaussian model has ["eta"]`},
		{"predictor that is estimated", Config{Family: parsed("negative-binomial", 1), Structured: Structured{Formulas: []string{"c ~ x1", "theta = ~ x1"}}}, src,
			`native: formula for predictor "theta": the negative-binomial model has ["eta"]`},
		{"smoothing parameter", Config{Structured: Structured{Formulas: []string{"y ~ x1"}, SP: map[string][]float64{"s(x9)": {1}}}}, src,
			`native: smoothing parameters for term "s(x9)", which no formula has`},
		{"resume from nothing", change(mlp("y"), func(c *Config) { c.Training.Resume = true }), src,
			`native: Training.Resume needs Training.Checkpoint, the file to go on from`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Train(context.Background(), c.cfg, c.src)
			want := strings.ReplaceAll(c.want, "COLUMNS", columns)
			if err == nil || err.Error() != want {
				t.Errorf("%v\nwant\n%s", err, want)
			}
		})
	}
	// Weights, offsets and responses are columns: one of another length is none.
	if err := simulated(t, 60, 1).AddNumeric("offset", make([]float64, 59)); err == nil || err.Error() != `data: column "offset" has 59 values, the table 60 rows` {
		t.Errorf("short offset: %v", err)
	}
}

// TestBadRows: rows that the model cannot take are named.
func TestBadRows(t *testing.T) {
	tab := simulated(t, 100, 1)
	m, _ := mustTrain(t, Config{Response: "y", Architecture: MLP, Deep: Deep{Columns: []string{"x1", "g"}}, Training: Training{Epochs: 1}}, tab)
	b := data.NewBatch(2, 10)
	if err := b.SetNumeric("x1", []float64{0, 1}); err != nil {
		t.Fatal(err)
	}
	if err := b.SetCodes("g", data.Codes{Index: []int32{0, 1}, Levels: []string{"b", "d"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Predict(context.Background(), b); err == nil || !strings.HasPrefix(err.Error(), `native: column "g", data row 12: level "d" was not among the training rows`) {
		t.Errorf("unseen level: %v", err)
	}
	if _, err := m.Predict(context.Background(), data.NewBatch(2, 0)); err == nil {
		t.Error("rows without columns")
	}
}
