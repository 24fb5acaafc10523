package main

import (
	"os"
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

<!-- summary -->
| bam | 1 | 0 | 0 |
| forward | 1 | 0 | 0 |
<!-- end of summary -->
<!-- not met -->
| bam | old | 2 | ≥ 3 | **missed** |
<!-- end of not met -->
<!-- results -->
| script | case | ours | peer | ratio | answer difference | target | met |
|---|---|---|---|---|---|---|---|
| bam | old | 1 | 2 | 2 | 0 |  |  |
| forward | MLP | 1 | 2 | 2 | 0 |  |  |
<!-- end of results -->

More by hand.

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

func collect(t *testing.T, printed, wanted string) ([]row, []string) {
	t.Helper()
	rows, versions, err := parse(printed)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := parseTargets(wanted)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err = judge("bam", rows, targets); err != nil {
		t.Fatal(err)
	}
	return rows, versions
}

func TestPage(t *testing.T) {
	rows, versions := collect(t, printed, wanted)
	r := run{"2000-01-02 03:04", "abc", "a machine", append([]string{"go1"}, versions...)}
	got, err := replace(page, "bam", rows, r)
	if err != nil {
		t.Fatal(err)
	}
	want := `# Title

By hand.

<!-- summary -->
| script | cases | with a target | that they meet |
|---|---|---|---|
| bam | 4 | 4 | 2 |
| forward | 1 | 0 | 0 |
<!-- end of summary -->
<!-- not met -->
| script | case | ratio | target | |
|---|---|---|---|---|
| bam | exact | 67.8 | ≥ 60 | **failed**: another answer |
| bam | exact, (tp\|cr) | - | ≥ 60 | not run |
<!-- end of not met -->
<!-- results -->
| script | case | ours | peer | ratio | answer difference | target | met |
|---|---|---|---|---|---|---|---|
| bam | discrete, ps k=20 | 0.90 s | 13.80 s | 15.3 | 2.1e-04 | ≥ 15, differs ≤ 1e-3 | yes |
| bam | exact | 0.90 s | 61.00 s | 67.8 | 3e-2 | ≥ 60, differs ≤ 1e-3 | **failed**: another answer |
| bam | decompose of 1e6 rows | 2.60 s | 2.00 s | 1.30 | - | ≤ 1.3 | yes |
| bam | exact, (tp\|cr) | - | - | - | - | ≥ 60, differs ≤ 1e-3 | not run |
| forward | MLP | 1 | 2 | 2 | 0 |  |  |
<!-- end of results -->

More by hand.

<!-- runs -->
| script | run (UTC) | commit | machine | versions |
|---|---|---|---|---|
| bam | 2000-01-02 03:04 | abc | a machine | go1; mgcv 1.8-41 |
<!-- end of runs -->
The end.
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	again, err := replace(got, "bam", rows, r)
	if err != nil || again != got {
		t.Errorf("a second time changes the page (%v):\n%s", err, again)
	}
	if err := wrong(rows); err == nil || err.Error() != "exact: the answers differ by 3e-2, more than 1e-3" {
		t.Error(err)
	}
}

// TestJudge: no wrong, missing or unmeasured answer meets a target, however fast.
func TestJudge(t *testing.T) {
	for _, c := range []struct{ ratio, difference, target, want string }{
		{"100", "1e-4", ">= 15 1e-3", "yes"},
		{"100 x", "-1e-4", ">= 15 1e-3", "yes"},
		{"15", "1e-3", ">= 15 1e-3", "yes"},
		{"14.9", "0", ">= 15 1e-3", "**missed**"},
		{"100", "2e-3", ">= 15 1e-3", "**failed**: another answer"},
		{"100", "-2e-3", ">= 15 1e-3", "**failed**: another answer"},
		{"100", "NaN", ">= 15 1e-3", "**failed**: another answer"},
		{"100", "-", ">= 15 1e-3", "**failed**: another answer"},
		{"-", "0", ">= 15 1e-3", "**missed**"},
		{"NaN", "0", "<= 15 1e-3", "**missed**"},
		{"1.2", "-", "<= 1.3 -", "yes"},
		{"1.4", "-", "<= 1.3 -", "**missed**"},
		{"7", "2e-3", "- 1e-3", "**failed**: another answer"},
		{"7", "1e-3", "- 1e-3", "-"},
	} {
		rows, _ := collect(t, "row\tx\t1 s\t2 s\t"+c.ratio+"\t"+c.difference, "bam "+c.target+" x")
		if rows[0].met != c.want {
			t.Errorf("%+v: %s", c, rows[0].met)
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
	if _, err := judge("bam", []row{{name: "x", ratio: "1", difference: "small"}}, targets); err == nil || err.Error() != `case "x": the answer difference "small" is no number` {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"":                                       `there is no line "<!-- results -->"`,
		"<!-- results -->\n":                     `there is no line "<!-- end of results -->" behind "<!-- results -->"`,
		strings.Repeat(page, 2):                  `the marks of "results" are there twice`,
		strings.ReplaceAll(page, "runs", "gone"): `there is no line "<!-- runs -->"`,
	} {
		if _, err := replace(text, "bam", nil, run{}); err == nil || err.Error() != want {
			t.Error(err)
		}
	}
}

// TestFiles reads the project's own targets and pages.
func TestFiles(t *testing.T) {
	text, err := os.ReadFile("../targets.txt")
	if err != nil {
		t.Fatal(err)
	}
	if targets, err := parseTargets(string(text)); err != nil || len(targets) == 0 {
		t.Error(len(targets), err)
	}
	for _, page := range []string{"benchmarks.md", "benchmarks-zen4.md", "benchmarks-avx2.md"} {
		own, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := replace(string(own), "bam", nil, run{}); err != nil {
			t.Errorf("%s: %v", page, err)
		}
		if !strings.Contains(string(own), "| bam | ") {
			t.Errorf("%s has no case of bam", page)
		}
		counted(t, page, string(own))
	}
}

// counted compares what a page counts with its table.
func counted(t *testing.T, page, text string) {
	t.Helper()
	part := func(mark string) string {
		_, rest, _ := strings.Cut(text, "<!-- "+mark+" -->")
		table, _, _ := strings.Cut(rest, "<!-- end of")
		return table
	}
	rows := map[string][]row{}
	var scripts []string
	for l := range strings.Lines(part(resultsMark)) {
		c := strings.Split(strings.TrimSuffix(l, " |\n"), " | ")
		if len(c) != 8 || c[1] == "case" {
			continue
		}
		script, target := of(l), c[6]
		if rows[script] == nil {
			scripts = append(scripts, script)
		}
		target, _, _ = strings.Cut(target, ", differs")
		rows[script] = append(rows[script], row{name: strings.ReplaceAll(c[1], `\|`, "|"), ratio: c[4], target: target, met: c[7]})
	}
	sum, not := "\n"+summaryHead, "\n"+unmetHead
	for _, script := range scripts {
		counts, unmet := summary(script, rows[script])
		sum, not = sum+strings.Join(counts, ""), not+strings.Join(unmet, "")
	}
	if got := part(summaryMark); got != sum {
		t.Errorf("%s counts\n%s\nits table has\n%s", page, got, sum)
	}
	if got := part(unmetMark); got != not {
		t.Errorf("%s misses\n%s\nits table misses\n%s", page, got, not)
	}
}
