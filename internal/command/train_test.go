package command

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// trainingRows writes four columns and a response that depends on them.
func trainingRows(t *testing.T, path string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("x1,x2,x3,d,g,y,b\n")
	for range 300 {
		x1, x2, x3, d := 2*rng.Float64()-1, 2*rng.Float64()-1, 2*rng.Float64()-1, rng.IntN(3)
		f := x1 + math.Sin(3*x2) + x2*x3 + 0.3*float64(d)
		b := 0
		if f+rng.NormFloat64() > 0 {
			b = 1
		}
		fmt.Fprintf(&text, "%.6f,%.6f,%.6f,%d,%c,%.6f,%d\n", x1, x2, x3, d, 'a'+rune(d), 50+10*f+rng.NormFloat64(), b)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTrain: what train writes, decompose opens with the structure intact; the
// same call gives the same bytes.
func TestTrain(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	trainingRows(t, rows)
	out := filepath.Join(dir, "trained")
	brief := []string{"train", "--data", rows, "--out", out, "--epochs", "3", "--seed", "1"}
	for name, c := range map[string]struct {
		args []string
		want []string // terms of the decomposition
	}{
		"ssn":                        {[]string{"--formula", `y ~ x1 + s(x2, bs="ps", k=8)`, "--deep", "x1,x2,x3,d"}, []string{`"x1"`, `"s(x2)"`}},
		"nam":                        {[]string{"--kind", "nam", "--response", "y", "--features", "x1,x2", "--deep", "x1,x2,x3,d"}, []string{`"f(x1)"`, `"f(x2)"`}},
		"gam":                        {[]string{"--kind", "gam", "--formula", `y ~ x1 + x3 + s(x2)`}, []string{`"x1"`, `"x3"`, `"s(x2)"`}},
		"gam of a binomial response": {[]string{"--kind", "gam", "--family", "binomial", "--formula", `b ~ x1 + s(x2)`}, []string{`"x1"`, `"s(x2)"`}},
		"gam of two predictors":      {[]string{"--kind", "gam", "--formula", "mu = y ~ x1 + s(x2,k=6)", "--formula", "sigma = ~ s(x2,k=4)"}, []string{`"mu"`, `"sigma"`, `"x1"`, `"s(x2)"`}},
		"factor":                     {[]string{"--formula", "b ~ d + x1", "--factor", "d", "--deep", "x1,x2,x3,d", "--family", "binomial"}, []string{`"d"`, `"x1"`}},
		"two":                        {[]string{"--formula", "mu = y ~ x1", "--formula", "sigma = ~ x2", "--deep", "x1,x2,x3,d"}, []string{`"mu"`, `"sigma"`, `"x1"`, `"x2"`}},
	} {
		t.Run(name, func(t *testing.T) {
			o := done(t, append(brief, c.args...)...)
			if !strings.Contains(o.err, "model: ") {
				t.Errorf("stderr: %s", o.err)
			}
			first, err := os.ReadFile(filepath.Join(out, fileNetwork))
			if err != nil {
				t.Fatal(err)
			}
			done(t, append(brief, append(c.args, "--workers", "1")...)...)
			again, err := os.ReadFile(filepath.Join(out, fileNetwork))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(first, again) {
				t.Error("the same call wrote another network")
			}
			result := filepath.Join(t.TempDir(), "result")
			done(t, "decompose", "--model", filepath.Join(out, fileNetwork), "--data", rows, "--out", result)
			doc, err := os.ReadFile(filepath.Join(result, resultdir.Decomposition))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(string(doc), `"name": `+want) {
					t.Errorf("the decomposition has no %s", want)
				}
			}
		})
	}
}

func TestTrainRefuses(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	trainingRows(t, rows)
	foreign := filepath.Join(dir, "foreign")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(foreign, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--data", rows}, exitUsage, "--out is missing"},
		{[]string{"--data", rows, "--out", foreign, "--kind", "mlp", "--response", "y", "--deep", "x1"}, exitFailed, `holds "notes.txt"`},
		{[]string{"--data", rows, "--out", out, "--kind", "tree"}, exitUsage, `--kind "tree": it is ssn, nam, gam or mlp`},
		{[]string{"--data", rows, "--out", out, "--family", "cauchy"}, exitUsage, `--family: unknown family "cauchy"`},
		{[]string{"--data", rows, "--out", out, "--formula", "y ~ x1", "--deep", "x9"}, exitFailed, `no column "x9"`},
		{[]string{"--data", rows, "--out", out, "--formula", "g ~ x1", "--deep", "x1"}, exitFailed, `response: column "g" holds text, where numbers are needed`},
		{[]string{"--data", rows, "--out", out, "--formula", "g ~ x1", "--deep", "x1", "--family", "binomial"}, exitFailed, `the response "g" is text with 3 different values, ["a" "b" "c"]: family binomial is of two classes`},
		{[]string{"--data", rows, "--out", out, "--formula", "y ~ x1", "--deep", "x1", "--family", "poisson"}, exitFailed, "family poisson: response"},
		{[]string{"--data", rows, "--out", out, "--formula", "y ~ x1", "--epochs", "0"}, exitUsage, "--epochs 0: it is a whole number from 1"},
		{[]string{"--data", rows, "--out", out, "--formula", "y ~ x1", "--resume"}, exitUsage, "--resume needs --checkpoint"},
	} {
		o := call(t, append([]string{"train"}, c.args...)...)
		if o.status != c.status || !strings.Contains(o.err, c.want) {
			t.Errorf("%q: status %d, %s\nwant %d, %s", c.args, o.status, o.err, c.status, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%q left %s", c.args, out)
		}
	}
}

// TestTrainInspectDecompose: from the rows to contributions of new rows, the
// formula's spline with its penalty all the way.
func TestTrainInspectDecompose(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	trainingRows(t, rows)
	out, result := filepath.Join(dir, "trained"), filepath.Join(dir, "result")
	done(t, "train", "--data", rows, "--out", out, "--epochs", "3", "--formula", `y ~ x1 + s(x2, bs="ps", k=8) + te(x1, x3, k=c(4,4)) + s(x3, by=d, k=5)`, "--factor", "d", "--deep", "x1,x2,x3")
	model := filepath.Join(out, fileNetwork)
	o := done(t, "inspect", model)
	for _, want := range []string{
		`is: s(x2, bs="ps", k=8); a quadratic penalty of rank 6; sum-to-zero`, `is: te(x1,x3, bs=c("cr","cr")), 16 columns; 2 quadratic penalties of rank 8, 8; sum-to-zero`,
		`is: s(x3, bs="tp", k=5, by=d); a quadratic penalty of rank 3; sum-to-zero`,
	} {
		if !strings.Contains(o.out, want) {
			t.Errorf("inspect does not say %q:\n%s", want, o.out)
		}
	}
	done(t, "decompose", "--model", model, "--data", rows, "--factor", "d", "--out", result)
	doc, err := os.ReadFile(filepath.Join(result, resultdir.Decomposition))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name": "s(x2)"`, `"name": "te(x1,x3)"`, `"name": "s(x3):d2"`, `"method": "phogam"`, `"bs": "ps"`} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("the decomposition has no %s", want)
		}
	}
	applied := done(t, "apply", "--decomposition", result, "--data", rows, "--out", "-")
	contributions, err := os.ReadFile(filepath.Join(result, resultdir.Contributions))
	if err != nil {
		t.Fatal(err)
	}
	if applied.out != string(contributions) {
		t.Error("apply on the same rows gives other contributions")
	}
	o = call(t, "decompose", "--model", model, "--data", rows, "--factor", "d", "--formula", `~ s(x2, bs="cr", k=8)`, "--out", filepath.Join(dir, "other"))
	if want := `term "s(x2)" is the network's own`; !strings.Contains(o.err, want) {
		t.Errorf("stderr %s, want %s", o.err, want)
	}
}
