package design

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Check reports the first fault of a: a nil matrix, a slice of the wrong
// length, a column index outside 0..d-1 (a code may be negative: no entry), a band
// that begins or ends outside them, or two entries of one sparse row in the same
// column. Values are not examined.
func Check(a Columns) error {
	if err := shape(a); err != nil {
		return err
	}
	switch a := a.(type) {
	case *Sparse:
		for i := 0; i < len(a.Index); i += a.K {
			row := a.Index[i : i+a.K]
			if increasing(row, a.D) {
				continue
			}
			for l, j := range row {
				if uint(j) >= uint(a.D) {
					return indexError("sparse", i/a.K, j, a.D)
				}
				for _, earlier := range row[:l] {
					if j == earlier {
						return fmt.Errorf("design: sparse columns: row %d has two entries in column %d; add them up first", i/a.K, j)
					}
				}
			}
		}
	case *Banded:
		starts := uint(a.starts())
		for i, j := range a.First {
			if uint(j) >= starts {
				return a.fault(i)
			}
		}
	case *Interpolated:
		for l := range a.Parts {
			if err := Check(&a.Parts[l].Band); err != nil {
				return err
			}
		}
	case *Product:
		if err := Check(a.A); err != nil {
			return err
		}
		return Check(a.B)
	case *Codes:
		for i, j := range a.Code {
			if int(j) >= a.D {
				return indexError("coded", i, j, a.D)
			}
		}
	}
	return nil
}

// increasing reports whether the columns of a row come in order, none twice, in 0..d-1.
func increasing(row []int32, d int) bool {
	last := int32(-1)
	for _, j := range row {
		if j <= last {
			return false
		}
		last = j
	}
	return int(last) < d
}

// shape checks what every product relies on before it reads an entry.
func shape(a Columns) error {
	switch a := a.(type) {
	case Dense:
		if a.Dense == nil {
			return fmt.Errorf("design: dense columns without a matrix")
		}
	case *Sparse:
		switch {
		case a == nil:
			return fmt.Errorf("design: sparse columns are nil")
		case a.K < 1 || a.K > a.D:
			return fmt.Errorf("design: sparse columns: %d entries in each row of %d columns; need 1 to %d", a.K, a.D, a.D)
		case len(a.Index)%a.K != 0:
			return fmt.Errorf("design: sparse columns: %d indices are no whole number of rows with %d entries", len(a.Index), a.K)
		case len(a.Value) != len(a.Index):
			return fmt.Errorf("design: sparse columns: %d values for %d indices", len(a.Value), len(a.Index))
		}
	case *Banded:
		switch {
		case a == nil:
			return fmt.Errorf("design: banded columns are nil")
		case a.K < 1 || a.K > a.D:
			return fmt.Errorf("design: banded columns: %d entries in each row of %d columns; need 1 to %d", a.K, a.D, a.D)
		case len(a.Value) != len(a.First)*a.K:
			return fmt.Errorf("design: banded columns: %d values for %d rows with %d entries", len(a.Value), len(a.First), a.K)
		}
	case *Product:
		return a.shape()
	case *Interpolated:
		return a.shape()
	case *Codes:
		switch {
		case a == nil:
			return fmt.Errorf("design: coded columns are nil")
		case a.D < 1:
			return fmt.Errorf("design: coded columns: %d columns; need at least 1", a.D)
		case a.Value != nil && len(a.Value) != len(a.Code):
			return fmt.Errorf("design: coded columns: %d values for %d codes", len(a.Value), len(a.Code))
		}
	default:
		return fmt.Errorf("design: columns are nil")
	}
	return nil
}

// fault is the error for row i, which begins where no row may.
func (x *Banded) fault(i int) error {
	return fmt.Errorf("design: banded columns: row %d begins in column %d of %d; rows of %d entries begin in 0 to %d", i, x.First[i], x.D, x.K, x.starts()-1)
}

func indexError(kind string, row int, j int32, d int) error {
	return fmt.Errorf("design: %s columns: row %d has an entry in column %d of %d; columns count from 0", kind, row, j, d)
}

// conform checks that a and b have the same rows, that w has one weight for
// each, and that dst is da x db.
func conform(dst *mat.Dense, a, b Columns, w []float64) error {
	if err := shape(a); err != nil {
		return err
	}
	if err := shape(b); err != nil {
		return err
	}
	n, da := a.Dims()
	m, db := b.Dims()
	if n != m {
		return fmt.Errorf("design: product of columns with %d and %d rows", n, m)
	}
	if w != nil && len(w) != n {
		return fmt.Errorf("design: %d weights for %d rows", len(w), n)
	}
	if dst == nil {
		return fmt.Errorf("design: no destination for a %d x %d product", da, db)
	}
	if r, c := dst.Dims(); r != da || c != db {
		return fmt.Errorf("design: destination is %d x %d for a %d x %d product", r, c, da, db)
	}
	return nil
}
