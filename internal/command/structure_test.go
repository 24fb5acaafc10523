package command

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Flags override what is found in the graph, and the artifact remembers them for
// apply.
func TestStructureFlags(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	for i, c := range []struct{ model, args, columns string }{
		{"nam_deep_op13", "", "intercept f(x0) f(x1) f(x2) f(x3) unstructured eta"},
		{"nam_deep_op13", "--no-structure", "intercept x0 x1 x2 x3 unstructured eta"},
		{"nam_deep_op13", "--no-structure --formula ~1", "intercept unstructured eta"},
		{"nam_deep_op13", "--deep f(x2) --deep f(x3)", "intercept f(x0) f(x1) unstructured eta"},
		{"nam_pair", "--max-order 1", "intercept f(x0) f(x1) f(x2) f(x3) unstructured eta"},
		{"sigmoid", "--predictor y --formula ~x0", "intercept x0 unstructured eta"},
		{"two_heads", "--predictor mu", "intercept x0 x1 x2 x3 f(x0) unstructured eta"},
		{"two_heads", "--formula ~x2 --formula sigma=~x3-1", "mu.intercept mu.x0 mu.x1 mu.x2 mu.x3 mu.f(x0) mu.unstructured mu.eta sigma.intercept sigma.x1 sigma.x2 sigma.f(x0) sigma.x3 sigma.unstructured sigma.eta"},
	} {
		data, dir := filepath.Join(temp, c.model+".csv"), filepath.Join(temp, "result"+string(rune('a'+i)))
		goldenRows(t, c.model, data)
		done(t, append([]string{"decompose", "--model", golden(c.model), "--data", data, "--out", dir}, strings.Fields(c.args)...)...)
		header, _ := table(t, dir, resultdir.Contributions)
		if got := strings.Join(header, " "); got != c.columns {
			t.Errorf("%s %s: columns\n%s, want\n%s", c.model, c.args, got, c.columns)
		}
		if o := done(t, "apply", "--decomposition", dir, "--data", data, "--out", "-"); o.out != read(t, dir, resultdir.Contributions) {
			t.Errorf("%s %s: apply differs", c.model, c.args)
		}
	}
}

// inspect shows the same structure as text and as JSON.
func TestInspect(t *testing.T) {
	o := done(t, "inspect", golden("two_heads"))
	for _, want := range []string{"predictor mu", "predictor sigma", "softplus is peeled off", "f(x[0])  learned, 4 basis columns", "deep  6 features"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
	o = done(t, "inspect", "--json", golden("two_heads"))
	var doc map[string]any
	if err := json.Unmarshal([]byte(o.out), &doc); err != nil {
		t.Fatal(err)
	}
	if p, _ := doc["predictors"].([]any); len(p) != 2 {
		t.Errorf("predictors %v", doc["predictors"])
	}
	if o := done(t, "inspect", "--no-structure", golden("two_heads")); strings.Contains(o.out, "x[0]  linear") {
		t.Errorf("--no-structure:\n%s", o.out)
	}
}

// Names of columns and levels are the user's: they may hold anything, come out as
// they went in, and cannot reach the terminal or the page.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	network, data, dir := filepath.Join(temp, "net.onnx"), filepath.Join(temp, "rows.csv"), filepath.Join(temp, "result")
	model(t, network, 2, func(b *onnxpb.Builder) {
		b.AddInit("w", []int{2, 1}, 1, 2)
		b.AddNode("MatMul", []string{"x", "w"}, "xw")
		b.AddNode("Sin", []string{"xw"}, "s")
		b.AddNode("Add", []string{"xw", "s"}, "y")
	})
	const script, long = `<script>alert("x")</script>`, "a, very long name of a column: with commas = and 'quotes' and ééé, and more than forty letters"
	quote := func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
	text := quote(script) + "," + quote(long) + ",\"gr\u202eoup\"\n"
	for i, line := range strings.Split(strings.TrimSpace(rows(60)), "\n")[1:] {
		cells := strings.Split(line, ",")
		text += cells[0] + "," + cells[1] + "," + quote([]string{"<b>", "a,b", `"q" é`}[i%3]) + "\n"
	}
	write(t, data, text)
	o := done(t, "decompose", "--model", network, "--data", data, "--formula", "~ `gr\u202eoup`", "--out", dir)
	header, _ := table(t, dir, resultdir.Contributions)
	if !slices.Equal(header, []string{"intercept", script, long, "gr\u202eoup", "unstructured", "eta"}) {
		t.Errorf("columns %q", header)
	}
	if strings.Contains(o.err, "\u202e") || !strings.Contains(o.err, `"gr\u202eoup"`) || !strings.Contains(o.err, "...") || strings.Contains(o.err, long) {
		t.Errorf("summary:\n%s", o.err)
	}
	if page := read(t, dir, resultdir.Report); strings.Count(page, "<script") != 2 || strings.Contains(page, "<script>alert") || strings.Contains(page, "<b>\"") {
		t.Error("a name reached the page as markup")
	}
	if o := done(t, "apply", "--decomposition", dir, "--data", data, "--out", "-"); o.out != read(t, dir, resultdir.Contributions) {
		t.Error("apply differs")
	}
}
