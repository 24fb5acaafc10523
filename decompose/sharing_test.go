package decompose_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// classes is a black box with three predictors, wiggly in different measure, each less what
// remove says at its row.
type classes struct {
	*blackBox
	remove func(k int, zeta []float64) float64
}

func (m *classes) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := m.blackBox.Forward(ctx, dst, b); err != nil {
		return err
	}
	for i := range b.Rows() {
		raw := make([]float64, 3)
		for k, v := range dst.Zeta.RawRowView(i) {
			raw[k] = math.Sin(float64(k+1)*v) + 0.2*v*float64(k*k)
		}
		for k, v := range raw {
			v -= m.remove(k, raw)
			dst.Zeta.Set(i, k, v)
			dst.Eta.Set(i, k, v)
		}
	}
	return nil
}

func (m *classes) Intercept(int) float64 { return 0 }

func withClasses(t *testing.T, src *data.Table, formula string, remove func(k int, zeta []float64) float64) decompose.Model {
	t.Helper()
	f, err := basis.Parse(formula, &basis.Options{Schema: src.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(context.Background(), src, f.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := decompose.With(&classes{&blackBox{newFake(3)}, remove}, map[string][]decompose.Block{"": blocks})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// centring is I - 11'/k.
func centring(k int) *mat.Dense {
	l := mat.NewDense(k, k, nil)
	for i := range k {
		for j := range k {
			l.Set(i, j, -1/float64(k))
		}
		l.Set(i, i, 1-1/float64(k))
	}
	return l
}

// TestSharedSmoothingIsThatOfTheResponsesItIsChosenFor: predictors that are centred over
// the classes, raw ones with the centred as responses, with or without a function common to
// all, and differences to a class all get the same smoothing parameters, and coefficients
// that differ by the same linear map.
func TestSharedSmoothingIsThatOfTheResponsesItIsChosenFor(t *testing.T) {
	byRoute(t, testSharedSmoothing)
}

func testSharedSmoothing(t *testing.T, route decompose.Route) {
	tab := table(t, 500, 8)
	const formula = `~ s(x0, bs="ps", k=12) + s(x2, bs="cr", k=8) + x1`
	mean := func(z []float64) float64 { return (z[0] + z[1] + z[2]) / 3 }
	names := []string{"mu", "sigma", "nu"}
	solve := func(remove func(k int, z []float64) float64, s decompose.Sharing) *decompose.Result {
		o := decompose.Options{Smoothing: decompose.Smoothing{Shared: []decompose.Sharing{s}},
			Columns: decompose.Columns{Weights: "w"}, Projection: decompose.Projection{Route: route}}
		r, _ := run(t, withClasses(t, tab, formula, remove), tab, o)
		return r
	}
	centred := solve(func(_ int, z []float64) float64 { return mean(z) }, decompose.Sharing{Predictors: names, Independent: 2})
	raw := solve(func(int, []float64) float64 { return 0 }, decompose.Sharing{Predictors: names, Independent: 2, By: centring(3)})
	shifted := solve(func(_ int, z []float64) float64 { return 7 * math.Sin(3*z[1]) * z[0] }, decompose.Sharing{Predictors: names, Independent: 2, By: centring(3)})
	if centred.Predictors[0].Terms[0].AtInfinity || len(centred.Sets) != 1 || len(centred.Sets[0].Predictors) != 3 {
		t.Fatalf("the case is not what it should be: %v, sp %v", centred.Sets, centred.Predictors[0].Terms[0].SP)
	}
	for k := range names {
		for j, want := range centred.Predictors[0].Terms {
			for name, r := range map[string]*decompose.Result{"centred": centred, "raw": raw, "shifted": shifted} {
				got := r.Predictors[k].Terms[j]
				for i, sp := range got.SP {
					if math.Abs(math.Log(sp/want.SP[i])) > 1e-6 {
						t.Errorf("%s: predictor %d, term %s: sp %g, that of the centred first is %g", name, k, got.Name, sp, want.SP[i])
					}
				}
				for i, v := range got.Alpha {
					m := (r.Predictors[0].Terms[j].Alpha[i] + r.Predictors[1].Terms[j].Alpha[i] + r.Predictors[2].Terms[j].Alpha[i]) / 3
					if want := centred.Predictors[k].Terms[j].Alpha[i]; math.Abs(v-m-want) > 1e-6*(1+math.Abs(want)) {
						t.Errorf("%s: predictor %d, term %s: centred coefficient %d is %g, want %g", name, k, got.Name, i, v-m, want)
					}
				}
			}
		}
	}
	for name, r := range map[string]*decompose.Result{"raw": raw, "shifted": shifted} {
		if got, want := r.Sets[0].Variance, centred.Sets[0].Variance; math.Abs(got.Structured-want.Structured) > 1e-6*want.Total || math.Abs(got.Total-want.Total) > 1e-9*want.Total {
			t.Errorf("%s: variances of the centred %+v, want %+v", name, got, want)
		}
	}
	alone, _ := run(t, withClasses(t, tab, formula, func(_ int, z []float64) float64 { return mean(z) }), tab,
		decompose.Options{Columns: decompose.Columns{Weights: "w"}, Projection: decompose.Projection{Route: route}})
	if a, b := alone.Predictors[0].Terms[0].SP[0], alone.Predictors[1].Terms[0].SP[0]; math.Abs(math.Log(a/b)) < 0.01 {
		t.Errorf("without sharing the smoothing parameters are %g and %g: the case shows nothing", a, b)
	}
}

// TestApart: predictors of different terms have a convention and nothing else in common.
func TestApart(t *testing.T) {
	tab := table(t, 300, 2)
	names := []string{"mu", "sigma", "nu"}
	alone, _ := run(t, smoothOfOne(t, tab), tab, decompose.Options{})
	r, _ := run(t, smoothOfOne(t, tab), tab, decompose.Options{
		Smoothing: decompose.Smoothing{Shared: []decompose.Sharing{{Predictors: names, Uniqueness: decompose.Uniqueness{Convention: "centred"}, Apart: true}}}})
	if len(r.Sets) != 0 {
		t.Errorf("sets %+v", r.Sets)
	}
	for k, p := range r.Predictors {
		for j, term := range p.Terms {
			if own := alone.Predictors[k].Terms[j]; term.SP[0] != own.SP[0] {
				t.Errorf("%s: smoothing parameter %g, alone %g", p.Name, term.SP[0], own.SP[0])
			}
			if p.Convention != "centred" || term.Verdict == decompose.Identified {
				t.Errorf("%s, %q: %s is %s", p.Name, p.Convention, term.Name, term.Verdict)
			}
		}
	}
}

func TestBadSharing(t *testing.T) {
	tab := table(t, 100, 1)
	m := withClasses(t, tab, "~ s(x0, k=5)", func(int, []float64) float64 { return 0 })
	for _, c := range []struct {
		shared  []decompose.Sharing
		without []string
		message string
	}{
		{[]decompose.Sharing{{Predictors: []string{"mu", "tau"}}}, nil, `no predictor "tau" to share`},
		{[]decompose.Sharing{{}}, nil, "set 1 of shared smoothing parameters has no predictor"},
		{[]decompose.Sharing{{Predictors: []string{"mu", "nu"}}, {Predictors: []string{"mu"}}}, nil, `"mu" shares smoothing parameters twice`},
		{[]decompose.Sharing{{Predictors: []string{"mu", "nu"}, Independent: 3}}, nil, "3 of 2 responses are independent"},
		{[]decompose.Sharing{{Predictors: []string{"mu", "nu"}, By: centring(3)}}, nil, "mixes 3 predictors, it has 2"},
		{[]decompose.Sharing{{Predictors: []string{"mu", "nu"}}}, []string{"nu"}, "both have an intercept or none has"},
	} {
		_, err := decompose.Decompose(context.Background(), m, tab, &decompose.Options{
			Smoothing: decompose.Smoothing{Shared: c.shared}, Projection: decompose.Projection{WithoutIntercept: c.without}})
		if err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("error is\n\t%v\nand should say\n\t%s", err, c.message)
		}
	}
	_, err := decompose.Decompose(context.Background(), smoothOfOne(t, tab), tab, &decompose.Options{
		Smoothing: decompose.Smoothing{Shared: []decompose.Sharing{{Predictors: []string{"mu", "nu"}}}}})
	if err == nil || !strings.Contains(err.Error(), `predictors "mu" and "nu" cannot share smoothing parameters: their terms, constraints or penalties differ`) {
		t.Errorf("error is %v", err)
	}
}

// smoothOfOne has another smooth for one predictor.
func smoothOfOne(t *testing.T, tab *data.Table) decompose.Model {
	t.Helper()
	of := map[string][]decompose.Block{}
	for name, formula := range map[string]string{"mu": "~ s(x0, k=5)", "sigma": "~ s(x0, k=5)", "nu": "~ s(x0, k=6)"} {
		f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		if of[name], err = decompose.Prepare(context.Background(), tab, f.Specs, nil); err != nil {
			t.Fatal(err)
		}
	}
	m, err := decompose.With(&blackBox{newFake(3)}, of)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
