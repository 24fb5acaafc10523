package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// row is a case as a script prints it, and what is thought of it.
type row struct {
	name, ours, peer, ratio, difference string

	target, allowed string // "": there is none
	met             string
}

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

const (
	failed = "**failed**"
	missed = "**missed**"
	notRun = "not run"
)

// judge sets target and met of the rows: the first target that fits a row is its
// own. A case that a target names and that is not there is a row, too.
func judge(script string, rows []row, targets []target) ([]row, error) {
	used := make([]bool, len(targets))
	for i := range rows {
		r := &rows[i]
		for k, t := range targets {
			if t.script != script || !t.name.MatchString(r.name) {
				continue
			}
			used[k] = true
			if err := r.judge(t); err != nil {
				return nil, err
			}
			break
		}
	}
	for k, t := range targets {
		if t.script == script && !used[k] {
			name := strings.TrimSuffix(strings.TrimPrefix(t.name.String(), "^(?:"), ")$")
			rows = append(rows, row{name: name, ours: "-", peer: "-", ratio: "-", difference: "-", target: t.text, allowed: t.allowed, met: notRun})
		}
	}
	return rows, nil
}

func (r *row) judge(t target) error {
	r.target, r.allowed = t.text, t.allowed
	ratio, err := quantity(r.ratio)
	if err != nil {
		return err
	}
	if !math.IsNaN(t.difference) {
		miss, err := quantity(r.difference)
		if err != nil {
			return fmt.Errorf("case %q: the answer difference %q is no number", r.name, r.difference)
		}
		if !(math.Abs(miss) <= t.difference) {
			r.met = failed + ": another answer"
			return nil
		}
	}
	switch {
	case math.IsNaN(t.ratio):
		r.met = "-"
	case t.least && ratio >= t.ratio || !t.least && ratio <= t.ratio:
		r.met = "yes"
	default:
		r.met = missed
	}
	return nil
}
