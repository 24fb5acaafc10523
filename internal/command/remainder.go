package command

import (
	"fmt"
	"io"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
)

// summaryPairs is how many pairs of columns a summary lists.
const summaryPairs = 5

// largeRow is the share of the remainder from which on a single row is told.
const largeRow = 0.1

// writeRemainder says what the unstructured part of p depends on and where it is largest.
func writeRemainder(w io.Writer, r *decompose.Result, p *decompose.Predictor, full bool) {
	m, left := p.Remainder, "what is left"
	if m == nil || m.Share < 0.0005 {
		return
	}
	if len(r.Predictors) > 1 {
		left += " of predictor " + shown(p.Name)
	}
	most := summaryPairs
	if full {
		most = len(m.Pairs)
	}
	switch {
	case len(m.Pairs) == 0 && m.Unasked != "":
		writeProse(w, "  ", 4, left+": "+m.Unasked)
	case len(m.Pairs) == 0:
		fmt.Fprintf(w, "  %s: no pair of columns can be told from chance\n", left)
	default:
		writeProse(w, "  ", 2, left+" depends on pairs of columns; their terms would take about, one after the other:")
		rows := [][]string{{"term", "of the variance", "p"}}
		for _, p := range m.Pairs[:min(len(m.Pairs), most)] {
			rows = append(rows, []string{wiring.Shorten(shown(p.Term), 2*summaryName), share(p.Gain), chance(p.P)})
		}
		writeTable(w, rows, 1)
		if rest := len(m.Pairs) - most; rest > 0 {
			fmt.Fprintf(w, "  and %d more that take less; --interactions N adds the first N\n", rest)
		} else {
			fmt.Fprintln(w, "  --interactions N adds the first N")
		}
		fmt.Fprintf(w, "  no pair explains: %s\n", share(m.UnexplainedByPairs))
	}
	if m.SingleColumns >= 0.005 {
		writeProse(w, "  ", 4, singleWords(m))
	}
	for _, r := range m.Regions {
		writeProse(w, "  ", 4, fmt.Sprintf("large where %s: %s of the rows hold %s of it", bounded(shown(r.String())), wiring.Percent(r.Rows), wiring.Percent(r.Share)))
	}
	if len(m.Rows) > 0 && m.Rows[0].Share >= largeRow {
		id := ""
		if m.Rows[0].ID != "" {
			id = fmt.Sprintf(" (%s)", wiring.Shorten(shown(m.Rows[0].ID), summaryName))
		}
		fmt.Fprintf(w, "  data row %d%s alone holds %s of it\n", m.Rows[0].Row, id, wiring.Percent(m.Rows[0].Share))
	}
}

// singleWords say what functions of single columns would take, and which columns' most.
func singleWords(m *decompose.Remainder) string {
	text := fmt.Sprintf("functions of single columns, other than the terms above, would take %s", share(m.SingleColumns))
	if len(m.Singles) == 0 {
		return text
	}
	var names []string
	for _, s := range m.Singles {
		names = append(names, fmt.Sprintf("%s %s", wiring.Shorten(shown(s.Feature), summaryName), share(s.Gain)))
	}
	return text + ": " + listed(names, summaryPairs)
}

// share writes a share of a variance, small ones too.
func share(v float64) string {
	if v < 0.001 && v >= 0.000005 {
		return fmt.Sprintf("%.3f %%", 100*v)
	}
	return wiring.Percent(v)
}

// chance writes a p-value; very small ones are all the same.
func chance(p float64) string {
	if p < 1e-16 {
		return "< 1e-16"
	}
	return fmt.Sprintf("%.1g", p)
}
