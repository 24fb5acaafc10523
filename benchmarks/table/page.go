package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The parts of the page, and of the details beside the results, that are written.
const (
	resultsMark = "results"
	unmetMark   = "not met"
	runsMark    = "runs"
)

// tables writes the results by target into the page, and into the details the cases that miss
// their target, and the runs.
func tables(page, details string, machines []measurements, targets []target) (string, string, error) {
	results, unmet, err := judged(machines, targets)
	if err != nil {
		return "", "", err
	}
	if page, err = between(page, resultsMark, results); err != nil {
		return "", "", err
	}
	if details, err = between(details, unmetMark, unmet); err != nil {
		return "", "", err
	}
	runs := head("machine", "script", "run (UTC)", "commit", "versions")
	for _, m := range machines {
		for _, r := range m.runs {
			runs += line(m.name, r.script, r.date, r.commit, r.versions)
		}
	}
	details, err = between(details, runsMark, runs)
	return page, details, err
}

// judged is the table of targets, with the ratios of the cases of each on each machine, and
// that of the cases that do not meet theirs on some machine.
func judged(machines []measurements, targets []target) (results, unmet string, err error) {
	var names []string
	for _, m := range machines {
		names = append(names, m.name)
	}
	results = head(append([]string{"script", "cases", "target"}, names...)...)
	unmet = head(append([]string{"script", "case", "target"}, names...)...)
	for k := range targets {
		t := &targets[k]
		if math.IsNaN(t.ratio) {
			continue
		}
		cells := []string{t.script, t.cases(), t.text}
		missing := map[string][]string{} // by case: what it came to on each machine
		var order []string
		for i, m := range machines {
			var found group
			if r := m.of(t.script); r != nil {
				for _, w := range r.rows {
					v, err := judge(t.script, w, targets)
					if err != nil {
						return "", "", err
					}
					if v.target != t {
						continue
					}
					found.add(v)
					if missing[w.name] == nil {
						missing[w.name] = slices.Repeat([]string{"-"}, len(machines))
						order = append(order, w.name)
					}
					missing[w.name][i] = v.ratio()
				}
			}
			cells = append(cells, found.String())
		}
		results += line(cells...)
		for _, name := range order {
			if slices.ContainsFunc(missing[name], func(c string) bool { return strings.HasPrefix(c, "**") }) {
				unmet += line(append([]string{t.script, name, t.text}, missing[name]...)...)
			}
		}
	}
	return results, unmet, nil
}

// group is the cases of a target on one machine.
type group struct {
	lowest, highest string
	cases, met      int
}

func (g *group) add(v verdict) {
	number := func(field string) float64 { x, _ := quantity(field); return x }
	short, _, _ := strings.Cut(v.row.ratio, " ")
	if g.cases == 0 || number(short) < number(g.lowest) {
		g.lowest = short
	}
	if g.cases == 0 || number(short) > number(g.highest) {
		g.highest = short
	}
	g.cases++
	if v.met == yes {
		g.met++
	}
}

// String is the range of ratios and, where some miss the target, how many meet it.
func (g *group) String() string {
	text := g.lowest
	if g.highest != g.lowest {
		text += " to " + g.highest
	}
	switch {
	case g.cases == 0:
		return "-"
	case g.met < g.cases:
		return fmt.Sprintf("%s, **%d of %d**", text, g.met, g.cases)
	case g.cases > 1:
		return fmt.Sprintf("%s, all %d", text, g.cases)
	}
	return text
}

func head(cells ...string) string {
	return line(cells...) + strings.Repeat("|---", len(cells)) + "|\n"
}

// line is a line of a Markdown table.
func line(cells ...string) string {
	escaped := make([]string, len(cells))
	for i, c := range cells {
		escaped[i] = strings.ReplaceAll(c, "|", "\\|")
	}
	return "| " + strings.Join(escaped, " | ") + " |\n"
}

// between replaces what stands between the marks of a name.
func between(page, name, text string) (string, error) {
	begin, end := fmt.Sprintf("<!-- %s -->\n", name), fmt.Sprintf("<!-- end of %s -->\n", name)
	before, rest, ok := strings.Cut(page, begin)
	if !ok {
		return "", fmt.Errorf("there is no line %q", strings.TrimSpace(begin))
	}
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		return "", fmt.Errorf("there is no line %q behind %q", strings.TrimSpace(end), strings.TrimSpace(begin))
	}
	if strings.Contains(after, begin) || strings.Contains(after, end) {
		return "", fmt.Errorf("the marks of %q are there twice", name)
	}
	return before + begin + text + end + after, nil
}
