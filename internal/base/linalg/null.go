package linalg

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Null splits the directions of a positive semidefinite matrix C (n x n) into those that it
// determines and its null space: with the limit that was given, the eigenvectors of eigenvalues
// above it and the others.
type Null struct {
	Directions        *mat.Dense    // n x r orthonormal: the space of eigenvalues at most the limit; nil: r = 0
	Inverse           *mat.SymDense // of C on the other directions, both triangles: C^+ but for what the limit calls zero
	Smallest, Largest float64       // eigenvalue above the limit, and of all, to a few digits
}

// clearly is how far eigenvalues must lie from the limit, so that they are decided without an
// eigendecomposition.
const clearly = 4

// NullSpace finds the eigenvalues of c that are at most tolerance times the largest, by inverse
// iteration, in a few percent of the time of an eigendecomposition. false: these eigenvalues
// are too many or too close to others for that, or there are few columns, which take no time.
func NullSpace(c *mat.SymDense, tolerance float64) (*Null, bool) {
	const (
		enough     = 1e-5 // of an eigenvalue
		worthwhile = 128  // columns: eigenvectors of fewer are there as soon
	)
	n := c.SymmetricDim()
	s := &Null{Largest: Largest(n, multiply(c), enough)}
	if !(s.Largest > 0) {
		return nil, false
	}
	limit := tolerance * s.Largest
	inverse := mat.NewSymDense(n, nil)
	inverse.CopySym(c)
	if Invert(inverse) {
		if s.Smallest = 1 / Largest(n, multiply(inverse), enough); s.Smallest > clearly*limit {
			s.Inverse = inverse
			return s, true
		}
	}
	if n < worthwhile {
		return nil, false
	}
	// With the limit added to its diagonal c is positive definite but for rounding.
	shift := math.Max(limit, 1e-14*float64(n)*s.Largest)
	inverse.CopySym(c)
	for i := range n {
		inverse.SetSym(i, i, inverse.At(i, i)+shift)
	}
	if !Invert(inverse) {
		return nil, false
	}
	if s.Directions = smallestDirections(c, inverse, limit, s.Largest); s.Directions == nil {
		return nil, false
	}
	inverse.CopySym(c)
	AddGram(inverse, scaledTranspose(s.Directions, math.Sqrt(s.Largest)))
	if !Invert(inverse) {
		return nil, false
	}
	if s.Smallest = 1 / Largest(n, multiply(inverse), enough); !(s.Smallest > clearly*limit) {
		return nil, false
	}
	without := scaledTranspose(s.Directions, 1/math.Sqrt(s.Largest))
	SubtractSymmetric(inverse, without, without)
	Mirror(inverse)
	s.Inverse = inverse
	return s, true
}

// multiply is x -> s x for a matrix of which both triangles or the upper one is there.
func multiply(s *mat.SymDense) func(dst, x []float64) {
	return func(dst, x []float64) { TriangleTimes(dst, s, x) }
}

// smallestDirections are the eigenvectors of c with eigenvalues at most limit, by iterations
// with the inverse of c plus a multiple of the identity; nil if there are none, very many,
// or some near the limit.
func smallestDirections(c, inverse *mat.SymDense, limit, largest float64) *mat.Dense {
	const iterations = 12
	n := c.SymmetricDim()
	whole := mat.NewSymDense(n, nil)
	whole.CopySym(c)
	product := Mirror(whole)
	solve := mat.NewDense(n, n, inverse.RawSymmetric().Data)
	for _, width := range []int{16, 64, 256} {
		if width > n/2 {
			break
		}
		x := start(n, width)
		var values []float64
		for range iterations {
			x = orthonormal(Product(solve, x))
			images := Product(product, x)
			var rotation *mat.Dense
			if values, rotation = small(x, images); rotation == nil {
				return nil
			}
			r := 0
			for r < width && values[r] <= limit {
				r++
			}
			if r == width { // there may be more of them
				break
			}
			if r == 0 || r < width && values[r] < clearly*limit || values[r-1] > limit/clearly {
				continue
			}
			x, images = Product(x, rotation), Product(images, rotation)
			if residual(x, images, values[:r]) <= 1e-14*math.Sqrt(float64(n))*largest {
				return mat.DenseCopyOf(x.Slice(0, n, 0, r))
			}
		}
		if values[width-1] > limit {
			break
		}
	}
	return nil
}

// start are directions that are special in nothing.
func start(n, width int) *mat.Dense {
	x, state := mat.NewDense(n, width, nil), uint64(1)
	for i := range x.RawMatrix().Data {
		state = state*6364136223846793005 + 1442695040888963407
		x.RawMatrix().Data[i] = float64(state>>11)/(1<<53) - 0.5
	}
	return x
}

// orthonormal is an orthonormal basis of x's columns.
func orthonormal(x *mat.Dense) *mat.Dense {
	n, m := x.Dims()
	tau, work, raw := make([]float64, m), make([]float64, 64*m), mat.DenseCopyOf(x).RawMatrix()
	lapack64.Geqrf(raw, tau, work, len(work))
	lapack64.Orgqr(raw, tau, work, len(work))
	return mat.NewDense(n, m, raw.Data)
}

// small is the eigendecomposition of x'images, increasing.
func small(x, images *mat.Dense) ([]float64, *mat.Dense) {
	_, m := x.Dims()
	h := Product(mat.DenseCopyOf(x.T()), images)
	s := mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			s.SetSym(i, j, (h.At(i, j)+h.At(j, i))/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return nil, nil
	}
	var v mat.Dense
	e.VectorsTo(&v)
	return e.Values(nil), &v
}

// residual is the largest |C x - value x| of the first columns of x.
func residual(x, images *mat.Dense, values []float64) float64 {
	n, _ := x.Dims()
	worst := 0.0
	left := make([]float64, n)
	for j, v := range values {
		for i := range n {
			left[i] = images.At(i, j) - v*x.At(i, j)
		}
		worst = math.Max(worst, floats.Norm(left, 2))
	}
	return worst
}

// scaledTranspose is f x'.
func scaledTranspose(x *mat.Dense, f float64) *mat.Dense {
	t := mat.DenseCopyOf(x.T())
	t.Scale(f, t)
	return t
}
