package decompose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
)

const (
	// weakShare: the rows hardly tell a term whose mean squared standard error is above
	// this share of its variance, which is a standard error of half its sd.
	weakShare = 0.25
	// weakSE is the standard error, relative to the predictor's sd, up to which a term is
	// told however small it is. Bands of two standard errors then bound its share of the
	// variance by (2 x 0.05)^2 = 1 %: that there is no effect to speak of is a finding.
	weakSE = 0.05
	// weakConcurvity is the share of some function of a term that others reproduce, from
	// which on the network's chance splits it, not the rows. Retrained networks moved such
	// terms by half of their sd where the standard error said an eighth, since along such a
	// function a network does not err at random from row to row (docs/verdicts.md). It is
	// the worst case over the term's functions: a fitted curve may lie in the others' span
	// by half only (0.55) and yet move by half of itself.
	weakConcurvity = 0.99
)

// judging is what verdicts need beside the result. A result that was read has none: it
// has its verdicts.
type judging struct {
	blocks   []Block
	additive bool // the deep part is the same in all rows: nothing is left to move
	filled   bool // the columns reproduce any values of these rows

	margins [][]int // of each term, those to which it is orthogonal; nil: terms are as fitted

	group []int            // of each term, its place in Predictor.Entangled; -1: none
	of    map[string][]int // the terms of a feature
}

// trace is tr(v C), C being the centred X'WX of the raw columns of terms, one after the other.
type trace func(v *mat.SymDense, terms ...int) float64

// judge gives the verdicts again, after the covariance or the margins of terms, or the
// convention of a predictor, have become others.
func (r *Result) judge() {
	for k := range r.Predictors {
		r.Predictors[k].judge(func(v *mat.SymDense, terms ...int) float64 { return r.sum.Trace(v, k, terms...) })
	}
}

// judge says of every term how far the rows determine it.
func (d *Predictor) judge(x trace) {
	if d.judging == nil {
		return
	}
	d.judging.index(d)
	for j := range d.Terms {
		t := &d.Terms[j]
		sum, weak, convention := d.sumOf(j), d.weakness(j, d.meanSquaredError(j, x)), d.conventions(j)
		switch {
		case sum != "":
			t.Verdict, t.Why = Sum, sum
		case weak != "" && convention != "":
			t.Verdict, t.Why = Weak, weak+besides+convention
		case weak != "":
			t.Verdict, t.Why = Weak, weak
		case convention != "":
			t.Verdict, t.Why = Convention, convention
		default:
			t.Verdict, t.Why = Identified, ""
		}
	}
}

// index finds the groups and the features of the terms.
func (g *judging) index(d *Predictor) {
	at := map[string]int{}
	g.group, g.of = slices.Repeat([]int{-1}, len(d.Terms)), map[string][]int{}
	for j, t := range d.Terms {
		at[t.Name] = j
		for _, f := range t.Features {
			g.of[f] = append(g.of[f], j)
		}
	}
	for i, e := range d.Entangled {
		for _, name := range e.Terms {
			g.group[at[name]] = i
		}
	}
}

// neighbours are the terms that have a feature in common with term j, increasing.
func (d *Predictor) neighbours(j int) []int {
	var out []int
	for _, f := range d.Terms[j].Features {
		out = append(out, d.judging.of[f]...)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(i int) bool { return i == j })
}

// besides stands between why a term is weak and the conventions that it rests on as well.
const besides = "; besides, "

// Reasons are the clauses of Why, for those who list each of them once; those of a sum are
// one.
func (t *TermResult) Reasons() []string {
	switch {
	case t.Why == "":
		return nil
	case t.Verdict == Sum:
		return []string{t.Why}
	}
	return strings.Split(strings.Replace(t.Why, besides, "; ", 1), "; ")
}

// sumOf names the sum that is determined in place of term j, "" if the term itself is.
func (d *Predictor) sumOf(j int) string {
	if i := d.judging.group[j]; i >= 0 {
		e := d.Entangled[i]
		return fmt.Sprintf("only %s is determined: %s", added(e.Terms), e.Reason)
	}
	return ""
}

// weakness says why the rows hardly tell term j, whose squared standard error is se2 on
// average; "" if they do.
func (d *Predictor) weakness(j int, se2 float64) string {
	t, g := &d.Terms[j], d.judging
	var why []string
	if g.filled && !g.blocks[j].isKept() {
		why = append(why, "there are as many columns as rows: nothing is left to judge them by")
	}
	if t.PinnedRows > 0 {
		why = append(why, fmt.Sprintf("it rests on single rows (%d, of leverage above 0.99)", t.PinnedRows))
	}
	if se2 > weakShare*t.After.Variance && se2 > weakSE*weakSE*d.Variance.Total {
		why = append(why, fmt.Sprintf("its standard error is %s its own standard deviation", timesOf(math.Sqrt(se2), math.Sqrt(t.After.Variance))))
	}
	if copy := d.nearCopy(j); copy != "" {
		why = append(why, copy)
	}
	return strings.Join(why, "; ")
}

// meanSquaredError is the weighted mean over the training rows of the squared standard
// error of term j, tr(V C), V being the covariance of its coefficients and C that of its
// columns; 0 where there are no standard errors.
func (d *Predictor) meanSquaredError(j int, x trace) float64 {
	u, err := d.uncertainty(j)
	if err != nil || u.cov == nil { // an error is of results that were read, which are not judged again
		return 0
	}
	sum := x(u.cov, u.pieces...) / d.sumW
	if !(sum > 0) { // NaN
		return 0
	}
	return sum
}

// nearCopy says what a term can hardly be told from on these rows, "" if from nothing.
// Terms that share functions by what they are (share) do not count: the split with them is
// a convention for any rows.
func (d *Predictor) nearCopy(j int) string {
	t := &d.Terms[j]
	if !(t.EDF > 0 && t.Concurvity.Worst > weakConcurvity) {
		return ""
	}
	related := map[string]bool{}
	for _, i := range d.neighbours(j) {
		if d.share(i, j) {
			related[d.Terms[i].Name] = true
		}
	}
	with, largest := "", weakConcurvity
	for _, p := range d.Concurvity {
		if p.Term == t.Name && p.Worst > largest && !related[p.With] {
			with, largest = p.With, p.Worst
		}
	}
	switch {
	case with != "":
	case len(related) > 0:
		return ""
	default:
		with = "what the other terms make together"
	}
	return fmt.Sprintf("part of it can hardly be told from %s (concurvity %s)", with, nines(t.Concurvity.Worst))
}

// timesOf writes how often b is in a: "80 % of", "17 times".
func timesOf(a, b float64) string {
	switch r := a / b; {
	case !(r < 1000):
		return "more than 1000 times"
	case r >= 2:
		return fmt.Sprintf("%.0f times", r)
	default:
		return fmt.Sprintf("%.0f %% of", 100*r)
	}
}

// nines writes a share near 1 with as many digits as tell it from 1.
func nines(v float64) string {
	for digits := 3; digits < 8; digits++ {
		if s := fmt.Sprintf("%.*f", digits, v); s != fmt.Sprintf("%.*f", digits, 1.0) {
			return s
		}
	}
	return "1"
}

// added is "a + b + c" of at most six names.
func added(names []string) string {
	const most = 6
	if len(names) > most {
		return fmt.Sprintf("%s + %d more", strings.Join(names[:most], " + "), len(names)-most)
	}
	return strings.Join(names, " + ")
}
