package basis

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pho-go/pho/basis/internal/knot"
	"github.com/pho-go/pho/basis/internal/thinplate"
	"github.com/pho-go/pho/internal/base/wire"
)

// thinPlate is a thin plate basis that can be written.
type thinPlate struct{ *thinplate.Basis }

// thinPlateJSON is a thin plate basis in an artifact. Vectors are little-endian
// float64, in base64: exact, and a third of the size of decimal digits. The
// weights are stored rather than found again, because eigenvectors are not the
// same to the last bit on every machine.
type thinPlateJSON struct {
	M       int      `json:"m"`
	K       int      `json:"k"`
	Shift   floats64 `json:"shift"`   // d
	Points  floats64 `json:"points"`  // n x d, shifted
	Weights floats64 `json:"weights"` // n x (k - M)
	Scale   floats64 `json:"scale"`   // M
}

// MarshalJSON writes the basis for Decode.
func (b thinPlate) MarshalJSON() ([]byte, error) { return json.Marshal(b.json()) }

func (b thinPlate) json() thinPlateJSON {
	s, p := b.Space(), b.Parameters()
	return thinPlateJSON{s.M, s.K, p.Shift, p.Points, p.Weights, p.Scale}
}

func decodeThinPlate(raw json.RawMessage, d int) (Evaluator, error) { return readThinPlate(raw, d) }

func readThinPlate(raw json.RawMessage, d int) (thinPlate, error) {
	var none thinPlate
	if len(raw) == 0 {
		return none, errors.New("a thin plate spline without its points")
	}
	var j thinPlateJSON
	if err := wire.JSON(raw, &j); err != nil {
		return none, err
	}
	if j.M < 1 {
		return none, fmt.Errorf("thin plate splines of order %d", j.M)
	}
	p, err := TP{K: j.K, M: j.M}.space(d)
	if err != nil {
		return none, err
	}
	n, null := len(j.Points)/d, p.Polynomials()
	if n < p.K || n > thinplate.MaxPoints || len(j.Points) != n*d || len(j.Shift) != d || len(j.Weights) != n*(p.K-null) || len(j.Scale) != null {
		return none, fmt.Errorf("vectors of %d, %d, %d and %d numbers do not make a thin plate spline of %s with k = %d",
			len(j.Shift), len(j.Points), len(j.Weights), len(j.Scale), columns(d), p.K)
	}
	if d == 1 {
		if err := knot.Check(j.Points); err != nil {
			return none, err
		}
	}
	return thinPlate{thinplate.New(p, thinplate.Parameters{Shift: j.Shift, Points: j.Points, Weights: j.Weights, Scale: j.Scale})}, nil
}
