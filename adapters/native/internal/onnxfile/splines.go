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
	coef, err := pieceCoefficients(t, pieces.Breaks, pieces.Degree)
	if err != nil {
		return "", err
	}
	x := w.double(t.Columns()[0])
	if pieces.Period != 0 {
		x = w.folded(name, x, pieces.Breaks[0], pieces.Period)
	}
	w.splines[string(spec)] = w.polynomials(name, x, pieces.Breaks, pieces.Degree, t.Dim(), coef)
	return w.splines[string(spec)], nil
}

// polynomials evaluates d piecewise polynomials of x: coef as of pieceCoefficients.
func (w *writer) polynomials(name, x string, breaks []float64, degree, d int, coef []float64) string {
	m := len(breaks) + 1
	piece := w.piece(name, x, breaks)
	of := func(what string, values []float64, columns int) string { // what belongs to each row's piece
		table := w.exact(name+"."+what+"s", []int{m, columns}, values...)
		return w.node("Gather", name+"."+what, []string{table, piece}, onnxpb.Int("axis", 0))
	}
	origin, width := pieceFrames(breaks)
	u := w.node("Sub", name+".from", []string{x, of("origin", origin, 1)})
	u = w.node("Div", name+".place", []string{u, of("width", width, 1)})
	columns := of(fmt.Sprintf("coefficient%d", degree), coef[degree*m*d:], d)
	for p := degree - 1; p >= 0; p-- { // Horner's scheme
		own := of(fmt.Sprintf("coefficient%d", p), coef[p*m*d:][:m*d], d)
		columns = w.node("Mul", fmt.Sprintf("%s.times%d", name, p), []string{columns, u})
		columns = w.node("Add", fmt.Sprintf("%s.plus%d", name, p), []string{columns, own})
	}
	return columns
}

// piece is the number of the piece that x is in: 0 below the first break, then one more for
// each break that x has reached.
func (w *writer) piece(name, x string, breaks []float64) string {
	above := w.node("GreaterOrEqual", name+".above", []string{x, w.exact(name+".breaks", []int{len(breaks)}, breaks...)})
	ones := w.node("Cast", name+".steps", []string{above}, onnxpb.Int("to", int64(onnxpb.TensorProto_DOUBLE)))
	w.b.AddInts(name+".axis", 1)
	count := w.node("ReduceSum", name+".reached", []string{ones, name + ".axis"}, onnxpb.Int("keepdims", 0))
	return w.node("Cast", name+".piece", []string{count}, onnxpb.Int("to", int64(onnxpb.TensorProto_INT64)))
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
		c, err := interpolate(t, origin[i], width[i], piecePoints(i, m, degree))
		if err != nil {
			return nil, err
		}
		rows, _ := c.Dims()
		for p := range min(rows, degree+1) {
			copy(coef[(p*m+i)*d:][:d], c.RawRowView(p))
		}
	}
	return coef, nil
}

// piecePoints are the places u at which piece i of m is interpolated: degree + 1 from 0 to
// 1, but two outwards from the break for the outer pieces, which are lines.
func piecePoints(i, m, degree int) []float64 {
	switch {
	case i == 0:
		return []float64{0, -1}
	case i == m-1:
		return []float64{0, 1}
	case degree == 0:
		return []float64{0.5}
	}
	u := make([]float64, degree+1)
	for l := range u {
		u[l] = float64(l) / float64(degree)
	}
	return u
}

// interpolate gives the coefficients of the powers of u (rows) for each column of t, of
// the polynomials through its values at origin + width u.
func interpolate(t decompose.Term, origin, width float64, u []float64) (*mat.Dense, error) {
	n := len(u)
	x, vandermonde := make([]float64, n), mat.NewDense(n, n, nil)
	for l, at := range u {
		x[l] = origin + width*at
		for p, v := 0, 1.0; p < n; p++ {
			vandermonde.Set(l, p, v)
			v *= at
		}
	}
	b := data.NewBatch(n, 0)
	if err := b.SetNumeric(t.Columns()[0], x); err != nil {
		return nil, err
	}
	values := mat.NewDense(n, t.Dim(), nil)
	if err := t.Eval(values, b); err != nil {
		return nil, err
	}
	c := new(mat.Dense)
	return c, c.Solve(vandermonde, values)
}
