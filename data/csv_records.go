package data

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// records reads one file, row by row.
type records struct {
	name   string
	csv    *csv.Reader
	check  func() error
	close  func() error
	header []string

	lines   int      // of the file before the text that csv reads
	row     int64    // rows so far, the current one included
	end     int      // last line of the record before
	line    int      // first line of the current record
	blank   int      // blank lines before held that next has still to return
	held    []string // the record behind blank lines
	doubled int64    // line ends of cells so far, which bounded has made longer
	filler  []string // what next returns for a blank line
}

// openRecords opens the input and reads its header. The context ends reads.
func openRecords(ctx context.Context, in *input, comma byte, l limits) (*records, error) {
	text, check, closer, err := in.open(ctx)
	if err != nil {
		return nil, err
	}
	r := newRecords(ctx, in.name, text, comma, l)
	r.check, r.close = check, closer
	if err := r.readHeader(); err != nil {
		closer()
		return nil, err
	}
	return r, nil
}

// newRecords reads rows from text, which begins with a record.
func newRecords(ctx context.Context, name string, text io.Reader, comma byte, l limits) *records {
	b := &bounded{ctx: ctx, r: text, comma: comma, limits: l}
	r := &records{name: name, filler: []string{""}}
	r.csv = csv.NewReader(bufio.NewReaderSize(b, bufferSize))
	r.csv.Comma = rune(comma)
	r.csv.FieldsPerRecord = -1 // next says more about a ragged row
	r.csv.ReuseRecord = true
	return r
}

// offset is the place in the text behind the record just read.
func (r *records) offset() int64 { return r.csv.InputOffset() - r.doubled }

// lineOf is the line of the file in which a cell of the record just read begins.
func (r *records) lineOf(field int) int {
	line, _ := r.csv.FieldPos(field)
	return r.lines + line
}

func (r *records) readHeader() error {
	record, err := r.csv.Read()
	if err == io.EOF {
		return fmt.Errorf("data: %q is empty: its first line must name the columns", r.name)
	}
	if err != nil {
		return r.explain(err)
	}
	r.advance(record)
	seen := make(map[string]int, len(record))
	r.header = make([]string, len(record))
	for i, cell := range record {
		name := strings.Clone(trim(cell))
		if name == "" && i == 0 && len(record) > 1 {
			name = unnamed
		}
		fault := ""
		switch first, taken := seen[name]; {
		case name == "":
			fault = fmt.Sprintf("column %d has no name; name it, or leave row names out when writing the file (row.names = FALSE in R, index=False in pandas)", i+1)
		case taken:
			fault = fmt.Sprintf("columns %d and %d are both named %q; rename one", first+1, i+1, clip(name))
		case !utf8.ValidString(name):
			fault = fmt.Sprintf("the name %q of column %d is not UTF-8; convert the file first", clip(name), i+1)
		case strings.ContainsFunc(strings.ReplaceAll(name, "\r\n", "\n"), isControl):
			fault = fmt.Sprintf("the name %q of column %d holds a control character; is this CSV, with lines that end in \\n or \\r\\n?", clip(name), i+1)
		}
		if fault != "" {
			return &CellError{File: r.name, Line: r.line, Reason: fault}
		}
		seen[name] = i
		r.header[i] = name
	}
	return nil
}

// isControl finds characters that no name holds. They are a sign of a file that is not
// text, or whose lines end in \r alone.
func isControl(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }

// next returns the next row, valid until the call after; io.EOF ends the file.
// Blank lines are passed over, except that in a file of one column a blank line
// with a row behind it is an empty cell.
func (r *records) next() ([]string, error) {
	if r.held == nil {
		record, err := r.csv.Read()
		if err == io.EOF {
			if err := r.check(); err != nil {
				return nil, err
			}
			return nil, io.EOF
		}
		if err != nil {
			return nil, r.explain(err)
		}
		if line := r.lineOf(0); len(r.header) == 1 && line > r.end+1 {
			r.held, r.blank = record, line-r.end-1
		} else {
			return r.accept(record)
		}
	}
	if r.blank > 0 {
		r.blank--
		r.row++
		r.end++
		r.line = r.end
		return r.filler, nil
	}
	record := r.held
	r.held = nil
	return r.accept(record)
}

// accept counts the record and checks that it is as wide as the header.
func (r *records) accept(record []string) ([]string, error) {
	r.advance(record)
	r.row++
	if len(record) != len(r.header) {
		return nil, &CellError{File: r.name, Line: r.line, Row: r.row, Reason: fmt.Sprintf(
			"the row has %s, the header %d; put cells that hold the delimiter in quotes", count(len(record), "cell"), len(r.header))}
	}
	return record, nil
}

// advance notes the lines of the record just read.
func (r *records) advance(record []string) {
	last := len(record) - 1
	r.line = r.lineOf(0)
	r.end = r.lineOf(last) + strings.Count(record[last], "\n")
	for _, cell := range record {
		r.doubled += int64(strings.Count(cell, "\r\n"))
	}
}

// cell is the error for a cell of the row just read.
func (r *records) cell(field int, cell, reason string, cause error) error {
	line := r.line
	if cell != "" {
		line = r.lineOf(field)
	}
	return &CellError{File: r.name, Line: line, Row: r.row, Column: clip(r.header[field]), Cell: clip(cell), Reason: reason, Err: cause}
}

// explain turns an error of reading the record after the current one into one
// that says where.
func (r *records) explain(err error) error {
	here := &CellError{File: r.name, Line: r.end + 1, Row: r.row + 1}
	if r.header == nil {
		here.Row = 0
	}
	var syntax *csv.ParseError
	var bound boundError
	var changed *ChangedError
	switch {
	case errors.As(err, &syntax):
		here.Line = r.lines + syntax.Line
		here.Reason = fmt.Sprintf("a quote is out of place at byte %d of the line; "+
			`cells with quotes are written "like ""this"""`, syntax.Column)
		if syntax.StartLine != syntax.Line {
			here.Reason += fmt.Sprintf(" (the row begins in line %d)", r.lines+syntax.StartLine)
		}
		return here
	case errors.As(err, &bound):
		here.Reason = string(bound)
		return here
	case errors.As(err, &changed):
		return changed
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return fmt.Errorf("data: reading %q after row %d: %w", r.name, r.row, err)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
