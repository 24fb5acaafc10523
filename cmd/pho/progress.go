package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/pho-go/pho/decompose"
)

// progress reports on stderr: a line that rewrites itself on a terminal, lines
// of JSON if asked for, nothing otherwise.
type progress struct {
	w        io.Writer
	json     bool
	terminal bool
	total    int64 // rows of a pass, known from the first one on
	pass     string
	started  time.Time
	last     time.Time
}

func newProgress(w io.Writer, log string) (*progress, error) {
	p := &progress{w: w}
	switch log {
	case "":
		if f, ok := w.(*os.File); ok {
			info, err := f.Stat()
			p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
		}
	case "json":
		p.json = true
	default:
		return nil, usagef("--log %q: it is json or nothing", log)
	}
	return p, nil
}

func (p *progress) report(at decompose.Progress) {
	if !p.json && !p.terminal {
		return
	}
	now := time.Now()
	if at.Pass != p.pass {
		p.pass, p.started, p.last = at.Pass, now, time.Time{}
	}
	if at.Pass == "moments" {
		p.total = at.Rows
	}
	done := at.Pass != "moments" && at.Rows >= p.total
	if !done && now.Sub(p.last) < 200*time.Millisecond {
		return
	}
	p.last = now
	elapsed := now.Sub(p.started).Seconds()
	rate := float64(at.Rows) / max(elapsed, 1e-3)
	if p.json {
		line, _ := json.Marshal(map[string]any{"pass": at.Pass, "rows": at.Rows, "rows_per_second": int64(rate)})
		fmt.Fprintf(p.w, "%s\n", line)
		return
	}
	left := ""
	if at.Pass != "moments" && rate > 0 {
		left = fmt.Sprintf(", %.0f s left", float64(p.total-at.Rows)/rate)
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s: %d rows, %.0f rows/s%s", at.Pass, at.Rows, rate, left)
}

// end clears the line.
func (p *progress) end() {
	if p.terminal && p.pass != "" {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
