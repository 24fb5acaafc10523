package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
)

func (p *predictor) identifiability(d *decompose.Predictor) {
	if d.Rank == d.Columns {
		p.Rank = fmt.Sprintf("All %s columns (intercept counted) are linearly independent at relative tolerance %s.", count(int64(d.Columns)), num(d.RankTolerance))
	} else {
		p.Rank = fmt.Sprintf("The %s columns (intercept counted) have rank %s at relative tolerance %s: %s directions carry no information of their own.",
			count(int64(d.Columns)), count(int64(d.Rank)), num(d.RankTolerance), count(int64(d.Columns-d.Rank)))
	}
	if d.Hierarchy != nil {
		p.Rank += " " + Hierarchy(d)
	}
	p.Aliased = list(d.Aliased, 40)
	for _, e := range d.Entangled {
		var names []string
		for _, name := range e.Terms {
			names = append(names, clip(name, 60))
		}
		p.Splits = append(p.Splits, split{Terms: strings.Join(names, " + "), Reason: clip(e.Why(), 600)})
	}
	p.verdicts(d)
	p.checks(d)
	pairs := slices.Clone(d.Concurvity)
	slices.SortStableFunc(pairs, func(a, b decompose.PairConcurvity) int { return cmp.Compare(b.Worst, a.Worst) })
	for _, c := range pairs[:min(len(pairs), maxPairs)] {
		p.Concurvity = append(p.Concurvity, concurvityRow{
			Term: clip(c.Term, 60), With: clip(c.With, 60), Worst: num(c.Worst), Observed: num(c.Observed), Estimate: num(c.Estimate),
		})
	}
}

// verdicts lists why terms are not identified, each reason once; sums are among the splits.
func (p *predictor) verdicts(d *decompose.Predictor) {
	var order []string
	names := map[string][]string{}
	for j := range d.Terms {
		t := &d.Terms[j]
		if t.Verdict == decompose.Sum {
			continue
		}
		for _, r := range t.Reasons() {
			if names[r.Text] == nil {
				order = append(order, r.Text)
			}
			names[r.Text] = append(names[r.Text], t.Name)
		}
	}
	for _, why := range order[:min(len(order), maxVerdicts)] {
		p.Verdicts = append(p.Verdicts, reasoned{Terms: list(names[why], 12), Why: clip(why, 600)})
	}
}

// maxVerdicts is how many reasons are listed.
const maxVerdicts = 60

// reasoned are terms and a reason of their verdicts.
type reasoned struct{ Terms, Why string }

// verdict is that of a term; artifacts of earlier versions only tell whether its columns are
// independent of others'.
func verdict(t *decompose.TermResult) decompose.Verdict {
	switch {
	case t.Verdict != "":
		return t.Verdict
	case t.Identified:
		return decompose.Identified
	}
	return decompose.Sum
}

// split is a group of terms of which only the sum is identified, and why.
type split struct{ Terms, Reason string }

// checks has a row for every term with its concurvity and k-check.
func (p *predictor) checks(d *decompose.Predictor) {
	for _, t := range d.Terms[:min(len(d.Terms), maxChecks)] {
		row := termCheck{
			Full: clean(t.Name), Term: clip(t.Name, 60), Columns: count(int64(t.Columns)), EDF: num(t.EDF), Index: "–", P: "–",
			Worst: num(t.Concurvity.Worst), Observed: num(t.Concurvity.Observed),
		}
		if k := t.KCheck; k != nil {
			row.Index, row.P = num(k.Index), num(k.P)
			// mgcv's rule of thumb: neighbours alike and the degrees of freedom used up.
			row.Low = k.P < 0.05 && t.EDF > 0.8*float64(t.Columns)
			p.LowK = p.LowK || row.Low
		}
		p.Checks = append(p.Checks, row)
	}
}

// maxChecks is how many terms the table of checks has.
const maxChecks = 60

// termCheck is a row of the table of checks.
type termCheck struct {
	Full                                          string // for the script
	Term, Columns, EDF, Index, P, Worst, Observed string
	Low                                           bool // too few basis functions, probably
}

// maxPairs is how many pairs of terms the table of concurvity has.
const maxPairs = 12

// concurvityRow says how much of a term lies in the span of another.
type concurvityRow struct{ Term, With, Worst, Observed, Estimate string }
