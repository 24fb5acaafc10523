package projection

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// Aliases says what the rows do not determine: which columns to call aliased, and
// which blocks share a split that is not identified.
type Aliases struct {
	Columns []Column // r columns that the others span, increasing
	With    [][]int  // for each block the others it is entangled with; nil if identified
}

// Column is the constrained column At of a block.
type Column struct{ Block, At int }

// Aliases reads the directions that the fit left out. Columns of kept blocks are not
// among them.
func (f *Fit) Aliases() Aliases {
	c := f.problem.columns
	columns, with := findAliases(f.dropped, f.corr, c.start, c.reading())
	a := Aliases{With: with}
	for _, i := range columns {
		if j := c.blockOf(i); !c.blocks[j].Kept {
			a.Columns = append(a.Columns, Column{j, i - c.start[j]})
		}
	}
	return a
}

// findAliases takes the dropped directions N (orthonormal, of standardised
// columns, c x r; nil: none), the correlations of those columns, and the rank
// tolerance. A block is entangled with another if one function of the rows can be
// added to it and taken from the other: a direction that changes both. Columns
// of one block that are dependent among themselves change no function, so they
// are aliased but leave the block identified.
func findAliases(null *mat.Dense, corr mat.Symmetric, start []int, tolerance float64) (columns []int, with [][]int) {
	blocks := len(start) - 1
	with = make([][]int, blocks)
	if null == nil {
		return nil, with
	}
	// What the directions do to block i's values: G_i = N_i'C_ii N_i (r x r). The
	// size of what they do to i and j together is the root of tr(G_i G_j), whatever
	// basis of the dropped directions N is.
	_, r := null.Dims()
	change := make([]*mat.Dense, blocks)
	for i := range blocks {
		n := null.Slice(start[i], start[i+1], 0, r)
		change[i] = new(mat.Dense)
		change[i].Mul(n.T(), blockTimes(corr, start[i], start[i+1], n))
	}
	for i := range blocks {
		for j := range blocks {
			if i != j && jointChange(change[i], change[j]) > tolerance {
				with[i] = append(with[i], j)
			}
		}
	}
	return dependentColumns(null), with
}

// blockTimes is the product of x and the block of corr on the diagonal with columns lo to hi-1.
func blockTimes(corr mat.Symmetric, lo, hi int, x mat.Matrix) *mat.Dense {
	block := linalg.Range(corr, lo, hi)
	if _, many := block.(*linalg.Structured); many {
		return linalg.TimesOf(block, mat.DenseCopyOf(x))
	}
	out := new(mat.Dense)
	out.Mul(block, x)
	return out
}

// jointChange is the root of tr(GH) for symmetric G and H.
func jointChange(g, h *mat.Dense) float64 {
	var sum float64
	r, _ := g.Dims()
	for i := range r {
		sum += floats.Dot(g.RawRowView(i), h.RawRowView(i))
	}
	return math.Sqrt(math.Max(sum, 0))
}

// Groups joins entangled blocks: each group shares a split of which only the sum
// is identified.
func (a Aliases) Groups() [][]int {
	var out [][]int
	seen := make([]bool, len(a.With))
	for i := range a.With {
		if seen[i] || len(a.With[i]) == 0 {
			continue
		}
		group := []int{i}
		seen[i] = true
		for at := 0; at < len(group); at++ {
			for _, j := range a.With[group[at]] {
				if !seen[j] {
					seen[j] = true
					group = append(group, j)
				}
			}
		}
		sort.Ints(group)
		out = append(out, group)
	}
	return out
}

// dependentColumns picks as many columns as there are null directions, the
// later ones first (as R does), such that the rest is independent: Gaussian
// elimination on the rows of N from the last.
func dependentColumns(null *mat.Dense) []int {
	c, r := null.Dims()
	m := mat.DenseCopyOf(null)
	var picked []int
	used := make([]bool, r)
	for i := c - 1; i >= 0 && len(picked) < r; i-- {
		pivot, best := -1, 1e-4 // a row this small is rounding, not a dependence
		for l := range r {
			if v := math.Abs(m.At(i, l)); !used[l] && v > best {
				pivot, best = l, v
			}
		}
		if pivot < 0 {
			continue
		}
		used[pivot] = true
		picked = append(picked, i)
		for l := range r {
			if l == pivot || m.At(i, l) == 0 {
				continue
			}
			f := m.At(i, l) / m.At(i, pivot)
			for u := 0; u <= i; u++ {
				m.Set(u, l, m.At(u, l)-f*m.At(u, pivot))
			}
		}
	}
	for i, j := 0, len(picked)-1; i < j; i, j = i+1, j-1 {
		picked[i], picked[j] = picked[j], picked[i]
	}
	return picked
}
