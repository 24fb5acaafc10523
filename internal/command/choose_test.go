package command

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
)

// TestChosenTerms: a network without structure is decomposed without a formula; what was
// chosen can be copied, and gives the same bytes.
func TestChosenTerms(t *testing.T) {
	temp := t.TempDir()
	rows := filepath.Join(temp, "rows.csv")
	var text strings.Builder
	text.WriteString("x0,x1,x2,x3,y\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 800 {
		on := rng.IntN(2)
		fmt.Fprintf(&text, "%g,%d,%d,7,%g\n", rng.NormFloat64(), on, 1-on, rng.NormFloat64())
	}
	write(t, rows, text.String())
	decomp := func(dir string, more ...string) string {
		o := done(t, append([]string{"decompose", "--model", golden("blackbox"), "--data", rows, "--input", "x=x0..x3", "--response", "y", "--out", filepath.Join(temp, dir)}, more...)...)
		return o.err
	}
	said := decomp("chosen", "--interactions", "0")
	const formula = `~ s(x0, bs = "bs", k = 20, knots = "quantiles") + onehot(x1, x2)`
	for _, want := range []string{"--formula '" + formula + "'", "without a term: x3 (constant)"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	decomp("copied", "--formula", formula)
	for _, name := range []string{resultdir.Contributions, resultdir.Effects, resultdir.Decomposition} {
		if read(t, filepath.Join(temp, "chosen"), name) != read(t, filepath.Join(temp, "copied"), name) {
			t.Errorf("%s is another one with the formula copied", name)
		}
	}
	effects := read(t, filepath.Join(temp, "chosen"), resultdir.Effects)
	if !strings.Contains(effects, "\"onehot(x1,x2)\",after,x1,") && !strings.Contains(effects, "onehot(x1,x2),after,x1,") {
		t.Errorf("no level x1 in the effects of the factor")
	}
	o := done(t, "apply", "--decomposition", filepath.Join(temp, "chosen"), "--data", rows, "--out", "-")
	if o.out != read(t, filepath.Join(temp, "chosen"), resultdir.Contributions) {
		t.Error("apply differs")
	}
	decomp("part", "--formula", "y ~ . - x1 - x2")
	header, _ := table(t, filepath.Join(temp, "part"), resultdir.Contributions)
	if got := strings.Join(header, " "); got != "intercept s(x0) unstructured eta" {
		t.Errorf("columns %s", got)
	}
	if _, err := os.Stat(filepath.Join(temp, "part", resultdir.Report)); err != nil {
		t.Error(err)
	}
	failed := call(t, "decompose", "--model", golden("blackbox"), "--data", rows, "--input", "x=x0..x3", "--formula", "~ . - nope", "--out", filepath.Join(temp, "x"))
	if !strings.Contains(failed.err, `no column "nope"`) {
		t.Errorf("taking away a column that is not there: %s", failed.err)
	}
}
