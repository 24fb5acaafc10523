package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/wiring"
)

// A summary shows so many columns of an input at most, in lines of such a width.
const (
	boundColumns = 40
	boundWidth   = 96
)

// writeBound prints which column fills which number of the inputs bound by position.
func writeBound(w io.Writer, n wiring.Reference) {
	for _, name := range n.ByPosition() {
		fmt.Fprintf(w, "input %s: columns are bound by position; the network does not name them, so check the\n  order, or name them with --input:\n", wiring.Shorten(shown(name), summaryName))
		columns := n.Inputs[name]
		line := ""
		for j, c := range columns[:min(len(columns), boundColumns)] {
			cell := "  [" + strconv.Itoa(j) + "] " + wiring.Shorten(shown(c), summaryName)
			if len([]rune(line+cell)) > boundWidth {
				fmt.Fprintln(w, line)
				line = ""
			}
			line += cell
		}
		fmt.Fprintln(w, line)
		if rest := len(columns) - boundColumns; rest > 0 {
			fmt.Fprintf(w, "  and %d more (all are in the report)\n", rest)
		}
	}
}

// predictionWords says in a line how well the network predicts the response.
func predictionWords(r *decompose.Result) string {
	p := r.Prediction
	if p == nil {
		return ""
	}
	r2 := "no finite R2"
	if p.R2 != nil {
		r2 = fmt.Sprintf("R2 %.4g", *p.R2)
	}
	if p.RMSE != nil {
		r2 += fmt.Sprintf(", RMSE %.4g", *p.RMSE)
	}
	response := wiring.Shorten(shown(r.Response), summaryName)
	if p.DevianceExplained == nil {
		return fmt.Sprintf("the network's own prediction of %s (%s): %s", response, r.Family, r2)
	}
	return fmt.Sprintf("the network's own prediction of %s (%s): %s of the deviance explained; %s", response, r.Family, wiring.Percent(*p.DevianceExplained), r2)
}
