package penalty

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// coordinate is that of column i of penalty j's block: eliminated ones come first.
func (c *criterion) coordinate(j, i int) int {
	e := c.schur
	switch {
	case e == nil:
		return c.blocks[c.penalties[j].block].lo + i
	case e.members[j] != nil:
		return e.members[j][i]
	}
	return e.n() + e.left.coordinate(e.leftOf[j], i)
}

// ownProduct is the entry of coordinate i on the diagonal of X'WX.
func (c *criterion) ownProduct(i int) float64 {
	if c.schur == nil || i >= c.schur.n() {
		return c.between(i, i)
	}
	f := c.schur.eliminated
	g, _ := slices.BinarySearch(f.lo, i+1)
	lo, hi := f.group(g - 1)
	return f.gram[f.at[g-1]+(i-lo)*(hi-lo+1)] - f.mean[i]*f.mean[i]
}

// between is an entry of X'WX, of coordinates that were not eliminated.
func (c *criterion) between(i, j int) float64 {
	if c.schur == nil {
		return c.gram.At(i, j)
	}
	return c.schur.base.At(i-c.schur.n(), j-c.schur.n())
}

// covariances are A^-1 and A^-1 X'WX A^-1 in the problem's coordinates, xx being X'WX there,
// from the inverse; no ve if it is not wanted.
func (c *criterion) covariances(p *Problem) (vp, ve *mat.SymDense) {
	xx := p.dense()
	if c.schur != nil {
		vp = c.schur.vp()
		if !c.withoutVe {
			ve = linalg.Dense((&Sandwich{schur: c.schur, start: c.schur.start}).Around(linalg.Shifted{M: reordered(xx, sequence(xx.SymmetricDim()))}, nil))
		}
		return vp, ve
	}
	vp = c.basis.around(c.inverse, c.overlaps(), c.crossed && c.withoutVc) // nobody asks for the inverse again
	if !c.withoutVe {
		ve = sandwich(full(vp), xx)
	}
	return vp, ve
}

// coefficients sets dst to alpha of response r in the problem's coordinates.
func (c *criterion) coefficients(dst []float64, r int) {
	alpha := c.at[r].alpha
	if e := c.schur; e != nil {
		own := make([]float64, len(e.columns))
		if e.basis != nil {
			e.basis.times(own, alpha[e.n():e.n()+e.basis.q])
		}
		e.place(dst, alpha, own)
		return
	}
	c.basis.times(dst, alpha)
}

// place sets dst, in the order of the problem's columns, to f/d, by position, and to s.
func (f *eliminated) place(dst, alpha, s []float64) {
	for i, c := range f.column {
		dst[f.start+c] = alpha[i] / f.d[i]
	}
	for i, c := range f.columns {
		dst[c] = s[i]
	}
}

// inverseTimes is A^-1 x in the problem's coordinates, x in those of the overlaps.
func (c *criterion) inverseTimes(x *mat.Dense) *mat.Dense {
	if c.schur == nil {
		return product(c.innerBasis(), product(full(c.inverse), x))
	}
	e := c.schur
	rows, width := x.Dims()
	dst := mat.NewDense(len(c.kept), width, nil)
	p, pt := mat.NewDense(e.n(), e.q, e.p), mat.NewDense(e.n(), e.q, e.pt)
	f, s := x.Slice(0, e.n(), 0, width), x.Slice(e.n(), rows, 0, width)
	var up, own, left mat.Dense
	up.Mul(p.T(), f)
	up.Sub(&up, s) // N'x, A^-1 being that of A_f and N T^-1 N' with N = [P; -I]
	own.Mul(pt, &up)
	left.Mul(e.below, &up)
	left.Scale(-1, &left)
	var others mat.Dense
	if e.basis != nil {
		w := e.left.innerBasis()
		_, q := w.Dims()
		others.Mul(w, left.Slice(0, q, 0, width))
	}
	for g, at := range e.at {
		lo, hi := e.group(g)
		block := mat.NewDense(hi-lo, hi-lo, e.inverse[at:at+(hi-lo)*(hi-lo)])
		var part mat.Dense
		part.Mul(block, x.Slice(lo, hi, 0, width))
		rows := own.Slice(lo, hi, 0, width).(*mat.Dense)
		rows.Add(rows, &part)
	}
	column := make([]float64, len(c.kept))
	for j := range width {
		var s []float64
		if !others.IsEmpty() {
			s = mat.Col(nil, j, &others)
		}
		e.place(column, mat.Col(nil, j, &own), s)
		dst.SetCol(j, column)
	}
	return dst
}
