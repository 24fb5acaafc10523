package command

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/report"
)

// explainedText is what --json prints.
type explainedText struct {
	Rows []report.ExplainedRow
}

func explainJSON(t *testing.T, args ...string) explainedText {
	t.Helper()
	var out explainedText
	if err := json.Unmarshal([]byte(done(t, append([]string{"explain"}, append(args, "--json")...)...).out), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestExplain: explain gives the parts of a row that contributions has, in either format,
// and that apply computes from the row's data; they add up to eta. What only adds up is a
// sum.
func TestExplain(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	place := func(name string) string { return filepath.Join(temp, name) }
	lines := strings.Split(rows(200), "\n")
	cells := strings.Split(lines[5], ",")
	cells[1] = ""
	lines[5] = strings.Join(cells, ",")
	write(t, place("rows.csv"), strings.Join(lines, "\n"))
	job := []string{"decompose", "--model", golden("ssn_op13"), "--data", place("rows.csv"), "--input", "x=x0..x4", "--na", "drop", "--formula", `n ~ s(x0, bs="ps", k=6) + g`, "--family", "poisson", "--out"}
	done(t, append(job, place("csv"))...)
	done(t, append(job, place("parquet"), "--contributions", "parquet")...)
	header, records := table(t, place("csv"), resultdir.Contributions)
	for _, dir := range []string{"csv", "parquet"} { // stored rows need no moments, which may be large
		moments := filepath.Join(place(dir), resultdir.Moments)
		if err := os.Rename(moments, place("aside")); err != nil {
			t.Fatal(err)
		}
		explainJSON(t, place(dir), "--row", "9")
		if err := os.Rename(place("aside"), moments); err != nil {
			t.Fatal(err)
		}
	}
	stored := explainJSON(t, place("csv"), "--row", "9,3", "--row", "9")
	if len(stored.Rows) != 3 || stored.Rows[0].Row != 9 || stored.Rows[1].Row != 3 {
		t.Fatalf("%+v", stored)
	}
	of := map[string]float64{}
	for j, name := range header {
		of[name] = number(t, records[8][j])
	}
	p := stored.Rows[0].Predictors[0]
	sum := p.Intercept + p.Unstructured
	for _, term := range p.Terms {
		want := 0.0
		for _, name := range term.Terms {
			want += of[name]
		}
		if term.Contribution != want || term.SE != nil {
			t.Errorf("%+v, want %g", term, want)
		}
		sum += want
	}
	if strings.Join(p.Terms[0].Terms, " + ") != "x0 + s(x0)" || math.Abs(sum-p.Eta) > 1e-9 || p.Eta != of["eta"] {
		t.Errorf("%+v, sum %g", p, sum)
	}
	if v := stored.Rows[0].Response; len(v) != 1 || v[0].Name != "mean of n" || v[0].Value != math.Exp(p.Eta) {
		t.Errorf("response %+v", v)
	}
	if other := explainJSON(t, place("parquet"), "--row", "9").Rows[0]; other.Predictors[0].Eta != p.Eta {
		t.Errorf("Parquet: %+v", other)
	}
	applied := explainJSON(t, place("csv"), "--data", place("rows.csv"), "--na", "drop", "--row", "9").Rows[0].Predictors[0]
	for j, term := range applied.Terms {
		if math.Abs(term.Contribution-p.Terms[j].Contribution) > 1e-12 || term.SE == nil || len(term.Values) == 0 {
			t.Errorf("applied %+v, stored %+v", term, p.Terms[j])
		}
	}
	storedValues(t, place("csv"), place("rows.csv"))
	if n := len(explainJSON(t, place("csv"), "--data", place("rows.csv"), "--na", "drop").Rows); n != mostRows {
		t.Errorf("%d rows of which nobody asked", n)
	}
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{place("csv"), "--row", "201"}, exitFailed, "are of rows 1 to 200"},
		{[]string{place("csv"), "--row", "5"}, exitFailed, "data row 5 has missing cells"},
		{[]string{place("csv"), "--data", place("rows.csv"), "--na", "drop", "--row", "5"}, exitFailed, "--row 5 has missing cells"},
		{[]string{place("csv"), "--data", place("rows.csv"), "--na", "drop", "--row", "5000"}, exitFailed, "the data have rows 1 to 200"},
		{[]string{place("csv"), "--row", "0"}, exitUsage, "rows are counted from 1"},
		{[]string{place("csv")}, exitUsage, "--row is missing"},
		{[]string{place("csv"), "rows.csv", "--row", "1"}, exitUsage, "rows of a file are named by --data"},
		{[]string{place("csv"), "--row", "1", "--predictor", "mu"}, exitUsage, `the decomposition has "eta"`},
		{nil, exitUsage, "DIR is missing"},
	} {
		if o := call(t, append([]string{"explain"}, c.args...)...); o.status != c.status || !strings.Contains(o.err, c.want) || o.out != "" {
			t.Errorf("%q: status %d, %s%s", c.args, o.status, o.err, o.out)
		}
	}
	if err := os.Remove(filepath.Join(place("csv"), resultdir.Contributions)); err != nil {
		t.Fatal(err)
	}
	if o := call(t, "explain", place("csv"), "--row", "1"); o.status != exitFailed || !strings.Contains(o.err, "--data FILE") {
		t.Errorf("without contributions: %s", o.err)
	}
}

// storedValues checks that rows that are stored with the report in dir have the values that
// they have in the data, and that others say how to see theirs.
func storedValues(t *testing.T, dir, rows string) {
	t.Helper()
	row := exampleRow(t, dir)
	of := func(args ...string) map[string]map[string]string {
		out := map[string]map[string]string{}
		for _, term := range explainJSON(t, append([]string{dir, "--row", row}, args...)...).Rows[0].Predictors[0].Terms {
			out[strings.Join(term.Terms, " + ")] = term.Values
		}
		return out
	}
	if stored, applied := of(), of("--data", rows, "--na", "drop"); !reflect.DeepEqual(stored, applied) || len(stored["g"]) != 1 {
		t.Errorf("row %s has the values %v, in the data %v", row, stored, applied)
	}
	r, err := resultdir.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	const hint = "values of rows that are not stored with the report: --data FILE"
	other := int64(1)
	for slices.ContainsFunc(r.Examples.Rows, func(e decompose.Example) bool { return e.Row == other }) {
		other++
	}
	if said := done(t, "explain", dir, "--row", strconv.FormatInt(other, 10)).out; !strings.Contains(said, hint) {
		t.Errorf("row %d:\n%s", other, said)
	}
	if said := done(t, "explain", dir, "--row", row).out; strings.Contains(said, hint) || !strings.Contains(said, "value") {
		t.Errorf("row %s:\n%s", row, said)
	}
}

// TestWaterfall: lines hold the width, bars begin where the one above ended, and terms
// stand by size.
func TestWaterfall(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	write(t, filepath.Join(temp, "rows.csv"), rows(200))
	result := filepath.Join(temp, "result")
	done(t, "decompose", "--model", golden("blackbox"), "--data", filepath.Join(temp, "rows.csv"), "--input", "x=x0..x3", "--formula", "y ~ x0 + x1 + g + s(x2, k=5)", "--out", result)
	o := done(t, "explain", result, "--data", filepath.Join(temp, "rows.csv"), "--row", "2")
	lines := strings.Split(strings.TrimSuffix(o.out, "\n"), "\n")
	if lines[0] != "data row 2" || strings.Join(strings.Fields(lines[1]), " ") != "value adds s.e." {
		t.Errorf("%q", lines[:2])
	}
	last, end, size := -1, -1, math.Inf(1)
	for _, line := range lines[2:] {
		if n := utf8.RuneCountInString(line); n > pageWidth {
			t.Errorf("%d characters: %s", n, line)
		}
		bar := strings.LastIndex(line, "  ") + 2
		marks := strings.TrimLeft(line[bar:], " ")
		first := len(line) - len(marks)
		final := len(line) - 1
		if strings.HasPrefix(marks, "-") {
			first, final = final, first
		}
		if end >= 0 && first != end {
			t.Errorf("the bar begins at %d, the one above ended at %d: %s", first, end, line)
		}
		end = final
		fields := strings.Fields(line)
		if last++; last > 0 && fields[0] != "unstructured" && fields[0] != "eta" && fields[0] != "y" {
			if v, err := strconv.ParseFloat(fields[2], 64); err != nil || math.Abs(v) > size {
				t.Errorf("out of order: %s (%v)", line, err)
			} else {
				size = math.Abs(v)
			}
		}
	}
	for locale, want := range map[[3]string]bool{{"", "", "en_GB.UTF-8"}: true, {"C", "", "en_GB.UTF-8"}: false, {"", "de_DE.utf8", "C"}: true, {}: false} {
		env := map[string]string{"LC_ALL": locale[0], "LC_CTYPE": locale[1], "LANG": locale[2]}
		if got := speaksUTF8(func(name string) string { return env[name] }); got != want {
			t.Errorf("%q: %v", locale, got)
		}
	}
}
