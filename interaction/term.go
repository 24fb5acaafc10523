package interaction

import (
	"github.com/pho-go/pho/basis/formula"
)

// marginColumns is k of a margin: the polynomials of degree 4 and a constant are as many.
const marginColumns = 5

// maxCells is how many cells a:b may have; of more it is a random effect.
const maxCells = 50

// termOf is the term that adds the pair to a formula that holds terms for each column:
//
//   - two numbers: ti(a, b), with as many functions as a margin has values, if these are few;
//   - a number and a column of two values or factor(f): s(x, by = ordered(f), bs = "cs"),
//     differences of curves, with shrinkage, as two straight lines in a level of two rows
//     would be one function and no other penalty sees them; with a column of text ti(x, f, bs = c("cr", "re")), which does not hang on the
//     order of the levels;
//   - otherwise the product a:b; of text with many cells s(a, b, bs = "re").
func termOf(a, b *scale) formula.Summand {
	few := func(c *scale) bool { return c.factor || c.binary() }
	switch {
	case few(a) && few(b) && a.text() && b.text() && a.distinct*b.distinct > maxCells:
		return call("s", a, b, formula.Arg{Name: "bs", Value: quoted("re")})
	case few(a) && few(b):
		return formula.Summand{Calls: []formula.Call{a.part(), b.part()}}
	case few(a):
		return termOf(b, a)
	case b.text():
		return call("ti", a, b, append(a.margins(b), formula.Arg{Name: "bs", Value: vector(quoted("cr"), quoted("re"))})...)
	case few(b):
		by := formula.Arg{Name: "by", Value: formula.Value{Kind: formula.Identifier, Text: b.name, Func: "ordered"}}
		return call("s", a, nil, by, formula.Arg{Name: "k", Value: number(a.margin())}, formula.Arg{Name: "bs", Value: quoted("cs")})
	}
	return call("ti", a, b, a.margins(b)...)
}

// maxEDF is how many degrees of freedom the term of the pair has beside terms of its columns, unpenalised.
func maxEDF(a, b *scale) int { return a.contrasts() * b.contrasts() }

// contrasts are the functions of the column in the term of a pair, less the constant.
func (c *scale) contrasts() int {
	if c.factor || c.binary() {
		return c.distinct - 1
	}
	return c.margin() - 1
}

// part is the column in a product.
func (c *scale) part() formula.Call {
	call := formula.Call{Vars: []formula.Name{{Text: c.name}}}
	if c.coded {
		call.Func = "factor"
	}
	return call
}

// text tells whether the column is a factor of its own accord.
func (c *scale) text() bool { return c.factor && !c.coded }

// binary tells whether the column holds two numbers.
func (c *scale) binary() bool { return !c.factor && c.distinct == 2 }

// margin is how many functions a margin of the column has.
func (c *scale) margin() int { return max(3, min(marginColumns, c.distinct)) }

// margins says how many functions the margins have, nothing if as many as usual.
func (c *scale) margins(other *scale) []formula.Arg {
	if c.margin() == marginColumns && (other.factor || other.margin() == marginColumns) {
		return nil
	}
	k := marginColumns // means nothing to a margin of levels
	if !other.factor {
		k = other.margin()
	}
	return []formula.Arg{{Name: "k", Value: vector(number(c.margin()), number(k))}}
}

// call is a function of one column or, with b, of two.
func call(name string, a, b *scale, args ...formula.Arg) formula.Summand {
	c := formula.Call{Func: name, Vars: []formula.Name{{Text: a.name}}, Args: args}
	if b != nil {
		c.Vars = append(c.Vars, formula.Name{Text: b.name})
	}
	return formula.Summand{Calls: []formula.Call{c}}
}

func quoted(s string) formula.Value { return formula.Value{Kind: formula.String, Text: s} }

func number(n int) formula.Value { return formula.Value{Kind: formula.Number, Number: float64(n)} }

func vector(items ...formula.Value) formula.Value {
	return formula.Value{Kind: formula.Vector, Items: items}
}
