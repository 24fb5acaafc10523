package compare_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/compare"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/importance"
	"github.com/pho-go/pho/report"
)

// box is a network without structure: f of x0, x1 and a number for the level of g, and noise
// that is a column, so that the remainder is noise and standard errors mean something.
type box struct {
	f func(x0, x1, g float64) float64
}

func (m *box) Predictors() []string         { return []string{"eta"} }
func (m *box) Columns() []string            { return []string{"x0", "x1", "level", "noise"} }
func (m *box) Intercept(int) float64        { return 0 }
func (m *box) Blocks(int) []decompose.Block { return nil }
func (m *box) Taps() map[string]int         { return nil }
func (m *box) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	var x [4][]float64
	for j, name := range m.Columns() {
		v, err := b.Numeric(name)
		if err != nil {
			return err
		}
		x[j] = v
	}
	for i := range b.Rows() {
		v := m.f(x[0][i], x[1][i], x[2][i]) + x[3][i]
		dst.Zeta.Set(i, 0, v)
		dst.Eta.Set(i, 0, v)
	}
	return nil
}

// drawn rows: x0 uniform on [lo, lo+2], x1 normal and correlated with it, g of names.
type drawn struct {
	n     int
	seed  uint64
	lo    float64
	scale float64 // of x1; 0: 1
	names []string
}

func (d drawn) table(t testing.TB) *data.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(d.seed, 9))
	tab := data.NewTable(d.n)
	x := [5][]float64{}
	var g []string
	for range d.n {
		x0 := d.lo + 2*r.Float64()
		level := r.IntN(len(d.names))
		for j, v := range []float64{x0, 0.5*(x0-1) + r.NormFloat64(), float64(level), 0.5 * r.NormFloat64(), 0.5 + r.Float64()} {
			x[j] = append(x[j], v)
		}
		g = append(g, d.names[level])
	}
	if d.scale != 0 {
		for i := range x[1] {
			x[1][i] *= d.scale
		}
	}
	for j, name := range []string{"x0", "x1", "level", "noise", "w"} {
		if err := tab.AddNumeric(name, x[j]); err != nil {
			t.Fatal(err)
		}
	}
	if err := tab.AddTexts("g", g); err != nil {
		t.Fatal(err)
	}
	return tab
}

// terms are those of a formula, by the rows of tab.
func terms(t testing.TB, m decompose.Model, tab *data.Table, formula string) []decompose.Block {
	t.Helper()
	f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(t.Context(), tab, f.Specs, m.Columns())
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// side decomposes and reads the result as its directory would hold it.
func side(t testing.TB, name string, m decompose.Model, tab *data.Table, blocks []decompose.Block, weights string) (compare.Side, *decompose.Applier) {
	t.Helper()
	with, err := decompose.With(m, map[string][]decompose.Block{"": blocks})
	if err != nil {
		t.Fatal(err)
	}
	r, err := decompose.Decompose(t.Context(), with, tab, &decompose.Options{
		Columns: decompose.Columns{Weights: weights}, Visitors: []decompose.Visitor{importance.New(nil)}})
	if err != nil {
		t.Fatal(err)
	}
	var moments, doc, csv bytes.Buffer
	if err := r.EncodeMoments(&moments); err != nil {
		t.Fatal(err)
	}
	if err := r.Encode(&doc); err != nil {
		t.Fatal(err)
	}
	if r, err = decompose.Read(&doc, &moments, basis.Decode); err != nil {
		t.Fatal(err)
	}
	a, err := r.Applier(with)
	if err != nil {
		t.Fatal(err)
	}
	effects, err := report.Effects(t.Context(), r, a)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.WriteEffects(&csv, effects); err != nil {
		t.Fatal(err)
	}
	curves, err := compare.ReadCurves(&csv)
	if err != nil {
		t.Fatal(err)
	}
	return compare.Side{Name: name, Result: r, Curves: curves, Network: "n"}, a
}

func compared(t testing.TB, a, b compare.Side) *compare.Comparison {
	t.Helper()
	c, err := compare.New(a, b, compare.Rows{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func term(t testing.TB, c *compare.Comparison, name string) *compare.Term {
	t.Helper()
	for i := range c.Predictors[0].Terms {
		if c.Predictors[0].Terms[i].Name == name {
			return &c.Predictors[0].Terms[i]
		}
	}
	t.Fatalf("no term %q in %+v", name, c.Predictors[0].Terms)
	return nil
}

const formula = `~ s(x0, bs="cr", k=7) + x1 + g + te(x0, x1, k=4)`

var three = []string{"a", "b", "c"}

// Changes of the mean add up over rows and the rest, changes of the variance over terms and
// remainder, and the part of the rows is that of A's terms applied to B's rows.
func TestDriftAddsUp(t *testing.T) {
	f := func(x0, x1, g float64) float64 { return math.Sin(2*x0) + x0*x1/2 + g }
	before, after := drawn{n: 700, seed: 1, names: three}.table(t), drawn{n: 500, seed: 2, lo: 0.6, names: three}.table(t)
	m := &box{f}
	blocks := terms(t, m, before, formula)
	a, applier := side(t, "A", m, before, blocks, "w")
	b, _ := side(t, "B", &box{func(x0, x1, g float64) float64 { return 1.2*f(x0, x1, g) + 3 }}, after, blocks, "w")
	c := compared(t, a, b)
	p := c.Predictors[0]
	if math.Abs(p.Mean.Rows+p.Mean.Rest-(p.Mean.B-p.Mean.A)) > 1e-12 || p.Mean.Known != 4 || c.SameRows || !c.SameNetwork {
		t.Errorf("%+v", c)
	}
	sum := make([]float64, 4)
	var weight, total float64
	for parts, err := range applier.All(t.Context(), after, "w") {
		if err != nil {
			t.Fatal(err)
		}
		w, _ := parts.Batch.Numeric("w")
		for i, w := range w {
			for j, v := range parts.Predictors[0].Row(i) {
				sum[j] += w * v
			}
			weight += w
		}
	}
	for j, s := range sum {
		got := p.Terms[j]
		if !got.SameBasis || math.Abs(*got.Rows-s/weight) > 1e-10 {
			t.Errorf("%s: rows change it by %v, its mean over B's rows is %.12g", got.Name, *got.Rows, s/weight)
		}
		total += *got.Rows
	}
	if math.Abs(total-p.Mean.Rows) > 1e-12 || p.Mean.Rows == 0 {
		t.Errorf("terms add to %g, all are %g", total, p.Mean.Rows)
	}

	// The structured part of A's functions over B's rows, from the rows.
	var first, second float64
	for parts, err := range applier.All(t.Context(), after, "w") {
		if err != nil {
			t.Fatal(err)
		}
		w, _ := parts.Batch.Numeric("w")
		for i, w := range w {
			var s float64
			for _, v := range parts.Predictors[0].Row(i) {
				s += v
			}
			first, second = first+w*s/weight, second+w*s*s/weight
		}
	}
	if s := p.Structured; s == nil || math.Abs(s.A+s.Rows-(second-first*first)) > 1e-10 || math.Abs(s.Rows+s.Functions-s.Change.Change) > 1e-12 || s.B == s.A {
		t.Errorf("structured %+v, A's functions over B's rows have variance %.12g", p.Structured, second-first*first)
	}
	for _, of := range []func(compare.Change) float64{
		func(c compare.Change) float64 { return c.A }, func(c compare.Change) float64 { return c.B }, func(c compare.Change) float64 { return c.Change },
	} {
		parts := of(*p.Unstructured)
		for _, t := range p.Terms {
			parts += of(*t.Variance)
		}
		if math.Abs(parts-of(p.Variance)) > 1e-12 {
			t.Errorf("parts of the variance add to %g of %g", parts, of(p.Variance))
		}
	}
}

// The mean of what A holds is the mean of eta: of rows, not of the artifact's own figures.
func TestMeanIsThatOfEta(t *testing.T) {
	tab := drawn{n: 300, seed: 3, names: three}.table(t)
	m := &box{func(x0, x1, g float64) float64 { return 5 + x0*x0 + x1 }}
	a, applier := side(t, "A", m, tab, terms(t, m, tab, formula), "w")
	b, _ := side(t, "B", m, drawn{n: 300, seed: 4, names: three}.table(t), terms(t, m, tab, formula), "w")
	var sum, weight float64
	for parts, err := range applier.All(t.Context(), tab, "w") {
		if err != nil {
			t.Fatal(err)
		}
		w, _ := parts.Batch.Numeric("w")
		for i, w := range w {
			sum, weight = sum+w*parts.Predictors[0].Eta[i], weight+w
		}
	}
	if got := compared(t, a, b).Predictors[0].Mean.A; math.Abs(got-sum/weight) > 1e-10 {
		t.Errorf("mean %g, over the rows %g", got, sum/weight)
	}
}

// TestChangesAreTold counts right and wrong alarms: over 60 pairs of periods one term
// changes and the others do not. Bonferroni keeps false alarms at 5 %; 12 % of 180
// comparisons would be five standard errors above that.
func TestChangesAreTold(t *testing.T) {
	found, wrong, comparisons := 0, 0, 0
	const pairs = 60
	for seed := range uint64(pairs) {
		a0, b0 := drawn{n: 500, seed: 100 + seed, names: three}.table(t), drawn{n: 500, seed: 500 + seed, names: three}.table(t)
		m := &box{func(x0, x1, g float64) float64 { return math.Sin(2*x0) + x1 + g }}
		changed := &box{func(x0, x1, g float64) float64 { return math.Sin(2*x0) + 0.4*x0*x0 + x1 + g }}
		const formula = `~ s(x0, bs="cr", k=7) + s(x1, k=6) + g`
		a, _ := side(t, "A", m, a0, terms(t, m, a0, formula), "")
		b, _ := side(t, "B", changed, b0, terms(t, m, b0, formula), "")
		c := compared(t, a, b)
		for _, term := range c.Predictors[0].Terms {
			if term.SameBasis != (term.Name == "g") {
				t.Fatalf("%s: knots of other rows are other columns", term.Name)
			}
			switch beyond := *term.Curve.Beyond; {
			case term.Name == "s(x0)" && beyond:
				found++
			case term.Name != "s(x0)":
				comparisons++
				if beyond {
					wrong++
				}
			}
		}
	}
	t.Logf("%d of %d changes found, %d false ones in %d", found, pairs, wrong, comparisons)
	if found < pairs*9/10 || float64(wrong) > 0.12*float64(comparisons) {
		t.Errorf("%d of %d changes found, %d false ones in %d", found, pairs, wrong, comparisons)
	}
}

// A result against a copy of itself: nothing has moved, and no errors are claimed.
func TestSameRows(t *testing.T) {
	tab := drawn{n: 300, seed: 3, names: three}.table(t)
	m := &box{func(x0, x1, g float64) float64 { return x0*x0 + x1 }}
	a, _ := side(t, "A", m, tab, terms(t, m, tab, formula), "")
	other := &box{func(x0, x1, g float64) float64 { return x0 * x0 * x0 }}
	b, _ := side(t, "B", other, tab, terms(t, m, tab, formula), "")
	c := compared(t, a, a)
	if !c.SameRows || !strings.HasPrefix(c.Uncertainty, "none") || c.Predictors[0].Mean.Change.Change != 0 {
		t.Errorf("%+v", c)
	}
	for _, term := range c.Predictors[0].Terms {
		if term.Curve == nil || term.Curve.RMS != 0 || term.Curve.Beyond != nil || *term.Rows != 0 {
			t.Errorf("%+v", term)
		}
	}
	if c := compared(t, a, b); !c.SameRows || term(t, c, "s(x0)").Curve.RMS == 0 || term(t, c, "s(x0)").Curve.Ratio != nil {
		t.Errorf("%+v", c)
	}
}

// Levels in one only, ranges without overlap, other units, terms and columns in one only.
func TestWhatIsNotComparable(t *testing.T) {
	m := &box{func(x0, x1, g float64) float64 { return x0 + x1 + g }}
	make := func(d drawn, formula string) compare.Side {
		tab := d.table(t)
		s, _ := side(t, "s", m, tab, terms(t, m, tab, formula), "")
		return s
	}
	a := make(drawn{n: 300, seed: 5, names: three}, `~ s(x0, k=5) + s(x1, k=5) + g`)
	c := compared(t, a, make(drawn{n: 200, seed: 6, names: []string{"b", "c", "d"}, lo: 10, scale: 1000}, `~ s(x0, k=5) + s(x1, k=5) + g`))
	if o := term(t, c, "g").Curve.Over[0]; o.Levels != 2 || !slices.Equal(o.OnlyA, []string{"a"}) || !slices.Equal(o.OnlyB, []string{"d"}) {
		t.Errorf("%+v", o)
	}
	if got := term(t, c, "s(x0)"); got.Curve != nil || !strings.Contains(got.Why, "no values in common") || !strings.Contains(got.Why, "are its units the same?") {
		t.Errorf("%+v", got)
	}
	if got := term(t, c, "s(x1)"); got.Curve != nil && !strings.Contains(got.Note, "are its units the same?") {
		t.Errorf("%+v", got)
	}
	c = compared(t, a, make(drawn{n: 200, seed: 6, names: three}, `~ s(x0, by=g, k=5) + g + te(x0, x1, k=4)`))
	for name, in := range map[string]string{"s(x0)": "a", "s(x0):ga": "b", "s(x1)": "a", "g": "both", "te(x0,x1)": "b"} {
		if got := term(t, c, name); got.In != in {
			t.Errorf("%+v, want it in %s", got, in)
		}
	}
	if sums := c.Predictors[0].Sums; len(sums) != 0 {
		t.Errorf("%+v", sums)
	}
	// A single level in common says nothing.
	d := drawn{n: 200, seed: 8, names: []string{"a", "z"}}
	tab := d.table(t)
	one, _ := side(t, "s", m, tab, terms(t, m, tab, `~ s(x0, k=5) + g`), "")
	if c = compared(t, a, one); term(t, c, "g").Curve == nil || term(t, c, "g").Curve.Over[0].Levels != 1 || term(t, c, "g").Curve.RMS != 0 {
		t.Errorf("%+v", term(t, c, "g"))
	}
}

// Other predictors are an error, and moments that are missing.
func TestNewRefuses(t *testing.T) {
	tab := drawn{n: 100, seed: 5, names: three}.table(t)
	m := &box{func(x0, x1, g float64) float64 { return x0 }}
	a, _ := side(t, "A", m, tab, terms(t, m, tab, "~ x0"), "")
	other := *a.Result
	other.Predictors = []decompose.Predictor{other.Predictors[0], other.Predictors[0]}
	other.Predictors[0].Name, other.Predictors[1].Name = "mu", "sigma"
	if _, err := compare.New(a, compare.Side{Name: "B", Result: &other}, compare.Rows{}); err == nil || !strings.Contains(err.Error(), "none is in both") {
		t.Errorf("error %v", err)
	}
	var doc bytes.Buffer
	if err := a.Result.Encode(&doc); err != nil {
		t.Fatal(err)
	}
	bare, err := decompose.Read(&doc, nil, basis.Decode)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compare.New(a, compare.Side{Name: "B", Result: bare}, compare.Rows{}); err == nil || !strings.Contains(err.Error(), "without its moments") {
		t.Errorf("error %v", err)
	}
}

// Where the columns stand in the data, and what the levels are called in both, do not matter;
// and A against B is B against A but for the sign.
func TestOrderAndNamesDoNotMatter(t *testing.T) {
	m := &box{func(x0, x1, g float64) float64 { return math.Sin(x0) + x1*x0 + g*g }}
	run := func(names []string, backwards bool) *compare.Comparison {
		a0, b0 := drawn{n: 300, seed: 5, names: names}.table(t), drawn{n: 250, seed: 6, lo: 0.5, names: names}.table(t)
		a, _ := side(t, "A", m, a0, terms(t, m, a0, formula), "")
		b, _ := side(t, "B", m, b0, terms(t, m, b0, formula), "")
		if backwards {
			a, b = b, a
		}
		return compared(t, a, b)
	}
	c, renamed, back := run(three, false), run([]string{"z", "y", "x"}, false), run(three, true)
	for _, name := range []string{"s(x0)", "x1", "g", "te(x0,x1)"} {
		x, y, z := term(t, c, name).Curve, term(t, renamed, name).Curve, term(t, back, name).Curve
		if math.Abs(x.RMS-y.RMS) > 1e-8*x.RMS || math.Abs(x.RMS-z.RMS) > 1e-12 || math.Abs(*x.Ratio-*z.Ratio) > 1e-9 || x.Largest != -z.Largest {
			t.Errorf("%s: %+v, renamed %+v, backwards %+v", name, x, y, z)
		}
	}
	if math.Abs(c.Predictors[0].Mean.Change.Change+back.Predictors[0].Mean.Change.Change) > 1e-12 {
		t.Error("the mean's change has no sign")
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
	var page, again bytes.Buffer
	if err := report.WriteComparison(&page, c); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteComparison(&again, run(three, false)); err != nil || !bytes.Equal(page.Bytes(), again.Bytes()) {
		t.Errorf("two pages of one comparison differ (%v)", err)
	}
	for _, want := range []string{"B against A", "te(x0,x1)", "<svg", "beyond uncertainty"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q on the page", want)
		}
	}
}

func FuzzReadCurves(f *testing.F) {
	f.Add("predictor,term,stage,x,x2,value,se,lower,upper\neta,s(x),after,1,,0.5,,,\neta,s(x),after,2,,0.5,0.1,,\n")
	f.Add("predictor,term,stage,x,x2,value,se,member\neta,te(a,b),after,1,a,0.5,,\neta,te(a,b),after,1,b,,,\neta,te(a,b),after,2,a,1,1,m\n")
	f.Add("predictor,term,stage,x,x2,value,se\neta,t,after,1,1,1,1\neta,t,after,2,2,1,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		curves, err := compare.ReadCurves(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, c := range curves {
			if n := len(c.X) * max(len(c.X2), 1); n != len(c.Value) || n != len(c.SE) {
				t.Fatalf("%d x %d points and %d values", len(c.X), len(c.X2), len(c.Value))
			}
		}
	})
}

// Rows of members and of the stage before are left alone; columns may stand in any order.
func TestReadCurves(t *testing.T) {
	curves, err := compare.ReadCurves(strings.NewReader("term,predictor,stage,value,se,x2,x,member\n" +
		"s(x),eta,before,9,,,1,\ns(x),eta,after,1,0.5,,1,\ns(x),eta,after,7,,,1,m1\ns(x),eta,after,,,,2,\n"))
	if err != nil || len(curves) != 1 || !slices.Equal(curves[0].X, []string{"1", "2"}) || curves[0].Value[0] != 1 || curves[0].SE[0] != 0.5 || !math.IsNaN(curves[0].Value[1]) {
		t.Errorf("%+v, %v", curves, err)
	}
	for text, want := range map[string]string{
		"": "no header", "a,b\n": `no column "predictor"`,
		"predictor,term,stage,x,x2,value,se\neta,t,after,1,,x,\n":                      "line 2",
		"predictor,term,stage,x,x2,value,se\neta,t,after,1,a,1,\neta,t,after,2,b,1,\n": "no grid",
	} {
		if _, err := compare.ReadCurves(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// TestFalseAlarms: of two samples of one population at most 5 % of the terms differ beyond uncertainty, interactions and
// their margins among them, but for chance of one in a hundred.
func TestFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	const pairs = 40
	formulas := map[string][]string{
		"~ x0 + x1 + x0:x1":           {"x0", "x1"},
		"~ s(x0) + s(x1) + te(x0,x1)": {"s(x0)", "s(x1)"},
		"~ g + x1 + g:x1":             {"g", "x1"},
	}
	if os.Getenv("PHO_LONG") != "" {
		formulas["~ s(x0) + s(x1) + ti(x0,x1)"] = []string{"s(x0)", "s(x1)"}
	}
	for formula, names := range formulas {
		alarms := map[string]int{}
		m := &box{func(x0, x1, g float64) float64 { return math.Sin(2*x0) + x1/2 + x0*x1 + g + g*x1/2 }}
		for i := range pairs {
			var sides []compare.Side
			for j := range 2 {
				tab := drawn{n: 500, seed: uint64(100 + 2*i + j), names: three}.table(t)
				s, _ := side(t, []string{"A", "B"}[j], m, tab, terms(t, m, tab, formula), "")
				sides = append(sides, s)
			}
			c := compared(t, sides[0], sides[1])
			for _, name := range names {
				shift := term(t, c, name).Curve
				if shift == nil || shift.Beyond == nil {
					t.Fatalf("%s: %s is not compared", formula, name)
				}
				if *shift.Beyond {
					alarms[name]++
				}
			}
		}
		t.Log(formula, alarms)
		for name, n := range alarms {
			if n > 6 { // the 99 % point of 40 draws at 5 %
				t.Errorf("%s: %d of %d differences of %s are beyond uncertainty", formula, n, pairs, name)
			}
		}
	}
}
