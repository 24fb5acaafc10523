package basis

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
)

// operator is a symmetric matrix of order n, known by its products.
type operator struct {
	n int
	// times sets dst to the matrix times v, both n x width, row by row.
	times func(dst, v []float64, width int)
	whole func() *mat.SymDense
}

// product is the symmetric matrix e.
func product(e *mat.SymDense) operator {
	n := e.SymmetricDim()
	full := mat.DenseCopyOf(e).RawMatrix().Data // both triangles
	return operator{
		n:     n,
		times: func(dst, v []float64, width int) { kernel.Gemm(dst, full, v, n, width, n) },
		whole: func() *mat.SymDense { return e },
	}
}

// denseEigen is the order up to which all eigenvectors are computed; beyond,
// only the leading ones, from a Krylov space.
const denseEigen = 300

// blockWidth is the number of vectors that krylov adds at once.
const blockWidth = 6

// leading gives an orthonormal basis u (n x k) of the eigenvectors of e (n x n) whose
// eigenvalues are largest in absolute value, by decreasing value, and u'eu, which is
// diagonal but for eigenvalues that rounding alone sets apart. Both are canonical:
// small changes of e change them little, unless eigenvalues nearly meet.
func leading(e operator, k int) (*mat.SymDense, *mat.Dense, error) {
	// One more shows whether the k-th eigenvalue goes on beyond; then all of its
	// vectors are needed to choose from.
	for m := min(k+1, e.n); ; m = min(m+blockWidth, e.n) {
		values, v, err := atLeast(e, m)
		if err != nil {
			return nil, nil, err
		}
		order, edge := withEdge(values, k)
		if len(order) == len(values) && k < len(order) && len(order) < min(e.n, k+mostBeyond) {
			continue // perhaps more of them
		}
		chosen, own := make([]float64, len(order)), mat.NewDense(e.n, len(order), nil)
		for j, at := range order {
			chosen[j] = values[at]
			own.SetCol(j, mat.Col(nil, at, v))
		}
		d, u := turned(chosen, own, edge, k)
		return d, u, nil
	}
}

// mostBeyond bounds how many eigenvectors beyond the k-th are looked at: where
// more eigenvalues are one, it is because all that follow are 0 but for rounding.
const mostBeyond = 2 * blockWidth

// withEdge lists the k eigenvalues of largest absolute value and all those that
// rounding alone sets apart from the least of them, by decreasing value; edge is the
// place of that least one.
func withEdge(values []float64, k int) (order []int, edge int) {
	order = largest(values, k)
	size, least := 0.0, math.Inf(1)
	at := 0 // of the least
	for _, i := range order {
		size = math.Max(size, math.Abs(values[i]))
		if v := math.Abs(values[i]); v < least {
			least, at = v, i
		}
	}
	for i, v := range values {
		if len(order) < k+mostBeyond && !slices.Contains(order, i) && oneEigenvalue(v, values[at], size) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	return order, slices.Index(order, at)
}

// atLeast gives m eigenvalues of largest absolute value, or more, and their vectors.
func atLeast(e operator, m int) ([]float64, *mat.Dense, error) {
	if e.n > denseEigen && 3*m <= e.n {
		return krylov(e, m)
	}
	var d mat.EigenSym
	if !d.Factorize(e.whole(), true) {
		return nil, nil, errors.New("the eigenvalues of the radial functions at the points could not be found: rescale the columns")
	}
	var v mat.Dense
	d.VectorsTo(&v)
	return d.Values(nil), &v, nil
}

// largest lists the k entries of largest absolute value, in decreasing order of
// the value.
func largest(values []float64, k int) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(values[b]), math.Abs(values[a])) })
	order = order[:k]
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	return order
}

// krylov is the block Lanczos method with full reorthogonalisation (Golub and
// Van Loan 2013, 10.3.6). The block is as wide as the eigenvalues of points on
// symmetric grids are multiple.
func krylov(e operator, k int) ([]float64, *mat.Dense, error) {
	const width = blockWidth
	const accuracy = 1e-12 // residual norm of a pair, relative to its eigenvalue
	n := e.n
	r := rand.New(rand.NewPCG(uint64(n), uint64(k)))
	var q, eq [][]float64 // an orthonormal basis, and e times it
	next := make([][]float64, width)
	for i := range next {
		next[i] = normals(r, n)
	}
	check := min(2*k+4*width, n)
	for {
		first := len(q)
		var coupling *mat.Dense // components of each new vector along the ones before in its block
		next, coupling = orthonormal(next, q, r)
		if first >= check || first == n {
			values, vectors, done, err := ritz(q, eq, coupling, k, accuracy)
			if err != nil || done || first == n {
				return values, vectors, err
			}
			check = min(first+first/4+width, n)
		}
		next = next[:min(width, n-first)]
		q = append(q, next...)
		eq = append(eq, images(e, next)...)
		next = make([][]float64, width)
		for i := range next {
			next[i] = slices.Clone(eq[max(first, len(eq)-width)+i%(len(eq)-first)])
		}
	}
}

// images multiplies e by the vectors, all at once.
func images(e operator, vectors [][]float64) [][]float64 {
	width := len(vectors)
	v, w := make([]float64, e.n*width), make([]float64, e.n*width)
	for j, x := range vectors {
		for i, a := range x {
			v[i*width+j] = a
		}
	}
	e.times(w, v, width)
	out := make([][]float64, width)
	for j := range out {
		out[j] = make([]float64, e.n)
		for i := range out[j] {
			out[j][i] = w[i*width+j]
		}
	}
	return out
}

func normals(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	return v
}

// orthonormal makes the vectors orthonormal to q and to each other, in place. It
// returns R (width x width) with remainder = next R, the remainder being what was
// left of the vectors outside q. A vector that q spans is replaced by a random one,
// of which the remainder has nothing.
func orthonormal(next, q [][]float64, r *rand.Rand) ([][]float64, *mat.Dense) {
	c := mat.NewDense(len(next), len(next), nil)
	for i, v := range next {
		size := floats.Norm(v, 2)
		norm := size
		// Again and again, until little is taken: what is left may be as small as the
		// rounding of what was taken.
		for before := math.Inf(1); norm < before/2 && norm > 1e-14*size; {
			before = norm
			project(v, q)
			for j, w := range next[:i] {
				d := kernel.Dot(v, w)
				kernel.Axpy(v, w, -d)
				c.Set(j, i, c.At(j, i)+d)
			}
			norm = floats.Norm(v, 2)
		}
		if norm > 1e-14*size {
			c.Set(i, i, norm)
			floats.Scale(1/norm, v)
			continue
		}
		if len(q)+i >= len(v) {
			clear(v) // the whole space is spanned
			continue
		}
		copy(v, normals(r, len(v)))
		for range 3 {
			project(v, q)
			project(v, next[:i])
			floats.Scale(1/floats.Norm(v, 2), v)
		}
	}
	return next, c
}

// project subtracts v's components along orthonormal vectors.
func project(v []float64, q [][]float64) {
	for _, w := range q {
		kernel.Axpy(v, w, -kernel.Dot(v, w))
	}
}

// ritz takes the k leading pairs from the space of q, and tells whether their
// residuals, known from the coupling to the next block, are small.
func ritz(q, eq [][]float64, coupling *mat.Dense, k int, accuracy float64) ([]float64, *mat.Dense, bool, error) {
	m, n := len(q), len(q[0])
	t := mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			t.SetSym(i, j, (kernel.Dot(q[i], eq[j])+kernel.Dot(q[j], eq[i]))/2)
		}
	}
	var d mat.EigenSym
	if !d.Factorize(t, true) {
		return nil, nil, false, errors.New("the eigenvalues of the radial functions at the points could not be found: rescale the columns")
	}
	var y mat.Dense
	d.VectorsTo(&y)
	values := d.Values(nil)
	order := largest(values, k)
	out := make([]float64, k)
	u := mat.NewDense(n, k, nil)
	done := true
	width, _ := coupling.Dims()
	column := make([]float64, n)
	for j, at := range order {
		out[j] = values[at]
		residual := 0.0
		for a := range width {
			s := 0.0
			for b := range width {
				s += coupling.At(a, b) * y.At(m-width+b, at)
			}
			residual = math.Hypot(residual, s)
		}
		done = done && residual <= accuracy*math.Abs(out[j])
		clear(column)
		for i := range m {
			kernel.Axpy(column, q[i], y.At(i, at))
		}
		u.SetCol(j, column)
	}
	return out, u, done, nil
}
