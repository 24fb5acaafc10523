package decompose_test

import (
	"encoding/json"
	"os"
	"testing"
)

// The golden file is mgcv's concurvity of one model. Tolerance: our ridge of 1e-10
// on correlations whose smallest eigenvalue is about 1e-3.
func TestConcurvityIsMgcvs(t *testing.T) {
	raw, err := os.ReadFile("../testdata/golden/diagnostics/small.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Formula                   string
		Terms                     []string
		Worst, Observed, Estimate []float64
		PairsWorst                [][]float64 `json:"pairs_worst"`
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	c := mgcvCase{Formula: want.Formula, Response: "y", Method: "reml"}
	r, _ := c.fit(t, mgcvData(t, "small"), nil, "")
	for j, term := range r.Predictors[0].Terms {
		if term.Name != want.Terms[j] {
			t.Fatalf("term %q, want %q", term.Name, want.Terms[j])
		}
		near(t, "worst of "+term.Name, term.Concurvity.Worst, want.Worst[j], 1e-7)
		near(t, "observed of "+term.Name, term.Concurvity.Observed, want.Observed[j], 1e-7)
		near(t, "estimate of "+term.Name, term.Concurvity.Estimate, want.Estimate[j], 1e-7)
	}
	pairs := r.Predictors[0].Concurvity
	if len(pairs) != 2 || pairs[0].Term != "s(z)" || pairs[0].With != "s(x2)" {
		t.Fatalf("pairs %v, want those of s(x2) and s(z)", pairs)
	}
	near(t, "worst of the pair", pairs[0].Worst, want.PairsWorst[1][2], 1e-7)
}
