package penalty

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// Ridge returns the k x k identity, the penalty a'a. For k < 1 it is empty.
func Ridge(k int) *mat.SymDense {
	if k < 1 {
		return new(mat.SymDense)
	}
	s := mat.NewSymDense(k, nil)
	for i := range k {
		s.SetSym(i, i, 1)
	}
	return s
}

// Difference returns the k x k penalty D'D of squared order-th differences of
// adjacent coefficients (P-splines; Eilers and Marx 1996, Wood 2017, 5.3.3),
// unscaled. Order 0 is the ridge. Its null space are the polynomials of degree
// below order in the index.
func Difference(k, order int) (*mat.SymDense, error) {
	if order < 0 || k <= order {
		return nil, fmt.Errorf("penalty: a difference penalty of order %d needs at least %d coefficients, there are %d: raise k or lower the order", order, order+1, k)
	}
	// The coefficients of one row of D: (1 - shift)^order.
	c := []float64{1}
	for range order {
		next := make([]float64, len(c)+1)
		for i, v := range c {
			next[i] -= v
			next[i+1] += v
		}
		c = next
	}
	s := mat.NewSymDense(k, nil)
	for r := range k - order {
		for i, ci := range c {
			for j := i; j < len(c); j++ {
				s.SetSym(r+i, r+j, s.At(r+i, r+j)+ci*c[j])
			}
		}
	}
	return s, nil
}

// BSplineDerivative returns the k x k penalty of the integrated squared
// order-th derivative of sum_i a_i B_i(x), B_i the B-splines of the given degree
// on the knots (all k + degree + 1 of them, non-decreasing), over the interval
// where they are a basis, [knots[degree], knots[k]] (Wood 2017, 5.3.2). It is
// exact up to rounding: on each knot interval the integrand is a polynomial of
// degree 2 (degree - order), which Gauss-Legendre integrates without error. On
// the scale of x: the entries have the unit of x^(1 - 2 order).
func BSplineDerivative(knots []float64, degree, order int) (*mat.SymDense, error) {
	k := len(knots) - degree - 1
	switch {
	case degree < 0 || order < 0 || order > degree:
		return nil, fmt.Errorf("penalty: derivative %d of B-splines of degree %d: the order must lie in 0..degree, or the penalty is zero", order, degree)
	case k < degree+1:
		return nil, fmt.Errorf("penalty: %d knots are too few for B-splines of degree %d: at least %d are needed", len(knots), degree, 2*degree+2)
	}
	for i, t := range knots {
		if math.IsNaN(t) || math.IsInf(t, 0) || i > 0 && t < knots[i-1] {
			return nil, fmt.Errorf("penalty: knot %d (%g) is not finite or below the one before it: knots must be sorted", i+1, t)
		}
	}
	if !(knots[degree] < knots[k]) {
		return nil, fmt.Errorf("penalty: the knots span no interval: [%g, %g]", knots[degree], knots[k])
	}
	points := degree - order + 1
	node, weight := make([]float64, points), make([]float64, points)
	quad.Legendre{}.FixedLocations(node, weight, 0, 1)
	s := mat.NewSymDense(k, nil)
	value := make([]float64, degree+1)
	for span := degree; span < k; span++ {
		width := knots[span+1] - knots[span]
		if width == 0 {
			continue
		}
		for q, u := range node {
			bsplineDerivatives(value, knots, span, degree, order, knots[span]+u*width)
			for i := range value {
				for j := i; j < len(value); j++ {
					r, c := span-degree+i, span-degree+j
					s.SetSym(r, c, s.At(r, c)+weight[q]*width*value[i]*value[j])
				}
			}
		}
	}
	return s, nil
}

// bsplineDerivatives writes the order-th derivatives at x of the degree + 1
// B-splines that are not zero on [t[span], t[span+1]), by the recursions of de
// Boor: values of degree - order, then differences upwards.
func bsplineDerivatives(dst, t []float64, span, degree, order int, x float64) {
	clear(dst)
	// dst[i] belongs to B-spline span-d+i of degree d.
	dst[0] = 1
	for d := 1; d <= degree; d++ {
		previous := 0.0 // B_{span-d} of degree d-1 is zero here
		for i := 0; i <= d; i++ {
			own := 0.0 // B_{j} of degree d-1, j = span-d+i
			if i < d {
				own = dst[i]
			}
			j := span - d + i
			left, right := 0.0, 0.0
			if h := t[j+d] - t[j]; h > 0 && i > 0 {
				left = previous / h
			}
			if h := t[j+d+1] - t[j+1]; h > 0 && i < d {
				right = own / h
			}
			if d <= degree-order {
				dst[i] = (x-t[j])*left + (t[j+d+1]-x)*right
			} else {
				dst[i] = float64(d) * (left - right)
			}
			previous = own
		}
	}
}

// Scale returns S maxRowNorm^2/||S||_1 and the factor maxRowNorm^2/||S||_1,
// where maxRowNorm is the largest row 1-norm of the term's base basis before
// centring and before a numeric by: mgcv's scaling, so that smoothing parameters
// of different terms are comparable and equal mgcv's sp (its S.scale is
// 1/factor). The argument is not changed. A zero S or norm gives factor 1. Where all
// is zero off the diagonal the result is a *mat.DiagDense.
func Scale(s mat.Symmetric, maxRowNorm float64) (mat.Symmetric, float64) {
	diag, ok := diagonalOf(s)
	if !ok {
		factor := scaleBy(oneNorm(linalg.Dense(s)), maxRowNorm)
		return scaledBy(s, factor), factor
	}
	norm := 0.0
	for _, v := range diag {
		norm = math.Max(norm, math.Abs(v))
	}
	factor := scaleBy(norm, maxRowNorm)
	for i := range diag {
		diag[i] *= factor
	}
	return mat.NewDiagDense(len(diag), diag), factor
}

// scaleBy is the factor of Scale for a matrix of this norm.
func scaleBy(norm, maxRowNorm float64) float64 {
	if norm > 0 && maxRowNorm > 0 {
		return maxRowNorm * maxRowNorm / norm
	}
	return 1
}

// oneNorm is the largest sum of sizes in a row of s.
func oneNorm(s *mat.SymDense) float64 {
	raw := s.RawSymmetric()
	sums := make([]float64, raw.N)
	for i := range raw.N {
		row, own := raw.Data[i*raw.Stride+i:i*raw.Stride+raw.N], 0.0
		for j, v := range row {
			if v == 0 {
				continue
			}
			v = math.Abs(v)
			own += v
			if j > 0 {
				sums[i+j] += v
			}
		}
		sums[i] += own
	}
	largest := 0.0
	for _, v := range sums {
		largest = max(largest, v)
	}
	return largest
}

// frobenius is the root of the sum of squares of s.
func frobenius(s *mat.SymDense) float64 {
	if sum := linalg.TraceOfProduct(s, s); sum > 1e-200 && sum < 1e200 {
		return math.Sqrt(sum)
	}
	return mat.Norm(s, 2) // which neither overflows nor underflows
}
