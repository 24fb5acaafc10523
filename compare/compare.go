package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/label"
)

// Side is one of the two decompositions.
type Side struct {
	Name   string            // for messages: the directory, say
	Result *decompose.Result // read with its moments
	Curves []Curve           // of its terms; nil: curves are not compared
	// Network tells networks apart: the sum of the file. "": unknown.
	Network string
	// Predictions: of a model that is known by columns of what it predicts.
	Predictions bool
}

// Rows is what the rows of B tell beyond the results; the zero value: nothing.
type Rows struct {
	// Means are the weighted means of A's terms over B's rows, by A's predictors and terms:
	// they replace what the moments tell, whatever the columns. nil: not known.
	Means [][]float64
	// Joint are standard errors of the differences of curves where A and B are of the same
	// rows (report.DifferenceErrors); nil: there are none then.
	Joint []Curve
}

// Comparison is what two decompositions have in common and where they differ, B against A.
type Comparison struct {
	A           string `json:"a"`
	B           string `json:"b"`
	SameNetwork bool   `json:"same_network"`
	// Predictions: both are of models that are known by what they predict (Side.Predictions), so
	// that nobody can say whether these are the same.
	Predictions bool `json:"predictions,omitempty"`
	// SameRows: as far as ranges, means and histograms of the features tell. Then errors of
	// the two projections are correlated, and without the rows there are no standard errors
	// of differences.
	SameRows bool `json:"same_rows"`
	// Uncertainty says what the standard errors of differences are, or why there are none.
	Uncertainty string      `json:"uncertainty"`
	Predictors  []Predictor `json:"predictors"`
	Notes       []string    `json:"notes"`
	// Features say where the rows of both lie, for pictures: of the numbers that are in both
	// the range, and the quantiles of A's rows and B's together, ascending (nil: those of one
	// are not known); levels and sample as in A.
	Features []decompose.Feature `json:"-"`
	// Labels are the readers' names of columns and terms (Labelled): A's, or B's where A has none.
	Labels *label.Labels `json:"-"`

	rows  Rows
	terms map[string]label.Term
}

// Predictor compares one predictor.
type Predictor struct {
	Name     string `json:"name"`
	Mean     Mean   `json:"mean"`
	Variance Change `json:"variance"` // of the predictor
	// Structured splits the change of the structured part's variance; nil unless B
	// accumulated the columns of all of A's terms.
	Structured *Spread `json:"structured,omitempty"`
	Terms      []Term  `json:"terms"`
	// Sums compares the sums of terms of the same columns that both have and the rows of both tell
	// apart: of the network and of a formula, say, between which trainings can share an effect as
	// they like. Where they are not told apart, or not both have them, the sum is one of Terms.
	Sums []Term `json:"sums,omitempty"`
	// Unstructured is the remainder's part of Variance, its covariance with the predictor.
	// The parts of the terms and this one add up to Variance; nil: terms have no shares.
	Unstructured *Change `json:"unstructured,omitempty"`
}

// Change is a figure in A, in B, and B less A.
type Change struct {
	A      float64 `json:"a"`
	B      float64 `json:"b"`
	Change float64 `json:"change"`
}

func change(a, b float64) Change { return Change{a, b, b - a} }

// Spread splits the change of a variance exactly: Rows is the variance of A's functions over B's
// rows less that over A's rows, Functions the variance of B's functions over B's rows less that of
// A's functions there.
type Spread struct {
	Change
	Rows      float64 `json:"rows"`
	Functions float64 `json:"functions"`
}

// Mean splits the change of a predictor's weighted mean.
type Mean struct {
	Change
	// Rows is the sum over terms of Term.Rows: the mean of A's functions over B's rows less that
	// over A's rows. Rest is all else: other functions, another intercept, and the terms of which
	// Rows is not known. No part of it belongs to one term, for a constant can move between curves
	// and intercept without changing a prediction.
	Rows float64 `json:"rows"`
	Rest float64 `json:"rest"`
	// Known is how many of A's terms have their Rows.
	Known int `json:"known"`
}

// Term compares one term, or the sum of all terms of some columns where the two have other ones of these, say f(x) of a
// network and s(x) of a formula, or the rows of one tell only their sum. Name is then "x + s(x)".
type Term struct {
	Name     string   `json:"name"`
	NameB    string   `json:"name_b,omitempty"` // its name in B; "": the same
	Features []string `json:"features"`
	In       string   `json:"in"` // both, a or b
	// SameBasis: A's columns were accumulated over B's rows as well, to the last digit of
	// knots and levels (of learned columns: by the same network).
	SameBasis bool `json:"same_basis"`
	// Rows is the mean of A's function over B's rows less that over A's: exact. nil: it is not
	// SameBasis, and B's rows were not at hand.
	Rows *float64 `json:"rows"`
	// Variance is Cov(term, predictor): over terms and remainder these add up to the
	// predictor's variance. nil: not known.
	Variance *Change `json:"variance"`
	SD       *Change `json:"sd"` // of the term over its rows; nil unless in both, and of sums
	Curve    *Shift  `json:"curve"`
	Why      string  `json:"why,omitempty"` // there is no Curve
	Note     string  `json:"note,omitempty"`

	onlyA, onlyB []string // the terms of A, and of B, with which alone the rows tell this one; nil: by itself
}

// Shown is what the term is called for people who see A and B.
func (t *Term) Shown() string {
	if t.NameB == "" {
		return t.Name
	}
	return t.Name + ", in B " + t.NameB
}

// New compares b with a. Predictors and terms are matched by name, and terms of other names by
// their columns (Counterpart).
//
// Errors: predictors of other names, a result without moments.
func New(a, b Side, rows Rows) (*Comparison, error) {
	c := &Comparison{A: a.Name, B: b.Name, Notes: []string{}, Predictors: []Predictor{}, rows: rows}
	c.Labels, c.terms = cmp.Or(a.Result.Labels, b.Result.Labels), labelTerms(a.Result, b.Result)
	c.Predictions = a.Predictions && b.Predictions
	c.SameNetwork = a.Network != "" && a.Network == b.Network
	c.SameRows = sameRows(a.Result, b.Result)
	c.Uncertainty = "standard errors are those of both projections, taken as independent: no row is in both. They say nothing of what another training of a network would change"
	switch {
	case c.SameRows && rows.Joint != nil:
		c.Uncertainty = "standard errors are joint ones, of the residuals of both networks on the same rows. They take the networks as they are, and say nothing of what another training would change"
	case c.SameRows:
		c.Uncertainty = "none: both are of the same rows, so their errors are correlated, and what they have in common is not in the results: it takes the rows and both networks"
	}
	if err := c.match(a, b); err != nil {
		return nil, err
	}
	for i := range a.Result.Features {
		if f := &a.Result.Features[i]; feature(b.Result, f.Name) != nil {
			c.Features = append(c.Features, together(f, feature(b.Result, f.Name)))
		}
	}
	c.note(a, b)
	return c, nil
}

// match compares the predictors that both have.
func (c *Comparison) match(a, b Side) error {
	names := func(r *decompose.Result) (out []string) {
		for _, p := range r.Predictors {
			out = append(out, p.Name)
		}
		return out
	}
	inA, inB := names(a.Result), names(b.Result)
	for k, name := range inA {
		l := slices.Index(inB, name)
		if l < 0 && len(inA) == 1 && len(inB) == 1 {
			l = 0
			c.Notes = append(c.Notes, fmt.Sprintf("the predictor is %q in A and %q in B", name, inB[0]))
		}
		if l < 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("predictor %q is in A only", name))
			continue
		}
		p, err := c.predictor(a, b, k, l)
		if err != nil {
			return err
		}
		c.Predictors = append(c.Predictors, p)
	}
	if len(c.Predictors) == 0 {
		return fmt.Errorf("compare: %q has the predictors %q and %q has %q: none is in both", a.Name, inA, b.Name, inB)
	}
	for _, name := range inB {
		if !slices.Contains(inA, name) && len(inB) > 1 {
			c.Notes = append(c.Notes, fmt.Sprintf("predictor %q is in B only", name))
		}
	}
	return nil
}

// predictor compares predictor k of a with l of b.
func (c *Comparison) predictor(a, b Side, k, l int) (Predictor, error) {
	d, e := &a.Result.Predictors[k], &b.Result.Predictors[l]
	p := Predictor{Name: d.Name, Variance: change(d.Variance.Total, e.Variance.Total), Terms: []Term{}}
	rows, err := a.Result.MeansOver(k, b.Result, c.SameNetwork)
	if err != nil {
		return p, fmt.Errorf("compare: %w", err)
	}
	same := slices.Clone(rows) // what is not NaN
	if c.rows.Means != nil {
		copy(rows, c.rows.Means[k])
	}
	for j := range d.Terms {
		t := &d.Terms[j]
		if i := Counterpart(d, e, j); i >= 0 {
			p.Terms = append(p.Terms, c.term(a, b, k, l, t, &e.Terms[i]))
		} else {
			p.Terms = append(p.Terms, alone(t, "a", e.Terms))
		}
	}
	for i := range e.Terms {
		if Counterpart(e, d, i) < 0 {
			p.Terms = append(p.Terms, alone(&e.Terms[i], "b", d.Terms))
		}
	}
	if there, ok := a.Result.StructuredOver(k, b.Result, c.SameNetwork); ok && len(d.Terms) > 0 {
		own := change(d.Variance.Structured, e.Variance.Structured)
		p.Structured = &Spread{Change: own, Rows: there - own.A, Functions: own.B - there}
	}
	p.means(d, e, rows, same)
	p.variances(d, e)
	c.sums(a, b, k, l, &p)
	p.settle()
	return p, nil
}

// Counterpart is the term of e that is compared with term j of d: that of its name or, if neither name is in the other,
// the only one of its columns where d has no other of these. -1: there is none.
func Counterpart(d, e *decompose.Predictor, j int) int {
	t := &d.Terms[j]
	if i := named(e, t.Name); i >= 0 {
		return i
	}
	own, others := termsOf(d, t.Features), termsOf(e, t.Features)
	if len(own) != 1 || len(others) != 1 || isHeld(t) || isHeld(others[0]) || named(d, others[0].Name) >= 0 {
		return -1
	}
	return named(e, others[0].Name)
}

func named(d *decompose.Predictor, name string) int {
	return slices.IndexFunc(d.Terms, func(t decompose.TermResult) bool { return t.Name == name })
}

// alone is a term that one of them has only.
func alone(t *decompose.TermResult, in string, others []decompose.TermResult) Term {
	out := Term{Name: t.Name, Features: t.Features, In: in, Why: "it is in " + strings.ToUpper(in) + " only"}
	for _, o := range others {
		if sameColumns(o.Features, t.Features) {
			out.Note = fmt.Sprintf("the other has %s of the same columns: give both the same formula to compare them", o.Name)
		}
	}
	return out
}

// term compares a term that both have.
func (c *Comparison) term(a, b Side, k, l int, t, u *decompose.TermResult) Term {
	out := Term{Name: t.Name, NameB: other(t.Name, u.Name), Features: t.Features, In: "both"}
	if !sameColumns(t.Features, u.Features) {
		out.Why = fmt.Sprintf("it is of other columns in B: %s", strings.Join(u.Features, ", "))
		return out
	}
	sd := change(root(t.After.Variance), root(u.After.Variance))
	out.SD = &sd
	x, y := curveOf(a, k, t.Name), curveOf(b, l, u.Name)
	if x == nil || y == nil {
		out.Why = "it has no curve in effects.csv"
		return out
	}
	shift, err := c.shift(a, b, t, u, x, y.along(u.Features, t.Features))
	if err != nil {
		out.Why = err.Error()
		return out
	}
	out.Curve = shift
	out.Note = units(a.Result, b.Result, t.Features)
	return out
}

// other is the name in B; "" if it is that in A.
func other(a, b string) string {
	if a == b {
		return ""
	}
	return b
}

func curveOf(s Side, k int, name string) *Curve {
	for i := range s.Curves {
		if c := &s.Curves[i]; c.Term == name && c.Predictor == s.Result.Predictors[k].Name {
			return c
		}
	}
	return nil
}

// note adds what both should have in common and have not.
func (c *Comparison) note(a, b Side) {
	r, s := a.Result, b.Result
	differ := func(what string, x, y string) {
		if x != y {
			or := func(v string) string {
				if v == "" {
					return "none"
				}
				return v
			}
			c.Notes = append(c.Notes, fmt.Sprintf("%s: %s in A, %s in B", what, or(x), or(y)))
		}
	}
	differ("method", string(r.Method), string(s.Method))
	differ("projection of the neural additive model", r.PHONAM, s.PHONAM)
	differ("smoothing", r.Smoothing, s.Smoothing)
	differ("column of weights", r.Weights, s.Weights)
	differ("family", r.Family, s.Family)
	for _, p := range c.Predictors {
		k := slices.IndexFunc(r.Predictors, func(d decompose.Predictor) bool { return d.Name == p.Name })
		l := slices.IndexFunc(s.Predictors, func(d decompose.Predictor) bool { return d.Name == p.Name })
		if k >= 0 && l >= 0 {
			differ("convention of "+p.Name, r.Predictors[k].Convention, s.Predictors[l].Convention)
		}
	}
	for _, name := range missing(r, s) {
		c.Notes = append(c.Notes, fmt.Sprintf("column %q is read by the terms of A only", name))
	}
	for _, name := range missing(s, r) {
		c.Notes = append(c.Notes, fmt.Sprintf("column %q is read by the terms of B only", name))
	}
}

// missing are features that r has and s has not.
func missing(r, s *decompose.Result) (names []string) {
	for i := range r.Features {
		if feature(s, r.Features[i].Name) == nil {
			names = append(names, r.Features[i].Name)
		}
	}
	return names
}

func feature(r *decompose.Result, name string) *decompose.Feature {
	for i := range r.Features {
		if r.Features[i].Name == name {
			return &r.Features[i]
		}
	}
	return nil
}

// sameRows tells whether both may be of the same rows: features of the same ranges, means
// and histograms, and some at all.
func sameRows(r, s *decompose.Result) bool {
	if r.Rows != s.Rows || r.Weights != s.Weights {
		return false
	}
	found := false
	for i := range r.Features {
		f := &r.Features[i]
		g := feature(s, f.Name)
		if g == nil {
			continue
		}
		if f.Min != g.Min || f.Max != g.Max || f.Mean != g.Mean || !slices.Equal(f.Levels, g.Levels) || !slices.Equal(f.Counts, g.Counts) {
			return false
		}
		found = true
	}
	return found
}

// units warns where a column's values differ so much that its units may.
func units(r, s *decompose.Result, features []string) string {
	for _, name := range features {
		f, g := feature(r, name), feature(s, name)
		if f == nil || g == nil || f.Levels != nil || g.Levels != nil {
			continue
		}
		if w, v := f.Max-f.Min, g.Max-g.Min; w > 5*v || v > 5*w {
			return fmt.Sprintf("%s runs from %.4g to %.4g in A and from %.4g to %.4g in B: are its units the same?", name, f.Min, f.Max, g.Min, g.Max)
		}
	}
	return ""
}
