package drift

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Level is the probability with which anything at all is marked as drift between two periods
// without any.
const Level = 0.05

// Change is what changed from a reference to a period.
type Change struct {
	Reference  string            `json:"reference"`
	Period     string            `json:"period"`
	Rows       [2]int64          `json:"rows"`     // of the reference and of the period
	Clusters   [2]int64          `json:"clusters"` // likewise: rows, blocks or clusters taken as independent
	Predictors []PredictorChange `json:"predictors"`
	Fit        *FitChange        `json:"fit,omitempty"` // nil: no response
	Features   []FeatureChange   `json:"features"`
	Notes      []string          `json:"notes"`
}

// PredictorChange splits the changes of a predictor's mean and variance: each is the sum of
// those of the parts.
type PredictorChange struct {
	Name     string       `json:"name"`
	Mean     Figure       `json:"mean"`
	Variance Figure       `json:"variance"`
	Parts    []PartChange `json:"parts"` // terms in order, and last the unstructured part
}

// FitChange says whether the response is predicted as well as it was. The change of the error's mean
// says that the functions no longer hold, which no distribution of columns can.
type FitChange struct {
	Error Figure `json:"mean_error"` // response less prediction
	Loss  Figure `json:"mean_loss"`  // deviance
}

// PartChange is what one part contributes to them.
type PartChange struct {
	Name     string   `json:"name"`
	Features []string `json:"features"` // columns of a term: what moved if its mean did
	Mean     Figure   `json:"mean"`
	Share    Figure   `json:"variance_share"` // Cov(part, eta)
	// Own is the part's own variance: what a change of Share is beyond it is how the part goes together with
	// others.
	Own Spread `json:"own_variance"`
}

// Spread is a variance of the reference and of the period, and nil as in Figure.
type Spread struct {
	Reference *float64 `json:"reference"`
	Period    *float64 `json:"period"`
}

// Figure is a figure of the reference and of the period. nil: the rows are too few to tell.
type Figure struct {
	Reference *float64 `json:"reference"`
	Period    *float64 `json:"period"`
	Change    *float64 `json:"change"`
	SE        *float64 `json:"se"` // of the change, as a test of no drift takes it
	Ratio     *float64 `json:"ratio"`
	P         *float64 `json:"p"`      // of the change by itself, two-sided, Student's t
	Adjusted  *float64 `json:"p_holm"` // among all figures of the two periods (Holm 1979)
	Drift     bool     `json:"drift"`  // Adjusted is below 5 %
}

// Compare says what changed from a to b, which are periods of s or of states of the same
// decomposition.
//
// The standard error of a change is the larger of two. One takes the variance of each period by itself
// (Welch), and so is right where the periods differ in something else. The other takes both as
// draws from one distribution, as they are without drift, and so is not led astray by a short
// period that happens to have no large values. Degrees of freedom are those of that one.
func (s *State) Compare(a, b *Period) *Change {
	c := &Change{Reference: a.Name, Period: b.Name, Rows: [2]int64{a.Rows, b.Rows}, Clusters: [2]int64{a.Clusters, b.Clusters},
		Predictors: []PredictorChange{}, Features: []FeatureChange{}, Notes: []string{}}
	for k, p := range s.of.Predictors {
		x, y := &a.Predictors[k], &b.Predictors[k]
		figure := func(j int) (mean, share Figure) {
			return newFigure(a, b, x.Mean[j], y.Mean[j], x.MeanVariance[j], y.MeanVariance[j]),
				newFigure(a, b, x.Share[j], y.Share[j], x.ShareVariance[j], y.ShareVariance[j])
		}
		out := PredictorChange{Name: p.Name, Parts: []PartChange{}}
		out.Mean, out.Variance = figure(len(p.Terms) + 1)
		for j, t := range slices.Concat(p.Terms, []Term{{Name: Unstructured, Features: []string{}}}) {
			part := PartChange{Name: t.Name, Features: t.Features}
			part.Mean, part.Share = figure(j)
			part.Own = Spread{finite(x.Covariance(j, j)), finite(y.Covariance(j, j))}
			out.Parts = append(out.Parts, part)
		}
		c.Predictors = append(c.Predictors, out)
	}
	if x, y := a.Fit, b.Fit; x != nil && y != nil {
		c.Fit = &FitChange{newFigure(a, b, x.Error, y.Error, x.ErrorVariance, y.ErrorVariance), newFigure(a, b, x.Loss, y.Loss, x.LossVariance, y.LossVariance)}
	}
	c.adjust()
	for j := range s.of.Features {
		if a.counts[j] != nil && b.counts[j] != nil {
			c.Features = append(c.Features, stability(s.of.Features[j].Feature, a.counts[j], b.counts[j]))
		}
	}
	c.note(a)
	c.note(b)
	for _, p := range []*Period{a, b} {
		if held := float64(p.Rows) / float64(p.Clusters); s.settings.Block > 1 && held < float64(s.settings.Block)/2 {
			c.Notes = append(c.Notes, fmt.Sprintf("blocks are of %d rows, and those of period %s hold %.1f, because its rows were added by shorter periods or in small sources: it is counted as if more of them were independent", s.settings.Block, p.Name, held))
		}
	}
	return c
}

// Unstructured is the name of the part that no term has.
const Unstructured = "unstructured"

// fewClusters: with fewer, Student's t is a rough guide.
const fewClusters = 10

func (c *Change) note(p *Period) {
	switch {
	case p.Clusters < 2:
		c.Notes = append(c.Notes, "period "+p.Name+" has a single row, block or cluster: nothing says how much chance there is in it, so there are no tests")
	case p.Clusters < fewClusters:
		c.Notes = append(c.Notes, "period "+p.Name+" has fewer than 10 rows, blocks or clusters: tests are rough")
	}
}

// newFigure compares x of a with y of b, whose variances as estimates are vx and vy.
func newFigure(a, b *Period, x, y, vx, vy float64) Figure {
	f := Figure{Reference: finite(x), Period: finite(y), Change: finite(y - x)}
	se, df := standardError(a, b, vx, vy)
	if math.IsNaN(se) {
		return f
	}
	f.SE = finite(se)
	ratio, p := 0.0, 1.0
	// What is constant in both periods differs by rounding alone.
	if math.Abs(y-x) > 1e-12*max(math.Abs(x), math.Abs(y)) {
		ratio = (y - x) / se
		p = 2 * distuv.StudentsT{Sigma: 1, Nu: max(df, 1)}.CDF(-math.Abs(ratio))
	}
	f.Ratio, f.P = finite(ratio), finite(p)
	return f
}

// standardError is that of a difference, with its degrees of freedom.
func standardError(a, b *Period, vx, vy float64) (se, df float64) {
	nx, ny := a.Effective-1, b.Effective-1
	if !(nx > 0 && ny > 0) {
		return math.NaN(), 0
	}
	apart := vx + vy
	if apart > 0 {
		of := vx / apart
		df = 1 / (of*of/nx + (1-of)*(1-of)/ny)
	}
	one := (nx*vx*a.Effective + ny*vy*b.Effective) / (nx + ny)
	if both := one * (1/a.Effective + 1/b.Effective); both > apart {
		return math.Sqrt(both), nx + ny
	}
	return math.Sqrt(apart), df
}

// finite is nil of what is none.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// figures are all of a change.
func (c *Change) figures() (all []*Figure) {
	for k := range c.Predictors {
		p := &c.Predictors[k]
		all = append(all, &p.Mean, &p.Variance)
		for j := range p.Parts {
			all = append(all, &p.Parts[j].Mean, &p.Parts[j].Share)
		}
	}
	if c.Fit != nil {
		all = append(all, &c.Fit.Error, &c.Fit.Loss)
	}
	return all
}

// adjust sets what is drift among all figures, so that the chance of any false one is at most Level.
func (c *Change) adjust() {
	var tested []*Figure
	for _, f := range c.figures() {
		if f.P != nil {
			tested = append(tested, f)
		}
	}
	slices.SortStableFunc(tested, func(f, g *Figure) int {
		switch {
		case *f.P < *g.P:
			return -1
		case *f.P > *g.P:
			return 1
		}
		return 0
	})
	largest := 0.0
	for i, f := range tested {
		largest = max(largest, min(1, *f.P*float64(len(tested)-i)))
		p := largest
		f.Adjusted, f.Drift = &p, p < Level
	}
}

// Drift tells whether any figure is marked.
func (c *Change) Drift() bool {
	return slices.ContainsFunc(c.figures(), func(f *Figure) bool { return f.Drift })
}

// Drifted are the parts whose means are marked, the largest change first.
func (p *PredictorChange) Drifted() (out []*PartChange) {
	for j := range p.Parts {
		if p.Parts[j].Mean.Drift && p.Parts[j].Mean.Change != nil {
			out = append(out, &p.Parts[j])
		}
	}
	slices.SortStableFunc(out, func(a, b *PartChange) int {
		return cmp.Compare(math.Abs(*b.Mean.Change), math.Abs(*a.Mean.Change))
	})
	return out
}
