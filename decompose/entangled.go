package decompose

import (
	"slices"
	"strings"
)

// Entanglement is a group of terms of which only the sum is identified, and why. Before
// and After are moments of the sum, nil in files of versions that did not have them. Weak says why
// these rows hardly tell the sum either; nil: they do, or there are no standard errors.
// Two terms are entangled if a direction that was dropped changes the values of both. Dependent
// columns inside one term, as of dead units of a network, leave its function identified.
type Entanglement struct {
	Terms   []string `json:"terms"`
	Reason  string   `json:"reason"`            // Because in words, a clause
	Because []Reason `json:"reasons,omitempty"` // why each two of them overlap; nil in files of versions that did not have it
	Weak    []Reason `json:"weak,omitempty"`
	Before  *Moment  `json:"before,omitempty"`
	After   *Moment  `json:"after,omitempty"`
}

// Why is Reason and, of a sum that is weak, why.
func (e *Entanglement) Why() string {
	if e.Weak == nil {
		return e.Reason
	}
	return e.Reason + "; besides, " + because(e.Weak)
}

// groups are the terms of each of d's Entangled.
func (d *Predictor) groups() [][]int {
	at := map[string]int{}
	for j := range d.Terms {
		at[d.Terms[j].Name] = j
	}
	groups := make([][]int, len(d.Entangled))
	for i, e := range d.Entangled {
		for _, name := range e.Terms {
			if j, ok := at[name]; ok {
				groups[i] = append(groups[i], j)
			}
		}
	}
	return groups
}

// entanglement explains a group of d's terms by what they are.
func (d *Predictor) entanglement(group []int) (e Entanglement) {
	var why []Reason
	for at, i := range group {
		e.Terms = append(e.Terms, d.Terms[i].Name)
		for _, j := range group[at+1:] {
			if r := overlap(d.Terms[i], d.Terms[j]); r.Kind != "" {
				why = append(why, r)
			}
		}
	}
	if why == nil {
		why = []Reason{{Kind: ReasonDependent}}
	}
	e.Because = labelling{raw: d}.told(why)
	e.Reason = because(e.Because)
	return e
}

// besideTwins is with, of which each term has the others that it is entangled with, and
// besides those that are functions of the same features: however their bases differ, and
// whether or not the rows tell them apart, only their sum is the effect of those features.
// By variables make other functions, and random effects and slopes under a ridge have a
// share of their own.
func besideTwins(with [][]int, terms []TermResult) [][]int {
	of := map[string][]int{}
	for j := range terms {
		t := &terms[j]
		if byColumn(t) != "" || t.Kind == Random || slopes(t) != nil {
			continue
		}
		features := slices.Sorted(slices.Values(t.Features))
		key := strings.Join(features, "\x00")
		of[key] = append(of[key], j)
	}
	out := slices.Clone(with)
	for j := range terms {
		features := slices.Sorted(slices.Values(terms[j].Features))
		twins := of[strings.Join(features, "\x00")]
		if len(features) == 0 || len(twins) < 2 || !slices.Contains(twins, j) {
			continue
		}
		all := append(slices.Clone(with[j]), twins...)
		slices.Sort(all)
		out[j] = slices.DeleteFunc(slices.Compact(all), func(i int) bool { return i == j })
	}
	return out
}

// overlap says what two terms share by construction; the zero value if nothing that their
// kinds and features tell.
func overlap(a, b TermResult) Reason {
	if less(b, a) {
		a, b = b, a
	}
	kind := ReasonKind("")
	switch same := sameFeatures(a, b); {
	case same && a.Kind == Linear && b.Kind == Smooth:
		kind = ReasonLinearEffect
	case same && (a.Kind == Linear || a.Kind == Smooth) && b.Kind == Factor:
		kind = ReasonLevels
	case same:
		kind = ReasonSameColumns
	case within(a, b):
		kind = ReasonMargin
	}
	return Reason{Kind: kind, With: []string{b.Name, a.Name}}
}

// less orders terms from the simplest to the richest.
func less(a, b TermResult) bool {
	if len(a.Features) != len(b.Features) {
		return len(a.Features) < len(b.Features)
	}
	order := []Kind{Linear, Smooth, Learned, Tensor, Random, Factor}
	return slices.Index(order, a.Kind) < slices.Index(order, b.Kind)
}

func sameFeatures(a, b TermResult) bool { return within(a, b) && within(b, a) }

// within: every feature of a is one of b.
func within(a, b TermResult) bool {
	for _, f := range a.Features {
		if !contains(b.Features, f) {
			return false
		}
	}
	return len(a.Features) > 0
}
