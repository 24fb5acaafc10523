package basis

import (
	"github.com/pho-go/pho/basis/internal/tensorproduct"
	"github.com/pho-go/pho/data"
)

// margin is a basis of one numeric column (spline), of one or several (surface), or the
// indicators of a factor's levels.
type margin struct {
	columns []string
	spline  spline
	surface Evaluator
	bs      string // of the surface
	levels  *levels
}

func (m *margin) dim() int {
	switch {
	case m.spline != nil:
		return m.spline.Dim()
	case m.surface != nil:
		return m.surface.Dim()
	}
	return len(m.levels.names)
}

// width is the number of values in a row that can be other than 0.
func (m *margin) width() int {
	switch {
	case m.spline != nil:
		return m.spline.Width()
	case m.surface != nil:
		return m.surface.Dim()
	}
	return 1
}

// eval gives the margin's values at the rows of b, in the memory of r, which may be nil.
func (m *margin) eval(r *tensorproduct.Rows, term string, b *data.Batch) (*tensorproduct.Rows, error) {
	r = r.Sized(b.Rows(), m.width(), m.dim())
	if m.levels != nil {
		codes, err := m.levels.codes(nil, term, b)
		if err != nil {
			return nil, err
		}
		for i, c := range codes {
			r.First[i], r.Value[i] = c, 1
		}
		return r, nil
	}
	x, err := numeric(term, m.columns, b)
	if err != nil {
		return nil, err
	}
	if m.surface != nil {
		m.surface.Evaluate(r.Value, r.Dim, x)
		return r, nil
	}
	if banded, ok := m.spline.(wholeBands); ok && banded.Band(r.First, r.Value, x) {
		return r, nil
	}
	if w, ok := m.spline.(wholeRows); ok {
		clear(r.First)
		w.Evaluate(r.Value, r.Width, x)
		return r, nil
	}
	for i, v := range x {
		r.First[i] = int32(m.spline.Row(r.Value[i*r.Width:(i+1)*r.Width], v))
	}
	return r, nil
}
