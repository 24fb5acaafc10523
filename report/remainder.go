package report

import (
	"math"
	"strings"

	"github.com/pho-go/pho/decompose"
)

// shownPairs is how many pairs and rows the page lists.
const shownPairs = 15

// remainder is the page's section on what the remainder depends on.
type remainder struct {
	Words, Unexplained, Single, Unasked string
	Pairs                               []remainderPair
	More                                int
	Regions                             []remainderRegion
	Rows                                []remainderRow
}

type (
	remainderPair   struct{ Columns, Names, Gain, P, Term, X, W string } // X, W: its part of a bar of all of the remainder
	remainderRegion struct{ Where, Rows, Share string }
	remainderRow    struct{ Row, Unstructured, Eta, Share string }
)

// newRemainder is nil if nobody asked.
func newRemainder(d *decompose.Predictor) *remainder {
	m := d.Remainder
	if m == nil {
		return nil
	}
	l := &remainder{Words: percent(m.Share), Unexplained: percent(m.UnexplainedByPairs), Unasked: clip(m.Unasked, 300)}
	if m.SingleColumns >= 5e-3 {
		l.Single = percent(m.SingleColumns)
		var named []string
		for _, s := range m.Singles {
			named = append(named, clip(s.Feature, 60)+" "+percent(s.Gain))
		}
		if len(named) > 0 {
			l.Single += ": " + listed(named, shownPairs)
		}
	}
	bar, taken := axis{span{0, m.Share}.drawable(), 0, barWidth}, 0.0
	for i, p := range m.Pairs {
		if i == shownPairs {
			l.More = len(m.Pairs) - i
			break
		}
		l.Pairs = append(l.Pairs, remainderPair{strings.Join(cleaned(p.Features), "\n"), list(p.Features, 2), percent(p.Gain), chance(p.P), clip(p.Term, 120),
			px(bar.at(math.Min(taken, m.Share))), px(bar.at(math.Min(p.Gain, math.Max(m.Share-taken, 0))))})
		taken += math.Max(p.Gain, 0)
	}
	for _, r := range m.Regions {
		l.Regions = append(l.Regions, remainderRegion{clip(r.String(), 200), percent(r.Rows), percent(r.Share)})
	}
	for _, r := range m.Rows {
		row := count(r.Row)
		if r.ID != "" {
			row = clip(r.ID, 40) + " (row " + row + ")"
		}
		l.Rows = append(l.Rows, remainderRow{row, num(r.Unstructured), num(r.Eta), percent(r.Share)})
	}
	return l
}

// chance writes a p-value; very small ones are all the same.
func chance(p float64) string {
	if p < 1e-16 {
		return "< 1e-16"
	}
	return num(p)
}
