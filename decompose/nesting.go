package decompose

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose/internal/projection"
)

// nesting finds the margins of terms. Those of a by column have that column's terms.
func nesting(terms []Term) projection.Nesting {
	n := projection.Nesting{
		Margins: make([][]int, len(terms)), Size: make([]int, len(terms)), Effect: make([]int, len(terms)),
		Product: make([][]int, len(terms)), Means: make([][]*mat.Dense, len(terms)),
	}
	features, by := make([][]string, len(terms)), make([]string, len(terms))
	effects := map[string]int{}
	for j, t := range terms {
		var level string
		features[j], by[j], level = variablesOf(t)
		if p, ok := t.(interface{ MarginDims() []int }); ok && len(features[j]) == 2 {
			if dims := p.MarginDims(); len(dims) == 2 {
				n.Product[j] = dims
			}
		}
		n.Size[j] = len(features[j])
		key := by[j] + "\x00" + level
		for _, f := range features[j] {
			key += "\x00" + f
		}
		if _, ok := effects[key]; !ok {
			effects[key] = len(effects)
		}
		n.Effect[j] = effects[key]
	}
	for j := range terms {
		for m := range terms {
			if by[m] == "" && isMargin(features[m], features[j], by[j]) && richest(terms, n.Effect, by, m) {
				n.Margins[j] = append(n.Margins[j], m)
			}
		}
		if tap, ok := terms[j].(*Tap); ok && n.Separate(j) {
			for _, m := range n.Margins[j] {
				if mean := tap.Means[terms[m].Name()]; mean != nil {
					n.Means[j] = append(n.Means[j], mean)
				}
			}
			if len(n.Means[j]) < len(n.Margins[j]) {
				n.Means[j] = nil
			}
		}
	}
	return n
}

// richest tells whether, of the terms of one effect, m is what functions of these
// features are given to. Giving to several that nearly span one another, as a learned
// basis and a spline of one column do, would set large functions against each other.
func richest(terms []Term, effect []int, by []string, m int) bool {
	for j, t := range terms {
		if j != m && effect[j] == effect[m] && by[j] == "" && poorer(terms[m], t) {
			return false
		}
	}
	return true
}

// poorer tells whether a is learned and b is not, or has fewer columns, or as many and a
// later name.
func poorer(a, b Term) bool {
	if learned := a.Kind() == Learned; learned != (b.Kind() == Learned) {
		return learned
	}
	if a.Dim() != b.Dim() {
		return a.Dim() < b.Dim()
	}
	return a.Name() > b.Name()
}

// isMargin tells whether a term of the features some is a margin of one of all, which has
// that by column ("": none).
func isMargin(some, all []string, by string) bool {
	if len(some) == 0 || len(some) >= len(all) {
		return false
	}
	if by != "" {
		return len(some) == 1 && some[0] == by
	}
	return !slices.ContainsFunc(some, func(f string) bool { return !contains(all, f) })
}

// variablesOf are a term's features, sorted, and its by column with the level. A factor
// that several columns hold has one variable; slopes of several columns, which are no
// interaction of these, have one that no other term has.
func variablesOf(t Term) (features []string, by, level string) {
	if b, ok := t.(interface{ By() (column, level string) }); ok {
		by, level = b.By()
	}
	if _, ok := t.(sloped); ok && len(t.Columns()) > 1 {
		return []string{t.Name()}, "", ""
	}
	features = slices.Clone(t.Columns())
	slices.Sort(features)
	features = slices.Compact(features)
	if _, ok := t.(interface {
		SetLevels(b *data.Batch, level []int) error
	}); ok && len(features) > 1 {
		features = features[:1]
	}
	if len(features) < 2 {
		by = ""
	}
	return features, by, level
}
