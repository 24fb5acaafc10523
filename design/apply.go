package design

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
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
		for i := range dst {
			dst[i] = kernel.Dot(m.Data[i*m.Stride:][:d], beta)
		}
		return nil
	}
	if a, ok := a.(*Banded); ok && cubic(a) && !a.Cyclic {
		return mulBand(dst, a, beta)
	}
	clear(dst)
	return entriesOf(a).each(func(i, j int, v float64) { dst[i] += v * beta[j] })
}

func mulBand(dst []float64, a *Banded, beta []float64) error {
	for i, first := range a.First {
		if uint(first) >= uint(a.starts()) {
			return a.fault(i)
		}
		b, v := beta[first:][:kernel.Band], a.Value[i*kernel.Band:][:kernel.Band]
		dst[i] = v[0]*b[0] + v[1]*b[1] + v[2]*b[2] + v[3]*b[3]
	}
	return nil
}

// AddSums adds the unweighted column sums of a (n x d) to dst (d), in row order.
func AddSums(dst []float64, a Columns) error { return new(Work).AddSums(dst, a) }

// AddSums is the function of that name, without allocations.
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
		k.one[0] = 1
		kernel.AddCross(dst, 1, m.Data, m.Stride, d, k.one[:], 0, 1, n, nil)
		return nil
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

// MaxRowNorm returns the maximum over rows of sum_j |a_ij|, 0 without rows. Of
// columns that Check refuses it returns a number without meaning.
func MaxRowNorm(a Columns) float64 {
	if shape(a) != nil {
		return 0
	}
	n, d := a.Dims()
	norm := 0.0
	if a, ok := a.(Dense); ok {
		m := a.RawMatrix()
		for i := range n {
			s := 0.0
			for _, v := range m.Data[i*m.Stride:][:d] {
				s += math.Abs(v)
			}
			norm = max(norm, s)
		}
		return norm
	}
	if a, ok := a.(*Banded); ok && cubic(a) {
		return kernel.BandNorm(a.Value)
	}
	if a, ok := a.(*Codes); ok && a.Value == nil {
		for _, j := range a.Code {
			if j >= 0 {
				return 1
			}
		}
		return 0
	}
	e := entriesOf(a)
	for i := range n {
		s := 0.0
		switch {
		case e.value == nil || e.skip && e.index[i] < 0:
		default:
			for _, v := range e.value[i*e.k:][:e.k] {
				s += math.Abs(v)
			}
		}
		if s > norm {
			norm = s
		}
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
	for i := range n {
		clear(m.Data[i*m.Stride:][:d])
	}
	return entriesOf(a).each(func(i, j int, v float64) { m.Data[i*m.Stride+j] += v })
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
