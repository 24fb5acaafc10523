package data

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// DelimiterError is in the error of OpenCSV for a file that seems to have another
// delimiter than the comma that is taken for it by default.
type DelimiterError struct {
	File      string // as given
	Header    string // its only name, shortened
	Delimiter rune   // what seems to stand between cells
}

// Error prints for example:
//
//	data: "a.csv": the header is the single name "x;y", and the rows look alike: the cells seem to be separated by ";", not by commas
func (e *DelimiterError) Error() string {
	return fmt.Sprintf("data: %q: the header is the single name %q, and the rows look alike: the cells seem to be separated by %q, not by commas",
		e.File, e.Header, string(e.Delimiter))
}

// suspectDelimiter is called if the header of the first file is a single name. If that
// holds a semicolon, tab or bar, and the first row holds it as often, this is probably
// what stands between cells, and the error says so.
func (c *CSV) suspectDelimiter(header string) error {
	at := strings.IndexAny(header, ";\t|")
	if at < 0 {
		return nil
	}
	in, mark := c.inputs[0], header[at:at+1]
	r, err := openRecords(context.Background(), in, c.comma, c.limits)
	if err != nil {
		return err
	}
	defer r.close()
	row, err := r.csv.Read() // wider than the header if numbers have commas
	if err != nil || strings.Count(strings.Join(row, ","), mark) != strings.Count(header, mark) {
		return nil // what is wrong with the row is said when it is read
	}
	return &DelimiterError{File: in.name, Header: clip(header), Delimiter: rune(mark[0])}
}

// quotedDelimiter is called if a header cannot be read for the reason err. If quoted names in
// the first file stand between semicolons, tabs or bars, and the first row has as many cells,
// the error says so; nil: they do not.
func (c *CSV) quotedDelimiter(err error) error {
	if cell := (*CellError)(nil); !errors.As(err, &cell) {
		return nil
	}
	in := c.inputs[0]
	for _, mark := range []byte(";\t|") {
		r, err := openRecords(context.Background(), in, mark, c.limits)
		if err != nil {
			continue
		}
		row, err := r.csv.Read()
		r.close()
		if err == nil && len(r.header) > 1 && len(row) == len(r.header) {
			return &DelimiterError{File: in.name, Header: clip(strings.Join(r.header, string(mark))), Delimiter: rune(mark)}
		}
	}
	return nil
}
