package interaction

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/taskpool"
)

// collinear: what is left of a pair's direction beside the columns before it, relative to
// all of it, when it counts as theirs.
const collinear = 1e-7

// step is a chosen pair and the gain over the pairs chosen before it.
type step struct {
	pair [2]int
	gain float64 // of sum w r^2
	p    float64 // of the one test
}

// selection chooses candidates one after the other. K, g and B are the products, scores and
// sandwich of their columns, less what the columns already in explain: with L what leaves
// them out, K = L'GL, g = L'Z'Wr, B = L'(Z' W^2 r^2 Z)L.
type selection struct {
	pairs     [][2]int
	begins    []int // of each candidate's columns; the last is their number
	reference []float64
	k, b      *mat.Dense // the upper triangle, by candidates
	g         []float64
	single    float64 // what functions of single columns explain of sum w r^2
}

// newSelection takes out what is known: 1, functions of single columns, pairs of the
// formula.
func newSelection(f *functions, p *products, workers int) *selection {
	n, m := p.n, f.known
	gram, sandwich := mat.NewDense(n, n, p.gram), mat.NewDense(n, n, p.sandwich)
	s := &selection{pairs: f.pairs[f.first:], g: append([]float64(nil), p.score[m:]...)}
	for _, at := range f.begins[f.first:] {
		s.begins = append(s.begins, at-m)
	}
	for j := m; j < n; j++ {
		s.reference = append(s.reference, p.gram[j*n+j]-p.gram[j]*p.gram[j]/p.weight)
	}
	own := make([]float64, m)
	for j := range own {
		own[j] = p.gram[j*n+j]
	}
	h := factorised(dense(gram.Slice(0, m, 0, m)), m, own, tolerance)
	s.single = h.quadratic(p.score[:m]) - h.trace(dense(sandwich.Slice(0, m, 0, m)), m)

	if len(s.pairs) == 0 {
		return s
	}
	kept := len(h.kept)
	rows := func(a *mat.Dense, lo, hi int) *mat.Dense { // the kept rows of a's columns lo to hi
		out := mat.NewDense(kept, hi-lo, nil)
		for i, at := range h.kept {
			out.SetRow(i, a.RawRowView(at)[lo:hi])
		}
		return out
	}
	s.k, s.b = mat.DenseCopyOf(gram.Slice(m, n, m, n)), mat.DenseCopyOf(sandwich.Slice(m, n, m, n))
	beside := rows(gram, m, n)
	inner := mat.NewDense(kept, kept, nil)
	for i, at := range h.kept {
		for j, other := range h.kept {
			inner.Set(i, j, sandwich.At(at, other))
		}
	}
	pool := taskpool.New(workers)
	defer pool.Close()
	pool.Each(len(s.pairs), s.without(h, beside, rows(sandwich, m, n), inner, h.pick(p.score[:m])))
	return s
}

// without takes from candidates the part that others explain; the products of the others are factored as f: each by the
// function returned, of which several calls may run at once. beside are the others' products with the candidates'
// columns, c and d their sandwich with those and among themselves, own their scores. K becomes K - A'GA, B becomes B -
// A'C - C'A + A'DA = B + A'H + H'A with H = DA/2 - C.
func (s *selection) without(f *semidefinite, beside, c, d *mat.Dense, own []float64) func(candidate int) {
	a := f.solved(beside)
	beside.Scale(-1, beside)
	half := transMul(d, a) // D is symmetric
	half.Scale(0.5, half)
	half.Sub(half, c)
	q := s.begins[len(s.pairs)]
	return func(j int) {
		first, next := s.begins[j], s.begins[j+1]
		from := func(m *mat.Dense, end int) *mat.Dense { return m.Slice(0, f.rank(), first, end).(*mat.Dense) }
		b, k := s.b.Slice(first, next, first, q).(*mat.Dense), s.k.Slice(first, next, first, q).(*mat.Dense)
		addTransMul(b, from(a, next), from(half, q))
		addTransMul(b, from(half, next), from(a, q))
		addTransMul(k, from(beside, next), from(a, q))
		for i, v := range own {
			for c := first; c < next; c++ {
				s.g[c] -= a.At(i, c) * v
			}
		}
	}
}

// transMul is a'b.
func transMul(a, b *mat.Dense) *mat.Dense {
	_, p := a.Dims()
	_, q := b.Dims()
	out := mat.NewDense(p, q, nil)
	addTransMul(out, a, b)
	return out
}

// addTransMul adds a'b to dst.
func addTransMul(dst, a, b *mat.Dense) {
	to, x, y := dst.RawMatrix(), a.RawMatrix(), b.RawMatrix()
	kernel.AddTransMul(to.Data, to.Stride, x.Data, x.Stride, x.Cols, y.Data, y.Stride, y.Cols, x.Rows)
}

// dense is a, row by row.
func dense(a mat.Matrix) []float64 { return mat.DenseCopyOf(a).RawMatrix().Data }

// beyondDoubt is the p of one test below which only the gain counts.
const beyondDoubt = 1e-12

// better tells whether the first is the surer pair or, of two that are beyond doubt, takes more.
func better(a, b score) bool {
	if x, y := max(a.p, beyondDoubt), max(b.p, beyondDoubt); x != y {
		return x < y
	}
	return a.gain > b.gain
}

// choose takes the best pair among those that pass the test at p < level, until none does, by so
// many goroutines.
func (s *selection) choose(level float64, workers int) []step {
	pool := taskpool.New(workers)
	defer pool.Close()
	var steps []step
	left, scores := make([]int, len(s.pairs)), make([]score, len(s.pairs))
	for j := range left {
		left[j] = j
	}
	after := func(int) {} // what the choice of a pair does to another
	for range s.pairs {
		pool.Each(len(left), func(i int) {
			after(left[i])
			scores[left[i]] = s.score(left[i])
		})
		best, found := score{p: level}, -1
		for i, j := range left {
			if c := scores[j]; c.p < level && c.gain > 0 && better(c, best) {
				best, found = c, i
			}
		}
		if found < 0 {
			break
		}
		chosen := left[found]
		steps, left = append(steps, step{pair: s.pairs[chosen], gain: best.gain, p: best.p}), slices.Delete(left, found, found+1)
		after = s.takeOut(chosen)
	}
	return steps
}

// block is the columns of candidate j.
func (s *selection) block(a *mat.Dense, j int) []float64 {
	lo, hi := s.begins[j], s.begins[j+1]
	return dense(a.Slice(lo, hi, lo, hi))
}

// score is what candidate j adds to the columns already in.
func (s *selection) score(j int) score {
	lo, hi := s.begins[j], s.begins[j+1]
	if lo == hi {
		return score{p: 1}
	}
	return scored(s.g[lo:hi], s.block(s.k, j), s.block(s.b, j), s.reference[lo:hi], collinear)
}

// takeOut takes what candidate j explains from the others: each by the function returned, as without says.
func (s *selection) takeOut(j int) func(other int) {
	lo, hi := s.begins[j], s.begins[j+1]
	q := s.begins[len(s.pairs)]
	f := factorised(s.block(s.k, j), hi-lo, s.reference[lo:hi], collinear)
	rows := func(a *mat.Dense) *mat.Dense { // the kept rows of the block above, R_ij
		out := mat.NewDense(f.rank(), q, nil)
		for i, at := range f.kept {
			row := out.RawRowView(i)
			for c := range lo {
				row[c] = a.At(c, lo+at)
			}
			copy(row[lo:], a.RawRowView(lo + at)[lo:])
		}
		return out
	}
	among := rows(s.b)
	inner := mat.NewDense(f.rank(), f.rank(), nil)
	for i := range f.kept {
		for l, other := range f.kept {
			inner.Set(i, l, among.At(i, lo+other))
		}
	}
	return s.without(f, rows(s.k), among, inner, f.pick(s.g[lo:hi]))
}
