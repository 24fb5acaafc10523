package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// row is a case as a script prints it.
type row struct{ name, ours, peer, ratio, difference string }

// parse finds the rows and versions among the lines of a script.
func parse(out string) (rows []row, versions []string, err error) {
	number := 0
	for line := range strings.Lines(out) {
		number++
		f := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		if f[0] == "version" && len(f) == 2 {
			versions = append(versions, f[1])
			continue
		}
		marked := f[0] == "row"
		if marked {
			f = f[1:]
		}
		switch {
		case marked && len(f) != 5:
			return nil, nil, fmt.Errorf("line %d has %d fields behind \"row\"; case, ours, peer, ratio and answer difference are 5", number, len(f))
		case len(f) != 5 || f[0] == "case" || f[0] == "":
			continue
		}
		if _, err := quantity(f[3]); err != nil {
			return nil, nil, fmt.Errorf("line %d, case %q: the ratio %q is no number", number, f[0], f[3])
		}
		rows = append(rows, row{name: f[0], ours: f[1], peer: f[2], ratio: f[3], difference: f[4]})
	}
	return rows, versions, nil
}

// quantity is the number that begins a field: 12.3 of "12.3 s"; NaN of "-", which
// stands for what was not measured.
func quantity(field string) (float64, error) {
	if field == "-" {
		return math.NaN(), nil
	}
	return strconv.ParseFloat(strings.TrimSuffix(strings.SplitN(field, " ", 2)[0], "x"), 64)
}

// target is what a case should reach.
type target struct {
	script     string
	name       *regexp.Regexp // of the whole case
	least      bool           // the ratio is to be ratio at least, else at most
	ratio      float64        // NaN: any
	difference float64        // of answers, at most; NaN: any
	text       string         // of ratio
	allowed    string         // of difference
}

// parseTargets reads a target a line: script, ratio (>= 15, <= 1.3 or -), answer
// difference at most (or -), and a regular expression for the case. # begins a
// comment.
func parseTargets(text string) ([]target, error) {
	var targets []target
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		bad := fmt.Errorf("line %d: want SCRIPT RATIO DIFFERENCE CASE, as in `bam >= 15 1e-3 ps k=20`", number)
		t := target{script: f[0], ratio: math.NaN(), difference: math.NaN()}
		if f = f[1:]; len(f) > 0 && f[0] == "-" {
			t.text, f = "-", f[1:]
		} else {
			if len(f) < 2 || f[0] != ">=" && f[0] != "<=" {
				return nil, bad
			}
			var err error
			if t.ratio, err = strconv.ParseFloat(f[1], 64); err != nil {
				return nil, bad
			}
			t.least, t.text, f = f[0] == ">=", map[string]string{">=": "≥ ", "<=": "≤ "}[f[0]]+f[1], f[2:]
		}
		if len(f) < 2 {
			return nil, bad
		}
		if t.allowed = f[0]; t.allowed != "-" {
			var err error
			if t.difference, err = strconv.ParseFloat(t.allowed, 64); err != nil {
				return nil, bad
			}
		}
		var err error
		if t.name, err = regexp.Compile("^(?:" + strings.Join(f[1:], " ") + ")$"); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// cases is what the target's cases are called: "..." stands for anything.
func (t target) cases() string {
	name := strings.TrimSuffix(strings.TrimPrefix(t.name.String(), "^(?:"), ")$")
	return strings.NewReplacer(`\`, "", ".*", "...").Replace(name)
}

const (
	yes    = "yes"
	missed = "missed"
	failed = "failed" // another answer
)

// verdict is what is thought of a row.
type verdict struct {
	row    row
	target *target // nil: there is none
	met    string  // yes, missed, failed, or "" where no ratio is wanted
}

// ratio is the row's, marked where it does not meet its target.
func (v verdict) ratio() string {
	switch v.met {
	case missed:
		return "**" + v.row.ratio + "**"
	case failed:
		return "**another answer**"
	}
	return v.row.ratio
}

// judge compares a row with the first target that fits it.
func judge(script string, r row, targets []target) (verdict, error) {
	v := verdict{row: r}
	for i, t := range targets {
		if t.script == script && t.name.MatchString(r.name) {
			v.target = &targets[i]
			break
		}
	}
	if v.target == nil {
		return v, nil
	}
	ratio, err := quantity(r.ratio)
	if err != nil {
		return v, err
	}
	if !math.IsNaN(v.target.difference) {
		miss, err := quantity(r.difference)
		if err != nil {
			return v, fmt.Errorf("case %q: the answer difference %q is no number", r.name, r.difference)
		}
		if !(math.Abs(miss) <= v.target.difference) {
			v.met = failed
			return v, nil
		}
	}
	switch t := v.target; {
	case math.IsNaN(t.ratio):
	case t.least && ratio >= t.ratio || !t.least && ratio <= t.ratio:
		v.met = yes
	default:
		v.met = missed
	}
	return v, nil
}
