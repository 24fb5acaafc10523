package linalg

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Structured is the symmetric matrix (p x p)
//
//	diag(D) + E V' + V E' + U N' + N U',
//
// E being the columns Few of the identity. Products X'WX have this form if many columns of X have no products with each other,
// as the levels of a factor, and so have their inverses and sandwiches. It takes room for p times few numbers. Functions of
// this package that take a mat.Symmetric know it.
type Structured struct {
	D    []float64  // p
	Few  []int      // increasing; nil: there is no V
	V    *mat.Dense // p x len(Few)
	U, N *mat.Dense // p x k; nil: there are none. Matrices may share N
}

// Dims, SymmetricDim, T and At make it a mat.Symmetric.
func (s *Structured) Dims() (r, c int) { return len(s.D), len(s.D) }

// SymmetricDim is p.
func (s *Structured) SymmetricDim() int { return len(s.D) }

// T is the matrix itself.
func (s *Structured) T() mat.Matrix { return s }

// At is entry (i, j), of which each takes a product of rows of U and N.
func (s *Structured) At(i, j int) float64 {
	sum := 0.0
	if i == j {
		sum = s.D[i]
	}
	if l, ok := slices.BinarySearch(s.Few, j); ok {
		sum += s.V.At(i, l)
	}
	if l, ok := slices.BinarySearch(s.Few, i); ok {
		sum += s.V.At(j, l)
	}
	if s.U != nil {
		sum += kernel.Dot(s.U.RawRowView(i), s.N.RawRowView(j)) + kernel.Dot(s.N.RawRowView(i), s.U.RawRowView(j))
	}
	return sum
}

// Times is the product with x (p x q).
func (s *Structured) Times(x *mat.Dense) *mat.Dense {
	p, q := x.Dims()
	out := mat.NewDense(p, q, nil)
	if s.V != nil {
		few := mat.NewDense(len(s.Few), q, nil)
		for l, i := range s.Few {
			few.SetRow(l, x.RawRowView(i))
		}
		ProductInto(out.RawMatrix(), s.V.RawMatrix(), Compact(few), false)
		back := TransTimes(s.V, x)
		for l, i := range s.Few {
			kernel.Add(out.RawRowView(i), out.RawRowView(i), back.RawRowView(l))
		}
	}
	if s.U != nil {
		for _, m := range [][2]*mat.Dense{{s.U, TransTimes(s.N, x)}, {s.N, TransTimes(s.U, x)}} {
			part := Product(m[0], m[1])
			kernel.Add(out.RawMatrix().Data, out.RawMatrix().Data, part.RawMatrix().Data)
		}
	}
	for i, d := range s.D {
		kernel.Axpy(out.RawRowView(i), x.RawRowView(i), d)
	}
	return out
}

// Block are some of its columns in some rows (len(rows) x len(columns), both increasing); rows nil: in all.
func (s *Structured) Block(rows, columns []int) *mat.Dense {
	u, n, v, place := s.U, s.N, s.V, func(i int) int { return i }
	m := len(s.D)
	if rows != nil {
		u, n, v, place, m = rowsOf(s.U, rows), rowsOf(s.N, rows), rowsOf(s.V, rows), func(i int) int { return rows[i] }, len(rows)
	}
	out := mat.NewDense(max(m, 1), max(len(columns), 1), nil)
	if m == 0 || len(columns) == 0 {
		return out
	}
	if u != nil {
		ProductInto(out.RawMatrix(), u.RawMatrix(), Compact(rowsOf(s.N, columns)), true)
		part := ProductTrans(n, rowsOf(s.U, columns))
		kernel.Add(out.RawMatrix().Data, out.RawMatrix().Data, part.RawMatrix().Data)
	}
	if s.V != nil {
		few := make([]int, len(columns)) // their places among Few; -1: elsewhere
		for c, j := range columns {
			l, ok := slices.BinarySearch(s.Few, j)
			if few[c] = l; !ok {
				few[c] = -1
			}
		}
		for i := range m {
			to, from := out.RawRowView(i), v.RawRowView(i)
			for c, l := range few {
				if l >= 0 {
					to[c] += from[l]
				}
			}
			if l, ok := slices.BinarySearch(s.Few, place(i)); ok {
				for c, j := range columns {
					to[c] += s.V.At(j, l)
				}
			}
		}
	}
	for i := range m {
		if c, ok := slices.BinarySearch(columns, place(i)); ok {
			out.RawRowView(i)[c] += s.D[place(i)]
		}
	}
	return out
}

// rowsOf are some rows of x: in its memory where they are neighbours.
func rowsOf(x *mat.Dense, at []int) *mat.Dense {
	if x == nil {
		return nil
	}
	_, q := x.Dims()
	if neighbours(at) {
		return x.Slice(at[0], at[0]+len(at), 0, q).(*mat.Dense)
	}
	out := mat.NewDense(len(at), q, nil)
	for l, i := range at {
		out.SetRow(l, x.RawRowView(i))
	}
	return out
}

func neighbours(at []int) bool {
	for i, a := range at {
		if a != at[0]+i {
			return false
		}
	}
	return len(at) > 0
}

// Dense is the matrix with all of its numbers.
func (s *Structured) Dense() *mat.SymDense {
	p := len(s.D)
	out := mat.NewSymDense(p, nil)
	if s.U != nil {
		var left, right mat.Dense
		left.Augment(s.U, s.N)
		right.Augment(s.N, s.U)
		AddSymmetric(out, mat.DenseCopyOf(left.T()), mat.DenseCopyOf(right.T()))
	}
	for i, d := range s.D {
		out.SetSym(i, i, out.At(i, i)+d)
	}
	for l, j := range s.Few {
		for i := range p {
			v := s.V.At(i, l)
			if i == j {
				v *= 2
			}
			out.SetSym(i, j, out.At(i, j)+v)
		}
	}
	return out
}

// part are the rows and columns at of s.
func (s *Structured) part(at []int) *Structured {
	out := &Structured{D: make([]float64, len(at)), U: rowsOf(s.U, at), N: rowsOf(s.N, at)}
	var columns []int // of V
	for i, a := range at {
		out.D[i] = s.D[a]
		if l, ok := slices.BinarySearch(s.Few, a); ok {
			out.Few, columns = append(out.Few, i), append(columns, l)
		}
	}
	if len(columns) > 0 {
		out.V = mat.NewDense(len(at), len(columns), nil)
		for i, a := range at {
			from, to := s.V.RawRowView(a), out.V.RawRowView(i)
			for c, l := range columns {
				to[c] = from[l]
			}
		}
	}
	return out
}

// structured is s if it is a Structured.
func structured(s mat.Symmetric) *Structured {
	own, _ := s.(*Structured)
	return own
}

// manyColumns is from how many columns on a part of a Structured is one, too.
const manyColumns = 256

// Part are the rows and columns at of s, in this order: in its memory where they are neighbours.
func Part(s mat.Symmetric, at []int) mat.Symmetric {
	if len(at) == 0 {
		return new(mat.SymDense)
	}
	own := structured(s)
	if own == nil {
		return densePart(s.(*mat.SymDense), at)
	}
	if out := own.part(at); len(at) >= manyColumns {
		return out
	} else {
		return out.Dense()
	}
}

func densePart(s *mat.SymDense, at []int) *mat.SymDense {
	if neighbours(at) {
		return s.SliceSym(at[0], at[0]+len(at)).(*mat.SymDense)
	}
	out := mat.NewSymDense(len(at), nil)
	for i, a := range at {
		for j := i; j < len(at); j++ {
			out.SetSym(i, j, s.At(a, at[j]))
		}
	}
	return out
}

// Range is Part of the columns lo to hi-1.
func Range(s mat.Symmetric, lo, hi int) mat.Symmetric {
	if own, ok := s.(*mat.SymDense); ok {
		return own.SliceSym(lo, hi)
	}
	at := make([]int, hi-lo)
	for i := range at {
		at[i] = lo + i
	}
	return Part(s, at)
}

// Dense is s with all of its numbers: itself if it has them.
func Dense(s mat.Symmetric) *mat.SymDense {
	switch s := s.(type) {
	case *mat.SymDense:
		return s
	case *Structured:
		return s.Dense()
	}
	out := mat.NewSymDense(s.SymmetricDim(), nil)
	out.CopySym(s)
	return out
}

// IsNil tells whether there is no s, whatever its type.
func IsNil(s mat.Symmetric) bool {
	switch s := s.(type) {
	case nil:
		return true
	case *mat.SymDense:
		return s == nil
	case *mat.DiagDense:
		return s == nil
	case *Structured:
		return s == nil
	}
	return false
}

// Diagonal is that of s.
func Diagonal(s mat.Symmetric) []float64 {
	out := make([]float64, s.SymmetricDim())
	for i := range out {
		out[i] = s.At(i, i)
	}
	return out
}

// MulVec is s x.
func MulVec(s mat.Symmetric, x []float64) []float64 {
	if len(x) == 0 {
		return nil
	}
	if own := structured(s); own != nil {
		return own.mulVec(x)
	}
	out := mat.NewVecDense(len(x), nil)
	out.MulVec(s, mat.NewVecDense(len(x), x))
	return out.RawVector().Data
}

func (s *Structured) mulVec(x []float64) []float64 {
	out := make([]float64, len(x))
	var along, across []float64 // N'x and U'x
	if s.U != nil {
		_, k := s.U.Dims()
		along, across = make([]float64, k), make([]float64, k)
		for i, v := range x {
			if v != 0 {
				kernel.Axpy(along, s.N.RawRowView(i), v)
				kernel.Axpy(across, s.U.RawRowView(i), v)
			}
		}
	}
	few, back := make([]float64, len(s.Few)), make([]float64, len(s.Few))
	for l, i := range s.Few {
		few[l] = x[i]
	}
	for i, v := range x {
		out[i] = s.D[i] * v
		if s.V != nil {
			row := s.V.RawRowView(i)
			out[i] += kernel.Dot(row, few)
			kernel.Axpy(back, row, v)
		}
		if s.U != nil {
			out[i] += kernel.Dot(s.U.RawRowView(i), along) + kernel.Dot(s.N.RawRowView(i), across)
		}
	}
	for l, i := range s.Few {
		out[i] += back[l]
	}
	return out
}

// Bilinear is x's y.
func Bilinear(s mat.Symmetric, x, y []float64) float64 {
	if own, ok := s.(*mat.SymDense); ok {
		return Inner(own, x, y)
	}
	return kernel.Dot(MulVec(s, x), y)
}

// Trace is tr(a b).
func Trace(a, b mat.Symmetric) float64 {
	x, y := structured(a), structured(b)
	switch {
	case x == nil && y == nil:
		return TraceOfProduct(a.(*mat.SymDense), b.(*mat.SymDense))
	case x == nil:
		return Trace(b, a)
	}
	if y == nil { // few columns of a matrix with many
		return TraceOfProduct(x.Dense(), b.(*mat.SymDense))
	}
	sum := kernel.Dot(x.D, Diagonal(b))
	if x.U != nil {
		bu := TimesOf(b, x.U)
		p, _ := bu.Dims()
		for i := range p {
			sum += 2 * kernel.Dot(bu.RawRowView(i), x.N.RawRowView(i))
		}
	}
	if x.V != nil {
		bv := TimesOf(b, x.V)
		for l, i := range x.Few {
			sum += 2 * bv.At(i, l)
		}
	}
	return sum
}

// TimesOf is s x.
func TimesOf(s mat.Symmetric, x *mat.Dense) *mat.Dense {
	if own := structured(s); own != nil {
		return own.Times(x)
	}
	return Times(s, x)
}

// RowsTimes is x s, of few rows x.
func RowsTimes(x *mat.Dense, s mat.Symmetric) *mat.Dense {
	if own := structured(s); own != nil {
		return mat.DenseCopyOf(own.Times(mat.DenseCopyOf(x.T())).T())
	}
	return Times(x, s)
}

// ScaledBoth multiplies rows and columns of s by e, in its memory.
func ScaledBoth(s mat.Symmetric, e []float64) mat.Symmetric {
	own := structured(s)
	if own == nil {
		ScaleBoth(s.(*mat.SymDense), e)
		return s
	}
	for i, f := range e {
		own.D[i] *= f * f
		for _, m := range []*mat.Dense{own.V, own.U, own.N} {
			if m == nil {
				continue
			}
			row := m.RawRowView(i)
			for l := range row {
				row[l] *= f
			}
		}
		if own.V != nil {
			row := own.V.RawRowView(i)
			for l, j := range own.Few {
				row[l] *= e[j]
			}
		}
	}
	return own
}

// Clear sets row and column i to 0.
func Clear(s mat.Symmetric, i int) {
	own := structured(s)
	if own == nil {
		dense := s.(*mat.SymDense)
		for j := range dense.SymmetricDim() {
			dense.SetSym(i, j, 0)
		}
		return
	}
	own.D[i] = 0
	for _, m := range []*mat.Dense{own.V, own.U, own.N} {
		if m != nil {
			clear(m.RawRowView(i))
		}
	}
	if l, ok := slices.BinarySearch(own.Few, i); ok {
		for j := range own.D {
			own.V.Set(j, l, 0)
		}
	}
}

// Plus is s + o, in the memory of s unless it takes all numbers because o does; o nil: 0.
func Plus(s, o mat.Symmetric) mat.Symmetric {
	if IsNil(o) {
		return s
	}
	if own, other := structured(s), structured(o); own != nil && other != nil {
		return own.plus(other)
	}
	sum := Dense(s)
	AddTriangle(sum, Dense(o))
	return sum
}

// Scale is f s, in the memory of s but for N.
func Scale(f float64, s mat.Symmetric) mat.Symmetric {
	if own := structured(s); own != nil {
		return own.Scaled(f)
	}
	dense := s.(*mat.SymDense)
	dense.ScaleSym(f, dense)
	return dense
}

// Scaled is f s, which shares N with s.
func (s *Structured) Scaled(f float64) *Structured {
	scaled := func(x *mat.Dense) *mat.Dense {
		if x == nil {
			return nil
		}
		out := new(mat.Dense)
		out.Scale(f, x)
		return out
	}
	out := &Structured{D: slices.Clone(s.D), Few: s.Few, V: scaled(s.V), U: scaled(s.U), N: s.N}
	for i := range out.D {
		out.D[i] *= f
	}
	return out
}

// plus is s + o, in the memory of s; columns of N that they share are not held twice. Neither has a V.
func (s *Structured) plus(o *Structured) *Structured {
	kernel.Add(s.D, s.D, o.D)
	if o.U == nil {
		return s
	}
	if _, k := o.N.Dims(); s.N != nil {
		if _, own := s.N.Dims(); own >= k && SameColumns(s.N, o.N) {
			u := s.U.Slice(0, len(s.D), 0, k).(*mat.Dense)
			u.Add(u, o.U)
			return s
		}
		var u, n mat.Dense
		u.Augment(s.U, o.U)
		n.Augment(s.N, o.N)
		s.U, s.N = &u, &n
		return s
	}
	s.U, s.N = o.U, o.N
	return s
}

// SameColumns tells whether the first columns of a are b.
func SameColumns(a, b *mat.Dense) bool {
	n, k := b.Dims()
	for i := range n {
		if a != b && !slices.Equal(a.RawRowView(i)[:k], b.RawRowView(i)) {
			return false
		}
	}
	return true
}

// NormBound is the root of the sum of squares of s or, of a Structured with few columns N, a bound of it.
func NormBound(s mat.Symmetric) float64 {
	own := structured(s)
	if own == nil {
		dense := s.(*mat.SymDense)
		return math.Sqrt(TraceOfProduct(dense, dense))
	}
	squares := 0.0
	for _, d := range own.D {
		squares += d * d
	}
	norm := math.Sqrt(squares)
	if own.V != nil {
		norm += 2 * mat.Norm(own.V, 2)
	}
	if own.U != nil {
		norm += 2 * mat.Norm(own.U, 2) * mat.Norm(own.N, 2)
	}
	return norm
}

// FiniteSym is the place of an entry of s that is not finite; of a Structured of a number that makes some.
func FiniteSym(s mat.Symmetric) (i, j int, finite bool) {
	own := structured(s)
	if own == nil {
		raw := s.(*mat.SymDense).RawSymmetric()
		rows := make([]bool, raw.N)
		EachRow(raw.N, func(i int) { _, _, rows[i] = kernel.Bounds(raw.Data[i*raw.Stride+i : i*raw.Stride+raw.N]) })
		if i = slices.Index(rows, false); i < 0 {
			return 0, 0, true
		}
		return i, i + slices.IndexFunc(raw.Data[i*raw.Stride+i:], func(v float64) bool { return v-v != 0 }), false
	}
	for i := range own.D {
		for _, row := range [][]float64{own.D[i : i+1], rowView(own.V, i), rowView(own.U, i), rowView(own.N, i)} {
			if len(row) > 0 {
				if _, _, ok := kernel.Bounds(row); !ok {
					return i, i, false
				}
			}
		}
	}
	return 0, 0, true
}

func rowView(x *mat.Dense, i int) []float64 {
	if x == nil {
		return nil
	}
	return x.RawRowView(i)
}
