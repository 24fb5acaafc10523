package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
)

// progress reports on stderr: a line that rewrites itself on a terminal, lines
// of JSON if asked for, nothing otherwise.
type progress struct {
	w        io.Writer
	json     bool
	terminal bool
	total    int64 // rows of a pass, known from the first one on
	pass     string
	started  time.Time // of the first report of a pass, which came after so many rows
	before   int64
	last     time.Time
	notes    []string // for after the result
}

func newProgress(s streams, log string) (*progress, error) {
	p := &progress{w: s.err}
	switch log {
	case "":
		p.terminal = isTerminal(rawOf(s.err))
	case "json":
		p.json = true
	default:
		return nil, usagef("--log %q: it is json or nothing", log)
	}
	s.end.onEnd(func() {
		p.end()
		if err := p.fail(errors.New(interrupted), exitInterrupted); !p.json {
			fmt.Fprintf(p.w, "pho: %v\n", err)
		}
	})
	return p, nil
}

// isTerminal tells whether w shows what it gets on a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// clear empties the line that the next text is written to.
func (p *progress) clear() { fmt.Fprint(rawOf(p.w), "\r\x1b[K") }

// memory says what the run will hold at its largest.
func (p *progress) memory(m decompose.Memory) {
	if !p.json && !p.terminal {
		return
	}
	if !p.json {
		writeProse(p.w, "", 2, fmt.Sprintf("memory: about %s at most (%s)", decompose.Size(m.Total()), m))
		return
	}
	parts := map[string]int64{}
	for _, part := range m {
		parts[part.Name] = part.Bytes
	}
	p.event("memory", map[string]any{"bytes": m.Total(), "parts": parts})
}

// longSeconds is what a run takes that says so beforehand.
const longSeconds = 30

// work says beforehand that a run will take long on so many processors, and what of it will.
func (p *progress) work(w decompose.Work, workers int) {
	if seconds := w.Total() / float64(workers); seconds >= longSeconds {
		p.note(fmt.Sprintf("this takes about %s on %d processors, besides the network (on one processor: %s); fewer columns, or a smaller k, take less",
			decompose.Duration(seconds), workers, w))
	}
}

// report says how far a pass is, at most five times a second and at its end.
func (p *progress) report(at decompose.Progress) {
	if !p.json && !p.terminal {
		return
	}
	now := time.Now()
	if at.Pass != p.pass || at.Rows <= p.before { // a pass may begin again
		p.pass, p.started, p.before, p.last = at.Pass, now, at.Rows, time.Time{}
	}
	first := at.Pass == "moments"
	if first {
		p.total = at.Rows
	}
	done := !first && at.Rows >= p.total
	if !done && now.Sub(p.last) < 200*time.Millisecond {
		return
	}
	p.last = now
	var rate, left float64 // 0: not known yet
	if elapsed := now.Sub(p.started); elapsed > 50*time.Millisecond {
		rate = float64(at.Rows-p.before) / elapsed.Seconds()
	}
	if !first && rate > 0 {
		left = math.Ceil(float64(p.total-at.Rows) / rate)
	}
	if p.json {
		event := map[string]any{"pass": at.Pass, "rows": at.Rows}
		if rate > 0 {
			event["rows_per_second"] = math.Round(rate)
		}
		if left > 0 {
			event["seconds_left"] = left
		}
		p.event("progress", event)
		return
	}
	line := fmt.Sprintf("%s: %d rows", at.Pass, at.Rows)
	if rate > 0 {
		line += fmt.Sprintf(", %.0f rows/s", rate)
	}
	if left > 0 {
		line += fmt.Sprintf(", %.0f s left", left)
	}
	p.clear()
	fmt.Fprint(p.w, line)
}

// note tells what was settled for the user; "" is nothing.
func (p *progress) note(text string) {
	switch {
	case text == "":
	case p.json:
		p.event("note", map[string]any{"message": text})
	default:
		fmt.Fprintln(p.w, text)
	}
}

// later tells choices made for the user once the result is there, so that they stand behind the
// result; "" is nothing.
func (p *progress) later(notes ...string) {
	for _, text := range notes {
		switch {
		case text == "":
		case p.json:
			p.note(text)
		default:
			p.notes = append(p.notes, text)
		}
	}
}

// writeNotes tells what was kept for later.
func (p *progress) writeNotes() {
	for _, text := range p.notes {
		text, formula, ok := strings.Cut(text, ": --formula ")
		if !ok {
			writeProse(p.w, "note: ", 2, bounded(text))
			continue
		}
		writeProse(p.w, "note: ", 2, bounded(text)+":")
		fmt.Fprintf(p.w, "  --formula %s\n", formula) // in one piece and whole, to be copied
	}
	p.notes = nil
}

// end clears the line.
func (p *progress) end() {
	if p.terminal {
		p.clear()
	}
}

// event writes a line of JSON.
func (p *progress) event(name string, fields map[string]any) {
	fields["event"] = name
	line, err := json.Marshal(fields)
	if err != nil { // a number that is not finite
		line, _ = json.Marshal(map[string]any{"event": name, "error": err.Error()})
	}
	fmt.Fprintf(p.w, "%s\n", line)
}

// done tells what was found and where it lies.
func (p *progress) done(r *decompose.Result, reportPath string) {
	if !p.json {
		summarise(p.w, r)
		p.writeNotes()
		fmt.Fprintf(p.w, "report: %s\n", shown(reportPath))
		return
	}
	if f := r.Prediction; f != nil {
		fields := map[string]any{"response": r.Response, "family": r.Family, "r2": f.R2, "rmse": f.RMSE, "deviance_explained": f.DevianceExplained, "accuracy": f.Accuracy, "worse": f.Worse}
		if f.LogLikGain != nil {
			fields["loglik_gain"] = f.LogLikGain
		}
		if f.Concordance != nil {
			fields["concordance"] = f.Concordance
		}
		p.event("prediction", fields)
	}
	net := wiring.ReferenceOf(r)
	for _, name := range net.ByPosition() {
		p.event("bound by position", map[string]any{"input": name, "columns": net.Inputs[name]})
	}
	for _, warning := range r.Warnings {
		p.event("warning", map[string]any{"message": bounded(warning)})
	}
	for _, set := range r.Sets {
		p.event("predictors together", map[string]any{"names": set.Predictors, "convention": set.Convention, "variance": set.Variance, "variance_before": set.VarianceBefore})
	}
	for i := range r.Predictors {
		d := &r.Predictors[i]
		p.event("predictor", map[string]any{"name": d.Name, "variance": d.Variance, "variance_before": d.VarianceBefore, "terms": len(d.Terms), "rank": d.Rank, "columns": d.Columns})
		if d.Remainder != nil {
			p.event("remainder", map[string]any{"name": d.Name, "share": d.Remainder.Share, "pairs": d.Remainder.Pairs, "unexplained_by_pairs": d.Remainder.UnexplainedByPairs})
		}
	}
	p.event("done", map[string]any{"rows": r.Rows, "report": reportPath})
}

// fail tells of an error where progress is JSON, so that every line is; elsewhere
// errors are told once, at the end of the command.
func (p *progress) fail(err error, status int) error {
	if !p.json {
		p.writeNotes()
		return err
	}
	text := message(err)
	if status == exitInterrupted {
		text = interrupted
	}
	p.event("error", map[string]any{"message": text, "status": status})
	return loggedError{err}
}
