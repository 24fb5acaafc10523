package command

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// The command says of each term how far the rows determine it, and why, in the table, below
// it and in the artifact.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows := "age,income,hours\n"
	for i := range 300 {
		rows += fmt.Sprintf("%g,%g,%g\n", float64((i*37)%50)/12-2, float64((i*91)%70)/17-2, float64((i*53)%41)/10-2)
	}
	write(t, dir+"/rows.csv", rows)
	zoo := func(name string) string {
		return filepath.Join("..", "..", "testdata", "zoo", "networks", "interpret", name+".onnx")
	}
	for _, c := range []struct {
		network string
		flags   []string
		printed []string
		of      map[string]string // by term
	}{
		{"regressor", nil, []string{"identified"}, map[string]string{"f(age)": "identified", "f(income)": "identified", "f(hours)": "identified"}},
		{"pairs", nil, []string{"  Interactions are hierarchical: "},
			map[string]string{"f(age)": "sum", "s(age)": "sum", "f(age,income)": "convention"}},
		{"pairs", []string{"--formula", "~ 1"}, []string{"f(age): its split with f(age,income), f(age,hours) is hierarchical as far as the model's bases go"},
			map[string]string{"f(age)": "convention", "f(age,income)": "convention"}},
		{"pairs", []string{"--terms", "fitted"}, []string{"f(age): its split with f(age,income), f(age,hours) is the model's own"},
			map[string]string{"f(age)": "convention", "f(age,income)": "convention"}},
		{"classes", nil, []string{": the predictor's convention: "}, map[string]string{"f(age)": "convention"}},
		{"regressor", []string{"--formula", "~ age + s(hours)"}, []string{"f(age) + age", "sum", "  f(income)"},
			map[string]string{"f(age)": "sum", "age": "sum", "f(hours)": "sum", "s(hours)": "sum", "f(income)": "identified"}},
	} {
		out := filepath.Join(dir, c.network+strings.Join(c.flags, " "))
		o := done(t, append([]string{"decompose", "--model", zoo(c.network), "--data", dir + "/rows.csv", "--out", out}, c.flags...)...)
		for _, want := range c.printed {
			if !strings.Contains(o.out+o.err, want) {
				t.Errorf("%s %v: %q is not in\n%s", c.network, c.flags, want, o.out+o.err)
			}
		}
		var doc struct {
			Predictors []struct {
				Name  string
				Terms []struct{ Name, Verdict, Why string }
			}
		}
		if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "decomposition.json"))), &doc); err != nil {
			t.Fatal(err)
		}
		for _, p := range doc.Predictors {
			if len(doc.Predictors) > 3 && p.Name != "prediction" {
				continue // the file has each term's scores as outputs, too
			}
			for _, term := range p.Terms {
				if want := c.of[term.Name]; want != "" && term.Verdict != want {
					t.Errorf("%s %v: %s is %q (%s), want %q", c.network, c.flags, term.Name, term.Verdict, term.Why, want)
				}
				if (term.Why == "") != (term.Verdict == "identified") {
					t.Errorf("%s: %s is %q because %q", c.network, term.Name, term.Verdict, term.Why)
				}
			}
		}
		if page := read(t, filepath.Join(out, "report.html")); !strings.Contains(page, "verdict") {
			t.Errorf("%s: the report has no verdicts", c.network)
		}
	}
}
