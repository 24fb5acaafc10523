package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// measure is a named number.
type measure struct {
	name  string
	value float64
}

// task is one model on one fold.
type task struct {
	arm, set string
	fold     int
	arch     string // of the published arm
	model    string
}

func (t task) String() string {
	return strings.Join([]string{t.arm, t.set, strconv.Itoa(t.fold), t.arch, t.model}, ",")
}

// journal keeps what finished tasks measured, in memory and in a file that survives
// an interruption: a run that is started again goes on from there.
type journal struct {
	mu   sync.Mutex
	path string
	done map[string][]measure
}

// openJournal reads the file if it exists. A task counts as done when its last
// measure, the seconds it took, is there.
func openJournal(path string) (*journal, error) {
	j := &journal{path: path, done: map[string][]measure{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	r := csv.NewReader(strings.NewReader(strings.Join(lines[:len(lines)-1], ""))) // a line cut off is dropped
	records, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: remove it to begin anew", path, err)
	}
	for _, record := range records {
		n := len(record)
		v, err := strconv.ParseFloat(record[n-1], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: remove it to begin anew", path, err)
		}
		key := strings.Join(record[:n-2], ",")
		j.done[key] = append(j.done[key], measure{record[n-2], v})
	}
	for key, m := range j.done {
		if m[len(m)-1].name != "seconds" {
			delete(j.done, key)
		}
	}
	return j, nil
}

// of returns what a task measured, nil if it is not done.
func (j *journal) of(t task) []measure {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.done[t.String()]
}

// add records a task that is done.
func (j *journal) add(t task, m []measure, seconds float64) error {
	m = append(slices.Clone(m), measure{"seconds", seconds})
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[t.String()] = m
	var b strings.Builder
	for _, v := range m {
		fmt.Fprintf(&b, "%s,%s,%s\n", t, v.name, strconv.FormatFloat(v.value, 'g', -1, 64))
	}
	f, err := os.OpenFile(j.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(b.String())
	return errors.Join(err, f.Close())
}

// value of a measure of a task that is done; NaN if it has none.
func (j *journal) value(t task, name string) float64 {
	for _, m := range j.of(t) {
		if m.name == name {
			return m.value
		}
	}
	return math.NaN()
}
