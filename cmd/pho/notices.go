package main

import (
	"fmt"
	"io"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

// A summary has so many different warnings at most, and names so many things that one is
// about.
const (
	summaryWarnings = 12
	summarySame     = 6
)

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
		writeProse(w, "warning: ", 2, bounded(n.Text))
		if also := n.Also(summarySame); also != "" {
			writeProse(w, "  ", 4, bounded(also))
		}
	}
}
