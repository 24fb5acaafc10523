package command

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// plainWriter passes text on that people read, perhaps on a terminal. Line breaks, tabs
// and characters that print stay; all others become \u001b and the like, which means the
// same in JSON. So nothing that comes from a file acts on the terminal or turns the order
// of letters round.
type plainWriter struct {
	w    io.Writer
	rest []byte // the beginning of a character whose end is to come

	failed error // of the first write that failed, which who prints text does not look at
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
		if p.failed == nil {
			p.failed = err
		}
		return 0, err
	}
	return n, nil
}

// rawOf is what w writes to at last.
func rawOf(w io.Writer) io.Writer {
	if n, ok := w.(urlWriter); ok {
		return rawOf(n.w)
	}
	if p, ok := w.(*plainWriter); ok {
		return rawOf(p.w)
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
