package moments

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/householder"
)

// stack gathers the rows [1, x, r] of a chunk, panelRows at a time, into their
// triangular factor. Rows are taken about the first panel's means, so that what
// remains to be centred is of the size of the deviations, not of the means.
type stack struct {
	layout Layout
	held   []int // columns of bases in any predictor
	off    []int // of each basis, as in the layout
	at     []int // first place of each basis in a row; -1: in no predictor
	width  int   // 1 + columns held + responses

	n       int
	rows, w []float64 // panelRows rows and their weights
	shifted bool
	shift   []float64 // by place; 0 for the 1
	r       []float64 // width x width, upper
	work    householder.Work
}

func newStack(l Layout) *stack {
	s := &stack{layout: l, held: l.factored(), off: l.offsets(), width: 1}
	for a, uses := range l.uses() {
		at := -1
		if len(uses) > 0 {
			at = s.width
			s.width += l.Bases[a].Dim
		}
		s.at = append(s.at, at)
	}
	s.width += l.Responses
	return s
}

func (s *stack) allocate() {
	s.rows, s.w = make([]float64, panelRows*s.width), make([]float64, panelRows)
	s.shift, s.r = make([]float64, s.width), make([]float64, s.width*s.width)
}

func (s *stack) reset() {
	s.n, s.shifted = 0, false
	clear(s.shift)
	clear(s.r)
}

// add copies row i of the operands, whose weight is positive.
func (s *stack) add(x []design.Columns, w float64, r *mat.Dense, i int) {
	row := s.rows[s.n*s.width:][:s.width]
	row[0] = 1
	for a, c := range x {
		if at := s.at[a]; at >= 0 {
			design.CopyRow(row[at:at+s.layout.Bases[a].Dim], c, i)
		}
	}
	if r != nil {
		m := r.RawMatrix()
		copy(row[s.width-s.layout.Responses:], m.Data[i*m.Stride:][:m.Cols])
	}
	s.w[s.n] = w
	if s.n++; s.n == panelRows {
		s.flush()
	}
}

// flush stacks the rows gathered, times the roots of their weights, on the factor.
func (s *stack) flush() {
	if s.n == 0 {
		return
	}
	if !s.shifted {
		s.means()
		s.shifted = true
	}
	for i, w := range s.w[:s.n] {
		row := s.rows[i*s.width:][:s.width]
		floats.Sub(row, s.shift)
		if w != 1 {
			floats.Scale(math.Sqrt(w), row)
		}
	}
	householder.Stack(s.r, s.width, s.rows, s.width, s.n, s.n, &s.work)
	s.n = 0
}

// means sets the shift to the weighted means of the rows gathered, taken about
// the first row so that a constant column has exactly its value.
func (s *stack) means() {
	sum := floats.Sum(s.w[:s.n])
	first := s.rows[:s.width]
	for i := 1; i < s.n; i++ {
		f := s.w[i] / sum
		for j, v := range s.rows[i*s.width:][:s.width] {
			s.shift[j] += f * (v - first[j])
		}
	}
	floats.Add(s.shift[1:], first[1:])
}

// centre writes means and factor to m. The first row of the factor of [1, x] is
// the mean of x times its first entry, up to that one's sign; the rest is the
// factor of the centred columns.
func (s *stack) centre(m *Moments) {
	s.flush()
	mean := func(place int) (float64, float64) {
		return twoSum(s.shift[place], s.r[place]/s.r[0])
	}
	for i, j := range s.held {
		m.Mean[j], m.low[j] = mean(1 + i)
	}
	for k := range m.MeanR {
		m.MeanR[k], m.lowR[k] = mean(1 + len(s.held) + k)
	}
	t := m.R.RawTriangular()
	for i := range t.N {
		copy(t.Data[i*t.Stride+i:][:t.N-i], s.r[(i+1)*s.width+i+1:])
	}
}
