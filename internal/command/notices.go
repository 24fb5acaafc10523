package command

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/report"
)

// A summary has so many different warnings at most, and names so many things that one is
// about.
const (
	summaryWarnings = 12
	summarySame     = 6
)

// summaryLines is how many lines of a terminal a warning takes.
const summaryLines = 4

// inLines is as much of text as so many lines of the width hold; all of it where there is
// no width.
func inLines(text string, width int) string {
	most := summaryLines * (min(width, widest) - 4)
	if width == 0 || utf8.RuneCountInString(text) <= most {
		return text
	}
	cut := string([]rune(text)[:max(most-20, 0)])
	if at := strings.LastIndexByte(cut, ' '); at > 0 {
		cut = cut[:at]
	}
	return cut + " ... (all of it: pho summary --full)"
}

// writeNotes says what is to be said of a network that was opened again.
func writeNotes(s streams, opened *wiring.Opened) {
	for _, note := range opened.Notes {
		fmt.Fprintf(s.err, "warning: %s\n", note)
	}
}

// writeWarnings says what must be known of the result: what differs in names alone is one
// line, with the names. all has every warning by itself, as the artifact does.
func writeWarnings(w io.Writer, r *decompose.Result, all bool) {
	if all {
		for _, text := range r.Warnings {
			writeProse(w, "warning: ", 2, bounded(text))
		}
		return
	}
	notes := report.Grouped(r.Warnings, r)
	for i, n := range notes {
		if i == summaryWarnings {
			fmt.Fprintf(w, "and %d warnings more: pho summary DIR --full, or the report\n", len(notes)-i)
			return
		}
		writeProse(w, "warning: ", 2, inLines(bounded(n.Text), terminalWidth(w)))
		if also := n.Also(summarySame); also != "" {
			writeProse(w, "  ", 4, bounded(also))
		}
	}
}
