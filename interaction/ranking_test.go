package interaction

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Of data sets without interactions whose noise is as large as a pair of columns says, few
// show a pair.
func TestNoPairsInUnequalNoise(t *testing.T) {
	const sets, n, p = 24, 2000, 10
	false_, gains := 0, 0.0
	for seed := range uint64(sets) {
		x := correlated(1000+seed, n, p, 0.5)
		u := uniform(5000 + seed)
		eta := make([]float64, n)
		for i := range eta {
			eta[i] = x[0][i] + math.Sin(2*x[1][i]) + 0.5*math.Exp(0.7*x[0][i]+0.7*x[2][i])*u.normal()
		}
		r := ranked(t, rows(t, x, eta), []string{"eta"}, names(p), smooths(p), decompose.Options{})
		m := r.Predictors[0].Remainder
		if len(m.Pairs) > 0 {
			false_++
			t.Logf("set %d: %v", seed, m.Pairs)
		}
		for _, g := range m.Pairs {
			gains += g.Gain
		}
	}
	if false_ > 2 {
		t.Errorf("%d of %d data sets without interactions show pairs", false_, sets)
	}
}

// A term gains about as much as was foretold.
func TestGainsComeTrue(t *testing.T) {
	for _, c := range []struct{ rho, low, high float64 }{{0, 0.9, 1.1}, {0.5, 0.85, 1.15}} {
		x, eta := planted(1, 4000, 10, c.rho, 1, 0.3)
		f := smooths(10)
		r := ranked(t, rows(t, x, eta), []string{"eta"}, names(10), f, decompose.Options{})
		m := r.Predictors[0].Remainder
		before := m.Share
		for _, p := range m.Pairs[:2] {
			f += " + " + strings.Replace(p.Term, ")", ", fx = TRUE)", 1)
			after := ranked(t, rows(t, x, eta), []string{"eta"}, names(10), f, decompose.Options{}).Predictors[0].Remainder.Share
			got := before - after
			t.Logf("rho=%.1f %s: %.5f was said, %.5f came", c.rho, p.Term, p.Gain, got)
			if ratio := p.Gain / got; ratio < c.low || ratio > c.high {
				t.Errorf("rho=%.1f %s: a gain of %.5f was said, %.5f came", c.rho, p.Term, p.Gain, got)
			}
			before = after
		}
	}
}

// With a linear formula curves of single columns are left, and no pair is to blame.
func TestCurvesAreNoPairs(t *testing.T) {
	x := correlated(3, 4000, 6, 0.9)
	eta := make([]float64, len(x[0]))
	u := uniform(11)
	for i := range eta {
		eta[i] = x[0][i]*x[0][i] + math.Sin(2*x[1][i]) + 0.2*u.normal()
	}
	r := ranked(t, rows(t, x, eta), []string{"eta"}, names(6), "~ x0 + x1 + x2 + x3 + x4 + x5", decompose.Options{})
	m := r.Predictors[0].Remainder
	for _, p := range m.Pairs {
		if p.Gain > 0.05*m.Share {
			t.Errorf("%v is said to take %.4f of %.4f", p.Features, p.Gain, m.Share)
		}
	}
	if m.SingleColumns < 0.8*m.Share {
		t.Errorf("single columns are said to take %.4f of %.4f", m.SingleColumns, m.Share)
	}
}

// What the splines of a formula cannot follow is curves as well. With polynomials of degree
// 6 for single columns 52 of 60 such data sets show pairs.
func TestCurvesThatSplinesMissAreNoPairs(t *testing.T) {
	const sets, n, p = 10, 4000, 10
	shown := 0
	for seed := range uint64(sets) {
		x := correlated(7000+seed, n, p, 0.9)
		u := uniform(9000 + seed)
		eta := make([]float64, n)
		for i := range eta {
			eta[i] = x[0][i] + math.Sin(2*x[1][i]) + 0.5*u.normal()
		}
		r := ranked(t, rows(t, x, eta), []string{"eta"}, names(p), smooths(p), decompose.Options{})
		if m := r.Predictors[0].Remainder; len(m.Pairs) > 0 {
			shown++
			t.Logf("set %d: %v", seed, m.Pairs)
		}
	}
	if shown > 1 {
		t.Errorf("%d of %d data sets without interactions show pairs", shown, sets)
	}
}

// Workers, batches and the order of visitors change nothing.
func TestWorkersAndBatchesChangeNothing(t *testing.T) {
	x, eta := planted(2, 20_000, 10, 0.5, 1, 0.3)
	tab := rows(t, x, eta)
	var want string
	for i, c := range []struct{ workers, batch int }{{1, 0}, {3, 777}, {2, 50}} {
		var src data.Source = tab
		if c.batch > 0 {
			src = rebatched{tab, c.batch}
		}
		r := ranked(t, src, []string{"eta"}, names(10), smooths(10), decompose.Options{Resources: decompose.Resources{Workers: c.workers}})
		got := encoded(t, r.Predictors[0].Remainder)
		if i == 0 {
			want = got
		}
		if got != want {
			t.Errorf("%d workers, batches of %d:\n%s\nwant\n%s", c.workers, c.batch, got, want)
		}
	}
}

// rebatched is rows in batches of another size.
type rebatched struct {
	data.Source
	rows int
}

func (r rebatched) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return data.Rebatch(r.Source.Batches(ctx, columns), r.rows)
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Names of levels, the order of columns and units do not matter: pairs and gains stay.
func TestSpellingDoesNotMatter(t *testing.T) {
	const n = 3000
	x := correlated(5, n, 3, 0.3)
	u := uniform(17)
	level := make([]int, n)
	eta := make([]float64, n)
	for i := range eta {
		level[i] = int(4 * u.next())
		eta[i] = x[0][i] + x[1][i] + []float64{-1, 0.5, 0.2, 1}[level[i]]*x[0][i] + 0.5*x[1][i]*x[2][i] + 0.3*u.normal()
	}
	table := func(order []string, levels []string, unit func(float64) float64) *data.Table {
		tab := data.NewTable(n)
		for _, name := range order {
			switch name {
			case "g":
				text := make([]string, n)
				for i, l := range level {
					text[i] = levels[l]
				}
				must(t, tab.AddTexts("g", text))
			case "eta":
				must(t, tab.AddNumeric("eta", eta))
			default:
				v := slices.Clone(x[name[1]-'0'])
				for i := range v {
					v[i] = unit(v[i])
				}
				must(t, tab.AddNumeric(name, v))
			}
		}
		return tab
	}
	same := func(v float64) float64 { return v }
	feet := func(v float64) float64 { return 3.2808*v + 100 }
	gains := func(tab *data.Table, among []string) map[string]float64 {
		r := ranked(t, tab, []string{"eta"}, among, `~ g + s(x0, bs="cr", k=7, fx=TRUE) + s(x1, bs="cr", k=7, fx=TRUE) + s(x2, bs="cr", k=7, fx=TRUE)`, decompose.Options{})
		out := map[string]float64{}
		for _, p := range r.Predictors[0].Remainder.Pairs {
			slices.Sort(p.Features)
			out[strings.Join(p.Features, ":")] = p.Gain
		}
		return out
	}
	want := gains(table([]string{"x0", "x1", "x2", "g", "eta"}, []string{"a", "b", "c", "d"}, same), []string{"x0", "x1", "x2", "g"})
	if len(want) != 2 || want["g:x0"] < 0.1 || want["x1:x2"] < 0.04 {
		t.Fatalf("%v", want)
	}
	for what, got := range map[string]map[string]float64{
		"levels": gains(table([]string{"x0", "x1", "x2", "g", "eta"}, []string{"d", "c", "a", "b"}, same), []string{"x0", "x1", "x2", "g"}),
		"order":  gains(table([]string{"eta", "g", "x2", "x1", "x0"}, []string{"a", "b", "c", "d"}, same), []string{"g", "x2", "x1", "x0"}),
		"units":  gains(table([]string{"x0", "x1", "x2", "g", "eta"}, []string{"a", "b", "c", "d"}, feet), []string{"x0", "x1", "x2", "g"}),
	} {
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
		for name, gain := range want {
			// Another order of columns rounds sums otherwise, another unit values.
			if math.Abs(got[name]-gain) > 1e-9 {
				t.Errorf("%s: %s takes %v, want %v", what, name, got[name], gain)
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A weight of 3 is three rows; rows of weight 0 are not there.
func TestWeights(t *testing.T) {
	x, eta := planted(4, 3000, 10, 0, 1, 0.3)
	w := make([]float64, len(eta))
	var thrice [][]float64
	for range x {
		thrice = append(thrice, nil)
	}
	var thriceEta []float64
	for i := range w {
		w[i] = float64(i % 3)
		if i%3 == 0 {
			eta[i] = 1e6 // where it would be seen
		}
		for range i % 3 {
			for j := range x {
				thrice[j] = append(thrice[j], x[j][i])
			}
			thriceEta = append(thriceEta, eta[i])
		}
	}
	tab := rows(t, x, eta)
	must(t, tab.AddNumeric("w", w))
	a := ranked(t, tab, []string{"eta"}, names(10), smooths(10), decompose.Options{Columns: decompose.Columns{Weights: "w"}}).Predictors[0].Remainder
	b := ranked(t, rows(t, thrice, thriceEta), []string{"eta"}, names(10), smooths(10), decompose.Options{}).Predictors[0].Remainder
	if len(a.Pairs) < 2 || len(b.Pairs) < 2 {
		t.Fatalf("%v and %v", a.Pairs, b.Pairs)
	}
	for i := range 2 {
		// Not the same: repeated rows count as rows of their own to what chance would give.
		if !slices.Equal(a.Pairs[i].Features, b.Pairs[i].Features) || math.Abs(a.Pairs[i].Gain-b.Pairs[i].Gain) > 0.1*b.Pairs[i].Gain {
			t.Errorf("%v with weights, %v with repeated rows", a.Pairs[i], b.Pairs[i])
		}
	}
	for _, row := range a.Rows {
		if row.Row%3 == 1 {
			t.Errorf("row %d has weight 0", row.Row)
		}
	}
}

// Each predictor has a remainder of its own.
func TestSeveralPredictors(t *testing.T) {
	x := correlated(9, 3000, 4, 0.2)
	etas := make([][]float64, 3)
	for k := range etas {
		etas[k] = make([]float64, len(x[0]))
	}
	u := uniform(3)
	for i := range etas[0] {
		etas[0][i] = x[0][i]*x[1][i] + 0.1*u.normal()
		etas[1][i] = x[2][i]*x[3][i] + 0.1*u.normal()
		etas[2][i] = 2 * x[0][i]
	}
	r := ranked(t, rows(t, x, etas...), []string{"eta", "eta1", "eta2"}, names(4), smooths(4), decompose.Options{})
	for k, want := range []string{"ti(x0, x1)", "ti(x2, x3)", ""} {
		m := r.Predictors[k].Remainder
		switch {
		case want == "":
			if len(m.Pairs) != 0 || m.Share > 1e-12 {
				t.Errorf("predictor %d: %v of %g", k, m.Pairs, m.Share)
			}
		case len(m.Pairs) != 1 || m.Pairs[0].Term != want:
			t.Errorf("predictor %d: %v, want %s", k, m.Pairs, want)
		}
	}
}

// gap stands for a missing value in the column gaps of a table, which has none.
const gap = -99

// gapped is a table with missing values in the column gaps.
type gapped struct{ *data.Table }

func (g gapped) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		for b, err := range g.Table.Batches(ctx, columns) {
			if err == nil && slices.Contains(columns, "gaps") {
				var v []float64
				if v, err = b.Numeric("gaps"); err == nil {
					v = slices.Clone(v)
					for i := range v {
						if v[i] == gap {
							v[i] = math.NaN()
						}
					}
					b = b.Slice(0, b.Rows())
					err = b.SetNumeric("gaps", v)
				}
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// odd is a table of shapes that people bring.
func odd(t *testing.T, n int) *data.Table {
	x := correlated(21, n, 2, 0)
	u := uniform(99)
	tab := data.NewTable(n)
	many, gaps, constant, eta, one, spike := make([]int, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	levels := make([]string, n)
	for i := range n {
		many[i] = int(200 * u.next() * u.next())
		levels[i] = fmt.Sprintf("l%d", many[i])
		gaps[i] = u.normal()
		eta[i] = x[0][i]*x[1][i] + float64(many[i]%3)*x[0][i] + 0.2*u.normal()
		if u.next() < 0.2 {
			gaps[i] = gap
			eta[i] += 1
		}
		constant[i] = 7
		one[i] = float64(i % 2)
		if i == n/2 {
			spike[i] = 1
		}
	}
	must(t, tab.AddNumeric("x0", x[0]))
	must(t, tab.AddNumeric("x1", x[1]))
	must(t, tab.AddTexts("many", levels))
	must(t, tab.AddNumeric("gaps", gaps))
	must(t, tab.AddNumeric("constant", constant))
	must(t, tab.AddNumeric("one", one))
	must(t, tab.AddNumeric("eta", eta))
	must(t, tab.AddNumeric("spike", spike))
	must(t, tab.AddNumeric("constant_eta", constant))
	for j := range 40 {
		hot := make([]float64, n)
		for i := range hot {
			if many[i]%40 == j {
				hot[i] = 1
			}
		}
		must(t, tab.AddNumeric(fmt.Sprintf("h%d", j), hot))
	}
	return tab
}

func TestOddShapes(t *testing.T) {
	hot := []string{"x0", "x1"}
	for j := range 40 {
		hot = append(hot, fmt.Sprintf("h%d", j))
	}
	for _, c := range []struct {
		name, eta, formula string
		among              []string
		n                  int
		first              string // the first term; "-": none
		unasked            string
	}{
		{"factor of 200 levels, constants, missing values", "eta", "~ x0 + x1", []string{"x0", "x1", "many", "gaps", "constant", "one"}, 3000, "ti(x0, x1)", ""},
		{"40 one-hot columns", "eta", "~ x0 + x1", hot, 3000, "ti(x0, x1)", ""},
		{"all in one row", "spike", "~ x0 + x1", []string{"x0", "x1", "many"}, 500, "-", ""},
		{"one column", "eta", "~ x0", []string{"x0"}, 300, "-", "no two columns"},
		{"no column", "eta", "~ x0", nil, 300, "-", "no two columns"},
		{"constant columns", "eta", "~ x0", []string{"constant", "constant_eta"}, 300, "-", "no two columns"},
		{"constant predictor", "constant_eta", "~ x0 + x1", []string{"x0", "x1"}, 300, "-", ""},
		{"no remainder", "x0", "~ x0 + x1", []string{"x0", "x1", "one"}, 300, "-", ""},
		{"hardly any rows", "eta", "~ x0", []string{"x0", "x1", "one"}, 6, "-", ""},
		{"more columns than rows", "eta", `~ many + s(x0, bs="cr", k=20, fx=TRUE)`, []string{"x0", "x1", "many"}, 60, "-", ""},
		{"nearly as many columns as rows", "eta", `~ s(x0, bs="cr", k=20, fx=TRUE) + s(x1, bs="cr", k=20, fx=TRUE)`, []string{"x0", "x1", "many"}, 42, "-", "degrees of freedom"},
		{"two rows", "eta", "~ 1", []string{"x0", "x1"}, 2, "-", ""},
	} {
		r, err := rankedErr(gapped{odd(t, c.n)}, []string{c.eta}, c.among, c.formula, decompose.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		m := r.Predictors[0].Remainder
		raw := encoded(t, m) // no NaN, no infinity
		t.Logf("%s: %s", c.name, raw[:min(len(raw), 400)])
		got := "-"
		if len(m.Pairs) > 0 {
			got = m.Pairs[0].Term
		}
		if got != c.first {
			t.Errorf("%s: the first term is %s, want %s", c.name, got, c.first)
		}
		if c.unasked == "" && m.Unasked != "" || !strings.Contains(m.Unasked, c.unasked) {
			t.Errorf("%s: %q, want %q", c.name, m.Unasked, c.unasked)
		}
		if c.name == "all in one row" && (m.Rows[0].Row != int64(c.n/2+1) || m.Rows[0].Share < 0.9 || len(m.Regions) > 0) {
			t.Errorf("rows %v, regions %v", m.Rows[:1], m.Regions)
		}
	}
}

// Very many columns: some are looked at, and it is said.
func TestManyColumns(t *testing.T) {
	const p = 300
	x := correlated(31, 600, p, 0)
	eta := make([]float64, 600)
	for i := range eta {
		eta[i] = x[0][i] + 3*x[298][i] + 3*x[299][i] + x[298][i]*x[299][i]
	}
	r := ranked(t, rows(t, x, eta), []string{"eta"}, names(p), "~ x0 + x298 + x299", decompose.Options{})
	m := r.Predictors[0].Remainder
	if !strings.Contains(m.Unasked, "of 300 columns") || len(m.Pairs) == 0 || m.Pairs[0].Term != "ti(x298, x299)" {
		t.Errorf("%q, %v", m.Unasked, m.Pairs)
	}
}

// Samples of shards merge to that of all rows, in any order.
func TestSamplesMerge(t *testing.T) {
	x := correlated(1, 9000, 3, 0)
	tab := rows(t, x)
	sample := func(parts ...[2]int) *Sample {
		var total *Sample
		for _, part := range parts {
			s := NewSample(names(3), "")
			scan := s.Scanner()
			for b, err := range tab.Batches(t.Context(), names(3)) {
				must(t, err)
				lo, hi := max(int64(part[0]), b.Row(0)), min(int64(part[1]), b.Row(0)+int64(b.Rows()))
				if lo < hi {
					must(t, scan.Scan(b.Slice(int(lo-b.Row(0)), int(hi-b.Row(0)))))
				}
			}
			_, err := scan.Build()
			must(t, err)
			if total == nil {
				total = s
			} else {
				must(t, total.Merge(s))
			}
		}
		return total
	}
	want := sample([2]int{0, 9000})
	if len(want.kept) != sampleRows {
		t.Fatalf("%d rows are kept", len(want.kept))
	}
	got := sample([2]int{5000, 9000}, [2]int{0, 1234}, [2]int{1234, 5000})
	if fmt.Sprint(got.kept) != fmt.Sprint(want.kept) {
		t.Error("shards give another sample")
	}
}

// A mean that is left, and curves, are no noise: pairs are found beside them.
func TestCurvesAreNoNoise(t *testing.T) {
	x := correlated(13, 2500, 5, 0.3)
	eta := make([]float64, len(x[0]))
	u := uniform(12)
	for i := range eta {
		eta[i] = 5 + 2*x[0][i]*x[0][i] + math.Sin(3*x[1][i]) + 0.25*x[2][i]*x[3][i] + 0.3*u.normal()
	}
	r := ranked(t, rows(t, x, eta), []string{"eta"}, names(5), "~ x0 + x1 - 1", decompose.Options{Projection: decompose.Projection{WithoutIntercept: []string{"eta"}}})
	if m := r.Predictors[0].Remainder; len(m.Pairs) == 0 || m.Pairs[0].Term != "ti(x2, x3)" {
		t.Errorf("%v", m.Pairs)
	}
}
