package command

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/report"
)

// writeAgreement says how far several networks agree on the terms, before and after the
// projection: nothing for one network.
func writeAgreement(w io.Writer, r *decompose.Result, p *decompose.Predictor) {
	if r.Networks == nil || len(p.Terms) == 0 {
		return
	}
	terms := slices.DeleteFunc(report.ByStability(p), func(t *decompose.TermResult) bool { return verdictOf(t) == string(decompose.Sum) })
	if sums := len(p.Terms) - len(terms); sums > 0 {
		defer fmt.Fprintf(w, "  (without %d terms of which only sums are identified: how networks split these says nothing)\n", sums)
	}
	if len(terms) == 0 {
		return
	}
	var unstable []string
	for _, t := range terms {
		if !t.Stable() {
			unstable = append(unstable, wiring.Shorten(shown(t.Name), summaryName))
		}
	}
	how := "trained on resamples of the rows"
	if r.Networks.From == decompose.Seeds {
		how = "trained from other seeds on the same rows: training randomness only"
	}
	if len(unstable) > 0 {
		fmt.Fprintf(w, "  not stable between networks: %s\n", strings.Join(unstable, ", "))
	}
	fmt.Fprintf(w, "  sd between %d networks (%s), over the sd of the mean curve:\n", len(r.Networks.Names), how)
	rows := [][]string{{"term", "before", "after", "stable"}}
	for _, t := range terms[:min(len(terms), summaryTerms)] {
		own, stable := math.Sqrt(t.After.Variance), "yes"
		if !t.Stable() {
			stable = "no"
		}
		rows = append(rows, []string{wiring.Shorten(shown(t.Name), summaryName), ratio(t.BetweenSD.Before, own), ratio(t.BetweenSD.After, own), stable})
	}
	writeTable(w, rows, 1)
}

// ratio is a/b; a dash where b is 0.
func ratio(a, b float64) string {
	if !(b > 0) {
		return "-"
	}
	return fmt.Sprintf("%.3f", a/b)
}
