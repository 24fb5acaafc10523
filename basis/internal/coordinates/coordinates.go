// Package coordinates changes the coordinates of a penalised basis: to coefficients
// without a mean, to function values (Wood 2006), and to the natural parametrisation
// (Wood 2017, 5.4.2). A change is a matrix T with basis T = new basis; the penalty S
// becomes T'ST.
package coordinates

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// ErrZero is the fault of a penalty whose eigenvalues are all 0.
var ErrZero = errors.New("its penalty is zero: raise k")

var errEigen = errors.New("the eigendecomposition of the penalty did not converge")

// Spline is a basis of one variable.
type Spline interface {
	// Dim is the number of functions.
	Dim() int
	// Width is how many of them can be other than 0 at any x.
	Width() int
	// Row writes those Width values at a finite x, for adjacent functions from the one
	// returned; after the last function comes the first.
	Row(out []float64, x float64) int
}

// Congruent is T'ST (c x c), for S (d x d) and T (d x c).
func Congruent(s *mat.SymDense, t *mat.Dense) *mat.SymDense {
	var product mat.Dense
	product.Product(t.T(), s, t)
	n, _ := product.Dims()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, (product.At(i, j)+product.At(j, i))/2)
		}
	}
	return out
}

// Orthogonal is an orthonormal basis (d x (d-1)) of what is orthogonal to v: the last
// columns of the Householder reflection that maps v to its first axis.
func Orthogonal(v []float64) *mat.Dense {
	d := len(v)
	z := mat.NewDense(d, d-1, nil)
	u := slices.Clone(v)
	norm := floats.Norm(u, 2)
	// On symmetric data the first coordinate is 0 but for rounding, which must not decide.
	if u[0] < -1e-10*norm {
		norm = -norm
	}
	u[0] += norm
	uu := floats.Dot(u, u)
	for i := range d {
		for j := 1; j < d; j++ {
			h := 0.0
			if i == j {
				h = 1
			}
			if uu > 0 {
				h -= 2 * u[i] * u[j] / uu
			}
			z.Set(i, j-1, h)
		}
	}
	return z
}

// FunctionValues is the map T from function values at equispaced points from lo to hi to
// the coefficients of b, or, if to (d x c) is not nil, to the coefficients that to maps
// to those of b. nil: the points do not determine the function well.
func FunctionValues(b Spline, lo, hi float64, to *mat.Dense) *mat.Dense {
	n := b.Dim()
	if to != nil {
		_, n = to.Dims()
	}
	at := mat.NewDense(n, b.Dim(), nil)
	value := make([]float64, b.Width())
	for i := range n {
		x := lo
		if n > 1 {
			x += float64(i) * ((hi - lo) / float64(n-1))
		}
		first := b.Row(value, x)
		for l, v := range value {
			at.Set(i, (first+l)%b.Dim(), v)
		}
	}
	if to != nil {
		var product mat.Dense
		product.Mul(at, to)
		at = &product
	}
	return inverse(at)
}

// inverse is that of a square matrix, by its singular values; nil if it hardly has one.
func inverse(a *mat.Dense) *mat.Dense {
	n, _ := a.Dims()
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDFull) {
		return nil
	}
	d := svd.Values(nil)
	const unstable = 4.7e-11 // the double precision to the power 0.66, as in mgcv
	if !(d[n-1] >= unstable*d[0]) {
		return nil
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	for j := range n {
		for i := range n {
			v.Set(i, j, v.At(i, j)/d[j])
		}
	}
	var out mat.Dense
	out.Mul(&v, u.T())
	return &out
}

// Unit is the penalty scaled to a largest eigenvalue of 1.
func Unit(s *mat.SymDense) (*mat.SymDense, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(s, false) {
		return nil, errEigen
	}
	all := eigen.Values(nil)
	largest := all[len(all)-1]
	if !(largest > 0) || math.IsInf(largest, 0) {
		return nil, ErrZero
	}
	var unit mat.SymDense
	unit.ScaleSym(1/largest, s)
	return &unit, nil
}
