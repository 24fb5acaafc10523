package command

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/importance"
	"github.com/pho-go/pho/internal/app/wiring"
)

// termLine is a row of the table of terms: a term, or the sum of several of which only
// that is identified.
type termLine struct {
	names         []string
	verdict       string
	weak          bool // the rows hardly tell it
	edf, refDF    float64
	share         float64 // of Var(eta); NaN: not measured
	before, after float64 // sds; NaN: not known
}

func (l *termLine) name() string { return strings.Join(l.names, " + ") }

// verdicts are the verdict of the line and, of a sum that is weak, both.
func (l *termLine) verdicts() string {
	if l.weak && l.verdict != string(decompose.Weak) {
		return l.verdict + ", " + string(decompose.Weak)
	}
	return l.verdict
}

// termLines are the lines of a predictor in the order of its terms; a sum stands where its
// first term would.
func termLines(p *decompose.Predictor) []termLine {
	shares := termShares(p)
	sums := map[string]int{} // of a term's name, the line of its sum
	var lines []termLine
	for j := range p.Terms {
		t := &p.Terms[j]
		if at, ok := sums[t.Name]; ok {
			lines[at].edf += t.EDF
			lines[at].refDF += referenceDF(t)
			lines[at].share += shares(t.Name)
			continue
		}
		line := termLine{[]string{t.Name}, verdictOf(t), t.Verdict == decompose.Weak, t.EDF, referenceDF(t), shares(t.Name), sd(t.Before.Variance), sd(t.After.Variance)}
		for _, e := range p.Entangled {
			if !slices.Contains(e.Terms, t.Name) {
				continue
			}
			line.names, line.verdict, line.weak = e.Terms, string(decompose.Sum), e.Weak != nil
			line.before, line.after = sdOf(e.Before), sdOf(e.After)
			for _, name := range e.Terms {
				sums[name] = len(lines)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// sdOf is the standard deviation of a sum; NaN where artifacts of earlier versions do not
// have it.
func sdOf(m *decompose.Moment) float64 {
	if m == nil {
		return math.NaN()
	}
	return sd(m.Variance)
}

// referenceDF are the degrees of freedom that a test of the term would have.
func referenceDF(t *decompose.TermResult) float64 {
	if t.EDF1 != nil {
		return *t.EDF1
	}
	return t.EDF
}

// termShares gives the share of Var(eta) of a term, Cov(term, eta)/Var(eta), which adds up.
func termShares(p *decompose.Predictor) func(name string) float64 {
	of := map[string]float64{}
	for _, e := range p.Importance {
		if len(e.Terms) == 1 {
			of[e.Terms[0]] = e.VarianceShare
		}
	}
	return func(name string) float64 {
		if v, ok := of[name]; ok {
			return v
		}
		return math.NaN()
	}
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

// largest are the lines, or of many those that vary most, and how many are left out.
func largest(all []termLine, full bool) (list []termLine, rest int) {
	if len(all) <= summaryTerms || full {
		return all, 0
	}
	list = slices.Clone(all)
	slices.SortStableFunc(list, func(a, b termLine) int { return cmp.Compare(b.after, a.after) })
	return list[:summaryTerms], len(all) - summaryTerms
}

// writeTerms writes a table of the terms: all in their order or, of many, those
// that vary most.
func writeTerms(w io.Writer, p *decompose.Predictor, full bool) {
	list, rest := largest(termLines(p), full)
	if len(list) == 0 {
		return
	}
	most := 0.0
	for _, t := range list {
		for _, v := range []float64{t.before, t.after} {
			if v > most {
				most = v
			}
		}
	}
	rows := [][]string{{"term", "edf", "Ref.df", "share", "sd before", "sd after", "verdict"}}
	for _, t := range list {
		rows = append(rows, []string{
			wiring.Shorten(shown(t.name()), nameWidth(full)), fmt.Sprintf("%.2f", t.edf), fmt.Sprintf("%.2f", t.refDF),
			shareOf(t.share), fixed(t.before, most), fixed(t.after, most), t.verdicts(),
		})
	}
	writeTable(w, rows, 1)
	if rest > 0 {
		fmt.Fprintf(w, "  and %d terms that vary less (all are in the report)\n", rest)
	}
	if out := takenOut(p); len(out) > 0 {
		fmt.Fprintf(w, "  taken out by smoothing: %s\n", strings.Join(out, ", "))
	}
}

// takenOut names the terms of which smoothing left nothing, the first of many.
func takenOut(p *decompose.Predictor) (names []string) {
	for i := range p.Terms {
		if p.Terms[i].TakenOut {
			names = append(names, shown(p.Terms[i].Name))
		}
	}
	if more := len(names) - summaryTerms; more > 0 {
		names = append(names[:summaryTerms], fmt.Sprintf("%d more", more))
	}
	return names
}

// shareOf writes a share that may be unknown.
func shareOf(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return share(v)
}

// overviewTerms is how many terms a line of the overview names.
const overviewTerms = 3

// writeOverview has a line for each of many predictors: the split, and its largest terms.
func writeOverview(w io.Writer, r *decompose.Result) {
	rows := [][]string{{"predictor", "largest terms", "structured", "before", "unstructured"}}
	for i := range r.Predictors {
		p := &r.Predictors[i]
		before, after := importance.ExplainedVariance(p.VarianceBefore), importance.ExplainedVariance(p.Variance)
		lines := termLines(p)
		slices.SortStableFunc(lines, func(a, b termLine) int { return cmp.Compare(b.after, a.after) })
		var names []string
		for _, l := range lines[:min(len(lines), overviewTerms)] {
			names = append(names, wiring.Shorten(shown(l.name()), 16))
		}
		rows = append(rows, []string{wiring.Shorten(shown(p.Name), 16), strings.Join(names, ", "), wiring.Percent(after.Structured), wiring.Percent(before.Structured), wiring.Percent(after.Unstructured)})
		if i+1 == summaryTerms && len(r.Predictors) > summaryTerms {
			break
		}
	}
	writeTable(w, rows, 2)
	if rest := len(r.Predictors) - summaryTerms; rest > 0 {
		fmt.Fprintf(w, "  and %d predictors more\n", rest)
	}
	fmt.Fprintln(w, "  each one's terms: pho summary DIR --full, or the report")
}
