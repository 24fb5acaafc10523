package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/compare"
	"github.com/pho-go/pho/internal/app/resultdir"
)

// periods are two results of one network on the rows of two periods, with their rows.
func periods(t *testing.T) (a, b, rowsA, rowsB string) {
	t.Helper()
	dir := t.TempDir()
	for i, at := range []float64{0, 0.5} {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		text := "x0,x1,x2,x3\n"
		for range 300 + 50*i {
			text += fmt.Sprintf("%g,%g,%g,%g\n", at+r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64())
		}
		rows := filepath.Join(dir, fmt.Sprintf("rows%d.csv", i))
		write(t, rows, text)
		done(t, "decompose", "--model", golden("nam_deep_op13"), "--data", rows, "--out", filepath.Join(dir, fmt.Sprint("result", i)))
	}
	return filepath.Join(dir, "result0"), filepath.Join(dir, "result1"), filepath.Join(dir, "rows0.csv"), filepath.Join(dir, "rows1.csv")
}

func comparison(t *testing.T, args ...string) *compare.Comparison {
	t.Helper()
	var c compare.Comparison
	if err := json.Unmarshal([]byte(done(t, append([]string{"compare", "--json"}, args...)...).out), &c); err != nil {
		t.Fatal(err)
	}
	return &c
}

// Two periods of one network: figures that add up, on the terminal, as JSON and as a page; and
// the rows at hand say of each term what the moments say.
func TestCompare(t *testing.T) {
	t.Parallel()
	a, b, rowsA, rowsB := periods(t)
	out := filepath.Join(t.TempDir(), "drift")
	o := done(t, "compare", a, b, "--out", out)
	for _, want := range []string{"the same network", "because the rows are other ones", "f(x0)", "uncertainty: standard errors are those of both projections"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
	c := comparison(t, a, b)
	p := c.Predictors[0]
	parts := p.Unstructured.Change
	for _, term := range p.Terms {
		parts += term.Variance.Change
	}
	if math.Abs(parts-p.Variance.Change) > 1e-9 || math.Abs(p.Mean.Rows+p.Mean.Rest-p.Mean.Change.Change) > 1e-12 || p.Mean.Known != len(p.Terms) || p.Mean.Rows == 0 {
		t.Errorf("%+v", p)
	}
	var doc compare.Comparison
	if err := json.Unmarshal([]byte(read(t, out, comparisonJSON)), &doc); err != nil || doc.Predictors[0].Mean != p.Mean {
		t.Errorf("%v: the file has %+v", err, doc)
	}
	if page := read(t, out, comparisonPage); strings.Count(page, "<figure>") != len(p.Terms) {
		t.Errorf("%d figures of %d terms", strings.Count(page, "<figure>"), len(p.Terms))
	}
	done(t, "compare", a, b, "--out", out) // replaced
	for i, term := range comparison(t, a, b, "--data", rowsB).Predictors[0].Terms {
		if want := p.Terms[i].Rows; math.Abs(*term.Rows-*want) > 1e-9 {
			t.Errorf("%s: %g by the rows, %g by the moments", term.Name, *term.Rows, *want)
		}
	}
	if bad := call(t, "compare", a, b, "--data", rowsA); bad.status != exitFailed || !strings.Contains(bad.err, "name the rows of B") {
		t.Errorf("status %d: %s", bad.status, bad.err)
	}
}

// The same rows, decomposed in two ways: no errors without the rows, joint ones with them.
func TestCompareSameRows(t *testing.T) {
	t.Parallel()
	a, _, rows, _ := periods(t)
	b := filepath.Join(t.TempDir(), "b")
	done(t, "decompose", "--model", golden("nam_deep_op13"), "--data", rows, "--method", "pho", "--out", b)
	c := comparison(t, a, b)
	if term := c.Predictors[0].Terms[0]; !c.SameRows || term.Curve == nil || term.Curve.Ratio != nil || !strings.HasPrefix(c.Uncertainty, "none") {
		t.Errorf("%+v", c)
	}
	for _, args := range [][]string{{"--data", rows}, {"--data", rows, "--model", golden("nam_deep_op13"), "--model", golden("nam_deep_op13")}} {
		c = comparison(t, append([]string{a, b}, args...)...)
		if term := c.Predictors[0].Terms[0]; term.Curve.Ratio == nil || !strings.Contains(c.Uncertainty, "joint") {
			t.Errorf("%v: %+v", args, c)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	a, b, rows, _ := periods(t)
	two := filepath.Join(t.TempDir(), "two")
	heads := filepath.Join(t.TempDir(), "heads.csv")
	goldenRows(t, "two_heads", heads)
	done(t, "decompose", "--model", golden("two_heads"), "--data", heads, "--out", two)
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.CopyFS(broken, os.DirFS(a)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(broken, resultdir.Effects)); err != nil {
		t.Fatal(err)
	}
	later := filepath.Join(t.TempDir(), "later")
	if err := os.CopyFS(later, os.DirFS(a)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(later, resultdir.Decomposition), strings.Replace(read(t, a, resultdir.Decomposition), "pho.decomposition/1", "pho.decomposition/9", 1))
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{a}, exitUsage, "B is missing"},
		{[]string{a, a}, exitUsage, "the same directory"},
		{[]string{a, filepath.Join(a, "..", "result0")}, exitUsage, "the same directory"},
		{[]string{a, a + "x"}, exitFailed, "is not a directory that decompose wrote"},
		{[]string{a, two}, exitFailed, "none is in both"},
		{[]string{a, broken}, exitFailed, "pho report writes effects.csv again"},
		{[]string{a, later}, exitFailed, `format "pho.decomposition/9" is not readable here`},
		{[]string{a, b, "--model", "m.onnx"}, exitUsage, "--model is given twice"},
		{[]string{a, b, "--out", b}, exitFailed, b},
		{[]string{a, b, "--data", "-"}, exitUsage, "name a file"},
		{[]string{a, b, "--data", rows + "x"}, exitFailed, "no such file"},
	} {
		before := contents(t, b)
		if o := call(t, append([]string{"compare"}, c.args...)...); o.status != c.status || !strings.Contains(o.err, c.want) {
			t.Errorf("%q: status %d, %s, want %d, %s", c.args, o.status, o.err, c.status, c.want)
		}
		for name, text := range contents(t, b) {
			if before[name] != text {
				t.Errorf("%q changed %s", c.args, name)
			}
		}
	}
}
