package command

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pho-go/pho/internal/app/wiring"
)

// How many characters a message may have, and a word in it: names from files may have a
// million letters.
const (
	messageLength = 4000
	wordLength    = 240
)

// message is the text of err for people: with the flag that helps, and short enough
// to be read.
func message(err error) string {
	return bounded(inFlags(err))
}

// bounded cuts the middle out of long words, and then out of a long text.
func bounded(text string) string {
	text = shortWords(text)
	if utf8.RuneCountInString(text) <= messageLength {
		return text
	}
	r := []rune(text)
	const first, last = messageLength * 2 / 3, messageLength / 4
	return fmt.Sprintf("%s ... (%d characters left out) ... %s", string(r[:first]), len(r)-first-last, string(r[len(r)-last:]))
}

// shortWords cuts the middle out of long words.
func shortWords(text string) string {
	if len(text) <= wordLength {
		return text
	}
	var out strings.Builder
	for len(text) > 0 {
		end := strings.IndexAny(text, " \n\t")
		if end < 0 {
			end = len(text)
		}
		out.WriteString(wiring.Shorten(text[:end], wordLength))
		text = text[end:]
		if len(text) > 0 {
			out.WriteByte(text[0])
			text = text[1:]
		}
	}
	return out.String()
}

// inFiles adds to an error that names a data row, and no file, which files those rows
// are of.
func inFiles(err error, paths []string) error {
	text := err.Error()
	if !strings.Contains(text, "data row") || len(paths) == 0 {
		return err
	}
	for _, path := range paths {
		if strings.Contains(text, strconv.Quote(path)) {
			return err
		}
	}
	if len(paths) == 1 {
		return fmt.Errorf("%w (rows of %q)", err, paths[0])
	}
	return fmt.Errorf("%w (rows counted through %d files, %q to %q)", err, len(paths), paths[0], paths[len(paths)-1])
}
