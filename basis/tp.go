package basis

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// plateJSON is a thin plate basis in an artifact. Vectors are little-endian
// float64, in base64: exact, and a third of the size of decimal digits. The
// weights are stored rather than found again, because eigenvectors are not the
// same to the last bit on every machine.
type plateJSON struct {
	M       int      `json:"m"`
	K       int      `json:"k"`
	Shift   floats64 `json:"shift"`   // d
	Points  floats64 `json:"points"`  // n x d, shifted
	Weights floats64 `json:"weights"` // n x (k - M)
	Scale   floats64 `json:"scale"`   // M
}

// floats64 is a vector that is base64 in JSON.
type floats64 []float64

func (f floats64) MarshalJSON() ([]byte, error) {
	raw := make([]byte, 8*len(f))
	for i, v := range f {
		binary.LittleEndian.PutUint64(raw[8*i:], math.Float64bits(v))
	}
	return json.Marshal(raw)
}

func (f *floats64) UnmarshalJSON(text []byte) error {
	var raw []byte
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	if len(raw)%8 != 0 {
		return fmt.Errorf("%d bytes are not a vector of 64-bit numbers", len(raw))
	}
	*f = make([]float64, len(raw)/8)
	for i := range *f {
		(*f)[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		if !finite((*f)[i]) {
			return fmt.Errorf("number %d of a vector is %v", i+1, (*f)[i])
		}
	}
	return nil
}

// MarshalJSON writes the basis for Decode.
func (b *plate) MarshalJSON() ([]byte, error) {
	return json.Marshal(plateJSON{b.m, b.k, b.shift, b.points, b.weights, b.scale})
}

func decodePlate(raw json.RawMessage, d int) (surface, error) { return readPlate(raw, d) }

func readPlate(raw json.RawMessage, d int) (*plate, error) {
	if len(raw) == 0 {
		return nil, errors.New("a thin plate spline without its points")
	}
	var j plateJSON
	if err := strict(raw, &j); err != nil {
		return nil, err
	}
	if j.M < 1 {
		return nil, fmt.Errorf("thin plate splines of order %d", j.M)
	}
	p, err := TP{K: j.K, M: j.M}.settings(d)
	if err != nil {
		return nil, err
	}
	n := len(j.Points) / d
	if n < p.k || n > maxPlateKnots || len(j.Points) != n*d || len(j.Shift) != d || len(j.Weights) != n*(p.k-p.null) || len(j.Scale) != p.null {
		return nil, fmt.Errorf("vectors of %d, %d, %d and %d numbers do not make a thin plate spline of %s with k = %d",
			len(j.Shift), len(j.Points), len(j.Weights), len(j.Scale), columns(d), p.k)
	}
	if d == 1 {
		if err := increasing(j.Points); err != nil {
			return nil, err
		}
	}
	b := newPlate(p)
	b.shift, b.points, b.weights, b.scale = j.Shift, j.Points, j.Weights, j.Scale
	b.prepare()
	return b, nil
}

// limit, settle and surface make TP a Multivariate.

func (s TP) limit() int { return maxPlateKnots }

func (s TP) settle(d int) error {
	_, err := s.settings(d)
	return err
}

func (s TP) surface(names []string, data *points) (surface, *mat.SymDense, error) {
	b, penalty, err := s.checked(names, data)
	if err != nil {
		return nil, nil, err
	}
	return b, penalty, nil
}
