package penalty

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// spectrumTolerance separates the range of a penalty from its null space,
// relative to the largest eigenvalue.
const spectrumTolerance = 1e-12

// system is a Problem in coordinates b in which penalties are simple: columns
// have standard deviation 1, each term is rotated to the eigenvectors of its
// penalty, and the directions that lie in null(X) and null(S) are gone. The
// first coordinates are the penalised ones, term by term, then come those that
// no penalty touches. alpha = basis b.
type system struct {
	ctx        context.Context // of the call that it is made for; nil: never done
	n, sumLogW float64
	one        float64 // 1 with an intercept, else 0
	q          int
	gram       *mat.SymDense // q x q
	responses  []response    // z and the others
	among      float64       // how many of them are independent
	data       *mat.Dense    // m x q: the columns of Problem.Factor in these coordinates; nil: none
	basis      *basis        // p x q; nil if q is 0
	spare      []float64     // memory for a q x q matrix, if a criterion wants it; nil: there is none
	dropped    *mat.Dense    // p x (p-q), orthonormal, or nil
	kept       []float64     // p: diagonal of the projection onto what was not dropped

	blocks    []block
	penalties []penalty
	penalised int // sum of the blocks' dimensions = rank(S)

	// What the change of coordinates added to log|X'WX+S| and log|S|_+; with the
	// intercept's log(sum w) in the first.
	logDetA, logDetS float64
}

// response is one of the responses in the coordinates of the system.
type response struct {
	cross []float64 // X'Wz: q
	zz    float64   // z'Wz
	y     []float64 // beside the rows of data: m; empty without
}

// block is the penalised part of one term: coordinates lo..lo+dim of the system.
type block struct {
	lo, dim   int
	penalties []int // into system.penalties
}

// penalty is root'root on its block, root being rank x dim. A term with one
// penalty has a diagonal root.
type penalty struct {
	index     int // among all penalties of the problem
	component int
	block     int
	root      *mat.Dense
	diag      []float64 // the square root of the diagonal of S; nil if root is used
	lo        int       // first row of this penalty in stacked roots
	rank      int
	pair      *pair // of the two penalties of a block; nil: they are others, or more
}

// mp is Mp: the dimension of what is not penalised, with the intercept.
func (s *system) mp() float64 { return s.one + float64(s.q-s.penalised) }

// reduce changes coordinates. live tells which penalties take part; a penalty
// whose lambda is fixed at zero does not.
func reduce(ctx context.Context, p *Problem, live []bool, tol float64) (*system, error) {
	dim := len(p.XZ)
	s := &system{ctx: ctx, n: float64(p.Rows), sumLogW: p.SumLogW, among: p.independent()}
	for _, r := range p.responses() {
		if p.Intercept && constant(r.ZZ/p.SumW, r.ZMean, 1e-12) {
			r.ZZ = 0
		}
		s.responses = append(s.responses, response{zz: r.ZZ})
	}
	if p.Intercept {
		s.one = 1
		s.logDetA = math.Log(p.SumW)
	}
	if dim == 0 {
		return s, nil
	}
	s.kept = make([]float64, dim)
	for i := range s.kept {
		s.kept[i] = 1
	}

	d, varies := p.scales()
	for _, v := range d {
		s.logDetA += 2 * math.Log(v)
	}
	gram := mat.NewSymDense(dim, nil)
	to, from := gram.RawSymmetric(), p.dense().RawSymmetric()
	linalg.EachRow(dim, func(i int) {
		row := to.Data[i*to.Stride : i*to.Stride+dim]
		for j, v := range from.Data[i*from.Stride+i : i*from.Stride+dim] {
			row[i+j] = varies[i] * varies[i+j] * v / (d[i] * d[i+j])
		}
	})
	// The terms' eigenvectors make an orthogonal block diagonal matrix, of which penalised
	// and free list the columns.
	w := &basis{n: dim}
	var penalised, free []int
	spectra, err := p.spectra(ctx, d, live)
	if err != nil {
		return nil, err
	}
	for k, t := range p.Terms {
		own := spectra[k]
		s.add(own, d[t.Start:t.Start+t.Dim])
		for i := range t.Dim {
			if i < own.rank {
				penalised = append(penalised, t.Start+i)
			} else {
				free = append(free, t.Start+i)
			}
		}
		if own.rank > 0 && !isIdentity(own.vectors) {
			w.blocks = append(w.blocks, linalg.Block{At: t.Start, B: own.vectors})
		}
	}
	linalg.Congruence(gram, w.blocks, true)
	if s.stopped() {
		return nil, ctx.Err()
	}

	// Directions in null(X) and null(S) at once are in the unpenalised
	// coordinates, and there they are the null space of the gram matrix.
	var drop *mat.Dense
	kept := len(free)
	if len(free) > 0 {
		var err error
		if w.keep, drop, err = splitNull(gram, free, p.SumW, tol); err != nil {
			return nil, err
		}
		if drop != nil {
			kept = 0
			if w.keep != nil {
				_, kept = w.keep.Dims()
			}
		}
	}
	if s.stopped() {
		return nil, ctx.Err()
	}
	s.q = len(penalised) + kept
	w.order, w.penalised, w.q = append(penalised, free...), len(penalised), s.q
	if drop != nil {
		t := mat.NewDense(dim, dim-s.q, nil)
		for i, at := range free {
			t.SetRow(at, drop.RawRowView(i))
		}
		s.dropDirections(w.turned(t), d)
	}
	if s.q == 0 {
		return s, nil
	}
	s.basis, s.gram = w, w.ordered(gram)
	s.spare = gram.RawSymmetric().Data
	w.scale = make([]float64, dim)
	for i, v := range d {
		w.scale[i] = 1 / v
	}
	for i, r := range p.responses() {
		s.responses[i].rotate(&r, w, varies)
	}
	if p.Factor != nil {
		s.data = rotatedRows(p.Factor, w.dense(), varies)
	}
	return s, nil
}

// spectra are those of the terms, found several at the same time.
func (p *Problem) spectra(ctx context.Context, d []float64, live []bool) ([]*spectrum, error) {
	first := make([]int, len(p.Terms)) // of each term's penalties
	for i, next := 0, 0; i < len(p.Terms); i++ {
		first[i] = next
		next += len(p.Terms[i].S)
	}
	all, faults := make([]*spectrum, len(p.Terms)), make([]error, len(p.Terms))
	linalg.Each(len(p.Terms), func(i int) {
		t := &p.Terms[i]
		all[i] = &spectrum{}
		if ctx != nil {
			faults[i] = ctx.Err()
		}
		if faults[i] == nil && t.Dim > 0 && len(t.S) > 0 {
			all[i], faults[i] = t.spectrum(i, d[t.Start:t.Start+t.Dim], live[first[i]:first[i]+len(t.S)], first[i])
		}
	})
	for _, err := range faults {
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// scales are by what columns are divided: their weighted standard deviation, or what
// balances a term's penalties. A column that does not vary has no data: d = 1 and, in
// place of 1, varies = 0.
func (p *Problem) scales() (d, varies []float64) {
	d, varies = make([]float64, len(p.XZ)), make([]float64, len(p.XZ))
	for i := range d {
		v := p.XX.At(i, i) / p.SumW
		if d[i], varies[i] = math.Sqrt(v), 1; v == 0 || p.XMean != nil && constant(v, p.XMean[i], 1e-13) {
			d[i], varies[i] = 1, 0
		}
	}
	for i := range p.Terms {
		p.Terms[i].Balance(d[p.Terms[i].Start:][:p.Terms[i].Dim])
	}
	return d, varies
}

// rotate takes r over into coordinates b of a basis w; a response that is
// constant has no products.
func (s *response) rotate(r *Response, w *basis, varies []float64) {
	cross := make([]float64, w.n)
	s.cross, s.y = make([]float64, w.q), make([]float64, len(r.Y))
	if s.zz > 0 {
		for i, v := range r.XZ {
			cross[i] = varies[i] * v
		}
		copy(s.y, r.Y)
	}
	w.transposed(s.cross, cross)
}

// zz is the sum of the responses' z'Wz by the number of independent ones.
func (s *system) zz() float64 {
	sum := 0.0
	for i := range s.responses {
		sum += s.responses[i].zz
	}
	return sum / s.among
}

// stopped tells whether the caller's context is done.
func (s *system) stopped() bool { return s.ctx != nil && s.ctx.Err() != nil }

// constant tells whether a standard deviation is rounding next to the mean: less than
// that share of it.
func constant(variance, mean, least float64) bool { return variance <= least*least*mean*mean }

// dropDirections records the directions t (orthonormal, of standardised columns) in original
// coordinates, and takes them out of log|X'WX+S|, which becomes the
// pseudo-determinant: - log|T'D^2T| for an orthonormal basis T of them.
func (s *system) dropDirections(t *mat.Dense, d []float64) {
	for i := range s.kept {
		for _, v := range t.RawRowView(i) {
			s.kept[i] -= v * v
		}
	}
	var logR float64
	s.dropped, logR = orthonormalise(t, d)
	s.logDetA += 2 * logR
}

// splitNull splits the coordinates listed in free into the directions (columns)
// that g determines and those it does not. If drop is nil all are kept as they are; else
// keep is nil if none are. unit is the diagonal of g before any rotation: if all
// of X varies only in penalised directions, what is left here is rounding. Of g the upper
// triangle counts; free increases.
func splitNull(g *mat.SymDense, free []int, unit, tol float64) (keep, drop *mat.Dense, err error) {
	m := len(free)
	own := mat.NewSymDense(m, nil)
	for a, i := range free {
		for b := a; b < m; b++ {
			own.SetSym(a, b, g.At(i, free[b]))
		}
	}
	if determined(own, unit, tol) {
		return nil, nil, nil
	}
	values, vectors, err := eigenDescending(own)
	if err != nil {
		return nil, nil, fmt.Errorf("penalty: X'WX has no eigendecomposition: %w", err)
	}
	largest := math.Max(values[0], unit)
	if values[m-1] < -1e-8*largest {
		return nil, nil, fmt.Errorf("penalty: X'WX is not positive semi-definite (eigenvalue %.3g next to %.3g): %w", values[m-1], values[0], ErrLostDigits)
	}
	rank := 0
	for rank < m && values[rank] > tol*tol*largest {
		rank++
	}
	if rank == m {
		return nil, nil, nil
	}
	if rank > 0 {
		keep = mat.DenseCopyOf(vectors.Slice(0, m, 0, rank))
	}
	return keep, mat.DenseCopyOf(vectors.Slice(0, m, rank, m)), nil
}

// determined tells, without its eigenvalues, that g has full rank by a wide
// margin: the smallest is at least 1/||g^-1||, the largest at most ||g||. Many
// columns are usually of full rank, and their eigenvalues are the dearest part.
func determined(g *mat.SymDense, unit, tol float64) bool {
	inverse := mat.NewSymDense(g.SymmetricDim(), nil)
	inverse.CopySym(g)
	return linalg.Invert(inverse) && 1/mat.Norm(inverse, 2) > 100*tol*tol*math.Max(mat.Norm(g, 2), unit)
}

// diagonal tells whether every penalty's root is.
func (s *system) diagonal() bool {
	for j := range s.penalties {
		if s.penalties[j].diag == nil {
			return false
		}
	}
	return true
}

// memory is an n x n matrix of zeros, in the spare memory if there is enough of it.
func (s *system) memory(n int) *mat.SymDense {
	spare := s.spare
	s.spare = nil
	if len(spare) < n*n {
		return mat.NewSymDense(n, nil)
	}
	clear(spare[:n*n])
	return mat.NewSymDense(n, spare[:n*n])
}
