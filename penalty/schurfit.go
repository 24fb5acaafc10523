package penalty

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
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
func (c *criterion) covariances(xx *mat.SymDense) (vp, ve *mat.SymDense) {
	if c.schur != nil {
		v := c.schur.vp()
		vp = c.schur.placed(v)
		if !c.withoutVe {
			ve = c.schur.placed(c.schur.ve(v, xx))
		}
		return vp, ve
	}
	vp = c.basis.around(c.inverse, c.overlaps())
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

// bordered is a symmetric matrix of the problem's columns: the eliminated ones by position,
// then those left.
type bordered struct {
	ff, sf, ss *mat.Dense // ss and sf: nil if none is left
}

// vp is A^-1 in the problem's coordinates.
func (e *schur) vp() *bordered {
	n := e.n()
	p, pt := e.scaled(e.p), e.scaled(e.pt)
	v := &bordered{ff: productTrans(pt, p)}
	e.addGroups(v.ff)
	if e.basis != nil {
		w := e.left.innerBasis()
		_, q := w.Dims()
		v.sf = productTrans(w, mat.DenseCopyOf(pt.Slice(0, n, 0, q)))
		v.sf.Scale(-1, v.sf)
		v.ss = productTrans(product(w, mat.DenseCopyOf(full(e.below).Slice(0, q, 0, q))), w)
	}
	return v
}

// scaled is x, n x q by rows, with its rows divided by d.
func (e *schur) scaled(x []float64) *mat.Dense {
	y := mat.NewDense(e.n(), e.q, nil)
	for i, d := range e.d {
		row := y.RawRowView(i)
		for c, v := range x[i*e.q : (i+1)*e.q] {
			row[c] = v / d
		}
	}
	return y
}

// addGroups adds A_f^-1 in the problem's coordinates.
func (e *schur) addGroups(dst *mat.Dense) {
	for g, at := range e.at {
		lo, hi := e.group(g)
		for i := lo; i < hi; i++ {
			row := dst.RawRowView(i)[lo:hi]
			for j := range row {
				row[j] += e.inverse[at+(i-lo)*(hi-lo)+j] / (e.d[i] * e.d[lo+j])
			}
		}
	}
}

// ve is A^-1 X'WX A^-1, v being A^-1: products with the eliminated columns are those
// of the groups, less those of means.
func (e *schur) ve(v *bordered, xx *mat.SymDense) *bordered {
	n := e.n()
	p, pt := e.scaled(e.p), e.scaled(e.pt)
	z := e.groupsTimes(v.ff) // X'WX A^-1, the eliminated rows and columns
	out := &bordered{}
	var zs *mat.Dense
	if v.sf != nil {
		m := len(e.columns)
		fs, ss := mat.NewDense(n, m, nil), mat.NewDense(m, m, nil)
		for j, b := range e.columns {
			for i, c := range e.column {
				fs.Set(i, j, xx.At(e.start+c, b))
			}
			for i, a := range e.columns {
				ss.Set(i, j, xx.At(a, b))
			}
		}
		z.Add(z, product(fs, v.sf))
		sf := mat.DenseCopyOf(fs.T())
		zs = product(sf, v.ff) // the other rows
		zs.Add(zs, product(ss, v.sf))
		zfs := e.groupsTimes(mat.DenseCopyOf(v.sf.T())) // the other columns
		zfs.Add(zfs, product(fs, v.ss))
		zss := productTrans(sf, v.sf)
		zss.Add(zss, product(ss, v.ss))
		out.sf = product(v.sf, z)
		out.sf.Add(out.sf, product(v.ss, zs))
		out.ss = product(v.sf, zfs)
		out.ss.Add(out.ss, product(v.ss, zss))
	}
	out.ff = product(pt, product(mat.DenseCopyOf(p.T()), z))
	for g, at := range e.at {
		lo, hi := e.group(g)
		for i := lo; i < hi; i++ {
			row := out.ff.RawRowView(i)
			for j := lo; j < hi; j++ {
				kernel.Axpy(row, z.RawRowView(j), e.inverse[at+(i-lo)*(hi-lo)+j-lo]/(e.d[i]*e.d[j]))
			}
		}
	}
	if zs != nil {
		out.ff.Add(out.ff, product(mat.DenseCopyOf(v.sf.T()), zs))
	}
	return out
}

// groupsTimes is X_f'WX_f x, x of n rows.
func (e *schur) groupsTimes(x *mat.Dense) *mat.Dense {
	_, width := x.Dims()
	z, along := mat.NewDense(e.n(), width, nil), make([]float64, width)
	for i, m := range e.mean {
		kernel.Axpy(along, x.RawRowView(i), m*e.d[i])
	}
	for g, at := range e.at {
		lo, hi := e.group(g)
		for i := lo; i < hi; i++ {
			row := z.RawRowView(i)
			for j := lo; j < hi; j++ {
				kernel.Axpy(row, x.RawRowView(j), e.gram[at+(i-lo)*(hi-lo)+j-lo]*e.d[i]*e.d[j])
			}
			kernel.Axpy(row, along, -e.mean[i]*e.d[i])
		}
	}
	return z
}

// placed is v in the order of the problem's columns.
func (e *schur) placed(v *bordered) *mat.SymDense {
	at := make([]int, 0, e.n()+len(e.columns))
	for _, c := range e.column {
		at = append(at, e.start+c)
	}
	at = append(at, e.columns...)
	out := mat.NewSymDense(len(at), nil)
	raw, n := out.RawSymmetric(), e.n()
	set := func(a, b int, value float64) {
		raw.Data[min(a, b)*raw.Stride+max(a, b)] = value
	}
	for i := range n {
		row := v.ff.RawRowView(i)
		for j := i; j < n; j++ {
			set(at[i], at[j], (row[j]+v.ff.At(j, i))/2)
		}
	}
	for i := range e.columns {
		for j, value := range v.sf.RawRowView(i) {
			set(at[n+i], at[j], value)
		}
		for j := i; j < len(e.columns); j++ {
			set(at[n+i], at[n+j], (v.ss.At(i, j)+v.ss.At(j, i))/2)
		}
	}
	return out
}

// Shrinkage is Scale A^-1 S A^-1 with A = X'WX + S (p x p), the prior variance of what the
// penalties take from alpha (Nychka 1988; Wood 2017, 6.10), where columns of many
// levels made it a matter of p^2 operations for each of the others. nil elsewhere, or
// without residual: Vp has it then, in p^3.
func (f *Fit) Shrinkage() *mat.SymDense {
	if f.schur == nil || !(f.Scale > 0) {
		return nil
	}
	v := f.schur.placed(f.schur.shrinkage())
	v.ScaleSym(f.Scale, v)
	return v
}

// shrinkage is A^-1 S A^-1: with X = A_f^-1 R^2 P and W = P'R^2 P + S_left,
//
//	[ A_f^-1 R^2 A_f^-1 + X Q' + Q X' + Q W Q'   -X T^-1 - Q W T^-1 ]
//	[ ...                                         T^-1 W T^-1       ].
func (e *schur) shrinkage() *bordered {
	n := e.n()
	squares := make([]float64, n)
	for i, r := range e.root {
		squares[i] = r * r
	}
	inner := mat.NewSymDense(e.q, nil)
	weightedGram(inner, e.p, squares)
	e.left.addRoots(inner, e.rho)
	x, own := mat.NewDense(n, e.q, nil), mat.NewDense(n, n, nil)
	for g, at := range e.at {
		lo, hi := e.group(g)
		m := hi - lo
		for i := lo; i < hi; i++ {
			for j := lo; j < hi; j++ {
				f := e.inverse[at+(i-lo)*m+j-lo] * squares[j]
				kernel.Axpy(x.RawRowView(i), e.p[j*e.q:(j+1)*e.q], f)
				kernel.Axpy(own.RawRowView(i)[lo:hi], e.inverse[at+(j-lo)*m:][:m], f/2)
			}
		}
	}
	w, inverse := full(inner), full(e.below)
	qw := product(mat.NewDense(n, e.q, e.pt), w)
	half := mat.DenseCopyOf(qw)
	half.Scale(0.5, half)
	half.Add(half, x)
	out := &bordered{ff: productTrans(half, mat.NewDense(n, e.q, e.pt))}
	out.ff.Add(out.ff, own)
	for i := range n { // what is above and its transpose, which placed takes the mean of
		row := out.ff.RawRowView(i)
		for j := range row {
			row[j] *= 2 / (e.d[i] * e.d[j])
		}
	}
	if e.basis != nil {
		b := e.left.innerBasis()
		_, q := b.Dims()
		x.Add(x, qw)
		fs := product(x, inverse)
		for i, d := range e.d {
			for j, v := range fs.RawRowView(i) {
				fs.Set(i, j, -v/d)
			}
		}
		out.sf = productTrans(b, mat.DenseCopyOf(fs.Slice(0, n, 0, q)))
		ss := product(inverse, product(w, inverse))
		out.ss = productTrans(product(b, mat.DenseCopyOf(ss.Slice(0, q, 0, q))), b)
	}
	return out
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
