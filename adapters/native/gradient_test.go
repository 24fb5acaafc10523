package native

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/base/kernel"
)

// arm is a configuration whose gradients are checked.
type arm struct {
	name string
	cfg  Config
}

const splineFormula = `y ~ x1 + s(x2, bs="ps", k=6)`

// networkArms are gaussian configurations with every option of Deep and Features that
// changes the loss.
func networkArms() []arm {
	var arms []arm
	add := func(name string, c Config) { arms = append(arms, arm{name, c}) }
	numbers := []string{"x1", "x2", "x3"}
	formula := Structured{Formulas: []string{splineFormula}}
	deep := func(f func(d *Deep)) Deep {
		d := Deep{Columns: numbers, Hidden: []int{5, 4}}
		if f != nil {
			f(&d)
		}
		return d
	}
	for _, a := range []Activation{ReLU, ReLUN, Tanh, Sigmoid, Softplus, GELU} {
		for _, without := range []bool{false, true} {
			for _, norm := range []bool{false, true} {
				add(fmt.Sprintf("mlp %s, first bias %v, batch norm %v", a, !without, norm), Config{Architecture: MLP, Response: "y",
					Deep: deep(func(d *Deep) { d.Activation, d.WithoutFirstBias, d.BatchNorm = a, without, norm })})
			}
		}
	}
	for _, without := range []bool{false, true} {
		set := func(f func(d *Deep)) Deep {
			return deep(func(d *Deep) {
				d.WithoutFirstBias = without
				f(d)
			})
		}
		name := map[bool]string{false: "", true: ", no first bias"}[without]
		add("ssn"+name, Config{Structured: formula, Weights: "w", Offset: "o", Deep: set(func(*Deep) {})})
		add("ssn without intercept"+name, Config{Structured: Structured{Formulas: []string{"y ~ x1 + x2 - 1"}}, Deep: set(func(*Deep) {})})
		add("ssn of one layer"+name, Config{Structured: formula, Deep: set(func(d *Deep) { d.Hidden = []int{7} })})
		add("ssn with dropout"+name, Config{Structured: formula, Deep: set(func(d *Deep) { d.Dropout = 0.3 })})
		add("ssn with factors"+name, Config{Structured: formula, Deep: set(func(d *Deep) {
			d.Columns, d.Factors, d.EmbeddingWidth = []string{"x1", "g", "d", "x2"}, []string{"d"}, 3
		})})
		add("ssn of factors alone"+name, Config{Structured: formula, Deep: set(func(d *Deep) { d.Columns = []string{"g"} })})
		add("ssn, ono"+name, Config{Structured: formula, Deep: set(func(d *Deep) { d.Orthogonalize = true })})
		add("ssn, ono, batch norm, dropout"+name, Config{Structured: formula, Deep: set(func(d *Deep) { d.Orthogonalize, d.BatchNorm, d.Dropout = true, true, 0.2 })})
		add("two separate networks, ono"+name, Config{Family: family.GaussianLS{}, Structured: formula, Deep: set(func(d *Deep) { d.Separate, d.Orthogonalize = true, true })})
	}
	features := func(f func(f *FeatureNetworks)) Config {
		c := Config{Architecture: NAM, Response: "y", FeatureNetworks: FeatureNetworks{Columns: numbers, Hidden: []int{4, 3}}}
		f(&c.FeatureNetworks)
		return c
	}
	for _, a := range []Activation{ReLU, ReLUN, Tanh, Sigmoid, Softplus, GELU} {
		for _, exu := range []bool{false, true} {
			add(fmt.Sprintf("nam %s, exu %v", a, exu), features(func(f *FeatureNetworks) { f.Activation, f.ExU = a, exu }))
		}
	}
	for _, exu := range []bool{false, true} {
		for _, dropout := range []float64{0, 0.3} {
			name := fmt.Sprintf(", exu %v, dropout %g", exu, dropout)
			with := func(f func(f *FeatureNetworks)) Config {
				return features(func(g *FeatureNetworks) {
					g.ExU, g.Dropout, g.FeatureDropout = exu, dropout, dropout/2
					f(g)
				})
			}
			add("nam, output penalty"+name, with(func(f *FeatureNetworks) { f.OutputPenalty = 0.7 }))
			add("nam, a factor"+name, with(func(f *FeatureNetworks) { f.Columns, f.Factors = []string{"x1", "d", "g"}, []string{"d"} }))
			add("nam, pairs"+name, with(func(f *FeatureNetworks) { f.Pairs = [][2]string{{"x1", "x2"}, {"x3", "x1"}} }))
			add("nam, products"+name, with(func(f *FeatureNetworks) { f.Products = [][2]string{{"x1", "x2"}, {"x1", "x3"}} }))
			add("nam, a pair with a factor"+name, with(func(f *FeatureNetworks) { f.Pairs, f.Factors = [][2]string{{"x1", "g"}, {"d", "x2"}}, []string{"d"} }))
			add("nam, a pair of factors"+name, with(func(f *FeatureNetworks) { f.Pairs, f.Factors = [][2]string{{"d", "g"}}, []string{"d"} }))
			add("nam, one layer, all kinds of terms"+name, with(func(f *FeatureNetworks) {
				f.Hidden, f.OutputPenalty, f.Factors = []int{4}, 0.3, []string{"d"}
				f.Pairs, f.Products = [][2]string{{"x1", "x2"}, {"g", "x2"}, {"d", "g"}}, [][2]string{{"x3", "x1"}}
			}))
		}
	}
	everything := features(func(f *FeatureNetworks) {
		f.Pairs, f.Products, f.OutputPenalty = [][2]string{{"x1", "g"}}, [][2]string{{"x1", "x2"}}, 0.2
	})
	everything.Architecture, everything.Structured = SSN, formula
	everything.Deep = deep(func(d *Deep) { d.WithoutFirstBias, d.Separate = true, true })
	everything.Family = family.GaussianLS{}
	add("ssn with everything, two predictors", everything)
	add("gam", Config{Architecture: GAM, Structured: formula})
	return arms
}

// classified: families of classes have no predictors until the rows are read.
func classified(f family.Family) bool {
	_, ok := f.(family.Categorical)
	return ok
}

// familyArms are all families, with every number of predictors, beside a network with
// and without first biases.
func familyArms() []arm {
	var arms []arm
	responses := map[string]string{"gaussian": "y", "binomial": "b", "binomial(link=cloglog)": "b", "poisson": "c", "gamma": "y", "negative-binomial": "c", "beta": "p", "student-t": "y",
		"tweedie": "c", "inverse-gaussian": "p", "zip": "c", "lognormal": "p", "weibull": "p", "log-logistic": "p", "cox": "p", "ordinal": "d"}
	times := map[string]string{"lognormal": "b", "weibull": "b", "log-logistic": "b", "cox": "b"} // events
	given := map[string]string{"tweedie": "tweedie(p=1.4)"}
	for _, name := range append(family.Names(), "binomial(link=cloglog)") {
		for k := 1; k <= 3; k++ {
			f, err := family.Parse(cmp.Or(given[name], name), make([]string, k))
			if err != nil || classified(f) {
				continue
			}
			for _, without := range []bool{false, true} {
				arms = append(arms, arm{fmt.Sprintf("%s, %d predictors, first bias %v", f.Name(), k, !without), Config{
					Family: f.(family.Differentiable), Response: responses[name], Event: times[name], Weights: "w", Offset: "o",
					Structured:      Structured{Formulas: []string{strings.Replace(splineFormula, "y ~", "~", 1)}},
					Deep:            Deep{Columns: []string{"x1", "x3", "g"}, Hidden: []int{5, 4}, WithoutFirstBias: without},
					FeatureNetworks: FeatureNetworks{Columns: []string{"x3"}, Hidden: []int{3}},
				}})
			}
		}
	}
	for _, response := range []string{"g", "d"} { // three classes of text, four numbers
		arms = append(arms, arm{"categorical, response " + response, Config{
			Family: family.Categorical{}, Response: response, Weights: "w",
			Structured:      Structured{Formulas: []string{strings.Replace(splineFormula, "y ~", "~", 1)}},
			Deep:            Deep{Columns: []string{"x1", "x3"}, Hidden: []int{5, 4}},
			FeatureNetworks: FeatureNetworks{Columns: []string{"x3"}, Hidden: []int{3}},
		}})
	}
	return arms
}

// gradientTable has a response for each family.
func gradientTable(t testing.TB) *data.Table { return withShares(t, simulated(t, 90, 4)) }

// atAdditive is the network of a job at the additive model, its towers at 0; seed is for
// dropout.
func atAdditive[T kernel.Float](j *job, seed uint64) *network.Network[T] {
	net := network.New[T](j.predictors(len(j.names)), j.plans, seed)
	coef := make([][]float64, len(j.parts))
	for k, s := range j.parts {
		coef[k] = s.Coef
	}
	net.SetAdditive(j.intercepts, coef)
	return net
}

// drive prepares a configuration as Train does and returns its trainer.
func drive(t *testing.T, cfg Config, tab *data.Table) *trainer[float64] {
	t.Helper()
	cfg.Training.ValidationShare, cfg.Training.Workers = -1, 1
	cfg = cfg.withDefaults()
	j, err := prepare(context.Background(), &cfg, tab)
	if err != nil {
		t.Fatal(err)
	}
	net := atAdditive[float64](j, cfg.Training.Seed)
	net.Init(rand.New(rand.NewPCG(1, 2)))
	tr, err := newTrainer(j, net)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// checkGradients compares the gradient of the training loss in every parameter with
// difference quotients. A kink of a ReLU unit within the step spoils a quotient: one of
// three steps has to do.
func checkGradients(t *testing.T, tr *trainer[float64], rows []int, got func(p *nn.Param[float64], name string, i int) float64) {
	t.Helper()
	norm := tr.train.SumW / float64(tr.train.N) * float64(len(rows))
	wrong := 0
	for _, p := range tr.params {
		for i := range p.Value {
			if p.Grad == nil || p == tr.net.Intercept && !tr.net.Free[i] {
				continue
			}
			old, g := p.Value[i], got(p, p.Name, i)
			at := func(v float64) float64 {
				p.Value[i] = v
				p.Version++
				return tr.gradients(rows, norm)
			}
			var quotients []float64
			for _, h := range []float64{1e-5, 1e-6, 1e-7} {
				q := (at(old+h) - at(old-h)) / (2 * h)
				quotients = append(quotients, q)
				if math.Abs(g-q) <= 1e-5*(1+math.Abs(q)) {
					quotients = nil
					break
				}
			}
			at(old)
			if wrong++; quotients != nil && wrong < 5 {
				t.Errorf("%s[%d]: gradient %v, difference quotients %v", p.Name, i, g, quotients)
			}
			if quotients == nil {
				wrong--
			}
		}
	}
	if wrong > 4 {
		t.Errorf("%d gradients are wrong", wrong)
	}
}

// TestLossGradients: the gradients that steps are taken along are those of the training
// loss, in all parameters, of whole networks of every kind, option and family, in
// batches that go through in several passes.
func TestLossGradients(t *testing.T) {
	tab := gradientTable(t)
	for _, a := range slices.Concat(networkArms(), familyArms()) {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			tr := drive(t, a.cfg, tab)
			if tr.blockRows > 0 {
				tr.blockRows = 12
			}
			rng := rand.New(rand.NewPCG(3, 4))
			for _, p := range tr.params {
				for i := range p.Value {
					if p.Grad != nil {
						p.Value[i] += 0.3 * rng.NormFloat64()
					}
				}
				p.Version++
			}
			rows := rng.Perm(tr.train.N)[:31]
			norm := tr.train.SumW / float64(tr.train.N) * float64(len(rows))
			tr.gradients(rows, norm)
			analytic := map[*nn.Param[float64]][]float64{}
			for _, p := range tr.params {
				analytic[p] = slices.Clone(p.Grad)
			}
			for j, free := range tr.net.Free {
				if g := tr.net.Intercept.Grad[j]; !free && g != 0 {
					t.Errorf("the intercept of predictor %d is held and has the gradient %v", j, g)
				}
			}
			checkGradients(t, tr, rows, func(p *nn.Param[float64], _ string, i int) float64 { return analytic[p][i] })
		})
	}
}

// TestWorkersShareBatches: blocks of rows that several workers take, and networks side by side
// that go through all their layers apart, give the bits of one worker who goes layer by layer,
// gradients and losses, in every network; so do the blocks of an evaluation.
func TestWorkersShareBatches(t *testing.T) {
	tab := gradientTable(t)
	for _, a := range slices.Concat(networkArms(), familyArms()) {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			var want []float64
			for _, way := range []struct {
				workers int
				rows    bool
			}{{1, true}, {2, true}, {3, true}, {7, true}, {1, false}, {2, false}, {7, false}} {
				workers := way.workers
				tr := drive(t, a.cfg, tab)
				tr.cfg.Training.Workers, tr.minWork = workers, 1
				if way.rows {
					tr.apart = false
				} else if !tr.apart {
					continue
				}
				if tr.blockRows > 0 {
					tr.blockRows = 12
				}
				rng := rand.New(rand.NewPCG(6, 4))
				var got []float64
				for range 3 { // steps, so that what is kept between them counts
					rows := rng.Perm(tr.train.N)[:70]
					loss := tr.step(rows, float64(len(rows)), 0.01)
					held, err := tr.evaluate(tr.train)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, loss, held)
				}
				tr.gradients(rng.Perm(tr.train.N)[:70], 70) // a step clears them
				for _, p := range tr.params {
					got = append(append(got, p.Grad...), p.Value...)
				}
				if way.rows && tr.blockRows > 0 && workers > 1 && len(tr.replicas) < 2 {
					t.Errorf("%d workers have %d places", workers, len(tr.replicas))
				}
				if want == nil {
					want = got
				}
				for i, v := range want {
					if math.Float64bits(got[i]) != math.Float64bits(v) {
						t.Fatalf("%+v: number %d is %v, with one worker %v", way, i, got[i], v)
					}
				}
			}
		})
	}
}

// TestStepTakesNoMemory: a step of one worker works in memory that is there, or a small
// network would spend a quarter of its time on getting some and giving it back.
func TestStepTakesNoMemory(t *testing.T) {
	if !strings.HasPrefix(kernel.Family(false), "fma/") {
		t.Skip("without assembly products take memory")
	}
	tab, columns := gradientTable(t), []string{"x1", "x2"}
	for name, cfg := range map[string]Config{
		"mlp": {Architecture: MLP, Response: "y", Deep: Deep{Columns: columns, Hidden: []int{16, 8}}},
		"nam": {Architecture: NAM, Response: "y", FeatureNetworks: FeatureNetworks{Columns: columns, Hidden: []int{8, 4}, Activation: Tanh}},
		"ssn": {Structured: Structured{Formulas: []string{splineFormula}}, Deep: Deep{Columns: columns, Hidden: []int{16, 8}, Dropout: 0.1}},
	} {
		tr := drive(t, cfg, tab)
		rows := rand.New(rand.NewPCG(6, 4)).Perm(tr.train.N)[:32]
		if got := testing.AllocsPerRun(20, func() { tr.step(rows, 32, 0.01) }); got != 0 {
			t.Errorf("%s: a step takes memory %v times", name, got)
		}
	}
}

// TestTrainStepsAlongTheGradient: one epoch of one batch of plain gradient descent moves
// every parameter by the rate times the difference quotient of the
// loss.
func TestTrainStepsAlongTheGradient(t *testing.T) {
	tab := gradientTable(t)
	for _, a := range networkArms() {
		if a.cfg.Architecture == GAM { // not trained
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			const rate = 1e-4
			cfg := a.cfg
			cfg.Training = Training{Epochs: 1, BatchSize: 90, Optimizer: SGD, Momentum: -1, ValidationShare: -1, Seed: 5, WithoutResponseScaling: true}
			cfg.Training.LearningRate = rate
			tr := drive(t, cfg, tab)
			values := func() map[string][]float64 {
				v := map[string][]float64{}
				for _, p := range tr.params {
					v[p.Name] = slices.Clone(p.Value)
				}
				return v
			}
			before := values()
			if err := tr.epoch(context.Background()); err != nil {
				t.Fatal(err)
			}
			after := values()
			tr.opt.Steps = 0 // the dropout of the epoch's step
			for _, p := range tr.params {
				copy(p.Value, before[p.Name])
				p.Version++
			}
			order := rand.New(rand.NewPCG(cfg.Training.Seed, 1)).Perm(tr.train.N)
			checkGradients(t, tr, order, func(p *nn.Param[float64], name string, i int) float64 {
				return (before[name][i] - after[name][i]) / rate
			})
		})
	}
}

// TestSolvedModelHasNoGradient: the additive model that a GAM is, and that an SSN starts
// from, is the minimum of the training loss.
func TestSolvedModelHasNoGradient(t *testing.T) {
	tab := gradientTable(t)
	m, _ := mustTrain(t, Config{Architecture: GAM, Structured: Structured{Formulas: []string{splineFormula}}, Training: Training{WithoutResponseScaling: true}}, tab)
	tr := drive(t, Config{Architecture: GAM, Structured: Structured{Formulas: []string{splineFormula}}, Training: Training{WithoutResponseScaling: true}}, tab)
	rows := make([]int, tr.train.N)
	for i := range rows {
		rows[i] = i
	}
	for i, p := range m.net.Params() {
		copy(tr.params[i].Value, p.Value)
		tr.params[i].Version++
	}
	tr.gradients(rows, tr.train.SumW)
	if g := tr.opt.Norm(); !(g < 1e-6) {
		t.Errorf("the gradient at the solved model has norm %g", g)
	}
}

// TestGradientsCoverOptions: every field of Deep and of Features has two values or more
// among the arms, and every family is there.
func TestGradientsCoverOptions(t *testing.T) {
	seen := map[string]map[string]bool{}
	note := func(v reflect.Value) {
		for i := range v.NumField() {
			name := v.Type().Name() + "." + v.Type().Field(i).Name
			if seen[name] == nil {
				seen[name] = map[string]bool{}
			}
			seen[name][fmt.Sprint(v.Field(i).Interface())] = true
		}
	}
	kinds, names := map[Architecture]bool{}, map[string]bool{}
	for _, a := range slices.Concat(networkArms(), familyArms()) {
		c := a.cfg.withDefaults()
		note(reflect.ValueOf(c.Deep))
		note(reflect.ValueOf(c.FeatureNetworks))
		kinds[c.Architecture] = true
		name, _, _ := strings.Cut(c.Family.Name(), "(")
		names[name] = true
	}
	for field, values := range seen {
		if len(values) < 2 {
			t.Errorf("%s is %v in all arms", field, values)
		}
	}
	if len(kinds) != 4 {
		t.Errorf("kinds %v", kinds)
	}
	for _, name := range family.Names() {
		if f, _ := family.Parse(name, []string{""}); !names[name] && !classified(f) {
			t.Errorf("no arm of family %s among %v", name, names)
		}
	}
}
