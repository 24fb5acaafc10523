package main

import (
	"fmt"
	"io"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/wiring"
)

// summaryPairs is how many pairs of columns a summary lists.
const summaryPairs = 5

// largeRow is the share of the remainder from which on a single row is told.
const largeRow = 0.1

// writeRemainder says what the unstructured part depends on and where it is largest.
func writeRemainder(w io.Writer, m *decompose.Remainder) {
	if m == nil || m.Share < 0.0005 {
		return
	}
	switch {
	case len(m.Pairs) == 0 && m.Unasked != "":
		fmt.Fprintf(w, "  what is left: %s\n", m.Unasked)
	case len(m.Pairs) == 0:
		fmt.Fprintln(w, "  what is left: no pair of columns can be told from chance")
	default:
		fmt.Fprintf(w, "  what is left depends on pairs of columns; their terms would take about, one after the other:\n")
		rows := [][]string{{"term", "of the variance", "p"}}
		for _, p := range m.Pairs[:min(len(m.Pairs), summaryPairs)] {
			rows = append(rows, []string{wiring.Shorten(shown(p.Term), 2*summaryName), share(p.Gain), chance(p.P)})
		}
		writeTable(w, rows, 1)
		if rest := len(m.Pairs) - summaryPairs; rest > 0 {
			fmt.Fprintf(w, "  and %d more that take less; --interactions N adds the first N\n", rest)
		} else {
			fmt.Fprintln(w, "  --interactions N adds the first N")
		}
		fmt.Fprintf(w, "  no pair explains: %s\n", share(m.UnexplainedByPairs))
	}
	if m.SingleColumns >= 0.005 {
		fmt.Fprintf(w, "  functions of single columns, other than the terms above, would take %s\n", share(m.SingleColumns))
	}
	for _, r := range m.Regions {
		fmt.Fprintf(w, "  large where %s: %s of the rows hold %s of it\n", bounded(shown(r.String())), wiring.Percent(r.Rows), wiring.Percent(r.Share))
	}
	if len(m.Rows) > 0 && m.Rows[0].Share >= largeRow {
		id := ""
		if m.Rows[0].ID != "" {
			id = fmt.Sprintf(" (%s)", wiring.Shorten(shown(m.Rows[0].ID), summaryName))
		}
		fmt.Fprintf(w, "  data row %d%s alone holds %s of it\n", m.Rows[0].Row, id, wiring.Percent(m.Rows[0].Share))
	}
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
