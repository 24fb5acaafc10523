package projection

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// Moment is the weighted mean and variance of Phi_j b, b the raw coefficients of
// block j.
func (c *Constrained) Moment(j int, b []float64) (mean, variance float64) {
	lo, hi := c.raw[j], c.raw[j+1]
	mean = floats.Dot(c.view.Mean[lo:hi], b)
	if c.view.R != nil {
		image := c.image(lo, b)
		return mean, mat.Dot(image, image) / c.view.SumW
	}
	xx := linalg.Range(c.view.XX, lo, hi)
	return mean, math.Max(linalg.Bilinear(xx, b, b)/c.view.SumW, 0) // rounding may leave -1e-17
}

// SumMoment is the weighted mean and variance of the sum of Phi_j b_j over some blocks j, b
// the raw coefficients of all blocks.
func (c *Constrained) SumMoment(blocks []int, b []float64) (mean, variance float64) {
	var of []float64
	for _, j := range blocks {
		of = append(of, b[c.raw[j]:c.raw[j+1]]...)
		mean += floats.Dot(c.view.Mean[c.raw[j]:c.raw[j+1]], b[c.raw[j]:c.raw[j+1]])
	}
	if c.view.R == nil {
		return mean, math.Max(linalg.Bilinear(c.Products(blocks...), of, of)/c.view.SumW, 0)
	}
	m, _ := c.view.R.Dims()
	image := mat.NewVecDense(m, nil)
	for _, j := range blocks {
		image.AddVec(image, c.image(c.raw[j], b[c.raw[j]:c.raw[j+1]]))
	}
	return mean, mat.Dot(image, image) / c.view.SumW
}

// Products are the centred X'WX of the raw columns of some blocks, one after the other.
func (c *Constrained) Products(blocks ...int) mat.Symmetric { return c.view.Products(blocks...) }

// Variance is split: structured + unstructured + twice the covariance = total.
type Variance struct {
	Structured, Unstructured, TwiceCovariance, Total float64
}

// Variance splits the variance of X b + (zeta - X a), all weighted and centred, b and a
// raw coefficients of all blocks.
func (c *Constrained) Variance(b, a []float64) Variance {
	sumW := c.view.SumW
	if len(b) == 0 {
		return Variance{Unstructured: c.view.RR / sumW, Total: c.view.RR / sumW}
	}
	if c.view.R != nil {
		return c.varianceByFactor(b, a)
	}
	xx, xr := c.view.XX, c.view.XR
	var v Variance
	v.Structured = math.Max(linalg.Bilinear(xx, b, b)/sumW, 0)
	v.Unstructured = math.Max((c.view.RR-2*floats.Dot(a, xr)+linalg.Bilinear(xx, a, a))/sumW, 0)
	v.TwiceCovariance = 2 * (floats.Dot(b, xr) - linalg.Bilinear(xx, b, a)) / sumW
	v.Total = v.Structured + v.Unstructured + v.TwiceCovariance
	return v
}

// image is R_x b for the raw columns from lo on: its inner products are those of
// X b over the rows, without squares being formed first.
func (c *Constrained) image(lo int, b []float64) *mat.VecDense {
	m, _ := c.view.R.Dims()
	out := mat.NewVecDense(m, nil)
	r := c.view.R.RawTriangular()
	for i := range m {
		var sum float64
		for j := max(lo, i); j < lo+len(b); j++ {
			sum += r.Data[i*r.Stride+j] * b[j-lo]
		}
		out.SetVec(i, sum)
	}
	return out
}

// varianceByFactor is variance without cancellation between large coefficients.
func (c *Constrained) varianceByFactor(b, a []float64) Variance {
	sumW := c.view.SumW
	m, _ := c.view.R.Dims()
	structured, left := c.image(0, b), mat.NewVecDense(m, nil)
	for i := range m {
		left.SetVec(i, c.view.R.At(i, m-1))
	}
	left.SubVec(left, c.image(0, a))
	v := Variance{
		Structured:      mat.Dot(structured, structured) / sumW,
		Unstructured:    mat.Dot(left, left) / sumW,
		TwiceCovariance: 2 * mat.Dot(structured, left) / sumW,
	}
	v.Total = v.Structured + v.Unstructured + v.TwiceCovariance
	return v
}
