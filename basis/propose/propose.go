// Package propose chooses the terms of a formula for columns as they are: what "." stands
// for. It reads the rows once, in bounded memory, and says what it left out and why.
package propose

import (
	"context"
	"fmt"
	"strings"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Proposal is a choice of terms.
type Proposal struct {
	Terms   []formula.Summand // in the order of the columns
	LeftOut []LeftOut
}

// LeftOut is a column that no term is for.
type LeftOut struct{ Column, Why string }

// String lists what was left out, by reason: "id (a number for each row); c, d (constant)".
func (p *Proposal) String() string {
	var whys []string
	of := map[string][]string{}
	for _, l := range p.LeftOut {
		if of[l.Why] == nil {
			whys = append(whys, l.Why)
		}
		of[l.Why] = append(of[l.Why], l.Column)
	}
	for i, why := range whys {
		whys[i] = fmt.Sprintf("%s (%s)", strings.Join(of[why], ", "), why)
	}
	return strings.Join(whys, "; ")
}

// The rules. A smooth has at most maxBasis columns, and all terms together, but for random effects, at most a
// tenth of the rows.
const (
	maxBasis    = 20
	minBasis    = 5
	fewValues   = 9  // distinct values of a number that is a factor, at most
	levelRows   = 10 // rows of a level, on average, at least
	maxLevels   = 50 // of a factor; of more a random effect
	rowsPerTerm = 10 // rows of a column of the basis
)

// Terms chooses terms for the columns, whatever their order:
//
//   - text, and columns in factors, are factors, with more than 50 levels random effects;
//   - runs of columns of 0 and 1 of which each row has exactly one 1 are one factor,
//     onehot(...), and so are those of a common prefix of which it has at most one;
//   - other numbers are smooths, s(x): cubic splines whose knots are quantiles of the rows. k is 20, or
//     two thirds of the number of distinct values; with nine or fewer they are factors, with two
//     linear;
//   - constants, identifiers (a text of its own on most rows, a count of the rows, a whole
//     number of its own on each row in a column named id, or key, or index) and tensors are
//     left out.
//
// If that is, but for random effects, more than a tenth of the rows, smooths get fewer columns, down to 5, and are
// linear where even that is too much. If there are as many columns as rows then, linear terms are one ridge(...).
func Terms(ctx context.Context, src data.Source, columns, factors []string) (*Proposal, error) {
	return TermsFrom(ctx, decompose.RowScans(src), "choice of terms", src.Schema(), columns, factors, false)
}

// TermsFrom is Terms with rows of the schema that this process may not hold. The look at them is
// called name. A column with missing or infinite numbers, of which there can be no term, is an error, or if lenient left out.
func TermsFrom(ctx context.Context, scans decompose.Scans, name string, schema data.Schema, columns, factors []string, lenient bool) (*Proposal, error) {
	s, err := newScan(schema, columns, factors)
	if err != nil {
		return nil, err
	}
	s.lenient = lenient
	if err := scans.Scan(ctx, name, columns, []decompose.SummingScanner{s}); err != nil {
		return nil, err
	}
	p := &Proposal{}
	groups := s.groups()
	var terms []term
	for _, c := range s.columns {
		if g := groups[c.name]; g != nil {
			if g[0] == c.name {
				terms = append(terms, term{columns: g, kind: oneHot, width: len(g)})
			}
			continue
		}
		t, why := s.choose(c)
		if why != "" {
			p.LeftOut = append(p.LeftOut, LeftOut{c.name, why})
			continue
		}
		terms = append(terms, t)
	}
	fit(terms, s.rows/rowsPerTerm)
	for _, t := range together(terms, s.rows) {
		p.Terms = append(p.Terms, t.summand())
	}
	return p, nil
}

// kind is what a term is.
type kind uint8

const (
	linear kind = iota
	factor
	codedFactor // factor(x) of a number
	oneHot
	ridge // ridge(a, b, ...)
	random
	spline // s(x, bs = "bs", knots = "quantiles")
)

// term is a term that is chosen: its columns and, roughly, the columns of its basis.
type term struct {
	columns []string
	kind    kind
	width   int
}

// choose is the term of a column, or why there is none.
func (s *scan) choose(c *column) (t term, why string) {
	t.columns = []string{c.name}
	levels := int64(c.distinct())
	switch {
	case c.tensor:
		return t, "a tensor"
	case !c.whole(s.rows):
		return t, "missing or infinite values"
	case levels < 2:
		return t, "constant"
	case c.text && levels > s.rows/2:
		return t, "a text of its own on most rows"
	case c.text && levels > maxLevels:
		t.kind, t.width = random, int(levels)
	case c.text:
		t.kind, t.width = factor, int(levels)-1
	case c.counts():
		return t, "it counts the rows"
	case c.identifies():
		return t, "a whole number of its own on each row"
	case levels == 2:
		t.kind, t.width = linear, 1
	case levels <= fewValues && levels*levelRows <= s.rows:
		t.kind, t.width = codedFactor, int(levels)-1
	case levels <= minBasis:
		t.kind, t.width = linear, 1
	default:
		t.kind, t.width = spline, int(min(maxBasis, max(minBasis, levels*2/3)))
	}
	return t, ""
}

// fit makes terms of at most so many columns in all, if linear terms can.
func fit(terms []term, most int64) {
	total := func() (n int64) {
		for _, t := range terms {
			if t.kind != random { // its penalty takes levels back, however few columns smooths have
				n += int64(t.width)
			}
		}
		return n
	}
	for _, k := range []int{15, 10, 7, minBasis, 1} {
		if total() <= most {
			return
		}
		for i, t := range terms {
			if t.kind == spline {
				terms[i].width = min(t.width, k)
			}
		}
	}
	for i, t := range terms {
		if t.kind == spline {
			terms[i].kind = linear // of one column now
		}
	}
}

// together puts linear terms into one, penalised together, if all terms have as many columns as there are rows: least
// squares has no answer then.
func together(terms []term, rows int64) []term {
	all, out := int64(0), []term{}
	one := term{kind: ridge}
	for _, t := range terms {
		all += int64(t.width)
		if t.kind == linear {
			one.columns = append(one.columns, t.columns...)
		} else {
			out = append(out, t)
		}
	}
	if all < rows || len(one.columns) < 2 {
		return terms
	}
	return append(out, one)
}

// summand is the term in the language.
func (t term) summand() formula.Summand {
	c := formula.Call{}
	for _, name := range t.columns {
		c.Vars = append(c.Vars, formula.Name{Text: name})
	}
	argument := func(name string, v formula.Value) { c.Args = append(c.Args, formula.Arg{Name: name, Value: v}) }
	basis := func(bs string) { argument("bs", formula.Value{Kind: formula.String, Text: bs}) }
	switch t.kind {
	case codedFactor:
		c.Func = "factor"
	case oneHot:
		c.Func = "onehot"
	case ridge:
		c.Func = "ridge"
	case random:
		c.Func = "s"
		basis("re")
	case spline:
		c.Func = "s"
		basis("bs")
		argument("k", formula.Value{Kind: formula.Number, Number: float64(t.width)})
		argument("knots", formula.Value{Kind: formula.String, Text: "quantiles"})
	}
	return formula.Summand{Calls: []formula.Call{c}}
}
