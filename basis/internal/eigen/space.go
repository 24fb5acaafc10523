package eigen

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// space is an orthonormal basis Q of a Krylov space of e, and what e does in it. Vectors are columns of
// matrices with n rows, so that many are multiplied at once.
type space struct {
	e    Operator
	m    int       // vectors so far
	room int       // for vectors
	q    []float64 // n x room
	qeq  []float64 // Q'eQ (room x room), on and above the diagonal

	inside  []float64   // memory: what vectors have in the space,
	columns [][]float64 // and vectors one by one
}

// add takes in orthonormal vectors (n x width) orthogonal to those that are there, and returns e
// times them.
func (s *space) add(next []float64, width int) []float64 {
	if s.m+width > s.room {
		s.grow(min(2*(s.m+width), s.e.N))
	}
	images := make([]float64, s.e.N*width)
	s.e.Times(images, next, width)
	place(s.q[s.m:], s.room, next, width)
	s.m += width
	kernel.AddCross(s.qeq[s.m-width:], s.room, s.q, s.room, s.m, images, width, width, s.e.N, nil)
	return images
}

func (s *space) grow(room int) {
	q, qeq := make([]float64, s.e.N*room), make([]float64, room*room)
	for i := range s.e.N {
		copy(q[i*room:], s.q[i*s.room:][:s.m])
	}
	for i := range s.m {
		copy(qeq[i*room:], s.qeq[i*s.room:][:s.m])
	}
	s.room, s.q, s.qeq = room, q, qeq
}

// place copies rows of width numbers to dst, whose rows are ldd apart.
func place(dst []float64, ldd int, rows []float64, width int) {
	for i := 0; i*width < len(rows); i++ {
		copy(dst[i*ldd:][:width], rows[i*width:])
	}
}

// project subtracts the components of v (n x width) in the space.
func (s *space) project(v []float64, width int) {
	if s.m == 0 {
		return
	}
	c := make([]float64, s.m*width)
	kernel.AddCross(c, width, s.q, s.room, s.m, v, width, width, s.e.N, nil)
	s.inside = slices.Grow(s.inside[:0], len(v))[:len(v)]
	kernel.Pack(s.m, width, c, false).Mul(s.inside, width, s.q, s.room, s.e.N, nil)
	kernel.Sub(v, v, s.inside)
}

// orthonormal makes the vectors next (n x width) orthonormal to the space and to each other, in place. It
// returns R (width x width) with remainder = next R, the remainder being what was
// left of the vectors outside the space. A vector that is in it is replaced by a random one,
// of which the remainder has nothing.
func (s *space) orthonormal(next []float64, width int, r *rand.Rand) *mat.Dense {
	coupling := mat.NewDense(width, width, nil)
	for i := range width {
		coupling.Set(i, i, 1)
	}
	// Again and again, until little is taken: the rest may be as small as the rounding of the part that was
	// taken.
	for again := true; again; {
		before := norms(next, width)
		s.project(next, width)
		s.columns = columnsOf(s.columns, next, width)
		var c *mat.Dense
		c, again = s.orthonormalAmong(s.columns, before, r)
		setColumns(next, s.columns)
		coupling.Mul(c, coupling)
	}
	return coupling
}

// orthonormalAmong makes vectors orthonormal that are orthogonal to the space but for rounding, and tells whether one of
// them has left more than half of what it was before: then that rounding may have grown.
func (s *space) orthonormalAmong(vectors [][]float64, before []float64, r *rand.Rand) (c *mat.Dense, again bool) {
	c = mat.NewDense(len(vectors), len(vectors), nil)
	for i, v := range vectors {
		for j, w := range vectors[:i] {
			d := kernel.Dot(v, w)
			kernel.Axpy(v, w, -d)
			c.Set(j, i, d)
		}
		left := norm(v)
		switch {
		case left > 1e-14*before[i]:
			c.Set(i, i, left)
			floats.Scale(1/left, v)
			again = again || left < before[i]/2
		case s.m+i >= s.e.N:
			clear(v) // the whole space is spanned
		default:
			s.anyOther(v, vectors[:i], r)
		}
	}
	return c, again
}

// anyOther sets v to a random unit vector that is orthogonal to the space and to the vectors.
func (s *space) anyOther(v []float64, vectors [][]float64, r *rand.Rand) {
	copy(v, normals(r, len(v)))
	for range 3 {
		s.project(v, 1)
		for _, w := range vectors {
			kernel.Axpy(v, w, -kernel.Dot(v, w))
		}
		floats.Scale(1/norm(v), v)
	}
}

// ritz takes the k leading pairs from the space, and tells whether their
// residuals, known from the coupling to the next vectors, are small: relative to each
// eigenvalue, or to floor times the largest.
func (s *space) ritz(coupling *mat.Dense, k int, accuracy, floor float64) ([]float64, *mat.Dense, bool, error) {
	t := mat.NewSymDense(s.m, nil)
	for i := range s.m {
		copy(t.RawSymmetric().Data[i*s.m+i:(i+1)*s.m], s.qeq[i*s.room+i:])
	}
	var d mat.EigenSym
	if !d.Factorize(t, true) {
		return nil, nil, false, ErrConvergence
	}
	var y mat.Dense
	d.VectorsTo(&y)
	values := d.Values(nil)
	order := largest(values, k)
	out, chosen := make([]float64, k), mat.NewDense(s.m, k, nil)
	done := true
	floor *= math.Max(math.Abs(values[0]), math.Abs(values[s.m-1]))
	width, _ := coupling.Dims()
	last := y.Slice(s.m-width, s.m, 0, s.m).(*mat.Dense)
	for j, at := range order {
		out[j] = values[at]
		chosen.SetCol(j, mat.Col(nil, at, &y))
		var left mat.VecDense
		left.MulVec(coupling, last.ColView(at))
		done = done && left.Norm(2) <= math.Max(accuracy*math.Abs(out[j]), floor)
	}
	u := mat.NewDense(s.e.N, k, nil)
	kernel.Pack(s.m, k, chosen.RawMatrix().Data, false).Mul(u.RawMatrix().Data, k, s.q, s.room, s.e.N, nil)
	return out, u, done, nil
}

func normals(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	return v
}

// columnsOf are the columns of rows of width numbers, in the memory of old if it fits.
func columnsOf(old [][]float64, rows []float64, width int) [][]float64 {
	if len(old) != width {
		old = make([][]float64, width)
		for j := range old {
			old[j] = make([]float64, len(rows)/width)
		}
	}
	for j, column := range old {
		for i := range column {
			column[i] = rows[i*width+j]
		}
	}
	return old
}

// setColumns writes columns into rows of as many numbers.
func setColumns(rows []float64, columns [][]float64) {
	for j, column := range columns {
		for i, v := range column {
			rows[i*len(columns)+j] = v
		}
	}
}

// norms are those of the columns of rows of width numbers.
func norms(rows []float64, width int) []float64 {
	out := make([]float64, width)
	for row := range slices.Chunk(rows, width) {
		for j, v := range row {
			out[j] += v * v
		}
	}
	for j, square := range out {
		if out[j] = math.Sqrt(square); !plain(square) {
			out[j] = norm(columnsOf(nil, rows, width)[j])
		}
	}
	return out
}

// norm is that of v, by its square where that is a normal number.
func norm(v []float64) float64 {
	if square := kernel.Dot(v, v); plain(square) {
		return math.Sqrt(square)
	}
	return floats.Norm(v, 2)
}

// plain tells that a sum of squares is neither too large nor too small for its digits to count.
func plain(square float64) bool { return square > 1e-250 && square < 1e250 }
