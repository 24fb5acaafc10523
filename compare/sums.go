package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
)

// sums compares the sums of all terms of the same columns, where one of the two has several. Where these can be compared by
// name, too, the sum stands beside them, else in their place.
func (c *Comparison) sums(a, b Side, k, l int, p *Predictor) {
	d, e := &a.Result.Predictors[k], &b.Result.Predictors[l]
	for j := range d.Terms {
		of := d.Terms[j].Features
		inA, inB := termsOf(d, of), termsOf(e, of)
		if inA[0] != &d.Terms[j] || len(inB) == 0 || len(inA) == 1 && len(inB) == 1 {
			continue
		}
		x, y := sum(a, k, inA), sum(b, l, inB)
		if x == nil || y == nil {
			continue
		}
		t := Term{Name: names(inA), NameB: other(names(inA), names(inB)), Features: of, In: "both"}
		shift, err := c.shift(a, b, kindOf(inA), kindOf(inB), x, y.along(inB[0].Features, of))
		if err != nil {
			t.Why = err.Error()
		} else {
			t.Note = units(a.Result, b.Result, of)
		}
		t.Curve = shift
		if t.NameB == "" && !entangled(d, inA) && !entangled(e, inB) {
			p.Sums = append(p.Sums, t)
		} else {
			p.Terms = inPlace(p.Terms, t, inA, inB)
		}
	}
	for i := range p.Terms {
		if t := &p.Terms[i]; t.Note == "" {
			t.onlyA, t.onlyB = told(d, t.Name), told(e, cmp.Or(t.NameB, t.Name))
			t.Note = onlySum(t.onlyA, t.onlyB)
		}
	}
}

// onlySum says that the rows tell a term only as a sum with terms of other columns: how A or B splits it is in its change.
func onlySum(termsA, termsB []string) string {
	switch inA, inB := strings.Join(termsA, " + "), strings.Join(termsB, " + "); {
	case inA == inB && inA != "":
		return "the rows tell only " + inA + ", not this term"
	case inA != "" && inB != "":
		return "the rows of A tell only " + inA + ", not this term, and those of B only " + inB
	case inA != "":
		return "the rows of A tell only " + inA + ", not this term"
	case inB != "":
		return "the rows of B tell only " + inB + ", not this term"
	}
	return ""
}

// told are the terms with whose sum alone the rows tell a term; nil: it is told by itself.
func told(d *decompose.Predictor, name string) []string {
	for _, g := range d.Entangled {
		if slices.Contains(g.Terms, name) {
			return g.Terms
		}
	}
	return nil
}

// entangled tells whether the rows tell some of the terms only as a sum.
func entangled(d *decompose.Predictor, terms []*decompose.TermResult) bool {
	isOther := func(name string) bool {
		return !slices.ContainsFunc(terms, func(t *decompose.TermResult) bool { return t.Name == name })
	}
	return slices.ContainsFunc(d.Entangled, func(g decompose.Entanglement) bool { return !slices.ContainsFunc(g.Terms, isOther) })
}

// inPlace puts the sum in the place of the first of its terms. What the terms have of the changes of mean and variance
// adds up to what it has.
func inPlace(terms []Term, sum Term, inA, inB []*decompose.TermResult) (out []Term) {
	at := -1
	for _, t := range terms {
		is := func(o *decompose.TermResult) bool { return o.Name == t.Name }
		if !slices.ContainsFunc(inA, is) && !slices.ContainsFunc(inB, is) {
			out = append(out, t)
			continue
		}
		if at < 0 {
			at, sum.SameBasis, sum.Rows, sum.Variance = len(out), true, new(float64), &Change{}
			out = append(out, sum)
		}
		out[at].add(&t)
	}
	return out
}

// add adds what t has of the changes of mean and variance.
func (s *Term) add(t *Term) {
	if t.In != "b" { // B's own terms are not A's functions
		s.SameBasis = s.SameBasis && t.SameBasis
		if t.Rows == nil {
			s.Rows = nil
		} else if s.Rows != nil {
			*s.Rows += *t.Rows
		}
	}
	if t.Variance == nil {
		s.Variance = nil
	} else if s.Variance != nil {
		v := change(s.Variance.A+t.Variance.A, s.Variance.B+t.Variance.B)
		s.Variance = &v
	}
}

// termsOf are the terms of exactly these columns, in any order.
func termsOf(d *decompose.Predictor, features []string) (out []*decompose.TermResult) {
	for j := range d.Terms {
		if sameColumns(d.Terms[j].Features, features) {
			out = append(out, &d.Terms[j])
		}
	}
	return out
}

func sameColumns(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// isHeld tells a term whose curve is that of one value or level of another of its columns.
func isHeld(t *decompose.TermResult) bool {
	s, ok := t.Term().(interface{ By() (column, level string) })
	if !ok {
		return false
	}
	by, _ := s.By()
	return by != ""
}

func names(terms []*decompose.TermResult) string {
	var out []string
	for _, t := range terms {
		out = append(out, t.Name)
	}
	return strings.Join(out, " + ")
}

// kindOf is the factor among the terms, if there is one: its levels are the axis.
func kindOf(terms []*decompose.TermResult) *decompose.TermResult {
	for _, t := range terms {
		if t.Kind == decompose.Factor {
			return t
		}
	}
	return terms[0]
}

// sum is the curve of the sum of terms: that of effects.csv, or theirs added up, without standard errors. nil if they are
// not on one grid.
func sum(s Side, k int, terms []*decompose.TermResult) *Curve {
	if slices.ContainsFunc(terms, isHeld) {
		return nil
	}
	if c := curveOf(s, k, names(terms)); c != nil {
		return c
	}
	var out *Curve
	for _, t := range terms {
		c := curveOf(s, k, t.Name)
		if c == nil {
			return nil
		}
		c = c.along(t.Features, terms[0].Features)
		switch {
		case out == nil:
			out = &Curve{Predictor: c.Predictor, Term: names(terms), X: c.X, X2: c.X2, Value: slices.Clone(c.Value), SE: slices.Clone(c.SE)}
		case !slices.Equal(c.X, out.X) || !slices.Equal(c.X2, out.X2):
			return nil
		default:
			for i, v := range c.Value {
				out.Value[i] += v
			}
		}
	}
	if len(terms) > 1 {
		for i := range out.SE {
			out.SE[i] = math.NaN()
		}
	}
	return out
}

// along is the curve, of a term of these features, with its axes in the order of those.
func (c *Curve) along(features, order []string) *Curve {
	if c.X2 == nil || slices.Equal(features, order) {
		return c
	}
	out := &Curve{Predictor: c.Predictor, Term: c.Term, X: c.X2, X2: c.X}
	for j := range c.X2 {
		for i := range c.X {
			out.Value, out.SE = append(out.Value, c.Value[i*len(c.X2)+j]), append(out.SE, c.SE[i*len(c.X2)+j])
		}
	}
	return out
}
