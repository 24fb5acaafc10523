package onnxbasis

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// piecewise evaluates polynomials times c. The functions themselves are written once, for
// all terms that multiply them with something else.
func (w *Writer) piecewise(name string, e *basis.Piecewise, c mat.Matrix) (string, error) {
	at, err := w.locate(name, e)
	switch {
	case err != nil:
		return "", err
	case c != nil:
		return w.polynomials(name, e, c, at), nil
	}
	key := fmt.Sprintf("functions %s %s", at.piece, at.u)
	for _, of := range e.Coef {
		key += fmt.Sprintf(" %x", of.RawMatrix().Data)
	}
	return w.once(key, func() string { return w.polynomials(name, e, nil, at) }), nil
}

// polynomials are evaluated by Horner's scheme in the place within the piece.
func (w *Writer) polynomials(name string, e *basis.Piecewise, c mat.Matrix, at place) string {
	sum := ""
	for q := len(e.Coef) - 1; q >= 0; q-- {
		own := w.gather(fmt.Sprintf("%s.power%d", name, q), w.matrix(fmt.Sprintf("%s.powers%d", name, q), product(e.Coef[q], c)), at.piece)
		if sum != "" {
			sum = w.graph.Node("Mul", fmt.Sprintf("%s.times%d", name, q), []string{sum, at.u})
			own = w.graph.Node("Add", fmt.Sprintf("%s.plus%d", name, q), []string{sum, own})
		}
		sum = own
	}
	return sum
}

// place is a piece (int64, N) and the place within it (N x 1).
type place struct{ piece, u string }

// locate finds the piece that x is in.
func (w *Writer) locate(name string, e *basis.Piecewise) (place, error) {
	x, err := w.rows.Number(e.Column)
	if err != nil {
		return place{}, err
	}
	key := fmt.Sprintf("%q %x %x %x", x, e.Breaks, e.Origin, e.Scale)
	folded := x
	if e.Period != 0 {
		folded = w.once("folded "+key, func() string { return w.folded(name, x, e.Breaks[0], e.Period) })
	}
	m := len(e.Breaks) + 1
	piece := w.once("piece "+key, func() string { return w.reached(name+".break", folded, e.Breaks) })
	u := w.once("place "+key, func() string {
		origin := w.gather(name+".origin", w.graph.Doubles(name+".origins", []int{m, 1}, e.Origin...), piece)
		scale := w.gather(name+".scale", w.graph.Doubles(name+".scales", []int{m, 1}, e.Scale...), piece)
		return w.graph.Node("Div", name+".place", []string{w.graph.Node("Sub", name+".from", []string{folded, origin}), scale})
	})
	return place{piece, u}, nil
}

// folded takes x into the period that begins at low: x - period floor((x - low)/period).
func (w *Writer) folded(name, x string, low, period float64) string {
	p := w.scalar(name+".period", period)
	from := w.graph.Node("Sub", name+".offset", []string{x, w.scalar(name+".low", low)})
	turns := w.graph.Node("Floor", name+".turns", []string{w.graph.Node("Div", name+".periods", []string{from, p})})
	return w.graph.Node("Sub", name+".folded", []string{x, w.graph.Node("Mul", name+".whole", []string{turns, p})})
}

// radial evaluates functions of the distances to all centres times c.
func (w *Writer) radial(name string, e *basis.Radial, c mat.Matrix) (string, error) {
	square, err := w.squares(name, e)
	if err != nil {
		return "", err
	}
	if e.Order == 0 {
		half := w.graph.Node("Mul", name+".half", []string{square, w.scalar(name+".minus", -0.5)})
		return w.mapped(name, w.graph.Node("Exp", name+".gauss", []string{half}), c), nil
	}
	last, factor := w.logOrRoot(name, square, e)
	for range e.Order - (len(e.Columns)+1)/2 {
		last = w.graph.Node("Mul", name+".radial", []string{last, square})
	}
	// The factor belongs to the coefficients: ONNX Runtime fuses one of a MatMul's input
	// with it, in float32.
	var scaled mat.Dense
	scaled.Scale(factor, orIdentity(c, e.Width()))
	return w.mapped(name, last, &scaled), nil
}

// logOrRoot is what a thin plate function, r^(2m-d) or r^(2m-d) log r, has besides powers of
// the squared distance s: log s or sqrt s, and the factor of the function with it.
func (w *Writer) logOrRoot(name, square string, e *basis.Radial) (last string, factor float64) {
	if len(e.Columns)%2 != 0 {
		return w.graph.Node("Sqrt", name+".distance", []string{square}), e.Factor
	}
	// Where s is 0 the function is 0, and log 1 is as good as any.
	none := w.graph.Node("Less", name+".none", []string{square, w.scalar("tiny", tiny)})
	positive := w.graph.Node("Add", name+".positive", []string{square, w.cast(name+".ones", none, onnxpb.TensorProto_DOUBLE)})
	return w.graph.Node("Log", name+".log", []string{positive}), e.Factor / 2
}

// squares are the squared distances of the rows from the centres, N x n.
func (w *Writer) squares(name string, e *basis.Radial) (string, error) {
	n, d, sum := e.Width(), len(e.Columns), ""
	for l, column := range e.Columns {
		x, err := w.rows.Number(column)
		if err != nil {
			return "", err
		}
		own, at := make([]float64, n), fmt.Sprintf("%s.%d", name, l+1)
		for j := range own {
			own[j] = e.Centres[j*d+l]
		}
		from := w.graph.Node("Sub", at+".from", []string{x, w.graph.Doubles(at+".centres", []int{n}, own...)})
		if e.Unit[l] != 1 {
			from = w.graph.Node("Mul", at+".unit", []string{from, w.scalar(at+".scale", e.Unit[l])})
		}
		square := w.graph.Node("Mul", at+".square", []string{from, from})
		if sum == "" {
			sum = square
			continue
		}
		sum = w.graph.Node("Add", at+".squares", []string{sum, square})
	}
	return sum, nil
}

// monomials evaluates products of powers times c.
func (w *Writer) monomials(name string, e *basis.Monomials, c mat.Matrix) (string, error) {
	var shifted []string
	for l, column := range e.Columns {
		x, err := w.rows.Number(column)
		if err != nil {
			return "", err
		}
		at := fmt.Sprintf("%s.%d", name, l+1)
		shifted = append(shifted, w.graph.Node("Sub", at+".shifted", []string{x, w.scalar(at+".shift", e.Shift[l])}))
	}
	var functions []string
	for j, powers := range e.Powers {
		value := ""
		for l, n := range powers {
			for range n {
				if value == "" {
					value = shifted[l]
				} else {
					value = w.graph.Node("Mul", fmt.Sprintf("%s.power%d", name, j+1), []string{value, shifted[l]})
				}
			}
		}
		if value == "" { // 1: not a number if x is none
			value = w.graph.Node("Mul", name+".zero", []string{shifted[0], w.scalar("zero", 0)})
			value = w.graph.Node("Add", name+".one", []string{value, w.scalar("one", 1)})
		}
		functions = append(functions, value)
	}
	all := functions[0]
	if len(functions) > 1 {
		all = w.graph.Node("Concat", name+".monomials", functions, onnxpb.Int("axis", 1))
	}
	return w.mapped(name, all, c), nil
}
