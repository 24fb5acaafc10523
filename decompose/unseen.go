package decompose

import (
	"errors"
	"math"

	"github.com/pho-go/pho/data"
)

// unseenTerms let terms be evaluated on rows that have levels they do not know: the term has the
// columns of a level that it knows there, and the row is noted, where it is to add nothing.
type unseenTerms struct {
	tally   *data.UnseenLevels
	noted   map[Term][]bool                 // rows of the batch at hand on which the term adds nothing
	counted map[string][]bool               // by column, those that are in the tally
	known   map[*string]map[string]struct{} // levels, by the first of their list
}

func newUnseenTerms(tally *data.UnseenLevels) *unseenTerms {
	return &unseenTerms{tally, map[Term][]bool{}, map[string][]bool{}, map[*string]map[string]struct{}{}}
}

// begin forgets the batch before.
func (u *unseenTerms) begin() {
	if u != nil && len(u.noted) > 0 {
		clear(u.noted)
		clear(u.counted)
	}
}

// again evaluates t at the rows of b by the function, which has failed with err, until it has no
// levels left that t does not know. Errors are the others.
func (u *unseenTerms) again(t Term, b *data.Batch, err error, by func(*data.Batch) error) error {
	var level *data.UnseenLevelError
	for u != nil && errors.As(err, &level) && len(level.Known) > 0 {
		var changed bool
		if b, changed = u.replaced(t, b, level); !changed {
			return err
		}
		err = by(b)
	}
	return err
}

// replaced is b with a level that t knows in place of those that it does not; false: there are none.
func (u *unseenTerms) replaced(t Term, b *data.Batch, e *data.UnseenLevelError) (*data.Batch, bool) {
	text, err := b.Texts(e.Column)
	if err != nil {
		return b, false
	}
	known := u.known[&e.Known[0]]
	if known == nil {
		known = make(map[string]struct{}, len(e.Known))
		for _, level := range e.Known {
			known[level] = struct{}{}
		}
		u.known[&e.Known[0]] = known
	}
	n, changed := b.Rows(), false
	cells := make([]string, n)
	for i := range cells {
		cells[i] = text(i)
		if _, is := known[cells[i]]; is {
			continue
		}
		if u.noted[t] == nil {
			u.noted[t] = make([]bool, n)
		}
		if u.counted[e.Column] == nil {
			u.counted[e.Column] = make([]bool, n)
		}
		if !u.counted[e.Column][i] {
			u.tally.Add(e.Column, cells[i])
		}
		u.noted[t][i], u.counted[e.Column][i] = true, true
		cells[i], changed = e.Known[0], true
	}
	own := b.Slice(0, n)
	if _, err := own.SetTexts(e.Column, cells, nil); err != nil {
		return b, false
	}
	return own, changed
}

// rows are those on which the term adds nothing; nil: none.
func (u *unseenTerms) rows(t Term) []bool {
	if u == nil {
		return nil
	}
	return u.noted[t]
}

// withoutUnseen makes the parts of n rows, from i on, of terms that add nothing there 0, their
// standard errors NaN, and the unstructured part what the others leave of the network's output.
func (s *splitter) withoutUnseen(parts *Parts, i, n int) {
	u := s.forward.eval.unseen
	if u == nil || len(u.noted) == 0 {
		return
	}
	for k := range parts.Predictors {
		part, changed := &parts.Predictors[k], make([]bool, n)
		for j, at := range s.at[k] {
			for r, is := range u.rows(s.terms.terms[at]) {
				if !is {
					continue
				}
				changed[r] = true
				part.Terms.Set(i+r, j, 0)
				if part.SE != nil {
					part.SE.Set(i+r, j, math.NaN())
				}
			}
		}
		for r := range n {
			if !changed[r] {
				continue
			}
			part.Unstructured[i+r] = part.Eta[i+r] - part.Intercept
			for _, v := range part.Row(i + r) {
				part.Unstructured[i+r] -= v
			}
		}
	}
}
