package basis

import (
	"encoding/json"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/radial"
	"github.com/pho-go/pho/internal/base/wire"
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

// Class is "rbf".
func (s RBF) Class() string { return "rbf" }

// Limit is 2000, the most points that knots are chosen from.
func (s RBF) Limit() int { return rbfPoints }

// Check refuses settings that do not suit d columns.
func (s RBF) Check(d int) error {
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
	return finiteKnots(s.Knots)
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

// Build makes the basis and its one penalty.
func (s RBF) Build(data *Sample) (Evaluator, []*mat.SymDense, error) {
	k, n := s.size(len(data.Columns)), len(data.Count)
	if err := data.enough(min(k, 2), 2); err != nil {
		return nil, nil, err
	}
	scales, bad := radial.Scales(data.collected())
	if bad >= 0 {
		return nil, nil, fmt.Errorf("column %q is too wide or too narrow for 64-bit numbers: rescale it", data.Columns[bad])
	}
	if len(s.Knots) == 0 && n < k {
		return nil, nil, fmt.Errorf("%s: %d distinct points, fewer than k = %d: set k = %d or less", quoted(data.Columns), n, k, n)
	}
	b, penalty, err := radial.Construct(data.collected(), scales, s.Knots, k, s.Width)
	if err != nil {
		return nil, nil, err
	}
	return radialLayer{b}, []*mat.SymDense{penalty}, nil
}

// radialLayer is a radial basis that can be written.
type radialLayer struct{ *radial.Basis }

type radialJSON struct {
	Knots   floats64 `json:"knots"`   // k x d
	Inverse floats64 `json:"inverse"` // d
}

// MarshalJSON writes the basis for Decode.
func (b radialLayer) MarshalJSON() ([]byte, error) {
	return json.Marshal(radialJSON{b.Knots(), b.Inverse()})
}

func decodeRBF(raw json.RawMessage, d int) (Evaluator, error) {
	var j radialJSON
	if err := wire.JSON(raw, &j); err != nil {
		return nil, err
	}
	if n := len(j.Knots); len(j.Inverse) != d || n%d != 0 || n/d < 2 || n/d > maxK {
		return nil, fmt.Errorf("vectors of %d and %d numbers do not make an rbf basis of %s", n, len(j.Inverse), columns(d))
	}
	b, err := radial.New(j.Knots, j.Inverse)
	if err != nil {
		return nil, err
	}
	return radialLayer{b}, nil
}
