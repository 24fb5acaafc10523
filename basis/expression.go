package basis

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
)

// Expression says how the columns of a basis follow from a row of data, in a few
// operations that every engine of arrays has: for writers of other formats, such as ONNX.
// The set is closed: Number, Indicators, Indicator, Combinations, *Piecewise, *Radial,
// *Monomials, Mapped, Joined and Product. Slices and matrices are shared with the term.
type Expression interface {
	// Width is the number of columns.
	Width() int
	expression()
}

// Number is a numeric column as it is: one number.
type Number struct{ Column string }

// Indicators hold, for each level of a column, 1 where it is the row's own and else 0. Of
// a row with another level than these they are undefined.
type Indicators struct {
	Column string
	Levels []string
}

// Indicator is column At of Indicators.
type Indicator struct {
	Indicators
	At int
}

// Combinations have a column for each cell, a level of every factor: 1 where they are the
// row's own, else 0. A row may have no cell.
type Combinations struct {
	Factors []Indicators
	Cells   [][]int32 // by column
}

// Piecewise are polynomials of one column. With p the number of breaks that x has reached,
// function j is the sum over q of Coef[q][p, j] u^q, u = (x - Origin[p]) / Scale[p].
// Splines are polynomials of the place within a piece: de Boor's recursion would take more nodes,
// and cancel more.
type Piecewise struct {
	Column string
	Breaks []float64 // increasing, at least 2
	// Period: x is taken into the interval from the first break to the last before; 0: not.
	Period        float64
	Origin, Scale []float64    // of the len(Breaks) + 1 pieces
	Coef          []*mat.Dense // by power: pieces x functions
}

// Radial are functions of the squared distances s_j from a point to centres j, in which
// differences of column l are multiplied with Unit[l]: exp(-s/2) if Order is 0, else the
// thin plate function of derivatives of that order, Factor r^(2 Order - d) of the distance
// r for an odd number d of columns, and times log r for an even one.
type Radial struct {
	Columns []string  // d
	Centres []float64 // n x d
	Unit    []float64 // d
	Order   int
	Factor  float64
}

// Monomials are products of powers of the columns, Shift subtracted from them before.
type Monomials struct {
	Columns []string
	Shift   []float64
	Powers  [][]int // of each function, by column
}

// Mapped is a row of Of times the matrix To.
type Mapped struct {
	Of Expression
	To mat.Matrix
}

// Joined are rows side by side.
type Joined []Expression

// Product is the Kronecker product of rows, the first slowest.
type Product []Expression

// Width is 1.
func (Number) Width() int { return 1 }

// Width is the number of levels.
func (e Indicators) Width() int { return len(e.Levels) }

// Width is 1.
func (Indicator) Width() int { return 1 }

// Width is the number of cells.
func (e Combinations) Width() int { return len(e.Cells) }

// Width is the number of functions.
func (e *Piecewise) Width() int {
	_, k := e.Coef[0].Dims()
	return k
}

// Width is the number of centres.
func (e *Radial) Width() int { return len(e.Centres) / len(e.Columns) }

// Width is the number of functions.
func (e *Monomials) Width() int { return len(e.Powers) }

// Width is that of the matrix.
func (e Mapped) Width() int {
	_, c := e.To.Dims()
	return c
}

// Width is the sum of the parts'.
func (e Joined) Width() int {
	sum := 0
	for _, part := range e {
		sum += part.Width()
	}
	return sum
}

// Width is the product of the factors'.
func (e Product) Width() int {
	product := 1
	for _, factor := range e {
		product *= factor.Width()
	}
	return product
}

func (Number) expression()       {}
func (Indicators) expression()   {}
func (Indicator) expression()    {}
func (Combinations) expression() {}
func (*Piecewise) expression()   {}
func (*Radial) expression()      {}
func (*Monomials) expression()   {}
func (Mapped) expression()       {}
func (Joined) expression()       {}
func (Product) expression()      {}

// Expresser is an Evaluator of another package that says what it computes of columns, so
// that terms of it can be written in other formats. Of one that is none they cannot.
type Expresser interface {
	Evaluator
	Expression(columns []string) Expression
}

// Express is the expression of a term's columns: of the terms of this package, of
// decompose.LinearTerm, and of terms of other packages that have a method Expression. A
// learned basis has none, nor has a smooth of another package's class that is no Expresser:
// the error says so.
func Express(t decompose.Term) (Expression, error) {
	switch t := t.(type) {
	case *decompose.LinearTerm:
		return Number{t.Column}, nil
	case interface{ express() (Expression, error) }:
		return t.express()
	case interface{ Expression() (Expression, error) }:
		return t.Expression()
	}
	return nil, fmt.Errorf("term %q: a term of type %T does not say what it computes of a row", t.Name(), t)
}
