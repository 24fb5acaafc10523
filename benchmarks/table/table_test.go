package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const printed = `machine: a machine
version	mgcv 1.8-41
case	ours	peer	ratio	answer difference
row	discrete, ps k=20	0.90 s	13.80 s	15.3	2.1e-04
row	exact	0.90 s	61.00 s	67.8	3e-2
decompose of 1e6 rows	2.60 s	2.00 s	1.30	-
ours [s] is for people
`

const page = `# Title

By hand.

<!-- results -->
old
<!-- end of results -->
More by hand.
<!-- not met -->
<!-- end of not met -->
<!-- runs -->
<!-- end of runs -->
The end.
`

const wanted = `
# script ratio difference case
bam >= 15  1e-3  discrete, ps k=20
bam >= 60  1e-3  exact     # another answer
bam <= 1.3 -     decompose of .*
bam >= 60  1e-3  exact, (tp|cr)
forward >= 2 1e-6 NAM
`

func collect(t *testing.T, printed, wanted string) ([]row, []target) {
	t.Helper()
	rows, _, err := parse(printed)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := parseTargets(wanted)
	if err != nil {
		t.Fatal(err)
	}
	return rows, targets
}

func TestPage(t *testing.T) {
	rows, targets := collect(t, printed, wanted)
	folder := t.TempDir()
	bam := run{"bam", "2000-01-02 03:04", "abc", "a machine", "go1; mgcv 1.8-41", rows}
	faster := bam
	faster.rows = []row{{"discrete, ps k=20", "0.5 s", "13.8 s", "27.6", "2.1e-04"}, {"exact", "0.9 s", "61 s", "67.8", "1e-5"}}
	for name, r := range map[string]run{"one": bam, "two": faster} {
		old := r
		old.date = "1999-01-01 00:00"
		for _, r := range []run{{script: "forward", date: "1999"}, old, r} { // the later one stays
			if err := keep(filepath.Join(folder, name+".tsv"), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	machines, err := readResults(folder)
	if err != nil {
		t.Fatal(err)
	}
	got, err := written(page, machines, targets)
	if err != nil {
		t.Fatal(err)
	}
	want := `# Title

By hand.

<!-- results -->
| script | cases | target | one | two |
|---|---|---|---|---|
| bam | discrete, ps k=20 | ≥ 15 | 15.3 | 27.6 |
| bam | exact | ≥ 60 | 67.8, **0 of 1** | 67.8 |
| bam | decompose of ... | ≤ 1.3 | 1.30 | - |
| bam | exact, (tp\|cr) | ≥ 60 | - | - |
| forward | NAM | ≥ 2 | - | - |
<!-- end of results -->
More by hand.
<!-- not met -->
| script | case | target | one | two |
|---|---|---|---|---|
| bam | exact | ≥ 60 | **another answer** | 67.8 |
<!-- end of not met -->
<!-- runs -->
| machine | script | run (UTC) | commit | versions |
|---|---|---|---|---|
| one | bam | 2000-01-02 03:04 | abc | go1; mgcv 1.8-41 |
| one | forward | 1999 |  |  |
| two | bam | 2000-01-02 03:04 | abc | go1; mgcv 1.8-41 |
| two | forward | 1999 |  |  |
<!-- end of runs -->
The end.
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if again, err := written(got, machines, targets); err != nil || again != got {
		t.Errorf("a second time changes the page (%v):\n%s", err, again)
	}
	if faults, err := wrong("bam", rows, targets); err != nil || faults == nil || faults.Error() != "exact: the answers differ by 3e-2, more than 1e-3" {
		t.Error(faults, err)
	}
}

// TestRange: of several cases the page has the least and the largest ratio, and how many meet the target.
func TestRange(t *testing.T) {
	for want, ratios := range map[string][]string{"-": nil, "2.0": {"2.0"}, "2.0 to 10.5, all 2": {"10.5 (9 to 12)", "2.0"}, "0.9 to 3, **2 of 3**": {"3", "0.9", "1"}} {
		var g group
		for _, ratio := range ratios {
			rows, targets := collect(t, "row\tx\t1 s\t2 s\t"+ratio+"\t-", "bam >= 1 - x")
			v, err := judge("bam", rows[0], targets)
			if err != nil {
				t.Fatal(err)
			}
			g.add(v)
		}
		if g.String() != want {
			t.Errorf("%v: %q, want %q", ratios, g.String(), want)
		}
	}
}

// TestJudge: no wrong, missing or unmeasured answer meets a target, however fast.
func TestJudge(t *testing.T) {
	for _, c := range []struct{ ratio, difference, target, want string }{
		{"100", "1e-4", ">= 15 1e-3", "yes"},
		{"100 x", "-1e-4", ">= 15 1e-3", "yes"},
		{"15", "1e-3", ">= 15 1e-3", "yes"},
		{"14.9", "0", ">= 15 1e-3", missed},
		{"100", "2e-3", ">= 15 1e-3", failed},
		{"100", "-2e-3", ">= 15 1e-3", failed},
		{"100", "NaN", ">= 15 1e-3", failed},
		{"100", "-", ">= 15 1e-3", failed},
		{"-", "0", ">= 15 1e-3", missed},
		{"NaN", "0", "<= 15 1e-3", missed},
		{"1.2", "-", "<= 1.3 -", "yes"},
		{"1.4", "-", "<= 1.3 -", missed},
		{"7", "2e-3", "- 1e-3", failed},
		{"7", "1e-3", "- 1e-3", ""},
	} {
		rows, targets := collect(t, "row\tx\t1 s\t2 s\t"+c.ratio+"\t"+c.difference, "bam "+c.target+" x")
		if v, err := judge("bam", rows[0], targets); err != nil || v.met != c.want {
			t.Errorf("%+v: %s, %v", c, v.met, err)
		}
	}
}

func TestBad(t *testing.T) {
	for out, want := range map[string]string{
		"row\ta\tb\n":             `line 1 has 2 fields behind "row"; case, ours, peer, ratio and answer difference are 5`,
		"\nrow\ta\t1\t2\tfast\t0": `line 2, case "a": the ratio "fast" is no number`,
	} {
		if _, _, err := parse(out); err == nil || err.Error() != want {
			t.Error(err)
		}
	}
	for _, text := range []string{"bam", "bam 15 1e-3 x", "bam >= x 1e-3 x", "bam >= 15 x x", "bam >= 15 1e-3", "bam >= 15 1e-3 ("} {
		if _, err := parseTargets(text); err == nil || !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Error(text, err)
		}
	}
	targets, err := parseTargets("bam >= 15 1e-3 x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := judge("bam", row{name: "x", ratio: "1", difference: "small"}, targets); err == nil || err.Error() != `case "x": the answer difference "small" is no number` {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"":                                       `there is no line "<!-- results -->"`,
		"<!-- results -->\n":                     `there is no line "<!-- end of results -->" behind "<!-- results -->"`,
		strings.Repeat(page, 2):                  `the marks of "results" are there twice`,
		strings.ReplaceAll(page, "runs", "gone"): `there is no line "<!-- runs -->"`,
	} {
		if _, err := written(text, nil, nil); err == nil || err.Error() != want {
			t.Error(err)
		}
	}
	path := filepath.Join(t.TempDir(), "m.tsv")
	for _, text := range []string{"row\tbam\tx\t1\t2\t3\t4\n", "run\tbam\n", "run\tbam\t1\t2\t3\t4\nrow\tblas\tx\t1\t2\t3\t4\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readMeasurements(path); err == nil || !strings.Contains(err.Error(), "is neither a run nor a row of the run before it") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestFiles: the page is what the results and targets of the project say.
func TestFiles(t *testing.T) {
	text, err := os.ReadFile("../targets.txt")
	if err != nil {
		t.Fatal(err)
	}
	targets, err := parseTargets(string(text))
	if err != nil {
		t.Fatal(err)
	}
	machines, err := readResults("../results")
	if err != nil || len(machines) == 0 {
		t.Fatal(len(machines), err)
	}
	var own [2]string
	for i, path := range []string{"../../docs/benchmarks.md", "../results/README.md"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		own[i] = string(text)
	}
	if page, details, err := tables(own[0], own[1], machines, targets); err != nil || page != own[0] || details != own[1] {
		t.Errorf("docs/benchmarks.md or benchmarks/results/README.md is not what benchmarks/results and targets.txt say (%v): go run ./table, in benchmarks with -page, -results and -targets, writes them", err)
	}
}

// written is a page that holds what tables writes into two.
func written(page string, machines []measurements, targets []target) (string, error) {
	page, _, err := tables(page, page, machines, targets)
	if err != nil {
		return "", err
	}
	_, page, err = tables(page, page, machines, targets)
	return page, err
}
