package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/decompose"
)

// widen makes the simultaneous band that of several networks: as much wider than the
// pointwise one, which holds what differs between them, as the projection's is.
func (e *Effect) widen() {
	if e.Networks == nil || e.Sim == nil {
		return
	}
	e.Sim = slices.Clone(e.Sim)
	for i := range e.Sim {
		if own := e.own(i); own > 0 {
			e.Sim[i] *= e.half(i) / own
		} else {
			e.Sim[i] = e.half(i)
		}
	}
}

// writeNetworks writes the rows of an effect of several networks: their mean with its
// band, and each of them.
func (e *Effect) writeNetworks(write func(...string), number func(float64) string) {
	row := func(stage string, p int, value float64, rest ...string) {
		x, x2 := e.at(p)
		write(append([]string{e.Predictor, e.Term, stage, x, x2, number(value)}, rest...)...)
	}
	for p, v := range e.Before {
		row("before", p, v, "", "", "", "", "", number(e.Networks.SDBefore[p]), "")
	}
	for p, v := range e.After {
		if between := number(e.Networks.SD[p]); notFinite(e.SE[p]) {
			row("after", p, v, "", "", "", "", "", between, "")
		} else {
			half, lower, upper := e.half(p), "", ""
			if e.Sim != nil {
				lower, upper = number(v-e.Sim[p]), number(v+e.Sim[p])
			}
			row("after", p, v, number(e.SE[p]), number(v-half), number(v+half), lower, upper, between, "")
		}
	}
	for m, name := range e.Names {
		for p, v := range e.Networks.Before[m] {
			row("before", p, v, "", "", "", "", "", "", name)
		}
		for p, v := range e.Networks.After[m] {
			row("after", p, v, "", "", "", "", "", "", name)
		}
	}
}

// networks is what the glossary says of several.
type networks struct{ Band, Meaning, Promise string }

func newNetworks(r *decompose.Result) *networks {
	if r.Networks == nil {
		return nil
	}
	if r.Networks.From == decompose.Resamples {
		return &networks{
			"Band of training, its rows and the projection",
			"They were trained on resamples of the rows, so it holds what another training on other rows would change.",
			"It covers the seed, the training rows and the projection; it does not cover what all networks have in common: early stopping, weight decay or a choice of settings pull all of them the same way.",
		}
	}
	return &networks{
		"Band of training randomness only and the projection",
		"They were trained on the same rows, so it is training randomness only: other rows would change the curves as well.",
		"The networks were trained on the same rows: the band holds training randomness only, beside the projection's, and is too narrow for what other rows would change.",
	}
}

// agreement is the section on what differs between networks.
type agreement struct {
	Words    string
	Unstable bool
	Rows     []agreementRow
}

type agreementRow struct {
	Name, Before, After, Own, RatioBefore, RatioAfter string
	Unstable                                          bool
}

// newAgreement lists the terms, those that are not stable first; nil for one network.
func newAgreement(r *decompose.Result, d *decompose.Predictor) *agreement {
	if r.Networks == nil || len(d.Terms) == 0 {
		return nil
	}
	a := &agreement{}
	terms := ByStability(d)
	var unstable []string
	names := partNames{}
	for _, t := range terms {
		names[t.Name] = t.Features
	}
	for _, t := range terms {
		if t.BetweenSD == nil {
			return nil
		}
		own := math.Sqrt(t.After.Variance)
		row := agreementRow{Name: clip(t.Name, 60), Before: num(t.BetweenSD.Before), After: num(t.BetweenSD.After), Own: num(own),
			RatioBefore: num(t.BetweenSD.Before / own), RatioAfter: num(t.BetweenSD.After / own), Unstable: !t.Stable()}
		if row.Unstable {
			unstable = append(unstable, names.of(t.Name))
		}
		a.Rows = append(a.Rows, row)
	}
	a.Unstable = len(unstable) > 0
	n, what := len(r.Networks.Names), "on resamples of the rows"
	if r.Networks.From == decompose.Seeds {
		what = "from other seeds, on the same rows (training randomness only)"
	}
	if a.Unstable {
		a.Words = fmt.Sprintf("The %d networks, trained %s, do not agree on %s: there they differ by more than half of the curve's own standard deviation.", n, what, inWords(unstable, 20))
	} else {
		a.Words = fmt.Sprintf("The %d networks, trained %s, agree on every curve to half of its standard deviation or better.", n, what)
	}
	return a
}

// ByStability are the terms of a predictor, those on which networks do not agree first, in
// order of the sd between networks relative to the term's own.
func ByStability(d *decompose.Predictor) []*decompose.TermResult {
	out := make([]*decompose.TermResult, len(d.Terms))
	for j := range d.Terms {
		out[j] = &d.Terms[j]
	}
	ratio := func(t *decompose.TermResult) float64 {
		if t.BetweenSD == nil || t.BetweenSD.After == 0 {
			return 0
		}
		return t.BetweenSD.After / math.Sqrt(t.After.Variance)
	}
	slices.SortStableFunc(out, func(a, b *decompose.TermResult) int {
		if a.Stable() != b.Stable() {
			if a.Stable() {
				return 1
			}
			return -1
		}
		return cmp.Compare(ratio(b), ratio(a))
	})
	return out
}
