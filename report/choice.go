package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pho-go/pho/decompose"
)

// choice says which effects become figures: those of each predictor that vary most. Predictors
// that belong together, as classes, have those that vary most over all of them, so that they
// can be compared, and a class's probability be computed from all of them.
type choice struct {
	most   int
	shared []map[string]bool // by predictor; nil: it belongs to no set
	names  [][]string        // of those, the largest first
}

func newChoice(r *decompose.Result, effects []Effect) *choice {
	c := &choice{most: figuresOf(len(r.Predictors)), shared: make([]map[string]bool, len(r.Predictors)), names: make([][]string, len(r.Predictors))}
	for _, set := range r.Sets {
		var names []string
		size := map[string]float64{}
		for k := range r.Predictors {
			d := &r.Predictors[k]
			if !slices.Contains(set.Predictors, d.Name) {
				continue
			}
			for _, own := range newDrawing(r, k, nil).candidates(d, effects) {
				name := own.effect.Term
				if _, known := size[name]; !known {
					names = append(names, name)
				}
				size[name] += own.after * own.after
			}
		}
		slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(size[b], size[a]) })
		chosen := map[string]bool{}
		names = names[:min(len(names), c.most)]
		for _, name := range names {
			chosen[name] = true
		}
		for k := range r.Predictors {
			if slices.Contains(set.Predictors, r.Predictors[k].Name) {
				c.shared[k], c.names[k] = chosen, names
			}
		}
	}
	return c
}

// of returns the candidates of predictor k that are drawn, and a sentence on the others.
func (c *choice) of(k int, all []*candidate) (drawn []*candidate, rest string) {
	if len(all) <= c.most {
		return all, ""
	}
	if c.shared[k] == nil {
		return all[:c.most], fmt.Sprintf("Drawn are the %d of %d that vary most; the table above and effects.csv have all.", c.most, len(all))
	}
	for _, own := range all {
		if c.shared[k][own.effect.Term] {
			drawn = append(drawn, own)
		}
	}
	return drawn, fmt.Sprintf("Drawn are the %d of %d that vary most over all classes; the table above and effects.csv have all.", len(drawn), len(all))
}
