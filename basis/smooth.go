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
	return rangeOf(t.basis)
}

func rangeOf(basis spline) (lo, hi float64) {
	switch b := basis.(type) {
	case *bspline.Basis:
		return b.Range()
	case *stepped:
		return rangeOf(b.of)
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

// evalWhole is Eval of a basis with dense rows: of all rows, or of the rows that by leaves.
func (t *SmoothTerm) evalWhole(dst *mat.Dense, b *data.Batch, w wholeRows) error {
	left, err := t.leftBy(b)
	if err != nil {
		return err
	}
	raw := dst.RawMatrix()
	if left.few(2) {
		own := make([]float64, len(left.rows)*raw.Cols)
		w.Evaluate(own, raw.Cols, left.picked())
		dst.Zero()
		for l, i := range left.rows {
			copy(dst.RawRowView(int(i)), own[l*raw.Cols:])
		}
	} else {
		w.Evaluate(raw.Data, raw.Stride, left.x)
		left.clearOthers(raw.Data, raw.Stride, raw.Cols)
	}
	left.scale(raw.Data, raw.Stride, raw.Cols)
	return nil
}

// leftBy is what by leaves of a batch's rows.
type leftBy struct {
	x       []float64 // of all rows, finite
	rows    []int32   // that are not multiplied with 0, in order; nil: all
	factors []float64 // of all rows; nil: ones
}

func (t *SmoothTerm) leftBy(b *data.Batch) (left leftBy, err error) {
	if left.rows, left.factors, err = t.by.rows(t.name, b); err != nil {
		return left, err
	}
	left.x, err = numeric(t.name, []string{t.column}, b)
	return left, err
}

// few tells whether all rows are more than so many times as many as are left.
func (left *leftBy) few(times int) bool {
	return left.rows != nil && times*len(left.rows) < len(left.x)
}

// picked are the x of the rows left.
func (left *leftBy) picked() []float64 {
	some := make([]float64, len(left.rows))
	for l, i := range left.rows {
		some[l] = left.x[i]
	}
	return some
}

// clearOthers sets the first k numbers of the rows that are not left to 0: nothing times 0 is infinite.
func (left *leftBy) clearOthers(value []float64, stride, k int) {
	if left.rows == nil {
		return
	}
	next := 0
	for i := range left.x {
		if next < len(left.rows) && left.rows[next] == int32(i) {
			next++
			continue
		}
		clear(value[i*stride:][:k])
	}
}

// scale multiplies the first k numbers of the rows left with their factors.
func (left *leftBy) scale(value []float64, stride, k int) {
	if left.factors == nil {
		return
	}
	for _, i := range left.rows {
		floats.Scale(left.factors[i], value[int(i)*stride:][:k])
	}
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

// wholeBands is a basis that writes its values at several x, if it can at all of them.
type wholeBands interface {
	Band(first []int32, value, x []float64) bool
}

// fewRows: a band is so quickly evaluated that rows are picked only if they are fewer than one in so many.
const fewRows = 8

// band evaluates all rows of b at once if the basis can; else it reports false.
func (t sparseSmooth) band(s *design.Banded, b *data.Batch) (bool, error) {
	banded, ok := t.basis.(wholeBands)
	if !ok {
		return false, nil
	}
	left, err := t.leftBy(b)
	if err != nil {
		return false, err
	}
	if left.few(fewRows) {
		first, value := make([]int32, len(left.rows)), make([]float64, len(left.rows)*s.K)
		if !banded.Band(first, value, left.picked()) {
			return false, nil
		}
		clear(s.First)
		clear(s.Value)
		for l, i := range left.rows {
			s.First[i] = first[l]
			copy(s.Value[int(i)*s.K:][:s.K], value[l*s.K:])
		}
	} else {
		if !banded.Band(s.First, s.Value, left.x) {
			return false, nil
		}
		left.clearOthers(s.Value, s.K, s.K)
	}
	left.scale(s.Value, s.K, s.K)
	return true, nil
}

// rows calls f with x and the by multiplier of every row: 1 without by, 1 or 0
// for a level.
func (t *SmoothTerm) rows(b *data.Batch, f func(i int, x, by float64)) error {
	factors, err := t.by.factors(t.name, b)
	if err != nil {
		return err
	}
	x, err := numeric(t.name, []string{t.column}, b)
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
