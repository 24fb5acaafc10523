package command

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// The ways to name rows give the same result: one file, parts by a quoted glob or
// after the flags, gzip, standard input, another delimiter.
func TestWaysToNameRows(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	place := func(name string) string { return filepath.Join(temp, name) }
	text := rows(50)
	header, lines := head(text, 1), strings.SplitAfter(text, "\n")
	first, second := strings.Join(lines[:20], ""), header+strings.Join(lines[20:], "")
	write(t, place("all.csv"), text)
	write(t, place("part-1.csv"), first)
	write(t, place("part-2.csv"), second)
	write(t, place("all.csv.gz"), zipped(text))
	write(t, place("misnamed.csv"), zipped(text))
	write(t, place("all.tsv"), strings.ReplaceAll(text, ",", "\t"))
	write(t, place("semi.csv"), strings.ReplaceAll(text, ",", ";"))
	write(t, place("stars*.csv"), text) // a name, not a pattern
	want := ""
	for i, args := range [][]string{
		{"--data", place("all.csv")},
		{"--data", place("part-*.csv")},
		{"--data", place("part-1.csv"), "--data", place("part-2.csv")},
		{"--data", place("part-1.csv"), place("part-2.csv")},
		{"--data", place("all.csv.gz")},
		{"--data", place("misnamed.csv")},
		{"--data", place("all.tsv"), "--delimiter", "tab"},
		{"--data", place("all.tsv"), "--delimiter", `\t`},
		{"--data", place("semi.csv"), "--delimiter", ";"},
		{"--data", place("stars*.csv")},
		{"--data", "-"},
	} {
		dir := place("result" + string(rune('a'+i)))
		o := callWith(t, context.Background(), strings.NewReader(text), append([]string{"decompose", "--model", golden("ssn_op13"),
			"--input", "x=x0..x4", "--formula", "y ~ g", "--out", dir}, args...)...)
		if o.status != exitDone {
			t.Errorf("%q: %s", args, o.err)
			continue
		}
		got := read(t, dir, resultdir.Decomposition) + read(t, dir, resultdir.Contributions)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%q: another result", args)
		}
	}
	o := callWith(t, context.Background(), strings.NewReader(text), "apply", "--decomposition", place("resulta"), "--data", "-", "--out", place("applied.csv"))
	if o.status != exitDone || read(t, place("applied.csv")) != read(t, place("resulta"), resultdir.Contributions) {
		t.Errorf("apply from standard input: status %d, %s", o.status, o.err)
	}
}

// Inputs are bound by name, by a flag with a list or a range, or because exactly
// as many columns are free as the network takes.
func TestInputs(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	write(t, filepath.Join(temp, "rows.csv"), rows(30))
	lines := strings.Split(strings.TrimSpace(rows(30)), "\n")
	for i, line := range lines { // x0..x4 and y, w
		cells := strings.Split(line, ",")
		lines[i] = strings.Join(append(cells[:5:5], cells[6], cells[5]), ",")
	}
	write(t, filepath.Join(temp, "few.csv"), strings.Join(lines, "\n")+"\n")
	want := ""
	for i, args := range []string{
		"--data rows.csv --input x=x0..x4", "--data rows.csv --input x=x0,x1..x3,x4", "--data rows.csv --input x=x0,x1,x2,x3,x4",
		"--data few.csv --response y --weights w", "--data few.csv --response y --offset w",
	} {
		fields := strings.Fields(strings.ReplaceAll(args, "--data ", "--data "+temp+"/"))
		dir := filepath.Join(temp, "result"+string(rune('a'+i)))
		done(t, append([]string{"decompose", "--model", golden("ssn_op13"), "--out", dir}, fields...)...)
		header, records := table(t, dir, resultdir.Contributions)
		eta := ""
		for _, r := range records {
			eta += r[len(header)-1] + " "
		}
		if want == "" {
			want = eta
		}
		if eta != want {
			t.Errorf("%s: another eta", args)
		}
	}
}

// Rows with missing cells are an error, or left out: their contributions are
// empty, the fit is that of the other rows, and a warning counts them.
func TestMissingCells(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	lines := strings.Split(strings.TrimSpace(rows(60)), "\n")
	gappy, whole := []string{lines[0]}, []string{lines[0]}
	gaps := map[int]bool{}
	for i, line := range lines[1:] {
		cells := strings.Split(line, ",")
		switch i {
		case 3:
			cells[0] = ""
		case 20:
			cells[9] = "NA" // g, only in the formula
		case 21:
			cells[6] = "NaN" // the response
		case 40:
			cells[8] = "" // o, which nobody reads
		}
		gappy = append(gappy, strings.Join(cells, ","))
		if gaps[i] = i == 3 || i == 20 || i == 21; !gaps[i] {
			whole = append(whole, line)
		}
	}
	write(t, filepath.Join(temp, "gappy.csv"), strings.Join(gappy, "\n")+"\n")
	write(t, filepath.Join(temp, "whole.csv"), strings.Join(whole, "\n")+"\n")
	args := []string{"decompose", "--model", golden("ssn_op13"), "--input", "x=x0..x4", "--formula", `y ~ g + s(x3, bs="ps", k=5)`}
	a, b := filepath.Join(temp, "a"), filepath.Join(temp, "b")
	o := done(t, append(args, "--data", filepath.Join(temp, "gappy.csv"), "--na", "drop", "--out", a)...)
	const note = "3 of 60 rows hold missing cells and were left out (--na drop); their cells are empty in the contributions"
	if !strings.Contains(o.err, "warning: "+note+"\n") {
		t.Errorf("standard error:\n%s", o.err)
	}
	done(t, append(args, "--data", filepath.Join(temp, "whole.csv"), "--out", b)...)
	header, got := table(t, a, resultdir.Contributions)
	_, want := table(t, b, resultdir.Contributions)
	if len(got) != 60 || len(want) != 57 {
		t.Fatalf("%d and %d rows", len(got), len(want))
	}
	at := 0
	for i, record := range got {
		if gaps[i] {
			if strings.Join(record, "") != "" || len(record) != len(header) {
				t.Errorf("row %d: %q", i, record)
			}
			continue
		}
		if strings.Join(record, ",") != strings.Join(want[at], ",") {
			t.Errorf("row %d differs from the fit without gaps", i)
		}
		at++
	}
	doc := document(t, a)
	if doc["rows"] != 57.0 || !strings.Contains(read(t, a, resultdir.Decomposition), note) || !strings.Contains(read(t, a, resultdir.Report), "3 of 60 rows") {
		t.Errorf("rows %v; the artifact and the report must have the warning", doc["rows"])
	}
	// New rows need no response: only the rows 3 and 20 have gaps for apply.
	o = done(t, "apply", "--decomposition", a, "--data", filepath.Join(temp, "gappy.csv"), "--na", "drop", "--out", filepath.Join(temp, "applied.csv"))
	if !strings.Contains(o.err, "warning: 2 of 60 rows hold missing cells") {
		t.Errorf("apply: %s", o.err)
	}
	if o := call(t, "apply", "--decomposition", a, "--data", filepath.Join(temp, "gappy.csv"), "--out", "-"); o.status != exitFailed || !strings.Contains(o.err, `column "x0": cell "" is empty`) {
		t.Errorf("apply without --na drop: status %d, %s", o.status, o.err)
	}
}

// Smoothing flags reach the fit.
func TestSmoothingFlags(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	write(t, filepath.Join(temp, "rows.csv"), rows(400))
	term := func(args ...string) (edf, sp float64, doc map[string]any) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "result")
		done(t, append([]string{"decompose", "--model", golden("blackbox"), "--data", filepath.Join(temp, "rows.csv"), "--input", "x=x0..x3",
			"--formula", `~ s(x2, bs="ps")`, "--out", dir}, args...)...)
		doc = document(t, dir)
		p := doc["predictors"].([]any)[0].(map[string]any)["terms"].([]any)[0].(map[string]any)
		if list := p["sp"].([]any); len(list) == 1 {
			sp = list[0].(float64)
		}
		return p["edf"].(float64), sp, doc
	}
	reml, _, doc := term()
	if doc["method"] != "phogam" || doc["smoothing"] != "reml" {
		t.Errorf("method %v, smoothing %v", doc["method"], doc["smoothing"])
	}
	if edf, _, doc := term("--method", "pho"); math.Abs(edf-9) > 1e-9 || doc["method"] != "pho" {
		t.Errorf("pho: edf %v", edf)
	}
	if _, sp, _ := term("--sp", "s(x2)=0.3"); math.Abs(sp-0.3) > 1e-12 {
		t.Errorf("--sp: %v", sp)
	}
	if _, sp, doc := term("--smoothing", "fixed", "--sp", "s( x2 ) = 2.5"); math.Abs(sp-2.5) > 1e-12 || doc["smoothing"] != "fixed" {
		t.Errorf("fixed: %v", sp)
	}
	if _, _, doc := term("--smoothing", "gcv"); doc["smoothing"] != "gcv" {
		t.Errorf("smoothing %v", doc["smoothing"])
	}
	if edf, _, _ := term("--gamma", "20"); !(edf < reml-0.1) {
		t.Errorf("--gamma 20: edf %v, %v without", edf, reml)
	}
	if _, _, doc := term("--rank-tolerance", "1e-3"); doc["predictors"].([]any)[0].(map[string]any)["rank_tolerance"] != 1e-3 {
		t.Error("--rank-tolerance is not recorded")
	}
	if edf, _, _ := term("--df", "s(x2)=3.5"); math.Abs(edf-3.5) > 1e-6 {
		t.Errorf("--df: edf %v", edf)
	}
	if _, _, doc := term("--smoothing", "ml"); doc["smoothing"] != "ml" {
		t.Errorf("smoothing %v", doc["smoothing"])
	}
	if _, _, doc := term("--smoothing", "cv", "--groups", "g"); doc["smoothing"] != "cv" {
		t.Errorf("smoothing %v", doc["smoothing"])
	}
	if _, _, doc := term("--refit", "total"); doc["refit"] != "total" {
		t.Errorf("refit %v", doc["refit"])
	}
	if _, _, doc := term("--route", "qr", "--rank-tolerance", "1e-10"); doc["route"] != "qr" {
		t.Errorf("route %v", doc["route"])
	}
	dir := filepath.Join(t.TempDir(), "result")
	done(t, "decompose", "--model", golden("blackbox"), "--data", filepath.Join(temp, "rows.csv"), "--input", "x=x0..x3",
		"--formula", `~ s(x2, bs="ps")`, "--select", "--out", dir)
	selected := document(t, dir)["predictors"].([]any)[0].(map[string]any)["terms"].([]any)[0].(map[string]any)
	if sp := selected["sp"].([]any); len(sp) != 2 {
		t.Errorf("--select: smoothing parameters %v, want two", sp)
	}
	if _, ok := selected["k_check"].(map[string]any); !ok {
		t.Error("no k-check of a smooth")
	}
}

// The family follows from the head of the network unless a flag gives it.
func TestFamilies(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	lines := strings.Split(strings.TrimSpace(rows(40)), "\n")
	for i := range lines { // a column of zeros and ones
		v := ",b"
		if i > 0 {
			v = "," + string("01"[i%2])
		}
		lines[i] += v
	}
	data := filepath.Join(temp, "rows.csv")
	write(t, data, strings.Join(lines, "\n")+"\n")
	for i, c := range []struct{ model, args, family string }{
		{"sigmoid", "--response b", "binomial"},
		{"blackbox", "--response y", "gaussian"},
		{"blackbox", "--response b --family binomial", "binomial"},
		{"blackbox", "--response n --family poisson --offset o", "poisson"},
	} {
		dir := filepath.Join(temp, "result"+string(rune('a'+i)))
		done(t, append([]string{"decompose", "--model", golden(c.model), "--data", data, "--input", "x=x0..x3", "--formula", "~ x0 + x1", "--out", dir}, strings.Fields(c.args)...)...)
		doc := document(t, dir)
		importance := doc["predictors"].([]any)[0].(map[string]any)["importance"].([]any)
		if doc["family"] != c.family || len(importance) == 0 {
			t.Errorf("%v: family %v, %d importances", c, doc["family"], len(importance))
		}
		if valid := importance[0].(map[string]any)["mcfadden_valid"]; valid != (c.family != "gaussian") {
			t.Errorf("%v: mcfadden_valid %v", c, valid)
		}
	}
	o := call(t, "decompose", "--model", golden("sigmoid"), "--data", data, "--input", "x=x0..x3", "--response", "y", "--family", "gaussian", "--out", filepath.Join(temp, "no"))
	const want = `pho: --family gaussian: family gaussian: predictor 1 of the model ends in "sigmoid", which is not the inverse of the family's link: want `
	if o.status != exitFailed || !strings.HasPrefix(o.err, want) {
		t.Errorf("status %d, %s", o.status, o.err)
	}
}
