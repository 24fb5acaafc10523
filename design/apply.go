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
	clear(dst)
	return entriesOf(a).each(func(i, j int, v float64) { dst[i] += v * beta[j] })
}

// AddSums adds the unweighted column sums of a (n x d) to dst (d), in row order.
func AddSums(dst []float64, a Columns) error {
	if err := shape(a); err != nil {
		return err
	}
	n, d := a.Dims()
	if len(dst) != d {
		return fmt.Errorf("design: %d sums for %d columns", len(dst), d)
	}
	if a, ok := a.(Dense); ok {
		m := a.RawMatrix()
		for i := range n {
			kernel.Add(dst, dst, m.Data[i*m.Stride:][:d])
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
	e := entriesOf(a)
	for i := range n {
		s := 0.0
		for l := i * e.k; l < (i+1)*e.k; l++ {
			if !e.skip || e.index[l] >= 0 {
				s += math.Abs(e.at(l))
			}
		}
		norm = max(norm, s)
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
	for l, j := range e.index {
		if uint(j) >= uint(e.d) {
			if err := e.outside(l); err != nil {
				return err
			}
			continue
		}
		f(l/e.k, int(j), e.at(l))
	}
	return nil
}
