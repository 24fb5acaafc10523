package onnxfile

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/onnxpb"
)

// spline writes the columns of a smooth of one column, N x d: which piece x is in,
// the place u in it from 0 to 1, and the piece's polynomials in u. Equal bases, such
// as those of the levels of a by factor, are written once.
func (w *writer) spline(name string, t *basis.SmoothTerm) (string, error) {
	pieces, ok := t.Pieces()
	if !ok {
		return "", fmt.Errorf("a thin plate spline of this order has no counterpart in ONNX here: use m=2, or bs=\"ps\", \"cr\" or \"bs\"")
	}
	spec, err := t.MarshalJSON()
	if err != nil {
		return "", err
	}
	if x, ok := w.splines[string(spec)]; ok {
		return x, nil
	}
	breaks, degree := pieces.Breaks, pieces.Degree
	coef, err := pieceCoefficients(t, breaks, degree)
	if err != nil {
		return "", err
	}
	x := w.double(t.Columns()[0])
	if pieces.Period != 0 {
		x = w.folded(name, x, breaks[0], pieces.Period)
	}
	// Pieces: below the first break, between breaks, above the last one. The number of
	// breaks that x has reached is the number of its piece.
	m, d := len(breaks)+1, t.Dim()
	origin, width := pieceFrames(breaks)
	above := w.node("GreaterOrEqual", name+".above", []string{x, w.exact(name+".breaks", []int{m - 1}, breaks...)})
	ones := w.node("Cast", name+".steps", []string{above}, onnxpb.Int("to", int64(onnxpb.TensorProto_DOUBLE)))
	w.b.AddInts(name+".axis", 1)
	count := w.node("ReduceSum", name+".reached", []string{ones, name + ".axis"}, onnxpb.Int("keepdims", 0))
	piece := w.node("Cast", name+".piece", []string{count}, onnxpb.Int("to", int64(onnxpb.TensorProto_INT64)))
	of := func(what string, values []float64, columns int) string {
		table := w.exact(name+"."+what+"s", []int{m, columns}, values...)
		return w.node("Gather", name+"."+what, []string{table, piece}, onnxpb.Int("axis", 0))
	}
	u := w.node("Sub", name+".from", []string{x, of("origin", origin, 1)})
	u = w.node("Div", name+".place", []string{u, of("width", width, 1)})
	columns := of(fmt.Sprintf("coefficient%d", degree), coef[degree*m*d:], d)
	for p := degree - 1; p >= 0; p-- { // Horner's scheme
		own := of(fmt.Sprintf("coefficient%d", p), coef[p*m*d:][:m*d], d)
		columns = w.node("Mul", fmt.Sprintf("%s.times%d", name, p), []string{columns, u})
		columns = w.node("Add", fmt.Sprintf("%s.plus%d", name, p), []string{columns, own})
	}
	w.splines[string(spec)] = columns
	return columns, nil
}

// folded takes x into the period that begins at low: x - period floor((x - low)/period).
func (w *writer) folded(name, x string, low, period float64) string {
	p := w.exact(name+".period", []int{1}, period)
	turns := w.node("Sub", name+".offset", []string{x, w.exact(name+".low", []int{1}, low)})
	turns = w.node("Floor", name+".turns", []string{w.node("Div", name+".periods", []string{turns, p})})
	return w.node("Sub", name+".folded", []string{x, w.node("Mul", name+".whole", []string{turns, p})})
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
func pieceCoefficients(t decompose.Term, breaks []float64, degree int) ([]float64, error) {
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
