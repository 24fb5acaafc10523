package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/pho-go/pho/data"
)

// advice is what the command can add to an error of the libraries, which know of no
// flags: the one that helps, in the words that follow the error's own.
func advice(err error) string {
	var (
		delimiter *data.DelimiterError
		cell      *data.CellError
	)
	switch {
	case errors.As(err, &delimiter):
		mark := strconv.Quote(string(delimiter.Delimiter))
		if delimiter.Delimiter == '\t' {
			mark = "tab"
		}
		return ": try --delimiter " + mark
	case errors.Is(err, data.ErrMissingValue):
		return " with --na drop"
	case errors.Is(err, data.ErrText) && errors.As(err, &cell):
		return " with --factor " + quoteArg(cell.Column)
	}
	return ""
}

// quoteArg writes a column's name as it can be typed after a flag.
func quoteArg(name string) string {
	plain := func(r rune) bool {
		return r == '_' || r == '.' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return strconv.Quote(name)
	}
	return name
}
