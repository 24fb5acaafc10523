package command

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/importance"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/report"
)

// A summary lists so many terms of a predictor at most, with names and lists of
// a width that a terminal can hold. The report has them all.
const (
	summaryTerms = 30
	summaryName  = 40
)

// nameWidth is how much of a name is shown: where all is asked for, as much as of any word.
func nameWidth(full bool) int {
	if full {
		return wordLength
	}
	return summaryName
}

// summarise prints what was found, in short: the quality of its predictions, the columns bound
// to inputs if names do not decide that, the headline and terms of each predictor, notes on
// them, and warnings. 'pho summary' has more (writePage).
func summarise(w io.Writer, r *decompose.Result) {
	r = r.Labelled()
	if words := predictionWords(r); words != "" {
		fmt.Fprintln(w, words)
	}
	writeBound(w, wiring.ReferenceOf(r))
	writeSets(w, r)
	if len(r.Predictors) >= manyPredictors {
		writeOverview(w, r)
	} else {
		for i := range r.Predictors {
			p := &r.Predictors[i]
			writeHeadline(w, p)
			if words := report.DeepWords(p); words != "" {
				writeProse(w, "  ", 2, breaking(words))
			}
			writeAgreement(w, r, p)
			writeTerms(w, p, false)
		}
	}
	writeFindings(w, r, false)
	writeWarnings(w, r, false)
}

// breaking is text whose lines may break at any space.
func breaking(text string) string { return strings.ReplaceAll(text, "\u00a0", " ") }

// writeHeadline says how the variance of a predictor splits.
func writeHeadline(w io.Writer, p *decompose.Predictor) {
	before, after := importance.ExplainedVariance(p.VarianceBefore), importance.ExplainedVariance(p.Variance)
	fmt.Fprintf(w, "%s: the structured part explains %s of the model's variance (%s before);\n  unstructured %s, twice their covariance %s\n",
		shown(p.Name), wiring.Percent(after.Structured), wiring.Percent(before.Structured), wiring.Percent(after.Unstructured), wiring.Percent(after.TwiceCovariance))
}

// writeSets writes the headline of classes together, which does not depend on how they are
// compared.
func writeSets(w io.Writer, r *decompose.Result) {
	for _, set := range r.Sets {
		if set.Convention == "" {
			continue
		}
		before, after := importance.ExplainedVariance(set.VarianceBefore), importance.ExplainedVariance(set.Variance)
		writeProse(w, "", 2, fmt.Sprintf("all classes together, centred: the structured part explains %s of the model's variance (%s before);", wiring.Percent(after.Structured), wiring.Percent(before.Structured)))
		writeProse(w, "  ", 2, fmt.Sprintf("unstructured %s, twice their covariance %s; each class below: %s", wiring.Percent(after.Unstructured), wiring.Percent(after.TwiceCovariance), shown(set.Convention)))
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

// fixed writes v with as many decimals as show four digits of the largest value; "-" of NaN.
func fixed(v, largest float64) string {
	if math.IsNaN(v) {
		return "-"
	}
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
	boundWidth   = 78
)

// writeBound prints which column fills which number of the inputs bound by position.
func writeBound(w io.Writer, n wiring.Reference) {
	for _, name := range n.ByPosition() {
		fmt.Fprintf(w, "input %s: columns are bound by position; the network does not name them, so\n  check the order, or name them with --input:\n", wiring.Shorten(shown(name), summaryName))
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
	} else if p.Frequent != nil && *p.Frequent < 1 && r.Offset == "" {
		explained = "the deviance is not finite, as where a class that is there has the probability 0; "
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
	return "the model's own prediction"
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
	if p.LogLikGain != nil || p.Concordance != nil {
		return fmt.Sprintf("%s of %s (%s): %s", predictor(r), response, r.Family, timeWords(r))
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

// timeWords say how well times are predicted of which some are censored.
func timeWords(r *decompose.Result) string {
	p := r.Prediction
	var words []string
	if p.Concordance != nil {
		words = append(words, fmt.Sprintf("C-index %.3f", *p.Concordance))
	}
	if p.LogLikGain != nil {
		than := "higher"
		if *p.LogLikGain < 0 {
			than = "lower"
		}
		words = append(words, fmt.Sprintf("the log-likelihood is %.4g a row %s than %s", math.Abs(*p.LogLikGain), than, nothing(r)))
	}
	return strings.Join(words, "; ")
}

// nothing is what a prediction of times is compared with.
func nothing(r *decompose.Result) string {
	if r.Hazards() {
		return "without a predictor"
	}
	return "that of the best constant"
}
