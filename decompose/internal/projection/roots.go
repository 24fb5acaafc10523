package projection

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/penalty"
)

// rotated are coordinates in which each term has first the directions that its
// penalties act on.
type rotated struct {
	u               *mat.Dense // n x n, block diagonal, orthogonal
	penalised, free []int      // its columns
	roots           []*mat.Dense
}

// rotate finds them in columns divided by unit. roots are the terms'
// sqrt(lambda_j) B_j there, one below the other; nil if none counts.
func rotate(terms []penalty.Component, lambda [][]float64, unit []float64) (*rotated, error) {
	c := &rotated{u: mat.NewDense(len(unit), len(unit), nil)}
	for i, t := range terms {
		lo, hi := t.Start, t.Start+t.Dim
		v, rank, root, err := rangeAndRoot(t, lambda[i], unit[lo:hi])
		if err != nil {
			return nil, err
		}
		c.u.Slice(lo, hi, lo, hi).(*mat.Dense).Copy(v)
		for l := range t.Dim {
			if l < rank {
				c.penalised = append(c.penalised, lo+l)
			} else {
				c.free = append(c.free, lo+l)
			}
		}
		c.roots = append(c.roots, root)
	}
	return c, nil
}

// determined splits the directions into those that rows or penalties determine and
// the others (both n x some, orthonormal; nil if none). The others are found where
// no penalty acts, as penalty.Select does, but by singular values of G, whose
// columns have norm 1 or 0.
func (c *rotated) determined(g *mat.Dense, tolerance float64) (basis, dropped *mat.Dense, err error) {
	basis = columns(c.u, c.penalised)
	if len(c.free) == 0 {
		return basis, nil, nil
	}
	free := columns(c.u, c.free)
	var gf mat.Dense
	gf.Mul(g, free)
	var svd mat.SVD
	if !svd.Factorize(&gf, mat.SVDThin) {
		return nil, nil, errors.New("the singular value decomposition of the unpenalised columns did not converge: are they finite?")
	}
	values := svd.Values(nil)
	rank := 0
	for rank < len(values) && values[rank] > tolerance*math.Max(values[0], 1) {
		rank++
	}
	var v mat.Dense
	svd.VTo(&v)
	if rank > 0 {
		var kept mat.Dense
		kept.Mul(free, v.Slice(0, len(c.free), 0, rank))
		basis = beside(basis, &kept)
	}
	if rank < len(c.free) {
		dropped = new(mat.Dense)
		dropped.Mul(free, v.Slice(0, len(c.free), rank, len(c.free)))
	}
	return basis, dropped, nil
}

// rangeAndRoot returns the orthogonal v whose first rank columns span the range of the
// term's penalties, in columns divided by unit, and sqrt(lambda_j) B_j for all of
// them, one below the other; nil if none counts.
func rangeAndRoot(t penalty.Component, lambda, unit []float64) (v *mat.Dense, rank int, root *mat.Dense, err error) {
	v = identity(t.Dim)
	total := mat.NewSymDense(t.Dim, nil)
	for j := range t.S {
		if !(lambda[j] > 0) {
			continue
		}
		s, x := t.S[j], mat.NewSymDense(t.Dim, nil)
		for a := range t.Dim {
			for b := a; b < t.Dim; b++ {
				x.SetSym(a, b, s.At(a, b)/(unit[a]*unit[b]))
			}
		}
		norm := mat.Norm(x, 2)
		if norm == 0 {
			continue
		}
		b, err := squareRoot(x)
		if err != nil {
			return nil, 0, nil, err
		}
		b.Scale(math.Sqrt(lambda[j]), b)
		root = below(root, b)
		x.ScaleSym(1/norm, x)
		total.AddSym(total, x)
	}
	if root == nil {
		return v, 0, nil, nil
	}
	values, vectors, err := descending(total)
	if err != nil {
		return nil, 0, nil, err
	}
	for rank < t.Dim && values[rank] > penaltyRounding*values[0] {
		rank++
	}
	return vectors, rank, root, nil
}

// penaltyRounding: eigenvalues of a penalty below it, relative to the largest,
// are zero. It is package penalty's.
const penaltyRounding = 1e-12

// squareRoot is B (rank x n) with B'B = S.
func squareRoot(s *mat.SymDense) (*mat.Dense, error) {
	values, vectors, err := descending(s)
	if err != nil {
		return nil, err
	}
	rank := 0
	for rank < len(values) && values[rank] > penaltyRounding*values[0] {
		rank++
	}
	b := mat.NewDense(rank, len(values), nil)
	for i := range rank {
		for j := range values {
			b.Set(i, j, math.Sqrt(values[i])*vectors.At(j, i))
		}
	}
	return b, nil
}

// descending is the eigendecomposition with the largest eigenvalue first.
func descending(s *mat.SymDense) ([]float64, *mat.Dense, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(s, true) {
		return nil, nil, errors.New("the eigendecomposition of a penalty did not converge")
	}
	values := eigen.Values(nil)
	var q mat.Dense
	eigen.VectorsTo(&q)
	n := len(values)
	slices.Reverse(values)
	out := mat.NewDense(n, n, nil)
	for j := range n {
		out.SetCol(j, mat.Col(nil, n-1-j, &q))
	}
	return values, out, nil
}

func identity(n int) *mat.Dense {
	out := mat.NewDense(n, n, nil)
	for i := range n {
		out.Set(i, i, 1)
	}
	return out
}

// columns picks columns; nil if there are none.
func columns(a *mat.Dense, which []int) *mat.Dense {
	if len(which) == 0 {
		return nil
	}
	n, _ := a.Dims()
	out := mat.NewDense(n, len(which), nil)
	for l, j := range which {
		out.SetCol(l, mat.Col(nil, j, a))
	}
	return out
}

// beside is [a, b]; below is [a; b]; a may be nil.
func beside(a, b *mat.Dense) *mat.Dense {
	if a == nil {
		return b
	}
	var out mat.Dense
	out.Augment(a, b)
	return &out
}

func below(a, b *mat.Dense) *mat.Dense {
	if a == nil {
		return b
	}
	var out mat.Dense
	out.Stack(a, b)
	return &out
}
