package moments

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// check validates the operands of Add, leaves the largest row norm of each basis in
// b.norms and returns the rows.
func (b *Chunk) check(x []design.Columns, w []float64, r *mat.Dense) (int, error) {
	bases := b.layout.Bases
	if len(x) != len(bases) {
		return 0, fmt.Errorf("moments: columns of %d bases for a layout of %d", len(x), len(bases))
	}
	n := -1
	for a, c := range x {
		if err := design.Check(c); err != nil {
			return 0, fmt.Errorf("moments: basis %q, rows from %d: %w", bases[a].Name, b.rows, err)
		}
		rows, d := c.Dims()
		if n < 0 {
			n = rows
		}
		if rows != n {
			return 0, fmt.Errorf("moments: basis %q has %d rows, basis %q has %d", bases[a].Name, rows, bases[0].Name, n)
		}
		if rows > 0 && d != bases[a].Dim {
			return 0, fmt.Errorf("moments: basis %q has %d columns; the layout says %d", bases[a].Name, d, bases[a].Dim)
		}
	}
	if r != nil && !r.IsEmpty() {
		rows, k := r.Dims()
		if n < 0 {
			n = rows
		}
		if rows != n || k != b.layout.Responses {
			return 0, fmt.Errorf("moments: responses are %d x %d; need %d x %d", rows, k, n, b.layout.Responses)
		}
	} else if b.layout.Responses > 0 && n > 0 {
		return 0, fmt.Errorf("moments: no responses for %d rows; need %d x %d", n, n, b.layout.Responses)
	}
	if n < 0 {
		n = len(w)
	}
	if w != nil && len(w) != n {
		return 0, fmt.Errorf("moments: %d weights for %d rows", len(w), n)
	}
	for i, v := range w {
		if !finite(v) || v < 0 {
			return 0, fmt.Errorf("moments: weight %g in row %d; weights are finite and not negative", v, b.rows+int64(i))
		}
	}
	b.norms = b.norms[:0]
	for a, c := range x {
		norm := design.MaxRowNorm(c)
		if math.IsNaN(norm) {
			if i, v, ok := nonFinite(c); ok {
				return 0, fmt.Errorf("moments: basis %q has the value %g in row %d; remove the row or mend the basis", bases[a].Name, v, b.rows+int64(i))
			}
			norm = math.Inf(1) // of numbers whose sum overflows
		}
		b.norms = append(b.norms, norm)
	}
	if r != nil {
		m := r.RawMatrix()
		for i := range m.Rows {
			for k, v := range m.Data[i*m.Stride:][:m.Cols] {
				if !finite(v) {
					return 0, fmt.Errorf("moments: response %d has the value %g in row %d; the model's output must be finite", k, v, b.rows+int64(i))
				}
			}
		}
	}
	return max(n, 0), nil
}

// nonFinite finds the first value that is NaN or infinite, and its row.
func nonFinite(c design.Columns) (row int, v float64, found bool) {
	switch c := c.(type) {
	case design.Dense:
		m := c.RawMatrix()
		for i := range m.Rows {
			for _, v := range m.Data[i*m.Stride:][:m.Cols] {
				if !finite(v) {
					return i, v, true
				}
			}
		}
	case *design.Sparse:
		for l, v := range c.Value {
			if !finite(v) {
				return l / c.K, v, true
			}
		}
	case *design.Banded:
		for l, v := range c.Value {
			if !finite(v) {
				return l / c.K, v, true
			}
		}
	case *design.Product:
		if row, v, found = nonFinite(c.A); !found {
			row, v, found = nonFinite(c.B)
		}
		return row, v, found
	case *design.Interpolated:
		for l := range c.Parts {
			if row, v, found = nonFinite(&c.Parts[l].Band); found {
				return row, v, found
			}
		}
	case *design.Codes:
		for i, v := range c.Value {
			if !finite(v) {
				return i, v, true
			}
		}
	}
	return 0, 0, false
}
