package native

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/onnxpb"
)

// term writes a block of predictor k.
func (e *exporter) term(k int, block decompose.Block) error {
	name := block.Term.Name()
	x, ok := e.seen[name]
	if !ok {
		var err error
		switch t := block.Term.(type) {
		case *decompose.LinearTerm:
			x = t.Column
		case *basis.FactorTerm:
			x, err = e.onehot(name, t.Columns()[0], t.Levels())
		case piecewise:
			x, err = e.smooth(t)
		case *decompose.Tap:
			return fmt.Errorf("term %q has no network", name)
		default:
			err = fmt.Errorf("it has no counterpart in ONNX: linear terms, factors and smooths of one column have")
		}
		if err != nil {
			return fmt.Errorf("term %q: %w", name, err)
		}
		e.seen[name] = x
	}
	e.addend(k, fmt.Sprintf("%s.%d", name, k), x, block.Coef)
	return nil
}

// piecewise is a smooth of one column whose columns may be piecewise polynomials:
// the smooths of package basis.
type piecewise interface {
	decompose.Term
	Pieces() (breaks []float64, degree int, ok bool)
}

// smooth writes the basis columns of a spline, N x d: which piece x is in, as one
// of m ones; the place u in it from 0 to 1; and the products of the ones with 1, u,
// u^2, ... times the coefficients of each piece's polynomials. The last node, a
// Clip without bounds, marks the columns as a basis: the structure is the spline
// space and not the larger one of all piecewise polynomials.
func (e *exporter) smooth(t piecewise) (string, error) {
	breaks, degree, ok := t.Pieces()
	if !ok {
		return "", fmt.Errorf("cyclic smooths and those with a by column have no counterpart in ONNX here: use bs=\"ps\", \"cr\", \"bs\" or \"tp\" without by")
	}
	name, column := t.Name(), t.Columns()[0]
	coef, err := pieceCoefficients(t, breaks, degree)
	if err != nil {
		return "", err
	}
	// Pieces: below the first break, between breaks, above the last one.
	m := len(breaks) + 1
	origin, width := pieceFrames(breaks)
	above := e.node("GreaterOrEqual", name+".above", []string{column, e.constant(name+".breaks", []int{m - 1}, breaks...)})
	ones := e.node("Cast", name+".steps", []string{above}, onnxpb.Int("to", int64(e.kind)))
	// Piece i is steps_i - steps_{i+1} with steps_0 = 1 and steps_m = 0.
	d := make([]float64, (m-1)*m)
	for i := range m - 1 {
		d[i*m+i+1], d[i*m+i] = 1, -1
	}
	first := make([]float64, m)
	first[0] = 1
	piece := e.node("Gemm", name+".piece", []string{ones, e.constant(name+".differences", []int{m - 1, m}, d...), e.constant(name+".first", []int{m}, first...)})
	u := e.node("Sub", name+".from", []string{column, e.constant(name+".origin", []int{m}, origin...)})
	u = e.node("Div", name+".place", []string{u, e.constant(name+".width", []int{m}, width...)})
	powers, last := []string{piece}, piece
	for p := 1; p <= degree; p++ {
		last = e.node("Mul", fmt.Sprintf("%s.power%d", name, p), []string{last, u})
		powers = append(powers, last)
	}
	all := e.node("Concat", name+".powers", powers, onnxpb.Int("axis", 1))
	x := e.node("MatMul", name+".columns", []string{all, e.constant(name+".polynomials", []int{m * (degree + 1), t.Dim()}, coef...)})
	return e.node("Clip", name+".basis", []string{x}), nil
}

// pieceFrames gives each piece its origin and width: the outer ones have those of
// their neighbours, mirrored at the break.
func pieceFrames(breaks []float64) (origin, width []float64) {
	n := len(breaks)
	origin, width = append(origin, breaks[0]), append(width, breaks[1]-breaks[0])
	for i := range n - 1 {
		origin, width = append(origin, breaks[i]), append(width, breaks[i+1]-breaks[i])
	}
	return append(origin, breaks[n-1]), append(width, breaks[n-1]-breaks[n-2])
}

// pieceCoefficients interpolates each column on each piece: row p m + i holds the
// coefficients of u^p on piece i (m pieces, d columns).
func pieceCoefficients(t piecewise, breaks []float64, degree int) ([]float64, error) {
	m, d := len(breaks)+1, t.Dim()
	origin, width := pieceFrames(breaks)
	coef := make([]float64, m*(degree+1)*d)
	for i := range m {
		points := degree + 1
		at := func(l int) float64 { return float64(l) / float64(points-1) }
		switch {
		case i == 0:
			points, at = 2, func(l int) float64 { return float64(-l) }
		case i == m-1:
			points, at = 2, func(l int) float64 { return float64(l) }
		case degree == 0:
			at = func(int) float64 { return 0.5 }
		}
		x := make([]float64, points)
		vandermonde := mat.NewDense(points, points, nil)
		for l := range points {
			x[l] = origin[i] + width[i]*at(l)
			for p, v := 0, 1.0; p < points; p++ {
				vandermonde.Set(l, p, v)
				v *= at(l)
			}
		}
		b := data.NewBatch(points, 0)
		if err := b.SetNumeric(t.Columns()[0], x); err != nil {
			return nil, err
		}
		values := mat.NewDense(points, d, nil)
		if err := t.Eval(values, b); err != nil {
			return nil, err
		}
		var c mat.Dense
		if err := c.Solve(vandermonde, values); err != nil {
			return nil, err
		}
		for p := range points {
			if p <= degree {
				copy(coef[(p*m+i)*d:][:d], c.RawRowView(p))
			}
		}
	}
	return coef, nil
}

// features writes the last hidden layers of all feature networks.
func (e *exporter) features(plans []*towerPlan, towers []*tower[float64]) {
	for i, p := range plans {
		if p.deep {
			continue
		}
		for g := range p.groups() {
			var u string
			if p.of >= 0 {
				u = e.product(p, plans[p.of], g)
			} else {
				x := e.standardised(p.term(g), p.columns[g], p.mean[g*p.numeric:][:p.numeric], p.sd[g*p.numeric:][:p.numeric])
				u = e.layers(p.term(g), x, towers[i].chain.Layers, g)
			}
			e.seen[p.term(g)] = e.node("Identity", p.tap(g), []string{u})
		}
	}
}

// product is the row-wise tensor product of two bases.
func (e *exporter) product(p, from *towerPlan, g int) string {
	q, name := from.q, p.term(g)
	left, right := make([]int64, q*q), make([]int64, q*q)
	for i := range left {
		left[i], right[i] = int64(i/q), int64(i%q)
	}
	e.b.AddInts(name+".left", left...)
	e.b.AddInts(name+".right", right...)
	pair := p.pairs[g]
	a := e.node("Gather", name+".a", []string{e.seen[from.term(pair[0])], name + ".left"}, onnxpb.Int("axis", 1))
	b := e.node("Gather", name+".b", []string{e.seen[from.term(pair[1])], name + ".right"}, onnxpb.Int("axis", 1))
	return e.node("Mul", name+".product", []string{a, b})
}
