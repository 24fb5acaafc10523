package family

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
)

// golden reads a file of testdata/golden.
func golden(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile("../testdata/golden/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// TestTweedieDensity: 40 digits of mpmath, over all powers, from one amount in a thousand
// rows to a million in one.
func TestTweedieDensity(t *testing.T) {
	var file struct {
		Cases []struct{ P, Phi, Y, Eta, LogLik float64 }
	}
	golden(t, "tweedie.json", &file)
	if len(file.Cases) < 600 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	worst := 0.0
	for _, c := range file.Cases {
		got := Tweedie{c.P}.LogLik(c.Y, 1, []float64{c.Eta}, c.Phi)
		off := math.Abs(got-c.LogLik) / math.Max(1, math.Abs(c.LogLik))
		worst = math.Max(worst, off)
		if !(off <= 1e-12) {
			t.Errorf("p %v, phi %v, y %v, eta %v: %.17g, want %.17g", c.P, c.Phi, c.Y, c.Eta, got, c.LogLik)
		}
	}
	t.Logf("largest difference %.2g", worst)
}

// TestResponses: single log-likelihoods and deviances of R. mgcv's ldTweedie sums its
// series to about 1e-9; densities of base R hold 1e-11.
func TestResponses(t *testing.T) {
	var file struct {
		Cases []struct {
			Family     string
			Y, W       float64
			Event      int
			Eta        []float64
			Phi        float64
			LogLik     float64
			Deviance   *float64
			loglikOnly bool
		}
	}
	golden(t, "responses.json", &file)
	seen := map[string]int{}
	for _, c := range file.Cases {
		f, err := Parse(c.Family, make([]string, len(c.Eta)))
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(c.Family, "(")
		seen[name]++
		f = ByEvent(f)[c.Event]
		if err := f.Check(c.Y); err != nil {
			t.Error(err)
		}
		if got := f.LogLik(c.Y, c.W, c.Eta, c.Phi); !near(got, c.LogLik, 1e-11) {
			t.Errorf("%s: LogLik(y=%v, w=%v, eta=%v, phi=%v), event %d = %.17g, R has %.17g", c.Family, c.Y, c.W, c.Eta, c.Phi, c.Event, got, c.LogLik)
		}
		got := f.Deviance(c.Y, c.W, c.Eta)
		if c.Deviance == nil {
			if !math.IsNaN(got) {
				t.Errorf("%s: Deviance = %v, want NaN", c.Family, got)
			}
		} else if math.Abs(got-*c.Deviance) > 1e-10*math.Max(1, *c.Deviance) { // R's cancel
			t.Errorf("%s: Deviance(y=%v, w=%v, eta=%v), event %d = %.17g, R has %.17g", c.Family, c.Y, c.W, c.Eta, c.Event, got, *c.Deviance)
		}
	}
	for _, name := range []string{"tweedie", "inverse-gaussian", "zip", "lognormal", "weibull", "log-logistic"} {
		if seen[name] < 50 {
			t.Errorf("only %d cases of %s", seen[name], name)
		}
	}
}
