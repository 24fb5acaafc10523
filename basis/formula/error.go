package formula

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is a fault at a place in a formula.
type Error struct {
	Text string // the whole formula
	Pos  int    // byte offset of the fault, at most len(Text)
	Msg  string // the fault and its remedy
	Err  error  // what a program may react to, as data.MissingColumnError; nil: nothing
}

// Unwrap is Err.
func (e *Error) Unwrap() error { return e.Err }

const (
	margin     = 60   // characters shown on each side of a fault
	longestMsg = 1000 // characters of a message
)

// Error gives the message, the line of the formula and a caret below the fault.
func (e *Error) Error() string {
	msg := e.Msg
	if rs := []rune(msg); len(rs) > longestMsg { // names can be long
		msg = string(rs[:longestMsg]) + "..."
	}
	pos := min(max(e.Pos, 0), len(e.Text))
	start := strings.LastIndexByte(e.Text[:pos], '\n') + 1
	before, after := []rune(e.Text[start:pos]), e.Text[pos:]
	where := fmt.Sprintf("character %d", len(before)+1)
	if strings.TrimSpace(e.Text) == "" {
		return "formula: " + msg
	}
	if line := strings.Count(e.Text[:start], "\n"); line > 0 {
		where = fmt.Sprintf("line %d, %s", line+1, where)
	}
	if end := strings.IndexByte(after, '\n'); end >= 0 {
		after = after[:end]
	}
	shown := before
	prefix := ""
	if len(shown) > margin {
		prefix, shown = "...", shown[len(shown)-margin:]
	}
	tail, suffix := []rune(after), ""
	if len(tail) > margin {
		tail, suffix = tail[:margin], "..."
	}
	return fmt.Sprintf("formula, %s: %s\n  %s%s%s%s\n  %s^", where, msg,
		prefix, printable(shown), printable(tail), suffix, strings.Repeat(" ", len(prefix)+len(shown)))
}

// printable keeps one character per rune, so that the caret stays in place.
func printable(rs []rune) string {
	var w strings.Builder
	for _, r := range rs {
		switch {
		case r == '\t':
			r = ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			r = '?'
		}
		w.WriteRune(r)
	}
	return w.String()
}

// Errorf is a fault at byte pos of the formula's text, for those who give the
// tree its meaning.
func (f *Formula) Errorf(pos int, format string, args ...any) error {
	return &Error{Text: f.Text, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}
