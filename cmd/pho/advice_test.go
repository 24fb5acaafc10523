package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pho-go/pho/data"
)

// The flag that helps follows the words of the library, however they are wrapped.
func TestAdvice(t *testing.T) {
	cell := func(column string, err error) error {
		return fmt.Errorf("pass 1: %w", &data.CellError{File: "a.csv", Row: 1, Column: column, Reason: "r", Err: err})
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{cell("x", data.ErrMissingValue), " with --na drop"},
		{cell("x.1", data.ErrText), " with --factor x.1"},
		{cell("my col", data.ErrText), ` with --factor "my col"`},
		{cell("x", nil), ""},
		{data.ErrText, ""}, // of a batch: it is no file's column
		{&data.DelimiterError{Delimiter: ';'}, `: try --delimiter ";"`},
		{&data.DelimiterError{Delimiter: '\t'}, ": try --delimiter tab"},
		{errors.New("other"), ""},
	} {
		if got := advice(c.err); got != c.want {
			t.Errorf("advice on %v is %q, want %q", c.err, got, c.want)
		}
	}
}
