package command

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/serve"
)

// categoricalModel is a LightGBM of kind (a, b) and yes (False, True), of which cells may be missing: 21, 12 and 22 by kind, 100 and 200
// by yes, of which False and what is missing have the same.
const categoricalModel = `tree
version=v4
num_tree_per_iteration=1
max_feature_idx=1
objective=regression
feature_names=kind yes
feature_infos=0:1 0:1

Tree=0
num_leaves=2
split_feature=0
threshold=0
decision_type=1
left_child=-1
right_child=-2
leaf_value=1 2
cat_boundaries=0 1
cat_threshold=1

Tree=1
num_leaves=2
split_feature=0
threshold=0
decision_type=1
left_child=-1
right_child=-2
leaf_value=10 20
cat_boundaries=0 1
cat_threshold=2

Tree=2
num_leaves=2
split_feature=1
threshold=0
decision_type=1
left_child=-1
right_child=-2
leaf_value=200 100
cat_boundaries=0 1
cat_threshold=2

end of trees

pandas_categorical:[["a", "b"], [false, true]]
`

// TestMissingCategories: with --na keep a booster predicts what its library does where a named category is missing, whatever the
// file; its factors have a level for that, in new rows, too. Of truth values texts are the categories.
func TestMissingCategories(t *testing.T) {
	dir := t.TempDir()
	place := func(name string) string { return filepath.Join(dir, name) }
	write(t, place("model.txt"), categoricalModel)
	write(t, place("rows.csv"), "kind,yes,y\na,True,1\nb,False,no\n,TRUE,1\nNA,,no\nb,1,1\n")
	write(t, place("rows.jsonl"), `{"kind":"a","yes":true,"y":"1"}
{"kind":"b","yes":false,"y":"no"}
{"kind":null,"yes":true,"y":"1"}
{"yes":null,"y":"no","kind":null}
{"kind":"b","yes":"True","y":"1"}
`)
	for _, rows := range []string{"rows.csv", "rows.jsonl"} {
		done(t, "decompose", "--model", place("model.txt"), "--data", place(rows), "--na", "keep", "--terms", "fitted", "--out", place("out"))
		parts := read(t, place("out/contributions.csv"))
		var eta []string
		for line := range strings.Lines(parts) {
			eta = append(eta, strings.TrimSpace(line[strings.LastIndex(line, ",")+1:]))
		}
		if got := strings.Join(eta, " "); got != "eta 221 112 222 122 212" {
			t.Errorf("%s: %s", rows, got)
		}
		if effects := read(t, place("out/effects.csv")); !strings.Contains(effects, "eta,kind,before,(missing)") {
			t.Errorf("%s: no level of what is missing:\n%s", rows, effects)
		}
		done(t, "apply", "--decomposition", place("out"), "--data", place(rows), "--na", "keep", "--unseen", "drop", "--out", place("again.csv"))
		if again := read(t, place("again.csv")); again != parts {
			t.Errorf("%s: applied:\n%s\nwant\n%s", rows, again, parts)
		}
	}
	e, err := serve.Open(place("out"), nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := serve.NewRows(2)
	if err := errors.Join(asked.AddCodes("kind", data.Codes{Index: []int32{-1, 0}, Levels: []string{"a"}}), asked.AddNumeric("yes", []float64{1, math.NaN()})); err != nil {
		t.Fatal(err)
	}
	split, _, err := e.Explain(t.Context(), asked, false, data.NAKeep)
	if at := slices.Index(e.Parts(false), "eta"); err != nil || !slices.Equal(split[at], []float64{222, 121}) {
		t.Errorf("served: %v %v", split, err)
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if o := call(t, args...); o.status == exitDone || !strings.Contains(o.err, want) {
			t.Errorf("%q: %d %s, want %s", args, o.status, o.err, want)
		}
	}
	refused(`column "kind": cell "" is empty`, "decompose", "--model", place("model.txt"), "--data", place("rows.csv"), "--out", place("other"))
	text := "x,g,y\n"
	for i := range 60 {
		text += fmt.Sprintf("%d,%s,%s\n", i%7, []string{"a", "b", ""}[i%3], []string{"yes", "no"}[i%2])
	}
	write(t, place("classes.csv"), text)
	write(t, place("gap.csv"), strings.Replace(text, "6,a,yes", "6,a,", 1))
	done(t, "train", "--data", place("classes.csv"), "--formula", "y ~ x + g", "--family", "binomial", "--na", "keep", "--epochs", "1", "--out", place("net"))
	refused(`column "y", data row 7: data: a value is missing, which is allowed in columns of the model and of terms alone`, "decompose", "--model", place("net/model.onnx"), "--data", place("gap.csv"), "--na", "keep", "--response", "y", "--out", place("other"))
	if _, err := os.Stat(place("other")); err == nil {
		t.Error("a result was written")
	}
}
