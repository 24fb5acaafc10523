package basis

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/wire"
)

// tensorJSON is a tensor product in an artifact; B is as in smoothJSON.
type tensorJSON[B any] struct {
	Call    string          `json:"call"`
	Margins []marginJSON[B] `json:"margins"`
	By      *byJSON         `json:"by,omitempty"`
}

type marginJSON[B any] struct {
	BS      string    `json:"bs"`
	Columns []string  `json:"columns"`
	Degree  int       `json:"degree,omitempty"`
	Knots   []float64 `json:"knots,omitempty"`
	Levels  []string  `json:"levels,omitempty"`
	Basis   B         `json:"basis,omitempty"`
}

// MarshalJSON writes the term's spec for Decode.
func (t *TensorTerm) MarshalJSON() ([]byte, error) {
	j := tensorJSON[any]{Call: t.call, By: t.by.json()}
	for i := range t.margins {
		m := &t.margins[i]
		w := marginJSON[any]{Columns: m.columns}
		switch {
		case m.levels != nil:
			w.BS, w.Levels = "re", m.levels.names
		case m.surface != nil:
			w.BS, w.Basis = m.bs, m.surface
		default:
			s := writeSpline(m.spline)
			w.BS, w.Degree, w.Knots, w.Basis = s.BS, s.Degree, s.Knots, s.Basis
		}
		j.Margins = append(j.Margins, w)
	}
	return json.Marshal(j)
}

func (c Classes) decodeTensor(spec []byte) (decompose.Term, error) {
	var j tensorJSON[json.RawMessage]
	if err := wire.JSON(spec, &j); err != nil {
		return nil, err
	}
	if j.Call != "te" && j.Call != "ti" {
		return nil, fmt.Errorf("the tensor product %q is not known to this version, which has te and ti", j.Call)
	}
	if len(j.Margins) == 0 {
		return nil, errors.New("a tensor product without margins")
	}
	var columns []string
	var margins []margin
	dim := 1
	for _, w := range j.Margins {
		if len(w.Columns) == 0 {
			return nil, errors.New("a margin has no columns")
		}
		columns = append(columns, w.Columns...)
		m, err := marginOf(&w, c)
		if err != nil {
			return nil, err
		}
		if dim *= m.dim(); dim > maxTensor {
			return nil, fmt.Errorf("the product has more than %d columns", maxTensor)
		}
		margins = append(margins, m)
	}
	if err := checkColumns(columns); err != nil {
		return nil, err
	}
	y, err := decodeBy(j.By)
	if err != nil {
		return nil, err
	}
	return newTensor(j.Call, margins, y), nil
}

func marginOf(w *marginJSON[json.RawMessage], c Classes) (margin, error) {
	m := margin{columns: w.Columns, bs: w.BS}
	var err error
	d, known := c.find(w.BS)
	switch {
	case w.BS == "re":
		if len(w.Columns) != 1 || len(w.Levels) == 0 {
			return m, errors.New("a margin re needs one column and its levels")
		}
		m.bs = ""
		m.levels, err = newLevels(w.Columns[0], w.Levels)
	case len(w.Columns) > 1, known && d.univariate == nil:
		m.surface, err = c.decodeEvaluator(w.BS, w.Basis, len(w.Columns))
	default:
		m.bs = ""
		m.spline, err = readSpline(&smoothJSON[json.RawMessage]{BS: w.BS, Degree: w.Degree, Knots: w.Knots, Basis: w.Basis})
	}
	return m, err
}
