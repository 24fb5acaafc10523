package command

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// TestHierarchicalTermsOfFiles: from files, interactions are hierarchical, apply repeats them,
// a combination of levels that did not occur has no value and no interaction, and
// --terms fitted is another split of the same sums.
func TestHierarchicalTermsOfFiles(t *testing.T) {
	temp := t.TempDir()
	data := filepath.Join(temp, "rows.csv")
	goldenRows(t, "blackbox", data)
	lines := strings.Split(strings.TrimSpace(read(t, data)), "\n")
	lines[0] += ",g,h"
	for i := range lines[1:] {
		g, h := []string{"a", "b", "c"}[i*i%7%3], []string{"p", "q"}[i%5%2]
		if g == "b" {
			h = "q" // b:p does not occur
		}
		lines[i+1] += "," + g + "," + h
	}
	write(t, data, strings.Join(lines, "\n")+"\n")
	decomposed := func(terms, out string) string {
		dir := filepath.Join(temp, out)
		o := done(t, "decompose", "--model", golden("blackbox"), "--data", data, "--formula", "~ x0 + x1 + x0:x1 + g + h + g:h + s(x2, k=5) + s(x3, k=5) + te(x2, x3, k=4)", "--terms", terms, "--out", dir)
		if said := strings.Contains(o.err, "5 of 6 combinations of levels occurred"); said != (terms == "hierarchical") {
			t.Errorf("%s: %s", terms, o.err)
		}
		return dir
	}
	dir, fitted := decomposed("hierarchical", "h"), decomposed("fitted", "f")
	header, records := table(t, dir, resultdir.Contributions)
	_, before := table(t, fitted, resultdir.Contributions)
	at := func(name string) int { return indices(header, name)[0] }
	changed := 0.0
	for i, record := range records {
		sums := [2]float64{}
		for j := range at("unstructured") {
			sums[0] += number(t, record[j])
			sums[1] += number(t, before[i][j])
		}
		if math.Abs(sums[0]-sums[1]) > 1e-9 {
			t.Fatalf("row %d: the terms sum to %v, as fitted to %v", i+1, sums[0], sums[1])
		}
		changed = max(changed, math.Abs(number(t, record[at("x0")])-number(t, before[i][at("x0")])))
	}
	if changed < 1e-6 {
		t.Error("the terms are those that were fitted")
	}
	if again := done(t, "apply", "--decomposition", dir, "--data", data, "--out", "-"); again.out != read(t, dir, resultdir.Contributions) {
		t.Error("apply on the training rows gives other contributions")
	}
	if effects := read(t, dir, resultdir.Effects); strings.Count(effects, ",g:h,after,b,p,,,,,,\n") != 1 || strings.Contains(effects, ",g:h,after,b,q,,") {
		t.Error("effects.csv has a value for a combination that did not occur, or none for one that did")
	}
	row := filepath.Join(temp, "new.csv")
	write(t, row, "x0,x1,x2,x3,g,h\n1,0.5,-1,2,b,p\n")
	done(t, "apply", "--decomposition", dir, "--data", row, "--out", filepath.Join(temp, "applied.csv"))
	_, applied := table(t, temp, "applied.csv")
	if v := number(t, applied[0][at("g:h")]); math.Abs(v) > 1e-12 {
		t.Errorf("a combination that did not occur has interaction %v", v)
	}
	var doc struct {
		Terms      string
		Predictors []struct {
			Hierarchy *struct{ Rank, Of int }
			Terms     []struct {
				Name    string
				Margins []struct{ Term string }
			}
		}
	}
	for dir, terms := range map[string]string{dir: "", fitted: "fitted"} {
		doc.Predictors, doc.Terms = nil, ""
		if err := json.Unmarshal([]byte(read(t, dir, resultdir.Decomposition)), &doc); err != nil {
			t.Fatal(err)
		}
		h := doc.Predictors[0].Hierarchy
		if doc.Terms != terms || (h == nil) != (terms == "fitted") || h != nil && h.Rank != h.Of {
			t.Errorf("terms %q, hierarchy %+v", doc.Terms, h)
		}
	}
}
