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
	Term                                                        string // for the script
	Name, Kind, Columns, EDF, SP, Verdict, Before, After, Share string
	Doubtful                                                    bool // sum or weak: these rows do not tell the term
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
	for _, e := range d.Entangled {
		row := termRow{Term: clean(strings.Join(e.Terms, " + ")), Name: clip(strings.Join(e.Terms, " + "), 60), Kind: "sum", SP: none, Verdict: string(decompose.Sum), Share: share(d, e.Terms)}
		if row.Doubtful = e.Weak != nil; row.Doubtful {
			row.Verdict += ", " + string(decompose.Weak)
		}
		size := 0.0
		if before, after := momentsOf(d, e.Terms); after != nil {
			size, row.Before, row.After = math.Sqrt(after.Variance), sd(before.Variance), sd(after.Variance)
		} else if c := curveOf(candidates, e.Terms); c != nil {
			size, row.Before, row.After = c.after, "≈ "+num(c.before), "≈ "+num(c.after)
		} else {
			continue
		}
		members, columns, edf := []termRow{}, 0, 0.0
		for j := range d.Terms {
			if t := &d.Terms[j]; slices.Contains(e.Terms, t.Name) {
				member := newTermRow(d, t)
				member.Member, summed[t.Name] = true, true
				members, columns, edf = append(members, member), columns+t.Columns, edf+t.EDF
			}
		}
		row.Columns, row.EDF = count(int64(columns)), num(edf)
		blocks = append(blocks, block{size, append([]termRow{row}, members...)})
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
		Term: clean(t.Name), Name: clip(t.Name, 60), Kind: clip(string(t.Kind), 20), Columns: count(int64(t.Columns)), EDF: num(t.EDF), SP: none,
		Verdict: string(verdict(t)), Before: sd(t.Before.Variance), After: sd(t.After.Variance), Share: share(d, []string{t.Name}),
	}
	row.Doubtful = row.Verdict != string(decompose.Identified) && row.Verdict != string(decompose.Convention)
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
	if t.TakenOut {
		row.SP += ", taken out"
	}
	return row
}

// curveOf finds the curve of a sum, of which a file of an earlier version knows no sd; nil:
// none was drawn.
func curveOf(candidates []*candidate, sum []string) *candidate {
	i := slices.IndexFunc(candidates, func(c *candidate) bool { return c.effect.Note == "" && slices.Equal(c.effect.Sum, sum) })
	if i < 0 {
		return nil
	}
	return candidates[i]
}

// share is the share of the predictor's variance of the sum of these terms, if importance was measured.
func share(d *decompose.Predictor, terms []string) string {
	sum, found := 0.0, 0
	for _, e := range d.Importance {
		if len(e.Terms) == 1 && slices.Contains(terms, e.Terms[0]) {
			sum, found = sum+e.VarianceShare, found+1
		}
	}
	if found < len(terms) {
		return none
	}
	return percent(sum)
}
