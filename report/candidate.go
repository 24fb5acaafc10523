package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/pho-go/pho/decompose"
)

// candidate is an effect that may become a figure, with its terms.
type candidate struct {
	effect        *Effect
	terms         []*decompose.TermResult
	sum           *decompose.Entanglement // of terms of which only the sum is identified; nil: it is a term
	before, after float64                 // sd over the rows
	estimated     bool                    // that sd
}

// newCandidate measures an effect of d. In files of earlier versions the sd of a sum is not
// known: it is estimated from its curve and the histogram of its feature.
func (draw *drawing) newCandidate(d *decompose.Predictor, e *Effect, terms []*decompose.TermResult) *candidate {
	c := &candidate{effect: e, terms: terms}
	if !c.identified() { // bands of a term that others nearly make up would hide it
		alone := *e
		alone.SE, alone.Sim = slices.Repeat([]float64{math.NaN()}, len(e.SE)), nil
		c.effect = &alone
	}
	before, after := &terms[0].Before, &terms[0].After
	if e.Sum != nil {
		before, after = momentsOf(d, e.Sum)
		c.sum = sumOf(d, e.Sum)
	}
	if after != nil {
		c.before, c.after = math.Sqrt(before.Variance), math.Sqrt(after.Variance)
	} else if c.estimated = true; e.Note == "" {
		c.before, c.after = draw.sd(e, e.Before), draw.sd(e, e.After)
	}
	return c
}

// momentsOf are those of a sum of entangled terms, nil where they are not known.
func momentsOf(d *decompose.Predictor, sum []string) (before, after *decompose.Moment) {
	if e := sumOf(d, sum); e != nil && e.Before != nil && e.After != nil {
		return e.Before, e.After
	}
	return nil, nil
}

// sumOf is the group of these terms, nil if there is none.
func sumOf(d *decompose.Predictor, terms []string) *decompose.Entanglement {
	for i := range d.Entangled {
		if slices.Equal(d.Entangled[i].Terms, terms) {
			return &d.Entangled[i]
		}
	}
	return nil
}

// candidates are what could be drawn of a predictor, largest first.
func (draw *drawing) candidates(d *decompose.Predictor, effects []Effect) []*candidate {
	term := map[string]*decompose.TermResult{}
	for j := range d.Terms {
		term[d.Terms[j].Name] = &d.Terms[j]
	}
	summed := map[string]bool{}
	for i := range effects {
		if e := &effects[i]; e.Predictor == d.Name && e.Note == "" {
			for _, name := range e.Sum {
				summed[name] = true
			}
		}
	}
	var out []*candidate
	for i := range effects {
		e := &effects[i]
		names := e.Sum
		if names == nil {
			names = []string{e.Term}
		}
		var terms []*decompose.TermResult
		for _, name := range names {
			if t := term[name]; t != nil && (e.Sum != nil || !summed[name]) {
				terms = append(terms, t)
			}
		}
		if e.Predictor == d.Name && len(terms) == len(names) {
			out = append(out, draw.newCandidate(d, e, terms))
		}
	}
	slices.SortStableFunc(out, func(a, b *candidate) int { return cmp.Compare(b.after, a.after) })
	return out
}

func (c *candidate) identified() bool { return c.effect.Sum != nil || separable(c.terms[0]) }

// separable tells whether the rows tell the term from others: its columns are neither dependent on theirs nor nearly so.
func separable(t *decompose.TermResult) bool { return t.Identified && !nearlyDependent(t) }

func nearlyDependent(t *decompose.TermResult) bool {
	return slices.ContainsFunc(t.Because, func(r decompose.Reason) bool { return r.Kind == decompose.ReasonNearlyDependent })
}

// inseparable are the terms that the rows do not tell t from.
func inseparable(t *decompose.TermResult) []string {
	if nearlyDependent(t) { // the first reason names the sum
		return slices.DeleteFunc(slices.Clone(t.Because[0].With), func(name string) bool { return name == t.Name })
	}
	return t.AliasedWith
}

// doubt says in the caption why a term's curve is not to be read as it is, "" if it is.
func (c *candidate) doubt() string {
	if c.effect.Sum != nil {
		if c.sum != nil && c.sum.Weak != nil {
			return "Weak: " + clip(c.sum.Weak[0].Text, 300) + "."
		}
		return ""
	}
	t := c.terms[0]
	switch verdict(t) {
	case decompose.Identified:
		return ""
	case decompose.Convention:
		return "Given a convention: " + clip(t.Why, 300) + "."
	case decompose.Weak:
		return "Weak: " + clip(t.Why, 300) + "."
	}
	if separable(t) {
		return "A part of a sum: " + clip(t.Why, 300) + "."
	}
	return "Not identified: only its sum with " + list(inseparable(t), 4) + " is. No band."
}

// byPredictor tells a term that is as it is by its predictor's convention alone, on which no
// probability of a class hangs.
func (c *candidate) byPredictor() bool {
	t := c.terms[0]
	return verdict(t) == decompose.Convention && !slices.ContainsFunc(t.Because, func(r decompose.Reason) bool { return r.Kind != decompose.ReasonPredictor })
}

// sd is the standard deviation of a curve over the rows, as far as the histogram
// tells.
func (d *drawing) sd(e *Effect, v []float64) float64 {
	weights := make([]float64, len(v))
	if e.X.Levels != nil {
		weights = d.levelRows(e.X)
	} else {
		counts := d.feature[e.X.Feature].Counts
		for i, c := range counts {
			weights[int(math.Round((float64(i)+0.5)/float64(len(counts))*float64(len(v)-1)))] += float64(c)
		}
	}
	var n, sum, squares float64
	for at, w := range weights {
		n, sum, squares = n+w, sum+w*v[at], squares+w*v[at]*v[at]
	}
	if n == 0 {
		return 0
	}
	return math.Sqrt(math.Max(squares/n-sum/n*sum/n, 0))
}

// levelRows estimates the number of rows of each level. Of a numeric column only a
// histogram is known: levels within a bin share its rows equally.
func (d *drawing) levelRows(a *Axis) []float64 {
	rows, f, levels := d.byLevel(a), d.feature[a.Feature], a.Levels
	out, bin, sharing := make([]float64, len(levels)), make([]int, len(levels)), map[int]float64{}
	for i := range levels {
		bin[i] = -1
		if v := a.place(&f, i); len(f.Levels) == 0 && len(f.Counts) > 0 && f.Min <= v && v <= f.Max && f.Min < f.Max {
			bin[i] = min(int((v-f.Min)/(f.Max-f.Min)*float64(len(f.Counts))), len(f.Counts)-1)
			sharing[bin[i]]++
		}
	}
	for i, l := range levels {
		if bin[i] >= 0 {
			out[i] = float64(f.Counts[bin[i]]) / sharing[bin[i]]
		} else {
			out[i] = float64(rows[l])
		}
	}
	return out
}
