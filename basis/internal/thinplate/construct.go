package thinplate

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/distinct"
	"github.com/pho-go/pho/basis/internal/eigen"
	"github.com/pho-go/pho/basis/internal/knot"
)

// Why points have no basis.
var (
	// ErrNotUnisolvent: a polynomial that the penalty does not see is 0 on all points.
	ErrNotUnisolvent = errors.New("a polynomial is 0 on all points")
	// ErrRange: the thin plate function of the greatest distance overflows.
	ErrRange = errors.New("the points have too wide a range for 64-bit numbers")
	// ErrScale: a function is 0, or infinite, on all rows.
	ErrScale = errors.New("the points are too close together or too far apart for 64-bit numbers: rescale")

	errEigen = errors.New("the eigenvalues of the radial functions at the points could not be found: rescale the columns")
)

// FarError tells that some points lie so far from the others that powers of their
// distances leave no digits for the others.
type FarError struct{ Farthest []float64 }

// Error names the point.
func (e *FarError) Error() string {
	return fmt.Sprintf("the point %v is too far from the others", e.Farthest)
}

// Construct makes the basis of the space on the points of data, at least K of them and
// sorted, or on knots (n x D, row by row) if there are any, and its penalty (K x K): the
// roughness of the radial functions, 0 for the polynomials. Functions have a root mean
// square of 1 over the rows that data counted. The order of eigenvectors and the
// rotation that removes the polynomials follow mgcv, because the scale on which
// smoothing parameters are reported depends on them.
func Construct(s Space, data *distinct.Points, knots []float64) (*Basis, *mat.SymDense, error) {
	b, penalty, err := construct(s, data, knots)
	if err != nil {
		return nil, nil, err
	}
	if negative(penalty) {
		return nil, nil, &FarError{b.farthest()}
	}
	return b, penalty, nil
}

// construct is Construct that takes whatever rounding leaves of the penalty.
func construct(s Space, data *distinct.Points, knots []float64) (*Basis, *mat.SymDense, error) {
	at, shift := data.Centred()
	b := newBasis(s)
	b.shift, b.points = shift, at
	var err error
	if len(knots) > 0 {
		if b.points, err = shifted(knots, shift); err != nil {
			return nil, nil, err
		}
	}
	t := b.polynomials()
	if err := unisolvent(t); err != nil {
		return nil, nil, err
	}
	if !knot.Finite(b.semiKernel(b.extent())) {
		return nil, nil, ErrRange
	}
	z, roughness, err := b.truncate(t)
	if err != nil {
		return nil, nil, err
	}
	b.weights = z.RawMatrix().Data
	size, err := b.standardise(data)
	if err != nil {
		return nil, nil, err
	}
	return b, scaled(roughness, size), nil
}

// truncate gives the weights z (n x (k - M)) of the radial functions, T'z = 0, and their
// roughness z'Ez.
func (b *Basis) truncate(t *mat.Dense) (z, roughness *mat.Dense, err error) {
	n, polynomials := t.Dims()
	e := b.radial()
	roughness = new(mat.Dense)
	if n == b.k { // nothing to truncate
		z = complement(t)
		ez := mat.NewDense(n, n-polynomials, nil)
		e.Times(ez.RawMatrix().Data, z.RawMatrix().Data, n-polynomials)
		roughness.Mul(z.T(), ez)
		return z, roughness, nil
	}
	d, u, err := eigen.Leading(e, b.k)
	if err != nil {
		return nil, nil, errEigen
	}
	var ut mat.Dense
	ut.Mul(u.T(), t)
	rotation := complement(&ut)
	roughness.Product(rotation.T(), d, rotation)
	z = new(mat.Dense)
	z.Mul(u, rotation)
	return z, roughness, nil
}

// scaled is the penalty of the whole basis, of which the radial functions, whose
// roughness is given, were divided by size.
func scaled(roughness *mat.Dense, size []float64) *mat.SymDense {
	radial, _ := roughness.Dims()
	out := mat.NewSymDense(len(size), nil)
	for i := range radial {
		for j := i; j < radial; j++ {
			out.SetSym(i, j, (roughness.At(i, j)+roughness.At(j, i))/2/(size[i]*size[j]))
		}
	}
	return out
}

// Shrink penalises the polynomials too, by a tenth of what the smoothest radial function
// has, as in mgcv.
func (s Space) Shrink(penalty *mat.SymDense) {
	const share = 0.1
	radial := s.K - s.Polynomials()
	var d mat.EigenSym
	if !d.Factorize(penalty.SliceSym(0, radial), false) {
		return
	}
	least := d.Values(nil)[0]
	for i := radial; i < s.K; i++ {
		penalty.SetSym(i, i, share*least)
	}
}

// negative tells whether rounding has left a penalty with a negative eigenvalue.
func negative(s *mat.SymDense) bool {
	var d mat.EigenSym
	if !d.Factorize(s, false) {
		return true
	}
	values := d.Values(nil)
	return values[0] < -1e-8*values[len(values)-1]
}

// farthest is the point that is farthest from the mean.
func (b *Basis) farthest() []float64 {
	far, at := 0.0, 0
	for i := 0; i < len(b.points); i += b.d {
		if r := floats.Norm(b.points[i:i+b.d], 2); r > far {
			far, at = r, i
		}
	}
	out := make([]float64, b.d)
	for j := range out {
		out[j] = b.points[at+j] + b.shift[j]
	}
	return out
}

// shifted subtracts shift from knots and puts them in order.
func shifted(x, shift []float64) ([]float64, error) {
	d := len(shift)
	p := distinct.NewPoints(d, len(x)/d)
	at := make([]float64, d)
	for i := 0; i < len(x); i += d {
		for j := range at {
			at[j] = x[i+j] - shift[j]
		}
		before := p.N()
		if p.Add(at...); p.N() == before {
			return nil, fmt.Errorf("knot %d is there twice", i/d+1)
		}
	}
	p.Sort()
	return p.X, nil
}

// unisolvent refuses points on which a polynomial that the penalty does not see
// vanishes; t are the monomials at the points.
func unisolvent(t *mat.Dense) error {
	unit := mat.DenseCopyOf(t)
	n, c := unit.Dims()
	for j := range c {
		column := mat.Col(nil, j, t)
		if norm := floats.Norm(column, 2); norm > 0 {
			floats.Scale(1/norm, column)
		}
		unit.SetCol(j, column)
	}
	var d mat.SVD
	if n < c || !d.Factorize(unit, mat.SVDNone) {
		return fmt.Errorf("%d points: %d polynomials need as many at least", n, c)
	}
	if values := d.Values(nil); !(values[len(values)-1] > 1e-10*values[0]) {
		return ErrNotUnisolvent
	}
	return nil
}

// meanSquares are the root mean squares of the columns over the rows of data.
func (b *Basis) meanSquares(data *distinct.Points) ([]float64, error) {
	x, size := make([]float64, block*b.k), make([]float64, b.k)
	rows := 0.0
	for first := 0; first < data.N(); first += block {
		some := min(block, data.N()-first)
		b.Evaluate(x, b.k, data.X[first*b.d:(first+some)*b.d])
		for i := range some {
			c := float64(data.Count[first+i])
			rows += c
			for j, v := range x[i*b.k : (i+1)*b.k] {
				size[j] += c * v * v
			}
		}
	}
	for j := range size {
		size[j] = math.Sqrt(size[j] / rows)
		if !(size[j] > 0) || math.IsInf(size[j], 0) {
			return nil, ErrScale
		}
	}
	return size, nil
}

// standardise divides the columns, which are the weighted sums and monomials
// before, by their root mean squares over the rows of data, and returns those.
func (b *Basis) standardise(data *distinct.Points) ([]float64, error) {
	b.scale = make([]float64, len(b.powers))
	for j := range b.scale {
		b.scale[j] = 1
	}
	b.prepare()
	size, err := b.meanSquares(data)
	if err != nil {
		return nil, err
	}
	radial := b.k - len(b.powers)
	for i := range b.weights {
		b.weights[i] /= size[i%radial]
	}
	for j := range b.scale {
		b.scale[j] = 1 / size[radial+j]
	}
	b.prepare()
	return size, nil
}
