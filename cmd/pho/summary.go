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
	"github.com/pho-go/pho/report"
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
	r = r.Labelled()
	if words := predictionWords(r); words != "" {
		fmt.Fprintln(w, words)
	}
	writeBound(w, wiring.ReferenceOf(r))
	writeSets(w, r)
	for i := range r.Predictors {
		p := &r.Predictors[i]
		before, after := importance.ExplainedVariance(p.VarianceBefore), importance.ExplainedVariance(p.Variance)
		fmt.Fprintf(w, "%s: the structured part explains %s of the model's variance (%s before);\n  unstructured %s, twice their covariance %s\n",
			shown(p.Name), wiring.Percent(after.Structured), wiring.Percent(before.Structured), wiring.Percent(after.Unstructured), wiring.Percent(after.TwiceCovariance))
		writeAgreement(w, r, p)
		writeOrders(w, p)
		writeTerms(w, p)
		if p.Hierarchy != nil {
			fmt.Fprintf(w, "  %s\n", bounded(report.Hierarchy(p)))
		}
		writeReasons(w, p.Terms)
		writeRemainder(w, p.Remainder)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", bounded(warning))
	}
}

// termLine is a row of the table of terms: a term, or the sum of several of which only
// that is identified.
type termLine struct {
	name, kind, verdict string
	columns             int
	edf, before, after  float64 // sds
}

// termLines are the lines of a predictor in the order of its terms; a sum stands where its
// first term would.
func termLines(p *decompose.Predictor) []termLine {
	sums := map[string]int{} // of a term's name, the line of its sum
	var lines []termLine
	for j := range p.Terms {
		t := &p.Terms[j]
		if at, ok := sums[t.Name]; ok {
			lines[at].columns += t.Columns
			lines[at].edf += t.EDF
			continue
		}
		line := termLine{t.Name, string(t.Kind), verdictOf(t), t.Columns, t.EDF, sd(t.Before.Variance), sd(t.After.Variance)}
		for _, e := range p.Entangled {
			if e.After == nil || !slices.Contains(e.Terms, t.Name) {
				continue
			}
			line.name, line.kind, line.verdict = strings.Join(e.Terms, " + "), "sum", string(decompose.Sum)
			line.before, line.after = sd(e.Before.Variance), sd(e.After.Variance)
			for _, name := range e.Terms {
				sums[name] = len(lines)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// verdictOf is a term's verdict; artifacts of earlier versions know two.
func verdictOf(t *decompose.TermResult) string {
	switch {
	case t.Verdict != "":
		return string(t.Verdict)
	case t.Identified:
		return string(decompose.Identified)
	}
	return string(decompose.Sum)
}

// writeSets writes the headline of classes together, which does not depend on how they are
// compared.
func writeSets(w io.Writer, r *decompose.Result) {
	for _, set := range r.Sets {
		if set.Convention == "" {
			continue
		}
		before, after := importance.ExplainedVariance(set.VarianceBefore), importance.ExplainedVariance(set.Variance)
		fmt.Fprintf(w, "all classes together, centred: the structured part explains %s of the model's variance (%s before);\n  unstructured %s, twice their covariance %s; each class below: %s\n",
			wiring.Percent(after.Structured), wiring.Percent(before.Structured), wiring.Percent(after.Unstructured), wiring.Percent(after.TwiceCovariance), shown(set.Convention))
	}
}

// writeTerms writes a table of the terms: all in their order or, of many, those
// that vary most.
func writeTerms(w io.Writer, p *decompose.Predictor) {
	all := termLines(p)
	if len(all) == 0 {
		return
	}
	list := all
	if len(list) > summaryTerms {
		list = slices.Clone(all)
		slices.SortStableFunc(list, func(a, b termLine) int { return cmp.Compare(b.after, a.after) })
		list = list[:summaryTerms]
	}
	largest := 0.0
	for _, t := range list {
		largest = max(largest, t.before, t.after)
	}
	rows := [][]string{{"term", "kind", "columns", "edf", "sd before", "sd after", "verdict"}}
	for _, t := range list {
		rows = append(rows, []string{
			wiring.Shorten(shown(t.name), summaryName), t.kind, strconv.Itoa(t.columns), fmt.Sprintf("%.2f", t.edf),
			fixed(t.before, largest), fixed(t.after, largest), t.verdict,
		})
	}
	writeTable(w, rows, 2)
	if rest := len(all) - len(list); rest > 0 {
		fmt.Fprintf(w, "  and %d terms that vary less (all are in the report)\n", rest)
	}
}

// summaryReasons is how many reasons of verdicts a summary has of a predictor.
const summaryReasons = 6

// writeReasons says of the terms that are not identified why, each reason once. Sums have
// theirs in a warning.
func writeReasons(w io.Writer, terms []decompose.TermResult) {
	var order []string
	of := map[string][]string{}
	for j := range terms {
		t := &terms[j]
		if t.Verdict == decompose.Sum {
			continue
		}
		for _, why := range t.Reasons() {
			if of[why] == nil {
				order = append(order, why)
			}
			of[why] = append(of[why], wiring.Shorten(shown(t.Name), summaryName))
		}
	}
	for i, why := range order {
		if i == summaryReasons {
			fmt.Fprintf(w, "  and %d reasons more (all are in the report)\n", len(order)-i)
			return
		}
		names := of[why]
		if most := 4; len(names) > most {
			names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", len(names)-most))
		}
		fmt.Fprintf(w, "  %s: %s\n", strings.Join(names, ", "), bounded(why))
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

// classPredictionWords is predictionWords of a response that is a class.
func classPredictionWords(r *decompose.Result, response string) string {
	p := r.Prediction
	explained := ""
	if p.DevianceExplained != nil {
		explained = wiring.Percent(*p.DevianceExplained) + " of the deviance explained; "
	}
	frequent := ""
	if p.Frequent != nil {
		frequent = fmt.Sprintf(" (always the most frequent one: %s)", wiring.Percent(*p.Frequent))
	}
	return fmt.Sprintf("%s of %s (%s): %sthe most probable class is right in %s of the rows%s", predictor(r), response, r.Family, explained, wiring.Percent(*p.Accuracy), frequent)
}

// predictor is whose prediction of the response is told of.
func predictor(r *decompose.Result) string {
	if r.Networks != nil {
		return "the prediction by the networks' mean predictor"
	}
	return "the network's own prediction"
}

// predictionWords says in a line how well the network predicts the response.
func predictionWords(r *decompose.Result) string {
	p := r.Prediction
	if p == nil {
		return ""
	}
	response := wiring.Shorten(shown(r.Response), summaryName)
	if p.Accuracy != nil {
		return classPredictionWords(r, response)
	}
	if p.LogLikGain != nil {
		than := "higher"
		if *p.LogLikGain < 0 {
			than = "lower"
		}
		return fmt.Sprintf("the network's own prediction of %s (%s): the log-likelihood is %.4g a row %s than without a predictor", response, r.Family, math.Abs(*p.LogLikGain), than)
	}
	r2 := "no finite R2"
	if p.R2 != nil {
		r2 = fmt.Sprintf("R2 %.4g", *p.R2)
	}
	if p.RMSE != nil {
		r2 += fmt.Sprintf(", RMSE %.4g", *p.RMSE)
	}
	whose := predictor(r)
	if p.DevianceExplained == nil {
		return fmt.Sprintf("%s of %s (%s): %s", whose, response, r.Family, r2)
	}
	return fmt.Sprintf("%s of %s (%s): %s of the deviance explained; %s", whose, response, r.Family, wiring.Percent(*p.DevianceExplained), r2)
}
