package basis

import (
	"encoding/json"
	"fmt"

	"github.com/pho-go/pho/basis/internal/bspline"
	"github.com/pho-go/pho/basis/internal/cubic"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/wire"
)

// smoothJSON is a smooth in an artifact: B is json.RawMessage where one is read, and any where one is
// written, since the encoder looks at each byte of raw JSON again.
type smoothJSON[B any] struct {
	BS     string    `json:"bs"`
	Column string    `json:"column"`
	Degree int       `json:"degree,omitempty"` // ps
	Knots  []float64 `json:"knots,omitempty"`
	Cuts   []float64 `json:"cuts,omitempty"` // at which it may jump
	// Basis is what a basis listed with a decode function wrote of itself.
	Basis B       `json:"basis,omitempty"`
	By    *byJSON `json:"by,omitempty"`
}

type byJSON struct {
	Column string   `json:"column"`
	Level  *string  `json:"level,omitempty"` // of a factor
	Levels []string `json:"levels,omitempty"`
}

// MarshalJSON writes the term's spec for Decode.
func (t *SmoothTerm) MarshalJSON() ([]byte, error) {
	j := writeSpline(t.basis)
	j.Column = t.column
	j.By = t.by.json()
	return json.Marshal(j)
}

func (c Classes) decodeSmooth(spec []byte) (decompose.Term, error) {
	var several struct{ Columns []string }
	if json.Unmarshal(spec, &several) == nil && len(several.Columns) > 0 {
		return c.decodeSurface(spec)
	}
	var j smoothJSON[json.RawMessage]
	if err := wire.JSON(spec, &j); err != nil {
		return nil, err
	}
	if err := checkColumn(j.Column); err != nil {
		return nil, err
	}
	t := SmoothTerm{column: j.Column}
	var err error
	if t.basis, err = readSpline(&j); err != nil {
		return nil, err
	}
	if t.by, err = decodeBy(j.By); err != nil {
		return nil, err
	}
	return newSmooth(t), nil
}

// writeSpline writes a basis of one variable, without its column.
func writeSpline(basis spline) (j smoothJSON[any]) {
	switch b := basis.(type) {
	case *stepped:
		j = writeSpline(b.of)
		j.Cuts = b.cuts
	case *bspline.Basis:
		j.BS, j.Degree, j.Knots = PS{}.label(), b.Degree(), b.Knots()
	case *bspline.Periodic:
		j.BS, j.Degree, j.Knots = CP{}.label(), b.Degree(), b.Knots()
	case *cubic.Natural:
		j.BS, j.Knots = CR{}.label(), b.Knots()
	case *cubic.Cyclic:
		j.BS, j.Knots = CC{}.label(), b.Knots()
	case thinPlate:
		j.BS, j.Basis = TP{}.label(), b.json()
	}
	return j
}

// readSpline reads back what writeSpline wrote.
func readSpline(j *smoothJSON[json.RawMessage]) (spline, error) {
	if len(j.Cuts) > 0 {
		return readStepped(*j)
	}
	if j.Degree != 0 && j.BS != (PS{}).label() && j.BS != (CP{}).label() {
		return nil, fmt.Errorf("a %s basis has no degree", j.BS)
	}
	switch j.BS {
	case PS{}.label():
		return orNil(bspline.New(j.Degree, j.Knots))
	case CP{}.label():
		return orNil(bspline.NewPeriodic(j.Degree, j.Knots))
	case CR{}.label():
		return orNil(cubic.NewNatural(j.Knots))
	case CC{}.label():
		return orNil(cubic.NewCyclic(j.Knots))
	case TP{}.label():
		return orNil(readThinPlate(j.Basis, 1))
	}
	return nil, fmt.Errorf("basis %q is not known to this version, which has %s", j.BS, enumerate(ownNames()))
}

// readStepped reads back a basis with cuts.
func readStepped(j smoothJSON[json.RawMessage]) (spline, error) {
	cuts := j.Cuts
	j.Cuts = nil
	if err := (Stepped{CR{}, cuts}).check(); err != nil {
		return nil, err
	}
	if class, _ := Classes(nil).find(j.BS); class.cyclic {
		return nil, fmt.Errorf("a %s basis has no cuts", j.BS)
	}
	of, err := readSpline(&j)
	if err != nil {
		return nil, err
	}
	return orNil(newStepped(of, cuts))
}

// orNil keeps a nil pointer with its error from becoming a basis.
func orNil[T spline](b T, err error) (spline, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}
