package main

import (
	"fmt"
	"slices"
	"strings"
)

// run is when and where a script ran.
type run struct {
	date, commit, machine string
	versions              []string
}

// The parts of the page that are replaced.
const (
	summaryMark = "summary"
	resultsMark = "results"
	runsMark    = "runs"
	unmetMark   = "not met"
	summaryHead = "| script | cases | with a target | that they meet |\n|---|---|---|---|\n"
	unmetHead   = "| script | case | ratio | target | |\n|---|---|---|---|---|\n"
	resultsHead = "| script | case | ours | peer | ratio | answer difference | target | met |\n|---|---|---|---|---|---|---|---|\n"
	runsHead    = "| script | run (UTC) | commit | machine | versions |\n|---|---|---|---|---|\n"
)

// replace puts the rows of a script, and when it ran, in the place of those that
// the page has of it.
func replace(page, script string, rows []row, r run) (string, error) {
	var lines []string
	for _, v := range rows {
		target := v.target
		if v.allowed != "" && v.allowed != "-" {
			target += ", differs ≤ " + v.allowed
		}
		lines = append(lines, line(script, v.name, v.ours, v.peer, v.ratio, v.difference, target, v.met))
	}
	page, err := between(page, resultsMark, resultsHead, script, lines)
	if err != nil {
		return "", err
	}
	counts, unmet := summary(script, rows)
	if page, err = between(page, summaryMark, summaryHead, script, counts); err != nil {
		return "", err
	}
	if page, err = between(page, unmetMark, unmetHead, script, unmet); err != nil {
		return "", err
	}
	return between(page, runsMark, runsHead, script, []string{line(script, r.date, r.commit, r.machine, strings.Join(r.versions, "; "))})
}

// summary counts rows, those with a target, and those that meet it; unmet names those that do not.
func summary(script string, rows []row) (counts, unmet []string) {
	met := 0
	for _, r := range rows {
		switch {
		case r.met == "" || r.met == "-" || r.met == notRun && r.target == "-":
		case r.met == "yes":
			met++
		default: // missed, failed, or not run
			unmet = append(unmet, line(script, r.name, r.ratio, r.target, r.met))
		}
	}
	if len(rows) > 0 {
		counts = []string{line(script, fmt.Sprint(len(rows)), fmt.Sprint(met+len(unmet)), fmt.Sprint(met))}
	}
	return counts, unmet
}

// line is a line of a Markdown table.
func line(cells ...string) string {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", "\\|")
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// between replaces the lines of a script in the table between the marks of a name.
// Scripts are in alphabetical order.
func between(page, name, head, script string, lines []string) (string, error) {
	begin, end := fmt.Sprintf("<!-- %s -->\n", name), fmt.Sprintf("<!-- end of %s -->\n", name)
	before, rest, ok := strings.Cut(page, begin)
	if !ok {
		return "", fmt.Errorf("there is no line %q", strings.TrimSpace(begin))
	}
	table, after, ok := strings.Cut(rest, end)
	if !ok {
		return "", fmt.Errorf("there is no line %q behind %q", strings.TrimSpace(end), strings.TrimSpace(begin))
	}
	if strings.Contains(after, begin) || strings.Contains(after, end) {
		return "", fmt.Errorf("the marks of %q are there twice", name)
	}
	var old []string
	for l := range strings.Lines(strings.TrimPrefix(table, head)) {
		if strings.HasPrefix(l, "| ") && of(l) != script {
			old = append(old, l)
		}
	}
	all := append(old, lines...)
	slices.SortStableFunc(all, func(a, b string) int { return strings.Compare(of(a), of(b)) })
	return before + begin + head + strings.Join(all, "") + end + after, nil
}

// of is the script of a line.
func of(line string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
	return name
}
