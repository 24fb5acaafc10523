package interaction

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// semidefinite is A = L L' on the rows and columns kept, of a positive semidefinite A: a
// Cholesky factor with pivots, which stops where nothing is left. q'A^-q and tr(A^-B) are
// the same for any generalised inverse if q and B lie in the range of A.
type semidefinite struct {
	kept []int
	l    []float64 // len(kept) x len(kept), row by row, lower triangle
}

// factorised factors the n x n matrix a, of which it takes the lower triangle and keeps
// nothing. A direction is left out if what remains of its diagonal entry is at most
// tolerance times reference, its size before others were taken out of it.
func factorised(a []float64, n int, reference []float64, tolerance float64) *semidefinite {
	rest := make([]float64, n)
	for i := range rest {
		rest[i] = a[i*n+i]
	}
	rows := make([][]float64, 0, n) // columns of L by pivot: their entries for all of a's rows
	s := &semidefinite{}
	for range n {
		pivot, best := -1, tolerance
		for i, v := range rest {
			if reference[i] > 0 && v/reference[i] > best {
				pivot, best = i, v/reference[i]
			}
		}
		if pivot < 0 {
			break
		}
		root := math.Sqrt(rest[pivot])
		column := make([]float64, n)
		for i := range n {
			column[i] = a[max(i, pivot)*n+min(i, pivot)]
		}
		for _, c := range rows {
			kernel.Axpy(column, c, -c[pivot])
		}
		for i := range column {
			column[i] /= root
		}
		rows, s.kept = append(rows, column), append(s.kept, pivot)
		for i := range rest {
			rest[i] -= column[i] * column[i]
		}
		rest[pivot] = 0
	}
	m := len(s.kept)
	s.l = make([]float64, m*m)
	for j, c := range rows {
		for i := j; i < m; i++ {
			s.l[i*m+j] = c[s.kept[i]]
		}
	}
	return s
}

func (s *semidefinite) rank() int { return len(s.kept) }

// forward solves L y = b, for the kept entries of b, in place of y.
func (s *semidefinite) forward(y []float64) {
	m := len(s.kept)
	for i := range m {
		v := y[i]
		for j, l := range s.l[i*m : i*m+i] {
			v -= l * y[j]
		}
		y[i] = v / s.l[i*m+i]
	}
}

// backward solves L' x = y in place.
func (s *semidefinite) backward(y []float64) {
	m := len(s.kept)
	for i := m - 1; i >= 0; i-- {
		v := y[i]
		for j := i + 1; j < m; j++ {
			v -= s.l[j*m+i] * y[j]
		}
		y[i] = v / s.l[i*m+i]
	}
}

// pick is the kept entries of b.
func (s *semidefinite) pick(b []float64) []float64 {
	y := make([]float64, len(s.kept))
	for i, at := range s.kept {
		y[i] = b[at]
	}
	return y
}

// solve is A^- b for the kept entries of b, in their order.
func (s *semidefinite) solve(b []float64) []float64 {
	y := s.pick(b)
	s.forward(y)
	s.backward(y)
	return y
}

// solved is A^- B for the rows of B that are kept, in their order: solve of each column, of
// all at once.
func (s *semidefinite) solved(b *mat.Dense) *mat.Dense {
	m := len(s.kept)
	y := mat.DenseCopyOf(b)
	for i := range m {
		row := y.RawRowView(i)
		for j, l := range s.l[i*m : i*m+i] {
			kernel.Axpy(row, y.RawRowView(j), -l)
		}
		floats.Scale(1/s.l[i*m+i], row)
	}
	for i := m - 1; i >= 0; i-- {
		row := y.RawRowView(i)
		for j := i + 1; j < m; j++ {
			kernel.Axpy(row, y.RawRowView(j), -s.l[j*m+i])
		}
		floats.Scale(1/s.l[i*m+i], row)
	}
	return y
}

// quadratic is q'A^-q.
func (s *semidefinite) quadratic(q []float64) float64 {
	y := s.pick(q)
	s.forward(y)
	sum := 0.0
	for _, v := range y {
		sum += v * v
	}
	return sum
}

// trace is tr(A^-B), B being n x n.
func (s *semidefinite) trace(b []float64, n int) float64 {
	if s.rank() == 0 {
		return 0
	}
	rows := mat.NewDense(s.rank(), n, nil)
	for i, at := range s.kept {
		rows.SetRow(i, b[at*n:][:n])
	}
	sum, x := 0.0, s.solved(rows)
	for i, at := range s.kept {
		sum += x.At(i, at)
	}
	return sum
}
