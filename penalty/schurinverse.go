package penalty

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// With D the inverse of A_f, zero for the columns left, and N = [P; -I], all in the problem's
// coordinates,
//
//	A^-1       = D + N T^-1 N'
//	A^-1 m A^-1 = D m D + U N' + N U',   U = (D m N + 1/2 N T^-1 N'm N) T^-1.

// structure is A^-1 where each group is a single column.
func (e *schur) structure() *linalg.Structured {
	n := e.outer()
	rows, _ := n.Dims()
	half := product(n, full(e.below))
	half.Scale(0.5, half)
	out := &linalg.Structured{D: make([]float64, rows), U: half, N: n}
	e.eachInverse(e.start, func(a, _ int, v float64) { out.D[a] = v })
	return out
}

// vp is A^-1.
func (e *schur) vp() *mat.SymDense {
	nt := transposed(e.outer())
	_, rows := nt.Dims()
	out := linalg.Triangle(rows)
	e.eachInverse(e.start, func(a, b int, v float64) { out.SetSym(a, b, v) })
	linalg.AddSymmetric(out, product(full(e.below), nt), nt)
	return out
}

// Sandwich takes a symmetric m to A^-1 m A^-1 with A = X'WX + S where columns of many levels make it a
// matter of p^2 operations for each of the others.
type Sandwich struct {
	schur  *schur
	many   bool                          // what it makes is a linalg.Structured
	expand func(n *mat.Dense) *mat.Dense // N in the coordinates of m; nil: those of the problem
	start  int                           // first of the eliminated columns there
	rows   *fewRows                      // in place of all that; nil: not by these
}

// Sandwich is nil where there is no such way.
func (f *Fit) Sandwich() *Sandwich {
	if f.fewRows != nil && f.Scale > 0 {
		return &Sandwich{rows: f.fewRows}
	}
	if f.schur == nil {
		return nil
	}
	f.schur.outer() // once: who calls Around may do so several times at once
	return &Sandwich{schur: f.schur, start: f.schur.start, many: f.structure != nil}
}

// Eliminated are the columns [lo, hi) of the problem that were eliminated first; 0, 0: none were, and In is not to be called.
func (s *Sandwich) Eliminated() (lo, hi int) {
	if s.rows != nil {
		return 0, 0
	}
	return s.schur.start, s.schur.start + s.schur.n()
}

// In is s in coordinates of which coefficients are T times the problem's, T A^-1 T' m T A^-1 T': expand
// is the product of T and a matrix, and takes the eliminated columns as they are to those from start on.
func (s *Sandwich) In(expand func(*mat.Dense) *mat.Dense, start int) *Sandwich {
	return &Sandwich{schur: s.schur, expand: expand, start: start, many: s.many}
}

// Around is A^-1 m A^-1 + base (nil: 0); the memory of m is used up. Where groups have no products with each other
// and m is told so (linalg.Near) the work is that of the columns left.
func (s *Sandwich) Around(m linalg.Shifted, plus mat.Symmetric) mat.Symmetric {
	if s.many {
		return s.aroundMany(m, plus)
	}
	var base *mat.SymDense
	if !linalg.IsNil(plus) {
		base = linalg.Dense(plus)
	}
	if s.rows != nil {
		out := s.rows.sandwich(m.Sum())
		linalg.AddTriangle(out, base)
		return out
	}
	e, n := s.schur, s.schur.outer()
	if s.expand != nil {
		n = s.expand(n)
	}
	if m.G == nil || !e.groupsApart(m.Near, s.start) {
		whole := m.Sum()
		mn := product(linalg.Mirror(whole), n)
		nmn, d := linalg.TransTimes(n, mn), e.timesD(mn, s.start)
		out := e.aroundGroups(whole, s.start)
		e.addOuter(out, n, d, nmn, nil, nil)
		linalg.AddTriangle(out, base)
		return out
	}
	mn := e.timesNear(m, n)
	nmn, d := linalg.TransTimes(n, mn), e.timesD(mn, s.start)
	rows, _ := n.Dims()
	out := mat.NewSymDense(rows, nil) // half of its pages are never written
	if base != nil {
		linalg.CopyTriangle(out, base)
	}
	e.addApart(out, m.Near)
	timesD := func(x []float64) []float64 { return e.timesD(mat.NewDense(len(x), 1, x), s.start).RawMatrix().Data }
	e.addOuter(out, n, d, nmn, timesD(m.G), timesD(m.C))
	return out
}

// aroundMany is Around where each group is a single column, and m.Near is there.
func (s *Sandwich) aroundMany(m linalg.Shifted, plus mat.Symmetric) mat.Symmetric {
	e, n := s.schur, s.schur.outer()
	if s.expand != nil {
		n = s.expand(n)
	}
	rows, _ := n.Dims()
	mn := e.timesNear(m, n)
	nmn, d := linalg.TransTimes(n, mn), e.timesD(mn, s.start)
	out := &linalg.Structured{D: make([]float64, rows)}
	e.eachInverse(s.start, func(a, _ int, v float64) { out.D[a] = v * v * m.Near.At(a-m.Near.Lo, a-m.Near.Lo) })
	timesD := func(x []float64) []float64 { return e.timesD(mat.NewDense(len(x), 1, x), s.start).RawMatrix().Data }
	u := e.outerHalf(n, d, nmn)
	g, c := timesD(m.G), timesD(m.C)
	for i := range g {
		g[i] = -g[i]
	}
	var left, right mat.Dense
	left.Augment(u, mat.NewDense(rows, 1, g))
	right.Augment(n, mat.NewDense(rows, 1, c))
	out.U, out.N = &left, &right
	return linalg.Plus(out, plus)
}

// timesD is D x, the eliminated columns beginning at start.
func (e *schur) timesD(x *mat.Dense, start int) *mat.Dense {
	rows, q := x.Dims()
	out := mat.NewDense(rows, q, nil)
	e.eachInverse(start, func(a, b int, v float64) { kernel.Axpy(out.RawRowView(a), x.RawRowView(b), v) })
	return out
}

// Shrinkage is Scale A^-1 S A^-1 with A = X'WX + S (p x p), the prior variance of what the
// penalties take from alpha (Nychka 1988; Wood 2017, 6.10), where columns of many
// levels made it a matter of p^2 operations for each of the others. nil elsewhere, or
// without residual: Vp has it then, in p^3.
func (f *Fit) Shrinkage() mat.Symmetric {
	if f.schur == nil && f.fewRows == nil || !(f.Scale > 0) {
		return nil
	}
	if f.structure != nil {
		return f.schur.shrinkageOfMany().Scaled(f.Scale)
	}
	var v *mat.SymDense
	if f.fewRows != nil {
		v = f.fewRows.shrinkage()
	} else {
		v = f.schur.shrinkage()
	}
	v.ScaleSym(f.Scale, v)
	return v
}

// ShrinkageIn is T Shrinkage T' at once, expand being the product of T and a matrix, where that is less than both
// one after the other: if nothing eliminated has a penalty. nil elsewhere.
func (f *Fit) ShrinkageIn(expand func(*mat.Dense) *mat.Dense) *mat.SymDense {
	if f.schur == nil || !(f.Scale > 0) || f.structure != nil || f.schur.penalised() {
		return nil
	}
	return f.schur.shrinkageOfLeft(f.Scale, expand(f.schur.outer()))
}

// shrinkageOfMany is A^-1 S A^-1 where each group is a single column.
func (e *schur) shrinkageOfMany() *linalg.Structured {
	n := e.outer()
	rows, _ := n.Dims()
	out := &linalg.Structured{D: make([]float64, rows), N: n}
	nsn, dsn := mat.NewSymDense(e.q, nil), mat.NewDense(rows, e.q, nil)
	if e.penalised() {
		squares := make([]float64, e.n())
		for i, r := range e.root {
			squares[i] = r * r
			a := e.start + e.column[i]
			kernel.Axpy(dsn.RawRowView(a), e.p[i*e.q:(i+1)*e.q], e.inverse[i]*squares[i]/e.d[i])
			out.D[a] = e.inverse[i] * e.inverse[i] * squares[i] / (e.d[i] * e.d[i])
		}
		weightedGram(nsn, e.p, squares)
	}
	e.left.addRoots(nsn, e.rho)
	out.U = e.outerHalf(n, dsn, full(nsn))
	return out
}

// shrinkage is A^-1 S A^-1.
func (e *schur) shrinkage() *mat.SymDense {
	if !e.penalised() {
		return e.shrinkageOfLeft(1, e.outer())
	}
	e.expand()
	squares := make([]float64, e.n())
	for i, r := range e.root {
		squares[i] = r * r
	}
	nsn := mat.NewSymDense(e.q, nil)
	weightedGram(nsn, e.p, squares)
	e.left.addRoots(nsn, e.rho)
	rows := e.n() + len(e.columns)
	out, dsn := linalg.Triangle(rows), mat.NewDense(rows, e.q, nil)
	for g, at := range e.at {
		lo, hi := e.group(g)
		m := hi - lo
		for i := lo; i < hi; i++ {
			a := e.start + e.column[i]
			for j := lo; j < hi; j++ {
				f := e.inverse[at+(i-lo)*m+j-lo] * squares[j] / e.d[i]
				kernel.Axpy(dsn.RawRowView(a), e.p[j*e.q:(j+1)*e.q], f)
				for l := i; l < hi; l++ {
					b := e.start + e.column[l]
					out.SetSym(a, b, out.At(a, b)+f*e.inverse[at+(j-lo)*m+l-lo]/e.d[l])
				}
			}
		}
	}
	e.addOuter(out, e.outer(), dsn, full(nsn), nil, nil)
	return out
}

// shrinkageOfLeft is shrinkage without penalties on eliminated columns, times scale: N T^-1 S T^-1 N', S being of the others.
func (e *schur) shrinkageOfLeft(scale float64, n *mat.Dense) *mat.SymDense {
	s := mat.NewSymDense(e.q, nil)
	e.left.addRoots(s, e.rho)
	s.ScaleSym(scale, s)
	inverse, nt := full(e.below), transposed(n)
	_, rows := nt.Dims()
	out := linalg.Triangle(rows)
	linalg.AddSymmetric(out, product(product(inverse, product(full(s), inverse)), nt), nt)
	return out
}

// addOuter adds U N' + N U' - g c' - c g' to out, from D m N and N'm N; g nil: without the latter.
func (e *schur) addOuter(out *mat.SymDense, n, dmn, nmn *mat.Dense, g, c []float64) {
	u := e.outerHalf(n, dmn, nmn)
	rows, q := n.Dims()
	if g != nil {
		q++ // -g and c are further columns of U and N
	}
	unu := mat.NewDense(3*q, rows, nil) // U', N', U'
	raw := unu.RawMatrix().Data
	transposeInto(raw, u)
	transposeInto(raw[q*rows:], n)
	if g != nil {
		kernel.Axpy(unu.RawRowView(q-1), g, -1)
		copy(unu.RawRowView(2*q-1), c)
	}
	copy(raw[2*q*rows:], raw[:q*rows])
	linalg.AddSymmetric(out, unu.Slice(0, 2*q, 0, rows).(*mat.Dense), unu.Slice(q, 3*q, 0, rows).(*mat.Dense))
}

// outerHalf is U, from D m N and N'm N.
func (e *schur) outerHalf(n, dmn, nmn *mat.Dense) *mat.Dense {
	inverse := full(e.below)
	half := product(inverse, nmn)
	half.Scale(0.5, half)
	u := product(n, half)
	kernel.Add(u.RawMatrix().Data, u.RawMatrix().Data, dmn.RawMatrix().Data)
	return product(u, inverse)
}

// outer is N, to be read.
func (e *schur) outer() *mat.Dense {
	e.expand()
	if e.across != nil {
		return e.across
	}
	n := mat.NewDense(e.n()+len(e.columns), e.q, nil)
	for i, c := range e.column {
		kernel.Axpy(n.RawRowView(e.start+c), e.p[i*e.q:(i+1)*e.q], 1/e.d[i])
	}
	if e.basis != nil {
		w := e.left.innerBasis()
		for i, c := range e.columns {
			kernel.Axpy(n.RawRowView(c), w.RawRowView(i), -1)
		}
	}
	e.across = n
	return n
}

// eachInverse calls f for each entry of the blocks of D, with its row and column, the eliminated columns
// beginning at start.
func (e *schur) eachInverse(start int, f func(a, b int, v float64)) {
	for g, at := range e.at {
		lo, hi := e.group(g)
		for i := lo; i < hi; i++ {
			for j := lo; j < hi; j++ {
				f(start+e.column[i], start+e.column[j], e.inverse[at+(i-lo)*(hi-lo)+j-lo]/(e.d[i]*e.d[j]))
			}
		}
	}
}

// aroundGroups is D m D, the eliminated columns beginning at start, in the memory of m if the columns of each group are side by side.
func (e *schur) aroundGroups(m *mat.SymDense, start int) *mat.SymDense {
	there, back := sequence(m.SymmetricDim()), sequence(m.SymmetricDim()) // the columns of a group side by side
	for i, c := range e.column {
		there[start+i], back[start+c] = start+c, start+i
	}
	out := m
	if !slices.IsSorted(there) {
		out = reordered(m, there)
	}
	scale := make([]float64, len(there)) // of the columns left: 0
	var blocks []linalg.Block
	for g, at := range e.at {
		lo, hi := e.group(g)
		size := hi - lo
		own := mat.NewDense(size, size, nil)
		for i := range size {
			scale[start+lo+i] = 1
			for j := range size {
				own.Set(i, j, e.inverse[at+i*size+j]/(e.d[lo+i]*e.d[lo+j]))
			}
		}
		if size == 1 {
			scale[start+lo] = own.At(0, 0)
		} else {
			blocks = append(blocks, linalg.Block{At: start + lo, B: own})
		}
	}
	linalg.ScaleBoth(out, scale)
	linalg.Congruence(out, blocks, false)
	if slices.IsSorted(back) {
		return out
	}
	return reordered(out, back)
}

// transposed is x' by rows.
func transposed(x *mat.Dense) *mat.Dense {
	n, q := x.Dims()
	out := mat.NewDense(q, n, nil)
	transposeInto(out.RawMatrix().Data, x)
	return out
}

// transposeInto writes x' by rows, eight rows of x at a time: so many share the lines of the cache that
// they go to.
func transposeInto(dst []float64, x *mat.Dense) {
	n, q := x.Dims()
	raw := x.RawMatrix()
	for lo := 0; lo < n; lo += 8 {
		for j := range q {
			to := dst[j*n+lo : j*n+min(lo+8, n)]
			for l := range to {
				to[l] = raw.Data[(lo+l)*raw.Stride+j]
			}
		}
	}
}

// addRoots adds sum_j lambda_j S_j in the coordinates of the overlaps.
func (c *criterion) addRoots(dst *mat.SymDense, rho []float64) {
	for i := range c.blocks {
		b := &c.blocks[i]
		for l := range b.dim {
			v := 1.0
			if c.overlap[i] == nil {
				diag, _ := c.scaledRoot(b.penalties[0], rho)
				v = diag[l] * diag[l]
			}
			dst.SetSym(b.lo+l, b.lo+l, dst.At(b.lo+l, b.lo+l)+v)
		}
	}
}
