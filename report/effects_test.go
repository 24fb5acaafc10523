package report_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

func effectsOf(t testing.TB, r *decompose.Result, a *decompose.Applier) []report.Effect {
	t.Helper()
	e, err := report.Effects(context.Background(), r, a)
	must(t, err)
	return e
}

func find(t testing.TB, effects []report.Effect, term string) *report.Effect {
	t.Helper()
	for i := range effects {
		if effects[i].Term == term {
			return &effects[i]
		}
	}
	t.Fatalf("no effect of %q", term)
	return nil
}

func termNamed(t testing.TB, r *decompose.Result, name string) *decompose.TermResult {
	t.Helper()
	for j := range r.Predictors[0].Terms {
		if r.Predictors[0].Terms[j].Name == name {
			return &r.Predictors[0].Terms[j]
		}
	}
	t.Fatalf("no term %q", name)
	return nil
}

func TestEffectsGrids(t *testing.T) {
	r, a := everything(t)
	effects := effectsOf(t, r, a)
	if len(effects) != len(r.Predictors[0].Terms)+1 {
		t.Fatalf("%d effects of %d terms", len(effects), len(r.Predictors[0].Terms))
	}
	for _, c := range []struct {
		term, held string
		n, n2      int
		levels     string
	}{
		{"x0", "", 101, 0, ""},
		{"s(x0)", "", 101, 0, ""},
		{"f(x1)", "", 101, 0, ""},
		{"f(x2,x3)", "", 41, 41, ""},
		{"dow", "", 7, 0, "0 1 2 3 4 5 6"},
		{"group", "", 3, 0, "east north south"},
		{"s(x3):groupnorth", "group = north", 101, 0, ""},
		{"s(x2):x1", "x1 = 1", 101, 0, ""},
	} {
		e := find(t, effects, c.term)
		if e.Note != "" {
			t.Errorf("%s: %s", c.term, e.Note)
			continue
		}
		n2 := 0
		if e.X2 != nil {
			n2 = e.X2.Len()
		}
		if e.X.Len() != c.n || n2 != c.n2 || e.Held != c.held || strings.Join(e.X.Levels, " ") != c.levels {
			t.Errorf("%s: %d x %d points, held %q, levels %q", c.term, e.X.Len(), n2, e.Held, e.X.Levels)
		}
		if want := c.n * max(c.n2, 1); len(e.Before) != want || len(e.After) != want || len(e.SE) != want {
			t.Errorf("%s: %d, %d and %d values for %d points", c.term, len(e.Before), len(e.After), len(e.SE), want)
		}
		for _, f := range r.Features {
			if s := r.SupportOf(termNamed(t, r, c.term)); s != nil && s.Level != "" && len(s.Sides) == 1 {
				f.Min, f.Max = s.Sides[0].Min, s.Sides[0].Max
			}
			if f.Name == e.X.Feature && f.Levels == nil && (e.X.Values[0] != f.Min || e.X.Values[len(e.X.Values)-1] != f.Max) {
				t.Errorf("%s: grid from %g to %g, the feature from %g to %g", c.term, e.X.Values[0], e.X.Values[len(e.X.Values)-1], f.Min, f.Max)
			}
		}
	}
	// A linear term's curve is its coefficient times the distance to the mean.
	x0, d := find(t, effects, "x0"), r.Predictors[0]
	for i, v := range x0.X.Values {
		if want := 0.7*v - d.Terms[0].Before.Mean; math.Abs(x0.Before[i]-want) > 1e-12 {
			t.Fatalf("x0 before at %g: %g, want %g", v, x0.Before[i], want)
		}
		if !math.IsNaN(x0.SE[i]) {
			t.Fatal("a standard error for a term that is not identified")
		}
	}
}

// TestSums: terms that are identified together only have their sum, with a band.
func TestSums(t *testing.T) {
	r, a := everything(t)
	effects := effectsOf(t, r, a)
	sum, x0, s0 := find(t, effects, "x0 + s(x0)"), find(t, effects, "x0"), find(t, effects, "s(x0)")
	if !slices.Equal(sum.Sum, []string{"x0", "s(x0)"}) || x0.Sum != nil {
		t.Errorf("sums of %q and %q", sum.Sum, x0.Sum)
	}
	for i := range sum.After {
		if math.Abs(sum.After[i]-x0.After[i]-s0.After[i]) > 1e-9 || math.Abs(sum.Before[i]-x0.Before[i]-s0.Before[i]) > 1e-9 {
			t.Fatalf("point %d: %g is not %g + %g", i, sum.After[i], x0.After[i], s0.After[i])
		}
		if !(sum.SE[i] > 0 && sum.SE[i] < 10 && sum.Sim[i] > 0) { // the ends rest on single rows
			t.Fatalf("point %d: standard error %g", i, sum.SE[i])
		}
	}
	if rows := table(t, []report.Effect{*sum}); len(rows) != 1+2*len(sum.After) || rows[1][1] != "x0 + s(x0)" {
		t.Errorf("effects.csv has %d rows of the sum, the first %q", len(rows)-1, rows[1])
	}
}

// TestEffectsAreContributions: at a data row's own features, a term's grid value
// is what the row's contribution is.
func TestEffectsAreContributions(t *testing.T) {
	r, a := everything(t)
	effects := effectsOf(t, r, a)
	check := func(term, x, x2 string, x0, x1, x2v, x3, dow float64, group string) {
		t.Helper()
		b := data.NewTable(1)
		for name, v := range map[string]float64{"x0": x0, "x1": x1, "x2": x2v, "x3": x3} {
			must(t, b.AddNumeric(name, []float64{v}))
		}
		must(t, b.AddFactor("dow", []float64{dow}))
		must(t, b.AddTexts("group", []string{group}))
		var contribution float64
		for p, err := range a.All(context.Background(), b) {
			must(t, err)
			for j, tr := range r.Predictors[0].Terms {
				if tr.Name == term {
					contribution = p.Predictors[0].Terms.At(0, j)
				}
			}
		}
		if v := find(t, effects, term).After[point(t, find(t, effects, term), x, x2)]; math.Abs(v-contribution) > 1e-9 {
			t.Errorf("%s at %s %s: %g on the grid, %g in the data", term, x, x2, v, contribution)
		}
	}
	x3 := find(t, effects, "s(x3):groupnorth").X.Values[30]
	check("s(x3):groupnorth", format(x3), "", 1, 2, 3, x3, 4, "north")
	check("dow", "5", "", 1, 2, 3, 0, 5, "south")
	check("group", "south", "", 1, 2, 3, 0, 5, "south")
	x2 := find(t, effects, "s(x2):x1").X.Values[77]
	check("s(x2):x1", format(x2), "", 1, 1, x2, 0, 5, "south")
	pair := find(t, effects, "f(x2,x3)")
	check("f(x2,x3)", format(pair.X.Values[3]), format(pair.X2.Values[29]), 1, 1, pair.X.Values[3], pair.X2.Values[29], 5, "south")
}

func format(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// point finds the grid point in the CSV's own words.
func point(t testing.TB, e *report.Effect, x, x2 string) int {
	t.Helper()
	at := 0
	for _, row := range table(t, []report.Effect{*e})[1:] {
		if row[2] != "after" {
			continue
		}
		if row[3] == x && row[4] == x2 {
			return at
		}
		at++
	}
	t.Fatalf("%s has no point %s %s", e.Term, x, x2)
	return 0
}

func table(t testing.TB, effects []report.Effect) [][]string {
	t.Helper()
	var b bytes.Buffer
	must(t, report.WriteEffects(&b, effects))
	rows, err := csv.NewReader(&b).ReadAll()
	must(t, err)
	return rows
}

func TestWriteEffects(t *testing.T) {
	r, a := everything(t, "mu", "sigma")
	rows := table(t, effectsOf(t, r, a))
	if got := strings.Join(rows[0], ","); got != "predictor,term,stage,x,x2,value,se,lower,upper,lower_sim,upper_sim" {
		t.Fatalf("header %s", got)
	}
	seen := map[string]int{}
	for _, row := range rows[1:] {
		seen[row[0]+" "+row[1]+" "+row[2]]++
		if row[2] == "before" && strings.Join(row[6:], "") != "" {
			t.Fatalf("a band before: %q", row)
		}
		if row[1] == "f(x1)" && row[2] == "after" {
			v, se, lo, hi := parse(t, row[5]), parse(t, row[6]), parse(t, row[7]), parse(t, row[8])
			if !(se > 0) || math.Abs(lo-(v-1.96*se)) > 1e-12 || math.Abs(hi-(v+1.96*se)) > 1e-12 {
				t.Fatalf("band %q", row)
			}
			if below, above := parse(t, row[9]), parse(t, row[10]); !(below < lo && above > hi) || math.Abs(below+above-2*v) > 1e-9 {
				t.Fatalf("the band of the whole curve is not round the pointwise one: %q", row)
			}
		}
		if row[1] == "x0" && row[2] == "after" && row[6] != "" {
			t.Fatalf("a standard error where the split is not identified: %q", row)
		}
	}
	for key, want := range map[string]int{"mu dow before": 7, "sigma dow after": 7, "mu f(x2,x3) after": 41 * 41, "sigma x0 before": 101} {
		if seen[key] != want {
			t.Errorf("%s: %d rows, want %d", key, seen[key], want)
		}
	}
}

func parse(t testing.TB, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	must(t, err)
	return v
}

// TestEffectsOfTheArtifact: what Read gives is enough, and the bands are the same.
func TestEffectsOfTheArtifact(t *testing.T) {
	src := rows(t, 2000)
	m := structured(t, &network{heads: []string{"eta"}}, src, `~ s(x0, bs="cr") + dow`)
	r, a := decomposed(t, m, src, nil)
	var moments, doc bytes.Buffer
	must(t, r.EncodeMoments(&moments))
	must(t, r.Encode(&doc))
	again, err := decompose.Read(&doc, &moments, basis.Decode)
	must(t, err)
	b, err := again.Applier(m)
	must(t, err)
	var first, second bytes.Buffer
	must(t, report.Write(&first, r, effectsOf(t, r, a)))
	must(t, report.Write(&second, again, effectsOf(t, again, b)))
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the report of the artifact differs from that of the result")
	}
	if one, two := fmt.Sprint(table(t, effectsOf(t, r, a))), fmt.Sprint(table(t, effectsOf(t, again, b))); one != two {
		t.Error("the effects of the artifact differ from those of the result")
	}
}

// TestEffectsOfAnyWorkers: effects are the same whatever number of goroutines makes them, and no
// more than the applier takes do so at once.
func TestEffectsOfAnyWorkers(t *testing.T) {
	r, a := everything(t)
	want := table(t, effectsOf(t, r, a.WithWorkers(1)))
	for _, workers := range []int{2, 5, 1_000_000} {
		if got := table(t, effectsOf(t, r, a.WithWorkers(workers))); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d workers make other effects", workers)
		}
	}
	src := rows(t, 500)
	at := &meeting{}
	m := with(&network{heads: []string{"eta"}}, crowded{1, at}, crowded{2, at}, crowded{3, at}, crowded{4, at})
	r, a = decomposed(t, m, src, nil)
	for workers := 1; workers <= 3; workers++ {
		at.most, at.least, at.patience = 0, min(workers, 2), 1000
		effectsOf(t, r, a.WithWorkers(workers))
		if at.most > workers || at.most < at.least {
			t.Errorf("%d goroutines at once, of %d workers", at.most, workers)
		}
	}
}

// meeting counts who is there at once. Whoever comes stays until there have been least, since
// a busy machine may send them late, while all together have patience.
type meeting struct {
	sync.Mutex
	now, most, least int
	patience         int // in steps of 5 ms
}

func (m *meeting) attend() {
	m.Lock()
	defer m.Unlock()
	m.now++
	m.most = max(m.most, m.now)
	for first := true; first || m.most < m.least && m.patience > 0; first = false {
		m.patience--
		m.Unlock()
		time.Sleep(5 * time.Millisecond)
		m.Lock()
	}
	m.now--
}

// crowded is a power of x0 that attends a meeting when it is evaluated.
type crowded struct {
	power int
	at    *meeting
}

func (c crowded) Name() string       { return fmt.Sprintf("x0^%d", c.power) }
func (crowded) Kind() decompose.Kind { return decompose.Linear }
func (crowded) Columns() []string    { return []string{"x0"} }
func (crowded) Dim() int             { return 1 }
func (c crowded) Eval(dst *mat.Dense, b *data.Batch) error {
	c.at.attend()
	x, err := b.Numeric("x0")
	for i := range x {
		dst.Set(i, 0, math.Pow(x[i], float64(c.power)))
	}
	return err
}

func TestEffectsWithoutGrid(t *testing.T) {
	src := rows(t, 500)
	m := with(&network{heads: []string{"eta"}}, triple{})
	r, a := decomposed(t, m, src, nil)
	e := find(t, effectsOf(t, r, a), "x0:x1:x2")
	if e.Note != "a function of 3 features (x0, x1, x2) has no curve to draw" || e.After != nil {
		t.Errorf("note %q", e.Note)
	}
	if rows := table(t, []report.Effect{*e}); len(rows) != 1 {
		t.Errorf("%d lines for a term without a grid", len(rows))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := report.Effects(ctx, r, a); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestSurfaceOfFactor: of a column of numbers that is a factor besides, a surface has the factor's levels, between which
// its margin has no value.
func TestSurfaceOfFactor(t *testing.T) {
	src := rows(t, 500)
	whole := make([]float64, 500)
	for i := range whole {
		whole[i] = float64(i % 4)
	}
	must(t, src.AddNumeric("whole", whole))
	r, a := decomposed(t, structured(t, &network{heads: []string{"eta"}}, src, "~ factor(whole) + s(x0, k=5) + te(x0, whole, k=3)"), src, nil)
	e := find(t, effectsOf(t, r, a), "te(x0,whole)")
	if e.Note != "" {
		t.Fatal(e.Note)
	}
	if want := []string{"0", "1", "2", "3"}; !slices.Equal(e.X2.Levels, want) || len(e.After) != len(want)*e.X.Len() {
		t.Errorf("%d points, levels %q", len(e.After), e.X2.Levels)
	}
}

func TestWriteErrors(t *testing.T) {
	r, a := everything(t)
	effects := effectsOf(t, r, a)
	if err := report.WriteEffects(full{}, effects); err == nil || err.Error() != "report: writing effects: disk full" {
		t.Errorf("effects: %v", err)
	}
	if err := report.Write(full{}, r, effects); err == nil || err.Error() != "report: writing the page: disk full" {
		t.Errorf("page: %v", err)
	}
	c := report.NewContributions(full{}, nil)
	must(t, c.Begin(r))
	if err := c.End(r); err == nil || err.Error() != "report: writing contributions: disk full" {
		t.Errorf("contributions: %v", err)
	}
	if err := c.Reduce("x"); err == nil || err.Error() != "report: Reduce takes what Map returned, not string" {
		t.Errorf("contributions: %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestContributions(t *testing.T) {
	for _, heads := range [][]string{{"eta"}, {"mu", "sigma"}} {
		src := rows(t, 9000)
		m := structured(t, &network{heads: heads}, src, `~ s(x0, bs="cr") + dow`)
		var out, again bytes.Buffer
		_, a := decomposed(t, m, src, &decompose.Options{Resources: decompose.Resources{Workers: 3}}, report.NewContributions(&out, nil))
		lines, err := csv.NewReader(bytes.NewReader(out.Bytes())).ReadAll()
		must(t, err)
		var want []string
		for _, h := range heads {
			if len(heads) > 1 {
				h += "."
			} else {
				h = ""
			}
			for _, c := range []string{"intercept", "x0", "f(x1)", "f(x2,x3)", "s(x0)", "dow", "unstructured", "eta"} {
				want = append(want, h+c)
			}
		}
		if !slices.Equal(lines[0], want) {
			t.Fatalf("header %q", lines[0])
		}
		if len(lines) != 9001 {
			t.Fatalf("%d lines", len(lines))
		}
		at := 1
		for p, err := range a.All(context.Background(), src) {
			must(t, err)
			for i := range p.Batch.Rows() {
				for k := range heads {
					cells := lines[at][8*k : 8*k+8]
					var sum float64
					for _, c := range cells[:7] {
						sum += parse(t, c)
					}
					eta := parse(t, cells[7])
					if eta != p.Predictors[k].Eta[i] {
						t.Fatalf("row %d: eta %g, the network's is %g", at, eta, p.Predictors[k].Eta[i])
					}
					if math.Abs(sum-eta) > 1e-11 {
						t.Fatalf("row %d: the parts add up to %g, eta is %g", at, sum, eta)
					}
				}
				at++
			}
		}
		must(t, report.NewContributions(&again, nil).Apply(context.Background(), a, src))
		if !bytes.Equal(out.Bytes(), again.Bytes()) {
			t.Error("apply to the training rows gives other contributions than decompose")
		}
	}
}

// TestContributionsGaps: rows that the source leaves out are lines of empty cells.
func TestContributionsGaps(t *testing.T) {
	text := "x0,x1,x2,x3,dow\n"
	missing := map[int]bool{1: true, 5: true, 6: true, 5000: true, 9998: true, 9999: true, 10000: true}
	for i := 1; i <= 10000; i++ {
		x0 := strconv.Itoa(i % 17)
		if missing[i] {
			x0 = ""
		}
		text += fmt.Sprintf("%s,%d,%d,%d,%d\n", x0, i%5, i%7, i%11, i%7)
	}
	src, err := data.OpenCSV([]string{"-"}, &data.CSVOptions{NA: data.NADrop, Stdin: strings.NewReader(text)})
	must(t, err)
	defer src.Close()
	total := func() int64 { n, _ := src.Rows(); return n }
	var out, again bytes.Buffer
	_, a := decomposed(t, &network{heads: []string{"eta"}}, src, nil, report.NewContributions(&out, total))
	lines, err := csv.NewReader(bytes.NewReader(out.Bytes())).ReadAll()
	must(t, err)
	if len(lines) != 10001 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, line := range lines[1:] {
		if empty := strings.Join(line, "") == ""; empty != missing[i+1] {
			t.Errorf("data row %d: %q", i+1, line)
		}
	}
	must(t, report.NewContributions(&again, total).Apply(context.Background(), a, src))
	if !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Error("apply gives other lines")
	}
}
