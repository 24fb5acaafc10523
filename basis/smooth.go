package basis

import (
	"encoding/json"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/design"
)

// spline is a basis of one variable with its knots: immutable.
type spline interface {
	dim() int   // columns
	width() int // values in a row that can be other than 0
	// row writes the width values at a finite x, for adjacent columns from the
	// one returned; after the last column comes the first (cyclic bases).
	row(out []float64, x float64) int
}

// SmoothTerm is a spline of one numeric column, as it is, times a numeric
// column, or on the rows of one level of a factor (0 on the others).
type SmoothTerm struct {
	name   string
	column string
	basis  spline
	by     by
}

// sparseSmooth is a SmoothTerm whose rows are mostly 0.
type sparseSmooth struct{ *SmoothTerm }

// newSmooth gives the term that suits the basis.
func newSmooth(t SmoothTerm) decompose.Term {
	t.name = "s(" + t.column + ")" + t.by.suffix()
	if t.basis.width() < t.basis.dim() {
		return sparseSmooth{&t}
	}
	return &t
}

// Name is mgcv's label: s(x), s(x):z or s(x):dow3.
func (t *SmoothTerm) Name() string { return t.name }

// Kind is decompose.Smooth.
func (t *SmoothTerm) Kind() decompose.Kind { return decompose.Smooth }

// Columns are the smooth's column and the by column, if any.
func (t *SmoothTerm) Columns() []string {
	if t.by.column != "" && t.by.column != t.column {
		return []string{t.column, t.by.column}
	}
	return []string{t.column}
}

// Dim is k.
func (t *SmoothTerm) Dim() int { return t.basis.dim() }

// By names the by column, and the level if it is a factor.
func (t *SmoothTerm) By() (column, level string) {
	if t.by.levels != nil {
		level = t.by.levels.names[t.by.level]
	}
	return t.by.column, level
}

// Range is the interval outside which the smooth goes on as a straight line; of a
// cyclic one its period.
func (t *SmoothTerm) Range() (lo, hi float64) {
	switch b := t.basis.(type) {
	case *pspline:
		return b.lo, b.hi
	case *cubic:
		return b.knots[0], b.knots[len(b.knots)-1]
	case *cyclic:
		return b.knots[0], b.knots[len(b.knots)-1]
	case *cyclicPSpline:
		return b.knots[0], b.knots[len(b.knots)-1]
	case *plate:
		return b.points[0] + b.shift[0], b.points[len(b.points)-1] + b.shift[0]
	}
	return 0, 0
}

// Eval overwrites dst (n x k) with the basis at the rows of b. A value that is
// not finite, or a by level the term was not made with, is an error.
func (t *SmoothTerm) Eval(dst *mat.Dense, b *data.Batch) error {
	if err := checkShape(t, dst, b); err != nil {
		return err
	}
	if p, ok := t.basis.(*plate); ok {
		return t.evalPlate(dst, b, p)
	}
	w := t.basis.width()
	scratch := make([]float64, w)
	return t.rows(b, func(i int, x, by float64) {
		row := dst.RawRowView(i)
		if by == 0 {
			clear(row)
			return
		}
		out := row // a full row is written in place
		if w < len(row) {
			clear(row)
			out = scratch
		}
		first := t.basis.row(out, x)
		for l := range w {
			at := first + l
			if at >= len(row) { // around the circle
				at -= len(row)
			}
			row[at] = out[l] * by
		}
	})
}

// evalPlate is Eval of a basis whose rows are full: all of them, then times by.
func (t *SmoothTerm) evalPlate(dst *mat.Dense, b *data.Batch, p *plate) error {
	x, factors, err := t.values(b)
	if err != nil {
		return err
	}
	raw := dst.RawMatrix()
	p.evaluate(raw.Data, raw.Stride, x)
	for i, by := range factors {
		row := dst.RawRowView(i)
		if by == 0 { // nothing times 0 is infinite
			clear(row)
		} else {
			floats.Scale(by, row)
		}
	}
	return nil
}

// EvalSparse gives the values that can be other than 0, degree + 1 in each row.
func (t sparseSmooth) EvalSparse(b *data.Batch) (design.Columns, error) {
	return t.EvalSparseInto(nil, b)
}

// EvalSparseInto is EvalSparse in the memory of old, if it is large enough.
func (t sparseSmooth) EvalSparseInto(old design.Columns, b *data.Batch) (design.Columns, error) {
	n, w := b.Rows(), t.basis.width()
	s, ok := old.(*design.Banded)
	if !ok || cap(s.First) < n || cap(s.Value) < n*w {
		s = &design.Banded{First: make([]int32, n), Value: make([]float64, n*w)}
	}
	s.D, s.K, s.First, s.Value = t.basis.dim(), w, s.First[:n], s.Value[:n*w]
	_, s.Cyclic = t.basis.(*cyclicPSpline)
	if done, err := t.band(s, b); done || err != nil {
		return s, err
	}
	err := t.rows(b, func(i int, x, by float64) {
		value := s.Value[i*w : (i+1)*w]
		if by == 0 {
			clear(value)
			s.First[i] = 0
			return
		}
		s.First[i] = int32(t.basis.row(value, x))
		for l := range value {
			value[l] *= by
		}
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// band evaluates all rows of b at once if the basis can; else it reports false.
func (t sparseSmooth) band(s *design.Banded, b *data.Batch) (bool, error) {
	even, ok := t.basis.(interface {
		band(first []int32, value, x []float64) bool
	})
	if !ok {
		return false, nil
	}
	x, err := b.Numeric(t.column)
	if err != nil || !even.band(s.First, s.Value, x) {
		return false, nil // the slow way names the row
	}
	by, err := t.by.factors(t.name, b)
	for i, f := range by {
		for l := range s.K {
			s.Value[i*s.K+l] *= f
		}
	}
	return true, err
}

// rows calls f with x and the by multiplier of every row: 1 without by, 1 or 0
// for a level.
func (t *SmoothTerm) rows(b *data.Batch, f func(i int, x, by float64)) error {
	x, factors, err := t.values(b)
	if err != nil {
		return err
	}
	by := 1.0
	for i, v := range x {
		if factors != nil {
			by = factors[i]
		}
		f(i, v, by)
	}
	return nil
}

// values are the finite x of every row and its by multipliers, nil for 1.
func (t *SmoothTerm) values(b *data.Batch) (x, factors []float64, err error) {
	if x, err = b.Numeric(t.column); err != nil {
		return nil, nil, fmt.Errorf("term %s: %w", t.name, err)
	}
	if factors, err = t.by.factors(t.name, b); err != nil {
		return nil, nil, err
	}
	for i, v := range x {
		if !finite(v) {
			return nil, nil, notFinite(t.name, t.column, v, b.Row(i))
		}
	}
	return x, factors, nil
}

type smoothJSON struct {
	BS     string    `json:"bs"`
	Column string    `json:"column"`
	Degree int       `json:"degree,omitempty"` // ps
	Knots  []float64 `json:"knots,omitempty"`
	// Basis is what a basis listed with a decode function wrote of itself.
	Basis json.RawMessage `json:"basis,omitempty"`
	By    *byJSON         `json:"by,omitempty"`
}

type byJSON struct {
	Column string   `json:"column"`
	Level  *string  `json:"level,omitempty"` // of a factor
	Levels []string `json:"levels,omitempty"`
}

// MarshalJSON writes the term's spec for Decode.
func (t *SmoothTerm) MarshalJSON() ([]byte, error) {
	j, err := writeSpline(t.basis)
	if err != nil {
		return nil, err
	}
	j.Column = t.column
	j.By = t.by.json()
	return json.Marshal(j)
}

func decodeSmooth(spec []byte) (decompose.Term, error) {
	var several struct{ Columns []string }
	if json.Unmarshal(spec, &several) == nil && len(several.Columns) > 0 {
		return decodeSurface(spec)
	}
	var j smoothJSON
	if err := strict(spec, &j); err != nil {
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
func writeSpline(basis spline) (smoothJSON, error) {
	var j smoothJSON
	switch b := basis.(type) {
	case *pspline:
		j.BS, j.Degree, j.Knots = PS{}.label(), b.degree, b.knots
	case *cyclicPSpline:
		j.BS, j.Degree, j.Knots = CP{}.label(), b.around.degree, b.knots
	case *cubic:
		j.BS, j.Knots = CR{}.label(), b.knots
	case *cyclic:
		j.BS, j.Knots = CC{}.label(), b.knots
	case *plate:
		raw, err := b.MarshalJSON()
		if err != nil {
			return j, err
		}
		j.BS, j.Basis = TP{}.label(), raw
	}
	return j, nil
}

// readSpline reads back what writeSpline wrote.
func readSpline(j *smoothJSON) (spline, error) {
	if j.Degree != 0 && j.BS != (PS{}).label() && j.BS != (CP{}).label() {
		return nil, fmt.Errorf("a %s basis has no degree", j.BS)
	}
	switch j.BS {
	case PS{}.label():
		return orNil(newPSpline(j.Degree, j.Knots))
	case CP{}.label():
		return orNil(newCyclicPSpline(j.Degree, j.Knots))
	case CR{}.label():
		return orNil(newCubic(j.Knots))
	case CC{}.label():
		return orNil(newCyclic(j.Knots))
	case TP{}.label():
		return orNil(readPlate(j.Basis, 1))
	}
	return nil, fmt.Errorf("basis %q is not known to this version, which has %s", j.BS, haveBases())
}

// orNil keeps a nil pointer with its error from becoming a basis.
func orNil[T spline](b T, err error) (spline, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}
