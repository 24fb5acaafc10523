package projection

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// Hierarchy splits the function X b of a predictor's raw columns into terms that are each
// orthogonal, in the rows' weights, to everything that its own margins span (hierarchical
// orthogonality; Hooker 2007): with M_j the columns of block j's margins,
//
//	f_j = X_j b_j - M_j c_j,   c_j = (M_j'W M_j)^+ M_j'W X_j b_j,
//
// or, where the rows do not show that the variables of a product depend on each other, nearer to what they would be if
// they did not (see smoothed); all centred, and a margin gets what it is given, from blocks of the most variables down.
// So the sum of the terms is X b on any row, whatever the rows were that decided the c_j.
//
// Where this leaves the split open the terms vary least, as in Settle: margins that span
// common functions could be given one part or another.
type Hierarchy struct {
	gram    *mat.Dense // of the raw columns, centred, by SumW
	mean    []float64  // of the raw columns
	start   []int      // first raw column of each block, and the end
	margins [][]int    // of each block; nil: it gives nothing away
	order   []int      // the blocks that have margins, of the most variables first
	effect  []int      // blocks of one effect have the same number
	effects int
	spaces  []*space // of the margins, by block; blocks of equal margins share one
	onto    []*mat.Dense
	smooth  []*mat.Dense // by block, what Split takes in place of onto; nil: onto itself
	kept    []float64    // by block, a of smooth
	product [][]int      // see Nesting
	means   [][]*mat.Dense
	open    *Split   // directions that the split leaves open, one a column; nil: none
	shares  []*space // of single blocks, for Share
}

// Nesting says which blocks are margins of which.
type Nesting struct {
	Margins [][]int // of each block
	Size    []int   // of each block: more than that of its margins
	Effect  []int   // of each block, from 0: blocks of one effect are functions of the same variables
	// Product has, of each block that is a product of two bases of one variable each, the first basis slowest and
	// both with columns that sum to 1, the dimensions of the two; nil: it is no such block.
	Product [][]int
	// Means has, of each other block, the coefficients (columns of a margin x the block's) of its means over all variables but
	// one as functions of the margins, by margin; nil: they are not known.
	Means [][]*mat.Dense
}

// Separate tells whether the margins of block j are a block of each of its variables.
func (n Nesting) Separate(j int) bool {
	seen := map[int]bool{}
	for _, m := range n.Margins[j] {
		if n.Size[m] != 1 {
			return false
		}
		seen[n.Effect[m]] = true
	}
	return len(seen) == n.Size[j] && len(n.Margins[j]) == n.Size[j]
}

// Any tells whether a block has margins.
func (n Nesting) Any() bool {
	return slices.ContainsFunc(n.Margins, func(m []int) bool { return len(m) > 0 })
}

// space is what some blocks span.
type space struct {
	at   []int      // their raw columns
	half *mat.Dense // B: B B' is the pseudoinverse of their products (by SumW)
	null *mat.Dense // coefficients of functions that are 0 in all rows; nil: none
}

// NewHierarchy takes the centred products of the raw columns (q x q), their weighted
// means, and where blocks start; tolerance decides the ranks of margins.
func NewHierarchy(products mat.Symmetric, mean []float64, sumW float64, start []int, n Nesting, tolerance float64) (*Hierarchy, error) {
	if n := products.SymmetricDim(); n > maxCorrelated {
		return nil, fmt.Errorf("terms with %d columns in all are too many to be split from their margins, which takes all of their products: leave them as they are fitted", n)
	}
	xx := linalg.Dense(products)
	h := &Hierarchy{
		gram: linalg.Full(xx), mean: mean, start: start, margins: n.Margins, effect: n.Effect, product: n.Product, means: n.Means,
		spaces: make([]*space, len(n.Margins)), onto: make([]*mat.Dense, len(n.Margins)),
		smooth: make([]*mat.Dense, len(n.Margins)), kept: make([]float64, len(n.Margins)),
		shares: make([]*space, len(n.Margins)),
	}
	floats.Scale(1/sumW, h.gram.RawMatrix().Data)
	for _, e := range n.Effect {
		h.effects = max(h.effects, e+1)
	}
	for j, m := range n.Margins {
		if len(m) > 0 {
			h.order = append(h.order, j)
		}
	}
	slices.SortStableFunc(h.order, func(a, b int) int { return n.Size[b] - n.Size[a] })
	made := map[string]*space{}
	for _, j := range h.order {
		key := fmt.Sprint(h.margins[j])
		if made[key] == nil {
			s, err := h.space(h.margins[j], max(tolerance, MinProductTolerance))
			if err != nil {
				return nil, err
			}
			made[key] = s
		}
		h.spaces[j] = made[key]
		h.onto[j] = h.spaces[j].project(h.gram, start[j], start[j+1])
	}
	return h, h.findOpen()
}

// space is that of some blocks; directions of their standardised columns below the
// tolerance are not in it.
func (h *Hierarchy) space(blocks []int, tolerance float64) (*space, error) {
	const rounding = 1e-13 // of the mean square of a standardised column, as in exactlyNull
	s := &space{}
	for _, b := range blocks {
		s.at = append(s.at, columnsFrom(h.start[b], h.start[b+1])...)
	}
	sd, corr := h.standardised(s.at)
	var eigen mat.EigenSym
	if !eigen.Factorize(corr, true) {
		return nil, errors.New("the eigendecomposition of the margins' products did not converge: are the columns finite?")
	}
	values := eigen.Values(nil) // increasing
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	limit := tolerance * tolerance * values[len(values)-1]
	for i, v := range sd {
		row := vectors.RawRowView(i)
		for l := range row {
			if v == 0 {
				row[l] = 0
				continue
			}
			row[l] /= v
		}
	}
	first := 0
	for first < len(values) && !(values[first] > limit) {
		first++
	}
	null := 0
	for null < first && values[null] <= rounding {
		null++
	}
	n := len(s.at)
	if null > 0 {
		s.null = mat.DenseCopyOf(vectors.Slice(0, n, 0, null))
	}
	if first < n {
		s.half = mat.DenseCopyOf(vectors.Slice(0, n, first, n))
		for l, v := range values[first:] {
			for i := range n {
				s.half.Set(i, l, s.half.At(i, l)/math.Sqrt(v))
			}
		}
	}
	return s, nil
}

// standardised gives the standard deviations of raw columns, 0 of those that do not vary
// but for rounding, and their correlations.
func (h *Hierarchy) standardised(at []int) ([]float64, *mat.SymDense) {
	sd, corr := make([]float64, len(at)), mat.NewSymDense(len(at), nil)
	for i, a := range at {
		least := leastThin * h.mean[a]
		if j := h.blockOf(a); h.start[j+1]-h.start[j] == 1 {
			least = leastVariation * h.mean[a]
		}
		if v := h.gram.At(a, a); v > least*least {
			sd[i] = math.Sqrt(v)
		}
	}
	for i, a := range at {
		for l := i; l < len(at); l++ {
			if sd[i] > 0 && sd[l] > 0 {
				corr.SetSym(i, l, h.gram.At(a, at[l])/sd[i]/sd[l])
			}
		}
	}
	return sd, corr
}

func (h *Hierarchy) blockOf(column int) int {
	at, found := slices.BinarySearch(h.start, column)
	if !found {
		at--
	}
	return at
}

// project gives the coefficients, in the columns of s, of the projections of columns lo
// to hi-1.
func (s *space) project(gram *mat.Dense, lo, hi int) *mat.Dense {
	out := mat.NewDense(len(s.at), hi-lo, nil)
	if s.half == nil {
		return out
	}
	cross := mat.NewDense(len(s.at), hi-lo, nil)
	for i, a := range s.at {
		cross.SetRow(i, gram.RawRowView(a)[lo:hi])
	}
	var inner mat.Dense
	inner.Mul(s.half.T(), cross)
	out.Mul(s.half, &inner)
	return out
}

// Split is what the blocks' own columns and their margins' hold after splitting r
// functions at once: block j is X_j Own_j less M_j Given[j].
type Split struct {
	Own   *mat.Dense   // q x r: b, and what was given to it
	Given []*mat.Dense // by block, rows in the order of its margins' columns (x r); nil: nothing
}

// Split splits X b.
func (h *Hierarchy) Split(b []float64) *Split { return h.splitBy(h.taken, b) }

// taken is what block j gives to its margins, smoothed or not.
func (h *Hierarchy) taken(j int) *mat.Dense {
	if h.smooth[j] != nil {
		return h.smooth[j]
	}
	return h.onto[j]
}

func (h *Hierarchy) regression(j int) *mat.Dense { return h.onto[j] }

func (h *Hierarchy) splitBy(onto func(j int) *mat.Dense, b []float64) *Split {
	s := h.purifyBy(onto, mat.NewDense(len(b), 1, slices.Clone(b)), nil)
	if h.open != nil {
		h.settle(s)
	}
	return s
}

// Regression splits X b by the regressions on the margins, none of them smoothed.
func (h *Hierarchy) Regression(b []float64) *Split { return h.splitBy(h.regression, b) }

// Smoothing is what blocks would give to their margins besides if the split of X b were not smoothed, by block in Order
// and column of its margins.
func (h *Hierarchy) Smoothing(b []float64) (off []float64) {
	regression, smoothed := h.Regression(b), h.Split(b)
	for _, j := range h.Order() {
		for i := range h.spaces[j].at {
			off = append(off, regression.Given[j].At(i, 0)-smoothed.Given[j].At(i, 0))
		}
	}
	return off
}

// RegressionMap splits all q columns by the regressions: the linear map from raw coefficients to those of the terms,
// but for the choice that Split makes where it is open.
func (h *Hierarchy) RegressionMap() *Split { return h.mapBy(h.regression) }

// Map is RegressionMap with the smoothing of Split.
func (h *Hierarchy) Map() *Split { return h.mapBy(h.taken) }

func (h *Hierarchy) mapBy(onto func(j int) *mat.Dense) *Split {
	q := h.start[len(h.start)-1]
	one := mat.NewDense(q, q, nil)
	for i := range q {
		one.Set(i, i, 1)
	}
	return h.purifyBy(onto, one, nil)
}

// purify gives margins what is theirs; own is overwritten. given, if there is any, is
// what blocks have given away already.
func (h *Hierarchy) purify(own *mat.Dense, given []*mat.Dense) *Split {
	return h.purifyBy(h.regression, own, given)
}

// purifyBy is purify with the coefficients that onto gives block j's margins.
func (h *Hierarchy) purifyBy(onto func(j int) *mat.Dense, own *mat.Dense, given []*mat.Dense) *Split {
	_, r := own.Dims()
	s := &Split{Own: own, Given: make([]*mat.Dense, len(h.margins))}
	copy(s.Given, given)
	for _, j := range h.order {
		var c mat.Dense
		c.Mul(onto(j), own.Slice(h.start[j], h.start[j+1], 0, r))
		for i, a := range h.spaces[j].at {
			floats.Add(own.RawRowView(a), c.RawRowView(i))
		}
		if s.Given[j] != nil {
			c.Add(&c, s.Given[j])
		}
		s.Given[j] = &c
	}
	return s
}

// part is a block of rows of coefficients.
type part struct {
	at   []int
	coef mat.Matrix // len(at) x r
}

// parts are the coefficients of effect e.
func (h *Hierarchy) parts(s *Split, e int) []part {
	var out []part
	for j, of := range h.effect {
		if of == e {
			out = append(out, h.blockParts(s, j)...)
		}
	}
	return out
}

// blockParts are the coefficients of block j.
func (h *Hierarchy) blockParts(s *Split, j int) []part {
	_, r := s.Own.Dims()
	out := []part{{columnsFrom(h.start[j], h.start[j+1]), s.Own.Slice(h.start[j], h.start[j+1], 0, r)}}
	if s.Given[j] != nil {
		var minus mat.Dense
		minus.Scale(-1, s.Given[j])
		out = append(out, part{h.spaces[j].at, &minus})
	}
	return out
}

// columnsFrom lists lo to hi-1.
func columnsFrom(lo, hi int) []int {
	at := make([]int, 0, hi-lo)
	for i := lo; i < hi; i++ {
		at = append(at, i)
	}
	return at
}

// products are F'WG/SumW of two lists of functions.
func (h *Hierarchy) products(f, g []part) *mat.Dense {
	_, r := f[0].coef.Dims()
	_, c := g[0].coef.Dims()
	out := mat.NewDense(r, c, nil)
	for _, a := range f {
		for _, b := range g {
			cross := mat.NewDense(len(a.at), len(b.at), nil)
			for i, from := range a.at {
				row := h.gram.RawRowView(from)
				for l, to := range b.at {
					cross.Set(i, l, row[to])
				}
			}
			var right, both mat.Dense
			right.Mul(cross, b.coef)
			both.Mul(a.coef.T(), &right)
			out.Add(out, &both)
		}
	}
	return out
}

// Coefficients are those of block j of a split of one function in all q raw columns.
func (h *Hierarchy) Coefficients(s *Split, j int) []float64 {
	out := make([]float64, h.start[len(h.start)-1])
	for i := h.start[j]; i < h.start[j+1]; i++ {
		out[i] = s.Own.At(i, 0)
	}
	if s.Given[j] != nil {
		for i, a := range h.spaces[j].at {
			out[a] -= s.Given[j].At(i, 0)
		}
	}
	return out
}

// Variance is that of X b, b in all q raw columns, most of them 0.
func (h *Hierarchy) Variance(b []float64) float64 {
	var sum float64
	for i, v := range b {
		if v != 0 {
			sum += v * floats.Dot(h.gram.RawRowView(i), b)
		}
	}
	return math.Max(sum, 0)
}

// CellMeans are the weighted means of the columns of block j's margins in the cells whose
// indicators are its columns (d_j x d_M): what it gives away, in its own coordinates. A
// cell without weight has zeros.
func (h *Hierarchy) CellMeans(j int) *mat.Dense {
	lo, hi := h.start[j], h.start[j+1]
	out := mat.NewDense(hi-lo, len(h.spaces[j].at), nil)
	for l := lo; l < hi; l++ {
		if !(h.mean[l] > 0) {
			continue
		}
		for i, a := range h.spaces[j].at {
			out.Set(l-lo, i, h.gram.At(l, a)/h.mean[l]+h.mean[a])
		}
	}
	return out
}

// Order are the blocks that have something to give away, of the most variables first.
func (h *Hierarchy) Order() (blocks []int) {
	for _, j := range h.order {
		if h.spaces[j].half != nil {
			blocks = append(blocks, j)
		}
	}
	return blocks
}

// Margins are block j's.
func (h *Hierarchy) Margins(j int) []int { return h.margins[j] }

// Inverse is the pseudoinverse of the products of the columns of block j's margins, by SumW.
func (h *Hierarchy) Inverse(j int) *mat.SymDense {
	out := mat.NewSymDense(len(h.spaces[j].at), nil)
	out.SymOuterK(1, h.spaces[j].half)
	return out
}

// Giving is what becomes of functions, one for each column of block j's margins, if j gives them away: j has lost them,
// and its margins have them and share them out among theirs.
func (h *Hierarchy) Giving(j int) *Split {
	at := h.spaces[j].at
	own, given := mat.NewDense(h.start[len(h.start)-1], len(at), nil), make([]*mat.Dense, len(h.margins))
	given[j] = mat.NewDense(len(at), len(at), nil)
	for i, a := range at {
		own.Set(a, i, 1)
		given[j].Set(i, i, 1)
	}
	return h.purify(own, given)
}

// Term are the coefficients of block j of a split of r functions, in all q raw columns (q x r).
func (h *Hierarchy) Term(s *Split, j int) *mat.Dense {
	_, r := s.Own.Dims()
	out := mat.NewDense(h.start[len(h.start)-1], r, nil)
	for _, p := range h.blockParts(s, j) {
		for i, a := range p.at {
			for l := range r {
				out.Set(a, l, p.coef.At(i, l))
			}
		}
	}
	return out
}

// MarginColumns are the raw columns of block j's margins, in the order of what it gives.
func (h *Hierarchy) MarginColumns(j int) []int {
	if h.spaces[j] == nil {
		return nil
	}
	return h.spaces[j].at
}

// Covariances are those of functions X b, each with b in all q raw columns.
func (h *Hierarchy) Covariances(functions [][]float64) *mat.SymDense {
	q, n := h.start[len(h.start)-1], len(functions)
	all := mat.NewDense(q, n, nil)
	for l, b := range functions {
		all.SetCol(l, b)
	}
	var image, products mat.Dense
	image.Mul(h.gram, all)
	products.Mul(all.T(), &image)
	return symmetrised(&products)
}

// GivenTo is what block j of a split of one function gives to its margin m, in the raw
// coordinates of m.
func (h *Hierarchy) GivenTo(s *Split, j, m int) []float64 {
	lo := 0
	for _, k := range h.margins[j] {
		if k == m {
			break
		}
		lo += h.start[k+1] - h.start[k]
	}
	out := make([]float64, h.start[m+1]-h.start[m])
	for i := range out {
		out[i] = s.Given[j].At(lo+i, 0)
	}
	return out
}

// Hierarchy is that of the predictor's blocks.
func (c *Constrained) Hierarchy(n Nesting) (*Hierarchy, error) {
	h, err := NewHierarchy(c.view.XX, c.view.Mean, c.view.SumW, c.raw, n, c.tolerance)
	if err != nil || h.open != nil {
		return h, err
	}
	return h, c.smoothed(h, n)
}

// Maps are what restricts the coefficients of each block, but for constraints; nil: nothing.
func (c *Constrained) Maps() []*mat.Dense {
	out := make([]*mat.Dense, len(c.blocks))
	for j, b := range c.blocks {
		if !b.Kept {
			out[j] = b.Map
		}
	}
	return out
}
