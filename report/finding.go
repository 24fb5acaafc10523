package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
)

// finding describes the influence of an effect on the outcome, in words and in numbers that
// can be computed again.
type finding struct {
	effect  *Effect // nil: a sum that has no curve
	outcome *outcome
	values  []float64 // of the outcome, at the points of the grid
	shape   shape
	rare    bool   // levels of few rows are not looked at
	columns string // in words: "hr", "age and sex together"
	beyond  string // of two columns that have curves of their own, in words: "each does"
}

// newFinding reads an effect by the rules of shape; values are those of the outcome along it.
func (d *drawing) newFinding(e *Effect) *finding {
	f := &finding{effect: e, outcome: &d.outcome, values: d.shown(e).after, columns: e.columns()}
	switch {
	case e.X2 != nil:
		f.beyond = d.alone(e)
		near := d.nearRows(e)
		f.shape.kind = apart
		f.shape.low, f.shape.high = extremes(f.values, near)
	case e.X.Levels != nil:
		counts := d.enoughRows(e)
		f.shape.kind = apart
		f.shape.low, f.shape.high = extremes(f.values, counts)
		for i := range f.values {
			f.rare = f.rare || !counts(i)
		}
	default:
		from, to := 0, len(e.X.Values)-1
		if q := d.quantiles(e.X.Feature, e); len(q) > 2 {
			lo, _, hi := central(q)
			if a, b := pointsIn(e.X.Values, lo, hi); a < b {
				from, to = a, b
			}
		}
		f.shape = curveShape(e.X.Values, f.values, from, to)
	}
	if f.shape.low < 0 || f.shape.high < 0 {
		return nil
	}
	if f.values[f.shape.low] == f.values[f.shape.high] {
		f.shape.kind = flat
	}
	return f
}

// alone says which of the two columns of a surface have terms of their own, to which it adds; "": neither.
func (d *drawing) alone(e *Effect) string {
	var own []string
	for _, column := range []string{e.X.Feature, e.X2.Feature} {
		if d.of != nil && slices.ContainsFunc(d.of.Terms, func(t decompose.TermResult) bool { return slices.Equal(t.Features, []string{column}) }) {
			own = append(own, clip(column, 40)+" does")
		}
	}
	if len(own) == 2 {
		return "each does"
	}
	return strings.Join(own, "")
}

// enoughRows tells the levels of a fifth of an average level's rows or more: all of them if no
// rows are known, or only one level has so many.
func (d *drawing) enoughRows(e *Effect) func(i int) bool {
	rows, sum := d.levelRows(e.X), 0.0
	for _, n := range rows {
		sum += n
	}
	enough := func(i int) bool { return rows[i] >= 0.2*sum/float64(len(rows)) }
	several := 0
	for i := range rows {
		if enough(i) {
			several++
		}
	}
	return func(i int) bool { return several < 2 || enough(i) }
}

// nearRows tells the points of a surface that sampled rows are nearest to: all of them if no
// rows are known.
func (d *drawing) nearRows(e *Effect) func(i int) bool {
	rows := d.sample(e)
	if len(rows) == 0 {
		return func(int) bool { return true }
	}
	at := map[int]bool{}
	for _, row := range rows {
		at[e.X.nearest(row.x)*e.X2.Len()+e.X2.nearest(row.y)] = true
	}
	return func(i int) bool { return at[i] }
}

// nearest is the point of the axis nearest to v; of levels v is the point.
func (a *Axis) nearest(v float64) int {
	if a.Levels != nil {
		return int(v)
	}
	at := 0
	for i, x := range a.Values {
		if math.Abs(x-v) < math.Abs(a.Values[at]-v) {
			at = i
		}
	}
	return at
}

// clause is what the outcome does, in words.
func (f *finding) clause() string { return f.told().String() }

// told is the clause, with the columns apart.
func (f *finding) told() told {
	e, s := f.effect, &f.shape
	at := func(i int) string { x, _ := e.ShownAt(i); return clip(x, 60) }
	value := func(i int) string { return f.outcome.text(f.values[i]) }
	tell := func(before, after string, a ...any) told { return told{before, f.columns, fmt.Sprintf(after, a...)} }
	low, high := s.low, s.high
	switch s.kind {
	case flat:
		return tell("does not change with", "")
	case rising:
		return tell("rises with", ", %s%s", f.change(s.at[0], s.at[len(s.at)-1]), f.fastest())
	case falling:
		return tell("falls with", ", %s%s", f.change(s.at[0], s.at[len(s.at)-1]), f.fastest())
	case peaked:
		return tell("rises with", " up to %s (%s), then falls; lowest at %s (%s)", at(high), value(high), at(low), value(low))
	case dipped:
		return tell("falls with", " down to %s (%s), then rises; highest at %s (%s)", at(low), value(low), at(high), value(high))
	case waving:
		return tell("goes up and down with", ": highest at %s (%s), lowest at %s (%s)", at(high), value(high), at(low), value(low))
	}
	switch {
	case e.X2 != nil:
		point := func(i int) string {
			x, x2 := e.ShownAt(i)
			text := clip(e.X.Feature, 40) + " " + clip(x, 40) + " and " + clip(e.X2.Feature, 40) + " " + clip(x2, 40)
			if f.outcome.told == differences {
				text += " (" + value(i) + ")"
			}
			return text
		}
		if f.beyond != "" {
			return tell("depends on", ", beyond what "+f.beyond+" alone: most at %s, least at %s", point(high), point(low))
		}
		return tell("depends on", ": highest at %s, lowest at %s", point(high), point(low))
	case e.X.Len() == 2 && f.outcome.told == differences:
		return tell("is "+f.outcome.size(f.values[high]-f.values[low])+" higher for", " %s than for %s", at(high), at(low))
	case e.X.Len() == 2:
		return tell("is "+value(high)+" for", " %s, %s for %s", at(high), value(low), at(low))
	case f.rare:
		return tell("is highest for", " %s (%s), lowest for %s (%s), not counting levels of few rows", at(high), value(high), at(low), value(low))
	}
	return tell("is highest for", " %s (%s), lowest for %s (%s)", at(high), value(high), at(low), value(low))
}

// change is how much lies between two points: by a difference, or from one value to the other.
func (f *finding) change(a, b int) string {
	e := f.effect
	from, _ := e.ShownAt(a)
	to, _ := e.ShownAt(b)
	if f.outcome.told == differences {
		return fmt.Sprintf("by %s from %s to %s", f.outcome.size(math.Abs(f.values[b]-f.values[a])), from, to)
	}
	return fmt.Sprintf("from %s at %s to %s at %s", f.outcome.text(f.values[a]), from, f.outcome.text(f.values[b]), to)
}

// fastest says where most of a rise or fall is; "" where it is spread over the range.
func (f *finding) fastest() string {
	s, x := &f.shape, f.effect.X
	switch a, b := s.fastFrom, s.fastTo; {
	case a == b:
		return ""
	case a == s.at[0]:
		return ", fastest below " + x.Text(b)
	case b == s.at[len(s.at)-1]:
		return ", fastest above " + x.Text(a)
	default:
		return fmt.Sprintf(", fastest between %s and %s", x.Text(a), x.Text(b))
	}
}
