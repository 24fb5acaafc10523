package decompose_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// formulaBox is a network without structure that computes eta of the columns, seen through
// the terms of a formula.
func formulaBox(t *testing.T, tab *data.Table, columns []string, formula string, eta func(x []float64) float64) decompose.Model {
	t.Helper()
	f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(context.Background(), tab, f.Specs, columns)
	if err != nil {
		t.Fatal(err)
	}
	m, err := decompose.With(&of{columns, eta}, map[string][]decompose.Block{"": blocks})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

type of struct {
	columns []string
	eta     func(x []float64) float64
}

func (m *of) Predictors() []string         { return []string{"eta"} }
func (m *of) Columns() []string            { return m.columns }
func (m *of) Intercept(int) float64        { return 0 }
func (m *of) Blocks(int) []decompose.Block { return nil }
func (m *of) Taps() map[string]int         { return nil }
func (m *of) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x := make([]float64, len(m.columns))
	for i := range b.Rows() {
		for j, c := range m.columns {
			v, err := b.Numeric(c)
			if err != nil {
				return err
			}
			x[j] = v[i]
		}
		dst.Eta.Set(i, 0, m.eta(x))
		dst.Zeta.Set(i, 0, m.eta(x))
	}
	return ctx.Err()
}

// normals is a table of n rows of p standard normal columns x0, x1, ...
func normals(t *testing.T, n, p int, seed uint64) *data.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	tab := data.NewTable(n)
	for j := range p {
		v := make([]float64, n)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		if err := tab.AddNumeric(fmt.Sprintf("x%d", j), v); err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

func verdicts(r *decompose.Result) map[string]decompose.Verdict {
	out := map[string]decompose.Verdict{}
	for _, term := range r.Predictors[0].Terms {
		out[term.Name] = term.Verdict
	}
	return out
}

// TestNoEffectIsNoWeakness: a term whose effect is small and known to be small is
// identified; one whose error could hide an effect is weak.
func TestNoEffectIsNoWeakness(t *testing.T) {
	eta := func(x []float64) float64 { return 2*x[0] + math.Sin(3*x[1]*x[2]) }
	for _, c := range []struct {
		n    int
		want decompose.Verdict
	}{{4000, decompose.Identified}, {20, decompose.Weak}} {
		tab := normals(t, c.n, 4, 5)
		m := formulaBox(t, tab, []string{"x0", "x1", "x2"}, "~ x0 + x3", eta)
		r, _ := run(t, m, tab, decompose.Options{})
		if got := verdicts(r); got["x3"] != c.want || got["x0"] != decompose.Identified {
			t.Errorf("%d rows: %v (%s)", c.n, got, r.Predictors[0].Terms[1].Why)
		}
	}
}

// TestMeanSquaredError: the standard error that the verdict goes by is that of the curve,
// averaged over the rows, whatever bands are. One row alone holds an end of the spline: what
// it leaves is magnified in robust bands, so that these are some times the curve's sd.
func TestMeanSquaredError(t *testing.T) {
	for bands, spline := range map[decompose.Bands]string{decompose.ProjectionBands: "its standard error is 146 % of", decompose.RobustBands: "its standard error is 9 times"} {
		t.Run(string(bands), func(t *testing.T) {
			byRoute(t, func(t *testing.T, route decompose.Route) { testMeanSquaredError(t, route, bands, spline) })
		})
	}
}

func testMeanSquaredError(t *testing.T, route decompose.Route, bands decompose.Bands, spline string) {
	tab := normals(t, 60, 3, 8)
	m := formulaBox(t, tab, []string{"x0", "x1", "x2"}, `~ x1 + s(x0,k=8,bs="cr")`, func(x []float64) float64 { return math.Sin(9*x[0]) * math.Cos(5*x[1]+x[2]) })
	o := decompose.Options{Bands: bands, Projection: decompose.Projection{Method: decompose.PHO, Route: route}}
	r, _ := run(t, m, tab, o)
	a, err := r.Applier(m)
	if err != nil {
		t.Fatal(err)
	}
	for j, term := range r.Predictors[0].Terms {
		e, err := a.Effect(context.Background(), 0, j, all(t, tab, 60))
		if err != nil {
			t.Fatal(err)
		}
		var squares float64
		for _, v := range e.SE {
			squares += v * v / 60
		}
		if got := r.MeanSquaredError(0, j); math.Abs(got-squares) > 1e-10*squares {
			t.Errorf("%s: %g, want %g", term.Name, got, squares)
		}
		want := fmt.Sprintf("its standard error is %.0f %% of", 100*math.Sqrt(squares/term.After.Variance))
		if term.Name != "x1" {
			want = spline
		}
		if term.Verdict != decompose.Weak || !strings.HasPrefix(term.Why, want) {
			t.Errorf("%s is %s (%s), want %q", term.Name, term.Verdict, term.Why, want)
		}
	}
}

// TestJudgedAgain: after the last pass, with another covariance or with leverages, the
// verdicts are given anew; with the same ones they are the same.
func TestJudgedAgain(t *testing.T) {
	byRoute(t, func(t *testing.T, route decompose.Route) {
		tab := normals(t, 500, 3, 8)
		m := formulaBox(t, tab, []string{"x0", "x1", "x2"}, "~ x0 + s(x0) + x1 + x2", func(x []float64) float64 { return x[0] + x[1] + 0.3*x[1]*x[0] })
		r, _ := run(t, m, tab, decompose.Options{Projection: decompose.Projection{Route: route}})
		before := verdicts(r)
		r.Judge()
		if after := verdicts(r); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("%v, then %v", before, after)
		}
		r.Predictors[0].Terms[2].PinnedRows = 2
		r.Predictors[0].Convention = "relative to the mean"
		r.Judge()
		terms := r.Predictors[0].Terms
		if x1 := terms[2]; x1.Name != "x1" || x1.Verdict != decompose.Weak || x1.Why != "it rests on single rows (2, of leverage above 0.99); besides, the predictor's convention: relative to the mean" {
			t.Errorf("%s is %s: %q", x1.Name, x1.Verdict, x1.Why)
		}
		if x0, x2 := terms[0], terms[3]; x0.Verdict != decompose.Sum || x2.Verdict != decompose.Convention || x2.Why != "the predictor's convention: relative to the mean" {
			t.Errorf("%s is %s (%s), %s is %s (%s)", x0.Name, x0.Verdict, x0.Why, x2.Name, x2.Verdict, x2.Why)
		}
	})
}

// TestMarginsAreAConvention: terms between which something was moved say so.
func TestMarginsAreAConvention(t *testing.T) {
	tab := normals(t, 800, 2, 3)
	m := formulaBox(t, tab, []string{"x0", "x1"}, "~ s(x0,k=5) + s(x1,k=5) + ti(x0,x1,k=4)", func(x []float64) float64 { return math.Sin(x[0]) + x[1]*x[0] + x[1] })
	for terms, why := range map[decompose.Terms]string{"": "is hierarchical", decompose.Fitted: "margins centred one by one"} {
		r, _ := run(t, m, tab, decompose.Options{Projection: decompose.Projection{Terms: terms}})
		for _, term := range r.Predictors[0].Terms {
			if term.Verdict != decompose.Convention || !strings.Contains(term.Why, why) {
				t.Errorf("terms %q: %s is %s (%s)", terms, term.Name, term.Verdict, term.Why)
			}
		}
	}
}

// TestOddShapes: what cannot be told is not called identified.
func TestVerdictsOfOddShapes(t *testing.T) {
	ctx := context.Background()
	t.Run("as many columns as rows", func(t *testing.T) {
		tab := normals(t, 6, 6, 1)
		r, _ := run(t, formulaBox(t, tab, []string{"x0"}, "~ x0 + x1 + x2 + x3 + x4", func(x []float64) float64 { return x[0] * x[0] }), tab, decompose.Options{})
		for name, v := range verdicts(r) {
			if v != decompose.Weak {
				t.Errorf("%s is %s", name, v)
			}
		}
	})
	t.Run("more columns than rows", func(t *testing.T) {
		tab := normals(t, 6, 9, 1)
		r, _ := run(t, formulaBox(t, tab, []string{"x0"}, "~ x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8", func(x []float64) float64 { return x[0] * x[0] }), tab, decompose.Options{})
		for name, v := range verdicts(r) {
			if v != decompose.Sum {
				t.Errorf("%s is %s", name, v)
			}
		}
	})
	t.Run("forty indicators", func(t *testing.T) {
		tab, n := data.NewTable(2000), 2000
		formula, columns := "~ z", []string{"z"}
		z := make([]float64, n)
		for i := range z {
			z[i] = math.Sin(float64(i * i))
		}
		if err := tab.AddNumeric("z", z); err != nil {
			t.Fatal(err)
		}
		for j := range 40 {
			v := make([]float64, n)
			for i := range v {
				if (i*7)%40 == j {
					v[i] = 1
				}
			}
			name := fmt.Sprintf("is%d", j)
			if err := tab.AddNumeric(name, v); err != nil {
				t.Fatal(err)
			}
			formula, columns = formula+" + "+name, append(columns, name)
		}
		r, _ := run(t, formulaBox(t, tab, columns, formula, func(x []float64) float64 { return x[0] + x[3] - x[9] + x[0]*x[5] }), tab, decompose.Options{})
		for name, v := range verdicts(r) {
			if want := map[bool]decompose.Verdict{true: decompose.Identified, false: decompose.Sum}[name == "z"]; v != want {
				t.Errorf("%s is %s", name, v)
			}
		}
		if why := r.Predictors[0].Terms[1].Why; len(why) > 300 {
			t.Errorf("%q", why)
		}
	})
	t.Run("constants", func(t *testing.T) {
		tab := normals(t, 50, 2, 1)
		if err := tab.AddNumeric("one", make([]float64, 50)); err != nil {
			t.Fatal(err)
		}
		r, _ := run(t, formulaBox(t, tab, []string{"x0"}, "~ x0 + x1 + one", func(x []float64) float64 { return 3 }), tab, decompose.Options{})
		for name, v := range verdicts(r) {
			if v == "" || v == decompose.Weak {
				t.Errorf("%s of a constant predictor is %q", name, v)
			}
		}
	})
	t.Run("no term", func(t *testing.T) {
		tab := normals(t, 50, 2, 1)
		if _, err := decompose.Decompose(ctx, &of{[]string{"x0"}, func(x []float64) float64 { return x[0] }}, tab, nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("weights of zero", func(t *testing.T) {
		tab := normals(t, 400, 2, 1)
		w := make([]float64, 400)
		for i := range w[:12] {
			w[i] = 1
		}
		if err := tab.AddNumeric("w", w); err != nil {
			t.Fatal(err)
		}
		m := formulaBox(t, tab, []string{"x0", "x1"}, "~ x1", func(x []float64) float64 { return math.Sin(20*x[0]) + 0.2*x[1] })
		few, _ := run(t, m, tab, decompose.Options{Columns: decompose.Columns{Weights: "w"}})
		many, _ := run(t, m, tab, decompose.Options{})
		if verdicts(few)["x1"] != decompose.Weak || verdicts(many)["x1"] != decompose.Identified {
			t.Errorf("of 12 rows %v, of 400 %v", verdicts(few), verdicts(many))
		}
	})
}

// TestNearCopies trains networks of several seeds on columns that nearly repeat one another.
// A term that moves between seeds by half of its own sd, where its error is below that, must
// not be called identified, nor one that does not move near to that be called weak as a rule.
func TestNearCopies(t *testing.T) {
	if testing.Short() {
		t.Skip("many decompositions, one after the other")
	}
	const n, seeds = 1000, 4
	ctx := context.Background()
	missed, alarms, calm := 0, 0, 0
	for _, rho := range []float64{0.9, 0.97, 0.99, 0.995, 0.999, 0.9999} {
		r := rand.New(rand.NewPCG(11, 4))
		x1, x2, x3, y := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			x1[i], x3[i] = r.NormFloat64(), r.NormFloat64()
			x2[i] = rho*x1[i] + math.Sqrt(1-rho*rho)*r.NormFloat64()
			y[i] = math.Sin(1.5*x1[i]) + 0.5*x2[i] + 0.3*x3[i]*x3[i] + 0.4*x1[i]*x3[i] + 0.5*r.NormFloat64()
		}
		tab := newFrame(n).with("x1", x1).with("x2", x2).with("x3", x3).with("y", y).table(t)
		for _, formula := range []string{"~ s(x1) + s(x2) + s(x3)", "~ x1 + x2 + s(x3)"} {
			f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := decompose.Prepare(ctx, tab, f.Specs, nil)
			if err != nil {
				t.Fatal(err)
			}
			var results []*decompose.Result
			var curves []*collector
			for seed := range uint64(seeds) {
				net, _, err := native.Train(ctx, native.Config{Architecture: native.MLP, Response: "y",
					Deep:     native.Deep{Columns: []string{"x1", "x2", "x3"}, Hidden: []int{32, 16}, Activation: native.Tanh},
					Training: native.Training{Epochs: 30, LearningRate: 0.01, Seed: seed + 1}}, tab)
				if err != nil {
					t.Fatal(err)
				}
				m, err := decompose.With(net, map[string][]decompose.Block{"": blocks})
				if err != nil {
					t.Fatal(err)
				}
				result, curve := run(t, m, tab, decompose.Options{})
				results, curves = append(results, result), append(curves, curve)
			}
			for j := range blocks {
				between, size, error2 := 0.0, 0.0, 0.0
				doubted := 0
				for i := range n {
					v := mat.NewVecDense(seeds, nil)
					for s := range curves {
						v.SetVec(s, curves[s].terms[0][i][j])
					}
					mean := mat.Sum(v) / seeds
					between += (mat.Dot(v, v) - seeds*mean*mean) / (seeds - 1) / n
				}
				for _, result := range results {
					term := result.Predictors[0].Terms[j]
					size += term.After.Variance / seeds
					error2 += result.MeanSquaredError(0, j) / seeds
					if term.Verdict == decompose.Weak || term.Verdict == decompose.Sum {
						doubted++
					}
				}
				total := results[0].Predictors[0].Variance.Total
				moves, large := math.Sqrt(between/size), between > 0.05*0.05*total
				t.Logf("%6g %-6s between seeds %.2f of its sd, error %.2f, concurvity %.4f, weak in %d of %d", rho, blocks[j].Term.Name(), moves, math.Sqrt(error2/size), results[0].Predictors[0].Terms[j].Concurvity.Worst, doubted, seeds)
				switch {
				case moves > 0.5 && large && doubted == 0:
					missed++
				case rho <= 0.97 && doubted > 0:
					alarms++
				case rho <= 0.97:
					calm++
				case rho >= 0.999 && blocks[j].Term.Name() != "s(x3)" && doubted < seeds:
					missed++
				}
			}
		}
	}
	if missed > 0 || alarms > 0 || calm == 0 {
		t.Errorf("%d terms that seeds move are not called weak, %d of %d are called so in vain", missed, alarms, alarms+calm)
	}
}

// TestSumMoment: the moments of a sum of which only that is identified are those of its rows.
func TestSumMoment(t *testing.T) {
	byRoute(t, func(t *testing.T, route decompose.Route) {
		tab := normals(t, 300, 2, 4)
		m := formulaBox(t, tab, []string{"x0", "x1"}, "~ x0 + x1 + s(x0)", func(x []float64) float64 { return math.Sin(x[0]) + x[1]*x[0] })
		r, c := run(t, m, tab, decompose.Options{Projection: decompose.Projection{Route: route}})
		if len(r.Predictors[0].Entangled) != 1 {
			t.Fatalf("entangled: %v", r.Predictors[0].Entangled)
		}
		var squares float64
		for _, row := range c.terms[0] {
			squares += (row[0] + row[2]) * (row[0] + row[2]) / 300
		}
		e := r.Predictors[0].Entangled[0]
		mean := r.Predictors[0].Terms[0].Center + r.Predictors[0].Terms[2].Center
		if math.Abs(e.After.Variance-squares) > 1e-10*squares || math.Abs(e.After.Mean-mean) > 1e-10 || *e.Before != (decompose.Moment{}) {
			t.Errorf("%v, %v, want mean %g and variance %g, nothing before", *e.Before, *e.After, mean, squares)
		}
	})
}

// TestWeakSum: whether the rows tell a sum does not depend on how many terms it is written in. s(x0, fx = TRUE) is the same
// functions with x0 beside it; rows few or many, it is weak in both or in neither, by the same standard error.
func TestWeakSum(t *testing.T) {
	for _, c := range []struct {
		rows int
		weak bool
	}{{40, true}, {4000, false}} {
		tab := normals(t, c.rows, 2, 4)
		judged := func(formula string) *decompose.Predictor {
			m := formulaBox(t, tab, []string{"x0", "x1"}, formula, func(x []float64) float64 { return math.Sin(x[0]) + 2*x[1]*x[1] })
			r, _ := run(t, m, tab, decompose.Options{})
			return &r.Predictors[0]
		}
		alone, sum := judged("~ s(x0, fx = TRUE)").Terms[0].Because, judged("~ x0 + s(x0, fx = TRUE)").Entangled[0]
		if (alone != nil) != c.weak || (sum.Weak != nil) != c.weak {
			t.Errorf("%d rows: alone %v, as a sum %v", c.rows, alone, sum.Weak)
		} else if c.weak && (len(sum.Weak) != 1 || sum.Weak[0].Kind != decompose.ReasonStandardError || math.Abs(sum.Weak[0].Value-alone[len(alone)-1].Value) > 1e-9) {
			t.Errorf("%d rows: alone %v, as a sum %v", c.rows, alone, sum.Weak)
		}
	}
}
