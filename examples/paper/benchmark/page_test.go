package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// onPage are the results that README.md of examples/paper shows, each between two lines of its own.
var onPage = []string{"benchmark_ours.md", "benchmark.json"}

// page puts the results into the text of the page; of benchmark.json, a sentence on
// how they came about.
func page(text string, results fs.FS) (string, error) {
	for _, name := range onPage {
		begin, end := fmt.Sprintf("<!-- %s -->\n", name), fmt.Sprintf("<!-- end of %s -->\n", name)
		before, rest, ok := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return "", fmt.Errorf("the page has no lines %q and %q", strings.TrimSpace(begin), strings.TrimSpace(end))
		}
		found, err := fs.ReadFile(results, name)
		if err != nil {
			return "", err
		}
		shown := string(found)
		if strings.HasSuffix(name, ".json") {
			if shown, err = origins(found); err != nil {
				return "", fmt.Errorf("%s: %w", name, err)
			}
		}
		text = before + begin + shown + end + after
	}
	return text, nil
}

// origins tells, out of the file of provenance, what was run and how long it took.
func origins(provenance []byte) (string, error) {
	var p struct {
		Commit, Go, Platform string
		Seconds              float64
		Settings             struct {
			TaskSeconds float64 `json:"task_seconds"`
			Sittings    []sitting
		}
	}
	if err := json.Unmarshal(provenance, &p); err != nil {
		return "", err
	}
	worked := duration(p.Settings.TaskSeconds)
	if len(p.Settings.Sittings) == 0 {
		return fmt.Sprintf("The run took %s, summed over its tasks. It was made with the libraries of commit %s, which does not\nhold the program itself.\n", worked, p.Commit), nil
	}
	text := fmt.Sprintf("The run is of commit %s (%s, %s). It took %s, summed over its tasks, and %s by the clock:\n\n", p.Commit, p.Go, p.Platform, worked, duration(p.Seconds))
	text += "| sitting (UTC) | processor | workers | tasks | by the clock |\n|---|---|---:|---:|---:|\n"
	for _, s := range p.Settings.Sittings {
		text += fmt.Sprintf("| %s | %s | %d | %d | %s |\n", s.Started.UTC().Format("2006-01-02 15:04"), s.Machine, s.Workers, s.Tasks, duration(s.Seconds))
	}
	return text, nil
}

// duration is so many seconds in words.
func duration(seconds float64) string {
	switch d := time.Duration(seconds * float64(time.Second)); {
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.0f s (%.1f hours)", seconds, d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f s (%.0f minutes)", seconds, d.Minutes())
	}
	return fmt.Sprintf("%.0f s", seconds)
}
