package design

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// AddCross adds a' diag(w) b to dst: dst (da x db), a (n x da), b (n x db), w
// (n; nil means ones). The result depends on nothing but the operands and, if
// either is dense, banded or interpolated, on the machine's vector instructions. Rows are summed
// in row order, so that it does not matter where a sequence of rows was cut into
// calls; but with banded, interpolated or arranged columns, and of codes with themselves, each call sums its own rows first.
//
// If a == b only one triangle is computed and the other is its copy: dst must
// be symmetric on entry and is exactly symmetric on return. dst may not overlap
// the operands. After an error the contents of dst are undefined.
func AddCross(dst *mat.Dense, a, b Columns, w []float64) error {
	return new(Work).AddCross(dst, a, b, w)
}

// AddCross is the function of that name, without allocations.
func (k *Work) AddCross(dst *mat.Dense, a, b Columns, w []float64) error {
	if err := conform(dst, a, b, w); err != nil {
		return err
	}
	c := dst.RawMatrix()
	if n, _ := a.Dims(); n > 0 && (interpolated(a) || interpolated(b)) {
		return k.interpolatedCross(c, a, b, w)
	}
	a, b, w, some := k.picked.withoutZeros(a, b, w)
	if n, _ := a.Dims(); n == 0 || !some {
		return nil
	}
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
		case *Banded:
			if cubic(b) {
				return k.bandDense(c, b, a.RawMatrix(), w, true)
			}
		}
		return denseEntries(c, a.RawMatrix(), k.entries(b, 1), w)
	case *Banded:
		if cubic(a) {
			switch b := b.(type) {
			case Dense:
				return k.bandDense(c, a, b.RawMatrix(), w, false)
			case *Banded:
				if a == b {
					return k.bandGram(c, a, w)
				}
				if cubic(b) && a.starts()*b.starts() <= maxCells/(kernel.Band*kernel.Band) {
					return k.bandBand(c, a, b, w)
				}
			}
		}
	case *Codes:
		switch b := b.(type) {
		case *Codes:
			if a == b && a.D <= len(a.Code) {
				return k.codesGram(c, a, w)
			}
			return table(c, a, b, w)
		case *Sparse:
			if b.inFours() {
				return k.codesFours(c, a, b, w)
			}
		case *Product:
			return k.codesProduct(c, a, b, w)
		}
	case *Sparse, *Product:
		s := arranged(a)
		if s == nil {
			break
		}
		if b, ok := b.(Dense); ok {
			k.to, k.from = append(k.to[:0], c), append(k.from[:0], b.RawMatrix())
			return k.cellsDense(k.to, s, k.from, w)
		}
		if a == b {
			return k.cellsGram(c, s, w)
		}
	}
	switch b := b.(type) {
	case Dense:
		return k.entriesDense(c, k.entries(a, 0), b.RawMatrix(), w)
	case *Banded:
		if cubic(b) {
			return k.entriesBand(c, k.entries(a, 0), b, w)
		}
	}
	if a == b {
		return entriesGram(c, k.entries(a, 0), w)
	}
	return entriesEntries(c, k.entries(a, 0), k.entries(b, 1), w)
}

// AddCrosses is AddCross with several dense columns, the products with b[i] being added to dst[i]. With
// arranged columns it takes hardly longer than with some of them.
func (k *Work) AddCrosses(dst []*mat.Dense, a Columns, b []Dense, w []float64) error {
	if s := arranged(a); s != nil {
		k.to, k.from = k.to[:0], k.from[:0]
		for i, b := range b {
			if err := conform(dst[i], a, b, w); err != nil {
				return err
			}
			k.to, k.from = append(k.to, dst[i].RawMatrix()), append(k.from, b.RawMatrix())
		}
		return k.cellsDense(k.to, s, k.from, w)
	}
	for i, b := range b {
		if err := k.AddCross(dst[i], a, b, w); err != nil {
			return err
		}
	}
	return nil
}

// Swapped reports whether the product b'Wa is cheaper to add up than a'Wb: memory
// is written row by row if the columns with the fewest entries in a row come first.
func Swapped(a, b Columns) bool { return rank(a) > rank(b) }

func rank(a Columns) int {
	switch a := a.(type) {
	case *Codes:
		return 0
	case *Sparse, *Product:
		return 1
	case *Banded:
		if !cubic(a) {
			return 1
		}
		return 2
	}
	return 3
}

// AddTMul adds a' diag(w) r to dst: dst (d x K), a (n x d), w (n; nil means
// ones), r (n x K). It is AddCross with the dense columns r, without allocations.
func (k *Work) AddTMul(dst *mat.Dense, a Columns, w []float64, r *mat.Dense) error {
	return k.AddCross(dst, a, Dense{r}, w)
}
