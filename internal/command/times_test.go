package command

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// timesRows has times of which some are censored, amounts of which some are 0, and counts
// with zeros beside them.
func timesRows(t *testing.T, path string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	var text strings.Builder
	text.WriteString("x1,x2,time,seen,amount,count\n")
	for range 500 {
		x1, x2 := 2*rng.Float64()-1, 2*rng.Float64()-1
		f := x1 + math.Sin(3*x2)
		time, end := math.Exp(1-f)*rng.ExpFloat64(), 8*rng.Float64()
		seen := 1
		if end < time {
			time, seen = end, 0
		}
		amount, count := 0.0, 0
		for s := rng.ExpFloat64(); s < math.Exp(f); s += rng.ExpFloat64() {
			amount, count = amount+rng.ExpFloat64(), count+1
		}
		if rng.Float64() < 0.2 {
			count = 0
		}
		fmt.Fprintf(&text, "%.6f,%.6f,%.6f,%d,%.6f,%d\n", x1, x2, time+1e-6, seen, amount, count)
	}
	write(t, path, text.String())
}

// TestResponsesPeopleHave: decompose judges a trained model by the family and events that
// train wrote into the file; the report names both.
func TestResponsesPeopleHave(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	timesRows(t, rows)
	for _, c := range []struct {
		family, response string
		formulas         []string
		judged           string // beginning of the name
		event            bool
	}{
		{"weibull", "time", []string{"Surv(time, seen) ~ x1"}, "weibull(scale=", true},
		{"weibull", "time", []string{"mu = Surv(time, seen) ~ x1", "scale = ~ x2"}, "weibull", true},
		{"lognormal", "time", []string{"Surv(time, seen) ~ x1"}, "lognormal(sigma=", true},
		{"lognormal", "time", []string{"time ~ x1"}, "lognormal(sigma=", false},
		{"log-logistic(scale=0.5)", "time", []string{"Surv(time, seen) ~ x1"}, "log-logistic(scale=0.5)", true},
		{"cox(intervals=8)", "time", []string{"Surv(time, seen) ~ x1"}, "cox(intervals=8)", true},
		{"tweedie(p=1.5)", "amount", []string{"amount ~ x1"}, "tweedie(p=1.5)", false},
		{"inverse-gaussian", "time", []string{"time ~ x1"}, "inverse-gaussian", false},
		{"zip", "count", []string{"count ~ x1"}, "zip(pi=", false},
		{"zip", "count", []string{"lambda = count ~ x1", "pi = ~ x2"}, "zip", false},
	} {
		t.Run(c.family+" "+strings.Join(c.formulas, ", "), func(t *testing.T) {
			out, result := filepath.Join(t.TempDir(), "trained"), filepath.Join(t.TempDir(), "result")
			args := []string{"train", "--data", rows, "--out", out, "--epochs", "20", "--family", c.family, "--deep", "x1,x2", "--hidden", "8"}
			for _, f := range c.formulas {
				args = append(args, "--formula", f)
			}
			done(t, args...)
			o := done(t, "decompose", "--model", filepath.Join(out, fileNetwork), "--data", rows, "--out", result, "--response", c.response)
			var doc struct {
				Family, Event string
				Predictors    []struct {
					Importance []struct {
						McFadden *float64
						Valid    bool     `json:"mcfadden_valid"`
						Delta    *float64 `json:"delta_loglik_per_row"`
					}
				}
			}
			readInto(t, filepath.Join(result, resultdir.Decomposition), &doc)
			e := doc.Predictors[0].Importance[0]
			if !strings.HasPrefix(doc.Family, c.judged) || e.Delta == nil || !(*e.Delta > 0) || e.Valid != (c.response == "count") {
				t.Errorf("family %q, importance %+v", doc.Family, e)
			}
			if said := strings.Contains(o.err, `events "seen"`); said != c.event || (doc.Event == "seen") != c.event {
				t.Errorf("events %q:\n%s", doc.Event, o.err)
			}
			page := read(t, result, "report.html")
			if !strings.Contains(page, c.response+" ("+doc.Family) || strings.Contains(page, "<th>events</th>") && !c.event {
				t.Errorf("the report does not name %q", doc.Family)
			}
			if i := done(t, "inspect", filepath.Join(out, fileNetwork)); strings.Contains(i.out, `with events "seen"`) != c.event {
				t.Errorf("inspect says\n%s", i.out)
			}
		})
	}
}

// TestCoxCommand: a network of times is no hazard ratio, which is said; one of a count
// that grows where times are short is.
func TestCoxCommand(t *testing.T) {
	dir := t.TempDir()
	rows, out, result := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "trained"), filepath.Join(dir, "result")
	timesRows(t, rows)
	for _, c := range []struct {
		family, formula string
		worse           bool
	}{{"weibull", "Surv(time, seen) ~ x1", true}, {"poisson", "count ~ x1", false}, {"cox", "Surv(time, seen) ~ x1", false}} {
		done(t, "train", "--data", rows, "--out", out, "--epochs", "20", "--family", c.family, "--formula", c.formula, "--deep", "x1,x2", "--hidden", "8")
		o := done(t, "decompose", "--model", filepath.Join(out, fileNetwork), "--data", rows, "--out", result, "--response", "time", "--event", "seen", "--family", "cox(intervals=10)")
		var doc struct {
			Family, Event string
			Prediction    struct {
				Gain  float64 `json:"loglik_gain"`
				Worse bool
			}
		}
		readInto(t, filepath.Join(result, resultdir.Decomposition), &doc)
		if doc.Family != "cox(intervals=10)" || doc.Event != "seen" || doc.Prediction.Worse != c.worse || (doc.Prediction.Gain < 0) != c.worse {
			t.Errorf("%s: %+v", c.family, doc)
		}
		if strings.Contains(o.err, "the logarithm of a hazard ratio, which is larger where times are shorter") != c.worse {
			t.Errorf("%s:\n%s", c.family, o.err)
		}
	}
}

// TestBadResponses: what is no response of a family is said with its row and column, and
// nothing is written.
func TestBadResponses(t *testing.T) {
	dir := t.TempDir()
	rows, trained, none := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "trained"), filepath.Join(dir, "none.csv")
	timesRows(t, rows)
	write(t, none, "x1,x2,time,seen,amount,count\n0.1,0.2,1,0,-1,0\n0.3,0.1,2,0,0,1\n0.5,0.5,3,0,2,1\n0.7,0.2,4,0,1,0\n")
	done(t, "train", "--data", rows, "--out", trained, "--epochs", "2", "--family", "weibull", "--formula", "Surv(time, seen) ~ x1", "--deep", "x1,x2", "--hidden", "4")
	out := filepath.Join(dir, "out")
	model := []string{"decompose", "--model", filepath.Join(trained, fileNetwork), "--out", out}
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--data", none, "--response", "time"}, exitFailed, "every row of positive weight is censored, so nothing tells [scale]"},
		{[]string{"--data", none, "--response", "time", "--family", "cox"}, exitFailed, "every row of positive weight is censored, so nothing tells [baseline]"},
		{[]string{"--data", none, "--response", "amount", "--family", "tweedie"}, exitFailed, `response "amount", data row 1: family tweedie: response -1 is outside the support`},
		{[]string{"--data", rows, "--response", "amount", "--family", "lognormal"}, exitFailed, `family lognormal: response 0 is outside the support`},
		{[]string{"--data", rows, "--response", "time", "--event", "count"}, exitFailed, `events "count", data row `},
		{[]string{"--data", rows, "--response", "time", "--event", "seen", "--family", "gamma"}, exitFailed, `family gamma knows no censored responses: events belong to weibull, lognormal, log-logistic and cox`},
		{[]string{"--data", rows, "--event", "seen"}, exitUsage, `--event: column "seen" says which times are censored, but no response names the times`},
		{[]string{"--data", rows, "--response", "time", "--event", "sen"}, exitFailed, `--event: there is no column "sen"`},
		{[]string{"--data", rows, "--response", "time", "--event", "time"}, exitUsage, `--event: column "time" is the response`},
		{[]string{"--data", rows, "--response", "time", "--family", "weibul"}, exitUsage, "did you mean weibull?"},
		{[]string{"--data", rows, "--response", "time", "--family", "tweedie(p=3)"}, exitUsage, "p is 3: it is a number between 1 and 2, both excluded; 1 is poisson, 2 gamma, 3 inverse-gaussian"},
	} {
		o := call(t, append(model, c.args...)...)
		if o.status != c.status || !strings.Contains(o.err, c.want) {
			t.Errorf("%q: status %d, %s\nwant %d, %s", c.args, o.status, o.err, c.status, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%q left a result", c.args)
		}
	}
}
