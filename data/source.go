package data

import (
	"context"
	"fmt"
	"iter"
	"slices"
)

// Column describes a column of a Source. A column may be both: a factor whose
// cells are numbers still feeds a network by its numeric value.
type Column struct {
	Name        string
	Numeric     bool
	Categorical bool
	Truth       bool // Numeric, of truth values: 1 and 0
	Missing     bool // Categorical, and cells may be MissingLevel
	Width       int  // 0 for an ordinary column; the flattened width of a tensor
	// Shape is that of a row of a tensor, of Width numbers; nil: its file has none, or nobody looked.
	Shape []int
	// Refused: the column cannot be read. It is neither Numeric nor Categorical, and Lookup, Names
	// and Require do not find it.
	Refused bool
	// Unit is what the numbers of a column of dates or times count, "days since 1970-01-01";
	// "" for all others.
	Unit string
	// Text says, for messages, which cell made the column one of text: file, line and cell;
	// for a Refused column its kind and the remedy: "a list, which is neither numbers nor
	// text: ...". "" for numeric columns, and where nobody knows.
	Text string
}

// HoldsText says that the column holds text and, where that is known, what tells so:
// `holds text ("a.csv", line 17: cell "n/a")`; or that it is a tensor: "holds 192 numbers a row".
func (c Column) HoldsText() string {
	if c.Width > 0 {
		return fmt.Sprintf("holds %d numbers a row", c.Width)
	}
	if c.Text == "" {
		return "holds text"
	}
	return "holds text (" + c.Text + ")"
}

// Schema lists a source's columns in file order.
type Schema []Column

// Lookup finds a column by name.
func (s Schema) Lookup(name string) (Column, bool) {
	for _, c := range s {
		if c.Name == name && !c.Refused {
			return c, true
		}
	}
	return Column{}, false
}

// Names lists the columns' names in order.
func (s Schema) Names() []string {
	names := make([]string, 0, len(s))
	for _, c := range s {
		if !c.Refused {
			names = append(names, c.Name)
		}
	}
	return names
}

// Require returns nil if every name is a column of s. Otherwise it is a
// *MissingColumnError for the first that is not; where is what lacks it, in its words
// (a quoted file, say).
func (s Schema) Require(where string, names []string) error {
	for _, name := range names {
		if i := slices.IndexFunc(s, func(c Column) bool { return c.Name == name && c.Refused }); i >= 0 {
			return fmt.Errorf("data: column %q of %s is %s", clip(name), where, s[i].Text)
		}
		if _, ok := s.Lookup(name); !ok {
			return &MissingColumnError{Column: name, Where: where, Columns: s.Names()}
		}
	}
	return nil
}

// Source is a table that can be read again and again: every call of Batches starts at
// the first row and yields the same rows in the same order, with the named columns and
// perhaps others. Where batches begin and end is up to the source; no result depends on
// it. An error ends the sequence. A batch does not change once it has been yielded.
type Source interface {
	Schema() Schema
	Batches(ctx context.Context, columns []string) iter.Seq2[*Batch, error]
}

// defaultBatchRows is the number of rows of a batch unless options say
// otherwise.
const defaultBatchRows = 4096
