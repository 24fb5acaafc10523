package projection

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
	"github.com/pho-go/pho/penalty"
)

// side makes nested smooths identifiable as mgcv does (Wood 2017, 5.6.3; gam.side):
// of a smooth that shares variables with smooths of fewer variables, or with earlier
// ones of as many, those columns are left out that are linear combinations of the
// others' columns and the constant. Which ones follows from a pivoted QR
// factorisation, here a pivoted Cholesky factorisation of the centred cross
// products. Random effects and learned terms neither lose columns nor cost others
// any.
func (c *Constrained) side() error {
	smooths := c.sideOrder()
	if !sharing(smooths) {
		return nil
	}
	gram := c.reduce(c.view.XX)
	drop := make([][]int, len(c.blocks)) // columns of each block, increasing
	for i, s := range smooths {
		var others, names []int
		for _, o := range smooths[:i] {
			if !slices.ContainsFunc(o.variables, func(v string) bool { return slices.Contains(s.variables, v) }) {
				continue
			}
			names = append(names, o.block)
			for col := c.start[o.block]; col < c.start[o.block+1]; col++ {
				if !slices.Contains(drop[o.block], col-c.start[o.block]) {
					others = append(others, col)
				}
			}
		}
		if len(others) == 0 {
			continue
		}
		own := make([]int, c.start[s.block+1]-c.start[s.block])
		for l := range own {
			own[l] = c.start[s.block] + l
		}
		drop[s.block] = dependentOn(gram, others, own, c.rounding(s.block))
		if len(drop[s.block]) == len(own) {
			return fmt.Errorf("term %q: all its columns are combinations of those of %s: leave it out", c.names[s.block], c.termNames(names))
		}
		if n := len(drop[s.block]); n > 0 {
			c.notes = append(c.notes, fmt.Sprintf("%d of %d columns of %s are combinations of others, of the constant, and of the columns of %s: they are left out, so that the split is identified",
				n, len(own), c.names[s.block], c.termNames(names)))
		}
	}
	c.without(drop)
	return nil
}

// sideSmooth is a smooth by its variables.
type sideSmooth struct {
	block     int
	variables []string
}

// sideOrder lists the smooths by their number of variables, then in order.
func (c *Constrained) sideOrder() []sideSmooth {
	var all []sideSmooth
	for j, b := range c.blocks {
		if b.Variables != nil {
			all = append(all, sideSmooth{j, b.Variables})
		}
	}
	slices.SortStableFunc(all, func(a, b sideSmooth) int { return len(a.variables) - len(b.variables) })
	return all
}

// sharing tells whether any variable occurs twice.
func sharing(smooths []sideSmooth) bool {
	seen := map[string]bool{}
	for _, s := range smooths {
		for _, v := range s.variables {
			if seen[v] {
				return true
			}
			seen[v] = true
		}
	}
	return false
}

func (c *Constrained) termNames(blocks []int) string {
	names := make([]string, len(blocks))
	for i, j := range blocks {
		names[i] = c.names[j]
	}
	return strings.Join(names, ", ")
}

// dependentOn lists which of own (columns of the gram matrix) are combinations of
// the others and of own columns that stay, as positions in own, increasing. A
// column is one if no more than 3e-5 of its length is left, or than rounding (of
// each own column's square) explains: the gram matrix holds squares and cannot tell
// less. Of columns that are as long up to rounding the first stays.
func dependentOn(gram mat.Symmetric, others, own []int, rounding []float64) []int {
	e := newElimination(gram, append(slices.Clone(others), own...))
	for l, v := range rounding {
		i := len(others) + l
		e.least[i] = max(e.least[i], v)
	}
	e.run(0, len(others))
	e.run(len(others), len(others)+len(own))
	var out []int
	for l := range own {
		if !e.done[len(others)+l] {
			out = append(out, l)
		}
	}
	return out
}

// elimination is a pivoted Cholesky factorisation of cross products.
type elimination struct {
	a     *mat.Dense // what is left of the products
	least []float64  // of a column's square that is more than nothing
	done  []bool     // columns that were pivots
}

// newElimination takes these columns of the gram matrix.
func newElimination(gram mat.Symmetric, at []int) *elimination {
	const tolerance = 3e-5 * 3e-5
	n := len(at)
	e := &elimination{a: mat.NewDense(n, n, nil), least: make([]float64, n), done: make([]bool, n)}
	for i := range n {
		for j := range n {
			e.a.Set(i, j, gram.At(at[i], at[j]))
		}
		e.least[i] = tolerance * e.a.At(i, i)
	}
	return e
}

// run makes pivots of columns lo to hi-1, the longest first, until nothing of the
// others is left.
func (e *elimination) run(lo, hi int) {
	for range hi - lo {
		pivot := e.longest(lo, hi)
		if pivot < 0 {
			return
		}
		e.done[pivot] = true
		row, d := slices.Clone(e.a.RawRowView(pivot)), e.a.At(pivot, pivot)
		for i := range e.done {
			if e.done[i] || row[i] == 0 {
				continue
			}
			f := row[i] / d
			dst := e.a.RawRowView(i)
			for j, v := range row {
				dst[j] -= f * v
			}
		}
	}
}

// longest is the column of which most is left, the first of those as long up to
// rounding; -1 if nothing is left of any.
func (e *elimination) longest(lo, hi int) int {
	const tie = 1e-9
	pivot := -1
	for i := lo; i < hi; i++ {
		if v := e.a.At(i, i); !e.done[i] && v > e.least[i] && (pivot < 0 || v > (1+tie)*e.a.At(pivot, pivot)) {
			pivot = i
		}
	}
	return pivot
}

// rounding bounds what rounding leaves of the squares of block j's columns: the squares
// are sums |z|'|G||z| over raw columns, and with a map they can be much larger than their
// result.
func (c *Constrained) rounding(j int) []float64 {
	const digits = 1000 * 0x1p-52
	lo, hi := c.raw[j], c.raw[j+1]
	out := make([]float64, c.start[j+1]-c.start[j])
	z := c.z[j]
	if z == nil {
		for l := range out {
			at := lo + c.first[j] + l
			out[l] = digits * c.view.XX.At(at, at)
		}
		return out
	}
	absolute := func(_, _ int, v float64) float64 { return math.Abs(v) }
	var g, size, product mat.Dense
	g.Apply(absolute, linalg.Dense(linalg.Range(c.view.XX, lo, hi)))
	size.Apply(absolute, z)
	product.Mul(&g, &size)
	product.MulElem(&product, &size)
	for l := range out {
		out[l] = digits * mat.Sum(product.ColView(l))
	}
	return out
}

// without leaves out the columns listed for each block: of its map, its penalties
// and the positions.
func (c *Constrained) without(drop [][]int) {
	for j := range c.blocks {
		t := &c.terms[j]
		if len(drop[j]) > 0 {
			var keep []int
			for i := range t.Dim {
				if !slices.Contains(drop[j], i) {
					keep = append(keep, i)
				}
			}
			z := c.Z(j)
			if z == nil {
				z = identity(t.Dim)
			}
			c.z[j], c.first[j] = columns(z, keep), 0
			restrict(t, keep)
		}
		t.Start = c.start[j]
		c.start[j+1] = t.Start + t.Dim
	}
}

// restrict leaves the columns keep of t. A penalty of which nothing is left goes, with
// its lambda.
func restrict(t *penalty.Component, keep []int) {
	t.Dim = len(keep)
	old := *t
	t.S = slices.Clone(t.S)
	for l := len(t.S) - 1; l >= 0; l-- {
		whole, s := old.S[l], mat.NewSymDense(len(keep), nil)
		for a, i := range keep {
			for b := a; b < len(keep); b++ {
				s.SetSym(a, b, whole.At(i, keep[b]))
			}
		}
		t.S[l] = s
		if mat.Norm(s, 1) > 0 {
			continue
		}
		t.S = slices.Delete(t.S, l, l+1)
		if t.SP != nil {
			t.SP = slices.Delete(slices.Clone(t.SP), l, l+1)
		}
		if t.Link != nil {
			t.Link = slices.Delete(slices.Clone(t.Link), l, l+1)
		}
	}
}
