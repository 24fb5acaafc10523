package onnxbasis

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/internal/onnxpb"
)

// piecewise evaluates polynomials times c, by Horner's scheme in the place within the piece.
func (w *Writer) piecewise(name string, e *basis.Piecewise, c mat.Matrix) (string, error) {
	at, err := w.locate(name, e)
	if err != nil {
		return "", err
	}
	sum := ""
	for q := len(e.Coef) - 1; q >= 0; q-- {
		own := w.gather(fmt.Sprintf("%s.power%d", name, q), w.matrix(fmt.Sprintf("%s.powers%d", name, q), product(e.Coef[q], c)), at.piece)
		if sum != "" {
			sum = w.graph.Node("Mul", fmt.Sprintf("%s.times%d", name, q), []string{sum, at.u})
			own = w.graph.Node("Add", fmt.Sprintf("%s.plus%d", name, q), []string{sum, own})
		}
		sum = own
	}
	return sum, nil
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

// radial is the functions of the distances to all centres, N x n.
func (w *Writer) radial(name string, e *basis.Radial) (string, error) {
	square, err := w.squares(name, e)
	if err != nil {
		return "", err
	}
	if e.Order == 0 {
		half := w.graph.Node("Mul", name+".half", []string{square, w.scalar(name+".minus", -0.5)})
		return w.graph.Node("Exp", name+".gauss", []string{half}), nil
	}
	power, d := square, len(e.Columns)
	n := e.Order - d/2 // r^(2m-d) is s^(m-d/2), for odd d s^(m-(d+1)/2) sqrt(s)
	if d%2 != 0 {
		n--
	}
	if n == 0 {
		power = ""
	}
	for range n - 1 {
		power = w.graph.Node("Mul", name+".power", []string{power, square})
	}
	last, factor := "", e.Factor
	if d%2 != 0 {
		last = w.graph.Node("Sqrt", name+".distance", []string{square})
	} else { // log r is log(s)/2; where s is 0, the function is 0
		positive := w.graph.Node("Add", name+".positive", []string{square, w.scalar("tiny", 1e-300)})
		last, factor = w.graph.Node("Log", name+".log", []string{positive}), factor/2
	}
	if power != "" {
		last = w.graph.Node("Mul", name+".radial", []string{power, last})
	}
	return w.graph.Node("Mul", name+".thinplate", []string{last, w.scalar(name+".factor", factor)}), nil
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
