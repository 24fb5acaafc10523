package decompose

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/linalg"
)

// uncertainty is what the standard errors of a sum of terms need.
type uncertainty struct {
	cov  mat.Symmetric // of their coefficients; nil: the sum is not identified, or none is at hand
	mean []float64     // of their raw columns

	intercept []float64 // covariances of the coefficients with the intercept
	variance  float64   // of the intercept

	pieces []int // the terms whose columns these are
}

// uncertainty is that of the sum of terms of d, in the columns of its pieces. Terms that
// are entangled with each other only are identified together.
func (d *Predictor) uncertainty(terms ...int) (*uncertainty, error) {
	if d.kept != nil {
		return d.kept.uncertainty(d, terms)
	}
	return d.uncertaintyBy(d.covariance(), terms...)
}

// uncertaintyBy is the uncertainty by a covariance; nil: none.
func (d *Predictor) uncertaintyBy(c *robustCovariance, terms ...int) (*uncertainty, error) {
	if c == nil || !d.identified(terms) {
		return &uncertainty{}, nil
	}
	var at []int // the pieces' columns among the raw ones
	u := &uncertainty{}
	for _, p := range d.pieces(terms) {
		u.pieces = append(u.pieces, p.term)
		lo := d.first(p.term)
		for c := range d.Terms[p.term].Alpha {
			at = append(at, lo+c)
			u.mean = append(u.mean, d.mean[lo+c])
		}
	}
	u.variance = c.variance
	if d.split != nil && d.exchanging(terms) {
		err := d.spread(u, c, terms, at)
		return u, err
	}
	for _, a := range at {
		u.intercept = append(u.intercept, c.intercept[a])
	}
	u.cov = linalg.Part(c.cov, at)
	return u, nil
}

// first is the first raw column of term j.
func (d *Predictor) first(j int) int {
	lo := 0
	for _, t := range d.Terms[:j] {
		lo += len(t.Alpha)
	}
	return lo
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

// manyColumns is from how many columns on, as of a factor with as many levels, products by blocks are worth it.
const manyColumns = 256

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
	centred := mat.NewDense(n, d, nil)
	if err := design.ToDense(centred, x); err != nil {
		return err
	}
	for r := range n {
		floats.Sub(centred.RawRowView(r), u.mean)
	}
	some, err := newSparseGrid(n, []design.Columns{design.Dense{Dense: centred}}) // as where all columns but one are at their means
	if err != nil {
		return err
	}
	if some != nil {
		for r := range n {
			dst.Set(i+r, j, math.Sqrt(math.Max(some.quadratic(r, u.cov), 0)))
		}
		return nil
	}
	spread := new(mat.Dense)
	if d < manyColumns {
		spread.Mul(centred, u.cov)
	} else {
		spread = linalg.RowsTimes(centred, u.cov)
	}
	for r := range n {
		dst.Set(i+r, j, math.Sqrt(math.Max(floats.Dot(centred.RawRowView(r), spread.RawRowView(r)), 0)))
	}
	return nil
}

// standardErrorsAt are standardErrors at the rows of the pieces' columns.
func (u *uncertainty) standardErrorsAt(dst []float64, pieces []design.Columns) error {
	grid, all, err := u.grid(pieces)
	if err != nil {
		return err
	}
	if grid != nil {
		curve, _ := grid.standardErrors(u)
		copy(dst, curve)
		return nil
	}
	return u.standardErrors(mat.NewDense(len(dst), 1, dst), 0, 0, design.Dense{Dense: all})
}

// simultaneousAt is simultaneous at the rows of the pieces' columns.
func (u *uncertainty) simultaneousAt(pieces []design.Columns, df float64, seed uint64) ([]float64, error) {
	grid, all, err := u.grid(pieces)
	if err != nil {
		return nil, err
	}
	if grid != nil {
		return grid.simultaneous(u, df, seed), nil
	}
	return u.simultaneous(all, df, seed), nil
}

// grid are the pieces' columns side by side, as entries alone where these are few.
func (u *uncertainty) grid(pieces []design.Columns) (some *sparseGrid, all *mat.Dense, err error) {
	if u.cov != nil {
		n, _ := pieces[0].Dims()
		if some, err = newSparseGrid(n, pieces); err != nil || some != nil {
			return some, nil, err
		}
	}
	for _, x := range pieces {
		own, err := denseOf(x)
		if err != nil {
			return nil, nil, err
		}
		all = beside(all, own)
	}
	return nil, all, nil
}

// denseOf is x, with every number; in its memory if it has them.
func denseOf(x design.Columns) (*mat.Dense, error) {
	if x, ok := x.(design.Dense); ok {
		return x.Dense, nil
	}
	n, d := x.Dims()
	out := mat.NewDense(n, d, nil)
	return out, design.ToDense(out, x)
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
