package command

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/report"
)

// summaryReasons is how many reasons of verdicts a summary has.
const summaryReasons = 6

// writeFindings writes the findings about the terms and the remainder: each sentence once, with the
// predictors that it is about where there are several.
func writeFindings(w io.Writer, r *decompose.Result, full bool) {
	writeOrders(w, r)
	writeHierarchy(w, r)
	writeReasons(w, r, full)
	for _, p := range remaindersShown(r, full) {
		writeRemainder(w, r, p, full)
	}
	writeDeepFeatures(w, r)
}

// writeDeepFeatures says what the terms tell of features of the deep part.
func writeDeepFeatures(w io.Writer, r *decompose.Result) {
	for _, f := range report.NewDeepFeatures(r) {
		writeProse(w, "  ", 2, breaking(f.Title+": "+f.Words+" "+f.Functions))
		if len(f.Rows) == 0 {
			continue
		}
		rows := [][]string{{"told by", "R2", "of their variance"}}
		for _, g := range f.Rows {
			rows = append(rows, []string{wiring.Shorten(shown(breaking(g.With)), summaryName), g.R2, breaking(g.Share)})
		}
		writeTable(w, rows, 1)
	}
}

// said are sentences in the order in which they came up, each with those it is said of.
type said struct {
	order []string
	of    map[string][]string
}

// add says text of name.
func (s *said) add(text, name string) {
	if s.of == nil {
		s.of = map[string][]string{}
	}
	if s.of[text] == nil {
		s.order = append(s.order, text)
	}
	if !slices.Contains(s.of[text], name) {
		s.of[text] = append(s.of[text], name)
	}
}

// listed are at most so many names, and how many more.
func listed(names []string, most int) string {
	if len(names) > most+1 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}

// ofPredictors names the predictors that something is said of, before it; nothing if there
// is one predictor, and in short if it is all of them.
func ofPredictors(r *decompose.Result, names []string) string {
	switch {
	case len(r.Predictors) == 1:
		return ""
	case len(names) == len(r.Predictors):
		return allOf(len(names)) + " predictors: "
	}
	return listed(names, 4) + ": "
}

// allOf is "both" or "all 3".
func allOf(n int) string {
	if n == 2 {
		return "both"
	}
	return fmt.Sprintf("all %d", n)
}

// verdictsOfHierarchy stands behind what hierarchical terms are.
const verdictsOfHierarchy = " This is the convention of their verdicts."

// writeHierarchy says how unique terms are of which some have margins.
func writeHierarchy(w io.Writer, r *decompose.Result) {
	var s said
	for i := range r.Predictors {
		if p := &r.Predictors[i]; p.Hierarchy != nil {
			s.add(bounded(report.Hierarchy(p))+verdictsOfHierarchy, shown(p.Name))
		}
	}
	if len(s.order) > 1 { // they differ in a figure, and the report has it
		all := s.of[s.order[0]]
		for _, text := range s.order[1:] {
			all = append(all, s.of[text]...)
		}
		writeProse(w, "  "+ofPredictors(r, all), 2, report.Hierarchical+verdictsOfHierarchy+" (How far the rows determine that is in the report.)")
		return
	}
	for _, text := range s.order {
		writeProse(w, "  "+ofPredictors(r, s.of[text]), 2, text)
	}
}

// writeReasons says of the terms that are not identified why, each reason once. Why terms are told as a sum
// stands in a warning, and the split of hierarchical terms in writeHierarchy.
func writeReasons(w io.Writer, r *decompose.Result, full bool) {
	var whys said // of a reason, the terms, with a predictor where only that has them
	kind := map[string]decompose.ReasonKind{}
	for i := range r.Predictors {
		p := &r.Predictors[i]
		tell := func(reason decompose.Reason, name string) {
			kind[reason.Text] = reason.Kind
			whys.add(reason.Text, wiring.Shorten(shown(name), summaryName)+"\x00"+wiring.Shorten(shown(p.Name), summaryName))
		}
		for _, e := range p.Entangled {
			for _, reason := range e.Weak {
				tell(reason, strings.Join(e.Terms, " + "))
			}
		}
		for j := range p.Terms {
			t := &p.Terms[j]
			if t.Verdict == decompose.Sum {
				continue
			}
			for _, reason := range t.Reasons() {
				if reason.Rule == decompose.ByHierarchy && p.Hierarchy != nil && !full {
					continue
				}
				tell(reason, t.Name)
			}
		}
	}
	for i, why := range whys.order {
		if i == summaryReasons && !full {
			fmt.Fprintf(w, "  and %d more (all reasons are in the report)\n", len(whys.order)-i)
			return
		}
		each := ""
		if k := kind[why]; len(whys.of[why]) > 1 && (k == decompose.ReasonSplit || k == decompose.ReasonStandardError) {
			each = ", each"
		}
		writeProse(w, "  ", 4, termsOf(r, whys.of[why])+each+": "+bounded(why))
	}
}

// termsOf names terms of predictors, given as term NUL predictor: the terms alone if
// there is one predictor, terms with the same predictors together.
func termsOf(r *decompose.Result, pairs []string) string {
	var predictors, terms said
	for _, pair := range pairs {
		term, predictor, _ := strings.Cut(pair, "\x00")
		predictors.add(term, predictor)
	}
	for _, term := range predictors.order {
		terms.add(strings.Join(predictors.of[term], ", "), term)
	}
	var parts []string
	for _, where := range terms.order {
		names := listed(terms.of[where], 4)
		of := predictors.of[terms.of[where][0]]
		switch {
		case len(r.Predictors) == 1:
		case len(of) == len(r.Predictors):
			names += " of " + allOf(len(of)) + " predictors"
		default:
			names += " of " + listed(of, 4)
		}
		parts = append(parts, names)
	}
	return listed(parts, 3)
}

// remaindersShown are the predictors whose remainder is told of: of many the one of which
// most is left.
func remaindersShown(r *decompose.Result, full bool) []*decompose.Predictor {
	var out []*decompose.Predictor
	for i := range r.Predictors {
		if p := &r.Predictors[i]; p.Remainder != nil {
			out = append(out, p)
		}
	}
	if len(out) < manyPredictors || full {
		return out
	}
	return []*decompose.Predictor{slices.MaxFunc(out, func(a, b *decompose.Predictor) int { return cmp.Compare(a.Remainder.Share, b.Remainder.Share) })}
}
