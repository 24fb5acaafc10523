package report_test

import (
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

// TestHierarchyOfCurvesBy: curves by level are not said to be orthogonal to the curve of all.
func TestHierarchyOfCurvesBy(t *testing.T) {
	for name, want := range map[string]bool{"s(x):g1": true, "te(x,z):v": true, "te(x,z)": false, "g:h": false} {
		d := &decompose.Predictor{Hierarchy: &decompose.Hierarchy{Rank: 3, Of: 3, Smallest: 1}, Terms: []decompose.TermResult{{Name: "s(x)", Kind: "smooth"}, {Name: name, Kind: "smooth"}}}
		if got := strings.Contains(report.Hierarchy(d), "not to s(x)"); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestRowsWithoutCounts: dots of levels whose rows were not counted, as of a numeric column,
// have no heading of rows.
func TestRowsWithoutCounts(t *testing.T) {
	r, a := ofLevels(t, level{names: []string{"a", "b", "c"}})
	const heading = `>rows</text>`
	if !strings.Contains(pageOf(t, r, effectsOf(t, r, a)), heading) {
		t.Error("no heading above counts")
	}
	for i := range r.Features {
		r.Features[i].Levels, r.Features[i].Counts = nil, nil
	}
	if strings.Contains(pageOf(t, r, effectsOf(t, r, a)), heading) {
		t.Error("a heading without numbers")
	}
}
