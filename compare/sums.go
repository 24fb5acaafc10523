package compare

import (
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
)

// sums compares the sums of all terms of the same columns, where one of the two has several.
func (c *Comparison) sums(a, b Side, k, l int) []Term {
	var out []Term
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
		t := Term{Name: names(inA), Features: of, In: "both"}
		if other := names(inB); other != t.Name {
			t.Note = "in B it is " + other
		}
		shift, err := c.shift(a, b, kindOf(inA), kindOf(inB), x, y)
		if err != nil {
			t.Why = err.Error()
		}
		t.Curve = shift
		out = append(out, t)
	}
	return out
}

// termsOf are the terms of exactly these columns.
func termsOf(d *decompose.Predictor, features []string) (out []*decompose.TermResult) {
	for j := range d.Terms {
		if slices.Equal(d.Terms[j].Features, features) {
			out = append(out, &d.Terms[j])
		}
	}
	return out
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

// sum adds the curves of terms up; nil if they are not on one grid.
func sum(s Side, k int, terms []*decompose.TermResult) *Curve {
	var out *Curve
	for _, t := range terms {
		c := curveOf(s, k, t)
		switch {
		case c == nil || len(t.Name) > 0 && strings.Contains(t.Name, "):"): // one level of a by
			return nil
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
