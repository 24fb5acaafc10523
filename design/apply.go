package design

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// MulVec sets dst = a beta: dst (n) is overwritten, a (n x d), beta (d).
func MulVec(dst []float64, a Columns, beta []float64) error {
	if err := shape(a); err != nil {
		return err
	}
	n, d := a.Dims()
	if len(dst) != n || len(beta) != d {
		return fmt.Errorf("design: %d x %d columns times %d coefficients into %d rows", n, d, len(beta), len(dst))
	}
	if a, ok := a.(Dense); ok {
		m := a.RawMatrix()
		kernel.MulColumn(dst, m.Data, m.Stride, n, beta)
		return nil
	}
	switch a := a.(type) {
	case *Banded:
		if cubic(a) && !a.Cyclic {
			return mulBand(dst, a, beta)
		}
	case *Interpolated:
		return a.mulVec(dst, beta)
	case *Sparse:
		return mulSparse(dst, a, beta)
	case *Product:
		return mulProduct(dst, a, beta)
	}
	clear(dst)
	return entriesOf(a).each(func(i, j int, v float64) { dst[i] += v * beta[j] })
}

func mulBand(dst []float64, a *Banded, beta []float64) error {
	if i := kernel.MulBand(dst, a.First, a.Value, beta); i < len(a.First) {
		return a.fault(i)
	}
	return nil
}

// mulProduct takes beta for a matrix with a row for each column of a.A.
func mulProduct(dst []float64, a *Product, beta []float64) error {
	clear(dst)
	i := kernel.AddBilinear(dst, beta, a.B.D, a.A.D, a.B.D, a.A.First, a.A.Value, a.B.First, a.B.Value)
	if i < len(dst) {
		return a.fault(i)
	}
	return nil
}

func mulSparse(dst []float64, a *Sparse, beta []float64) error {
	for i := range dst {
		value, sum := a.Value[i*a.K:][:a.K], 0.0
		for l, j := range a.Index[i*a.K:][:a.K] {
			if uint(j) >= uint(len(beta)) {
				return indexError("sparse", i, j, a.D)
			}
			sum += value[l] * beta[j]
		}
		dst[i] = sum
	}
	return nil
}

// AddSums adds the unweighted column sums of a (n x d) to dst (d), in row order.
func (k *Work) AddSums(dst []float64, a Columns) error {
	if err := shape(a); err != nil {
		return err
	}
	n, d := a.Dims()
	if len(dst) != d {
		return fmt.Errorf("design: %d sums for %d columns", len(dst), d)
	}
	if a, ok := a.(Dense); ok {
		m := a.RawMatrix()
		if d == 1 && m.Stride == 1 { // a product with ones has nothing to add side by side
			s := dst[0]
			for _, v := range m.Data[:n] {
				s += v
			}
			dst[0] = s
			return nil
		}
		k.one[0] = 1
		kernel.AddCross(dst, 1, m.Data, m.Stride, d, k.one[:], 0, 1, n, nil)
		return nil
	}
	if a, ok := a.(*Interpolated); ok {
		return a.addSums(dst)
	}
	if a, ok := a.(*Codes); ok && a.Value == nil {
		for i, j := range a.Code {
			if uint(j) < uint(d) {
				dst[j]++
			} else if j >= 0 {
				return indexError("coded", i, j, d)
			}
		}
		return nil
	}
	return entriesOf(a).each(func(_, j int, v float64) { dst[j] += v })
}

// MaxRowNorm returns the maximum over rows of sum_j |a_ij|, 0 without rows, NaN if a
// sum is not finite: of columns that hold a NaN or an infinity, or too large numbers.
// Of columns that Check refuses it returns a number without meaning.
func MaxRowNorm(a Columns) float64 {
	if shape(a) != nil {
		return 0
	}
	switch a := a.(type) {
	case Dense:
		return denseNorm(a)
	case *Banded:
		if cubic(a) {
			return kernel.BandNorm(a.Value)
		}
	case *Product:
		return a.norm()
	case *Interpolated:
		return a.norm()
	case *Codes:
		if a.Value == nil {
			for _, j := range a.Code {
				if j >= 0 {
					return 1
				}
			}
			return 0
		}
	}
	e := entriesOf(a)
	if !e.skip {
		return largestSize(e.value, e.k, e.k, e.rows())
	}
	norm := 0.0
	for i, v := range e.value {
		s := math.Abs(v)
		if e.index[i] < 0 { // no entry, but its number must be one
			s = 0 * v
		}
		norm = max(norm, s+(s-s)) // NaN stays
	}
	return norm
}

// denseNorm is MaxRowNorm of dense columns.
func denseNorm(a Dense) float64 {
	m := a.RawMatrix()
	if m.Cols == 1 && m.Stride == 1 && m.Rows > 0 {
		lo, hi, finite := kernel.Bounds(m.Data[:m.Rows])
		if !finite {
			return math.NaN()
		}
		return max(math.Abs(lo), math.Abs(hi))
	}
	return largestSize(m.Data, m.Stride, m.Cols, m.Rows)
}

// largestSize is the largest 1-norm of n rows of k values, NaN if one is not finite.
func largestSize(v []float64, stride, k, n int) float64 {
	const block = 64
	var sizes [block]float64
	norm := 0.0
	for i := 0; i < n; i += block {
		some := sizes[:min(block, n-i)]
		kernel.RowSizes(some, v[i*stride:], stride, k)
		_, largest, finite := kernel.Bounds(some)
		if !finite {
			return math.NaN()
		}
		norm = max(norm, largest)
	}
	return norm
}

// ToDense overwrites dst (n x d) with a.
func ToDense(dst *mat.Dense, a Columns) error {
	if err := shape(a); err != nil {
		return err
	}
	n, d := a.Dims()
	if dst == nil {
		return fmt.Errorf("design: no destination for %d x %d columns", n, d)
	}
	if r, c := dst.Dims(); r != n || c != d {
		return fmt.Errorf("design: destination is %d x %d for %d x %d columns", r, c, n, d)
	}
	if a, ok := a.(Dense); ok {
		dst.Copy(a.Dense)
		return nil
	}
	m := dst.RawMatrix()
	if a, ok := a.(*Interpolated); ok {
		for i := range n {
			a.row(m.Data[i*m.Stride:][:d], i)
		}
		return nil
	}
	for i := range n {
		clear(m.Data[i*m.Stride:][:d])
	}
	return entriesOf(a).each(func(i, j int, v float64) { m.Data[i*m.Stride+j] += v })
}

// Each calls f with the row, column and value of every entry of a, row after row. Of Dense columns every value is an entry.
func Each(a Columns, f func(i, j int, v float64)) error {
	if err := shape(a); err != nil {
		return err
	}
	if a, ok := a.(Dense); ok {
		n, _ := a.Dims()
		for i := range n {
			for j, v := range a.RawRowView(i) {
				f(i, j, v)
			}
		}
		return nil
	}
	return entriesOf(a).each(f)
}

// CopyRow overwrites dst (d) with row i of a, whose columns Check has passed.
func CopyRow(dst []float64, a Columns, i int) {
	clear(dst)
	switch a := a.(type) {
	case Dense:
		copy(dst, a.RawRowView(i))
	case *Sparse:
		for l := i * a.K; l < (i+1)*a.K; l++ {
			dst[a.Index[l]] += a.Value[l]
		}
	case *Banded:
		for l, v := range a.Value[i*a.K:][:a.K] {
			dst[(int(a.First[i])+l)%a.D] += v
		}
	case *Codes:
		if j := a.Code[i]; j >= 0 {
			dst[j] = at(a.Value, i)
		}
	case *Interpolated:
		a.row(dst, i)
	case *Product:
		var index [kernel.Band * kernel.Band]int32
		var value [kernel.Band * kernel.Band]float64
		a.row(&index, &value, i)
		for l, j := range index {
			dst[j] = value[l]
		}
	}
}

// each calls f with the row, column and value of every entry in row order.
func (e entries) each(f func(i, j int, v float64)) error {
	if e.band != nil {
		return e.band.each(f)
	}
	for i := range e.rows() {
		index, value, err := e.row(i)
		if err != nil {
			return err
		}
		for l, j := range index {
			f(i, int(j), at(value, l))
		}
	}
	return nil
}

func (x *Banded) each(f func(i, j int, v float64)) error {
	for i, first := range x.First {
		if uint(first) >= uint(x.starts()) {
			return x.fault(i)
		}
		for l, v := range x.Value[i*x.K:][:x.K] {
			j := int(first) + l
			if j >= x.D {
				j -= x.D
			}
			f(i, j, v)
		}
	}
	return nil
}
