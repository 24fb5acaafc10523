package projection

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// The split of an interaction u(x,z) from functions of x and of z, by regression over the rows, has the noise of a regression
// with remainder u. If x and z are independent there is a better one: u less its means over the other variable,
//
//	E u(x,.) + E u(.,z) - E u,
//
// is orthogonal to all functions of x and of z, and takes no more from the rows than their means. So the split is
//
//	product + a (regression - product),
//
// and a, from 0 to 1, tells how surely x and z depend on each other. That is in X'WX: let phi_1, phi_2, ... be an
// orthonormal basis of functions of x, from the smoothest on (Demmler and Reinsch; Wood 2017, 5.4.2), and psi_l one of z.
// If x and z are independent, n r_kl^2, r_kl the correlation of phi_k and psi_l, has the mean 1 (n/(n-1) over all ways
// to pair the rows, whatever the distributions are), and W_K = n sum_{k,l<=K} r_kl^2 is chi^2 of d = K^2 degrees
// of freedom but for the tails. Let c = d + 3 sqrt(2 d) be what chance hardly exceeds. Then
//
//	a = max_K min(1, max(0, W_K/c - 1)/2),   K = 2, 4, 8 and all:
//
// 0 for most samples of independent columns, 1 where W_K is above 3 c, as it is for any dependence that the bases can tell once
// there are rows enough (firm shrinkage; Gao and Bruce 1997). Which function is split plays no part: the map is linear. Means and
// products are weighted. Weights that differ make n r_kl^2 larger than chance, so that less is smoothed.

// dependenceColumns are how many functions of each variable are looked at, the smoothest ones, besides all.
var dependenceColumns = [...]int{2, 4, 8, math.MaxInt}

// dependence is a, given r (rows for functions of x, columns for those of z, the smoothest first) of n rows.
func dependence(r *mat.Dense, n float64) (a float64) {
	p, q := r.Dims()
	for _, k := range dependenceColumns {
		first := r.Slice(0, min(k, p), 0, min(k, q))
		norm := mat.Norm(first, 2)
		d := float64(min(k, p) * min(k, q))
		a = max(a, (n*norm*norm/(d+3*math.Sqrt(2*d))-1)/2)
	}
	return min(a, 1)
}

// smoothed sets h.smooth where means over other variables can be smoothed: for products of two variables with smooths of
// each as margins, and for blocks with known means over all variables but one.
func (c *Constrained) smoothed(h *Hierarchy, n Nesting) error {
	bases := map[int]*mat.Dense{}
	for _, j := range h.order {
		if !n.Separate(j) || n.Means[j] == nil && (n.Product[j] == nil || !h.sumsToOne(j)) {
			continue
		}
		known := true
		for _, m := range n.Margins[j] {
			if _, ok := bases[m]; !ok {
				basis, err := c.smoothest(h, m)
				if err != nil {
					return err
				}
				bases[m] = basis
			}
			// Means of a product need not be functions of margins that are no smooths.
			known = known && bases[m] != nil && (n.Means[j] != nil || len(c.blocks[m].Penalty.S) > 0)
		}
		if !known {
			continue
		}
		a := 0.0
		for i, x := range n.Margins[j] {
			for _, z := range n.Margins[j][:i] {
				cross := h.gram.Slice(h.start[x], h.start[x+1], h.start[z], h.start[z+1])
				var half, r mat.Dense
				half.Mul(bases[x].T(), cross)
				r.Mul(&half, bases[z])
				a = max(a, dependence(&r, float64(c.view.Positive)))
			}
		}
		if a < 1 {
			if err := h.Shrink(j, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// sumsToOne tells whether the columns of block j do, in every row.
func (h *Hierarchy) sumsToOne(j int) bool {
	lo, hi := h.start[j], h.start[j+1]
	one := make([]float64, h.start[len(h.start)-1])
	for i := lo; i < hi; i++ {
		one[i] = 1
	}
	return math.Abs(floats.Sum(h.mean[lo:hi])-1) < 1e-9 && h.Variance(one) < 1e-12
}

// smoothest are the coefficients of an orthonormal basis of block j's functions, over the rows, those of the
// least penalty first, if it has one; nil if it has several, or not in raw coordinates.
func (c *Constrained) smoothest(h *Hierarchy, j int) (*mat.Dense, error) {
	b := c.blocks[j]
	if len(b.Penalty.S) > 1 || len(b.Penalty.S) == 1 && (b.Map != nil || b.Standardised || b.Kept) {
		return nil, nil
	}
	s, err := h.space([]int{j}, max(c.tolerance, MinProductTolerance))
	switch {
	case err != nil:
		return nil, err
	case s.half == nil || len(b.Penalty.S) == 0:
		return s.half, nil
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetrised(linalg.Times(s.half.T(), linalg.Times(b.Penalty.S[0], s.half))), true) {
		return nil, nil // the split is not smoothed, which is never wrong
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors) // of increasing eigenvalues
	return linalg.Times(s.half, &vectors), nil
}

// Shrink smooths the split of block j, a Product or one with Means: of what a regression gives to its margins besides the means
// over the product of these, it gives the share a.
//
// Errors: the block is neither.
func (h *Hierarchy) Shrink(j int, a float64) error {
	var out *mat.Dense
	switch {
	case h.onto[j] != nil && len(h.means[j]) > 0:
		out = h.means[j][0]
		for _, m := range h.means[j][1:] {
			above := out
			out = new(mat.Dense)
			out.Stack(above, m)
		}
	case h.onto[j] != nil && len(h.product[j]) == 2:
		out = linalg.Times(h.onto[j], h.productMeans(j))
	default:
		return fmt.Errorf("the split of block %d from its margins is said to be smoothed, and its means over these are not known", j+1)
	}
	if r, c := out.Dims(); r != h.onto[j].RawMatrix().Rows || c != h.onto[j].RawMatrix().Cols {
		return fmt.Errorf("the means of block %d are %d x %d, its margins have %d columns and it has %d", j+1, r, c, h.onto[j].RawMatrix().Rows, h.onto[j].RawMatrix().Cols)
	}
	var apart mat.Dense
	apart.Sub(h.onto[j], out)
	apart.Scale(a, &apart)
	apart.Add(&apart, out)
	h.smooth[j], h.kept[j] = &apart, a
	return nil
}

// productMeans are the coefficients of the means of a Product over its bases, in its own columns: B z 1' + 1 x'B, of
// coefficients B (p x q), but for a constant.
func (h *Hierarchy) productMeans(j int) *mat.Dense {
	p, q := h.product[j][0], h.product[j][1]
	lo := h.start[j]
	x, z := make([]float64, p), make([]float64, q) // means of the two bases
	for i := range p {
		for l := range q {
			v := h.mean[lo+i*q+l]
			x[i] += v
			z[l] += v
		}
	}
	product := mat.NewDense(p*q, p*q, nil)
	for i := range p {
		for l := range q {
			for k := range q {
				product.Set(i*q+k, i*q+l, product.At(i*q+k, i*q+l)+z[l])
			}
			for k := range p {
				product.Set(k*q+l, i*q+l, product.At(k*q+l, i*q+l)+x[i])
			}
		}
	}
	return product
}

// Smoothed tells what factor a the split of block j has; false if it is the regression.
func (h *Hierarchy) Smoothed(j int) (a float64, ok bool) { return h.kept[j], h.smooth[j] != nil }

// Smooths tells whether any split is smoothed.
func (h *Hierarchy) Smooths() bool {
	return slices.ContainsFunc(h.smooth, func(m *mat.Dense) bool { return m != nil })
}

// Shared is the share of the variance of block j of a split of one function that its margins reproduce.
func (h *Hierarchy) Shared(s *Split, j int) float64 {
	f := h.Coefficients(s, j)
	v := h.Variance(f)
	if !(v > 0) {
		return 0
	}
	image := make([]float64, len(h.spaces[j].at))
	for i, a := range h.spaces[j].at {
		image[i] = floats.Dot(h.gram.RawRowView(a), f)
	}
	var on mat.VecDense
	on.MulVec(h.spaces[j].half.T(), mat.NewVecDense(len(image), image))
	return min(1, mat.Dot(&on, &on)/v)
}

// Given is the mean variance over the rows of what block j gives to its margins, by the covariance of the coefficients.
func (h *Hierarchy) Given(j int, cov mat.Symmetric) (v float64) {
	for i, a := range h.spaces[j].at {
		for l, b := range h.spaces[j].at {
			v += h.gram.At(a, b) * cov.At(i, l)
		}
	}
	return v
}
