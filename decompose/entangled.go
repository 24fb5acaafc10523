package decompose

import (
	"fmt"
	"slices"
	"strings"
)

// Entanglement is a group of terms of which only the sum is identified, and why. Before
// and After are moments of the sum, nil in files of versions that did not have them.
type Entanglement struct {
	Terms  []string `json:"terms"`
	Reason string   `json:"reason"`
	Before *Moment  `json:"before,omitempty"`
	After  *Moment  `json:"after,omitempty"`
}

// entanglement explains a group by what its terms are.
func entanglement(group []TermResult) Entanglement {
	e := Entanglement{}
	for _, t := range group {
		e.Terms = append(e.Terms, t.Name)
	}
	var reasons []string
	for i, a := range group {
		for _, b := range group[i+1:] {
			if r := overlap(a, b); r != "" && !slices.Contains(reasons, r) {
				reasons = append(reasons, r)
			}
		}
	}
	if len(reasons) == 0 {
		reasons = []string{"on these rows their columns are linearly dependent"}
	}
	e.Reason = strings.Join(reasons, "; ")
	return e
}

// besideTwins is with, of which each term has the others that it is entangled with, and
// besides those that are functions of the same features: however their bases differ, and
// whether or not the rows tell them apart, only their sum is the effect of those features.
// By variables make other functions, and random effects have a share of their own.
func besideTwins(with [][]int, terms []TermResult) [][]int {
	of := map[string][]int{}
	for j := range terms {
		t := &terms[j]
		if byColumn(t) != "" || t.Kind == Random {
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

// overlap says what two terms share by construction; "" if nothing that their
// kinds and features tell.
func overlap(a, b TermResult) string {
	if less(b, a) {
		a, b = b, a
	}
	same := sameFeatures(a, b)
	switch {
	case same && a.Kind == Linear && b.Kind == Smooth:
		return fmt.Sprintf("%s contains the linear effect of %s", b.Name, a.Name)
	case same && (a.Kind == Linear || a.Kind == Smooth) && b.Kind == Factor:
		return fmt.Sprintf("the levels of %s span any function of %s, and so %s", b.Name, b.Features[0], a.Name)
	case same && a.Kind == Learned || same && b.Kind == Learned:
		return fmt.Sprintf("%s and %s are both bases of %s", a.Name, b.Name, strings.Join(a.Features, ", "))
	case same && a.Kind == Random || same && b.Kind == Random:
		return fmt.Sprintf("%s and %s are both effects of %s", a.Name, b.Name, strings.Join(a.Features, ", "))
	case same:
		return fmt.Sprintf("%s and %s are both functions of %s", a.Name, b.Name, strings.Join(a.Features, ", "))
	case within(a, b) && b.Kind == Factor:
		return fmt.Sprintf("the combinations of %s span the levels of %s", b.Name, a.Name)
	case within(a, b):
		return fmt.Sprintf("%s contains the margin %s", b.Name, a.Name)
	}
	return ""
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
