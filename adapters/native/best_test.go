package native

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
	"github.com/pho-go/pho/family"
)

// kinds are configurations of all sorts; family and response are to be filled in.
func kinds() map[string]Config {
	terms := Structured{Formulas: []string{`~ x1 + s(x2, bs="ps", k=8)`}}
	deep := Deep{Columns: []string{"x1", "x2", "x3"}, Hidden: []int{12, 6}}
	with := func(d Deep, change func(*Deep)) Deep { change(&d); return d }
	return map[string]Config{
		"ssn":             {Structured: terms, Deep: deep},
		"ssn, weights":    {Weights: "w", Structured: terms, Deep: deep},
		"ssn, ono":        {Structured: terms, Deep: with(deep, func(d *Deep) { d.Separate, d.Orthogonalize = true, true })},
		"ono, intercepts": {Deep: with(deep, func(d *Deep) { d.Separate, d.Orthogonalize = true, true })},
		"ono, batch norm": {Structured: Structured{Formulas: []string{`~ d + s(x2, k=6) + s(x1, by=d, k=5)`}, Factors: []string{"d"}},
			Deep: with(deep, func(d *Deep) { d.Separate, d.Orthogonalize, d.BatchNorm, d.Dropout = true, true, true, 0.2 })},
		"ono, aliased": {Structured: Structured{Formulas: []string{`~ x1 + s(x1, k=5) + d + s(x2, bs="ps", k=8)`}, Factors: []string{"d"}},
			Deep: with(deep, func(d *Deep) { d.Separate, d.Orthogonalize = true, true })},
		"ssn, batch norm, dropout": {Structured: terms, Deep: with(deep, func(d *Deep) { d.BatchNorm, d.Dropout = true, 0.3 })},
		"ssn, factors": {Structured: Structured{Formulas: []string{`~ d + s(x2, k=6) + te(x1, x3, k=c(4,4))`}, Factors: []string{"d"}},
			Deep: with(deep, func(d *Deep) { d.Columns, d.Factors = []string{"x1", "x3", "d"}, []string{"d"} })},
		"ssn, features": {Structured: terms, FeatureNetworks: FeatureNetworks{Columns: []string{"x2", "x3"}, Pairs: [][2]string{{"x1", "x3"}, {"x1", "d"}}, Factors: []string{"d"},
			Products: [][2]string{{"x2", "x3"}}, Hidden: []int{6, 4}, Dropout: 0.1, FeatureDropout: 0.1, OutputPenalty: 0.1}, Deep: deep},
		"ssn, no networks": {Structured: terms},
		"ssn, kinks":       {Structured: terms, Deep: with(deep, func(d *Deep) { d.WithoutFirstBias, d.Separate = true, true })},
		"nam":              {Architecture: NAM, FeatureNetworks: FeatureNetworks{Columns: []string{"x1", "x2"}, Hidden: []int{6, 4}, ExU: true, Activation: ReLUN}},
		"nam, factor":      {Architecture: NAM, FeatureNetworks: FeatureNetworks{Columns: []string{"x1", "x2", "d"}, Factors: []string{"d"}, Hidden: []int{6, 4}}, Deep: deep},
		"mlp":              {Architecture: MLP, Deep: with(deep, func(d *Deep) { d.Activation = Tanh })},
	}
}

// families are all of them with a response each.
func families() map[string]Config {
	return map[string]Config{
		"gaussian":          {Family: family.Gaussian{}, Response: "y"},
		"gaussian, two":     {Family: family.GaussianLS{}, Response: "h"},
		"gaussian softplus": {Family: family.GaussianLS{Scale: family.SoftplusScale}, Response: "h"},
		"binomial":          {Family: family.Binomial{}, Response: "b"},
		"poisson":           {Family: family.Poisson{}, Response: "c", Offset: "o"},
		"gamma":             {Family: family.Gamma{}, Response: "p"},
		"negative binomial": {Family: parsed("negative-binomial", 1), Response: "c"},
		"negative, two":     {Family: parsed("negative-binomial", 2), Response: "c"},
		"beta":              {Family: parsed("beta", 1), Response: "p"},
		"beta, two":         {Family: parsed("beta", 2), Response: "p"},
		"student t":         {Family: parsed("student-t", 1), Response: "y"},
		"tweedie":           {Family: parsed("tweedie(p=1.4)", 1), Response: "c"},
		"inverse gaussian":  {Family: parsed("inverse-gaussian", 1), Response: "p"},
		"zip":               {Family: parsed("zip", 1), Response: "c"},
		"zip, two":          {Family: parsed("zip", 2), Response: "c"},
		"lognormal":         {Family: parsed("lognormal", 1), Response: "p"},
		"weibull":           {Family: parsed("weibull", 1), Response: "p", Event: "b"},
		"weibull, two":      {Family: parsed("weibull", 2), Response: "p", Event: "b"},
		"cox":               {Family: parsed("cox", 1), Response: "p", Event: "b"},
		"log-logistic":      {Family: parsed("log-logistic", 1), Response: "p", Event: "b"},
		"student t, three":  {Family: parsed("student-t", 3), Response: "h"},
	}
}

// TestNeverWorse: whatever the rate of learning does to a network, it explains the rows
// that decide no worse than the additive model that it began from, and if it is no better
// a warning says so; the saved model predicts like the one that was scored.
func TestNeverWorse(t *testing.T) {
	if testing.Short() {
		t.Skip("many trainings")
	}
	tab := withShares(t, simulated(t, 180, 12))
	b := whole(t, tab)
	for of, f := range families() {
		for kind, cfg := range kinds() {
			cfg.Family, cfg.Response, cfg.Event, cfg.Offset = f.Family, f.Response, f.Event, f.Offset
			for _, rate := range []float64{100, 1, 0.003} {
				for _, held := range []float64{0.25, -1} {
					if rate != 100 && (held < 0 || of != "gaussian" && kind != "ssn" && kind != "ssn, ono") {
						continue
					}
					name := strings.Join([]string{of, kind}, ", ")
					cfg.Training = Training{Epochs: 3, BatchSize: 65, LearningRate: rate, Seed: 4, ValidationShare: held, Single: rate == 1}
					m, fit, err := Train(context.Background(), cfg, tab)
					if err != nil {
						// Nothing but a constant is left of a network without terms.
						if len(cfg.Structured.Formulas) > 0 || kind == "nam, factor" || !strings.Contains(err.Error(), "training diverged in epoch ") {
							t.Errorf("%s, rate %g: %v", name, rate, err)
						}
						continue
					}
					tolerance := 1e-9
					if cfg.Training.Single {
						tolerance = 1e-4 // float32, coefficients of all sizes
					}
					tolerance *= 1 + math.Abs(fit.AdditiveLoss)
					if !(fit.Evaluation.Loss <= fit.AdditiveLoss+tolerance) {
						t.Errorf("%s, rate %g: loss %v, epoch 0 had %v", name, rate, fit.Evaluation.Loss, fit.AdditiveLoss)
					}
					if networks := len(m.net.Towers) > 0; networks && fit.Best == 0 && !strings.Contains(strings.Join(fit.Warnings, "\n"), "better than epoch 0") {
						t.Errorf("%s, rate %g: epoch 0 is the best, and there is no word of it: %q", name, rate, fit.Warnings)
					}
					if fit.Best > 0 && held > 0 {
						if e := fit.Epochs[fit.Best-1].Validation; !(math.Abs(e-fit.Evaluation.Loss) <= tolerance) {
							t.Errorf("%s, rate %g: the best epoch was scored %v, the model %v", name, rate, e, fit.Evaluation.Loss)
						}
					}
					if err := decomposetest.Model(m, b.Slice(0, 40), 1e-6); err != nil {
						t.Errorf("%s, rate %g: %v", name, rate, err)
					}
				}
			}
		}
	}
}

// TestSavedIsScored: the file that is read back predicts the rows that decided as
// they were scored, and all others as the model does.
func TestSavedIsScored(t *testing.T) {
	tab := withShares(t, simulated(t, 180, 13))
	b := whole(t, tab)
	for of, f := range families() {
		for kind, cfg := range kinds() {
			if of != "gaussian" && !strings.Contains(kind, "ono") && kind != "ssn, features" { // kinds are what is at issue here
				continue
			}
			cfg.Family, cfg.Response, cfg.Offset = f.Family, f.Response, f.Offset
			cfg.Training = Training{Epochs: 4, BatchSize: 65, LearningRate: 0.01, Seed: 4}
			m, fit := mustTrain(t, cfg, tab)
			want := etaOf(t, m, b)
			for _, double := range []bool{false, true} {
				tolerance := 5e-5 // float32; coefficients of a folded projection cancel in part
				if double {
					tolerance = 1e-9
				}
				back := reopen(t, m, tab, &ExportOptions{Double: double})
				score, err := fit.Evaluate(context.Background(), back)
				if err != nil {
					t.Fatal(err)
				}
				if !(math.Abs(score.Loss-fit.Evaluation.Loss) <= tolerance*(1+math.Abs(fit.Evaluation.Loss))) {
					t.Errorf("%s, %s, double %v: the file has loss %v, the model %v", of, kind, double, score.Loss, fit.Evaluation.Loss)
				}
				got := etaOf(t, back, b)
				for i := range got.RawMatrix().Data {
					if v, w := got.RawMatrix().Data[i], want.RawMatrix().Data[i]; !(math.Abs(v-w) <= tolerance*(1+math.Abs(w))*10) {
						t.Errorf("%s, %s, double %v: number %d is %v of the file, %v of the model", of, kind, double, i, v, w)
						break
					}
				}
			}
		}
	}
}

// TestOnlineIsProjected: what is left of a deep part that was orthogonalized online is
// orthogonal to the formula's columns over the training rows; coefficients are those of
// training, and with the projection left off the network is another one.
func TestOnlineIsProjected(t *testing.T) {
	tab := simulated(t, 600, 14)
	cfg := Config{
		Structured: Structured{Formulas: []string{`y ~ x1 + d + s(x2, bs="ps", k=10) + s(x3, k=6)`}, Factors: []string{"d"}},
		Deep:       Deep{Columns: []string{"x1", "x2", "x3"}, Hidden: []int{32, 16}, Orthogonalize: true},
		Training:   Training{Epochs: 30, Seed: 1, BatchSize: 128, LearningRate: 0.01, Validation: simulated(t, 200, 15)},
	}
	m, fit := mustTrain(t, cfg, tab)
	b := whole(t, tab)
	out, err := forward(context.Background(), m, b)
	if err != nil {
		t.Fatal(err)
	}
	zeta := out.Zeta.RawMatrix().Data
	size := mat.Norm(mat.NewVecDense(len(zeta), zeta), 2)
	if size < 1 {
		t.Fatalf("the deep part has norm %g", size)
	}
	for _, block := range m.Blocks(0) {
		for j := range block.Term.Dim() {
			unit := []decompose.Block{block}
			unit[0].Coef = make([]float64, block.Term.Dim())
			unit[0].Coef[j] = 1
			x, err := combine(unit, b)
			if err != nil {
				t.Fatal(err)
			}
			dot := 0.0
			for i, v := range x {
				dot += v * zeta[i]
			}
			if !(math.Abs(dot) <= 1e-9*size*mat.Norm(mat.NewVecDense(len(x), x), 2)) {
				t.Errorf("term %q, column %d: correlation %g with the deep part", block.Term.Name(), j, dot/size/mat.Norm(mat.NewVecDense(len(x), x), 2))
			}
		}
	}
	cfg.Training.Workers = 1
	one, _ := mustTrain(t, cfg, tab)
	cfg.Training.Workers = 3
	three, _ := mustTrain(t, cfg, tab)
	if !bytes.Equal(saved(t, one), saved(t, three)) {
		t.Error("three workers write other bytes than one")
	}
	free, err := fit.Evaluate(context.Background(), m.Unprojected())
	if err != nil {
		t.Fatal(err)
	}
	if !(free.RMSE > 1.01*fit.Evaluation.RMSE) {
		t.Errorf("root mean square error %g without the projection, %g with it: this test tells nothing", free.RMSE, fit.Evaluation.RMSE)
	}
	r, err := decompose.Decompose(context.Background(), reopen(t, m, tab, &ExportOptions{Double: true}), tab, &decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := combine(m.Blocks(0), b)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, b.Rows())
	for _, term := range r.Predictors[0].Terms {
		for i, v := range effect(t, term, b) {
			got[i] += v
		}
	}
	for i := range got {
		if v, w := got[i]-got[0], want[i]-want[0]; math.Abs(v-w) > 1e-6*(1+math.Abs(w)) {
			t.Fatalf("row %d: PHO of the saved network finds X beta = %v, training had %v", i, v, w)
		}
	}
}

// effect is X (beta + alpha) of a decomposed term.
func effect(t *testing.T, term decompose.TermResult, b *data.Batch) []float64 {
	t.Helper()
	coef := slices.Clone(term.Alpha)
	for i := range coef {
		if len(term.Beta) > 0 {
			coef[i] += term.Beta[i]
		}
	}
	x, err := combine([]decompose.Block{{Term: term.Term(), Coef: coef}}, b)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// meanOf is the mean of networks as a black box.
type meanOf []decompose.Model

func (networks meanOf) Eta(ctx context.Context, dst *mat.Dense, b *data.Batch) error {
	dst.Zero()
	for _, m := range networks {
		out, err := forward(ctx, m, b)
		if err != nil {
			return err
		}
		out.Eta.Scale(1/float64(len(networks)), out.Eta)
		dst.Add(dst, out.Eta)
	}
	return nil
}

// TestEnsembleNeverWorse: nor are networks of several seeds, and if losses are convex
// their mean is not worse than they are on the average.
func TestEnsembleNeverWorse(t *testing.T) {
	tab := simulated(t, 200, 16)
	cfg := Config{Structured: Structured{Formulas: []string{`y ~ x1 + s(x2, bs="ps", k=8)`}}, Deep: Deep{Columns: []string{"x1", "x2", "x3"}, Hidden: []int{16}},
		Training: Training{Epochs: 5, LearningRate: 0.3, Validation: simulated(t, 100, 17)}}
	var parts []decompose.Model
	var fits []*Fit
	for seed := range uint64(3) {
		cfg.Training.Seed = seed
		m, fit := mustTrain(t, cfg, tab)
		parts, fits = append(parts, m), append(fits, fit)
		if !(fit.Evaluation.Loss <= fits[0].AdditiveLoss+1e-12) {
			t.Errorf("member %d has loss %v, the additive model %v", seed, fit.Evaluation.Loss, fits[0].AdditiveLoss)
		}
	}
	mean, err := decompose.NewBlackBox(meanOf(parts), []string{"x1", "x2", "x3"})
	if err != nil {
		t.Fatal(err)
	}
	score, err := fits[0].Evaluate(context.Background(), mean)
	if err != nil {
		t.Fatal(err)
	}
	if !(score.Loss <= fits[0].AdditiveLoss+1e-12) {
		t.Errorf("the mean of the members has loss %v, the additive model %v", score.Loss, fits[0].AdditiveLoss)
	}
}

// TestResumeAtEpochZero: a checkpoint of training that has found nothing better than
// its start resumes to the same bytes and the same warnings.
func TestResumeAtEpochZero(t *testing.T) {
	tab := simulated(t, 300, 18)
	for _, held := range []float64{0, -1} {
		cfg := Config{Structured: Structured{Formulas: []string{`y ~ x1 + s(x2, bs="ps", k=8)`}}, Deep: Deep{Columns: []string{"x3"}, Hidden: []int{8}},
			Training: Training{Epochs: 6, LearningRate: 100, ValidationShare: held}}
		m, fit := mustTrain(t, cfg, tab)
		if fit.Best != 0 || len(fit.Warnings) == 0 {
			t.Fatalf("best epoch %d, warnings %q", fit.Best, fit.Warnings)
		}
		cfg.Training.Checkpoint, cfg.Training.Resume = filepath.Join(t.TempDir(), "checkpoint"), true
		cfg.Training.CheckpointEvery, cfg.Training.Epochs = 1, 3
		mustTrain(t, cfg, tab)
		cfg.Training.Epochs = 6
		again, fitAgain := mustTrain(t, cfg, tab)
		if string(saved(t, m)) != string(saved(t, again)) || !slices.Equal(fit.Warnings, fitAgain.Warnings) || fitAgain.Best != 0 {
			t.Errorf("held %v: resumed training ends elsewhere: %q, %q", held, fit.Warnings, fitAgain.Warnings)
		}
	}
}

// TestWarmStartSurvives: real data, and a rate of learning that ruins any network.
func TestWarmStartSurvives(t *testing.T) {
	shared := os.Getenv("PHO_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(shared, "data", "concrete.csv")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the data sets are not here: %v", err)
	}
	src, err := data.OpenCSV([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	cfg := Config{Structured: Structured{Formulas: []string{`compressive_strength ~ cement + s(water) + s(age, k=8)`}},
		Deep: Deep{Columns: []string{"cement", "water", "age", "fly_ash"}}, Training: Training{Epochs: 5, LearningRate: 100}}
	_, fit := mustTrain(t, cfg, src)
	const rounding = 1e-12 // the two are computed by different programs
	if !(fit.Evaluation.Loss <= fit.AdditiveLoss*(1+rounding)) || fit.Best != 0 || len(fit.Warnings) != 1 {
		t.Errorf("loss %v, of the additive model %v, best epoch %d, warnings %q", fit.Evaluation.Loss, fit.AdditiveLoss, fit.Best, fit.Warnings)
	}
	// Nor is a model better than its additive model for not having begun there.
	cfg.Training.WithoutWarmStart, cfg.Training.LearningRate = true, 1e-6
	if _, cold := mustTrain(t, cfg, src); cold.AdditiveLoss != fit.AdditiveLoss || len(cold.Warnings) == 0 || !strings.Contains(cold.Warnings[len(cold.Warnings)-1], "from which it did not begin") {
		t.Errorf("without a warm start: best epoch %d, additive loss %v, warnings %q", cold.Best, cold.AdditiveLoss, cold.Warnings)
	}
	cfg.Training.WithoutWarmStart = false
	// The untrained deep part takes nothing from the first epoch of a small rate.
	cfg.Training.LearningRate, cfg.Training.Epochs = 1e-9, 1
	_, fit = mustTrain(t, cfg, src)
	if e := fit.Epochs[0].Validation; math.Abs(e-fit.AdditiveLoss) > 1e-6 {
		t.Errorf("after a first epoch in which nothing moves the loss is %v, that of the additive model %v", e, fit.AdditiveLoss)
	}
}
