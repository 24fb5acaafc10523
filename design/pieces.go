package design

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Pieces are d continuous functions of one number that are linear between knots and beyond the outer ones, as those
// that the units of a network of one number compute if its activations rectify. They are immutable.
type Pieces struct {
	d     int
	knots []float64
	// values are (len(knots)+4) x d: the slopes before the first knot, the functions at the knots, the slopes behind
	// the last one, and two rows of zeros: with a row's two weights (Row) and two zeros it is a band of four.
	values   []float64
	norms    []float64 // row sums of values; nil: some function is negative somewhere
	lo, wide float64   // buckets of equal width 1/wide from lo on, for the search,
	first    []int32   // and how many knots lie before each
}

// PieceColumns is how many more columns than knots the band of Pieces has.
const PieceColumns = kernel.Band

// NewPieces are functions that take the values at(j, i), function i at knot j, and have slopes before the first
// knot and behind the last one (d each). Knots increase; there is at least one.
func NewPieces(knots []float64, values *mat.Dense, before, behind []float64) (*Pieces, error) {
	n, d := values.Dims()
	if n == 0 || n != len(knots) || len(before) != d || len(behind) != d {
		return nil, fmt.Errorf("design: %d knots, values of %d x %d and slopes of %d and %d functions: they do not belong together", len(knots), n, d, len(before), len(behind))
	}
	for j := 1; j < n; j++ {
		if !(knots[j-1] < knots[j]) {
			return nil, fmt.Errorf("design: knot %d, %g, is not behind the one before, %g", j, knots[j], knots[j-1])
		}
	}
	p := &Pieces{d: d, knots: slices.Clone(knots), values: make([]float64, (n+PieceColumns)*d)}
	copy(p.values, before)
	for j := range n {
		copy(p.values[(j+1)*d:], values.RawRowView(j))
	}
	copy(p.values[(n+1)*d:], behind)
	p.sumUp()
	p.index()
	return p, nil
}

// sumUp adds up the functions if none is negative anywhere, so that a row's 1-norm is the sum's value.
func (p *Pieces) sumUp() {
	n := len(p.knots)
	norms := make([]float64, n+PieceColumns)
	for j := range norms {
		for _, v := range p.values[j*p.d:][:p.d] {
			if j == 0 && v > 0 || j > 0 && v < 0 {
				return
			}
			norms[j] += v
		}
	}
	p.norms = norms
}

// index prepares the search: knots far out, where few rows are, leave the buckets to the others.
func (p *Pieces) index() {
	n := len(p.knots)
	lo, hi := p.knots[n/16], p.knots[n-1-n/16]
	buckets := 4 * n
	if p.lo = lo; hi > lo {
		if p.wide = float64(buckets) / (hi - lo); math.IsInf(p.wide, 0) {
			p.wide = 0
		}
	}
	p.first = make([]int32, buckets+1)
	j := 0
	for b := range buckets {
		for j < n && p.bucket(p.knots[j]) < b {
			j++
		}
		p.first[b] = int32(j)
	}
	p.first[buckets] = int32(n)
}

// bucket does not fall with z.
func (p *Pieces) bucket(z float64) int {
	b, last := (z-p.lo)*p.wide, len(p.first)-2
	if !(b < float64(last)) {
		return last
	}
	return int(max(b, 0))
}

// piece is how many knots lie before z; of NaN all.
func (p *Pieces) piece(z float64) int {
	b := p.bucket(z)
	k, end := int(p.first[b]), int(p.first[b+1])
	for end-k > 8 {
		if mid := (k + end) / 2; z > p.knots[mid] {
			k = mid + 1
		} else {
			end = mid
		}
	}
	for k < len(p.knots) && !(z <= p.knots[k]) {
		k++
	}
	return k
}

// Row is where the band of z begins, and its first two numbers, which are not 0: between two knots the shares of
// these, beyond the outer ones the distance to the knot and a 1.
func (p *Pieces) Row(z float64) (first int32, a, b float64) {
	k := p.piece(z)
	switch n := len(p.knots); {
	case k == 0:
		return 0, z - p.knots[0], 1
	case k == n:
		return int32(n), 1, z - p.knots[n-1]
	}
	left, right := p.knots[k-1], p.knots[k]
	b = (z - left) / (right - left)
	return int32(k), 1 - b, b
}

// Rows are n rows of the functions of z, whose numbers are stride apart, in old's memory if that is of p.
func (p *Pieces) Rows(old Columns, z []float64, stride, n int) *Interpolated {
	x, ok := old.(*Interpolated)
	if !ok || len(x.Parts) != 1 || x.Parts[0].Of != p || x.About != nil {
		x = &Interpolated{Parts: []Part{p.Part(n)}}
	}
	band := &x.Parts[0].Band
	band.First, band.Value = grown(band.First, n), grown(band.Value, n*band.K)
	for i := range n {
		first, a, b := p.Row(z[i*stride])
		band.First[i] = first
		*(*[kernel.Band]float64)(band.Value[i*kernel.Band:]) = [kernel.Band]float64{a, b}
	}
	return x
}

// Part has room for n rows of the functions.
func (p *Pieces) Part(n int) Part {
	return Part{Of: p, Band: Banded{D: len(p.knots) + PieceColumns, K: kernel.Band, First: make([]int32, n), Value: make([]float64, n*kernel.Band), two: true}}
}

// Eval sets n rows of dst (n x d) to the functions of z, whose numbers are stride apart.
func (p *Pieces) Eval(dst *mat.Dense, z []float64, stride, n int) {
	for i := range n {
		first, a, b := p.Row(z[i*stride])
		p.row(dst.RawRowView(i)[:p.d], first, a, b)
	}
}

// row sets dst to a times row first of the values and b times the next one. A function that is constant there has exactly
// its value, so that one without variance shows none.
func (p *Pieces) row(dst []float64, first int32, a, b float64) {
	u, v := p.values[int(first)*p.d:][:p.d], p.values[(int(first)+1)*p.d:][:p.d]
	switch int(first) {
	case 0:
		for i := range dst {
			dst[i] = v[i] + a*u[i]
		}
	case len(p.knots):
		for i := range dst {
			dst[i] = u[i] + b*v[i]
		}
	default:
		for i := range dst {
			dst[i] = u[i] + b*(v[i]-u[i])
		}
	}
}

// Dim is the number of functions.
func (p *Pieces) Dim() int { return p.d }

// Knots is their number.
func (p *Pieces) Knots() int { return len(p.knots) }

// Interpolated holds the columns of one or several Pieces side by side: X = [B_1 V_1, B_2 V_2, ...] - 1 About', with V_j
// the values of Pieces j and B_j a band, of each row the two numbers of Pieces.Row. Products are formed of bands, and take
// V in once for all rows.
type Interpolated struct {
	Parts []Part
	About []float64 // of all columns; nil: zeros
}

// Part are the columns of one Pieces.
type Part struct {
	Of   *Pieces
	Band Banded
}

// Dims are the rows and all columns.
func (x *Interpolated) Dims() (n, d int) {
	for i := range x.Parts {
		n, d = len(x.Parts[i].Band.First), d+x.Parts[i].Of.d
	}
	return n, d
}

func (*Interpolated) columns() {}

func interpolated(a Columns) bool {
	_, ok := a.(*Interpolated)
	return ok
}

// Leading is the first n rows of x, in x's memory.
func (x *Interpolated) Leading(n int) *Interpolated {
	y := &Interpolated{About: x.About}
	for _, part := range x.Parts {
		b := part.Band
		y.Parts = append(y.Parts, Part{part.Of, Banded{D: b.D, K: b.K, First: b.First[:n], Value: b.Value[:n*b.K], two: true}})
	}
	return y
}

func (x *Interpolated) shape() error {
	if x == nil || len(x.Parts) == 0 {
		return fmt.Errorf("design: interpolated columns without parts")
	}
	n, d := x.Dims()
	for i := range x.Parts {
		part := &x.Parts[i]
		if part.Band.D != len(part.Of.knots)+PieceColumns || part.Band.K != kernel.Band || part.Band.Cyclic || len(part.Band.First) != n {
			return fmt.Errorf("design: interpolated columns: part %d is no band of %d rows and %d columns", i, n, len(part.Of.knots)+PieceColumns)
		}
		if err := shape(&part.Band); err != nil {
			return err
		}
	}
	if x.About != nil && len(x.About) != d {
		return fmt.Errorf("design: interpolated columns: %d columns about %d numbers", d, len(x.About))
	}
	return nil
}

// row sets dst to row i.
func (x *Interpolated) row(dst []float64, i int) {
	at := 0
	for l := range x.Parts {
		part := &x.Parts[l]
		part.Of.row(dst[at:at+part.Of.d], part.Band.First[i], part.Band.Value[i*kernel.Band], part.Band.Value[i*kernel.Band+1])
		at += part.Of.d
	}
	for j, v := range x.About {
		dst[j] -= v
	}
}

// norm is MaxRowNorm.
func (x *Interpolated) norm() float64 {
	n, d := x.Dims()
	norm, row := 0.0, []float64(nil)
	for i := range n {
		sum := 0.0
		if len(x.Parts) == 1 && x.About == nil && x.Parts[0].Of.norms != nil {
			part := &x.Parts[0]
			sums, v := part.Of.norms[part.Band.First[i]:], part.Band.Value[i*kernel.Band:]
			sum = v[0]*sums[0] + v[1]*sums[1]
		} else {
			row = grown(row, d)
			x.row(row, i)
			for _, v := range row {
				sum += math.Abs(v)
			}
		}
		norm = max(norm, sum+(sum-sum)) // NaN stays
	}
	return norm
}

// mulVec sets dst to x beta: of each part a band times V beta, all of it or, of few rows, as much as they need. The bits of a
// row are the same either way.
func (x *Interpolated) mulVec(dst, beta []float64) error {
	clear(dst)
	at, about := 0, 0.0
	for j, v := range x.About {
		about += v * beta[j]
	}
	for l := range x.Parts {
		part := &x.Parts[l]
		own := beta[at : at+part.Of.d]
		if err := part.addMul(dst, own); err != nil {
			return err
		}
		at += part.Of.d
	}
	if about != 0 {
		for i := range dst {
			dst[i] -= about
		}
	}
	return nil
}

// addMul adds the part's columns times beta.
func (part *Part) addMul(dst, beta []float64) error {
	p, band := part.Of, &part.Band
	if len(dst) < len(p.knots) {
		var coef [2]float64
		for i, first := range band.First {
			if uint(first) >= uint(band.starts()) {
				return band.fault(i)
			}
			kernel.MulColumn(coef[:], p.values[int(first)*p.d:], p.d, 2, beta)
			v := band.Value[i*kernel.Band:]
			dst[i] += v[0]*coef[0] + v[1]*coef[1]
		}
		return nil
	}
	coef := make([]float64, band.D)
	kernel.MulColumn(coef, p.values, p.d, band.D, beta)
	for i, first := range band.First {
		if uint(first) >= uint(band.starts()) {
			return band.fault(i)
		}
		v, c := band.Value[i*kernel.Band:], coef[first:]
		dst[i] += v[0]*c[0] + v[1]*c[1]
	}
	return nil
}

// addSums is AddSums: the bands' sums times V.
func (x *Interpolated) addSums(dst []float64) error {
	n, _ := x.Dims()
	at := 0
	for l := range x.Parts {
		part := &x.Parts[l]
		sums, d := make([]float64, part.Band.D), part.Of.d
		if err := part.Band.each(func(_, j int, v float64) { sums[j] += v }); err != nil {
			return err
		}
		kernel.AddCross(dst[at:at+d], d, sums, 1, 1, part.Of.values, d, d, len(sums), nil)
		at += d
	}
	kernel.Axpy(dst, x.About, -float64(n))
	return nil
}

// about are the values of part l, whose columns begin at, less About: V - e about', e being 1 at knots and 0 at slopes.
func (x *Interpolated) about(dst []float64, l, at int) []float64 {
	p := x.Parts[l].Of
	dst = grown(dst, len(p.values))
	copy(dst, p.values)
	if x.About != nil {
		p.subtract(dst, x.About[at:at+p.d])
	}
	return dst
}

// subtract takes about from values of the functions, not from slopes.
func (p *Pieces) subtract(values, about []float64) {
	for j := range p.knots {
		row := values[(j+1)*p.d:][:p.d]
		kernel.Sub(row, row, about)
	}
}

// interpolatedWork is the memory of their products.
type interpolatedWork struct {
	values  [][]float64 // of each part, less About
	from    []span      // of each part
	pairs   []float64   // the two numbers of a part's rows, weighted
	table   []float64   // products of two bands
	product []float64   // times V
	cross   []float64   // of bands and other columns
}

// span are the rows of a band's table that have entries.
type span struct{ lo, n int }

// interpolatedCross adds a'Wb, of which one is Interpolated or both are; c is da x db.
func (k *Work) interpolatedCross(c blas64.General, a, b Columns, w []float64) error {
	x, first := a.(*Interpolated)
	y, second := b.(*Interpolated)
	if first && a == b {
		return k.interpolatedGram(c, x, w)
	}
	work, other := k, b
	if first && second {
		work = &Work{} // k is in use
	} else if second {
		x, other = y, a
	}
	own := &k.interpolated
	at, cols := 0, columnsIn(other)
	for l := range x.Parts {
		part := &x.Parts[l]
		d, rows := part.Of.d, part.Band.D
		own.cross = grown(own.cross, rows*cols)
		clear(own.cross)
		if err := work.AddCross(mat.NewDense(rows, cols, own.cross), &part.Band, other, w); err != nil {
			return err
		}
		own.product = x.about(own.product, l, at)
		if first {
			kernel.AddCross(c.Data[at*c.Stride:], c.Stride, own.product, d, d, own.cross, cols, cols, rows, nil)
		} else {
			kernel.AddCross(c.Data[at:], c.Stride, own.cross, cols, cols, own.product, d, d, rows, nil)
		}
		at += d
	}
	return nil
}

func columnsIn(a Columns) int {
	_, d := a.Dims()
	return d
}

// interpolatedGram adds x'Wx: of each two parts the table B_l'WB_m, to which a row adds four numbers, and then V_l' of it V_m.
func (k *Work) interpolatedGram(c blas64.General, x *Interpolated, w []float64) error {
	own := &k.interpolated
	own.from = own.from[:0]
	for len(own.values) < len(x.Parts) {
		own.values = append(own.values, nil)
	}
	at := 0
	for l := range x.Parts {
		part := &x.Parts[l]
		from, err := part.span()
		if err != nil {
			return err
		}
		own.from = append(own.from, from)
		own.values[l] = x.about(own.values[l], l, at)
		at += part.Of.d
	}
	at = 0
	for l := range x.Parts {
		a := &x.Parts[l]
		n, d, from := len(a.Band.First), a.Of.d, own.from[l]
		own.pairs = grown(own.pairs, 2*n)
		for i := range n {
			v, wi := a.Band.Value[i*kernel.Band:], weight(w, i)
			own.pairs[2*i], own.pairs[2*i+1] = wi*v[0], wi*v[1]
		}
		own.ownTable(a, from)
		own.timesOwn(l, d, from)
		block := c.Data[at*c.Stride+at:]
		own.cross = grown(own.cross, d*d)
		clear(own.cross)
		kernel.AddCross(own.cross, d, own.values[l][from.lo*d:], d, d, own.product, d, d, from.n, nil)
		for i := range d {
			for j := i; j < d; j++ {
				block[i*c.Stride+j] += own.cross[i*d+j]
				block[j*c.Stride+i] = block[i*c.Stride+j]
			}
		}
		to := at + d
		for m := l + 1; m < len(x.Parts); m++ {
			b, other := &x.Parts[m], own.from[m]
			own.addTable(a, b, from, other)
			own.product = grown(own.product, from.n*b.Of.d)
			kernel.Gemm(own.product, own.table, own.values[m][other.lo*b.Of.d:][:other.n*b.Of.d], from.n, b.Of.d, other.n)
			kernel.AddCross(c.Data[at*c.Stride+to:], c.Stride, own.values[l][from.lo*d:], d, d, own.product, b.Of.d, b.Of.d, from.n, nil)
			for i := range d {
				for j, v := range c.Data[(at+i)*c.Stride+to:][:b.Of.d] {
					c.Data[(to+j)*c.Stride+at+i] = v
				}
			}
			to += b.Of.d
		}
		at += d
	}
	return nil
}

// span is where the rows of part lie.
func (part *Part) span() (span, error) {
	lo, hi := int32(math.MaxInt32), int32(-1)
	for i, j := range part.Band.First {
		if uint(j) >= uint(part.Band.starts()) {
			return span{}, part.Band.fault(i)
		}
		lo, hi = min(lo, j), max(hi, j)
	}
	return span{int(lo), int(hi-lo) + 2}, nil
}

// ownTable sets the table to the diagonal of B'WB and, behind it, what is beside the diagonal.
func (k *interpolatedWork) ownTable(a *Part, from span) {
	k.table = grown(k.table, 2*from.n)
	clear(k.table)
	own, beside := k.table[:from.n], k.table[from.n:]
	for i, j := range a.Band.First {
		u, v, at := k.pairs[2*i:][:2], a.Band.Value[i*kernel.Band:][:2], int(j)-from.lo
		own[at] += u[0] * v[0]
		own[at+1] += u[1] * v[1]
		beside[at] += u[0] * v[1]
	}
}

// timesOwn sets the product to that table times V_l.
func (k *interpolatedWork) timesOwn(l, d int, from span) {
	k.product = grown(k.product, from.n*d)
	clear(k.product)
	own, beside := k.table[:from.n], k.table[from.n:]
	values := k.values[l][from.lo*d:][:from.n*d]
	for j := range from.n {
		to := k.product[j*d:][:d]
		kernel.Axpy(to, values[j*d:][:d], own[j])
		if j+1 < from.n {
			kernel.Axpy(to, values[(j+1)*d:][:d], beside[j])
			kernel.Axpy(k.product[(j+1)*d:][:d], values[j*d:][:d], beside[j])
		}
	}
}

// addTable sets the table to B_a'WB_b.
func (k *interpolatedWork) addTable(a, b *Part, from, other span) {
	k.table = grown(k.table, from.n*other.n)
	clear(k.table)
	ld, second := other.n, b.Band.First[:len(a.Band.First)]
	base := from.lo*ld + other.lo
	for i, j := range a.Band.First {
		u, v := (*[2]float64)(k.pairs[2*i:]), (*[2]float64)(b.Band.Value[i*kernel.Band:])
		row := k.table[int(j)*ld+int(second[i])-base:]
		upper, lower := (*[2]float64)(row), (*[2]float64)(row[ld:])
		upper[0] += u[0] * v[0]
		upper[1] += u[0] * v[1]
		lower[0] += u[1] * v[0]
		lower[1] += u[1] * v[1]
	}
}
