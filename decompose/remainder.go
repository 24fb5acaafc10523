package decompose

import (
	"fmt"
	"strings"
)

// Remainder says what the unstructured part of a predictor depends on, and where it is
// largest (package interaction).
type Remainder struct {
	Share float64 `json:"share"` // Var(unstructured) / Var(eta)
	// Pairs of columns that it depends on together, as they were chosen: of those beyond
	// doubt the one that takes most first, then the surest. Empty: none can be told from
	// chance.
	Pairs []PairGain `json:"pairs"`
	// UnexplainedByPairs is Share less the gains of Pairs: by polynomials of degree 4 in
	// the ranks of numbers, and the 8 bins of factors.
	UnexplainedByPairs float64 `json:"unexplained_by_pairs"`
	// SingleColumns is the part of Share that functions of single columns would explain, which
	// the formula's terms of them do not hold; 0 if no column's are beyond chance.
	SingleColumns float64 `json:"single_columns,omitempty"`
	// Singles are the columns whose functions take most of that, each by itself, the largest
	// first: columns go together, so they need not add up to it.
	Singles []SingleGain `json:"singles,omitempty"`
	// Unasked says why pairs were not looked for, or which not; "": all of them were.
	Unasked string `json:"unasked,omitempty"`
	// Regions are where the remainder is large, apart from Rows; the largest part first.
	Regions []Region `json:"regions"`
	// Rows are those of the largest remainder, the largest first.
	Rows []RemainderRow `json:"rows,omitempty"`
}

// PairGain is a pair of columns that the remainder depends on together.
type PairGain struct {
	Features []string `json:"features"`
	// Gain is by how much Var(unstructured)/Var(eta) falls if a term for the pair comes to
	// the formula and to the pairs before it: about, and less what chance would give.
	Gain float64 `json:"gain"`
	P    float64 `json:"p"`    // that chance gives it, times the number of pairs
	Term string  `json:"term"` // as a formula has it
	// MaxEDF is how many effective degrees of freedom the term has unpenalised, at most; it is not written.
	MaxEDF int `json:"-"`
}

// SingleGain is a column whose functions would explain a part of the remainder.
type SingleGain struct {
	Feature string  `json:"feature"`
	Gain    float64 `json:"gain"` // of Var(unstructured)/Var(eta), as PairGain's
}

// Region is a set of rows by the values of one or two columns.
type Region struct {
	Where []Condition `json:"where"`
	Rows  float64     `json:"rows"`  // share of the rows, by their weight
	Share float64     `json:"share"` // of the remainder's sum of squares
}

// Condition is on one column: From <= value < To, nil being no bound, or one of Levels.
type Condition struct {
	Feature string   `json:"feature"`
	From    *float64 `json:"from,omitempty"`
	To      *float64 `json:"to,omitempty"`
	Levels  []string `json:"levels,omitempty"`
}

// RemainderRow is a row of the data.
type RemainderRow struct {
	Row          int64   `json:"row"`          // counted from 1
	ID           string  `json:"id,omitempty"` // of the row (Result.ID); "": it has none
	Unstructured float64 `json:"unstructured"`
	Eta          float64 `json:"eta"`
	Share        float64 `json:"share"` // of the remainder's sum of squares
}

// String says the condition in words: `x1 from 2.5 to 3`, `dow 6`.
func (c Condition) String() string {
	switch {
	case len(c.Levels) == 1:
		return c.Feature + " " + c.Levels[0]
	case len(c.Levels) > 3:
		return fmt.Sprintf("%s one of %d rare levels", c.Feature, len(c.Levels))
	case c.Levels != nil:
		return c.Feature + " one of " + strings.Join(c.Levels, ", ")
	case c.From == nil && c.To == nil:
		return "any " + c.Feature
	case c.From == nil:
		return fmt.Sprintf("%s below %.4g", c.Feature, *c.To)
	case c.To == nil:
		return fmt.Sprintf("%s from %.4g on", c.Feature, *c.From)
	}
	return fmt.Sprintf("%s from %.4g to %.4g", c.Feature, *c.From, *c.To)
}

// String joins the conditions.
func (r Region) String() string {
	var all []string
	for _, c := range r.Where {
		all = append(all, c.String())
	}
	return strings.Join(all, " and ")
}
