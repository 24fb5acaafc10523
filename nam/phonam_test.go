package nam_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
	"github.com/pho-go/pho/nam"
	"github.com/pho-go/pho/penalty"
)

func phonam(t testing.TB, m decompose.Model, src data.Source, v nam.Variant, o *nam.Options) *decompose.Result {
	t.Helper()
	r, err := nam.PHONAM(t.Context(), m, src, v, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(d decompose.Predictor) []string {
	var out []string
	for _, t := range d.Terms {
		out = append(out, t.Name)
	}
	return out
}

func TestPreparedModelsConform(t *testing.T) {
	m := newNAM(3, 4, [2]int{0, 1})
	m.line = true
	tab := rows(t, 60, 3, 0.3, 1)
	for _, v := range []nam.Variant{nam.Learned, nam.Spline} {
		p, _, err := nam.Prepare(t.Context(), m, tab, v, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := decomposetest.Model(p, all(t, tab), 1e-12); err != nil {
			t.Errorf("%s: %v", v, err)
		}
	}
	if err := decomposetest.Model(newOrderModel(m), all(t, tab), 1e-12); err != nil {
		t.Error(err)
	}
}

// With features that are nearly equal PHO's split between their learned bases is
// next to arbitrary: curves many times as large as all there is to move, and others
// on other rows. With ridges they stay within the size of what moves.
func TestRidgeSteadiesCorrelatedFeatures(t *testing.T) {
	const samples, n, rho = 6, 300, 0.999999
	m := newNAM(2, 8)
	grid := &nam.ShapeOptions{Values: map[string][]float64{"x0": linspace(-1.5, 1.5, 41), "x1": linspace(-1.5, 1.5, 41)}}
	curves := func(r *decompose.Result) []float64 {
		shapes, err := nam.Shapes(t.Context(), r, m, grid)
		if err != nil {
			t.Fatal(err)
		}
		var moved []float64
		for _, s := range shapes {
			for i := range s.After {
				moved = append(moved, s.After[i]-s.Before[i])
			}
		}
		return moved
	}
	apart := func(all [][]float64) float64 { // mean over pairs of samples of the root mean square
		var sum, pairs float64
		for i := range all {
			for j := range i {
				sum += floats.Distance(all[i], all[j], 2) / math.Sqrt(float64(len(all[i])))
				pairs++
			}
		}
		return sum / pairs
	}
	var pho, ridge [][]float64
	for seed := range uint64(samples) {
		tab := rows(t, n, 2, rho, seed)
		plain, err := decompose.Decompose(t.Context(), m, tab, &decompose.Options{Projection: decompose.Projection{RankTolerance: 1e-6}})
		if err != nil {
			t.Fatal(err)
		}
		r := phonam(t, m, tab, nam.Learned, nil)
		pho, ridge = append(pho, curves(plain)), append(ridge, curves(r))
		// The sum of the features takes as much from the deep part as without ridges.
		before, left, least := r.Predictors[0].VarianceBefore, r.Predictors[0].Variance, plain.Predictors[0].Variance
		if !(left.Unstructured < least.Unstructured+0.02*before.Unstructured) {
			t.Errorf("sample %d: variance %.3g is left to the deep part, by pho %.3g, of %.3g", seed, left.Unstructured, least.Unstructured, before.Unstructured)
		}
		for _, term := range r.Predictors[0].Terms {
			if !term.Identified || len(term.SP) != 1 {
				t.Errorf("sample %d: %s: identified %v, sp %v", seed, term.Name, term.Identified, term.SP)
			}
		}
		if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "nearly the same functions") }) {
			t.Errorf("sample %d: no warning that features are near copies: %q", seed, r.Warnings)
		}
	}
	const sd = 1.3 // of zeta
	t.Logf("moved curves of %d samples are apart by %.3g with pho, %.3g with ridges; sd of zeta %.2g", samples, apart(pho), apart(ridge), sd)
	if !(apart(pho) > 5*sd) {
		t.Errorf("pho's curves are apart by %.3g only: this is not the case the test is about", apart(pho))
	}
	if !(apart(ridge) < 0.6*sd) {
		t.Errorf("with ridges the curves are apart by %.3g", apart(ridge))
	}
}

func linspace(lo, hi float64, n int) []float64 { return floats.Span(make([]float64, n), lo, hi) }

// What hidden units are multiplied by means nothing, and does not count.
func TestLearnedDoesNotDependOnTheScaleOfUnits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64Range(1, 1000).Draw(rt, "seed")
		scale := math.Pow(10, rapid.Float64Range(-1, 1).Draw(rt, "log10 scale"))
		rho := rapid.Float64Range(0, 0.95).Draw(rt, "rho")
		tab := rows(t, 300, 2, rho, seed)
		m, scaled := newNAM(2, 4), newNAM(2, 4)
		scaled.scale = scale
		o := &nam.Options{Decompose: &decompose.Options{Columns: decompose.Columns{Weights: "w"}, Smoothing: decompose.Smoothing{SP: map[string][]float64{"f(x0)": {3}, "f(x1)": {40}}}}}
		a, b := phonam(t, m, tab, nam.Learned, o), phonam(t, scaled, tab, nam.Learned, o)
		for j, want := range a.Predictors[0].Terms {
			got := b.Predictors[0].Terms[j]
			for l := range want.Alpha {
				if d := math.Abs(got.Alpha[l]*math.Pow(scale, float64(l)) - want.Alpha[l]); d > 1e-7*(1+math.Abs(want.Alpha[l])) {
					rt.Fatalf("%s: coefficient %d is %g with scale %g, not %g times that to the power of its number", want.Name, l, got.Alpha[l], scale, want.Alpha[l])
				}
			}
			if math.Abs(got.EDF-want.EDF) > 1e-7 {
				rt.Fatalf("%s: edf %g and %g", want.Name, got.EDF, want.EDF)
			}
		}
	})
}

// Between no penalty, which is PHO, and one that lets nothing move, the edf falls.
func TestLearnedBetweenPHOAndNothing(t *testing.T) {
	m, tab := newNAM(2, 4), rows(t, 500, 2, 0.2, 3)
	last := math.Inf(1)
	fit := func(sp float64) decompose.Predictor {
		o := &nam.Options{Decompose: &decompose.Options{Smoothing: decompose.Smoothing{SP: map[string][]float64{"f(x0)": {sp}, "f(x1)": {sp}}}}}
		return phonam(t, m, tab, nam.Learned, o).Predictors[0]
	}
	for _, sp := range []float64{1e-9, 1, 100, 1e4, 1e12} {
		d := fit(sp)
		if !(d.EDF < last) {
			t.Errorf("lambda %g: edf %g, with less %g", sp, d.EDF, last)
		}
		last = d.EDF
	}
	pho, err := decompose.Decompose(t.Context(), m, tab, &decompose.Options{Projection: decompose.Projection{RankTolerance: 1e-6}})
	if err != nil {
		t.Fatal(err)
	}
	free, stiff := fit(1e-9), fit(1e12)
	for j, want := range pho.Predictors[0].Terms {
		if d := floats.Distance(free.Terms[j].Alpha, want.Alpha, 2); d > 1e-5*floats.Norm(want.Alpha, 2) {
			t.Errorf("%s: without penalty alpha differs from pho by %g", want.Name, d)
		}
		if n := floats.Norm(stiff.Terms[j].Alpha, 2); n > 1e-6 {
			t.Errorf("%s: lambda 1e12 lets %g move", want.Name, n)
		}
	}
}

// deepOnly shows the deep part of a model as a black box of its own, which is what
// the authors' code gives to a spline regression.
type deepOnly struct{ *fakeNAM }

func (d deepOnly) Blocks(int) []decompose.Block { return nil }
func (d deepOnly) Intercept(int) float64        { return 0 }
func (d deepOnly) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := d.fakeNAM.Forward(ctx, dst, b); err != nil {
		return err
	}
	dst.Eta.Copy(dst.Zeta)
	return nil
}

func TestSplineIsTheGAMOfTheDeepPart(t *testing.T) {
	m, tab := newNAM(2, 4), rows(t, 600, 2, 0.5, 4)
	for _, bs := range []string{"", "ps", "cr"} {
		r := phonam(t, m, tab, nam.Spline, &nam.Options{Basis: bs, K: 9})
		if bs == "" {
			bs = "tp"
		}
		f, err := basis.Parse(`~ s(x0, bs="`+bs+`", k=9) + s(x1, bs="`+bs+`", k=9)`, nil)
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := decompose.Prepare(t.Context(), tab, f.Specs, []string{"x0", "x1"})
		if err != nil {
			t.Fatal(err)
		}
		gam, err := decompose.With(deepOnly{m}, map[string][]decompose.Block{"": blocks})
		if err != nil {
			t.Fatal(err)
		}
		want, err := decompose.Decompose(t.Context(), gam, tab, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := r.Predictors[0]
		if got := names(d); !slices.Equal(got, []string{"f(x0)", "f(x1)", "s(x0)", "s(x1)"}) {
			t.Fatalf("terms %q", got)
		}
		for j, term := range d.Terms {
			if term.Kind == decompose.Learned {
				if floats.Norm(term.Alpha, math.Inf(1)) != 0 {
					t.Errorf("%s: %s moved by %v", bs, term.Name, term.Alpha)
				}
				continue
			}
			w := want.Predictors[0].Terms[j-2]
			if e := floats.Distance(term.Alpha, w.Alpha, 2); e > 1e-8*floats.Norm(w.Alpha, 2) {
				t.Errorf("%s: %s differs from the spline of the deep part by %g", bs, term.Name, e)
			}
			if math.Abs(term.EDF-w.EDF) > 1e-8 || term.Columns != w.Columns {
				t.Errorf("%s: %s has edf %g of %d columns, want %g of %d", bs, term.Name, term.EDF, term.Columns, w.EDF, w.Columns)
			}
		}
		if r.PHONAM != "spline" || r.Method != decompose.PHOGAM {
			t.Errorf("phonam %q, method %q", r.PHONAM, r.Method)
		}
	}
}

func TestSplinesOfPairs(t *testing.T) {
	tab := rows(t, 400, 4, 0.1, 5)
	for _, c := range []struct {
		name   string
		change func(m *fakeNAM)
		want   []string
	}{
		{"with both features alone", func(*fakeNAM) {}, []string{"f(x0)", "f(x1)", "f(x0,x1)", "s(x0)", "s(x1)", "ti(x0,x1)"}},
		{"with one of them", func(m *fakeNAM) { m.taps = m.taps[:3]; m.taps[1] = m.taps[2]; m.taps = m.taps[:2] }, []string{"f(x0)", "f(x0,x1)", "s(x0)", "te(x0,x1)"}},
		{"with a line", func(m *fakeNAM) { m.line = true }, []string{"x0", "f(x0)", "f(x1)", "f(x0,x1)", "s(x0)", "s(x1)", "ti(x0,x1)"}},
	} {
		m := newNAM(2, 4, [2]int{0, 1})
		c.change(m)
		p, _, err := nam.Prepare(t.Context(), m, tab, nam.Spline, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range p.Blocks(0) {
			got = append(got, b.Term.Name())
			if own := b.Coef != nil; own != b.Constraint.Equal(decompose.Kept()) {
				t.Errorf("%s: %s: the network's own %v, kept %v", c.name, b.Term.Name(), own, b.Constraint)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: terms %q, want %q", c.name, got, c.want)
		}
	}
}

// A formula's terms take the place of the splines.
func TestSplineWithAFormula(t *testing.T) {
	m, tab := newNAM(2, 4), rows(t, 300, 2, 0.1, 6)
	with, err := decompose.With(m, map[string][]decompose.Block{"": {{Term: &decompose.LinearTerm{Column: "x1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	r := phonam(t, with, tab, nam.Spline, nil)
	if got := names(r.Predictors[0]); !slices.Equal(got, []string{"f(x0)", "f(x1)", "x1"}) {
		t.Errorf("terms %q", got)
	}
	if d := r.Predictors[0]; d.Rank != 2 || floats.Norm(d.Terms[2].Alpha, 2) == 0 {
		t.Errorf("rank %d, alpha of x1 %v", d.Rank, d.Terms[2].Alpha)
	}
}

// A result of either variant is read back, and applies to new rows, as any other.
func TestArtifactAndApply(t *testing.T) {
	m, tab := newNAM(2, 4, [2]int{0, 1}), rows(t, 400, 2, 0.3, 8)
	fresh := rows(t, 50, 2, 0.3, 9)
	for _, v := range []nam.Variant{nam.Learned, nam.Spline} {
		r := phonam(t, m, tab, v, nil)
		var doc, moments bytes.Buffer
		if err := r.EncodeMoments(&moments); err != nil {
			t.Fatal(err)
		}
		if err := r.Encode(&doc); err != nil {
			t.Fatal(err)
		}
		again, err := decompose.Read(&doc, &moments, basis.Decode)
		if err != nil {
			t.Fatal(err)
		}
		if again.PHONAM != string(v) {
			t.Errorf("%s: the label came back as %q", v, again.PHONAM)
		}
		a, err := again.Applier(m)
		if err != nil {
			t.Fatal(err)
		}
		b := all(t, fresh)
		parts, err := a.Parts(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		eta := run(t, m, b).Eta
		for i := range b.Rows() {
			if math.Abs(parts.Sum(0, i)-eta.At(i, 0)) > 1e-10 {
				t.Fatalf("%s: row %d: the parts sum to %g, eta is %g", v, i, parts.Sum(0, i), eta.At(i, 0))
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	m, tab := newNAM(2, 4), rows(t, 20, 2, 0, 1)
	for _, c := range []struct {
		m    decompose.Model
		src  data.Source
		v    nam.Variant
		o    *nam.Options
		want string
	}{
		{m, tab, "both", nil, `nam: unknown variant "both" of PHONAM: it is learned or spline`},
		{deepOnly{m}, tab, nam.Learned, nil, "nam: the model has no learned term, so it is no neural additive model: look at the structure that was found in the model, or use a formula without PHONAM"},
		{m, tab, nam.Learned, &nam.Options{Decompose: &decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}}}, "nam: PHONAM is a penalised projection, method phogam: for pho on the learned bases use decompose.Decompose"},
		{m, tab, nam.Spline, &nam.Options{K: 2}, "nam: splines of dimension 2 and 5: 3 is the least"},
		{m, nil, nam.Spline, nil, "nam: the splines of PHONAM need rows to place their knots by, and there is no source"},
		{m, tab, nam.Spline, &nam.Options{Basis: "wiggly"}, `unknown basis`},
	} {
		_, err := nam.PHONAM(t.Context(), c.m, c.src, c.v, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := nam.PHONAM(ctx, m, tab, nam.Spline, nil); err == nil {
		t.Error("a cancelled context was ignored")
	}
}

// A penalty that somebody has chosen stays.
func TestLearnedKeepsGivenPenalties(t *testing.T) {
	m := newNAM(2, 4)
	mine := m.Blocks(0)[0]
	mine.Penalty.S = append(mine.Penalty.S, penalty.Ridge(4))
	with, err := decompose.With(m, map[string][]decompose.Block{"": {mine}})
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := nam.Prepare(t.Context(), with, nil, nam.Learned, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b := p.Blocks(0); b[0].Coordinates.Standardised() || !b[1].Coordinates.Standardised() {
		t.Errorf("standardised: %v of the block with a penalty, %v of the other", b[0].Coordinates.Standardised(), b[1].Coordinates.Standardised())
	}
}

// Features of few values have a smaller spline, those of two values a line, constant ones
// nothing; a pair with one of them stays as the model has it, and a note says so.
func TestSplinesOfFewValues(t *testing.T) {
	m := newNAM(4, 3, [2]int{0, 1}, [2]int{0, 2})
	m.deep = func(x []float64) float64 { return math.Sin(2*x[0]) + x[1]*x[1] + x[2] }
	tab := data.NewTable(200)
	x := rows(t, 200, 4, 0, 1)
	b := all(t, x)
	for j, values := range []int{200, 6, 2, 1} {
		v, err := b.Numeric(m.features[j])
		if err != nil {
			t.Fatal(err)
		}
		column := slices.Clone(v)
		for i := range column {
			if values < 200 {
				column[i] = float64(i % values)
			}
		}
		if err := tab.AddNumeric(m.features[j], column); err != nil {
			t.Fatal(err)
		}
	}
	r, err := nam.PHONAM(t.Context(), m, tab, nam.Spline, nil)
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string]int{}
	for _, term := range r.Predictors[0].Terms {
		columns[term.Name] = term.Columns
	}
	for name, want := range map[string]int{"s(x0)": 9, "s(x1)": 5, "x2": 1, "ti(x0,x1)": 16} {
		if columns[name] != want {
			t.Errorf("%s has %d columns of %v, want %d", name, columns[name], columns, want)
		}
	}
	if _, ok := columns["x3"]; ok || columns["ti(x0,x2)"] != 0 || !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "f(x0,x2) is as the model has it") }) {
		t.Errorf("terms %v, warnings %q", columns, r.Warnings)
	}
}
