package basis

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

func (l *levels) expression() Indicators { return Indicators{l.column, l.names} }

func (t *FactorTerm) express() (Expression, error) { return t.levels.expression(), nil }

// express: the columns are the indicators; that of no level is 1 less all others.
func (t *OneHotTerm) express() (Expression, error) {
	if !t.none {
		return numbersOf(t.columns), nil
	}
	k := len(t.columns)
	powers, to := [][]int{make([]int, k)}, mat.NewDense(k+1, k+1, nil)
	to.Set(0, 0, 1)
	for j := range k {
		one := make([]int, k)
		one[j] = 1
		powers = append(powers, one)
		to.Set(j+1, 0, -1)
		to.Set(j+1, j+1, 1)
	}
	return Mapped{&Monomials{t.columns, make([]float64, k), powers}, to}, nil
}

func (t *RidgeTerm) express() (Expression, error) { return numbersOf(t.columns), nil }

// numbersOf are columns side by side.
func numbersOf(columns []string) Joined {
	var numbers Joined
	for _, c := range columns {
		numbers = append(numbers, Number{c})
	}
	return numbers
}

func (t *CellsTerm) express() (Expression, error) {
	var product Product
	if len(t.factors) > 0 {
		c := Combinations{Cells: t.cells}
		for _, f := range t.factors {
			c.Factors = append(c.Factors, f.levels.expression())
		}
		product = append(product, c)
	}
	for l, name := range t.numbers {
		if t.about != nil && t.about[l] != 0 {
			product = append(product, &Monomials{[]string{name}, []float64{t.about[l]}, [][]int{{1}}})
			continue
		}
		product = append(product, Number{name})
	}
	return product, nil
}

func (t *SmoothTerm) express() (Expression, error) {
	e, err := expressSpline(t.name, t.column, t.basis)
	if err != nil {
		return nil, err
	}
	return t.by.times(e), nil
}

func (t *SurfaceTerm) express() (Expression, error) {
	e, err := expressEvaluator(t.name, t.columns, t.bs, t.basis)
	if err != nil {
		return nil, err
	}
	return t.by.times(e), nil
}

func (t *TensorTerm) express() (Expression, error) {
	var product Product
	for i := range t.margins {
		e, err := t.margins[i].express(t.name)
		if err != nil {
			return nil, err
		}
		product = append(product, e)
	}
	return t.by.times(product), nil
}

func (m *margin) express(term string) (Expression, error) {
	switch {
	case m.spline != nil:
		return expressSpline(term, m.columns[0], m.spline)
	case m.surface != nil:
		return expressEvaluator(term, m.columns, m.bs, m.surface)
	}
	return m.levels.expression(), nil
}

func (t *FactorSmoothTerm) express() (Expression, error) {
	e, err := expressSpline(t.name, t.column, t.basis)
	if err != nil {
		return nil, err
	}
	return Product{t.levels.expression(), Mapped{e, t.to}}, nil
}

// times is e multiplied with the by variable.
func (y *byVariable) times(e Expression) Expression {
	switch {
	case y.levels != nil:
		return Product{e, Indicator{y.levels.expression(), int(y.level)}}
	case y.column != "":
		return Product{e, Number{y.column}}
	}
	return e
}

// expressEvaluator is the expression of a basis of several columns.
func expressEvaluator(term string, columns []string, bs string, b Evaluator) (Expression, error) {
	switch b := b.(type) {
	case thinPlate:
		if b.Space().D == 1 {
			return expressSpline(term, columns[0], b)
		}
		return b.express(columns), nil
	case radialLayer:
		return &Radial{Columns: columns, Centres: b.Knots(), Unit: b.Inverse()}, nil
	case Expresser:
		return b.Expression(columns), nil
	}
	return nil, fmt.Errorf("term %q: a smooth of class %q does not say what it computes of a row (basis.Expresser)", term, bs)
}

// express is the thin plate basis of several columns: combinations of radial functions
// next to polynomials.
func (b thinPlate) express(columns []string) Expression {
	s, p := b.Space(), b.Parameters()
	n := len(p.Points) / s.D
	centres := make([]float64, len(p.Points))
	for i, v := range p.Points {
		centres[i] = v + p.Shift[i%s.D]
	}
	unit, scale := make([]float64, s.D), mat.NewDiagDense(len(p.Scale), p.Scale)
	for j := range unit {
		unit[j] = 1
	}
	weights := mat.NewDense(n, s.K-s.Polynomials(), p.Weights)
	return Joined{
		Mapped{&Radial{Columns: columns, Centres: centres, Unit: unit, Order: s.M, Factor: b.Factor()}, weights},
		Mapped{&Monomials{columns, p.Shift, b.Powers()}, scale},
	}
}

// expressSpline is the expression of a spline of one column.
func expressSpline(term, column string, b spline) (Expression, error) {
	if s, ok := b.(*stepped); ok {
		e, err := s.express(column)
		if err != nil {
			return nil, fmt.Errorf("term %q: %w", term, err)
		}
		return e, nil
	}
	pieces, ok := piecesOf(b)
	if !ok {
		return nil, fmt.Errorf("term %q: a basis of type %T does not say what it computes of a row", term, b)
	}
	e, err := pieces.interpolate(column, b)
	if err != nil {
		return nil, fmt.Errorf("term %q: %w", term, err)
	}
	return e, nil
}

// interpolate finds the polynomials of b on its pieces, through as many values as they have
// coefficients.
func (p Pieces) interpolate(column string, b spline) (*Piecewise, error) {
	m, k := len(p.Breaks)+1, b.Dim()
	e := &Piecewise{Column: column, Breaks: p.Breaks, Period: p.Period}
	for range max(p.Degree, p.Beyond) + 1 {
		e.Coef = append(e.Coef, mat.NewDense(m, k, nil))
	}
	for i := range m {
		origin, scale, degree := p.frame(i)
		e.Origin, e.Scale = append(e.Origin, origin), append(e.Scale, scale)
		c, err := interpolation(b, origin, scale, degree)
		if err != nil {
			return nil, err
		}
		for q := range degree + 1 {
			e.Coef[q].SetRow(i, c.RawRowView(q))
		}
	}
	return e, nil
}

// frame is where piece i begins, or for the first ends, how wide it is (the outer ones: as
// wide as all others together, with a sign), and its degree.
func (p Pieces) frame(i int) (origin, scale float64, degree int) {
	n := len(p.Breaks)
	whole := p.Breaks[n-1] - p.Breaks[0]
	switch i {
	case 0:
		return p.Breaks[0], -whole, p.Beyond
	case n:
		return p.Breaks[n-1], whole, p.Beyond
	}
	return p.Breaks[i-1], p.Breaks[i] - p.Breaks[i-1], p.Degree
}

// interpolation gives the coefficients of the powers of u (rows) of the polynomials of that
// degree through the functions' values at origin + scale u, u from 0 to 1.
func interpolation(b spline, origin, scale float64, degree int) (*mat.Dense, error) {
	n, k := degree+1, b.Dim()
	vandermonde, values := mat.NewDense(n, n, nil), mat.NewDense(n, k, nil)
	row := make([]float64, b.Width())
	for l := range n {
		u := 0.5
		if degree > 0 {
			u = float64(l) / float64(degree)
		}
		for q, v := 0, 1.0; q < n; q++ {
			vandermonde.Set(l, q, v)
			v *= u
		}
		first := b.Row(row, origin+scale*u)
		for j, v := range row {
			values.Set(l, (first+j)%k, v)
		}
	}
	c := new(mat.Dense)
	if err := c.Solve(vandermonde, values); err != nil {
		return nil, err
	}
	return c, nil
}
