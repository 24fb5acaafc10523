package decompose

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// A covariance (p x p) of moments.bin is written by its numbers on and above the diagonal, by rows, or, of many levels, by those of
// diag(D) + U N' + N U' (linalg.Structured): D (p), k, U (p x k), the number of N's first columns that belong to the
// covariance of the projection, and the other columns of N. Files that have one of the latter are of version 2, in which the kind
// of each covariance stands before it: 0 for the former, 1 for the latter.
const (
	wholeCovariance = 0
	fewNumbers      = 1
)

var errShortMoments = errors.New("decompose: the moments file is cut short")

// levelled tells whether some covariance of r is of many levels.
func (r *Result) levelled() bool {
	for k := range r.Predictors {
		if _, ok := r.Predictors[k].cov.(*linalg.Structured); ok {
			return true
		}
	}
	return false
}

// covariance writes v; with its kind if that is told. before is the covariance of the projection, if v is another one.
func (w *numberWriter) covariance(v, before mat.Symmetric, told bool) {
	many, ok := v.(*linalg.Structured)
	if !ok {
		if told {
			w.count(wholeCovariance)
		}
		dense := linalg.Dense(v)
		for i := range dense.SymmetricDim() {
			w.numbers(upperRow(dense, i)...)
		}
		return
	}
	w.count(fewNumbers)
	w.numbers(many.D...)
	_, k := many.U.Dims()
	w.count(k)
	w.rows(many.U, 0)
	shared := 0
	if other, ok := before.(*linalg.Structured); ok {
		if _, n := other.N.Dims(); n <= k && linalg.SameColumns(many.N, other.N) {
			shared = n
		}
	}
	w.count(shared)
	w.rows(many.N, shared)
}

// rows writes the rows of x from a column on.
func (w *numberWriter) rows(x *mat.Dense, from int) {
	n, _ := x.Dims()
	for i := range n {
		w.numbers(x.RawRowView(i)[from:]...)
	}
}

// dense reads n rows of k numbers; nil: the file is cut short.
func (in *numberReader) dense(n, k int) *mat.Dense {
	if k == 0 || n > len(in.rest)/8/k {
		in.short = true
		return nil
	}
	return mat.NewDense(n, k, in.numbers(n*k))
}

// covariance reads one of p > 0 columns; nil: the file is cut short.
func (in *numberReader) covariance(p int, before mat.Symmetric, told bool) mat.Symmetric {
	if !told || in.count() == wholeCovariance {
		if p+1 > 2*(len(in.rest)/8)/p {
			in.short = true
			return nil
		}
		v := mat.NewSymDense(p, nil)
		for i := range p {
			in.into(upperRow(v, i))
		}
		return v
	}
	out := &linalg.Structured{D: in.numbers(p)}
	k := in.count()
	out.U = in.dense(p, k)
	shared := in.count()
	if in.short || shared > k {
		in.short = true
		return nil
	}
	if shared == 0 {
		out.N = in.dense(p, k)
		return out
	}
	other, ok := before.(*linalg.Structured)
	if !ok || other.N.RawMatrix().Rows != p || other.N.RawMatrix().Cols != shared {
		in.short = true
		return nil
	}
	if out.N = other.N; shared < k {
		rest := in.dense(p, k-shared)
		if in.short {
			return nil
		}
		out.N = new(mat.Dense)
		out.N.Augment(other.N, rest)
	}
	return out
}
