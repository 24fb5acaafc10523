package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
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

// origin is what a run's numbers come from: a journal is continued by the same alone.
type origin struct {
	Commit   string `json:"commit"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Settings string `json:"settings"`
}

// sitting is one start of the program, until it ended or was ended.
type sitting struct {
	Started time.Time `json:"started"`
	Machine string    `json:"machine"`
	Workers int       `json:"workers"`
	Tasks   int       `json:"tasks"`   // that it finished
	Seconds float64   `json:"seconds"` // by the clock until the last of them
}

// line is a line of a journal's file: where it is from, a new sitting, or a task that
// is done, as JSON.
type line struct {
	Origin   *origin     `json:"origin,omitempty"`
	Sitting  *sitting    `json:"sitting,omitempty"`
	Task     string      `json:"task,omitempty"`
	Measures [][2]string `json:"measures,omitempty"` // names and numbers, which may be NaN
	Clock    float64     `json:"clock,omitempty"`    // seconds since the sitting began
}

// journal keeps what finished tasks measured, in memory and in a file that survives
// an interruption: a run that is started again goes on from there.
type journal struct {
	mu       sync.Mutex
	path     string
	done     map[string][]measure
	sittings []sitting
}

// openJournal reads the file, or creates it, and begins a sitting. A last line that
// was cut off is taken away; a file from elsewhere is refused.
func openJournal(path string, from origin, now sitting) (*journal, error) {
	j := &journal{path: path, done: map[string][]measure{}}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	if len(whole) > 0 {
		if err := j.read(whole, from); err != nil {
			return nil, err
		}
	}
	if len(whole) < len(text) {
		if err := os.Truncate(path, int64(len(whole))); err != nil {
			return nil, err
		}
	}
	if len(whole) == 0 {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, err
		}
		if err := j.append(line{Origin: &from}); err != nil {
			return nil, err
		}
	}
	j.sittings = append(j.sittings, now)
	return j, j.append(line{Sitting: &now})
}

// read takes the lines of a file.
func (j *journal) read(text []byte, from origin) error {
	bad := func(number int, err error) error {
		return fmt.Errorf("%s, line %d: %w: remove the file to begin anew", j.path, number, err)
	}
	number := 0
	for raw := range bytes.Lines(text) {
		number++
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			return bad(number, err)
		}
		switch {
		case number == 1:
			if l.Origin == nil {
				return bad(number, errors.New("it does not say which commit it is of"))
			}
			if *l.Origin != from {
				return bad(number, fmt.Errorf("it is of %+v, this program of %+v: finish it with a program of its own commit", *l.Origin, from))
			}
		case l.Sitting != nil:
			j.sittings = append(j.sittings, *l.Sitting)
		case l.Task == "" || len(j.sittings) == 0:
			return bad(number, errors.New("neither a sitting nor one of its tasks"))
		default:
			if err := j.take(l); err != nil {
				return bad(number, err)
			}
		}
	}
	return nil
}

// take adds a finished task to the last sitting.
func (j *journal) take(l line) error {
	var m []measure
	for _, v := range l.Measures {
		x, err := strconv.ParseFloat(v[1], 64)
		if err != nil {
			return err
		}
		m = append(m, measure{v[0], x})
	}
	j.done[l.Task] = m
	last := &j.sittings[len(j.sittings)-1]
	last.Tasks++
	last.Seconds = max(last.Seconds, l.Clock)
	return nil
}

// append writes a line to the file, and to the disk: a machine may be switched off.
func (j *journal) append(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(j.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// of returns what a task measured, nil if it is not done.
func (j *journal) of(t task) []measure {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.done[t.String()]
}

// add records a task that is done.
func (j *journal) add(t task, m []measure, seconds float64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := line{Task: t.String(), Clock: time.Since(j.sittings[len(j.sittings)-1].Started).Seconds()}
	for _, v := range append(slices.Clone(m), measure{"seconds", seconds}) {
		l.Measures = append(l.Measures, [2]string{v.name, strconv.FormatFloat(v.value, 'g', -1, 64)})
	}
	return errors.Join(j.take(l), j.append(l))
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
