package decompose

import (
	"encoding/binary"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// A covariance (p x p) of moments.bin is written by its numbers on and above the diagonal, by rows, or, of many levels, by those of
// diag(D) + U N' + N U' (linalg.Structured): D (p), k, U (p x k), how many of N's first columns are those of the covariance
// of the projection, and the others (p x what is left). Files that have one of the latter are of version 2, in which the kind
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

// numberReader reads what a numberWriter wrote. After a fault all it gives is 0.
type numberReader struct {
	left  []byte
	short bool
}

func (r *numberReader) word() uint64 {
	if len(r.left) < 8 {
		r.short = true
		return 0
	}
	v := binary.LittleEndian.Uint64(r.left)
	r.left = r.left[8:]
	return v
}

func (r *numberReader) number() float64 { return math.Float64frombits(r.word()) }

// holds tells whether so many numbers are left, rows times columns.
func (r *numberReader) holds(rows, columns uint64) bool {
	left := uint64(len(r.left) / 8)
	if columns > 0 && rows > left/columns {
		r.short = true
	}
	return !r.short
}

func (r *numberReader) rows(n, k int) *mat.Dense {
	if !r.holds(uint64(n), uint64(k)) {
		return nil
	}
	x := mat.NewDense(n, k, nil)
	data := x.RawMatrix().Data
	for i := range data {
		data[i] = r.number()
	}
	return x
}

// covariance reads one of p > 0 columns; nil: the file is cut short.
func (r *numberReader) covariance(p int, before mat.Symmetric, told bool) mat.Symmetric {
	if !told || r.word() == wholeCovariance {
		if half := uint64(p) * uint64(p+1) / 2; !r.holds(half, 1) {
			return nil
		}
		v := mat.NewSymDense(p, nil)
		for i := range p {
			for j := i; j < p; j++ {
				v.SetSym(i, j, r.number())
			}
		}
		return v
	}
	d := r.rows(1, p)
	k := r.word()
	if r.short || k == 0 || !r.holds(uint64(p), k) {
		r.short = true
		return nil
	}
	out := &linalg.Structured{D: d.RawMatrix().Data, U: r.rows(p, int(k))}
	shared := r.word()
	if r.short || shared > k {
		r.short = true
		return nil
	}
	if shared == 0 {
		out.N = r.rows(p, int(k))
		return out
	}
	other, ok := before.(*linalg.Structured)
	if !ok || other.N.RawMatrix().Rows != p || other.N.RawMatrix().Cols != int(shared) {
		r.short = true
		return nil
	}
	if out.N = other.N; shared < k {
		rest := r.rows(p, int(k-shared))
		if r.short {
			return nil
		}
		out.N = new(mat.Dense)
		out.N.Augment(other.N, rest)
	}
	if r.short {
		return nil
	}
	return out
}
