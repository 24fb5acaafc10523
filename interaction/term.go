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
//   - of two values: s(x, by = ordered(b)), the difference of two curves, and with a factor
//     or with another one of two values the product a:b;
//   - a number and a factor: ti(x, f, bs = c("cr", "re")), which does not hang on the order
//     of the levels;
//   - two factors: a:b, with many cells s(a, b, bs = "re").
func termOf(a, b *scale) formula.Summand {
	switch {
	case a.factor && b.factor && a.distinct*b.distinct > maxCells:
		return call("s", []*scale{a, b}, formula.Arg{Name: "bs", Value: text("re")})
	case a.factor && b.factor, a.factor && b.binary(), a.binary() && b.factor, a.binary() && b.binary():
		return formula.Summand{Calls: []formula.Call{{Vars: []formula.Name{{Text: a.name}}}, {Vars: []formula.Name{{Text: b.name}}}}}
	case a.binary():
		return termOf(b, a)
	case b.binary():
		return call("s", []*scale{a}, formula.Arg{Name: "by", Value: formula.Value{Kind: formula.Identifier, Text: b.name, Func: "ordered"}}, k(a)...)
	case a.factor:
		return termOf(b, a)
	case b.factor:
		args := []formula.Arg{{Name: "k", Value: vector(number(a.margin()), number(marginColumns))}}
		if a.margin() == marginColumns {
			args = nil
		}
		return call("ti", []*scale{a, b}, formula.Arg{Name: "bs", Value: vector(text("cr"), text("re"))}, args...)
	}
	if a.margin() == marginColumns && b.margin() == marginColumns {
		return call("ti", []*scale{a, b}, formula.Arg{})
	}
	return call("ti", []*scale{a, b}, formula.Arg{Name: "k", Value: vector(number(a.margin()), number(b.margin()))})
}

// binary tells whether the column holds two numbers.
func (c *scale) binary() bool { return !c.factor && c.distinct == 2 }

// margin is how many functions a margin of the column has.
func (c *scale) margin() int { return max(3, min(marginColumns, c.distinct)) }

// k says how many functions a smooth of a column of few values has.
func k(c *scale) []formula.Arg {
	const usual = 10 // of s()
	if c.distinct >= usual {
		return nil
	}
	return []formula.Arg{{Name: "k", Value: number(max(3, c.distinct))}}
}

// call is a function of columns; an argument without a name is left out.
func call(name string, columns []*scale, first formula.Arg, more ...formula.Arg) formula.Summand {
	c := formula.Call{Func: name}
	for _, column := range columns {
		c.Vars = append(c.Vars, formula.Name{Text: column.name})
	}
	for _, a := range append([]formula.Arg{first}, more...) {
		if a.Name != "" {
			c.Args = append(c.Args, a)
		}
	}
	return formula.Summand{Calls: []formula.Call{c}}
}

func text(s string) formula.Value { return formula.Value{Kind: formula.String, Text: s} }

func number(n int) formula.Value { return formula.Value{Kind: formula.Number, Number: float64(n)} }

func vector(items ...formula.Value) formula.Value {
	return formula.Value{Kind: formula.Vector, Items: items}
}
