package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/importance"
	"github.com/pho-go/pho/internal/wiring"
)

// A summary lists so many terms of a predictor at most, with names and lists of
// a width that a terminal can hold. The report has them all.
const (
	summaryTerms = 30
	summaryName  = 40
)

// summarise prints what was found: how well the network predicts, what was bound to
// what where names do not decide it, the headline of each predictor, its terms,
// the warnings.
func summarise(w io.Writer, r *decompose.Result) {
	if words := predictionWords(r); words != "" {
		fmt.Fprintln(w, words)
	}
	writeBound(w, wiring.ReferenceOf(r))
	for i := range r.Predictors {
		p := &r.Predictors[i]
		before, after := importance.ExplainedVariance(p.VarianceBefore), importance.ExplainedVariance(p.Variance)
		fmt.Fprintf(w, "%s: the structured part explains %s of the model's variance (%s before);\n  unstructured %s, twice their covariance %s\n",
			shown(p.Name), wiring.Percent(after.Structured), wiring.Percent(before.Structured), wiring.Percent(after.Unstructured), wiring.Percent(after.TwiceCovariance))
		writeAgreement(w, r, p)
		writeTerms(w, p.Terms)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", bounded(warning))
	}
}

// writeTerms writes a table of the terms: all in their order or, of many, those
// that vary most.
func writeTerms(w io.Writer, terms []decompose.TermResult) {
	if len(terms) == 0 {
		return
	}
	list := make([]*decompose.TermResult, len(terms))
	for j := range terms {
		list[j] = &terms[j]
	}
	if len(list) > summaryTerms {
		slices.SortStableFunc(list, func(a, b *decompose.TermResult) int {
			return cmp.Compare(b.After.Variance, a.After.Variance)
		})
		list = list[:summaryTerms]
	}
	largest := 0.0
	for _, t := range list {
		largest = max(largest, sd(t.Before.Variance), sd(t.After.Variance))
	}
	rows := [][]string{{"term", "kind", "columns", "edf", "sd before", "sd after", "identified"}}
	for _, t := range list {
		identified := "yes"
		if !t.Identified {
			identified = "no"
		}
		rows = append(rows, []string{
			wiring.Shorten(shown(t.Name), summaryName), string(t.Kind), strconv.Itoa(t.Columns), fmt.Sprintf("%.2f", t.EDF),
			fixed(sd(t.Before.Variance), largest), fixed(sd(t.After.Variance), largest), identified,
		})
	}
	writeTable(w, rows, 2)
	if rest := len(terms) - len(list); rest > 0 {
		fmt.Fprintf(w, "  and %d terms that vary less (all are in the report)\n", rest)
	}
}

// writeTable aligns columns: the first left of them to the left, the others to
// the right.
func writeTable(w io.Writer, rows [][]string, left int) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for j, cell := range row {
			width[j] = max(width[j], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for j, cell := range row {
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(cell))
			if line.WriteString("  "); j < left {
				line.WriteString(cell + pad)
			} else {
				line.WriteString(pad + cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// shown is a name from a file as it is, or quoted if it could disturb a terminal
// or a table.
func shown(name string) string {
	for _, r := range name {
		if !strconv.IsPrint(r) || r == utf8.RuneError {
			return strconv.Quote(name)
		}
	}
	return name
}

// fixed writes v with as many decimals as show four digits of the largest value.
func fixed(v, largest float64) string {
	if !(largest > 1e-9 && largest < 1e9) {
		return fmt.Sprintf("%.3g", v)
	}
	return strconv.FormatFloat(v, 'f', max(0, 3-int(math.Floor(math.Log10(largest)))), 64)
}

func sd(variance float64) float64 { return math.Sqrt(max(variance, 0)) }

// For inputs bound by position a summary shows so many columns at most, in lines of such
// a width.
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
	response, whose := wiring.Shorten(shown(r.Response), summaryName), "the network's own prediction"
	if r.Networks != nil {
		whose = "the prediction by the networks' mean predictor"
	}
	if p.DevianceExplained == nil {
		return fmt.Sprintf("%s of %s (%s): %s", whose, response, r.Family, r2)
	}
	return fmt.Sprintf("%s of %s (%s): %s of the deviance explained; %s", whose, response, r.Family, wiring.Percent(*p.DevianceExplained), r2)
}
