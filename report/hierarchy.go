package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
)

// Hierarchical is what hierarchical terms are.
const Hierarchical = "Interactions are hierarchical: as far as these rows tell, each is orthogonal to all functions of the terms of some of its features, and these hold the rest."

// Hierarchy says in sentences what hierarchical terms are, and how far the rows
// determine them.
func Hierarchy(d *decompose.Predictor) string {
	h := d.Hierarchy
	s := Hierarchical
	if slices.ContainsFunc(d.Terms, curveBy) {
		s += " Curves by another column, as s(x):g1, are so to the terms of that column alone, not to s(x)."
	}
	switch {
	case h.Of == 0:
		s += " They have too many columns to tell whether they are the only such terms."
	case h.Rank == h.Of && h.Smallest < 0.01:
		s += fmt.Sprintf(" They are the only such terms (rank %d of %d), but hang on a smallest eigenvalue of %s of 1: features depend on one another so much that small changes of the data move effects between them.", h.Rank, h.Of, num(h.Smallest))
	case h.Rank == h.Of:
		s += fmt.Sprintf(" They are the only such terms (rank %d of %d; smallest eigenvalue %s, 1 if all were orthogonal).", h.Rank, h.Of, num(h.Smallest))
	default:
		var open []string
		for _, group := range h.Open {
			var names []string
			for _, name := range group {
				names = append(names, clip(name, 60))
			}
			open = append(open, list(names, 8))
		}
		s += fmt.Sprintf(" They are not the only such terms (rank %d of %d): functions of the rows are shared by %s. Main effects that this leaves open are those that vary least; of pairs that share a margin, as te(x,z) and te(x,v), the earlier in the formula has it, unless they are written as ti().", h.Rank, h.Of, strings.Join(open, "; and by "))
	}
	s += smoothed(h.Smoothed)
	for _, c := range h.Cells {
		if c.Observed < c.Possible {
			s += fmt.Sprintf(" Of %s, %d of %d combinations of levels occurred; the others have no interaction.", clip(c.Term, 60), c.Observed, c.Possible)
		}
	}
	if h.GivenRows {
		s += " Their bands are given these rows: they take this split as known and say how sure the functions are that it was made of, not what other rows would split."
	}
	return s
}

// curveBy tells whether a term is s(x):g1, a smooth by the level of a factor or by a number.
func curveBy(t decompose.TermResult) bool {
	return t.Kind != decompose.Factor && strings.Contains(t.Name, "):")
}

// smoothed says which splits are smoothed, and the most that is shared.
func smoothed(of []decompose.Smoothed) string {
	if len(of) == 0 {
		return ""
	}
	var names []string
	most := of[0]
	for _, m := range of {
		names = append(names, clip(m.Term, 60))
		if m.Shared > most.Shared {
			most = m
		}
	}
	var chance string
	if most.Chance > 0 {
		chance = fmt.Sprintf(" (about %s %% by chance)", num(100*most.Chance))
	}
	return fmt.Sprintf(" The features of %s may be independent, and their split from main effects is smoothed towards that: over these rows main effects still reproduce up to %s %% of a term's variance%s.",
		list(names, 8), num(100*most.Shared), chance)
}
