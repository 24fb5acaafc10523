package moments

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

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
}

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
func (f *Frame) Left() []float64 {
	out := make([]float64, len(f.Point))
	kernel.Sub(out, f.Point, f.from())
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
type Scatter struct {
	total float64
	sum   []float64
	own   []band   // of joined bases with themselves
	cross []oblong // of joined bases a < b, by a, then b
}

// NewScatter is that of no rows.
func (f *Frame) NewScatter() *Scatter {
	_, fused, _ := f.joined()
	s := &Scatter{sum: make([]float64, fused.Columns())}
	for a, basis := range fused.Bases {
		s.own = append(s.own, band{n: basis.Dim})
		for _, other := range fused.Bases[a+1:] {
			s.cross = append(s.cross, oblong{rows: basis.Dim, cols: other.Dim})
		}
	}
	return s
}

// band is a symmetric matrix (n x n) whose entries (i, j) are zero for |i-j| >= width. Row i of
// what is held begins with that of column i-width+1, so that entry (i, j) is at
// i stride + j from first on, as in any matrix.
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
		to, from := &s.cross[i], &next.cross[i]
		if from.data == nil {
			continue
		}
		if to.data != nil {
			from.turn(to.turned)
		}
		sums := to.general(from.turned).Data
		kernel.Add(sums, sums, from.data)
	}
	return nil
}

// Like tells whether s and o are of the same columns.
func (s *Scatter) Like(o *Scatter) bool {
	return o != nil && slices.EqualFunc(s.own, o.own, func(a, b band) bool { return a.n == b.n })
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
