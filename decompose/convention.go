package decompose

import (
	"fmt"
	"slices"
	"strings"
)

// conventions says given which conventions alone term j is unique, "" if it needs none.
// The level of a curve is a convention of every term, and not said of each.
func (d *Predictor) conventions(j int) string {
	var why []string
	if d.Convention != "" {
		why = append(why, "the predictor's convention: "+d.Convention)
	}
	if s := d.sharedOut(j); s != "" {
		why = append(why, s)
	}
	if g := d.judging; g.blocks[j].isKept() && !g.additive {
		why = append(why, "it is as the network has it: what the deep part holds of it was not moved")
	}
	return strings.Join(why, "; ")
}

// sharedOut says by which conventions functions that term j has in common with others are
// shared out between them.
func (d *Predictor) sharedOut(j int) string {
	var rules []rule
	partners := map[rule][]string{}
	for _, i := range d.neighbours(j) {
		if !d.share(i, j) {
			continue
		}
		r := d.ruleOf(i, j)
		if !slices.Contains(rules, r) {
			rules = append(rules, r)
		}
		partners[r] = append(partners[r], d.Terms[i].Name)
	}
	var why []string
	for _, r := range rules {
		why = append(why, fmt.Sprintf("its split with %s %s", listed(partners[r]), r))
	}
	return strings.Join(why, "; ")
}

// share tells whether terms i and j can hold a function in common, by what they are: one's
// features are among the other's, or both hold functions of the features that they have in
// common. Curves by two levels of a factor have no row in common.
func (d *Predictor) share(i, j int) bool {
	a, b := &d.Terms[i], &d.Terms[j]
	if byColumn(a) != "" && byColumn(b) != "" {
		la, lb := byLevel(a), byLevel(b)
		if byColumn(a) == byColumn(b) && (la != lb || la != "" && !sameSet(a.Features, b.Features)) {
			return false
		}
	}
	if subset(a.Features, b.Features) || subset(b.Features, a.Features) {
		return true
	}
	common := slices.ContainsFunc(a.Features, func(f string) bool { return contains(b.Features, f) })
	return common && holdsMargins(a) && holdsMargins(b)
}

// holdsMargins tells whether a term of several features can be a function of some of them.
func holdsMargins(t *TermResult) bool {
	switch {
	case t.Kind == Linear, isTi(t), byColumn(t) != "":
		return false
	}
	return len(t.Margins) == 0
}

// rule is a convention by which a function that two terms can hold is shared out.
type rule string

const (
	byHierarchy rule = "is hierarchical: an interaction is orthogonal to its margins over these rows"
	byOwnBases  rule = "is hierarchical as far as the network's bases go, else the network's own"
	byNetwork   rule = "is the network's own: either can hold what the other does"
	byMargins   rule = "is that of margins centred one by one, not orthogonal to them over these rows"
	byLeaving   rule = "leaves to the term of fewer features what both can hold"
	byOrder     rule = "leaves to the earlier term what both can hold"
	byContrast  rule = "is by contrasts with the first level of each factor"
	bySumming   rule = "is by contrasts that sum to zero over the levels"
	byZero      rule = "depends on where the numbers that it is a product of are 0"
	byCentring  rule = "is that of curves centred over all rows, not within a level"
	byShrinking rule = "is by penalty: what both can hold is a random effect as far as that costs less"
	byBases     rule = "is by their bases: both can hold functions of the same features"
)

// ruleOf is the convention between terms i and j, by the richer of the two.
func (d *Predictor) ruleOf(i, j int) rule {
	a, b := &d.Terms[i], &d.Terms[j]
	if less(*b, *a) {
		a, b, i, j = b, a, j, i
	}
	g := d.judging
	margins := g.isMargin(i, j) || g.isMargin(j, i)
	own := a.Kind == Learned && b.Kind == Learned || g.blocks[i].isKept() || g.blocks[j].isKept()
	switch {
	case margins && own:
		return byOwnBases
	case margins:
		return byHierarchy
	case own:
		return byNetwork
	case a.Kind == Random, b.Kind == Random:
		return byShrinking
	case byColumn(b) != "" && byLevel(b) != "":
		return byCentring
	case byColumn(b) != "", b.Kind == Linear && len(b.Features) > 1:
		return byZero
	case sameSet(a.Features, b.Features):
		return byBases
	case b.Kind == Factor && g.blocks[i].Constraint.kind == orthogonalTo:
		return bySumming
	case b.Kind == Factor:
		return byContrast
	case isTi(b):
		return byMargins
	case b.Kind == Learned:
		return byNetwork
	case smooth(a) && smooth(b) && len(a.Features) == len(b.Features):
		return byOrder
	case smooth(a) && smooth(b):
		return byLeaving
	}
	return byBases
}

// smooth tells the terms of which nested ones lose columns (projection.Block.Variables).
func smooth(t *TermResult) bool { return t.Kind == Smooth || t.Kind == Tensor }

// isMargin tells whether term j is orthogonal to term i as one of its margins.
func (g *judging) isMargin(i, j int) bool {
	return g.margins != nil && slices.Contains(g.margins[j], i)
}

// isTi tells a tensor product whose margins are centred.
func isTi(t *TermResult) bool {
	return t.Kind == Tensor && strings.HasPrefix(t.Name, "ti(")
}

// byColumn is the by variable of a smooth, "" without one, byLevel its level of that; ""
// of a number.
func byColumn(t *TermResult) string { column, _ := by(t); return column }
func byLevel(t *TermResult) string  { _, level := by(t); return level }

func by(t *TermResult) (column, level string) {
	if s, ok := t.term.(interface{ By() (column, level string) }); ok {
		return s.By()
	}
	return "", ""
}

// subset tells whether all of a are among b, sameSet whether all of b are among a as well.
func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(f string) bool { return !contains(b, f) })
}
func sameSet(a, b []string) bool { return subset(a, b) && subset(b, a) }
