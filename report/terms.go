package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
)

// termRow is a line of the table of what moved.
type termRow struct {
	Name, Kind, Columns, EDF, SP, Verdict, Before, After, Share string
	Doubtful                                                    bool // any other than identified
	Member                                                      bool // of the sum above
}

// termRows is the table of what moved, ordered by the sd after the projection, largest
// first. Terms that are identified only in a sum stand below that sum.
func termRows(d *decompose.Predictor, candidates []*candidate) []termRow {
	type block struct {
		size float64
		rows []termRow
	}
	var blocks []block
	summed := map[string]bool{}
	for _, c := range candidates {
		if c.effect.Sum == nil || c.effect.Note != "" {
			continue
		}
		b := block{c.after, []termRow{newSumRow(d, c)}}
		for _, t := range c.terms {
			row := newTermRow(d, t)
			row.Member = true
			b.rows = append(b.rows, row)
			summed[t.Name] = true
		}
		blocks = append(blocks, b)
	}
	for j := range d.Terms {
		if t := &d.Terms[j]; !summed[t.Name] {
			blocks = append(blocks, block{math.Sqrt(t.After.Variance), []termRow{newTermRow(d, t)}})
		}
	}
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Compare(b.size, a.size) })
	var out []termRow
	for _, b := range blocks {
		out = append(out, b.rows...)
	}
	return out
}

func newTermRow(d *decompose.Predictor, t *decompose.TermResult) termRow {
	row := termRow{
		Name: clip(t.Name, 60), Kind: clip(string(t.Kind), 20), Columns: count(int64(t.Columns)), EDF: num(t.EDF), SP: none,
		Verdict: string(verdict(t)), Before: sd(t.Before.Variance), After: sd(t.After.Variance), Share: share(d, []string{t.Name}),
	}
	row.Doubtful = row.Verdict != string(decompose.Identified)
	var sp []string
	for _, v := range t.SP {
		sp = append(sp, num(v))
	}
	if len(sp) > 0 {
		row.SP = strings.Join(sp, ", ")
	}
	if t.AtInfinity {
		row.SP += " → ∞"
	}
	return row
}

// newSumRow is the line of a sum; its sds are estimated (see newCandidate).
func newSumRow(d *decompose.Predictor, c *candidate) termRow {
	columns, edf := 0, 0.0
	for _, t := range c.terms {
		columns += t.Columns
		edf += t.EDF
	}
	return termRow{
		Name: clip(c.effect.Term, 60), Kind: "sum", Columns: count(int64(columns)), EDF: num(edf), SP: none,
		Verdict: string(decompose.Sum), Before: "≈ " + num(c.before), After: "≈ " + num(c.after), Share: share(d, c.effect.Sum),
	}
}

// share is the share of the predictor's variance of exactly these terms, if
// importance was measured for them, as one term or as a feature's.
func share(d *decompose.Predictor, terms []string) string {
	for _, e := range d.Importance {
		if slices.Equal(e.Terms, terms) {
			return percent(e.VarianceShare)
		}
	}
	return none
}
