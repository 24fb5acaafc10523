package penalty

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// basis is the matrix W = D^-1 U P (n x q) of alpha = W b. P takes coordinates, penalised ones
// first, to the columns of their terms, U turns each term's, and D are the columns' scales.
type basis struct {
	n, q      int
	order     []int // n: the places of the coordinates in P
	penalised int
	keep      *mat.Dense     // P takes those directions of the others, in columns; nil: all as they are, or none
	blocks    []linalg.Block // of U; what no block covers is the identity
	scale     []float64      // diagonal of D^-1
}

// placed is P x (n x anything).
func (w *basis) placed(x *mat.Dense) *mat.Dense {
	_, m := x.Dims()
	y := mat.NewDense(w.n, m, nil)
	for i, at := range w.order[:w.penalised] {
		y.SetRow(at, x.RawRowView(i))
	}
	if w.q == w.penalised {
		return y
	}
	rest := x.Slice(w.penalised, w.q, 0, m).(*mat.Dense)
	if w.keep != nil {
		rest = product(w.keep, mat.DenseCopyOf(rest))
	}
	for i, at := range w.order[w.penalised:] {
		y.SetRow(at, rest.RawRowView(i))
	}
	return y
}

// turned overwrites y (n x anything) with U y.
func (w *basis) turned(y *mat.Dense) *mat.Dense {
	_, m := y.Dims()
	for _, b := range w.blocks {
		d, _ := b.B.Dims()
		rows := y.Slice(b.At, b.At+d, 0, m).(*mat.Dense)
		rows.Copy(product(b.B, mat.DenseCopyOf(rows)))
	}
	return y
}

// times sets dst (n) to W x.
func (w *basis) times(dst, x []float64) {
	y := w.turned(w.placed(mat.NewDense(w.q, 1, x)))
	floats.MulTo(dst, y.RawMatrix().Data, w.scale)
}

// transposed sets dst (q) to W'x.
func (w *basis) transposed(dst, x []float64) {
	scaled, y := make([]float64, w.n), make([]float64, w.n)
	floats.MulTo(scaled, x, w.scale)
	copy(y, scaled)
	for _, b := range w.blocks {
		d, _ := b.B.Dims()
		mat.NewVecDense(d, y[b.At:b.At+d]).MulVec(b.B.T(), mat.NewVecDense(d, scaled[b.At:b.At+d]))
	}
	for i, at := range w.order[:w.penalised] {
		dst[i] = y[at]
	}
	rest := make([]float64, w.n-w.penalised)
	for i, at := range w.order[w.penalised:] {
		rest[i] = y[at]
	}
	switch {
	case w.q == w.penalised:
	case w.keep == nil:
		copy(dst[w.penalised:], rest)
	default:
		mat.NewVecDense(w.q-w.penalised, dst[w.penalised:w.q]).MulVec(w.keep.T(), mat.NewVecDense(len(rest), rest))
	}
}

// dense is W itself.
func (w *basis) dense() *mat.Dense {
	one := mat.NewDense(w.q, w.q, nil)
	for i := range w.q {
		one.Set(i, i, 1)
	}
	x := w.turned(w.placed(one))
	for i, scale := range w.scale {
		floats.Scale(scale, x.RawRowView(i))
	}
	return x
}

// ordered is P'gP.
func (w *basis) ordered(g *mat.SymDense) *mat.SymDense {
	if w.q == w.n {
		return reordered(g, w.order)
	}
	one := mat.NewDense(w.q, w.q, nil)
	for i := range w.q {
		one.Set(i, i, 1)
	}
	t := w.placed(one)
	return symmetric(product(mat.DenseCopyOf(t.T()), product(full(g), t)))
}

// around is W T v T'W' for the block diagonal T of some of the penalised coordinates; in the memory of v if that is own and its order
// is the columns'.
func (w *basis) around(v *mat.SymDense, t []linalg.Block, own bool) *mat.SymDense {
	if w.q < w.n {
		own := mat.NewSymDense(w.q, nil)
		own.CopySym(v)
		linalg.Congruence(own, t, false)
		return sandwich(w.dense(), own)
	}
	place := make([]int, w.n) // the coordinate that each column is
	for i, a := range w.order {
		place[a] = i
	}
	out := v
	if !own || !slices.IsSorted(place) {
		out = reordered(v, place)
	}
	for i := range t { // the columns of a block are neighbours in P, too
		t[i].At = w.order[t[i].At]
	}
	linalg.Congruence(out, t, false)
	linalg.Congruence(out, w.blocks, false)
	linalg.ScaleBoth(out, w.scale)
	return out
}
