package decompose

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// uncertainty is what the standard errors of a sum of terms need.
type uncertainty struct {
	cov  *mat.SymDense // of their coefficients; nil: the sum is not identified, or none is at hand
	mean []float64     // of their raw columns

	intercept []float64 // covariances of the coefficients with the intercept
	variance  float64   // of the intercept
}

// uncertainty is that of the sum of terms of d. Terms that are entangled with each other
// only are identified together.
func (d *Predictor) uncertainty(terms ...int) *uncertainty {
	c := d.covariance()
	if c == nil || !d.identified(terms) {
		return &uncertainty{}
	}
	var at []int // the terms' columns among the raw ones
	u := &uncertainty{}
	for _, j := range terms {
		lo := 0
		for _, t := range d.Terms[:j] {
			lo += len(t.Alpha)
		}
		for c := range d.Terms[j].Alpha {
			at = append(at, lo+c)
			u.mean = append(u.mean, d.mean[lo+c])
		}
	}
	u.cov = mat.NewSymDense(len(at), nil)
	u.variance = c.variance
	for i, a := range at {
		u.intercept = append(u.intercept, c.intercept[a])
		for j := i; j < len(at); j++ {
			u.cov.SetSym(i, j, c.cov.At(a, at[j]))
		}
	}
	return u
}

// identified tells whether the sum of the terms is.
func (d *Predictor) identified(terms []int) bool {
	var names []string
	for _, j := range terms {
		names = append(names, d.Terms[j].Name)
	}
	for _, j := range terms {
		t := &d.Terms[j]
		if !t.Identified && len(t.AliasedWith) == 0 {
			return false
		}
		for _, other := range t.AliasedWith {
			if !contains(names, other) {
				return false
			}
		}
	}
	return true
}

// standardErrors writes the root of (x - m)'V(x - m) for the rows of x into column j of
// dst from row i on, m being the means of the columns and V their coefficients'
// covariance; NaN without one.
func (u *uncertainty) standardErrors(dst *mat.Dense, i, j int, x design.Columns) error {
	n, d := x.Dims()
	if u.cov == nil {
		for r := range n {
			dst.Set(i+r, j, math.NaN())
		}
		return nil
	}
	centred, spread := mat.NewDense(n, d, nil), mat.NewDense(n, d, nil)
	if err := design.ToDense(centred, x); err != nil {
		return err
	}
	for r := range n {
		floats.Sub(centred.RawRowView(r), u.mean)
	}
	spread.Mul(centred, u.cov)
	for r := range n {
		dst.Set(i+r, j, math.Sqrt(math.Max(floats.Dot(centred.RawRowView(r), spread.RawRowView(r)), 0)))
	}
	return nil
}

// beside is [a, b]; a may be nil.
func beside(a, b *mat.Dense) *mat.Dense {
	if a == nil {
		return b
	}
	var out mat.Dense
	out.Augment(a, b)
	return &out
}
