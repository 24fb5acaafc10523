package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// run is what a script has printed: when, where and with which programs.
type run struct {
	script, date, commit, machine, versions string
	rows                                    []row
}

// measurements are the last runs of all scripts on one machine, in alphabetical order.
type measurements struct {
	name string // of the file
	runs []run
}

// of is the run of a script, nil if there was none.
func (m measurements) of(script string) *run {
	i := slices.IndexFunc(m.runs, func(r run) bool { return r.script == script })
	if i < 0 {
		return nil
	}
	return &m.runs[i]
}

// readResults reads the files of a folder, in the order of their names.
func readResults(folder string) ([]measurements, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.tsv"))
	if err != nil {
		return nil, err
	}
	var all []measurements
	for _, path := range paths {
		m, err := readMeasurements(path)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// readMeasurements reads lines of
//
//	run  script  date  commit  machine  versions
//	row  script  case  ours  peer  ratio  answer difference
//
// with tabs between fields; rows follow their run.
func readMeasurements(path string) (measurements, error) {
	m := measurements{name: strings.TrimSuffix(filepath.Base(path), ".tsv")}
	text, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		switch last := len(m.runs) - 1; {
		case f[0] == "run" && len(f) == 6:
			m.runs = append(m.runs, run{script: f[1], date: f[2], commit: f[3], machine: f[4], versions: f[5]})
		case f[0] == "row" && len(f) == 7 && last >= 0 && m.runs[last].script == f[1]:
			m.runs[last].rows = append(m.runs[last].rows, row{name: f[2], ours: f[3], peer: f[4], ratio: f[5], difference: f[6]})
		default:
			return m, fmt.Errorf("%s: line %d is neither a run nor a row of the run before it", path, number)
		}
	}
	return m, nil
}

// keep puts a run in the place of the file's run of that script.
func keep(path string, r run) error {
	m, err := readMeasurements(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	m.runs = append(slices.DeleteFunc(m.runs, func(old run) bool { return old.script == r.script }), r)
	slices.SortFunc(m.runs, func(a, b run) int { return strings.Compare(a.script, b.script) })
	var text strings.Builder
	for _, r := range m.runs {
		fmt.Fprintln(&text, strings.Join([]string{"run", r.script, r.date, r.commit, r.machine, r.versions}, "\t"))
		for _, w := range r.rows {
			fmt.Fprintln(&text, strings.Join([]string{"row", r.script, w.name, w.ours, w.peer, w.ratio, w.difference}, "\t"))
		}
	}
	return write(path, text.String())
}
