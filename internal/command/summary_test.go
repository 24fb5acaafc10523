package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

func TestSummaryOfManyTerms(t *testing.T) {
	r := &decompose.Result{Predictors: []decompose.Predictor{{
		Name: "eta", VarianceBefore: decompose.Variance{Structured: 1, Unstructured: 3, Total: 4},
		Variance: decompose.Variance{Structured: 3, Unstructured: 1, TwiceCovariance: -1e-9, Total: 4},
	}}}
	for j := range 200 {
		r.Predictors[0].Terms = append(r.Predictors[0].Terms, decompose.TermResult{
			Name: fmt.Sprintf("s(a column with quite a long name that somebody chose, number %d)", j), Kind: decompose.Smooth,
			Columns: 9, EDF: 2.5, Identified: j%2 == 0, After: decompose.Moment{Variance: float64(j)},
		})
	}
	r.Predictors[0].Terms[3].Name = "x3\x1b[2J"
	r.Predictors[0].Terms[3].After.Variance = 1000
	r.Warnings = []string{"beware of \x1b[31mcolumn \"é\"\nand more"}
	var b bytes.Buffer
	summarise(&plainWriter{w: &b}, r)
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 2+1+summaryTerms+1+2 {
		t.Errorf("%d lines", len(lines))
	}
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("line %d has %d letters: %s", i, n, line)
		}
		if strings.ContainsRune(line, '\x1b') {
			t.Errorf("line %d could disturb a terminal: %q", i, line)
		}
	}
	for i, want := range map[int]string{
		0:  "eta: the structured part explains 75.0 % of the model's variance (25.0 % before);",
		1:  "  unstructured 25.0 %, twice their covariance 0.0 %",
		2:  `  term                                       edf  Ref.df  share  sd before  sd after     verdict`,
		3:  `  "x3\x1b[2J"                               2.50    2.50      -       0.00     31.62         sum`,
		4:  `  s(a column with qui...chose, number 199)  2.50    2.50      -       0.00     14.11         sum`,
		33: "  and 170 terms that vary less (all are in the report)",
	} {
		if lines[i] != want {
			t.Errorf("line %d\n%q, want\n%q", i, lines[i], want)
		}
	}
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, terminal: true}
	p.report(decompose.Progress{Pass: "moments", Rows: 4096})
	p.report(decompose.Progress{Pass: "moments", Rows: 8192}) // too soon to be shown
	p.report(decompose.Progress{Pass: "contributions", Rows: 1024})
	p.last = time.Time{}
	p.started = time.Now().Add(-1900 * time.Millisecond)
	p.report(decompose.Progress{Pass: "contributions", Rows: 5120})
	p.end()
	shown := strings.Split(b.String(), "\r\x1b[K")
	if len(shown) != 5 || shown[0] != "" || shown[4] != "" || shown[1] != "moments: 4096 rows" || shown[2] != "contributions: 1024 rows" ||
		!strings.HasPrefix(shown[3], "contributions: 5120 rows, 21") || !strings.HasSuffix(shown[3], " rows/s, 2 s left") {
		t.Errorf("%q", shown)
	}

	b.Reset()
	if p, _ = newProgress(streams{err: &b}, ""); p.terminal {
		t.Error("a buffer is no terminal")
	}
	p.report(decompose.Progress{Pass: "moments", Rows: 4096})
	p.end()
	if b.Len() > 0 {
		t.Errorf("%q", b.String())
	}
}

// With --log json every line on standard error is JSON, errors included.
func TestLogJSON(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	write(t, temp+"/rows.csv", rows(40))
	args := []string{"decompose", "--model", golden("ssn_op13"), "--data", temp + "/rows.csv", "--input", "x=x0..x4", "--log", "json", "--out", temp + "/result"}
	for _, c := range []struct {
		args   []string
		status int
		events string
	}{
		{[]string{"--formula", "~ dow + factor(dow)"}, exitDone, "memory progress progress warning warning predictor remainder done"},
		{[]string{"--weights", "heavy"}, exitFailed, "error"},
		{[]string{"--method", "magic"}, exitUsage, "error"},
	} {
		o := call(t, append(args[:len(args):len(args)], c.args...)...)
		if o.status != c.status {
			t.Errorf("%v: status %d", c.args, o.status)
		}
		var events []string
		for _, line := range strings.Split(strings.TrimSuffix(o.err, "\n"), "\n") {
			var event map[string]any
			if err := json.Unmarshal([]byte(line), &event); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			events = append(events, fmt.Sprint(event["event"]))
		}
		if got := strings.Join(events, " "); got != c.events {
			t.Errorf("%v: events %s, want %s", c.args, got, c.events)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"formula", "family", "factor", "out", "data"}
	for name, want := range map[string]string{"fomula": "formula", "familly": "family", "form": "formula", "dat": "data", "frobnicate": "", "xyz": "", "": ""} {
		if got := nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestSummaryPage: users of mgcv find what they look for, in 80 columns, and a single
// warning is said of all terms that it is about.
func TestSummaryPage(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	write(t, temp+"/rows.csv", rows(300))
	done(t, "decompose", "--model", golden("blackbox"), "--data", temp+"/rows.csv", "--input", "x=x0..x3", "--formula", "n ~ x0 + dow + factor(g) + s(x2, k=5)", "--family", "poisson", "--offset", "o", "--out", temp+"/result")
	o := done(t, "summary", temp+"/result")
	for _, want := range []string{
		"Family: poisson\nLink function: log\n\nFormula:\nn ~ x0 + dow + factor(g) + s(x2) + unstructured\nOffset: o\n",
		"\nParametric coefficients:\n               Estimate  Std. Error ", "\n  (Intercept) ", "\n  factor(g)b ", "\n  factor(g)c ",
		"\nTerms:\n  term        edf  Ref.df  ", "\n  s(x2) ", "\n-REML = ", "   Scale est. = ", "   n = 300\n",
		"R-sq. = ", "Deviance explained = ", "\nMethod: PHOGAM, smoothing parameters by REML\n",
	} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
	for line := range strings.SplitSeq(o.out, "\n") {
		if utf8.RuneCountInString(line) > pageWidth+4 { // tables of long names
			t.Errorf("%d characters: %s", utf8.RuneCountInString(line), line)
		}
	}
	doc := document(t, temp+"/result")["predictors"].([]any)[0].(map[string]any)
	slope := doc["terms"].([]any)[0].(map[string]any)["alpha"].([]any)[0].(float64)
	if want := fmt.Sprintf(" x0 %.5f ", slope); !strings.Contains(strings.Join(strings.Fields(o.out), " "), want) {
		t.Errorf("no slope %q in\n%s", want, o.out)
	}
}

// TestSummaryJSON: the document has the page's coefficients and terms, with all digits.
func TestSummaryJSON(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	write(t, temp+"/rows.csv", rows(300))
	done(t, "decompose", "--model", golden("blackbox"), "--data", temp+"/rows.csv", "--input", "x=x0..x3", "--formula", "n ~ x0 + s(x0, k=8) + x1 + factor(g)", "--family", "poisson", "--out", temp+"/result")
	var doc summaryJSON
	if err := json.Unmarshal([]byte(done(t, "summary", temp+"/result", "--json").out), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Family != "poisson" || doc.Link != "log" || doc.Response != "n" || doc.Rows != 300 || len(doc.Predictors) != 1 || doc.Warnings == nil {
		t.Errorf("%+v", doc)
	}
	p := doc.Predictors[0]
	var names []string
	for i, c := range p.Coefficients {
		names = append(names, c.Name)
		if v := p.Covariance[i][i]; c.SE == nil || math.Abs(v/(*c.SE**c.SE)-1) > 1e-9 {
			t.Errorf("%s: %+v, variance %g", c.Name, c, v)
		}
		if c.SE == nil || !(*c.Lower < c.Estimate && c.Estimate < *c.Upper) {
			t.Errorf("%s: %+v", c.Name, c)
		}
	}
	if want := []string{"(Intercept)", "x1", "factor(g)b", "factor(g)c"}; !slices.Equal(names, want) {
		t.Errorf("coefficients %q, want %q: x0 is in a sum", names, want)
	}
	done(t, "decompose", "--model", golden("blackbox"), "--data", temp+"/rows.csv", "--input", "x=x0..x3", "--formula", "n ~ x0 + s(x0, k=8) + x1 + factor(g)", "--family", "poisson", "--bands", "none", "--out", temp+"/none")
	var none summaryJSON
	if err := json.Unmarshal([]byte(done(t, "summary", temp+"/none", "--json").out), &none); err != nil || none.Predictors[0].Covariance != nil {
		t.Fatalf("without bands: %+v, %v", none, err)
	}
	for i, c := range none.Predictors[0].Coefficients { // the same, the intercept by the terms' means
		if with := p.Coefficients[i]; c.Name != with.Name || math.Abs(c.Estimate-with.Estimate) > 1e-9 || c.SE != nil {
			t.Errorf("without bands %+v, with them %+v", c, with)
		}
	}
	sum := p.Terms[0]
	if !slices.Equal(sum.Terms, []string{"x0", "s(x0)"}) || sum.Verdict != "sum" || !sum.Weak || len(p.Terms) != 3 {
		t.Errorf("terms %+v", p.Terms)
	}
	total := p.After.Structured + p.After.Unstructured + p.After.TwiceCovariance
	if math.Abs(total-1) > 1e-9 {
		t.Errorf("shares sum to %g", total)
	}
}

// TestSummaryHasReasonsWhole: a reason is one, whatever the names that it has, and is said once.
func TestSummaryHasReasonsWhole(t *testing.T) {
	split := decompose.Reason{Kind: decompose.ReasonSplit, Text: "its split with a; b; besides, c is open"}
	term := func(name string, reasons ...decompose.Reason) decompose.TermResult {
		return decompose.TermResult{Name: name, Verdict: decompose.Weak, Because: reasons}
	}
	var b bytes.Buffer
	writeReasons(&b, &decompose.Result{Predictors: []decompose.Predictor{{Name: "eta", Terms: []decompose.TermResult{
		term("x", decompose.Reason{Kind: decompose.ReasonSingleRows, Text: "it rests on single rows"}, split), term("its; z", split)}}}}, false)
	if want := "  x: it rests on single rows\n  x, its; z, each: its split with a; b; besides, c is open\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestHierarchicalSplitsAreToldOnce: what the lines on hierarchical terms say of all is not said of each, unless all reasons are asked for.
func TestHierarchicalSplitsAreToldOnce(t *testing.T) {
	reason := decompose.Reason{Kind: decompose.ReasonSplit, Rule: decompose.ByHierarchy, Text: "its split with te(a,b) is hierarchical"}
	r := &decompose.Result{Predictors: []decompose.Predictor{{
		Name: "eta", Hierarchy: &decompose.Hierarchy{Of: 3, Rank: 3, Smallest: 0.5},
		Terms: []decompose.TermResult{{Name: "s(a)", Verdict: decompose.Convention, Because: []decompose.Reason{reason}}},
	}}}
	for full, want := range map[bool]string{false: "", true: "  s(a): its split with te(a,b) is hierarchical\n"} {
		var b bytes.Buffer
		writeReasons(&b, r, full)
		if b.String() != want {
			t.Errorf("full %v: %q, want %q", full, b.String(), want)
		}
	}
	var b bytes.Buffer
	writeHierarchy(&b, r)
	if said := strings.Join(strings.Fields(b.String()), " "); !strings.HasSuffix(said, "This is the convention of their verdicts.") {
		t.Errorf("%q", said)
	}
}

// TestSummaryOfManyPredictors: sentences that are the same of all classes stand once.
func TestSummaryOfManyPredictors(t *testing.T) {
	r := &decompose.Result{Method: decompose.PHO, Family: "categorical"}
	for k := range 10 {
		p := decompose.Predictor{Name: fmt.Sprintf("class%d", k), Variance: decompose.Variance{Structured: 3, Unstructured: 1, Total: 4}, VarianceBefore: decompose.Variance{Total: 4},
			Hierarchy: &decompose.Hierarchy{Of: 3, Rank: 3, Smallest: 0.1 * float64(k+1)}, Remainder: &decompose.Remainder{Share: float64(k) / 20, SingleColumns: 0.1, Singles: []decompose.SingleGain{{Feature: "x9", Gain: 0.08}}}}
		for j := range 3 {
			p.Terms = append(p.Terms, decompose.TermResult{Name: fmt.Sprintf("s(x%d)", j), Features: []string{fmt.Sprintf("x%d", j)}, Kind: decompose.Smooth, Verdict: decompose.Convention, Why: "centred over the classes", After: decompose.Moment{Variance: float64(j)}})
		}
		r.Warnings = append(r.Warnings, p.Name+": s(x1) leans on single rows")
		r.Predictors = append(r.Predictors, p)
	}
	var b bytes.Buffer
	summarise(&b, r)
	for _, once := range []string{"Interactions are hierarchical", "centred over the classes", "leans on single rows", "what is left of predictor class9", "would take 10.0 %: x9 8.0 %",
		"s(x0), s(x1), s(x2) of all 10 predictors", "the same of class1, class2, class3, class4, class5, class6, 3 more", "all 10 predictors: Interactions", "class7     s(x2), s(x1), s(x0)      75.0 %   0.0 %        25.0 %"} {
		if n := strings.Count(b.String(), once); n != 1 {
			t.Errorf("%q is there %d times:\n%s", once, n, b.String())
		}
	}
	b.Reset()
	if err := writePage(&b, r, true); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "leans on single rows"); n != 10 {
		t.Errorf("all warnings asked for, %d there", n)
	}
	if n := strings.Count(b.String(), "Parametric coefficients"); n != 10 {
		t.Errorf("all predictors asked for, %d there", n)
	}
}

// TestSummaryOfLongNames: names are cut with a word of it, and whole where all is asked for.
func TestSummaryOfLongNames(t *testing.T) {
	for _, length := range []int{20, 60} {
		name := strings.Repeat("n", length)
		r := &decompose.Result{Method: decompose.PHO, Predictors: []decompose.Predictor{{Name: "eta", Terms: []decompose.TermResult{{Name: name, Kind: decompose.Smooth}}}}}
		for _, full := range []bool{false, true} {
			var out strings.Builder
			if err := writePage(&out, r, full); err != nil {
				t.Fatal(err)
			}
			cut := length > summaryName && !full
			if whole := strings.Count(out.String(), name) == 2; whole == cut || strings.Contains(out.String(), "Three dots") != cut {
				t.Errorf("a name of %d letters, full %t:\n%s", length, full, out.String())
			}
		}
	}
}

// TestSummaryOfLinks: the link is the one that the network ends in, and what makes predictors
// of classes unique stands with it.
func TestSummaryOfLinks(t *testing.T) {
	for _, c := range []struct {
		family     family.Family
		heads      []string
		convention string
		want       string
	}{
		{family.GaussianLS{Scale: family.SoftplusScale, Floor: 0.001}, []string{"", "softplus+0.001"}, "", "identity softplus+0.001"},
		{family.GaussianLS{}, []string{"", ""}, "", "identity log"},
		{family.ZIP{}, []string{"exp", "sigmoid"}, "", "log logit"},
		{family.Cox{}, []string{""}, "", "log hazard ratio"},
		{family.AFT{}, []string{"", ""}, "", "identity of log time log"},
		{family.Binomial{By: "cloglog"}, []string{"inv_cloglog"}, "", "cloglog"},
		{classesOf(t, 3), []string{"softmax", "softmax", "softmax"}, "centred over the classes of every row", "multinomial logit, centred over the classes of every row"},
		{classesOf(t, 3), []string{"", "", ""}, "", "multinomial logit, as the model has them"},
		{nil, []string{""}, "", ""},
	} {
		r := &decompose.Result{}
		for k := range c.heads {
			d := decompose.Predictor{Uniqueness: decompose.Uniqueness{Convention: c.convention}}
			if c.family != nil {
				l := c.family.Link(k)
				d.Link = &l
			}
			r.Predictors = append(r.Predictors, d)
		}
		r.SetHeads(c.heads)
		if got := linkWords(r); got != c.want {
			t.Errorf("%T that ends in %q: %q, want %q", c.family, c.heads, got, c.want)
		}
	}
}

func classesOf(t *testing.T, n int) family.Family {
	t.Helper()
	f, err := family.NewCategorical(n, -1)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
