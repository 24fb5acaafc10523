package basis

import (
	"encoding/json"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/distinct"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/wire"
)

// SurfaceTerm is a smooth of several numeric columns together, as it is, times a
// numeric column, or on the rows of one level of a factor (0 on the others).
type SurfaceTerm struct {
	name    string
	columns []string
	bs      string
	basis   Evaluator
	by      byVariable
}

func newSurface(columns []string, bs string, basis Evaluator, y byVariable) *SurfaceTerm {
	return &SurfaceTerm{"s(" + strings.Join(columns, ",") + ")" + y.suffix(), columns, bs, basis, y}
}

// Name is mgcv's label: s(lon,lat), s(lon,lat):z or s(lon,lat):dow3.
func (t *SurfaceTerm) Name() string { return t.name }

// Kind is decompose.Smooth.
func (t *SurfaceTerm) Kind() decompose.Kind { return decompose.Smooth }

// Columns are the smooth's columns and the by column, if any.
func (t *SurfaceTerm) Columns() []string {
	return withBy(t.columns, t.by.column)
}

// Dim is k.
func (t *SurfaceTerm) Dim() int { return t.basis.Dim() }

// By names the by column, and the level if it is a factor.
func (t *SurfaceTerm) By() (column, level string) {
	return t.by.names()
}

// Eval overwrites dst (n x k) with the basis at the rows of b. Points that occur
// several times in b are evaluated once, rows that by multiplies with 0 not at all.
// A value that is not finite, or a by level the term was not made with, is an error.
func (t *SurfaceTerm) Eval(dst *mat.Dense, b *data.Batch) error {
	if err := checkShape(t, dst, b); err != nil {
		return err
	}
	x, err := numeric(t.name, t.columns, b)
	if err != nil {
		return err
	}
	factors, err := t.by.factors(t.name, b)
	if err != nil {
		return err
	}
	d, k := len(t.columns), t.basis.Dim()
	points := distinct.NewPoints(d, b.Rows())
	which := make([]int, b.Rows()) // each row's point
	for i := range which {
		if factors != nil && factors[i] == 0 {
			continue
		}
		which[i] = points.Number(x[i*d : (i+1)*d])
	}
	values := make([]float64, points.N()*k)
	t.basis.Evaluate(values, k, points.X)
	for i, at := range which {
		row := dst.RawRowView(i)
		switch {
		case factors == nil:
			copy(row, values[at*k:(at+1)*k])
		case factors[i] == 0:
			clear(row)
		default:
			for j, v := range values[at*k : (at+1)*k] {
				row[j] = v * factors[i]
			}
		}
	}
	return nil
}

type surfaceJSON struct {
	BS      string          `json:"bs"`
	Columns []string        `json:"columns"`
	Basis   json.RawMessage `json:"basis"`
	By      *byJSON         `json:"by,omitempty"`
}

// MarshalJSON writes the term's spec for Decode.
func (t *SurfaceTerm) MarshalJSON() ([]byte, error) {
	raw, err := t.basis.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return json.Marshal(surfaceJSON{t.bs, t.columns, raw, t.by.json()})
}

func (c Classes) decodeSurface(spec []byte) (decompose.Term, error) {
	var j surfaceJSON
	if err := wire.JSON(spec, &j); err != nil {
		return nil, err
	}
	if err := checkColumns(j.Columns); err != nil {
		return nil, err
	}
	basis, err := c.decodeEvaluator(j.BS, j.Basis, len(j.Columns))
	if err != nil {
		return nil, err
	}
	y, err := decodeBy(j.By)
	if err != nil {
		return nil, err
	}
	return newSurface(j.Columns, j.BS, basis, y), nil
}
