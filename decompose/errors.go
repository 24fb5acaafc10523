package decompose

import (
	"errors"
	"fmt"

	"github.com/pho-go/pho/data"
)

// MissingColumnError says that the rows lack a column that a pass reads.
type MissingColumnError struct {
	Column string
	Role   string // weights, response, offset or groups; "": the network or a term reads it
	Err    error  // of the source
}

// Error is the source's.
func (e *MissingColumnError) Error() string { return e.Err.Error() }

// Unwrap returns the source's error.
func (e *MissingColumnError) Unwrap() error { return e.Err }

// missing makes err, of a pass over src that reads columns, a MissingColumnError if a
// column is missing.
func missing(err error, src data.Source, columns []string, roles Columns) error {
	var told *MissingColumnError
	if err == nil || errors.As(err, &told) {
		return err
	}
	names := src.Schema().Names()
	for _, name := range columns {
		if contains(names, name) {
			continue
		}
		e := &MissingColumnError{Column: name, Err: err}
		switch name {
		case roles.Weights:
			e.Role = "weights"
		case roles.Response:
			e.Role = "response"
		case roles.Offset:
			e.Role = "offset"
		case roles.Groups:
			e.Role = "groups"
		}
		return e
	}
	return err
}

// MemoryError says that a run would hold more memory than it may.
type MemoryError struct {
	Need  Memory
	Limit int64 // bytes
}

// Largest is the largest of the parts that something makes smaller; zero if there is
// none.
func (e *MemoryError) Largest() MemoryPart {
	var largest MemoryPart
	for _, p := range e.Need {
		if p.Bytes > largest.Bytes && p.Advice != "" {
			largest = p
		}
	}
	return largest
}

// Error names the parts, and what makes the largest smaller.
func (e *MemoryError) Error() string {
	advice := ""
	if largest := e.Largest(); largest.Name != "" {
		advice = fmt.Sprintf("; the largest is %s: try %s", largest.Name, largest.Advice)
	}
	return fmt.Sprintf("decompose: %s of memory would be needed, %s are allowed (%s)%s", Size(e.Need.Total()), Size(e.Limit), e.Need, advice)
}
