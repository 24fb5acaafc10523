package decompose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	// weakShare: the rows hardly tell a term whose mean squared standard error is above
	// this share of its variance, which is a standard error of a third of its sd: other rows then move a term of few degrees of
	// freedom by half of its sd about once in ten times, one of many hardly ever.
	weakShare = 1.0 / 9
	// negligible is the share of the predictor's sd up to which a term's sd and its standard error do not count: that there is no effect
	// to speak of is a finding.
	negligible = 0.05
	// weakConcurvity is the share of some function of a term that others reproduce, from
	// which on the network's chance splits it, not the rows. Retrained networks moved such
	// terms by half of their sd where the standard error said an eighth, since along such a
	// function a network does not err at random from row to row (TestNearCopies). It is
	// the worst case over the term's functions: a fitted curve may lie in the others' span
	// by half only (0.55) and yet move by half of itself.
	weakConcurvity = 0.99
)

// judging is what verdicts need beside the result.
type judging struct {
	blocks   []Block
	additive bool // the deep part is the same in all rows: nothing is left to move
	filled   bool // the columns reproduce any values of these rows

	margins [][]int // of each term, those to which it is orthogonal; nil: terms are as fitted

	group []int            // of each term, its place in Predictor.Entangled; -1: none
	sums  [][]int          // the terms of each of these
	of    map[string][]int // the terms of a feature
}

// trace is tr(v C), C being the centred X'WX of the raw columns of terms, one after the other.
type trace func(v mat.Symmetric, terms ...int) float64

// judge gives the verdicts again, after the covariance or the margins of terms, or the
// convention of a predictor, have become others.
func (r *Result) judge() {
	for k := range r.Predictors {
		r.Predictors[k].judge(func(v mat.Symmetric, terms ...int) float64 { return r.sum.Trace(v, k, terms...) })
	}
}

// judge says of every term how far the rows determine it.
func (d *Predictor) judge(x trace) {
	if d.fit == nil || d.fit.judging == nil {
		return
	}
	d.fit.judging.index(d)
	for i := range d.Entangled {
		e := &d.Entangled[i]
		e.Weak = labelling{raw: d}.told(d.imprecision(e.After, d.meanSquaredError(x, d.fit.judging.sums[i]...)))
	}
	for j := range d.Terms {
		t := &d.Terms[j]
		t.Because = labelling{raw: d}.told(d.reasons(j, x))
		t.Why, t.Verdict = because(t.Because), Identified
		if len(t.Because) > 0 {
			t.Verdict = t.Because[0].Kind.verdict()
		}
	}
}

// index finds the groups and the features of the terms.
func (g *judging) index(d *Predictor) {
	g.group, g.sums, g.of = slices.Repeat([]int{-1}, len(d.Terms)), d.groups(), map[string][]int{}
	for j, t := range d.Terms {
		for _, f := range t.Features {
			g.of[f] = append(g.of[f], j)
		}
	}
	for i, terms := range g.sums {
		for _, j := range terms {
			g.group[j] = i
		}
	}
}

// neighbours are the terms that have a feature in common with term j, increasing.
func (d *Predictor) neighbours(j int) []int {
	var out []int
	for _, f := range d.Terms[j].Features {
		out = append(out, d.fit.judging.of[f]...)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(i int) bool { return i == j })
}

// Reasons are Because or, in a result of versions that did not have it, Why as the text of one
// reason; nil: the term is identified, or not judged.
func (t *TermResult) Reasons() []Reason {
	if t.Because == nil && t.Why != "" {
		return []Reason{{Text: t.Why}}
	}
	return t.Because
}

// reasons are those of the first verdict that applies to term j, and of a weak term the
// conventions besides.
func (d *Predictor) reasons(j int, x trace) []Reason {
	if i := d.fit.judging.group[j]; i >= 0 {
		e := d.Entangled[i]
		return slices.Concat([]Reason{{Kind: ReasonSum, With: e.Terms}}, e.Because)
	}
	return append(d.weakness(j, d.meanSquaredError(x, j)), d.conventions(j)...)
}

// weakness says why the rows hardly tell term j, whose squared standard error is se2 on
// average; nil if they do.
func (d *Predictor) weakness(j int, se2 float64) (why []Reason) {
	t, g := &d.Terms[j], d.fit.judging
	if g.filled && !g.blocks[j].isKept() {
		why = append(why, Reason{Kind: ReasonNoRowsLeft})
	}
	if t.PinnedRows > 0 {
		why = append(why, Reason{Kind: ReasonSingleRows, Value: float64(t.PinnedRows)})
	}
	why = append(why, d.imprecision(&t.After, se2)...)
	if t.LackOfFit.Matters() {
		why = append(why, Reason{Kind: ReasonLackOfFit, Value: t.LackOfFit.Share})
	}
	return append(why, d.nearCopy(j)...)
}

// imprecision says that the standard error of a term, or of a sum, is large next to its standard deviation, se2 being
// its square on average; nil: it is not.
func (d *Predictor) imprecision(after *Moment, se2 float64) []Reason {
	if after == nil || !(se2 > weakShare*after.Variance) || max(se2, after.Variance) <= negligible*negligible*d.Variance.Total {
		return nil
	}
	return []Reason{{Kind: ReasonStandardError, Value: ratio(math.Sqrt(se2), math.Sqrt(after.Variance))}}
}

// meanSquaredError is the weighted mean over the training rows of the squared standard error of the sum of terms,
// tr(V C), V being the covariance of their coefficients and C that of their columns; 0 where there are no
// standard errors. For smoothed splits it is the error from drawing other rows, without the allowance
// for bias by smoothing that bands have.
func (d *Predictor) meanSquaredError(x trace, terms ...int) float64 {
	c := d.covariance()
	if c != nil && c.splits != nil && c.splits.stable != nil {
		own := *c
		own.splits, c = c.splits.stable, &own
	}
	u, err := d.uncertaintyBy(c, terms...)
	if err != nil || u.cov == nil { // an error is of results that were read, which are not judged again
		return 0
	}
	sum := x(u.cov, u.pieces...) / d.sumW
	if !(sum > 0) { // NaN
		return 0
	}
	return sum
}

// nearCopy says what a term can hardly be told from on these rows, nil if from nothing.
// Terms that share functions by what they are (share) do not count: the split with them is
// a convention for any rows.
func (d *Predictor) nearCopy(j int) []Reason {
	t := &d.Terms[j]
	if !(t.EDF > 0 && t.Concurvity.Worst > weakConcurvity) {
		return nil
	}
	related := map[string]bool{}
	for _, i := range d.neighbours(j) {
		if d.share(i, j) {
			related[d.Terms[i].Name] = true
		}
	}
	var with []string
	largest := weakConcurvity
	for _, p := range d.Concurvity {
		if p.Term == t.Name && p.Worst > largest && !related[p.With] {
			with, largest = []string{p.With}, p.Worst
		}
	}
	if with == nil && len(related) > 0 {
		return nil
	}
	return []Reason{{Kind: ReasonNearCopy, With: with, Value: t.Concurvity.Worst}}
}
