package importance_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/importance"
)

// network is a small additive model: linear terms plus a nonlinear rest.
type network struct {
	predictors []string
	coef       []map[string]float64 // by predictor: column -> beta
	zeta       func(k int, x map[string]float64) float64
	products   [][2]string // terms a:b of the first predictor, coefficient 0.3
}

func (m *network) Predictors() []string    { return m.predictors }
func (m *network) Columns() []string       { return []string{"a", "b"} }
func (m *network) Intercept(k int) float64 { return 0.2 + 0.1*float64(k) }
func (m *network) Taps() map[string]int    { return nil }

func (m *network) Blocks(k int) []decompose.Block {
	var out []decompose.Block
	for _, c := range m.Columns() {
		if beta, ok := m.coef[k][c]; ok {
			out = append(out, decompose.Block{Term: &decompose.LinearTerm{Column: c}, Coef: []float64{beta}})
		}
	}
	if k == 0 {
		for _, p := range m.products {
			out = append(out, decompose.Block{Term: product{p[0], p[1]}, Coef: []float64{0.3}})
		}
	}
	return out
}

func (m *network) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	a, err := b.Numeric("a")
	if err != nil {
		return err
	}
	c, err := b.Numeric("b")
	if err != nil {
		return err
	}
	for i := range a {
		x := map[string]float64{"a": a[i], "b": c[i]}
		for k := range m.predictors {
			zeta := m.zeta(k, x)
			eta := m.Intercept(k) + zeta
			for _, name := range m.Columns() {
				eta += m.coef[k][name] * x[name]
			}
			if k == 0 {
				for _, p := range m.products {
					eta += 0.3 * x[p[0]] * x[p[1]]
				}
			}
			dst.Zeta.Set(i, k, zeta)
			dst.Eta.Set(i, k, eta)
		}
	}
	return nil
}

// product is the one-column basis a*b.
type product struct{ a, b string }

func (t product) Name() string         { return t.a + ":" + t.b }
func (t product) Kind() decompose.Kind { return decompose.Tensor }
func (t product) Columns() []string    { return []string{t.a, t.b} }
func (t product) Dim() int             { return 1 }
func (t product) Eval(dst *mat.Dense, b *data.Batch) error {
	x, err := b.Numeric(t.a)
	if err != nil {
		return err
	}
	z, err := b.Numeric(t.b)
	if err != nil {
		return err
	}
	for i := range x {
		dst.Set(i, 0, x[i]*z[i])
	}
	return nil
}

func curved(k int, x map[string]float64) float64 {
	return math.Sin(2*x["a"]+float64(k)) + 0.5*x["a"]*x["b"]
}

func oneHead() *network {
	return &network{predictors: []string{"eta"}, coef: []map[string]float64{{"a": 0.7, "b": -0.4}}, zeta: curved}
}

// rows draws covariates, weights with zeros, an offset, and a response that
// draw makes of the predictors.
func rows(t testing.TB, m *network, n int, seed uint64, draw func(r *rand.Rand, eta []float64) float64) *data.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	a, b, w, off, y := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		a[i] = r.NormFloat64()
		b[i] = 0.5*a[i] + r.NormFloat64()
		w[i] = float64(r.IntN(4))
		off[i] = 0.3 * r.NormFloat64()
	}
	table := data.NewTable(n)
	must(t, table.AddNumeric("a", a))
	must(t, table.AddNumeric("b", b))
	batch := data.NewBatch(n, 0)
	must(t, batch.SetNumeric("a", a))
	must(t, batch.SetNumeric("b", b))
	out := &decompose.Outputs{Zeta: mat.NewDense(n, len(m.predictors), nil), Eta: mat.NewDense(n, len(m.predictors), nil)}
	must(t, m.Forward(context.Background(), out, batch))
	for i := range n {
		eta := append([]float64(nil), out.Eta.RawRowView(i)...)
		eta[0] += off[i]
		y[i] = draw(r, eta)
	}
	must(t, table.AddNumeric("w", w))
	must(t, table.AddNumeric("off", off))
	must(t, table.AddNumeric("y", y))
	return table
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func gaussianNoise(r *rand.Rand, eta []float64) float64 { return eta[0] + r.NormFloat64() }

func positiveNoise(r *rand.Rand, eta []float64) float64 { return math.Exp(eta[0] + r.NormFloat64()) }

func poissonDraw(r *rand.Rand, eta []float64) float64 {
	limit, n, p := math.Exp(-math.Exp(eta[0])), 0.0, r.Float64()
	for p > limit {
		p *= r.Float64()
		n++
	}
	return n
}

// keep remembers a copy of all parts, for the direct computation.
type keep struct{ parts []*decompose.Parts }

func (v *keep) Begin(*decompose.Result) error       { v.parts = nil; return nil }
func (v *keep) Columns() []string                   { return nil }
func (v *keep) Map(p *decompose.Parts) (any, error) { return p.Clone(), nil }
func (v *keep) Reduce(part any) error               { v.parts = append(v.parts, part.(*decompose.Parts)); return nil }
func (v *keep) End(*decompose.Result) error         { return nil }

func options(fam family.Family) *decompose.Options {
	return &decompose.Options{Family: fam, Columns: decompose.Columns{Response: "y", Weights: "w", Offset: "off"}, Resources: decompose.Resources{Workers: 2}}
}

// measure decomposes and returns the result and all parts.
func measure(t testing.TB, m decompose.Model, src data.Source, o *decompose.Options) (*decompose.Result, []*decompose.Parts) {
	t.Helper()
	k := &keep{}
	o.Visitors = append(o.Visitors, importance.New(o.Family), k)
	r, err := decompose.Decompose(context.Background(), m, src, o)
	must(t, err)
	return r, k.parts
}

// direct computes an entry from its definition: two full log-likelihoods over
// all rows. dropped says which terms of which predictor are left out.
func direct(t testing.TB, fam family.Family, r *decompose.Result, parts []*decompose.Parts, dropped func(k int, t decompose.TermResult) bool) (mcfadden, delta, deviance float64) {
	t.Helper()
	phi := 1.0
	if r.Dispersion != nil {
		phi = *r.Dispersion
	}
	var l, lj, d, dj, n float64
	for _, p := range parts {
		y, _ := p.Batch.Numeric("y")
		w, _ := p.Batch.Numeric("w")
		off, _ := p.Batch.Numeric("off")
		for i := range y {
			if w[i] == 0 {
				continue
			}
			n += w[i]
			eta, without := make([]float64, len(r.Predictors)), make([]float64, len(r.Predictors))
			for k := range eta {
				eta[k] = p.Predictors[k].Eta[i]
				without[k] = p.Predictors[k].Intercept + p.Predictors[k].Unstructured[i]
				for j, term := range r.Predictors[k].Terms {
					if !dropped(k, term) {
						without[k] += p.Predictors[k].Terms.At(i, j)
					}
				}
			}
			eta[0] += off[i]
			without[0] += off[i]
			l += fam.LogLik(y[i], w[i], eta, phi)
			lj += fam.LogLik(y[i], w[i], without, phi)
			d += fam.Deviance(y[i], w[i], eta)
			dj += fam.Deviance(y[i], w[i], without)
		}
	}
	return 1 - l/lj, (l - lj) / n, 1 - d/dj
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func near(t testing.TB, what string, got *float64, want, tolerance float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > tolerance*math.Max(1, math.Abs(want)) {
		t.Errorf("%s: got %v, want %g", what, show(got), want)
	}
}

func show(v *float64) string {
	if v == nil {
		return "nil"
	}
	return fmt.Sprintf("%.12g", *v)
}

func TestAgainstDirectComputation(t *testing.T) {
	for name, c := range map[string]struct {
		fam  family.Family
		draw func(*rand.Rand, []float64) float64
		mass bool
	}{
		"gaussian":          {family.Gaussian{}, gaussianNoise, false},
		"poisson":           {family.Poisson{}, poissonDraw, true},
		"negative binomial": {mustParse("negative-binomial(theta=2)"), poissonDraw, true},
		"beta":              {mustParse("beta(phi=9)"), func(r *rand.Rand, eta []float64) float64 { return 1 / (1 + math.Exp(-eta[0]-r.NormFloat64())) }, false},
		"student t":         {mustParse("student-t(sigma=0.8,df=4)"), gaussianNoise, false},
		"tweedie": {mustParse("tweedie(p=1.4)"), func(r *rand.Rand, eta []float64) (y float64) {
			for range int(poissonDraw(r, eta)) {
				y += r.ExpFloat64()
			}
			return y
		}, false},
		"inverse gaussian": {family.InverseGaussian{}, positiveNoise, false},
		"zip":              {mustParse("zip(pi=0.2)"), poissonDraw, true},
		"lognormal":        {mustParse("lognormal(sigma=0.9)"), positiveNoise, false},
		"weibull":          {mustParse("weibull(scale=0.8)"), positiveNoise, false},
		"binomial": {family.Binomial{}, func(r *rand.Rand, eta []float64) float64 {
			if r.Float64() < 1/(1+math.Exp(-eta[0])) {
				return 1
			}
			return 0
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := oneHead()
			m.products = [][2]string{{"a", "b"}}
			r, parts := measure(t, m, rows(t, m, 9000, 7, c.draw), options(c.fam))
			entries := r.Predictors[0].Importance
			if got := fmt.Sprint(labels(entries)); got != "[a{a,a:b} b{b,a:b} {a} {b} {a:b}]" {
				t.Fatalf("entries %s", got)
			}
			for _, e := range entries {
				mcf, delta, dev := direct(t, c.fam, r, parts, func(_ int, term decompose.TermResult) bool { return contains(e.Terms, term.Name) })
				near(t, name+" mcfadden "+e.Feature, e.McFadden, mcf, 1e-9)
				near(t, name+" delta "+e.Feature, e.DeltaLogLikPerRow, delta, 1e-9)
				near(t, name+" deviance "+e.Feature, e.DevianceR2, dev, 1e-9)
				if e.McFaddenValid != c.mass {
					t.Errorf("%v: mcfadden_valid %v", e.Terms, e.McFaddenValid)
				}
			}
			// The direct computation must notice an offset that is left out and a
			// dispersion that is not the model's.
			if r.Dispersion != nil {
				*r.Dispersion *= 1.1
			} else {
				for _, p := range parts {
					off, _ := p.Batch.Numeric("off")
					must(t, p.Batch.SetNumeric("off", make([]float64, len(off))))
				}
			}
			_, wrong, _ := direct(t, c.fam, r, parts, func(_ int, term decompose.TermResult) bool { return contains(entries[0].Terms, term.Name) })
			if math.Abs(wrong-*entries[0].DeltaLogLikPerRow) < 1e-6 {
				t.Error("the comparison does not notice a corrupted likelihood")
			}
		})
	}
}

// TestWeightsAreRepetitions: whole weights give the figures of rows repeated as often,
// except McFadden's for a gaussian response, where a weight is a variance.
func TestWeightsAreRepetitions(t *testing.T) {
	m := oneHead()
	for _, fam := range []family.Family{family.Gaussian{}, family.Poisson{}, mustParse("negative-binomial(theta=2)"), mustParse("student-t(sigma=0.8,df=4)")} {
		for what, weight := range map[string]func(w float64) float64{
			"2 everywhere": func(float64) float64 { return 2 },
			"0 to 3":       func(w float64) float64 { return w },
		} {
			src := rows(t, m, 3000, 19, poissonDraw)
			weighted, repeated := map[string][]float64{}, map[string][]float64{}
			for b, err := range src.Batches(context.Background(), []string{"a", "b", "off", "y", "w"}) {
				must(t, err)
				w, err := b.Numeric("w")
				must(t, err)
				for _, name := range []string{"a", "b", "off", "y", "w"} {
					v, err := b.Numeric(name)
					must(t, err)
					for i := range v {
						times := weight(w[i])
						if name == "w" {
							weighted["w"] = append(weighted["w"], times)
						} else {
							weighted[name] = append(weighted[name], v[i])
						}
						for range int(times) {
							repeated[name] = append(repeated[name], v[i])
						}
					}
				}
			}
			table := func(columns map[string][]float64) *data.Table {
				tab := data.NewTable(len(columns["a"]))
				for name, v := range columns {
					must(t, tab.AddNumeric(name, v))
				}
				return tab
			}
			o := options(fam)
			got, _ := measure(t, m, table(weighted), o)
			o = options(fam)
			o.Weights = ""
			want, _ := measure(t, m, table(repeated), o)
			for i, e := range got.Predictors[0].Importance {
				of, on := want.Predictors[0].Importance[i], fmt.Sprintf("%s, weights %s: %v", fam.Name(), what, e.Terms)
				near(t, on+" delta", e.DeltaLogLikPerRow, *of.DeltaLogLikPerRow, 1e-9)
				near(t, on+" deviance", e.DevianceR2, *of.DevianceR2, 1e-9)
				near(t, on+" share", &e.VarianceShare, of.VarianceShare, 1e-9)
				if fam.Mass() {
					near(t, on+" mcfadden", e.McFadden, *of.McFadden, 1e-9)
				}
			}
		}
	}
}

func mustParse(name string) family.Family {
	f, err := family.Parse(name, []string{""})
	if err != nil {
		panic(err)
	}
	return f
}

// TestEstimate: decompose.EstimateFamily finds the same parameters as family.Estimate on
// all rows; the numbers then go into the decomposition and its importance.
func TestEstimate(t *testing.T) {
	m := oneHead()
	src := rows(t, m, 6000, 3, func(r *rand.Rand, eta []float64) float64 {
		return poissonDraw(r, []float64{eta[0] - 0.5 + math.Log(r.ExpFloat64())}) // theta = 1
	})
	o := options(mustParse("negative-binomial"))
	if _, err := decompose.Decompose(context.Background(), m, src, &decompose.Options{Family: o.Family, Columns: decompose.Columns{Response: "y"}, Visitors: []decompose.Visitor{importance.New(o.Family)}}); err == nil ||
		err.Error() != `importance: theta of family "negative-binomial" is not known: give a number, or have decompose.EstimateFamily find it` {
		t.Errorf("unknown theta: %v", err)
	}
	found, err := decompose.EstimateFamily(context.Background(), m, src, o)
	must(t, err)
	o.Family = found
	r, parts := measure(t, m, src, o)
	if r.Family != found.Name() || !strings.HasPrefix(r.Family, "negative-binomial(theta=") {
		t.Errorf("family %q of %q", r.Family, found.Name())
	}
	e := r.Predictors[0].Importance[0]
	_, delta, _ := direct(t, found, r, parts, func(_ int, term decompose.TermResult) bool { return contains(e.Terms, term.Name) })
	near(t, "delta", e.DeltaLogLikPerRow, delta, 1e-9)
	var y, w, eta []float64
	for _, p := range parts {
		py, _ := p.Batch.Numeric("y")
		pw, _ := p.Batch.Numeric("w")
		off, _ := p.Batch.Numeric("off")
		y, w = append(y, py...), append(w, pw...)
		for i, v := range p.Predictors[0].Eta[:len(py)] {
			eta = append(eta, v+off[i])
		}
	}
	direct, err := family.Estimate(mustParse("negative-binomial"), family.Sample{Y: y, W: w, Eta: eta})
	must(t, err)
	if direct.Name() != found.Name() {
		t.Errorf("all rows say %s, the sample %s", direct.Name(), found.Name())
	}
	again := options(o.Family)
	again.Family, again.Workers = mustParse("negative-binomial"), 1
	if same, err := decompose.EstimateFamily(context.Background(), m, src, again); err != nil || same.Name() != found.Name() {
		t.Errorf("one worker: %v, %v", same, err)
	}
	again.Weights = "a" // which has negative values
	if _, err := decompose.EstimateFamily(context.Background(), m, src, again); err == nil || !strings.Contains(err.Error(), "is not a finite number >= 0") {
		t.Errorf("weights below 0: %v", err)
	}
	// Another family is left alone; a bad row is named.
	o.Family = family.Poisson{}
	if same, err := decompose.EstimateFamily(context.Background(), m, src, o); err != nil || same != family.Family(family.Poisson{}) {
		t.Errorf("%v, %v", same, err)
	}
	o.Family = mustParse("beta")
	if _, err := decompose.EstimateFamily(context.Background(), m, src, o); err == nil || !strings.HasPrefix(err.Error(), `response "y", data row 1: family beta: response `) {
		t.Errorf("counts as proportions: %v", err)
	}
}

func labels(entries []decompose.Importance) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Feature+"{"+strings.Join(e.Terms, ",")+"}")
	}
	return out
}

// TestUnits is the example of math.md section 6: McFadden's figure for a
// density depends on the units of the response; the others do not.
func TestUnits(t *testing.T) {
	var mcf, delta, dev []float64
	for _, unit := range []float64{1, 10, 1000} {
		m := oneHead()
		m.coef[0] = map[string]float64{"a": 0.7 * unit, "b": -0.4 * unit}
		m.zeta = func(k int, x map[string]float64) float64 { return unit*curved(k, x) + (unit-1)*m.Intercept(0) }
		src := rows(t, oneHead(), 5000, 3, func(r *rand.Rand, eta []float64) float64 { return unit * (eta[0] + 0.3*r.NormFloat64()) })
		o := options(family.Gaussian{})
		o.Offset, o.Weights = "", ""
		r, _ := measure(t, m, src, o)
		e := r.Predictors[0].Importance[0]
		if e.McFaddenValid {
			t.Error("McFadden for a density is marked valid")
		}
		mcf, delta, dev = append(mcf, *e.McFadden), append(delta, *e.DeltaLogLikPerRow), append(dev, *e.DevianceR2)
	}
	if !(mcf[0] > mcf[1]+0.1 && mcf[1] > mcf[2]+0.05) {
		t.Errorf("McFadden by unit %.3f: expected to fall with the units", mcf)
	}
	for i := 1; i < 3; i++ {
		near(t, "delta log-likelihood", &delta[i], delta[0], 1e-9)
		near(t, "deviance R2", &dev[i], dev[0], 1e-9)
	}
}

func TestTwoPredictors(t *testing.T) {
	m := &network{predictors: []string{"mu", "sigma"}, zeta: func(k int, x map[string]float64) float64 { return 0.3 * curved(k, x) },
		coef: []map[string]float64{{"a": 0.7, "b": -0.4}, {"a": 0.2}}}
	fam := family.GaussianLS{}
	src := rows(t, m, 6000, 5, func(r *rand.Rand, eta []float64) float64 { return eta[0] + r.NormFloat64() })
	r, parts := measure(t, m, src, options(fam))
	mu, sigma := r.Predictors[0].Importance, r.Predictors[1].Importance
	if a, b := fmt.Sprint(labels(mu)), fmt.Sprint(labels(sigma)); a != "[a{a} b{b} {a}]" || b != "[a{a} {a}]" {
		t.Fatalf("entries %s and %s", a, b)
	}
	_, joint, _ := direct(t, fam, r, parts, func(_ int, term decompose.TermResult) bool { return term.Name == "a" })
	_, own, _ := direct(t, fam, r, parts, func(k int, term decompose.TermResult) bool { return k == 1 && term.Name == "a" })
	near(t, "joint in mu", mu[0].DeltaLogLikPerRow, joint, 1e-9)
	near(t, "joint in sigma", sigma[0].DeltaLogLikPerRow, joint, 1e-9)
	near(t, "term of sigma", sigma[1].DeltaLogLikPerRow, own, 1e-9)
	if mu[0].DevianceR2 != nil {
		t.Error("a deviance R2 for two predictors")
	}
	if math.Abs(joint-own) < 1e-3 {
		t.Error("joint and single figures coincide: the test cannot tell them apart")
	}
}

func TestWithoutFamily(t *testing.T) {
	m := oneHead()
	src := rows(t, m, 5000, 11, gaussianNoise)
	r, _ := measure(t, m, src, &decompose.Options{Columns: decompose.Columns{Weights: "w"}})
	var total float64
	for _, e := range r.Predictors[0].Importance {
		if e.McFadden != nil || e.DeltaLogLikPerRow != nil || e.DevianceR2 != nil || e.McFaddenValid {
			t.Errorf("%v: likelihood figures without a family", e.Terms)
		}
		total += e.VarianceShare
	}
	// Shares of all terms and of the unstructured part add up to 1; under PHO the
	// latter is its variance.
	ev := importance.ExplainedVariance(r.Predictors[0].Variance)
	if math.Abs(total+ev.Unstructured-1) > 1e-10 {
		t.Errorf("shares %g and unstructured %g do not add up", total, ev.Unstructured)
	}
	// And against the definition, features of two terms included.
	m.products = [][2]string{{"a", "b"}}
	r, parts := measure(t, m, src, &decompose.Options{Columns: decompose.Columns{Weights: "w"}})
	if got := fmt.Sprint(labels(r.Predictors[0].Importance)); got != "[a{a,a:b} b{b,a:b} {a} {b} {a:b}]" {
		t.Fatalf("entries %s", got)
	}
	for _, e := range r.Predictors[0].Importance {
		var sw, sf, se, sfe, see float64
		for _, p := range parts {
			w, _ := p.Batch.Numeric("w")
			for i := range w {
				f, eta := 0.0, p.Predictors[0].Eta[i]
				for j, term := range r.Predictors[0].Terms {
					if contains(e.Terms, term.Name) {
						f += p.Predictors[0].Terms.At(i, j)
					}
				}
				sw += w[i]
				sf += w[i] * f
				se += w[i] * eta
				sfe += w[i] * f * eta
				see += w[i] * eta * eta
			}
		}
		want := (sfe/sw - sf/sw*se/sw) / (see/sw - se/sw*se/sw)
		near(t, fmt.Sprint("share of ", e.Terms), &e.VarianceShare, want, 1e-10)
	}
}

// TestHarmfulFeature: a figure below zero is reported as it is.
func TestHarmfulFeature(t *testing.T) {
	m := oneHead()
	src := rows(t, m, 3000, 2, func(r *rand.Rand, eta []float64) float64 { return -2*eta[0] + r.NormFloat64() })
	r, _ := measure(t, m, src, options(family.Gaussian{}))
	e := r.Predictors[0].Importance[0]
	if *e.DeltaLogLikPerRow >= 0 || *e.DevianceR2 >= 0 {
		t.Errorf("delta %g, deviance R2 %g: expected both negative", *e.DeltaLogLikPerRow, *e.DevianceR2)
	}
}

// TestAnyBatchAndWorkers: the same bits however rows are cut and shared out.
func TestAnyBatchAndWorkers(t *testing.T) {
	m := oneHead()
	var first string
	for _, c := range []struct{ batch, workers int }{{1000, 1}, {37, 4}, {20000, 8}} {
		src := rows(t, m, 20000, 13, poissonDraw)
		src.BatchRows = c.batch
		o := options(family.Poisson{})
		o.Workers = c.workers
		r, _ := measure(t, m, src, o)
		var got strings.Builder
		for _, e := range r.Predictors[0].Importance {
			fmt.Fprintf(&got, "%v %x %x %x %x\n", e.Terms, e.VarianceShare, *e.McFadden, *e.DeltaLogLikPerRow, *e.DevianceR2)
		}
		if first == "" {
			first = got.String()
		}
		if got.String() != first {
			t.Errorf("batch %d, %d workers:\n%sinstead of\n%s", c.batch, c.workers, got.String(), first)
		}
	}
}

func TestExplainedVariance(t *testing.T) {
	if ev := importance.ExplainedVariance(decompose.Variance{}); ev != (importance.EV{}) {
		t.Errorf("constant predictor: %+v", ev)
	}
	rapid.Check(t, func(t *rapid.T) {
		v := decompose.Variance{Structured: rapid.Float64Range(0, 1e6).Draw(t, "structured"), Unstructured: rapid.Float64Range(1e-3, 1e6).Draw(t, "unstructured")}
		r := rapid.Float64Range(-0.99, 0.99).Draw(t, "correlation")
		v.TwiceCovariance = 2 * r * math.Sqrt(v.Structured*v.Unstructured)
		v.Total = v.Structured + v.Unstructured + v.TwiceCovariance
		ev := importance.ExplainedVariance(v)
		if sum := ev.Structured + ev.Unstructured + ev.TwiceCovariance; math.Abs(sum-1) > 1e-9*(1+ev.Structured+ev.Unstructured) {
			t.Fatalf("shares of %+v add to %g", v, sum)
		}
		if ev.Structured*v.Total-v.Structured > 1e-9*v.Structured {
			t.Fatalf("structured share %g of %+v", ev.Structured, v)
		}
	})
}

// TestLaws: leaving out a term that is constant changes nothing, and variance
// shares do not change with the scale of the network.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := oneHead()
		beta := rapid.Float64Range(-2, 2).Draw(rt, "beta")
		scale := rapid.SampledFrom([]float64{0.01, 3, 1000}).Draw(rt, "scale")
		seed := rapid.Uint64().Draw(rt, "seed")
		m.coef[0]["b"] = beta
		src := rows(t, m, 300, seed, gaussianNoise)
		small, _ := measure(t, m, src, &decompose.Options{Columns: decompose.Columns{Weights: "w"}})
		big := oneHead()
		big.coef[0] = map[string]float64{"a": 0.7 * scale, "b": beta * scale}
		big.zeta = func(k int, x map[string]float64) float64 { return scale*curved(k, x) + (scale-1)*big.Intercept(0) }
		large, _ := measure(t, big, src, &decompose.Options{Columns: decompose.Columns{Weights: "w"}})
		for i, e := range small.Predictors[0].Importance {
			if got := large.Predictors[0].Importance[i].VarianceShare; math.Abs(got-e.VarianceShare) > 1e-7 {
				rt.Fatalf("share of %v: %g, scaled by %g: %g", e.Terms, e.VarianceShare, scale, got)
			}
		}
	})
}

func TestErrors(t *testing.T) {
	m := oneHead()
	gaussian, poisson := family.Family(family.Gaussian{}), family.Family(family.Poisson{})
	for _, c := range []struct {
		name string
		o    *decompose.Options
		fam  family.Family
		want string
	}{
		{"another family", &decompose.Options{Family: gaussian, Columns: decompose.Columns{Response: "y"}}, poisson,
			`importance: the family is "poisson" here and "gaussian" in the decomposition: set the same in decompose.Options`},
		{"no family in the options", &decompose.Options{}, gaussian,
			`importance: the family is "gaussian" here and "" in the decomposition: set the same in decompose.Options`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Visitors = []decompose.Visitor{importance.New(c.fam)}
			_, err := decompose.Decompose(context.Background(), m, rows(t, m, 200, 1, gaussianNoise), c.o)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	v := importance.New(nil)
	must(t, v.Begin(&decompose.Result{}))
	if err := v.Reduce(3); err == nil || err.Error() != "importance: Reduce takes what Map returned, not int" {
		t.Errorf("Reduce(3): %v", err)
	}
}
