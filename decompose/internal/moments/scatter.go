package moments

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// Frame is what a Scatter is about: the columns of several bases, and a point. Columns that are
// stored densely are summed about it; those with few entries in a row about 0, where
// products that no row has stay 0.
type Frame struct {
	Dims  []int
	Dense []bool // by basis
	Point []float64
	// Again are bases, increasing, whose columns a row has once more for each of its further
	// factors: with x its columns and f_0, f_1, ... its factors it is v = [f_0 x, f_1 x_Again[0], ...].
	Again [][]int
	About []float64 // the point that those columns are about
}

// Copy is a run of columns that rows have once more.
type Copy struct {
	Factor int   // from 1 on
	Joined int   // of which joined basis,
	Lo, Hi int   // which of its columns
	At     []int // their places among all columns
}

// Copies are those of Again, by factor, then place.
func (f *Frame) Copies() (out []Copy) {
	all, fused, of := f.joined()
	off, start := all.offsets(), fused.offsets()
	for i, bases := range f.Again {
		for _, a := range bases {
			next := Copy{Factor: i + 1, Joined: of[a], Lo: off[a] - start[of[a]], Hi: off[a+1] - start[of[a]]}
			if n := len(out); n > 0 && out[n-1].Factor == i+1 && out[n-1].Joined == of[a] && out[n-1].Hi == next.Lo {
				out[n-1].Hi = next.Hi
				continue
			}
			out = append(out, next)
		}
	}
	for i := range out {
		for l := out[i].Lo; l < out[i].Hi; l++ {
			out[i].At = append(out[i].At, start[out[i].Joined]+l)
		}
	}
	return out
}

// Of are the copy's columns among those of the joined bases, x.
func (c *Copy) Of(x []design.Columns) design.Columns {
	if d, ok := x[c.Joined].(design.Dense); ok {
		if n, all := d.Dims(); c.Hi-c.Lo < all {
			return design.Dense{Dense: d.Slice(0, n, c.Lo, c.Hi).(*mat.Dense)}
		}
	}
	return x[c.Joined]
}

// Shape says which numbers a Scatter has.
type Shape struct {
	Joined []int    `json:"joined"`
	Copies [][2]int `json:"copies,omitempty"` // factor and columns
}

// Shape is that of sums about f.
func (f *Frame) Shape() Shape {
	s := Shape{Joined: f.Joined()}
	for _, c := range f.Copies() {
		s.Copies = append(s.Copies, [2]int{c.Factor, len(c.At)})
	}
	return s
}

// Like tells whether two shapes are the same.
func (s Shape) Like(o Shape) bool {
	return slices.Equal(s.Joined, o.Joined) && slices.Equal(s.Copies, o.Copies)
}

// factors is the number of a row's factors.
func (s Shape) factors() int {
	n := 1
	for _, c := range s.Copies {
		n = max(n, c[0]+1)
	}
	return n
}

// Pair is the place of f_a f_b, a <= b, among the products of a row's factors.
func Pair(a, b int) int { return b*(b+1)/2 + a }

// joined are the columns of bases that are summed together: dense neighbours.
func (f *Frame) joined() (all, fused Layout, of []int) {
	all.Responses = 1
	every := make([]int, len(f.Dims))
	for a, d := range f.Dims {
		every[a] = a
		all.Bases = append(all.Bases, Basis{Dim: d})
	}
	all.Predictors = [][]int{every}
	fused, of = all.fuse(f.Dense)
	return all, fused, of
}

// Joined are the dimensions of the columns that are summed together.
func (f *Frame) Joined() (dims []int) {
	_, fused, _ := f.joined()
	for _, b := range fused.Bases {
		dims = append(dims, b.Dim)
	}
	return dims
}

// Left is what is left of the point where the columns are summed about: 0 of those that are stored densely.
func (f *Frame) Left() []float64 { return f.LeftOf(f.Point) }

// LeftOf is Left of another point.
func (f *Frame) LeftOf(point []float64) []float64 {
	out := make([]float64, len(point))
	kernel.Sub(out, point, f.from())
	return out
}

// from is the point that the columns are summed about.
func (f *Frame) from() []float64 {
	out, at := make([]float64, len(f.Point)), 0
	for a, d := range f.Dims {
		if f.Dense[a] {
			copy(out[at:at+d], f.Point[at:])
		}
		at += d
	}
	return out
}

// Scatter is the sum over rows of s x x', s x and s, s being a weight of each row and x its
// columns about a point that is known beforehand (Frame). So sums are added as they are, and what no
// row has takes no room: of a basis with itself a band is held that is as wide as rows have entries.
//
// With further factors of rows it is the sum of v v' (Frame.Again), s being f_0^2: besides, of f_a f_b, of
// f_a v, and of the columns that come again with all columns.
type Scatter struct {
	total float64
	sum   []float64
	own   []band   // of joined bases with themselves
	cross []oblong // of joined bases a < b, by a, then b

	shape  Shape
	totals []float64 // of f_a f_b, by Pair
	sums   []float64 // of v f_a, by column and factor
	again  []oblong  // of joined bases, and of copies up to it, with a copy: by copy
}

// NewScatter is that of no rows.
func (f *Frame) NewScatter() *Scatter {
	return f.Shape().empty()
}

func (shape Shape) empty() *Scatter {
	p := 0
	for _, d := range shape.Joined {
		p += d
	}
	s := &Scatter{sum: make([]float64, p), shape: shape}
	for a, d := range shape.Joined {
		s.own = append(s.own, band{n: d})
		for _, other := range shape.Joined[a+1:] {
			s.cross = append(s.cross, oblong{rows: d, cols: other})
		}
	}
	if len(shape.Copies) == 0 {
		return s
	}
	for k, c := range shape.Copies {
		for _, d := range shape.upTo(k) {
			s.again = append(s.again, oblong{rows: d, cols: c[1]})
		}
		p += c[1]
	}
	n := shape.factors()
	s.totals, s.sums = make([]float64, Pair(0, n)), make([]float64, p*n)
	return s
}

// band is a symmetric matrix (n x n) whose entries (i, j) are zero for |i-j| >= width. The
// stored rows follow each other without gaps, row i beginning at column i-width+1, so that
// entry (i, j) is at i stride + j from first on, as in any matrix.
type band struct {
	n, width int // 0: nothing yet; n: all of it is held
	data     []float64
	spare    []float64 // zeros of an earlier band
}

// stride is from row to row, first where entry (0, 0) is.
func (b *band) stride() int { return strideOf(b.n, b.width) }

func (b *band) first() int {
	if b.width == b.n {
		return 0
	}
	return max(b.width-1, 0)
}

func strideOf(n, width int) int {
	if width == n {
		return n
	}
	return 2*width - 2
}

// general is the matrix for sums to be added to; nothing outside the band may be touched.
func (b *band) general() blas64.General {
	return blas64.General{Rows: b.n, Cols: b.n, Stride: b.stride(), Data: b.data[b.first():]}
}

// widen makes room for entries |i-j| < width.
func (b *band) widen(width int) {
	if 2*width > b.n {
		width = b.n
	}
	if width <= b.width {
		return
	}
	old := *b
	b.width = width
	size := b.n*b.stride() + b.n + 2*b.first() // a row may be taken for n numbers
	if b.data = b.spare; len(b.data) != size {
		b.data = kernel.Zeros[float64](size)
	}
	b.spare = nil
	old.each(func(i, from int, row []float64) { copy(b.data[b.first()+i*b.stride()+from:], row) })
}

// empty makes b the band of nothing, which keeps its memory for one as wide.
func (b *band) empty() {
	clear(b.data)
	b.width, b.data, b.spare = 0, nil, b.data
}

// upper is row i of the band from the diagonal on.
func (b *band) upper(i int) []float64 {
	at := b.first() + i*b.stride()
	return b.data[at+i : at+min(i+b.width, b.n)]
}

// each calls f for each row of the band, with the column where it begins.
func (b *band) each(f func(i, from int, row []float64)) {
	if b.width == 0 {
		return
	}
	for i := range b.n {
		from, row := b.row(i)
		f(i, from, row)
	}
}

// row is row i of the band, with the column where it begins.
func (b *band) row(i int) (from int, row []float64) {
	from, to := max(i-b.width+1, 0), min(i+b.width, b.n)
	if b.width == b.n {
		from, to = 0, b.n
	}
	at := b.first() + i*b.stride()
	return from, b.data[at+from : at+to]
}

// oblong are the products of two bases; turned: by columns.
type oblong struct {
	rows, cols int
	turned     bool
	data       []float64 // nil: zeros
}

// general is the matrix for sums to be added to.
func (r *oblong) general(turned bool) blas64.General {
	if r.data == nil {
		r.turned, r.data = turned, kernel.Zeros[float64](r.rows*r.cols)
	}
	r.turn(turned)
	if turned {
		return blas64.General{Rows: r.cols, Cols: r.rows, Stride: r.rows, Data: r.data}
	}
	return blas64.General{Rows: r.rows, Cols: r.cols, Stride: r.cols, Data: r.data}
}

// turn has it held by columns, or by rows.
func (r *oblong) turn(turned bool) {
	if r.data == nil || r.turned == turned {
		r.turned = turned
		return
	}
	rows, cols := r.rows, r.cols
	if r.turned {
		rows, cols = cols, rows
	}
	var t mat.Dense
	t.CloneFrom(mat.NewDense(rows, cols, r.data).T())
	r.turned, r.data = turned, t.RawMatrix().Data
}

// Clear makes s the sums of no rows, in its memory.
func (s *Scatter) Clear() {
	s.total = 0
	clear(s.sum)
	for a := range s.own {
		clear(s.own[a].data)
	}
	for i := range s.cross {
		clear(s.cross[i].data)
	}
	clear(s.totals)
	clear(s.sums)
	for i := range s.again {
		clear(s.again[i].data)
	}
}

// Add adds those of other rows, of the same frame. next is as good as it was.
func (s *Scatter) Add(next *Scatter) error {
	if !s.Like(next) {
		return errors.New("moments: products of other columns do not add up")
	}
	s.total += next.total
	kernel.Add(s.sum, s.sum, next.sum)
	for a := range s.own {
		to, from := &s.own[a], &next.own[a]
		to.widen(from.width)
		from.widen(to.width)
		kernel.Add(to.data, to.data, from.data)
	}
	for i := range s.cross {
		s.cross[i].add(&next.cross[i])
	}
	kernel.Add(s.totals, s.totals, next.totals)
	kernel.Add(s.sums, s.sums, next.sums)
	for i := range s.again {
		s.again[i].add(&next.again[i])
	}
	return nil
}

// add adds from, which may be turned.
func (r *oblong) add(from *oblong) {
	if from.data == nil {
		return
	}
	if r.data != nil {
		from.turn(r.turned)
	}
	sums := r.general(from.turned).Data
	kernel.Add(sums, sums, from.data)
}

// Like tells whether s and o are of the same columns.
func (s *Scatter) Like(o *Scatter) bool { return o != nil && s.shape.Like(o.shape) }

// Again are the sums that further factors add, all times unit: with u the copies' columns about
// Frame.About, times their factors, and x the columns about Frame.Point, the sums of f_0 x u', of u u'
// and of f_0 u. As in About, with c what is left of a point,
//
//	sum f_a f_b (x - c)(z - d)' = sum f_a f_b x z' - (sum f_a f_b x) d' - c (sum f_a f_b z)' + c d' sum f_a f_b
func (s *Scatter) Again(f *Frame, unit float64) (xu *mat.Dense, uu *mat.SymDense, u []float64) {
	p, copies := len(s.sum), f.Copies()
	left, about, factor := f.Left(), f.LeftOf(f.About), make([]int, p)
	for _, c := range copies {
		for _, a := range c.At {
			left, factor = append(left, about[a]), append(factor, c.Factor)
		}
	}
	m, n := len(left)-p, s.shape.factors()
	all := mat.NewDense(p+m, m, nil) // products with copies; those among these the upper triangle
	i, to := 0, 0
	for k, c := range copies {
		at := 0
		for _, d := range s.shape.upTo(k) {
			s.again[i].addTo(all.RawMatrix().Data[at*m+to:], m, 1)
			at, i = at+d, i+1
		}
		to += len(c.At)
	}
	for a := range p + m {
		for b := range m {
			if a-p > b {
				continue
			}
			fa, fb := factor[a], factor[p+b]
			v := all.At(a, b) - s.sums[a*n+fb]*left[p+b] - left[a]*s.sums[(p+b)*n+fa] + left[a]*left[p+b]*s.totals[Pair(min(fa, fb), max(fa, fb))]
			all.Set(a, b, unit*v)
		}
	}
	uu, u = mat.NewSymDense(m, nil), make([]float64, m)
	for a := range m {
		u[a] = unit * (s.sums[(p+a)*n] - left[p+a]*s.totals[Pair(0, factor[p+a])])
		for b := a; b < m; b++ {
			uu.SetSym(a, b, all.At(p+a, b))
		}
	}
	return all.Slice(0, p, 0, m).(*mat.Dense), uu, u
}

// upTo are the columns of what has products with copy k: joined bases, and copies up to it.
func (s Shape) upTo(k int) []int {
	out := slices.Clone(s.Joined)
	for _, c := range s.Copies[:k+1] {
		out = append(out, c[1])
	}
	return out
}

// About is what the sums are about the frame's point, times unit: of s x x', s x, and s. With c what is left
// of the point
//
//	sum s (x - c)(x - c)' = sum s x x' - g c' - c g',   g = sum s x - c/2 sum s
//
// Where columns [lo, hi) are of one basis whose rows have few entries, the products are a linalg.Near with these.
func (s *Scatter) About(f *Frame, unit float64, lo, hi int) (xx linalg.Shifted, x []float64, total float64) {
	p := len(s.sum)
	shift := f.Left()
	xx = linalg.Shifted{Near: s.near(unit, lo, hi), G: make([]float64, p), C: shift}
	if xx.Near == nil {
		xx.M = s.products(unit)
	}
	x = make([]float64, p)
	for j, v := range s.sum {
		x[j] = unit * (v - s.total*shift[j])
		xx.G[j] = unit * (v - s.total*shift[j]/2)
	}
	return xx, x, unit * s.total
}

// products are those of s x x' times unit, the upper triangle.
func (s *Scatter) products(unit float64) *mat.SymDense {
	p := len(s.sum)
	xx := symmetric(p)
	raw := xx.RawSymmetric()
	at, i := 0, 0
	for a := range s.own {
		b := &s.own[a]
		b.each(func(i, from int, row []float64) { kernel.Axpy(raw.Data[(at+i)*p+at+i:], row[i-from:], unit) })
		to := at + b.n
		for ; i < len(s.cross) && to < p; i++ {
			r := &s.cross[i]
			r.addTo(raw.Data[at*p+to:], p, unit)
			to += r.cols
		}
		at += b.n
	}
	return xx
}

// near are the products with a band for columns [lo, hi); nil: there is none.
func (s *Scatter) near(unit float64, lo, hi int) *linalg.Near {
	at, a := 0, 0
	for a < len(s.own) && at+s.own[a].n < hi {
		at += s.own[a].n
		a++
	}
	if lo >= hi || a == len(s.own) || lo < at || s.own[a].width == s.own[a].n {
		return nil
	}
	b, p := &s.own[a], len(s.sum)
	out := &linalg.Near{Lo: lo, Hi: hi, Width: b.width, Own: make([]float64, (hi-lo)*b.width)}
	if b.width > 0 {
		for i := range hi - lo {
			row := b.upper(lo - at + i)
			kernel.Axpy(out.Own[i*b.width:], row[:min(len(row), hi-lo-i)], unit)
		}
	}
	if others := p - (hi - lo); others > 0 {
		out.Others = mat.NewDense(others, p, nil)
		linalg.Each(others, func(l int) { s.addRow(out.Others.RawRowView(l), out.Other(l), unit) })
	}
	return out
}

// addRow adds unit times all products of column j.
func (s *Scatter) addRow(dst []float64, j int, unit float64) {
	at, i := 0, 0
	for a := range s.own {
		b := &s.own[a]
		mine := at <= j && j < at+b.n
		if mine && b.width > 0 {
			from, row := b.row(j - at)
			kernel.Axpy(dst[at+from:], row, unit)
		}
		to := at + b.n
		for ; i < len(s.cross) && to < len(dst); i++ {
			r := &s.cross[i]
			if mine {
				r.addLine(dst[to:to+r.cols], j-at, !r.turned, unit)
			} else if to <= j && j < to+r.cols {
				r.addLine(dst[at:at+b.n], j-to, r.turned, unit)
			}
			to += r.cols
		}
		at += b.n
	}
}

// addLine adds unit times row or column l of r, whose numbers are side by side or not.
func (r *oblong) addLine(dst []float64, l int, side bool, unit float64) {
	switch {
	case r.data == nil:
	case side:
		kernel.Axpy(dst, r.data[l*len(dst):][:len(dst)], unit)
	default:
		lines := len(r.data) / len(dst)
		for i := range dst {
			dst[i] += unit * r.data[i*lines+l]
		}
	}
}

// addTo adds unit r to rows that are stride apart.
func (r *oblong) addTo(dst []float64, stride int, unit float64) {
	if r.data == nil {
		return
	}
	for i := range r.rows {
		to := dst[i*stride:][:r.cols]
		if !r.turned {
			kernel.Axpy(to, r.data[i*r.cols:][:r.cols], unit)
			continue
		}
		for j := range to {
			to[j] += unit * r.data[j*r.rows+i]
		}
	}
}
