package basis

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// RBF is a layer of Gaussian radial basis functions (Broomhead and Lowe 1988) of
// any number of columns: column j of the basis is exp(-|x - c_j|^2 / 2), distances
// taken in units of Width standard deviations of each data column, c_j knot j. The
// penalty is the squared norm in the kernel's Hilbert space, a'Ka with K the
// functions at the knots: so the smooth is kernel ridge regression on the knots. It
// goes to 0 far from all knots. Unlike tp it suits columns of different units, and
// many of them.
type RBF struct {
	K int // number of knots, at least 2; 0: 30, or as many as Knots
	// Knots are K distinct points by value, row by row (d numbers each): prototypes,
	// cluster centres, the centres of a network's own layer. nil: points of the data
	// far from each other (each next knot is the point farthest from those before).
	Knots []float64
	// Width is the radius of the functions in standard deviations of the columns; 0:
	// the knots' greatest distance over sqrt(2K), with which neighbours overlap.
	Width float64
}

const (
	rbfPoints  = 2000 // distinct points of the data to choose knots from
	rbfColumns = 256
)

func (s RBF) label() string { return "rbf" }
func (s RBF) limit() int    { return rbfPoints }

func (s RBF) settle(d int) error {
	if d > rbfColumns {
		return fmt.Errorf("rbf takes at most %d columns, not %d", rbfColumns, d)
	}
	if !(s.Width >= 0) || math.IsInf(s.Width, 0) {
		return fmt.Errorf("rbf: the width is %v: a positive number of standard deviations, or 0", s.Width)
	}
	k := s.size(d)
	if n := len(s.Knots); n > 0 && n != k*d {
		return fmt.Errorf("knots has %d numbers: rbf of %s with k = %d takes %d knots of %d each", n, columns(d), k, k, d)
	}
	if k < 2 || k > maxK {
		return fmt.Errorf("k = %d: rbf takes k from 2 to %d", k, maxK)
	}
	for i, v := range s.Knots {
		if !finite(v) {
			return fmt.Errorf("number %d of knots is %v", i+1, v)
		}
	}
	return nil
}

// size is k with its default.
func (s RBF) size(d int) int {
	switch {
	case s.K != 0:
		return s.K
	case len(s.Knots) > 0:
		return len(s.Knots) / d
	}
	return 30
}

func (s RBF) surface(names []string, data *points) (surface, *mat.SymDense, error) {
	d := len(names)
	k := s.size(d)
	data.sort()
	if err := manyPoints(data, names, plateSettings{d: d, k: min(k, 2), null: 1}); err != nil {
		return nil, nil, err
	}
	b := &radialLayer{d: d, inverse: deviations(data)}
	for j, v := range b.inverse {
		if b.inverse[j] = 1 / v; !finite(b.inverse[j]) || b.inverse[j] == 0 {
			return nil, nil, fmt.Errorf("column %q is too wide or too narrow for 64-bit numbers: rescale it", names[j])
		}
	}
	if b.knots = append(b.knots, s.Knots...); len(b.knots) == 0 {
		if n := data.n(); n < k {
			return nil, nil, fmt.Errorf("%s: %d distinct points, fewer than k = %d: set k = %d or less", quoted(names), n, k, n)
		}
		b.knots = b.spread(data, k)
	}
	width := s.Width
	if width == 0 {
		widest := 0.0
		for i := range k {
			for j := range i {
				widest = max(widest, b.distance(b.knot(i), b.knot(j)))
			}
		}
		width = math.Sqrt(widest / float64(2*k))
	}
	for j := range b.inverse {
		b.inverse[j] /= width
	}
	penalty := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			r := b.distance(b.knot(i), b.knot(j))
			if i != j && r == 0 {
				return nil, nil, fmt.Errorf("knots %d and %d are the same", i+1, j+1)
			}
			penalty.SetSym(i, j, math.Exp(-r/2))
		}
	}
	return b, penalty, b.check()
}

// deviations are the columns' standard deviations over the rows of the points.
func deviations(p *points) []float64 {
	at, _ := centred(p)
	out := make([]float64, p.d)
	rows := 0.0
	for i, c := range p.count {
		rows += float64(c)
		for j := range out {
			out[j] += float64(c) * at[i*p.d+j] * at[i*p.d+j]
		}
	}
	for j := range out {
		out[j] = math.Sqrt(out[j] / rows)
	}
	return out
}

// radialLayer evaluates Gaussian functions of the distances to knots.
type radialLayer struct {
	d       int
	knots   []float64 // k x d
	inverse []float64 // d factors that distances are taken in
}

func (b *radialLayer) dim() int             { return len(b.knots) / b.d }
func (b *radialLayer) knot(i int) []float64 { return b.knots[i*b.d : (i+1)*b.d] }

// distance is the square of the scaled distance.
func (b *radialLayer) distance(p, q []float64) float64 {
	sum := 0.0
	for j, v := range p {
		u := (v - q[j]) * b.inverse[j]
		sum += u * u
	}
	return sum
}

// spread chooses k points, the first the least in order, each next one the
// farthest from all before.
func (b *radialLayer) spread(p *points, k int) []float64 {
	var out []float64
	nearest := make([]float64, p.n()) // squared distance to the knots so far
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	for next := 0; ; {
		knot := p.x[next*p.d : (next+1)*p.d]
		if out = append(out, knot...); len(out) == k*p.d {
			return out
		}
		next = 0
		for i := range nearest {
			nearest[i] = min(nearest[i], b.distance(p.x[i*p.d:(i+1)*p.d], knot))
			if nearest[i] > nearest[next] {
				next = i
			}
		}
	}
}

func (b *radialLayer) evaluate(dst []float64, stride int, x []float64) {
	k := b.dim()
	for i := range len(x) / b.d {
		row, p := dst[i*stride:i*stride+k], x[i*b.d:(i+1)*b.d]
		for j := range row {
			row[j] = math.Exp(-b.distance(p, b.knot(j)) / 2)
		}
	}
}

type radialJSON struct {
	Knots   floats64 `json:"knots"`   // k x d
	Inverse floats64 `json:"inverse"` // d
}

// MarshalJSON writes the basis for Decode.
func (b *radialLayer) MarshalJSON() ([]byte, error) {
	return json.Marshal(radialJSON{b.knots, b.inverse})
}

func decodeRBF(raw json.RawMessage, d int) (surface, error) {
	var j radialJSON
	if err := strict(raw, &j); err != nil {
		return nil, err
	}
	if n := len(j.Knots); len(j.Inverse) != d || n%d != 0 || n/d < 2 || n/d > maxK {
		return nil, fmt.Errorf("vectors of %d and %d numbers do not make an rbf basis of %s", n, len(j.Inverse), columns(d))
	}
	b := &radialLayer{d, j.Knots, j.Inverse}
	return b, b.check()
}

func (b *radialLayer) check() error {
	for _, v := range b.inverse {
		if !(v > 0) || math.IsInf(v, 0) {
			return errors.New("the width of the radial functions is not a positive number: rescale the columns")
		}
	}
	return nil
}
