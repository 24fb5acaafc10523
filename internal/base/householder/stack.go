// Package householder finds the triangular factor R of stacked rows by blocked Householder
// reflections (Golub and Van Loan 2013, sections 5.1 and 5.2). The relative errors of R
// are, column by column, those of the rows; a gram matrix X'X has those of their squares.
package householder

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/internal/base/kernel"
)

// panel is the number of columns that are eliminated one by one before the rest
// is updated by matrix products.
const panel = 24

// tiny is the sum of squares below which a column counts as zero, because its reflector
// would leave the range of float64.
const tiny = 0x1p-1000

// Work is memory that calls of Stack reuse; the zero value is ready.
type Work struct{ columns, rows, top, t, minus []float64 }

// Stack replaces r (n x n upper triangular, row-major, dense; below the diagonal
// it is neither read nor written) by the triangular factor of [r; a]: afterwards
// r'r is what r'r + a'a was. a has m rows at stride lda and is destroyed. Values
// that are not finite make r not finite.
//
// In columns up to j only the first min(m, head+j+1) rows of a may differ from
// zero: head is m for rows of any kind, and k for k rows on top of a triangle.
//
// On one instruction set the result depends on r and a alone. The signs of the rows of r
// are not normalised.
func Stack(r []float64, n int, a []float64, lda, m, head int, w *Work) {
	w.reserve(n, m)
	for j := 0; j < n; j += panel {
		k := min(panel, n-j)
		rows := min(m, head+j+k)
		if rows == 0 {
			continue
		}
		w.eliminate(r, n, a, lda, rows, j, k)
		if right := n - j - k; right > 0 {
			w.update(r, n, a, lda, rows, j, k, right)
		}
	}
}

func (w *Work) reserve(n, m int) {
	grow := func(s *[]float64, size int) {
		if cap(*s) < size {
			*s = make([]float64, size)
		}
		*s = (*s)[:size]
	}
	grow(&w.columns, panel*m)
	grow(&w.rows, panel*m)
	grow(&w.top, panel*n)
	grow(&w.t, panel*panel)
	if w.minus == nil {
		w.minus = make([]float64, panel)
		for i := range w.minus {
			w.minus[i] = -1
		}
	}
}

// eliminate reflects columns j to j+k of the rows of a into rows j to j+k of r.
// The reflector of column j+i is 1 in row j+i of r and v_i in the rows of a:
// w.columns holds v_i one after another, w.rows the same by rows, w.t the T of the
// block reflector I - V T V'.
func (w *Work) eliminate(r []float64, n int, a []float64, lda, m, j, k int) {
	v := func(i int) []float64 { return w.columns[i*m : (i+1)*m] }
	for row := range m {
		for i, x := range a[row*lda+j:][:k] {
			w.columns[i*m+row] = x
		}
	}
	t := w.t[:k*k]
	clear(t)
	for i := range k {
		vi, ri := v(i), r[(j+i)*n:]
		squares := floats.Dot(vi, vi)
		if squares < tiny {
			clear(vi) // tau = 0: nothing to reflect
			continue
		}
		alpha := ri[j+i]
		beta := -math.Copysign(math.Hypot(alpha, math.Sqrt(squares)), alpha)
		tau := (beta - alpha) / beta
		ri[j+i] = beta
		floats.Scale(1/(alpha-beta), vi)
		for l := i + 1; l < k; l++ {
			s := tau * (ri[j+l] + floats.Dot(vi, v(l)))
			ri[j+l] -= s
			floats.AddScaled(v(l), -s, vi)
		}
		// Column i of T: -tau T (V'v_i) above the diagonal. The ones of different
		// reflectors are in different rows.
		t[i*k+i] = tau
		for l := range i {
			s := -tau * floats.Dot(v(l), vi)
			for h := range l + 1 {
				t[h*k+i] += t[h*k+l] * s
			}
		}
	}
	for i := range k {
		for row, x := range v(i) {
			w.rows[row*k+i] = x
		}
	}
}

// update applies I - V T'V' to the columns right of the panel.
func (w *Work) update(r []float64, n int, a []float64, lda, m, j, k, right int) {
	from := j + k
	top := w.top[:k*right]
	row := func(i int) []float64 { return top[i*right : (i+1)*right] }
	for i := range k {
		copy(row(i), r[(j+i)*n+from:])
	}
	kernel.AddCross(top, right, w.rows, k, k, a[from:], lda, right, m, nil)
	for i := k - 1; i >= 0; i-- { // T'times it, from the last row
		floats.Scale(w.t[i*k+i], row(i))
		for l := range i {
			floats.AddScaled(row(i), w.t[l*k+i], row(l))
		}
	}
	for i := range k {
		floats.Sub(r[(j+i)*n+from:][:right], row(i))
	}
	kernel.AddCross(a[from:], lda, w.columns, m, m, top, right, right, k, w.minus[:k])
}
