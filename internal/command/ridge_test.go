package command

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/resultdir"
)

// Slopes under one penalty, and terms that can be taken out, in one process and in shards to the
// same bytes; with each column's slope in effects.csv and in the summary.
func TestRidge(t *testing.T) {
	h := shards{temp: t.TempDir(), n: 3, random: rand.New(rand.NewPCG(1, 2))}
	data, whole := h.place("rows.csv"), h.place("whole")
	write(t, data, rows(9000))
	args := []string{"--data", data, "--model", golden("ssn_op13"), "--input", "x=x0..x4", "--formula", "~ ridge(x0..x2) + w + g", "--select", "--no-structure"}
	said := done(t, append([]string{"decompose", "--out", whole}, args...)...)
	done(t, append([]string{"plan", "--out", h.place("plan"), "--shards", "3"}, args...)...)
	h.run(t)
	equalResults(t, h.place("result"), whole)
	if h.contributions(t) != read(t, whole, resultdir.Contributions) {
		t.Error("the contributions of shards are not those of one decompose")
	}
	var doc decompose.Result
	if err := json.Unmarshal([]byte(read(t, whole, resultdir.Decomposition)), &doc); err != nil {
		t.Fatal(err)
	}
	terms := map[string]decompose.TermResult{}
	for _, term := range doc.Predictors[0].Terms {
		terms[term.Name] = term
	}
	if ridge := terms["ridge(x0,x1,x2)"]; ridge.Kind != decompose.Linear || ridge.TakenOut || len(ridge.Alpha) != 3 {
		t.Errorf("%+v", ridge)
	}
	var out []string // of w and g, which the network does not read
	for _, name := range []string{"w", "g"} {
		if terms[name].TakenOut {
			out = append(out, name)
		}
	}
	if line := "taken out by smoothing: " + strings.Join(out, ", ") + "\n"; len(out) == 0 || !strings.Contains(said.err, line) {
		t.Errorf("edf of w %g and of g %g, said:\n%s", terms["w"].EDF, terms["g"].EDF, said.err)
	}
	summary := done(t, "summary", whole).out
	effects := read(t, whole, resultdir.Effects)
	for _, column := range []string{"x0", "x1", "x2"} {
		if !strings.Contains(summary, "ridge(x0,x1,x2)["+column+"]") {
			t.Errorf("the summary has no slope of %s:\n%s", column, summary)
		}
		if !strings.Contains(effects, `,"ridge(x0,x1,x2)",after,`+column+",") {
			t.Errorf("effects.csv has no slope of %s", column)
		}
	}
}
