package data

import (
	"fmt"
	"strings"
)

// CellError is what is wrong at one place of a data file, and what to do about
// it.
type CellError struct {
	File   string // the path as given, "-" for standard input
	Line   int    // 1-based line of the file; 0: the format has no lines
	Row    int64  // 1-based data row of the file; 0 is the header
	Column string // "" if the row as a whole is at fault
	Cell   string // the cell's text, shortened; "" if the row is at fault
	Reason string // what is wrong and what to do
}

// Error prints for example:
//
//	data: "a.csv", line 5 (row 4), column "x": cell "" is empty; fill it in, or leave such rows out with --na drop
func (e *CellError) Error() string {
	var s strings.Builder
	switch {
	case e.Line == 0:
		fmt.Fprintf(&s, "data: %q, row %d", e.File, e.Row)
	case e.Row == 0:
		fmt.Fprintf(&s, "data: %q, line %d (header)", e.File, e.Line)
	default:
		fmt.Fprintf(&s, "data: %q, line %d (row %d)", e.File, e.Line, e.Row)
	}
	if e.Column != "" {
		fmt.Fprintf(&s, ", column %q: cell %q", e.Column, e.Cell)
		return s.String() + " " + e.Reason
	}
	return s.String() + ": " + e.Reason
}
