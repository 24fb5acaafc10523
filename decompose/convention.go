package decompose

import "slices"

// conventions says given which conventions alone term j is unique, nil if it needs none.
// The level of a curve is a convention of every term, and not said of each.
func (d *Predictor) conventions(j int) (why []Reason) {
	if d.Convention != "" {
		why = append(why, Reason{Kind: ReasonPredictor})
	}
	why = append(why, d.sharedOut(j)...)
	if g := d.fit.judging; g.blocks[j].isKept() && !g.additive {
		why = append(why, Reason{Kind: ReasonAsNetwork})
	}
	return why
}

// sharedOut says by which rules functions that term j has in common with others are shared
// out between them.
func (d *Predictor) sharedOut(j int) (why []Reason) {
	for _, i := range d.neighbours(j) {
		if !d.share(i, j) || d.coveredByMargin(i, j) || d.coveredByMargin(j, i) {
			continue
		}
		rule := d.ruleOf(i, j)
		at := slices.IndexFunc(why, func(r Reason) bool { return r.Rule == rule })
		if at < 0 {
			at, why = len(why), append(why, Reason{Kind: ReasonSplit, Rule: rule})
		}
		why[at].With = append(why[at].With, d.Terms[i].Name)
	}
	return why
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

// coveredByMargin tells whether another term than i, of the same features, is that margin of term j to which i's functions would go.
func (d *Predictor) coveredByMargin(i, j int) bool {
	g := d.fit.judging
	if g.margins == nil || g.isMargin(i, j) {
		return false
	}
	return slices.ContainsFunc(g.margins[j], func(m int) bool {
		return sameSet(d.Terms[m].Features, d.Terms[i].Features) && g.group[i] >= 0 && g.group[i] == g.group[m]
	})
}

// holdsMargins tells whether a term of several features can be a function of some of them.
func holdsMargins(t *TermResult) bool {
	switch {
	case t.Kind == Linear, hasCentredMargins(t), byColumn(t) != "":
		return false
	}
	return len(t.Margins) == 0
}

// ruleOf is the convention between terms i and j, by the richer of the two.
func (d *Predictor) ruleOf(i, j int) Rule {
	a, b := &d.Terms[i], &d.Terms[j]
	if less(*b, *a) {
		a, b, i, j = b, a, j, i
	}
	g := d.fit.judging
	margins := g.isMargin(i, j) || g.isMargin(j, i)
	own := a.Kind == Learned && b.Kind == Learned || g.blocks[i].isKept() || g.blocks[j].isKept()
	switch {
	case margins && own:
		return ByOwnBases
	case margins:
		return ByHierarchy
	case own:
		return ByNetwork
	case g.shrinks(i), g.shrinks(j):
		return ByShrinkage
	case byColumn(b) != "" && byLevel(b) != "":
		return ByCentring
	case byColumn(b) != "", b.Kind == Linear && len(b.Features) > 1:
		return ByZero
	case sameSet(a.Features, b.Features):
		return ByTheirBases
	case b.Kind == Factor && g.blocks[i].Constraint.kind == orthogonalTo:
		return BySumToZero
	case b.Kind == Factor:
		return ByTreatment
	case hasCentredMargins(b):
		return ByMargins
	case b.Kind == Learned:
		return ByNetwork
	case smooth(a) && smooth(b) && len(a.Features) == len(b.Features):
		return ByOrder
	case smooth(a) && smooth(b):
		return ByFewer
	}
	return ByTheirBases
}

// shrinks tells whether all functions of term j are penalised: those of random effects, and of
// numbers and factors under a ridge.
func (g *judging) shrinks(j int) bool {
	b := g.blocks[j]
	k := b.Term.Kind()
	return k == Random || (k == Linear || k == Factor) && len(b.Penalty.S) > 0
}

// smooth tells the terms of which nested ones lose columns (projection.Block.Variables).
func smooth(t *TermResult) bool { return t.Kind == Smooth || t.Kind == Tensor }

// isMargin tells whether term j is orthogonal to term i as one of its margins.
func (g *judging) isMargin(i, j int) bool {
	return g.margins != nil && slices.Contains(g.margins[j], i)
}

// hasCentredMargins tells a tensor product whose margins are centred, which cannot be a function
// of some of its features alone.
func hasCentredMargins(t *TermResult) bool {
	s, ok := t.term.(interface{ Interaction() bool })
	return ok && s.Interaction()
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
