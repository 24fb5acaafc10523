package design

import (
	"gonum.org/v1/gonum/mat"
)

// AddCross adds a' diag(w) b to dst: dst (da x db), a (n x da), b (n x db), w
// (n; nil means ones). Rows are summed in row order, so a result depends on
// nothing but the operands and, if both are dense, on the machine's vector
// instructions: not on where a sequence of rows was cut into calls.
//
// If a == b only one triangle is computed and the other is its copy: dst must
// be symmetric on entry and is exactly symmetric on return. dst may not overlap
// the operands. After an error the contents of dst are undefined.
func AddCross(dst *mat.Dense, a, b Columns, w []float64) error {
	if err := conform(dst, a, b, w); err != nil {
		return err
	}
	if n, _ := a.Dims(); n == 0 {
		return nil
	}
	c := dst.RawMatrix()
	switch a := a.(type) {
	case Dense:
		switch b := b.(type) {
		case Dense:
			if a == b {
				addGram(c, a.RawMatrix(), w)
			} else {
				addProduct(c, a.RawMatrix(), b.RawMatrix(), w)
			}
			return nil
		default:
			return denseEntries(c, a.RawMatrix(), entriesOf(b), w)
		}
	case *Codes:
		switch b := b.(type) {
		case Dense:
			return entriesDense(c, entriesOf(a), b.RawMatrix(), w)
		case *Codes:
			return table(c, a, b, w)
		default:
			return entriesEntries(c, entriesOf(a), entriesOf(b), w)
		}
	default:
		if b, ok := b.(Dense); ok {
			return entriesDense(c, entriesOf(a), b.RawMatrix(), w)
		}
		if a == b {
			return entriesGram(c, entriesOf(a), w)
		}
		return entriesEntries(c, entriesOf(a), entriesOf(b), w)
	}
}

// AddTMul adds a' diag(w) r to dst: dst (d x K), a (n x d), w (n; nil means
// ones), r (n x K). It is AddCross with the dense columns r.
func AddTMul(dst *mat.Dense, a Columns, w []float64, r *mat.Dense) error {
	return AddCross(dst, a, Dense{r}, w)
}
