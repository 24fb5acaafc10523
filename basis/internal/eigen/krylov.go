package eigen

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
)

// krylov is the block Lanczos method with full reorthogonalisation (Golub and
// Van Loan 2013, 10.3.6). The block is as wide as the eigenvalues of points on
// symmetric grids are multiple.
func krylov(e Operator, k int) ([]float64, *mat.Dense, error) {
	const width = blockWidth
	const accuracy = 1e-12 // residual norm of a pair, relative to its eigenvalue
	// After many vectors it is relative to the largest eigenvalue: where one point is far
	// from all others, the rounding of that one's products is more than the others' pairs
	// can be accurate to, and no number of vectors would do.
	const rounding, many = 1e-14, denseEigen
	n := e.N
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
			floor := 0.0
			if first >= many+4*k {
				floor = rounding
			}
			values, vectors, done, err := ritz(q, eq, coupling, k, accuracy, floor)
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
func images(e Operator, vectors [][]float64) [][]float64 {
	width := len(vectors)
	v, w := make([]float64, e.N*width), make([]float64, e.N*width)
	for j, x := range vectors {
		for i, a := range x {
			v[i*width+j] = a
		}
	}
	e.Times(w, v, width)
	out := make([][]float64, width)
	for j := range out {
		out[j] = make([]float64, e.N)
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
// residuals, known from the coupling to the next block, are small: relative to each
// eigenvalue, or to floor times the largest.
func ritz(q, eq [][]float64, coupling *mat.Dense, k int, accuracy, floor float64) ([]float64, *mat.Dense, bool, error) {
	m, n := len(q), len(q[0])
	t := mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			t.SetSym(i, j, (kernel.Dot(q[i], eq[j])+kernel.Dot(q[j], eq[i]))/2)
		}
	}
	var d mat.EigenSym
	if !d.Factorize(t, true) {
		return nil, nil, false, ErrConvergence
	}
	var y mat.Dense
	d.VectorsTo(&y)
	values := d.Values(nil)
	order := largest(values, k)
	out := make([]float64, k)
	u := mat.NewDense(n, k, nil)
	done := true
	floor *= math.Max(math.Abs(values[0]), math.Abs(values[m-1]))
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
		done = done && residual <= math.Max(accuracy*math.Abs(out[j]), floor)
		clear(column)
		for i := range m {
			kernel.Axpy(column, q[i], y.At(i, at))
		}
		u.SetCol(j, column)
	}
	return out, u, done, nil
}
