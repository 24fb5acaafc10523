package decompose_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/label"
)

// reasoned is a decomposition that has reasons of most kinds, of columns of these names.
func reasoned(t *testing.T, a, b, c, d string) *decompose.Result {
	t.Helper()
	const n = 400
	v := make([][]float64, 5)
	for j := range v {
		v[j] = make([]float64, n)
	}
	g := make([]string, n)
	for i := range n {
		x := float64(i)
		v[0][i], v[1][i], v[2][i], g[i] = math.Sin(x*x), math.Cos(3*x*x), math.Sin(5*x+x*x), string("uvw"[i%3])
		v[4][i] = v[2][i] + 5e-2*math.Sin(7*x*x)
	}
	v[3][7] = 1 // single
	tab := newFrame(n).with(a, v[0]).with(b, v[1]).with(c, v[2]).with("single", v[3]).with("copy", v[4]).withText(d, g).table(t)
	formula := strings.NewReplacer("A", "`"+a+"`", "B", "`"+b+"`", "C", "`"+c+"`", "D", "`"+d+"`").Replace("~ A + s(A,k=5) + B + D + B:D + C + copy + single")
	m := formulaBox(t, tab, []string{a, b, c}, formula, func(x []float64) float64 { return x[0] + x[1]*x[2] + math.Sin(9*x[0]*x[2]) })
	r, _ := run(t, m, tab, decompose.Options{Projection: decompose.Projection{Terms: decompose.Fitted},
		Smoothing: decompose.Smoothing{Shared: []decompose.Sharing{{Predictors: []string{"eta"}, Uniqueness: decompose.ClassContrast("red; or"), Apart: true}}}})
	return r
}

// whys are what is said of the terms and of their sums.
func whys(r *decompose.Result) (out []string) {
	for _, term := range r.Predictors[0].Terms {
		out = append(out, fmt.Sprintf("%s is %s: %s", term.Name, term.Verdict, term.Why))
		for _, reason := range term.Reasons() {
			out = append(out, fmt.Sprintf("- %q with %q", reason.Text, reason.With))
		}
	}
	for _, e := range r.Predictors[0].Entangled {
		out = append(out, e.Reason, fmt.Sprint(e.Because))
	}
	return out
}

// TestReasonsAreTheSameByAnyNames: what separates reasons, and words of theirs, may be in the
// names of columns and in labels; with labels they are what they would be of columns so called.
func TestReasonsAreTheSameByAnyNames(t *testing.T) {
	names := []string{"a; b", "only c + told from d", "; besides, e", "f is: g"}
	labels := []string{"Height; above", "Width + x0 and", "copy is; it", "D"}
	plain := reasoned(t, names[0], names[1], names[2], names[3])
	kinds := map[decompose.ReasonKind]bool{}
	for _, term := range plain.Predictors[0].Terms {
		for _, reason := range term.Reasons() {
			kinds[reason.Kind] = true
		}
	}
	for _, want := range []decompose.ReasonKind{decompose.ReasonSum, decompose.ReasonLinearEffect, decompose.ReasonSingleRows, decompose.ReasonNearCopy, decompose.ReasonStandardError, decompose.ReasonSplit, decompose.ReasonPredictor} {
		if !kinds[want] {
			t.Errorf("no reason of kind %q: the test looks at too little", want)
		}
	}
	x := plain.Predictors[0].Terms[0]
	want := []decompose.Reason{
		{Kind: decompose.ReasonSum, Text: "only a; b + s(a; b) is determined", With: []string{"a; b", "s(a; b)"}},
		{Kind: decompose.ReasonLinearEffect, Text: "s(a; b) contains the linear effect of a; b", With: []string{"s(a; b)", "a; b"}},
	}
	if fmt.Sprint(x.Reasons()) != fmt.Sprint(want) || x.Why != want[0].Text+": "+want[1].Text {
		t.Errorf("%s: %v, %q", x.Name, x.Reasons(), x.Why)
	}

	called := plain
	called.Labels = &label.Labels{Columns: map[string]label.Column{}, Predictors: map[string]string{"red; or": "crimson"}}
	for i, name := range names {
		called.Labels.Columns[name] = label.Column{Name: labels[i]}
	}
	so := strings.ReplaceAll(strings.Join(whys(reasoned(t, labels[0], labels[1], labels[2], labels[3])), "\n"), "red; or", "crimson")
	if got := strings.Join(whys(called.Labelled()), "\n"); got != so {
		t.Errorf("with labels\n%s\nwant\n%s", got, so)
	}
	if again := reread(t, encoded(t, called)); !slices.Equal(whys(again), whys(plain)) || strings.Join(whys(again.Labelled()), "\n") != so {
		t.Errorf("read again\n%q", whys(again.Labelled()))
	}
}

func encoded(t *testing.T, r *decompose.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, r.Encode(&b))
	return b.Bytes()
}

func reread(t *testing.T, doc []byte) *decompose.Result {
	t.Helper()
	r, err := decompose.Read(bytes.NewReader(doc), nil, basis.Decode)
	must(t, err)
	return r
}

// TestResultsWithoutReasons: of a file of before there were reasons and contrasts, why is one
// reason, and the reference class is found in the words.
func TestResultsWithoutReasons(t *testing.T) {
	r := reasoned(t, "a; b", "b", "c", "d")
	var doc map[string]any
	must(t, json.Unmarshal(encoded(t, r), &doc))
	for _, p := range doc["predictors"].([]any) {
		delete(p.(map[string]any), "contrast")
		delete(p.(map[string]any), "reference")
		for _, part := range []string{"terms", "entangled"} {
			for _, e := range p.(map[string]any)[part].([]any) {
				delete(e.(map[string]any), "reasons")
			}
		}
	}
	delete(doc, "sha256")
	text, err := json.Marshal(doc)
	must(t, err)
	text, err = decompose.Sign(text)
	must(t, err)
	old := reread(t, text)
	if d := old.Predictors[0]; d.Contrast != decompose.ToClass || d.Reference != "red; or" {
		t.Errorf("%+v", d.Uniqueness)
	}
	old.Labels = &label.Labels{Predictors: map[string]string{"red; or": "crimson"}}
	if d := old.Labelled().Predictors[0]; d.Convention != "difference to class crimson" || d.Reference != "crimson" {
		t.Errorf("%+v", d.Uniqueness)
	}
	for j, term := range old.Labelled().Predictors[0].Terms {
		if got := term.Reasons(); len(got) != 1 || got[0].Text != r.Predictors[0].Terms[j].Why {
			t.Errorf("%s: %v", term.Name, got)
		}
	}
}

// TestReasonsOfOtherTerms: a file whose reasons cannot be told is refused.
func TestReasonsOfOtherTerms(t *testing.T) {
	doc := encoded(t, reasoned(t, "a", "b", "c", "d"))
	for change, want := range map[string]string{`"with": ["s(a)", "z"]`: `names the term "z", which is not there`, `"with": ["s(a)"]`: "is of 1 terms, not of two"} {
		edited := regexp.MustCompile(`"with": \[\s*"s\(a\)",\s*"a"\s*\]`).ReplaceAll(doc, []byte(change))
		signed, err := decompose.Sign(edited)
		must(t, err)
		if _, err := decompose.Read(bytes.NewReader(signed), nil, basis.Decode); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", change, err, want)
		}
	}
}

// renamed is an interaction of another name.
type renamed struct{ interaction }

type interaction interface {
	decompose.Term
	Interaction() bool
}

func (renamed) Name() string { return "f" }

// TestCentredMarginsByAnyName: that margins are centred is told by the term, not by its name.
func TestCentredMarginsByAnyName(t *testing.T) {
	tab := normals(t, 800, 2, 3)
	m := formulaBox(t, tab, []string{"x0", "x1"}, "~ s(x0,k=5) + ti(x0,x1,k=4)", func(x []float64) float64 { return math.Sin(x[0]) + x[1]*x[0] })
	blocks := m.Blocks(0)
	blocks[1].Term = renamed{blocks[1].Term.(interaction)}
	m, err := decompose.With(&of{[]string{"x0", "x1"}, func(x []float64) float64 { return math.Sin(x[0]) + x[1]*x[0] }}, map[string][]decompose.Block{"": blocks})
	must(t, err)
	r, _ := run(t, m, tab, decompose.Options{Projection: decompose.Projection{Terms: decompose.Fitted}})
	if reasons := r.Predictors[0].Terms[1].Reasons(); len(reasons) == 0 || reasons[len(reasons)-1].Rule != decompose.ByMargins {
		t.Errorf("%v", reasons)
	}
}
