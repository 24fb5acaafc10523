package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pho-go/pho/internal/wiring"
)

// plainWriter passes text on such that nothing in it acts on a terminal or turns the
// order of letters round, whichever file it came from: all but line breaks, tabs and
// what prints becomes \u001b and the like, which in JSON means the same.
type plainWriter struct {
	w    io.Writer
	rest []byte // the beginning of a character whose end is to come
}

// Write writes all of p.
func (p *plainWriter) Write(text []byte) (int, error) {
	n := len(text)
	text = append(p.rest, text...)
	end := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if at := len(text) - back; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				end = at
			}
			break
		}
	}
	p.rest = append([]byte(nil), text[end:]...)
	if _, err := p.w.Write([]byte(plain(string(text[:end])))); err != nil {
		return 0, err
	}
	return n, nil
}

// rawOf is what w writes to at last.
func rawOf(w io.Writer) io.Writer {
	if p, ok := w.(*plainWriter); ok {
		return p.w
	}
	return w
}

// plain is the text that a plainWriter writes.
func plain(text string) string {
	clean := func(r rune) bool { return r != utf8.RuneError && (r == '\n' || r == '\t' || strconv.IsPrint(r)) }
	if !strings.ContainsFunc(text, func(r rune) bool { return !clean(r) }) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case clean(r):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// A message holds so many characters at most, and a word in it (a name from a file,
// perhaps of a million letters) so many.
const (
	messageLength = 4000
	wordLength    = 240
)

// message is the text of err for people: with the flag that helps, and short enough
// to be read.
func message(err error) string {
	return bounded(err.Error() + advice(err))
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
