package basis

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/bspline"
	"github.com/pho-go/pho/basis/internal/cubic"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/design"
)

// SmoothTerm is a spline of one numeric column, as it is, times a numeric
// column, or on the rows of one level of a factor (0 on the others).
type SmoothTerm struct {
	name   string
	column string
	basis  spline
	by     byVariable
}

// sparseSmooth is a SmoothTerm whose rows are mostly 0.
type sparseSmooth struct{ *SmoothTerm }

// newSmooth gives the term that suits the basis.
func newSmooth(t SmoothTerm) decompose.Term {
	t.name = "s(" + t.column + ")" + t.by.suffix()
	if t.basis.Width() < t.basis.Dim() {
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
	return withBy([]string{t.column}, t.by.column)
}

// Dim is k.
func (t *SmoothTerm) Dim() int { return t.basis.Dim() }

// By names the by column, and the level if it is a factor.
func (t *SmoothTerm) By() (column, level string) {
	return t.by.names()
}

// Range is the interval outside which the smooth goes on as a straight line; of a
// cyclic one its period.
func (t *SmoothTerm) Range() (lo, hi float64) {
	switch b := t.basis.(type) {
	case *bspline.Basis:
		return b.Range()
	case *cubic.Natural:
		return ends(b.Knots())
	case *cubic.Cyclic:
		return ends(b.Knots())
	case *bspline.Periodic:
		return ends(b.Knots())
	case thinPlate:
		return ends(b.Breaks())
	}
	return 0, 0
}

func ends(knots []float64) (lo, hi float64) { return knots[0], knots[len(knots)-1] }

// Eval overwrites dst (n x k) with the basis at the rows of b. A value that is
// not finite, or a by level the term was not made with, is an error.
func (t *SmoothTerm) Eval(dst *mat.Dense, b *data.Batch) error {
	if err := checkShape(t, dst, b); err != nil {
		return err
	}
	if w, ok := t.basis.(wholeRows); ok {
		return t.evalWhole(dst, b, w)
	}
	w := t.basis.Width()
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
		first := t.basis.Row(out, x)
		for l := range w {
			at := first + l
			if at >= len(row) { // around the circle
				at -= len(row)
			}
			row[at] = out[l] * by
		}
	})
}

// wholeRows is a basis whose functions are other than 0 nearly everywhere: it writes its rows at several x.
type wholeRows interface {
	Evaluate(dst []float64, stride int, x []float64)
}

// evalWhole is Eval of a basis whose rows are full: all of them, then times by.
func (t *SmoothTerm) evalWhole(dst *mat.Dense, b *data.Batch, w wholeRows) error {
	if t.by.levels != nil {
		return t.wholeOfLevel(dst, b, w)
	}
	x, factors, err := t.values(b)
	if err != nil {
		return err
	}
	raw := dst.RawMatrix()
	if rows, some := few(x, factors, 2); rows != nil {
		dst.Zero()
		own := make([]float64, len(rows)*raw.Cols)
		w.Evaluate(own, raw.Cols, some)
		for l, i := range rows {
			floats.ScaleTo(dst.RawRowView(i), factors[i], own[l*raw.Cols:(l+1)*raw.Cols])
		}
		return nil
	}
	w.Evaluate(raw.Data, raw.Stride, x)
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

// wholeOfLevel is evalWhole on the rows of a level, with zeros in the others.
func (t *SmoothTerm) wholeOfLevel(dst *mat.Dense, b *data.Batch, w wholeRows) error {
	rows, x, err := t.ofLevel(b)
	if err != nil {
		return err
	}
	raw := dst.RawMatrix()
	if 2*len(rows) < len(x) {
		dst.Zero()
		own := make([]float64, len(rows)*raw.Cols)
		w.Evaluate(own, raw.Cols, picked(x, rows))
		for l, i := range rows {
			copy(dst.RawRowView(int(i)), own[l*raw.Cols:])
		}
		return nil
	}
	w.Evaluate(raw.Data, raw.Stride, x)
	eachOther(rows, len(x), func(i int) { clear(dst.RawRowView(i)) })
	return nil
}

// ofLevel are the rows of the by level, and the finite x of all rows.
func (t *SmoothTerm) ofLevel(b *data.Batch) (rows []int32, x []float64, err error) {
	if rows, err = t.by.levels.rowsOf(t.by.level, t.name, b); err != nil {
		return nil, nil, err
	}
	x, err = numeric(t.name, []string{t.column}, b)
	return rows, x, err
}

// picked are the x of some rows.
func picked(x []float64, rows []int32) []float64 {
	some := make([]float64, len(rows))
	for l, i := range rows {
		some[l] = x[i]
	}
	return some
}

// eachOther calls f for those of n rows that are not among rows, which increase.
func eachOther(rows []int32, n int, f func(i int)) {
	for i := range n {
		if len(rows) > 0 && rows[0] == int32(i) {
			rows = rows[1:]
			continue
		}
		f(i)
	}
}

// wholeBands is a basis that writes its values at several x, if it can at all of them.
type wholeBands interface {
	Band(first []int32, value, x []float64) bool
}

// fewRows: a band is so quickly evaluated that rows are picked only if they are fewer than one in so many.
const fewRows = 8

// few are the rows of factors other than 0, and their x, if all rows are more than so many times as many;
// nil: they are not.
func few(x, factors []float64, times int) (rows []int, some []float64) {
	n := 0
	for _, f := range factors {
		if f != 0 {
			n++
		}
	}
	if times*n >= len(factors) {
		return nil, nil
	}
	rows, some = make([]int, 0, n), make([]float64, 0, n)
	for i, f := range factors {
		if f != 0 {
			rows, some = append(rows, i), append(some, x[i])
		}
	}
	return rows, some
}

// EvalSparse gives the values that can be other than 0, degree + 1 in each row.
func (t sparseSmooth) EvalSparse(b *data.Batch) (design.Columns, error) {
	return t.EvalSparseInto(nil, b)
}

// EvalSparseInto is EvalSparse in the memory of old, if it is large enough.
func (t sparseSmooth) EvalSparseInto(old design.Columns, b *data.Batch) (design.Columns, error) {
	n, w := b.Rows(), t.basis.Width()
	s, ok := old.(*design.Banded)
	if !ok || cap(s.First) < n || cap(s.Value) < n*w {
		s = &design.Banded{First: make([]int32, n), Value: make([]float64, n*w)}
	}
	s.D, s.K, s.First, s.Value = t.basis.Dim(), w, s.First[:n], s.Value[:n*w]
	_, s.Cyclic = t.basis.(*bspline.Periodic)
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
		s.First[i] = int32(t.basis.Row(value, x))
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
	banded, ok := t.basis.(wholeBands)
	if !ok {
		return false, nil
	}
	if t.by.levels != nil {
		return t.bandOfLevel(banded, s, b)
	}
	x, by, err := t.values(b)
	if err != nil {
		return false, err
	}
	if rows, some := few(x, by, fewRows); rows != nil {
		first, value := make([]int32, len(rows)), make([]float64, len(rows)*s.K)
		if !banded.Band(first, value, some) {
			return false, nil
		}
		clear(s.First)
		clear(s.Value)
		for l, i := range rows {
			s.First[i] = first[l]
			floats.ScaleTo(s.Value[i*s.K:(i+1)*s.K], by[i], value[l*s.K:(l+1)*s.K])
		}
		return true, nil
	}
	if !banded.Band(s.First, s.Value, x) {
		return false, nil
	}
	for i, f := range by {
		for l := range s.K {
			s.Value[i*s.K+l] *= f
		}
	}
	return true, nil
}

// bandOfLevel is band on the rows of a level, with zeros in the others.
func (t sparseSmooth) bandOfLevel(banded wholeBands, s *design.Banded, b *data.Batch) (bool, error) {
	rows, x, err := t.ofLevel(b)
	if err != nil {
		return false, err
	}
	if fewRows*len(rows) < len(x) {
		first, value := make([]int32, len(rows)), make([]float64, len(rows)*s.K)
		if !banded.Band(first, value, picked(x, rows)) {
			return false, nil
		}
		clear(s.First)
		clear(s.Value)
		for l, i := range rows {
			s.First[i] = first[l]
			copy(s.Value[int(i)*s.K:][:s.K], value[l*s.K:])
		}
		return true, nil
	}
	if !banded.Band(s.First, s.Value, x) {
		return false, nil
	}
	eachOther(rows, len(x), func(i int) { clear(s.Value[i*s.K:][:s.K]) })
	return true, nil
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
	if factors, err = t.by.factors(t.name, b); err != nil {
		return nil, nil, err
	}
	x, err = numeric(t.name, []string{t.column}, b)
	return x, factors, err
}
