package moments

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// packed are the products of columns about their means on and above the diagonal, row by row. Of the
// columns of a basis with each other it holds those that are less than a width apart. No row has both columns
// of the others, the levels of a factor, say: their product about the means is -W m_i m_j, W being the
// sum of weights, and is told by these numbers (Moments.apart).
// Which products these are is told by the numbers and not by how columns were stored, so that sums
// that were written merge to the same bits.
type packed struct {
	width []int // by basis
	end   []int // by column: the first column of its basis that its row leaves out
	next  []int // by column: the first of the next basis
	at    []int // by column: where its row begins, then the end
	data  []float64
}

// heldWidth is the width for products that are apart from width w on, of a basis of d columns: all are held
// where that takes little more room.
func heldWidth(w, d int) int {
	if w == 1 || 8*w <= d {
		return w
	}
	return d
}

// sized is zeros of the widths for bases that begin at off; g itself, with its numbers, if these are its widths.
func (g *packed) sized(off, width []int) *packed {
	if g != nil && slices.Equal(g.width, width) {
		return g
	}
	p := off[len(width)]
	g = &packed{width: width, end: make([]int, p), next: make([]int, p), at: make([]int, p+1)}
	for a, w := range width {
		for i := off[a]; i < off[a+1]; i++ {
			g.end[i], g.next[i] = min(i+w, off[a+1]), off[a+1]
			g.at[i+1] = g.at[i] + g.end[i] - i + p - off[a+1]
		}
	}
	g.data = kernel.Zeros[float64](g.at[p])
	return g
}

// clone is a copy; nil of nil.
func (g *packed) clone() *packed {
	if g == nil {
		return nil
	}
	c := *g
	c.data = slices.Clone(g.data)
	return &c
}

// own are the products of column i with those of its basis from i on.
func (g *packed) own(i int) []float64 { return g.data[g.at[i]:][:g.end[i]-i] }

// rest are the products of column i with columns [from, to) of the next bases; or of its own, if all are held.
func (g *packed) rest(i, from, to int) []float64 {
	at := g.at[i] + g.end[i] - i - g.next[i]
	return g.data[at+from : at+to]
}

// rowTo are the products of column i from itself on with those before to of its basis, or of others behind it if
// all of its basis are held.
func (g *packed) rowTo(i, to int) []float64 {
	if g.end[i] < g.next[i] {
		return g.own(i)
	}
	return g.rest(i, i, to)
}

// row is the row of column i as own and rest have it.
func (m *Moments) row(i, next int) (own, rest []float64) {
	p := len(m.Mean)
	if m.held != nil {
		return m.held.own(i), m.held.rest(i, next, p)
	}
	xx := m.XX.RawSymmetric()
	row := xx.Data[i*xx.Stride:][:p]
	return row[i:next], row[next:]
}

// apart writes the products of column i with those from j on as they are if no row has both.
func (m *Moments) apart(row []float64, i, j int) {
	s := m.SumW * m.Mean[i]
	for l, v := range m.Mean[j:][:len(row)] {
		row[l] = 0 - s*v
	}
}

// widths are the least widths by basis that leave no other products to be held than those that are told by
// the numbers: not by how they came about, so that sums read from files merge to the same bits.
func (m *Moments) widths() []int {
	width, off := make([]int, len(m.Layout.Bases)), m.Layout.offsets()
	for a := range width {
		d, w := off[a+1]-off[a], 1
		for i := off[a]; i < off[a+1] && heldWidth(w, d) == w; i++ {
			s := m.SumW * m.Mean[i]
			own, _ := m.row(i, off[a+1])
			for j := len(own) - 1; j >= w; j-- {
				if own[j] != 0-s*m.Mean[i+j] {
					w = j + 1
				}
			}
		}
		width[a] = heldWidth(w, d)
	}
	return width
}

// packed is m's products in these widths, which are at least the least ones; m's own memory if it has them so.
func (m *Moments) packed(width []int) *packed {
	if m.held != nil && slices.Equal(m.held.width, width) {
		return m.held
	}
	var g *packed
	g = g.sized(m.Layout.offsets(), width)
	for i := range m.Mean {
		from, rest := m.row(i, g.next[i])
		own := g.own(i)
		if n := copy(own, from); n < len(own) {
			m.apart(own[n:], i, i+n)
		}
		copy(g.rest(i, g.next[i], len(m.Mean)), rest)
	}
	return g
}

// fill writes all products to XX.
func (m *Moments) fill() {
	g := m.held
	if g == nil {
		return
	}
	p := len(m.Mean)
	m.XX = symmetric(p)
	for i := range p {
		row := m.XX.RawSymmetric().Data[i*p:][:p]
		copy(row[i:], g.own(i))
		m.apart(row[g.end[i]:g.next[i]], i, g.end[i])
		copy(row[g.next[i]:], g.rest(i, g.next[i], p))
	}
	m.held = nil
}

// filled is m with all products in XX: itself if it has them, else another that shares the rest.
func (m *Moments) filled() *Moments {
	if m.held == nil {
		return m
	}
	c := *m
	c.fill()
	return &c
}

// visitRows visits the rows on and above the diagonal, in pieces, which are m's own but for what is told.
func (m *Moments) visitRows(visit func([]float64)) {
	g := m.held
	if g == nil {
		visitTriangle(m.XX, visit)
		return
	}
	told := make([]float64, slices.Max(append(slices.Clone(g.next), 0)))
	for i := range m.Mean {
		visit(g.own(i))
		told := told[:g.next[i]-g.end[i]]
		m.apart(told, i, g.end[i])
		visit(told)
		visit(g.rest(i, g.next[i], len(m.Mean)))
	}
}

// unpacked is the empty matrix that stands for XX of what is packed.
func unpacked() *mat.SymDense { return &mat.SymDense{} }

// pack holds m's products packed.
func (m *Moments) pack() {
	if m.R == nil {
		m.held, m.XX = m.packed(m.widths()), unpacked()
	}
}
