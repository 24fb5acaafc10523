package command

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/recipe"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
)

// remainderOf reads what a result says of its first predictor's remainder.
func remainderOf(t *testing.T, dir string) *decompose.Remainder {
	t.Helper()
	var doc struct {
		Formulas   []string
		Predictors []struct{ Remainder *decompose.Remainder }
	}
	if err := json.Unmarshal([]byte(read(t, dir, resultdir.Decomposition)), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Predictors[0].Remainder
}

// TestInteractions: pairs are ranked, said and added; the formula that is printed gives the
// same result.
func TestInteractions(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	data := filepath.Join(temp, "rows.csv")
	write(t, data, rows(5000))
	decomp := func(dir string, more ...string) (string, string) {
		to := filepath.Join(temp, dir)
		return done(t, append([]string{"decompose", "--model", golden("blackbox"), "--data", data, "--input", "x=x0..x3", "--out", to}, more...)...).err, to
	}
	said, ranked := decomp("ranked", "--interactions", "0")
	m := remainderOf(t, ranked)
	if len(m.Pairs) < 2 || m.Share <= 0 {
		t.Fatalf("%+v", m)
	}
	if want := m.Pairs[0].Term; !strings.Contains(said, want) || !strings.Contains(said, "no pair explains") || !strings.Contains(read(t, ranked, resultdir.Report), want) {
		t.Errorf("no %q in the summary\n%s\nor not in the report", want, said)
	}
	said, added := decomp("added", "--interactions", "2")
	after := remainderOf(t, added)
	if gain := m.Pairs[0].Gain + m.Pairs[1].Gain; m.Share-after.Share < 0.8*gain {
		t.Errorf("two pairs were said to take %.4f, and took %.4f", gain, m.Share-after.Share)
	}
	formula := strings.TrimSuffix(strings.SplitN(said, "--formula '", 2)[1], "\n")
	formula = formula[:strings.Index(formula, "'\n")]
	for _, p := range m.Pairs[:2] {
		if !strings.Contains(formula, p.Term) {
			t.Errorf("no %s in %q", p.Term, formula)
		}
	}
	_, copied := decomp("copied", "--formula", formula)
	for _, name := range []string{resultdir.Decomposition, resultdir.Contributions, resultdir.Effects} {
		if read(t, added, name) != read(t, copied, name) {
			t.Errorf("%s is another one with the formula copied", name)
		}
	}
	if said, dir := decomp("none", "--interactions", "none"); remainderOf(t, dir) != nil || strings.Contains(said, "what is left") {
		t.Errorf("nobody asked:\n%s", said)
	}
	_, automatic := decomp("auto", "--interactions", "auto")
	for _, p := range remainderOf(t, automatic).Pairs {
		if p.Gain > 0.01 {
			t.Errorf("%s would take %.4f and was not added", p.Term, p.Gain)
		}
	}
	// Nobody named terms: pairs come as with auto. Of terms that somebody named, none do.
	if said, dir := decomp("default"); remainderOf(t, dir).Share != remainderOf(t, automatic).Share || !strings.Contains(said, "added for what was left: ti(") {
		t.Errorf("without a formula:\n%s", said)
	}
	if said, dir := decomp("named", "--formula", "~ ."); !cmp.Equal(remainderOf(t, dir), m) || strings.Contains(said, "added for what was left") {
		t.Errorf("with a formula:\n%s", said)
	}
	if o := call(t, "decompose", "--model", golden("blackbox"), "--data", data, "--interactions", "some", "--out", filepath.Join(temp, "x")); o.status != exitUsage || !strings.Contains(o.err, `--interactions "some"`) {
		t.Errorf("status %d: %s", o.status, o.err)
	}

	source, err := files.Open([]string{data}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	d, err := pho.Decompose(t.Context(), golden("blackbox"), source, &pho.Options{Inputs: map[string][]string{"x": {"x0", "x1", "x2", "x3"}}, Interactions: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(after, d.Result.Predictors[0].Remainder, cmpopts.IgnoreFields(decompose.PairGain{}, "MaxEDF")); diff != "" {
		t.Errorf("package pho finds another remainder:\n%s", diff)
	}
}

// TestTermsThatAreProposed: every kind of term that the ranking proposes can be fitted.
func TestTermsThatAreProposed(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	data := filepath.Join(temp, "rows.csv")
	var text strings.Builder
	text.WriteString("x,z,three,two,other,g,h,code,y\n")
	for i := range 3000 {
		u := func(k int) float64 { return float64((i*k)%3001) / 3001 }
		level := func(k, n int) int { return int(u(k) * float64(n)) }
		fmt.Fprintf(&text, "%g,%g,%d,%d,%d,%c,%c,%d,%g\n", u(577), u(1123), level(331, 3), level(811, 2), level(1471, 2),
			'a'+rune(level(2203, 4)), 'p'+rune(level(2711, 3)), level(1907, 5), u(131))
	}
	write(t, data, text.String())
	trained := filepath.Join(temp, "net")
	done(t, "train", "--data", data, "--formula", "y ~ 1", "--kind", "mlp", "--deep", "x,z,three,two,other,g,h,code", "--epochs", "2", "--out", trained)
	for _, term := range []string{
		`ti(x, z)`, `ti(x, three, k = c(5, 3))`, `s(x, by = ordered(two), k = 5, bs = "cs")`, `ti(x, g, bs = c("cr", "re"))`,
		`ti(three, g, k = c(3, 5), bs = c("cr", "re"))`, `g:h`, `two:g`, `two:other`, `s(x, by = ordered(code), k = 5, bs = "cs")`,
		`factor(code):g`, `s(g, h, bs = "re")`,
	} {
		done(t, "decompose", "--model", filepath.Join(trained, fileNetwork), "--data", data, "--formula", "~ s(x) + s(z) + three + two + other + g + h + factor(code) + "+term, "--out", filepath.Join(temp, "r"))
	}
}

// TestInteractionsOfClasses: pairs are added to all classes alike, so that they still share
// smoothing parameters.
func TestInteractionsOfClasses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "rows.csv")
	write(t, data, classRowsCSV([]string{"high", "low", "middle"}, 2000))
	for _, n := range []string{"auto", "1", "3"} {
		out := filepath.Join(dir, n)
		said := done(t, "decompose", "--model", zoo("keras/classes"), "--data", data, "--out", out, "--input", kerasInput(t)+"=a,b,c,d", "--response", "number", "--interactions", n).err
		if strings.Count(said, "copy the formula") != 1 || strings.Contains(said, "smoothing parameters of its own") || !strings.Contains(said, "added for what was left: ti(") {
			t.Errorf("--interactions %s:\n%s", n, said)
		}
		var of [][]string
		for _, p := range document(t, out)["predictors"].([]any) {
			var names []string
			for _, term := range p.(map[string]any)["terms"].([]any) {
				names = append(names, term.(map[string]any)["name"].(string))
			}
			of = append(of, names)
		}
		if len(of) != 3 || !cmp.Equal(of[0], of[1]) || !cmp.Equal(of[0], of[2]) {
			t.Errorf("--interactions %s: terms of the classes differ: %q", n, of)
		}
	}
}

// TestFormulasOfPredictors: pairs of single predictors are told with the formula of all in one line, to be copied at once, and whole,
// however long it is.
func TestFormulasOfPredictors(t *testing.T) {
	d := &decomposeFlags{}
	long := "~ " + strings.Repeat("s(a) + ", 3000) + "b"
	var out strings.Builder
	log := &progress{w: &out}
	log.later(d.settled(&recipe.Made{Ready: &wiring.Ready{Chosen: []string{long, "mu = ~ ti(a, b)"}}, Added: []string{"ti(a, b)", "ti(b, c)", "ti(a, b)"}})...)
	log.writeNotes()
	want := "note: added for what was left: ti(a, b) (2 predictors), ti(b, c)\nnote: terms chosen by the columns, and what was added; to change them, copy all formulas:\n" +
		"  --formula '" + long + "' --formula 'mu = ~ ti(a, b)'\n"
	if got := out.String(); got != want {
		t.Errorf("%.300s ... %s", got, got[max(0, len(got)-100):])
	}
}
