package basis

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/tensorproduct"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/wire"
)

// FactorSmoothTerm is a smooth of one column for each level of a factor, all on
// one basis in its natural parametrisation (Wood 2017, 5.4.2): row i holds b(x)'P
// in the columns of its level, 0 elsewhere.
type FactorSmoothTerm struct {
	name   string
	column string
	basis  spline
	to     *mat.Dense // P, k x k
	levels *levels
	memory sync.Pool // of *tensorproduct.Rows
}

func newFactorSmooth(column string, basis spline, to *mat.Dense, l *levels) (*FactorSmoothTerm, error) {
	k := basis.Dim()
	if r, c := to.Dims(); r != k || c != k {
		return nil, fmt.Errorf("the parametrisation is %d x %d for %d basis functions", r, c, k)
	}
	if len(l.names) < 2 {
		return nil, fmt.Errorf("column %q has one level only: use s(%s)", l.column, column)
	}
	if k*len(l.names) > maxRandom {
		return nil, fmt.Errorf("%d basis functions for %d levels are more than %d columns: lower k", k, len(l.names), maxRandom)
	}
	return &FactorSmoothTerm{name: "s(" + column + "," + l.column + ")", column: column, basis: basis, to: to, levels: l}, nil
}

// Name is mgcv's label, s(x,g).
func (t *FactorSmoothTerm) Name() string { return t.name }

// Kind is decompose.Random: all of the term is penalised.
func (t *FactorSmoothTerm) Kind() decompose.Kind { return decompose.Random }

// Columns are the smooth's column and the factor.
func (t *FactorSmoothTerm) Columns() []string { return []string{t.column, t.levels.column} }

// Dim is k times the number of levels.
func (t *FactorSmoothTerm) Dim() int { return t.basis.Dim() * len(t.levels.names) }

// Eval overwrites dst (n x d). A value that is not finite, or a level the term was
// not made with, is an error.
func (t *FactorSmoothTerm) Eval(dst *mat.Dense, b *data.Batch) error {
	if err := checkShape(t, dst, b); err != nil {
		return err
	}
	k := t.basis.Dim()
	codes, values, err := t.rows(nil, b)
	if err != nil {
		return err
	}
	for i, code := range codes {
		row := dst.RawRowView(i)
		clear(row)
		copy(row[int(code)*k:], values[i*k:(i+1)*k])
	}
	return nil
}

// EvalSparse gives the k values of each row.
func (t *FactorSmoothTerm) EvalSparse(b *data.Batch) (design.Columns, error) {
	return t.EvalSparseInto(nil, b)
}

// EvalSparseInto is EvalSparse in the memory of old, if it is large enough.
func (t *FactorSmoothTerm) EvalSparseInto(old design.Columns, b *data.Batch) (design.Columns, error) {
	s := &design.Sparse{}
	if o, ok := old.(*design.Sparse); ok {
		s = o
	}
	codes, values, err := t.rows(s.Value, b)
	if err != nil {
		return nil, err
	}
	k := t.basis.Dim()
	s.D, s.K, s.Value = t.Dim(), k, values
	s.Index = slices.Grow(s.Index[:0], len(values))[:len(values)]
	for i, code := range codes {
		for l := range k {
			s.Index[i*k+l] = code*int32(k) + int32(l)
		}
	}
	return s, nil
}

// rows gives each row's level and its k values, in the memory given if it is large enough.
func (t *FactorSmoothTerm) rows(memory []float64, b *data.Batch) ([]int32, []float64, error) {
	codes, err := t.levels.codes(nil, t.name, b)
	if err != nil {
		return nil, nil, err
	}
	m := margin{columns: []string{t.column}, spline: t.basis}
	old, _ := t.memory.Get().(*tensorproduct.Rows)
	rows, err := m.eval(old, t.name, b)
	if err != nil {
		return nil, nil, err
	}
	defer t.memory.Put(rows)
	k, w := rows.Dim, rows.Width
	values := slices.Grow(memory[:0], len(codes)*k)[:len(codes)*k]
	for i := range codes {
		out, at, value := values[i*k:(i+1)*k], int(rows.First[i]), rows.Value[i*w:(i+1)*w]
		if w == 4 && at+w <= k { // cubic splines
			sumOfFour(out, t.to.RawMatrix().Data[at*k:(at+w)*k], (*[4]float64)(value))
			continue
		}
		clear(out)
		for _, v := range value {
			if at == k { // around the circle
				at = 0
			}
			for j, p := range t.to.RawRowView(at) {
				out[j] += v * p
			}
			at++
		}
	}
	return codes, values, nil
}

// sumOfFour is the sum of four rows of as many numbers as out, times v each, in their order.
func sumOfFour(out, rows []float64, v *[4]float64) {
	k := len(out)
	a, b, c, d := rows[:k], rows[k:][:k], rows[2*k:][:k], rows[3*k:][:k]
	for j := range out {
		out[j] = v[0]*a[j] + v[1]*b[j] + v[2]*c[j] + v[3]*d[j]
	}
}

type factorSmoothJSON[B any] struct {
	Column string        `json:"column"`
	Factor string        `json:"factor"`
	Levels []string      `json:"levels"`
	Smooth smoothJSON[B] `json:"smooth"`
	Map    floats64      `json:"map"` // P, row by row
}

// MarshalJSON writes the term's spec for Decode.
func (t *FactorSmoothTerm) MarshalJSON() ([]byte, error) {
	return json.Marshal(factorSmoothJSON[any]{t.column, t.levels.column, t.levels.names, writeSpline(t.basis), t.to.RawMatrix().Data})
}

func decodeFactorSmooth(spec []byte) (decompose.Term, error) {
	var j factorSmoothJSON[json.RawMessage]
	if err := wire.JSON(spec, &j); err != nil {
		return nil, err
	}
	if err := checkColumn(j.Column); err != nil {
		return nil, err
	}
	basis, err := readSpline(&j.Smooth)
	if err != nil {
		return nil, err
	}
	k := basis.Dim()
	if len(j.Map) != k*k {
		return nil, fmt.Errorf("the parametrisation has %d numbers for %d basis functions", len(j.Map), k)
	}
	l, err := newLevels(j.Factor, j.Levels)
	if err != nil {
		return nil, err
	}
	if j.Factor == j.Column {
		return nil, errors.New("the factor is the smooth's column")
	}
	t, err := newFactorSmooth(j.Column, basis, mat.NewDense(k, k, j.Map), l)
	if err != nil {
		return nil, err
	}
	return t, nil
}
