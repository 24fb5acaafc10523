package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// pageWidth is how wide a page is that no terminal bounds, and widest how wide lines of
// text are at most: longer ones are hard to follow.
const (
	pageWidth = 80
	widest    = 100
)

// paper is a writer with lines of so many characters.
type paper struct {
	io.Writer
	width int
}

// terminalWidth is how many characters a line of the terminal or paper behind w has; 0: w
// is neither.
func terminalWidth(w io.Writer) int {
	if p, ok := w.(paper); ok {
		return p.width
	}
	f, ok := rawOf(w).(*os.File)
	if !ok {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		return width
	}
	return 0
}

// writeProse writes text behind a first line's beginning, further lines indented by so
// many spaces: wrapped at the width of a terminal, whole elsewhere, so that programs find
// a sentence in one line.
func writeProse(w io.Writer, first string, indent int, text string) {
	width := terminalWidth(w)
	if width == 0 {
		fmt.Fprintf(w, "%s%s\n", first, text)
		return
	}
	writeWrapped(w, min(width, widest), first, indent, text)
}

// writeWrapped is writeProse in lines of at most so many characters, as far as words allow.
func writeWrapped(w io.Writer, width int, first string, indent int, text string) {
	line, begun := first, false
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }) { // not no-break spaces
		switch {
		case !begun:
			line += word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			fmt.Fprintln(w, line)
			line = strings.Repeat(" ", indent) + word
		}
		begun = true
	}
	fmt.Fprintln(w, line)
}

// writeItems writes items of which none is divided, three spaces between them, in lines of
// at most so many characters.
func writeItems(w io.Writer, width int, items []string) {
	line := ""
	for _, item := range items {
		switch {
		case line == "":
			line = item
		case utf8.RuneCountInString(line)+3+utf8.RuneCountInString(item) <= width:
			line += "   " + item
		default:
			fmt.Fprintln(w, line)
			line = item
		}
	}
	fmt.Fprintln(w, line)
}
