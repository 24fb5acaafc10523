package basis

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/design"
)

// TensorTerm is a tensor product of marginal bases: row i holds the Kronecker
// product of the margins' rows, the first margin slowest (Wood 2017, 5.6), as it
// is, times a numeric column, or on the rows of one level of a factor. Margins are
// as they come; how te and ti change their coordinates is in the block's Map.
type TensorTerm struct {
	name    string
	call    string // te or ti
	margins []margin
	by      by
}

// sparseTensor is a TensorTerm whose rows are mostly 0.
type sparseTensor struct{ *TensorTerm }

// margin is a basis of one numeric column (spline), of several (surface), or the
// indicators of a factor's levels.
type margin struct {
	columns []string
	spline  spline
	surface surface
	bs      string // of the surface
	levels  *levels
}

func (m *margin) dim() int {
	switch {
	case m.spline != nil:
		return m.spline.dim()
	case m.surface != nil:
		return m.surface.dim()
	}
	return len(m.levels.names)
}

// width is the number of values in a row that can be other than 0.
func (m *margin) width() int {
	switch {
	case m.spline != nil:
		return m.spline.width()
	case m.surface != nil:
		return m.surface.dim()
	}
	return 1
}

// marginRows are a margin's values at the rows of a batch: width of them from
// column first on, around the circle.
type marginRows struct {
	width, dim int
	first      []int
	value      []float64 // n x width
}

func (m *margin) eval(term string, b *data.Batch) (*marginRows, error) {
	n := b.Rows()
	r := &marginRows{width: m.width(), dim: m.dim(), first: make([]int, n)}
	r.value = make([]float64, n*r.width)
	if m.levels != nil {
		codes, err := m.levels.codes(term, b)
		if err != nil {
			return nil, err
		}
		for i, c := range codes {
			r.first[i], r.value[i] = int(c), 1
		}
		return r, nil
	}
	x, err := numeric(term, m.columns, b)
	if err != nil {
		return nil, err
	}
	if m.surface != nil {
		m.surface.evaluate(r.value, r.dim, x)
		return r, nil
	}
	for i, v := range x {
		r.first[i] = m.spline.row(r.value[i*r.width:(i+1)*r.width], v)
	}
	return r, nil
}

// dense writes row i to dst (dim).
func (r *marginRows) dense(dst []float64, i int) {
	clear(dst)
	for l, v := range r.value[i*r.width : (i+1)*r.width] {
		dst[(r.first[i]+l)%r.dim] = v
	}
}

// newTensor gives the term that suits the margins.
func newTensor(call string, margins []margin, y by) decompose.Term {
	t := &TensorTerm{call: call, margins: margins, by: y}
	width := 1
	for i := range margins {
		width *= margins[i].width()
	}
	t.name = call + "(" + strings.Join(t.variables(), ",") + ")" + y.suffix()
	if 2*width <= t.Dim() {
		return sparseTensor{t}
	}
	return t
}

func (t *TensorTerm) variables() []string {
	var out []string
	for i := range t.margins {
		out = append(out, t.margins[i].columns...)
	}
	return out
}

// Name is mgcv's label: te(lon,lat), ti(x,z):g.
func (t *TensorTerm) Name() string { return t.name }

// Kind is decompose.Tensor.
func (t *TensorTerm) Kind() decompose.Kind { return decompose.Tensor }

// Columns are those of the margins in order, and the by column, if any.
func (t *TensorTerm) Columns() []string {
	out := t.variables()
	if t.by.column != "" && !slices.Contains(out, t.by.column) {
		out = append(out, t.by.column)
	}
	return out
}

// Dim is the product of the margins' dimensions.
func (t *TensorTerm) Dim() int {
	d := 1
	for i := range t.margins {
		d *= t.margins[i].dim()
	}
	return d
}

// By names the by column, and the level if it is a factor.
func (t *TensorTerm) By() (column, level string) {
	if t.by.levels != nil {
		level = t.by.levels.names[t.by.level]
	}
	return t.by.column, level
}

// rows evaluates the margins and the by multipliers (nil: ones).
func (t *TensorTerm) rows(b *data.Batch) (rows []*marginRows, factors []float64, err error) {
	for i := range t.margins {
		r, err := t.margins[i].eval(t.name, b)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, r)
	}
	factors, err = t.by.factors(t.name, b)
	return rows, factors, err
}

// Eval overwrites dst (n x d) with the products at the rows of b. A value that is
// not finite, or a level the term was not made with, is an error.
func (t *TensorTerm) Eval(dst *mat.Dense, b *data.Batch) error {
	if err := checkShape(t, dst, b); err != nil {
		return err
	}
	s, err := t.sparse(b)
	if err != nil {
		return err
	}
	for i := range b.Rows() {
		row := dst.RawRowView(i)
		clear(row)
		for l, j := range s.Index[i*s.K : (i+1)*s.K] {
			row[j] = s.Value[i*s.K+l]
		}
	}
	return nil
}

// EvalSparse gives the values that can be other than 0: the product of the
// margins' numbers of those in each row.
func (t sparseTensor) EvalSparse(b *data.Batch) (design.Columns, error) {
	s, err := t.sparse(b)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// sparse multiplies the margins out, the last fastest.
func (t *TensorTerm) sparse(b *data.Batch) (*design.Sparse, error) {
	rows, factors, err := t.rows(b)
	if err != nil {
		return nil, err
	}
	n, k := b.Rows(), 1
	for _, r := range rows {
		k *= r.width
	}
	s := &design.Sparse{D: t.Dim(), K: k, Index: make([]int32, n*k), Value: make([]float64, n*k)}
	for i := range n {
		value, index := s.Value[i*k:(i+1)*k], s.Index[i*k:(i+1)*k]
		value[0] = 1
		if factors != nil {
			value[0] = factors[i]
		}
		have := 1
		for _, r := range rows {
			// From the back, so that nothing is overwritten before it is read.
			for a := have - 1; a >= 0; a-- {
				v, at := value[a], int(index[a])*r.dim
				for l := r.width - 1; l >= 0; l-- {
					j := r.first[i] + l
					if j >= r.dim {
						j -= r.dim
					}
					value[a*r.width+l] = v * r.value[i*r.width+l]
					index[a*r.width+l] = int32(at + j)
				}
			}
			have *= r.width
		}
	}
	return s, nil
}

// tensorNorm has one column: the 1-norm of a tensor product's row after its margins
// are mapped, which is the product of the margins' norms. Its maximum scales the
// penalties.
type tensorNorm struct {
	of   *TensorTerm  // without by
	maps []*mat.Dense // of each margin; nil: as it is
}

func (t *tensorNorm) Name() string         { return "norm of " + t.of.name }
func (t *tensorNorm) Kind() decompose.Kind { return decompose.Tensor }
func (t *tensorNorm) Columns() []string    { return t.of.Columns() }
func (t *tensorNorm) Dim() int             { return 1 }

func (t *tensorNorm) Eval(dst *mat.Dense, b *data.Batch) error {
	if err := checkShape(t, dst, b); err != nil {
		return err
	}
	rows, _, err := t.of.rows(b)
	if err != nil {
		return err
	}
	norm := make([]float64, b.Rows())
	for i := range norm {
		norm[i] = 1
	}
	for l, r := range rows {
		raw := mat.NewDense(1, r.dim, nil)
		mapped := raw
		if t.maps[l] != nil {
			_, c := t.maps[l].Dims()
			mapped = mat.NewDense(1, c, nil)
		}
		for i := range norm {
			r.dense(raw.RawRowView(0), i)
			if t.maps[l] != nil {
				mapped.Mul(raw, t.maps[l])
			}
			sum := 0.0
			for _, v := range mapped.RawRowView(0) {
				sum += max(v, -v)
			}
			norm[i] *= sum
		}
	}
	for i, v := range norm {
		if !finite(v) {
			return fmt.Errorf("term %s: data row %d: the basis overflows: rescale the columns", t.of.name, b.Row(i)+1)
		}
		dst.Set(i, 0, v)
	}
	return nil
}
