package basis

import (
	"fmt"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/bspline"
	"github.com/pho-go/pho/basis/internal/tensorproduct"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/kernel"
)

// TensorTerm is a tensor product of marginal bases: row i holds the Kronecker
// product of the margins' rows, the first margin slowest (Wood 2017, 5.6), as it
// is, times a numeric column, or on the rows of one level of a factor. Margins are
// as they come; how te and ti change their coordinates is in the block's Coordinates.
type TensorTerm struct {
	name    string
	call    string // te or ti
	margins []margin
	by      byVariable
	memory  sync.Pool // of *[]*tensorproduct.Rows
}

// sparseTensor is a TensorTerm whose rows are mostly 0.
type sparseTensor struct{ *TensorTerm }

// newTensor gives the term that suits the margins.
func newTensor(call string, margins []margin, y byVariable) decompose.Term {
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
	return withBy(t.variables(), t.by.column)
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
	return t.by.names()
}

// Interaction tells ti, whose functions have no main effects since margins are centred, from te.
func (t *TensorTerm) Interaction() bool { return t.call == "ti" }

// rows evaluates the margins and the by multipliers (nil: ones). Who is done with them hands the
// margins' to forget.
func (t *TensorTerm) rows(b *data.Batch) (rows []*tensorproduct.Rows, factors []float64, err error) {
	if old, ok := t.memory.Get().(*[]*tensorproduct.Rows); ok {
		rows = *old
	} else {
		rows = make([]*tensorproduct.Rows, len(t.margins))
	}
	for i := range t.margins {
		if rows[i], err = t.margins[i].eval(rows[i], t.name, b); err != nil {
			return nil, nil, err
		}
	}
	factors, err = t.by.factors(t.name, b)
	return rows, factors, err
}

// forget lets others have the memory of rows.
func (t *TensorTerm) forget(rows []*tensorproduct.Rows) { t.memory.Put(&rows) }

// Eval overwrites dst (n x d) with the products at the rows of b. A value that is
// not finite, or a level the term was not made with, is an error.
func (t *TensorTerm) Eval(dst *mat.Dense, b *data.Batch) error {
	if err := checkShape(t, dst, b); err != nil {
		return err
	}
	s, err := t.sparse(nil, b)
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
	return t.EvalSparseInto(nil, b)
}

// EvalSparseInto is EvalSparse in the memory of old, if it is large enough.
func (t sparseTensor) EvalSparseInto(old design.Columns, b *data.Batch) (design.Columns, error) {
	s, err := t.sparse(old, b)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// maxProductCells bounds the cells of the knots that rows are sorted by before they are multiplied out: of more
// there would be hardly any rows in one.
const maxProductCells = 1024

// product reports whether the rows are a design.Product: of two margins of cubic splines on no circle.
func (t sparseTensor) product() bool {
	cells := 1
	for i := range t.margins {
		m := &t.margins[i]
		if _, circle := m.spline.(*bspline.Periodic); circle || m.spline == nil || m.width() != kernel.Band {
			return false
		}
		cells *= m.dim() - kernel.Band + 1
	}
	return len(t.margins) == 2 && cells <= maxProductCells
}

// EvalProduct is EvalSparseInto that leaves the margins as they are if there are two of cubic splines.
func (t sparseTensor) EvalProduct(old design.Columns, b *data.Batch) (design.Columns, error) {
	if !t.product() {
		return t.EvalSparseInto(old, b)
	}
	x, _ := old.(*design.Product)
	x = x.Sized(b.Rows(), t.margins[0].dim(), t.margins[1].dim())
	for i, band := range []*design.Banded{x.A, x.B} {
		rows := &tensorproduct.Rows{First: band.First, Value: band.Value}
		if _, err := t.margins[i].eval(rows, t.name, b); err != nil {
			return nil, err
		}
	}
	factors, err := t.by.factors(t.name, b)
	if err != nil {
		return nil, err
	}
	for i, f := range factors {
		for l := range kernel.Band {
			x.A.Value[kernel.Band*i+l] *= f
		}
	}
	return x, nil
}

// sparse multiplies the margins out, the last fastest.
func (t *TensorTerm) sparse(old design.Columns, b *data.Batch) (*design.Sparse, error) {
	rows, factors, err := t.rows(b)
	if err != nil {
		return nil, err
	}
	s := &design.Sparse{D: t.Dim()}
	if o, ok := old.(*design.Sparse); ok {
		s.Index, s.Value = o.Index, o.Value
	}
	s.K, s.Index, s.Value = tensorproduct.Kronecker(s.Index, s.Value, rows, factors)
	t.forget(rows)
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
	raw := dst.RawMatrix()
	norm := raw.Data
	if raw.Stride > 1 {
		norm = make([]float64, raw.Rows)
	}
	tensorproduct.Norms(norm, rows, t.maps)
	t.of.forget(rows)
	if i := firstNotFinite(norm); i >= 0 {
		return fmt.Errorf("term %s: data row %d: the basis overflows: rescale the columns", t.of.name, b.Row(i)+1)
	}
	if raw.Stride > 1 {
		dst.SetCol(0, norm)
	}
	return nil
}
