package family

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

// TestGolden compares with R: testdata/golden/family.R writes the file.
func TestGolden(t *testing.T) {
	raw, err := os.ReadFile("../testdata/golden/family.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Provenance string
		Cases      []struct {
			Family   string
			Y, W     float64
			Eta      []float64
			Phi      float64
			LogLik   float64
			Deviance *float64
			Reason   string
		}
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	families := map[string]Family{
		"gaussian":                Gaussian{},
		"binomial":                Binomial{},
		"binomial(link=cloglog)":  Binomial{By: "cloglog"},
		"poisson":                 Poisson{},
		"gamma":                   Gamma{},
		"negative-binomial":       NegativeBinomial{},
		"beta":                    Beta{},
		"student-t":               StudentT{},
		"gaussian log scale":      GaussianLS{},
		"gaussian softplus scale": GaussianLS{Scale: SoftplusScale},
	}
	seen := map[string]int{}
	for _, c := range golden.Cases {
		f := families[c.Family]
		if f == nil { // a family with held parameters is written as Parse reads it
			var err error
			if f, err = Parse(c.Family, make([]string, len(c.Eta))); err != nil {
				t.Fatal(err)
			}
			c.Family = fmt.Sprintf("%s of %d", f.(interface{ Of() Shaped }).Of().Name(), len(c.Eta))
		}
		seen[c.Family]++
		if err := f.Check(c.Y); err != nil {
			t.Errorf("%s: Check(%v) = %v", c.Family, c.Y, err)
		}
		if got := f.LogLik(c.Y, c.W, c.Eta, c.Phi); !near(got, c.LogLik, 1e-12) {
			t.Errorf("%s (%s): LogLik(y=%v, w=%v, eta=%v, phi=%v) = %.17g, R has %.17g", c.Family, c.Reason, c.Y, c.W, c.Eta, c.Phi, got, c.LogLik)
		}
		got := f.Deviance(c.Y, c.W, c.Eta)
		if c.Deviance == nil {
			if !math.IsNaN(got) {
				t.Errorf("%s: Deviance = %v, want NaN", c.Family, got)
			}
			continue
		}
		if !near(got, *c.Deviance, 1e-11) {
			t.Errorf("%s (%s): Deviance(y=%v, w=%v, eta=%v) = %.17g, R has %.17g", c.Family, c.Reason, c.Y, c.W, c.Eta, got, *c.Deviance)
		}
	}
	for _, name := range []string{"negative-binomial of 1", "beta of 1", "student-t of 1", "student-t of 2"} {
		families[name] = nil
	}
	for name := range families {
		if seen[name] < 16 {
			t.Errorf("only %d cases of %s", seen[name], name)
		}
	}
}

// near compares with a relative tolerance, absolute below 1e-3.
func near(got, want, tol float64) bool {
	return math.Abs(got-want) <= tol*max(math.Abs(want), 1e-3)
}
