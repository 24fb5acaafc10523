package decompose_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// formulasGolden is testdata/golden/formulas.json.gz (README.md there).
type formulasGolden struct {
	Provenance struct{ R, Mgcv, Script string }
	Data       map[string]map[string]json.RawMessage
	At         map[string][]int
	Formulas   []formulaGolden
	Cases      []*formulaCase
}

type formulaGolden struct {
	Name, Formula, Weights string
	Select                 bool
}

type formulaCase struct {
	Name, Method      string
	Rows              int
	Score, Scale, EDF float64
	ChosenScore       float64 `json:"chosen_score"`
	Lost              bool    // the score that mgcv chose by is not that of the penalised fit
	Terms             []struct {
		Name       string
		Columns    int
		EDF        float64
		Values, SE []float64
		SP         []float64  // of the values
		ChosenSP   []float64  `json:"chosen_sp"`
		Curvature  []*float64 // of the score in log sp; nil: given
	}
}

// exceptions are the formulas of which mgcv's numbers depend on its own rounding, and
// how far that goes: docs/mgcv.md has the reasons.
var exceptions = map[string]struct{ at, chosen float64 }{
	"cs": {at: 2e-3, chosen: 2e-3},
	"fs": {at: 0.2, chosen: 1e-2},
}

var updateDocs = flag.Bool("update-docs", false, "write the tables of TestFormulas: testdata/golden/formulas.md, docs/mgcv.md")

func readFormulas(t *testing.T) *formulasGolden {
	t.Helper()
	file, err := os.Open("../testdata/golden/formulas.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	g := new(formulasGolden)
	if err := json.NewDecoder(text).Decode(g); err != nil {
		t.Fatal(err)
	}
	return g
}

// table is the data of the given number of rows, or only the listed ones of them.
func (g *formulasGolden) table(t *testing.T, rows int, at []int) *data.Table {
	t.Helper()
	if at == nil {
		for i := range rows {
			at = append(at, i)
		}
	}
	tab := data.NewTable(len(at))
	for name, raw := range g.Data[fmt.Sprint(rows)] {
		var numbers []float64
		var texts []string
		err := json.Unmarshal(raw, &numbers)
		if err == nil {
			err = tab.AddNumeric(name, picked(numbers, at))
		} else if err = json.Unmarshal(raw, &texts); err == nil {
			err = tab.AddTexts(name, picked(texts, at))
		}
		if err != nil {
			t.Fatal(name, err)
		}
	}
	return tab
}

func picked[T any](v []T, at []int) []T {
	out := make([]T, len(at))
	for l, i := range at {
		out[l] = v[i]
	}
	return out
}

// formulaFit is a formula on its rows: what its three cases share.
type formulaFit struct {
	formulaGolden
	model decompose.Model
	sums  *decompose.Statistics
	at    *data.Batch // the rows of the values
}

func (f *formulaFit) prepare(t *testing.T, g *formulasGolden, rows int) {
	t.Helper()
	ctx := context.Background()
	tab := g.table(t, rows, nil)
	at := g.At[fmt.Sprint(rows)]
	f.at = all(t, g.table(t, rows, at), len(at))
	parsed, err := basis.Parse(f.Formula, &basis.Options{Schema: tab.Schema(), Select: f.Select})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(ctx, tab, parsed.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.model, err = decompose.With(&responses{[]string{"eta"}, []string{"y"}}, map[string][]decompose.Block{"": blocks}); err != nil {
		t.Fatal(err)
	}
	if f.sums, err = decompose.Accumulate(ctx, f.model, tab, &decompose.Options{Columns: decompose.Columns{Weights: f.Weights}}); err != nil {
		t.Fatal(err)
	}
}

func (f *formulaFit) solve(t *testing.T, c *formulaCase, sp map[string][]float64) *decompose.Result {
	t.Helper()
	method, err := penalty.ParseCriterion(c.Method)
	if err != nil {
		t.Fatal(err)
	}
	r, err := decompose.Solve(t.Context(), f.model, f.sums, &decompose.Options{
		Projection: decompose.Projection{Method: decompose.PHOGAM, Terms: decompose.Fitted},
		Columns:    decompose.Columns{Weights: f.Weights},
		Smoothing:  decompose.Smoothing{SP: sp, Selection: penalty.Options{Criterion: method, WithoutVc: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// deviation is how far a case is from mgcv, each relative to the largest value.
type deviation struct {
	score, edf, values, se float64 // at mgcv's smoothing parameters
	chosen                 float64 // our score at our choice minus mgcv's at its own, over its size
	logLambda              float64 // largest |log lambda - log sp| where the score is not flat; -1: it is flat for all
	steps                  int
}

// compare fits a case at mgcv's smoothing parameters and freely.
func (f *formulaFit) compare(t *testing.T, c *formulaCase) deviation {
	t.Helper()
	sp := map[string][]float64{}
	for _, term := range c.Terms {
		if len(term.SP) > 0 {
			sp[term.Name] = term.SP
		}
	}
	r := f.solve(t, c, sp)
	a := mustApplier(t, r, f.model)
	p := &r.Predictors[0]
	if len(p.Terms) != len(c.Terms) {
		t.Fatalf("%d terms, mgcv has %d", len(p.Terms), len(c.Terms))
	}
	size := 0.0 // of the predictor's terms
	for _, want := range c.Terms {
		for _, v := range want.Values {
			size = math.Max(size, math.Abs(v))
		}
	}
	d := deviation{score: math.Abs(*p.Score/c.Score - 1), edf: math.Abs(p.EDF/c.EDF - 1), logLambda: -1}
	for _, want := range c.Terms {
		j := slices.IndexFunc(p.Terms, func(t decompose.TermResult) bool { return t.Name == want.Name })
		if j < 0 {
			t.Fatalf("no term %q", want.Name)
		}
		if p.Terms[j].Columns != want.Columns {
			t.Errorf("%s: %d columns, mgcv has %d", want.Name, p.Terms[j].Columns, want.Columns)
		}
		d.edf = math.Max(d.edf, math.Abs(p.Terms[j].EDF-want.EDF)/c.EDF)
		e, err := a.Effect(context.Background(), 0, j, f.at)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Values {
			d.values = math.Max(d.values, math.Abs(e.After[i]-want.Values[i])/size)
		}
		d.se = math.Max(d.se, relative(e.SE, want.SE))
	}

	p = &f.solve(t, c, nil).Predictors[0]
	d.chosen, d.steps = (*p.Score-c.ChosenScore)/math.Abs(c.ChosenScore), p.Iterations
	if p.Status != "converged" && p.Status != "converged at a bound" {
		t.Error(p.Status)
	}
	for _, want := range c.Terms {
		j := slices.IndexFunc(p.Terms, func(t decompose.TermResult) bool { return t.Name == want.Name })
		for i, curvature := range want.Curvature {
			if curvature != nil && *curvature > 0.1 {
				d.logLambda = math.Max(d.logLambda, math.Abs(math.Log(p.Terms[j].SP[i]/want.ChosenSP[i])))
			}
		}
	}
	return d
}

// TestFormulas compares every kind of term with mgcv on 200 and 2000 rows by REML, ML
// and GCV: at mgcv's smoothing parameters, and where both choose.
func TestFormulas(t *testing.T) {
	const tolerance = 1e-7
	g := readFormulas(t)
	if len(g.Formulas) < 25 || len(g.Cases) != 6*len(g.Formulas) {
		t.Fatalf("%d formulas, %d cases", len(g.Formulas), len(g.Cases))
	}
	var lock sync.Mutex
	found := map[*formulaCase]deviation{}
	t.Run("cases", func(t *testing.T) {
		for i, formula := range g.Formulas {
			if testing.Short() && i%3 != 0 {
				continue
			}
			for _, rows := range []int{200, 2000} {
				t.Run(fmt.Sprintf("%s_%d", formula.Name, rows), func(t *testing.T) {
					t.Parallel()
					f := &formulaFit{formulaGolden: formula}
					f.prepare(t, g, rows)
					for _, c := range g.Cases {
						if c.Name != formula.Name || c.Rows != rows {
							continue
						}
						t.Run(c.Method, func(t *testing.T) {
							d := f.compare(t, c)
							lock.Lock()
							found[c] = d
							lock.Unlock()
							e := exceptions[c.Name]
							for _, part := range []struct {
								what string
								far  float64
							}{{"score", d.score}, {"edf", d.edf}, {"term values", d.values}, {"standard errors", d.se}} {
								if !(part.far <= max(tolerance, e.at)) {
									t.Errorf("at mgcv's smoothing parameters, relative difference of %s: %.2g", part.what, part.far)
								}
							}
							if !(d.chosen <= max(tolerance, e.chosen)) {
								t.Errorf("chosen: the score is worse than mgcv's by %.2g of it", d.chosen)
							}
							// Where mgcv's choice is worse than ours, it is another one.
							if math.Abs(d.chosen) <= tolerance && e.chosen == 0 && !(d.logLambda <= 1e-3) {
								t.Errorf("chosen: log lambda differs by %.2g", d.logLambda)
							}
							if d.steps >= 20 {
								t.Errorf("chosen: %d Newton steps", d.steps)
							}
						})
					}
				})
			}
		}
	})
	if *updateDocs && !t.Failed() {
		if testing.Short() {
			t.Fatal("-update-docs needs all cases, so not -short")
		}
		writeFormulas(t, g, found)
	}
}

// writeFormulas writes all cases into formulas.md beside the golden file, and the largest
// differences of each method between the marks in docs/mgcv.md.
func writeFormulas(t *testing.T, g *formulasGolden, found map[*formulaCase]deviation) {
	t.Helper()
	const page, begin, end = "../docs/mgcv.md", "<!-- formulas -->\n", "<!-- /formulas -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no %q and %q", page, begin, end)
	}
	const columns = "| score | edf | values | SE | chosen score | log λ | steps |\n"
	var b strings.Builder
	fmt.Fprintf(&b, "# 27 formulas, by mgcv and by pho\n\ndocs/mgcv.md says what is compared. mgcv %s, %s; %d cases.\n\n", g.Provenance.Mgcv, g.Provenance.R, len(g.Cases))
	for _, f := range g.Formulas {
		fmt.Fprintf(&b, "- %s: `%s`", f.Name, f.Formula)
		if f.Select {
			b.WriteString(", select")
		}
		if f.Weights != "" {
			b.WriteString(", weights")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| case | rows | method " + columns + "|---|---|---|---|---|---|---|---|---|---|\n")
	worst := map[string]deviation{}
	for _, c := range g.Cases {
		d, lambda, group := found[c], "flat", c.Method
		if _, another := exceptions[c.Name]; another {
			lambda, group = "model", c.Name
		} else if math.Abs(d.chosen) > 1e-7 {
			lambda = "other"
		} else if d.logLambda >= 0 {
			lambda = fmt.Sprintf("%.0e", d.logLambda)
		}
		worst[group] = worst[group].or(d)
		note := ""
		if c.Lost {
			note = " (a)"
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %.0e | %.0e | %.0e | %.0e | %+.0e%s | %s | %d |\n", c.Name, c.Rows, c.Method, d.score, d.edf, d.values, d.se, d.chosen, note, lambda, d.steps)
	}
	if err := os.WriteFile("../testdata/golden/formulas.md", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	b.WriteString("| largest of " + columns + "|---|---|---|---|---|---|---|---|\n")
	for _, group := range []struct{ name, title string }{
		{"reml", "REML, without cs and fs"}, {"ml", "ML, likewise"}, {"gcv", "GCV, likewise"}, {"cs", "cs"}, {"fs", "fs"},
	} {
		d, lambda := worst[group.name], "model"
		if exceptions[group.name].at == 0 {
			lambda = fmt.Sprintf("%.1e", d.logLambda)
		}
		fmt.Fprintf(&b, "| %s | %.1e | %.1e | %.1e | %.1e | %+.1e | %s | %d |\n", group.title, d.score, d.edf, d.values, d.se, d.chosen, lambda, d.steps)
	}
	if err := os.WriteFile(page, []byte(before+begin+b.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// or is the larger of each difference; of log lambda, where the scores are at one place.
func (d deviation) or(other deviation) deviation {
	d.score, d.edf = max(d.score, other.score), max(d.edf, other.edf)
	d.values, d.se = max(d.values, other.values), max(d.se, other.se)
	d.chosen, d.steps = max(d.chosen, other.chosen), max(d.steps, other.steps)
	if math.Abs(other.chosen) <= 1e-7 {
		d.logLambda = max(d.logLambda, other.logLambda)
	}
	return d
}
