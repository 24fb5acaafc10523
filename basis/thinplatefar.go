package basis

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// checked is construct that refuses what rounding has made of points far apart.
func (s TP) checked(names []string, data *points) (*plate, *mat.SymDense, error) {
	b, penalty, err := s.construct(names, data)
	if err != nil {
		return nil, nil, err
	}
	if negative(penalty) {
		return nil, nil, tooFarApart(names, b.points, b.shift)
	}
	return b, penalty, nil
}

// negative tells whether rounding has left a penalty with a negative eigenvalue.
func negative(s *mat.SymDense) bool {
	var d mat.EigenSym
	if !d.Factorize(s, false) {
		return true
	}
	values := d.Values(nil)
	return values[0] < -1e-8*values[len(values)-1]
}

// tooFarApart is the error for points some of which lie so far from the others that
// powers of their distances leave no digits for the others, and names the farthest.
func tooFarApart(names []string, points, shift []float64) error {
	d, far, at := len(names), 0.0, 0
	for i := 0; i < len(points); i += d {
		if r := floats.Norm(points[i:i+d], 2); r > far {
			far, at = r, i
		}
	}
	where := make([]string, d)
	for j := range where {
		where[j] = fmt.Sprintf("%.6g", points[at+j]+shift[j])
	}
	value := "value " + where[0]
	if d > 1 {
		value = "point (" + strings.Join(where, ", ") + ")"
	}
	return fmt.Errorf("%s has values so far from all others that 64-bit numbers do not hold thin plate splines of them, the farthest being the %s: leave such rows out, transform the column, or take a basis with knots at quantiles, as bs = \"cr\" or te()", quoted(names), value)
}
