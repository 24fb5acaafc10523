package interaction

import (
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/internal/base/kernel"
)

// blockRows is how many rows' functions are formed at a time.
const blockRows = 128

// line is how many numbers a line of the cache holds.
const line = 8

// panels are the functions of some rows: functions of single columns side by side, then of each
// pair, so that factors of one product lie together.
type panels struct {
	begins []int // of each panel in functions, and the width
	starts []int // in values; rows begin where lines of the cache do
	values []float64
}

// panels have memory for blockRows rows.
func (f *functions) panels() *panels {
	p := &panels{begins: append([]int{0}, f.begins...), starts: []int{0}}
	for i := range f.begins {
		p.starts = append(p.starts, p.starts[i]+blockRows*p.stride(i))
	}
	p.values = kernel.Aligned(p.starts[len(f.begins)])
	return p
}

// stride is how far apart rows of a panel are.
func (p *panels) stride(i int) int { return (p.begins[i+1] - p.begins[i] + line - 1) &^ (line - 1) }

// set sets row l.
func (p *panels) set(l int, row []float64) {
	for i := range len(p.begins) - 1 {
		copy(p.values[p.starts[i]+l*p.stride(i):], row[p.begins[i]:p.begins[i+1]])
	}
}

// at is where function j begins, and how far apart rows are.
func (p *panels) at(j int) ([]float64, int) {
	i := sort.SearchInts(p.begins, j+1) - 1
	return p.values[p.starts[i]+j-p.begins[i]:], p.stride(i)
}

// packed are what products are formed of: matrices hold the products of functions of single columns,
// and behind those the blocks, one after another, so that they pass through the cache in order.
type packed struct {
	gram, sandwich []float64
	score          []float64
	weight, square float64
}

// add adds the sums of the rows that follow.
func (s *packed) add(o *packed) {
	floats.Add(s.gram, o.gram)
	floats.Add(s.sandwich, o.sandwich)
	floats.Add(s.score, o.score)
	s.weight += o.weight
	s.square += o.square
}

// summing is what sums them.
type summing struct {
	*functions
	blocks    []block
	row       []float64 // of functions
	each      []float64
	z, scaled *panels
	*packed
}

func (f *functions) summing(blocks []block) *summing {
	size := f.begins[0] * f.begins[0]
	for _, b := range blocks {
		size += b.size()
	}
	n := f.width()
	return &summing{
		functions: f, blocks: blocks,
		row: make([]float64, n), each: make([]float64, f.offsets[len(f.scales)]),
		z: f.panels(), scaled: f.panels(),
		packed: &packed{gram: kernel.Zeros[float64](size), sandwich: kernel.Zeros[float64](size), score: make([]float64, n)},
	}
}

func (b block) size() int { return (b.hi - b.lo) * (b.to - b.from) }

// rows sums the rows of v from first up to next. w nil: ones.
func (s *summing) rows(v *values, w, r, e []float64, inflation float64, first, next int) {
	var weight, noise [blockRows]float64
	for ; first < next; first += blockRows {
		rows := min(blockRows, next-first)
		for l := range rows {
			i, wi := first+l, 1.0
			if w != nil {
				wi = w[i]
			}
			s.fill(s.row, s.each, v, i)
			s.z.set(l, s.row)
			kernel.Axpy(s.score, s.row, wi*r[i])
			weight[l], noise[l] = wi, inflation*wi*e[i]*wi*e[i]
			s.weight += wi
			s.square += wi * r[i] * r[i]
		}
		if w == nil {
			s.sum(s.gram, nil, rows)
		} else {
			s.sum(s.gram, weight[:rows], rows)
		}
		s.sum(s.sandwich, noise[:rows], rows)
	}
}

// sum adds z'wz of a block of rows.
func (s *summing) sum(to, w []float64, rows int) {
	own := s.begins[0]
	x, xs := s.z.at(0)
	kernel.AddGram(to[:own*own], own, x, xs, own, rows, w)
	of := s.z
	if w != nil {
		of = s.scaled
		s.scale(w)
	}
	to = to[own*own:]
	for _, b := range s.blocks {
		x, xs := s.z.at(b.lo)
		y, ys := of.at(b.from)
		kernel.AddCross(to[:b.size()], b.to-b.from, x, xs, b.hi-b.lo, y, ys, b.to-b.from, rows, nil)
		to = to[b.size():]
	}
}

// scale sets the functions of pairs times weights.
func (s *summing) scale(w []float64) {
	for i := 1; i+1 < len(s.z.begins); i++ {
		stride, from := s.z.stride(i), s.z.starts[i]
		for l, v := range w {
			floats.ScaleTo(s.scaled.values[from+l*stride:][:stride], v, s.z.values[from+l*stride:][:stride])
		}
	}
}

// products are the sums in their places; what the blocks do not hold is 0.
func (s *summing) products() *products {
	p := newProducts(s.width())
	p.score, p.weight, p.square = s.score, s.weight, s.square
	for _, m := range []struct{ to, from []float64 }{{p.gram, s.gram}, {p.sandwich, s.sandwich}} {
		from := m.from
		for _, b := range append([]block{{0, s.begins[0], 0, s.begins[0]}}, s.blocks...) {
			for i := b.lo; i < b.hi; i++ {
				from = from[copy(m.to[i*p.n+b.from:i*p.n+b.to], from):]
			}
		}
	}
	return p
}
