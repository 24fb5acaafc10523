package command

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

// writeSummaryLaTeX writes a table of the parametric coefficients and one of the terms, of all predictors, as people call them.
func writeSummaryLaTeX(w io.Writer, r *decompose.Result) error {
	r = r.Labelled()
	coefficients, err := latexCoefficients(r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%% \\usepackage{booktabs}\n%s\n%s", coefficients, latexTerms(r))
	return err
}

// latexCoefficients is the table of the parametric part, with intervals of 95 %.
func latexCoefficients(r *decompose.Result) (string, error) {
	t := newLaTeXTable(r, "", []string{"Estimate", "Std. error", `2.5\,\%`, `97.5\,\%`}, "rrrr")
	q := decompose.PointwiseQuantile(r.BandDF())
	for k := range r.Predictors {
		all, err := r.Coefficients(k)
		if err != nil {
			return "", err
		}
		number := columnFormat(all)
		for _, c := range all {
			name := coefficientName(c, !r.Labels.IsEmpty())
			if unit := slopeUnit(r, k, c); unit != "" {
				name += " (per " + unit + ")"
			}
			t.add(k, name, number(c.Estimate), number(c.SE), number(c.Estimate-q*c.SE), number(c.Estimate+q*c.SE))
		}
	}
	return t.String(), nil
}

// slopeUnit is the unit of the column that c is the slope of; "": it is none, or it is shown in other numbers than the data's.
func slopeUnit(r *decompose.Result, k int, c decompose.Coefficient) string {
	d := &r.Predictors[k]
	j := slices.IndexFunc(d.Terms, func(t decompose.TermResult) bool { return t.Name == c.Term })
	if j < 0 || d.Terms[j].Kind != decompose.Linear || len(d.Terms[j].Term().Columns()) != 1 {
		return ""
	}
	column := d.Terms[j].Term().Columns()[0] // as the data have it
	if r.Labels.Scale(column) != nil {
		return ""
	}
	return r.Labels.Unit(column)
}

// latexTerms is the table of the terms. Their sd has the unit of the first predictor, if all have one.
func latexTerms(r *decompose.Result) string {
	sd, unit := "sd", report.UnitOf(r, 0)
	for k := range r.Predictors {
		if report.UnitOf(r, k) != unit {
			unit = ""
		}
	}
	if unit != "" {
		sd += " (" + latexText(unit) + ")"
	}
	t := newLaTeXTable(r, "Term", []string{"edf", "Share of variance", sd, "Verdict"}, "rrrl")
	for k := range r.Predictors {
		lines, most := termLines(&r.Predictors[k]), 0.0
		for _, l := range lines {
			most = math.Max(most, l.after) // NaN is not larger
		}
		for _, l := range lines {
			t.add(k, l.name(), fmt.Sprintf("%.2f", l.edf), shareOf(l.share), fixed(l.after, most), l.verdicts())
		}
	}
	return t.String()
}

// latexTable is a tabular. Names may hold anything; heads are LaTeX.
type latexTable struct {
	r       *decompose.Result
	columns string
	lines   [][]string
}

// newLaTeXTable has a column of the predictors in front of the names where there are several.
func newLaTeXTable(r *decompose.Result, name string, heads []string, columns string) *latexTable {
	t := &latexTable{r: r, columns: "l" + columns}
	head := append([]string{name}, heads...)
	if len(r.Predictors) > 1 {
		t.columns, head = "l"+t.columns, append([]string{"Predictor"}, head...)
	}
	t.lines = [][]string{head}
	return t
}

// add adds what is said of something of predictor k.
func (t *latexTable) add(k int, name string, cells ...string) {
	line := []string{latexText(name)}
	if len(t.r.Predictors) > 1 {
		line = append([]string{latexText(t.r.Predictors[k].Name)}, line...)
	}
	for _, c := range cells {
		line = append(line, latexNumber(c))
	}
	t.lines = append(t.lines, line)
}

func (t *latexTable) String() string {
	if len(t.lines) == 1 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\\begin{tabular}{" + t.columns + "}\n\\toprule\n")
	for i, line := range t.lines {
		b.WriteString(strings.Join(line, " & ") + " \\\\\n")
		if i == 0 {
			b.WriteString("\\midrule\n")
		}
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	return b.String()
}

// latexText is a name in LaTeX. A line that begins with [ or * would be an argument of the \\ above it.
func latexText(name string) string {
	name = strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return ' '
	}, name)
	text := strings.NewReplacer("&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`, "{", `\{`, "}", `\}`, `\`, `\textbackslash{}`,
		"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`).Replace(name)
	if strings.HasPrefix(text, "[") || strings.HasPrefix(text, "*") {
		return "{" + text[:1] + "}" + text[1:]
	}
	return text
}

// latexNumber is a number of a table, a share or a word in LaTeX: minus signs, powers of ten, no break before %.
func latexNumber(text string) string {
	if text == "-" { // not known
		return "--"
	}
	text = strings.Replace(text, " %", `\,\%`, 1)
	if mantissa, exponent, ok := strings.Cut(text, "e"); ok {
		if power, err := strconv.Atoi(exponent); err == nil {
			return fmt.Sprintf(`$%s\times10^{%d}$`, mantissa, power)
		}
	}
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		return "$-$" + rest
	}
	return text
}
