package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// TestShapedFamilies: what train fits with a family, decompose judges with it, its
// numbers estimated, given, or predictors of the network; the report names it.
func TestShapedFamilies(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("x1,x2,w,o,count,share,heavy\n")
	for range 400 {
		x1, x2 := 2*rng.Float64()-1, 2*rng.Float64()-1
		f, n := x1+math.Sin(3*x2), 0
		for s := rng.ExpFloat64(); s < math.Exp(f)*rng.ExpFloat64(); s += rng.ExpFloat64() {
			n++
		}
		fmt.Fprintf(&text, "%.6f,%.6f,%d,%.3f,%d,%.6f,%.6f\n", x1, x2, rng.IntN(3), 0.1*rng.NormFloat64(), n, 1/(1+math.Exp(-f-0.5*rng.NormFloat64())), 100+10*f+rng.NormFloat64()/rng.Float64())
	}
	write(t, rows, text.String())
	for _, c := range []struct {
		response, family string
		formulas         []string
		trained, judged  string // beginnings of the names
		deviance         bool
	}{
		{"count", "negative-binomial", []string{"count ~ x1"}, "negative-binomial(theta=", "negative-binomial(theta=", true},
		{"count", "negative-binomial(theta=2)", []string{"count ~ x1"}, "negative-binomial(theta=2)", "negative-binomial(theta=2)", true},
		{"count", "negative-binomial", []string{"mu = count ~ x1", "theta = ~ x2"}, "negative-binomial", "negative-binomial", false},
		{"share", "beta", []string{"share ~ x1"}, "beta(phi=", "beta(phi=", true},
		{"share", "beta", []string{"mu = share ~ x1", "phi = ~ x1"}, "beta", "beta", false},
		{"heavy", "student-t", []string{"heavy ~ x1"}, "student-t(sigma=", "student-t(sigma=", true},
		{"heavy", "student-t(df=3)", []string{"mu = heavy ~ x1", "sigma = ~ x2"}, "student-t(df=3)", "student-t(df=3)", false},
		{"heavy", "student-t", []string{"mu = heavy ~ x1", "sigma = ~ x2", "df = ~ 1"}, "student-t", "student-t", false},
	} {
		t.Run(c.family+" "+strings.Join(c.formulas, ", "), func(t *testing.T) {
			out, result := filepath.Join(t.TempDir(), "trained"), filepath.Join(t.TempDir(), "result")
			args := []string{"train", "--data", rows, "--out", out, "--epochs", "20", "--family", c.family, "--deep", "x1,x2", "--hidden", "8", "--weights", "w", "--offset", "o"}
			for _, f := range c.formulas {
				args = append(args, "--formula", f)
			}
			done(t, args...)
			var training struct{ Family string }
			var doc struct {
				Family     string
				Predictors []struct {
					Importance []struct {
						McFadden   *float64
						Valid      bool     `json:"mcfadden_valid"`
						Delta      *float64 `json:"delta_loglik_per_row"`
						DevianceR2 *float64 `json:"deviance_r2"`
					}
				}
			}
			readInto(t, filepath.Join(out, fileTraining), &training)
			if !strings.HasPrefix(training.Family, c.trained) {
				t.Errorf("trained with %q", training.Family)
			}
			done(t, "decompose", "--model", filepath.Join(out, fileNetwork), "--data", rows, "--out", result, "--response", c.response, "--family", c.family, "--weights", "w", "--offset", "o")
			readInto(t, filepath.Join(result, resultdir.Decomposition), &doc)
			e := doc.Predictors[0].Importance[0]
			if !strings.HasPrefix(doc.Family, c.judged) || e.McFadden == nil || e.Delta == nil || (e.DevianceR2 != nil) != c.deviance {
				t.Errorf("family %q, importance %+v", doc.Family, e)
			}
			if e.Valid && c.response != "count" {
				t.Error("a density has a McFadden figure that depends on units")
			}
			if e.Delta != nil && !(*e.Delta > 0) {
				t.Errorf("x1 explains nothing: %v per row", *e.Delta)
			}
			if page := read(t, result, "report.html"); !strings.Contains(page, c.response+" ("+doc.Family) {
				t.Errorf("the report does not name %q", doc.Family)
			}
		})
	}
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--family", "beta", "--formula", "count ~ x1"}, exitFailed, `native: response "count", data row 1: family beta: response 1 is outside the support`},
		{[]string{"--family", "negative-binomial(size=2)", "--formula", "count ~ x1"}, exitUsage, `--family: family negative-binomial has no parameter "size": it has theta, as in negative-binomial(theta=4)`},
		{[]string{"--family", "student-t(df=0)", "--formula", "heavy ~ x1"}, exitUsage, `--family: family "student-t(df=0)": "df=0" is not a parameter with a positive number`},
		{[]string{"--family", "beta(phi=3)", "--formula", "share ~ x1", "--formula", "phi = ~ x2"}, exitFailed, `formula for predictor "phi": the beta(phi=3) model has ["eta"]`},
	} {
		out := filepath.Join(t.TempDir(), "out")
		o := call(t, append([]string{"train", "--data", rows, "--out", out, "--epochs", "1"}, c.args...)...)
		if o.status != c.status || !strings.Contains(o.err, c.want) {
			t.Errorf("%q: status %d, %s\nwant %d, %s", c.args, o.status, o.err, c.status, c.want)
		}
	}
}

func readInto(t *testing.T, path string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, path)), into); err != nil {
		t.Fatal(err)
	}
}
