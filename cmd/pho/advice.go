package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/durable"
	"github.com/pho-go/pho/internal/wiring"
)

// flagged writes the option that an error is about as the flag that gives it.
func flagged(err error) error {
	var option *wiring.OptionError
	var dir *durable.DirError
	switch {
	case errors.As(err, &option):
		return fmt.Errorf("--%w", err)
	case errors.As(err, &dir):
		return fmt.Errorf("--out %w", err)
	}
	return networkFlagged(err)
}

// advice is what the command can add to an error of the libraries, which know of no
// flags: the one that helps, in the words that follow the error's own.
func advice(err error) string {
	var (
		delimiter *data.DelimiterError
		cell      *data.CellError
		moved     *wiring.MovedError
		text      string
	)
	switch {
	case errors.As(err, &delimiter):
		mark := strconv.Quote(string(delimiter.Delimiter))
		if delimiter.Delimiter == '\t' {
			mark = "tab"
		}
		text = ": try --delimiter " + mark
	case errors.Is(err, data.ErrMissingValue):
		text = " with --na drop"
	case errors.Is(err, data.ErrText) && errors.As(err, &cell):
		text = " with --factor " + quoteArg(cell.Column)
	case errors.Is(err, decompose.ErrDigest):
		text = "; if it was edited on purpose, pho verify DIR --sign accepts it"
	case errors.Is(err, onnx.ErrMemory):
		text = "; --max-memory sets the bound"
	}
	if errors.As(err, &moved) {
		text += "; if the network has moved, give its place with --model"
	}
	return text
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
