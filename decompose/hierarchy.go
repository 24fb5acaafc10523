package decompose

import (
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/projection"
	"github.com/pho-go/pho/internal/base/linalg"
)

// Terms says which functions terms are where several of them can express a common part,
// as an interaction and the main effects of its features do.
type Terms string

const (
	// Hierarchical (the default): a term is orthogonal, over the training rows and in their
	// weights, to all that terms of some of its features span, its margins (hierarchical
	// orthogonality; Hooker 2007), but for Smoothed ones, which are so as far as the rows tell; of several terms of the same features, to the one of most
	// columns that no network learned. A factor's effects and interactions are then those of the
	// weighted functional analysis of variance, whatever its levels are called. Terms
	// without margins stay as they are fitted. A smooth with a by column gives its
	// mean in a level, or its mean slope, to the terms of that column alone: it remains
	// a curve for each level. Terms with a by column are nobody's margins.
	// Terms are split after the fit and not by constraints of it: what one term loses another gains
	// as coefficients (TermResult.Margins), so every sum of terms stays, on new rows too. The space
	// of a margin is that of its raw columns, whatever its constraint or contrasts. An interaction
	// of factors has a column for each combination that occurred; one that did not has the value 0.
	Hierarchical Terms = "hierarchical"
	// Fitted leaves terms as the fit has them: factors with the contrasts of the formula
	// (treatment: by the first level), smooths with their constraints.
	Fitted Terms = "fitted"
)

// Hierarchy says how far the rows determine the split of a predictor into hierarchical
// terms.
type Hierarchy struct {
	// Rank is the rank of all terms' spaces together, each less the span of its margins, and
	// Of is the sum of the terms' own ranks: the terms are unique if the two are equal. Both
	// count the terms that have margins and the margins. 0: too many columns to tell.
	Rank int `json:"rank"`
	Of   int `json:"of"`
	// Smallest is the smallest eigenvalue of the products of orthonormal bases of the
	// spaces: 1 if all are orthogonal, 0 if the terms are not unique. A split that hangs on
	// an eigenvalue v magnifies rounding and noise 1/v times.
	Smallest float64 `json:"smallest"`
	// Open are groups of terms that share a function of the rows. Main effects are then
	// those that vary least, and not identified; of smooths of several features that share
	// a margin, as te(x,z) and te(x,v) do, the earlier has it (see Fitted), so that the
	// terms hang on the order of the formula: ti() does not.
	Open [][]string `json:"open,omitempty"`
	// Smoothed are the interactions whose split from their margins is not left to the regression over the rows alone.
	Smoothed []Smoothed `json:"smoothed,omitempty"`
	// Cells are the interactions of factors.
	Cells []Cells `json:"cells,omitempty"`
	// GivenRows: standard errors take the split between terms and margins as known, and so are about
	// the split as these rows have it: those of the projection and of RowsBands.
	GivenRows bool `json:"given_rows,omitempty"`
}

// Smoothed says of an interaction of two features how its split is smoothed: its margins get its means over one feature
// as if the features were independent, and of what a regression on them finds besides the share Kept, 0 where the
// rows do not show that the features depend on each other.
type Smoothed struct {
	Term string  `json:"term"`
	Kept float64 `json:"kept"`
	// Shared is the share of the term's variance over the rows that functions of its margins reproduce, and Chance about what
	// they would if they had nothing in common: the sampling variance of the regression on them. 0: there are no robust bands.
	Shared float64 `json:"shared"`
	Chance float64 `json:"chance,omitempty"`
}

// Cells says how many of the possible combinations of an interaction's levels occurred.
type Cells struct {
	Term     string `json:"term"`
	Observed int    `json:"observed"`
	Possible int    `json:"possible"`
}

// cellular is a term that is an indicator for each of its combinations of levels; it
// returns 0, 0 if it is none after all.
type cellular interface {
	Cells() (observed, possible int)
}

// cells tells of such a term, next to its margins.
func cells(t Term) (observed, possible int) {
	if c, ok := t.(cellular); ok {
		return c.Cells()
	}
	return 0, 0
}

// terms are those of the predictor's blocks.
func (d planned) terms() []Term {
	var out []Term
	for _, b := range d.blocks {
		out = append(out, b.Term)
	}
	return out
}

// hierarchical splits what was fitted, if terms have margins. What interactions of factors
// give away moves in alpha, which is one of several solutions then: a combination of
// levels that did not occur has no interaction. What others give is in their Margins.
// Networks that have columns of their own stay as fitted (see decomposeApart).
func (s *solver) hierarchical() (err error) {
	n := nesting(s.d.terms())
	if s.o.Terms == Fitted || !n.Any() {
		return nil
	}
	if s.hierarchy, err = s.columns.Hierarchy(n); err != nil {
		return err
	}
	s.nesting = n
	s.fold()
	floats.AddTo(s.after, s.beta, s.alpha)
	s.splits = s.splitOf(s.beta, s.after)
	functions := make([][]float64, len(s.d.blocks))
	for j := range functions {
		functions[j] = s.hierarchy.Coefficients(s.splits.after, j)
	}
	s.out.fit.between = s.hierarchy.Covariances(functions)
	s.out.split = &splitting{make: func() (*projection.Hierarchy, error) { return s.hierarchy, nil }}
	return s.facts()
}

// fold moves, in alpha, what interactions of factors give to their margins, and the constant
// that is left in them to the intercept.
func (s *solver) fold() {
	if len(s.folded()) > 0 {
		s.foldInto(s.beta, s.alpha)
	}
}

// foldCovariances is fold of alpha's covariance and what smoothing adds to it.
func (s *solver) foldCovariances() {
	if len(s.folded()) == 0 || s.out.cov == nil {
		return
	}
	s.out.fit.sandwich = nil
	change := s.givenAway(s.hierarchy.Map())
	for i := range s.alpha {
		change.Set(i, i, change.At(i, i)+1)
	}
	s.out.cov = changed(change, s.out.cov)
	if bias := s.out.fit.bias.Matrix(); bias != nil {
		s.out.fit.bias = projection.Scaled{M: changed(change, bias), By: 1}
	}
}

// changed is change v change'.
func changed(change *mat.Dense, v mat.Symmetric) *mat.SymDense {
	var half, whole mat.Dense
	half.Mul(change, linalg.Dense(v))
	whole.Mul(&half, change.T())
	n, _ := whole.Dims()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for l := i; l < n; l++ {
			out.SetSym(i, l, (whole.At(i, l)+whole.At(l, i))/2)
		}
	}
	return out
}

// folded are the interactions of factors that have margins.
func (s *solver) folded() (blocks []int) {
	for j, t := range s.d.terms() {
		if observed, _ := cells(t); observed > 0 && len(s.nesting.Margins[j]) > 0 {
			blocks = append(blocks, j)
		}
	}
	return blocks
}

// foldInto changes alpha, which beta is added to, as fold says.
func (s *solver) foldInto(beta, alpha []float64) {
	after := make([]float64, len(alpha))
	floats.AddTo(after, beta, alpha)
	floats.Add(alpha, mat.Col(nil, 0, s.givenAway(s.hierarchy.Split(after))))
	if s.intercept() {
		for _, j := range s.folded() {
			s.centre(j, beta, alpha)
		}
	}
}

// givenAway is what giving changes in the coefficients of folded blocks and their margins.
func (s *solver) givenAway(split *projection.Split) *mat.Dense {
	rows, columns := split.Own.Dims()
	out := mat.NewDense(rows, columns, nil)
	for _, j := range s.folded() {
		lo, hi := s.columns.Raw(j)
		var own mat.Dense
		own.Mul(s.hierarchy.CellMeans(j), split.Given[j])
		for i := lo; i < hi; i++ {
			floats.Sub(out.RawRowView(i), own.RawRowView(i-lo))
		}
		for i, a := range s.hierarchy.MarginColumns(j) {
			floats.Add(out.RawRowView(a), split.Given[j].RawRowView(i))
		}
	}
	return out
}

// centre takes the mean of Phi_j (beta + alpha) from the cells of block j that have weight.
func (s *solver) centre(j int, beta, alpha []float64) {
	lo, hi := s.columns.Raw(j)
	share, mean := s.columns.Mean()[lo:hi], 0.0
	for i, w := range share {
		mean += w * (beta[lo+i] + alpha[lo+i])
	}
	for i, w := range share {
		if w > 0 {
			alpha[lo+i] -= mean
		} else {
			alpha[lo+i] = -beta[lo+i]
		}
	}
}

// facts says how far the rows determine the split.
func (s *solver) facts() error {
	out := &Hierarchy{}
	u, err := s.hierarchy.Uniqueness(s.columns.Maps())
	if err != nil {
		return err
	}
	if u != nil {
		out.Rank, out.Of, out.Smallest = u.Rank, u.Of, u.Smallest
		for _, group := range (projection.Aliases{With: u.Open}).Groups() {
			var names []string
			for j, b := range s.d.blocks {
				if slices.Contains(group, s.nesting.Effect[j]) {
					names = append(names, b.Term.Name())
				}
			}
			out.Open = append(out.Open, names)
		}
	}
	for j, t := range s.d.terms() {
		if kept, ok := s.hierarchy.Smoothed(j); ok {
			out.Smoothed = append(out.Smoothed, Smoothed{
				Term: t.Name(), Kept: kept, Shared: s.hierarchy.Shared(s.splits.after, j),
			})
		}
		if observed, possible := cells(t); observed > 0 && len(s.nesting.Margins[j]) > 0 {
			out.Cells = append(out.Cells, Cells{t.Name(), observed, possible})
		}
	}
	s.out.Hierarchy = out
	return nil
}

// involved tells whether block j has margins or is one.
func (s *solver) involved(j int) bool {
	if s.hierarchy == nil {
		return false
	}
	return len(s.nesting.Margins[j]) > 0 ||
		slices.ContainsFunc(s.nesting.Margins, func(m []int) bool { return slices.Contains(m, j) })
}

// splits are a function of the predictor's columns split into hierarchical terms: as the
// network has it, and after.
type splits struct{ before, after *projection.Split }

// splitOf splits X beta and X after.
func (s *solver) splitOf(beta, after []float64) splits {
	return splits{s.hierarchy.Split(beta), s.hierarchy.Split(after)}
}

// hierarchicalTerm completes t, which is block j.
func (s *solver) hierarchicalTerm(j int, t *TermResult) {
	if !s.involved(j) {
		return
	}
	t.Before, t.After, t.Moved = s.momentsIn(s.splits, j)
	t.Center = t.After.Mean
	t.Margins = s.marginsIn(s.splits, j)
}

// momentsIn are the moments of term j before and after the split, and of the moved part.
func (s *solver) momentsIn(of splits, j int) (before, after, moved Moment) {
	b, a := s.hierarchy.Coefficients(of.before, j), s.hierarchy.Coefficients(of.after, j)
	moment := func(g []float64) Moment {
		return Moment{Mean: floats.Dot(s.columns.Mean(), g), Variance: s.hierarchy.Variance(g)}
	}
	return moment(b), moment(a), moment(difference(a, b))
}

// marginsIn are what term j gives away.
func (s *solver) marginsIn(of splits, j int) (margins []Margin) {
	observed, _ := cells(s.d.blocks[j].Term)
	for _, m := range s.nesting.Margins[j] {
		given := Margin{
			Term: s.d.blocks[m].Term.Name(),
			Coef: s.hierarchy.GivenTo(of.after, j, m), Before: s.hierarchy.GivenTo(of.before, j, m),
		}
		if observed > 0 {
			given.Coef = make([]float64, len(given.Coef)) // it has moved in alpha
		}
		if !anyNonZero(given.Before) {
			given.Before = nil
		}
		if observed == 0 || given.Before != nil {
			margins = append(margins, given)
		}
	}
	return margins
}

// exchange is what term j has from others and gives to margins, by place in d.Terms.
type exchange struct {
	received       []float64 // after, in the term's own coordinates; nil: nothing
	receivedBefore []float64
	given          []int // the margins
	margins        []Margin
}

// exchanges are those of all terms; nil if there are none.
func (d *Predictor) exchanges() []exchange {
	if !slices.ContainsFunc(d.Terms, func(t TermResult) bool { return len(t.Margins) > 0 }) {
		return nil
	}
	at := map[string]int{}
	for j, t := range d.Terms {
		at[t.Name] = j
	}
	out := make([]exchange, len(d.Terms))
	for j, t := range d.Terms {
		for _, m := range t.Margins {
			to := at[m.Term]
			out[j].given, out[j].margins = append(out[j].given, to), append(out[j].margins, m)
			addTo(&out[to].received, m.Coef)
			addTo(&out[to].receivedBefore, m.Before)
		}
	}
	return out
}

// addTo adds v to dst, which may be nil.
func addTo(dst *[]float64, v []float64) {
	switch {
	case !anyNonZero(v):
	case *dst == nil:
		*dst = slices.Clone(v)
	default:
		floats.Add(*dst, v)
	}
}

// splitting is how raw coefficients become those of hierarchical terms, made when it is needed
// first: for standard errors.
type splitting struct {
	make  func() (*projection.Hierarchy, error)
	once  sync.Once
	h     *projection.Hierarchy
	m     *projection.Split // the linear map of the regressions on margins
	own   *projection.Split // that of the terms: m, but for smoothing
	order []int             // the terms that give something away, of the most variables first
	err   error

	become sync.Once
	given  []*projection.Split
}

func (s *splitting) get() (*splitting, error) {
	s.once.Do(func() {
		if s.h, s.err = s.make(); s.err != nil {
			return
		}
		s.m, s.order = s.h.RegressionMap(), s.h.Order()
		if s.own = s.m; s.h.Smooths() {
			s.own = s.h.Map()
		}
	})
	return s, s.err
}

// giving says, for each term of order, to which terms the part goes that it gives away.
func (s *splitting) giving() []*projection.Split {
	s.become.Do(func() {
		for _, j := range s.order {
			s.given = append(s.given, s.h.Giving(j))
		}
	})
	return s.given
}

// columns are those of all margins, by split.
func (s *splitting) columns() (at []int) {
	for _, j := range s.order {
		at = append(at, s.h.MarginColumns(j)...)
	}
	return at
}

// observed measures how much of the terms' functions others could stand for, where these
// are not functions of a term's own columns alone. Their margins are among the others, so
// that what others leave of a term's own columns they leave of all of it.
func (s *solver) observed(full []projection.Concurvity, pairs []projection.Pair) {
	if s.hierarchy == nil {
		return
	}
	for j, m := range s.nesting.Margins {
		if len(m) == 0 {
			continue
		}
		lo, hi := s.columns.Raw(j)
		own := make([]float64, len(s.after))
		for i := lo; i < hi; i++ {
			own[i] = s.splits.after.Own.At(i, 0)
		}
		whole := s.hierarchy.Coefficients(s.splits.after, j)
		if v := s.hierarchy.Variance(whole); v > 0 {
			left := (1 - full[j].Observed) * s.hierarchy.Variance(own)
			full[j].Observed = max(0, min(1, 1-left/v))
		}
		for i, p := range pairs {
			if p.Block == j {
				pairs[i].Observed = s.hierarchy.Share(whole, p.With)
			}
		}
	}
}

// VarianceOf is the weighted variance, after, of the sum of hierarchical terms over the
// training rows; false if no term of d has margins, or d was read from a file.
func (d *Predictor) VarianceOf(terms ...int) (variance float64, ok bool) {
	if d.fit == nil || d.fit.between == nil {
		return 0, false
	}
	for _, i := range terms {
		for _, j := range terms {
			variance += d.fit.between.At(i, j)
		}
	}
	return max(variance, 0), true
}
