package data

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pho-go/pho/internal/base/spelling"
)

// What is wrong with a cell, for errors.Is. A *CellError, which says where the cell
// is, wraps one of them if a program may want to do something about it.
var (
	// ErrMissingValue is a cell that holds no value. A source opened with NADrop leaves
	// its row out instead.
	ErrMissingValue = errors.New("data: a value is missing")
	// ErrText is text where numbers are needed. A column of a source is read as
	// categories if the Factors of its options name it.
	ErrText = errors.New("data: text where numbers are needed")
	// ErrRounded is a whole number beyond 2^53, which float64 would round. A column of a source
	// is read to the digit if the Factors or Texts of its options name it.
	ErrRounded = errors.New("data: a whole number beyond 2^53")
	// ErrShape is a row of a tensor that has another shape than the first.
	ErrShape = errors.New("data: a row of another shape")
)

// ErrURL is a name that is a URL where only files on the disk can be opened or written.
var ErrURL = errors.New("it is a URL, and this program opens files on the disk alone: pho-cloud, which is built from the module cloud, opens s3://, gs:// and azblob://")

// MissingColumnError is the error for a column that was asked for and is not there.
type MissingColumnError struct {
	Column  string   // the name that was asked for
	Where   string   // what lacks it, as messages call it: a quoted file, "the table"
	Columns []string // the names of the columns that are there
}

// Error prints for example:
//
//	data: no column "temprature" in "a.csv"; the nearest name is "temperature"
func (e *MissingColumnError) Error() string {
	msg := fmt.Sprintf("data: no column %q in %s", clip(e.Column), e.Where)
	if near := e.Nearest(); near != "" {
		msg += fmt.Sprintf("; the nearest name is %q", near)
	}
	if len(e.Columns) == 1 && strings.ContainsAny(e.Columns[0], ";,|\t") {
		msg += fmt.Sprintf("; its header is the single name %q: is the delimiter right?", clip(e.Columns[0]))
	}
	return msg
}

// Nearest is the name among Columns that takes the fewest changes of letters to
// become Column; "" if there are none, or for names of more than 256 bytes.
func (e *MissingColumnError) Nearest() string { return spelling.Closest(e.Column, e.Columns) }

// CellError is a fault at one place of a data file, with the remedy.
type CellError struct {
	File   string // the path as given, "-" for standard input
	Line   int    // 1-based line of the file; 0: the format has no lines
	Row    int64  // 1-based data row of the file; 0 is the header
	Column string // shortened; "" if the row as a whole is at fault
	Cell   string // the cell's text, shortened; "" if the row is at fault
	Reason string // the fault and its remedy
	Err    error  // ErrMissingValue, ErrText, ErrRounded, ErrShape, or nil for any other fault
}

// Error prints for example:
//
//	data: "a.csv", line 5 (row 4), column "x": cell "" is empty; fill it in, or leave such rows out
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

// Unwrap is Err.
func (e *CellError) Unwrap() error { return e.Err }

// textColumnError is a column of text that was asked for as numbers.
type textColumnError struct{ column string }

func (e *textColumnError) Error() string {
	return fmt.Sprintf("data: column %q holds text, where numbers are needed", e.column)
}

func (e *textColumnError) Is(target error) bool { return target == ErrText }

// UnseenLevelError is the error for a level of a categorical column that was not among
// those that a term was made from or a network trained with.
type UnseenLevelError struct {
	Column string
	Level  string
	Row    int64    // 0-based row of the source
	Known  []string // the levels that are known; not to be changed
	Reason string   // the part that does not know the level, and the remedy
}

// Error prints for example:
//
//	data row 8: level "s" of column "dow" did not occur in the data the term was made from ("a", "b"): leave such rows out
func (e *UnseenLevelError) Error() string {
	return fmt.Sprintf("data row %d: level %q of column %q %s", e.Row+1, e.Level, e.Column, e.Reason)
}
