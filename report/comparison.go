package report

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/compare"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/label"
)

// WriteComparison writes c as one HTML page (compare.html) that loads nothing and holds no
// script: where changes of mean and variance come from, a table of the terms, and their
// curves in A and B on one another, B's with a 95 % band of the difference. Equal
// comparisons give equal bytes.
func WriteComparison(w io.Writer, c *compare.Comparison) error {
	t := template.New("comparison")
	for _, name := range []string{"comparison.html", "figures.html", "style.css"} {
		text, err := templates.ReadFile("templates/" + name)
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		if _, err := t.New(name).Parse(string(text)); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	var b bytes.Buffer // so that a failure leaves no half page
	if err := t.ExecuteTemplate(&b, "comparison.html", newComparison(c.Labelled(), c.Features)); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("report: writing the page: %w", err)
	}
	return nil
}

// comparison is what the template shows; numbers are texts already.
type comparison struct {
	A, B        string
	Facts       []fact
	Notes       []string
	Uncertainty string
	Predictors  []comparedPredictor
}

type comparedPredictor struct {
	ID, Name, Mean, Variance string
	Lead                     []string
	Terms                    []comparedTerm
	Notes                    []string // on single terms
	Figures                  []figure
	NotDrawn                 string
}

type comparedTerm struct {
	Name, RMS, Largest, At, Ratio, Beyond, Share, Rows, VarianceA, VarianceB, Change string
	Moved                                                                            bool
}

// newComparison is the page of c; features are those of the data, where c is Labelled.
func newComparison(c *compare.Comparison, features []decompose.Feature) *comparison {
	out := &comparison{A: clip(c.A, 120), B: clip(c.B, 120), Uncertainty: clean(c.Uncertainty)}
	yes := map[bool]string{true: "the same", false: "other ones"}
	network := fact{Name: "network", Value: yes[c.SameNetwork]}
	if c.Predictions {
		network = fact{Name: "model", Value: "known by its predictions"}
	}
	out.Facts = []fact{network, {Name: "rows", Value: yes[c.SameRows]}}
	for _, n := range c.Notes {
		out.Notes = append(out.Notes, clip(n, 400))
	}
	for i := range c.Predictors {
		out.Predictors = append(out.Predictors, newComparedPredictor(i, c, features))
	}
	return out
}

func newComparedPredictor(i int, c *compare.Comparison, features []decompose.Feature) comparedPredictor {
	p := &c.Predictors[i]
	out := comparedPredictor{ID: fmt.Sprintf("p%d", i+1), Name: predictionsOr(p.Name, len(c.Predictors))}
	out.Lead = comparedWords(p, len(c.Predictors))
	out.Mean = fmt.Sprintf("Mean %s in A, %s in B: a change of %s.", num(p.Mean.A), num(p.Mean.B), num(p.Mean.Change.Change))
	if p.Mean.Known > 0 {
		out.Mean += fmt.Sprintf(" Of it, %s because the rows are other ones (A's functions; %d of its terms), %s because functions or the intercept are.",
			num(p.Mean.Rows), p.Mean.Known, num(p.Mean.Rest))
	}
	out.Variance = fmt.Sprintf("Variance %s in A, %s in B.", num(p.Variance.A), num(p.Variance.B))
	if p.Unstructured != nil {
		out.Variance += fmt.Sprintf(" The remainder has %s and %s of it; the terms' parts, below, add up to it with this.", num(p.Unstructured.A), num(p.Unstructured.B))
	}
	if s := p.Structured; s != nil {
		out.Variance += fmt.Sprintf(" The structured part has a variance of %s in A and %s in B: a change of %s because the rows are other ones, and of %s because functions are.",
			num(s.A), num(s.B), num(s.Rows), num(s.Functions))
	}
	draw := &drawing{common: emptySpan(), feature: map[string]decompose.Feature{}, both: true}
	for _, f := range c.Features {
		draw.feature[f.Name] = f
	}
	var effects []Effect
	for _, t := range slices.Concat(p.Terms, p.Sums) {
		out.Terms = append(out.Terms, newComparedTerm(&t))
		out.Notes = append(out.Notes, termNotes(&t)...)
		if s := t.Curve; s != nil {
			e := overlay(p, &t, s, c.Labels, features)
			if f := draw.feature[e.X.Feature]; e.X2 == nil && e.X.Levels == nil && f.Whole() {
				e.atWhole()
			}
			if e.X2 == nil {
				draw.common.join(draw.effectSpan(&e))
			}
			effects = append(effects, e)
		}
	}
	if len(effects) > maxFigures {
		out.NotDrawn = fmt.Sprintf("Drawn are the first %d of %d terms.", maxFigures, len(effects))
		effects = effects[:maxFigures]
	}
	for i := range effects {
		if f := draw.overlaid(&effects[i]); f != nil {
			out.Figures = append(out.Figures, *f)
		}
	}
	return out
}

// predictions is what the only predictor is called where nobody has given it a name.
const predictions = "Predictions"

func predictionsOr(name string, of int) string {
	if of == 1 && name == "eta" {
		return predictions
	}
	return clip(name, 60)
}

// comparedWords say first how predictions differ, and which curves do beyond uncertainty.
func comparedWords(p *compare.Predictor, of int) []string {
	verb := "is"
	name := predictionsOr(p.Name, of)
	if name == predictions {
		verb, name = "are", "predictions"
	}
	out := []string{fmt.Sprintf("On average B's %s %s %s than A's.", clip(name, 40), verb, higher(p.Mean.Change.Change))}
	names := partNames{}
	for _, t := range slices.Concat(p.Terms, p.Sums) {
		names[t.Shown()] = t.Features
	}
	var moved []string
	tested := 0
	for _, t := range slices.Concat(p.Terms, p.Sums) {
		s := t.Curve
		if s == nil || s.Beyond == nil {
			continue
		}
		if tested++; *s.Beyond {
			moved = append(moved, fmt.Sprintf("%s (most at %s, by %s)", names.of(t.Shown()), largestAt(s), num(s.Largest)))
		}
	}
	switch {
	case tested == 0:
	case len(moved) == 0:
		out = append(out, fmt.Sprintf("None of %d curves differs by more than its uncertainty.", tested))
	default:
		out = append(out, fmt.Sprintf("%d of %d curves differ by more than their uncertainty: %s.", len(moved), tested, listed(moved, 6)))
	}
	return out
}

// largestAt is where the curves differ most: a level, or a number with the digits that a reader can use.
func largestAt(s *compare.Shift) string {
	short := func(place string) string {
		if v, err := strconv.ParseFloat(place, 64); err == nil {
			return trimmed(num(v))
		}
		return place
	}
	return clip(strings.TrimSuffix(short(s.X)+", "+short(s.X2), ", "), 30)
}

// listed joins at most n texts.
func listed(texts []string, n int) string {
	if len(texts) > n {
		return strings.Join(texts[:n], ", ") + fmt.Sprintf(" and %d more", len(texts)-n)
	}
	return strings.Join(texts, ", ")
}

func newComparedTerm(t *compare.Term) comparedTerm {
	out := comparedTerm{Name: clip(t.Shown(), 60), RMS: none, Largest: none, Ratio: none, Beyond: none, Share: none, Rows: maybe(t.Rows), VarianceA: none, VarianceB: none, Change: none}
	if s := t.Curve; s != nil {
		out.RMS, out.Largest, out.At, out.Ratio = num(s.RMS), num(s.Largest), largestAt(s), maybe(s.Ratio)
		if s.Beyond != nil {
			out.Beyond, out.Moved, out.Share = "no", *s.Beyond, percent(*s.Share)
			if *s.Beyond {
				out.Beyond = "yes"
			}
		}
	}
	if v := t.Variance; v != nil {
		out.VarianceA, out.VarianceB, out.Change = num(v.A), num(v.B), num(v.Change)
	}
	return out
}

// termNotes say why a term is not compared, and what of it is not.
func termNotes(t *compare.Term) []string {
	notes := []string{t.Why, t.Note}
	if t.Curve != nil {
		for _, o := range t.Curve.Over {
			if len(o.OnlyA) > 0 {
				notes = append(notes, fmt.Sprintf("levels of %s in A only: %s", o.Feature, list(o.OnlyA, 8)))
			}
			if len(o.OnlyB) > 0 {
				notes = append(notes, fmt.Sprintf("levels of %s in B only: %s", o.Feature, list(o.OnlyB, 8)))
			}
		}
	}
	var said []string
	for _, n := range notes {
		if n != "" {
			said = append(said, clip(t.Shown(), 60)+": "+clip(n, 300))
		}
	}
	return said
}

// overlay is A's curve as "before" and B's as "after", with the standard errors of the
// difference.
func overlay(p *compare.Predictor, t *compare.Term, s *compare.Shift, l *label.Labels, features []decompose.Feature) Effect {
	axis := func(g compare.Points) *Axis {
		if g.Value != nil {
			return &Axis{Feature: g.Feature, Values: g.Value}
		}
		return &Axis{Feature: g.Feature, Levels: g.Text}
	}
	e := Effect{Predictor: p.Name, Term: t.Shown(), X: axis(s.Grid[0]), Before: s.A, After: s.B, SE: s.SE}
	if len(s.Grid[1].Text) > 0 {
		e.X2, e.SE = axis(s.Grid[1]), slices.Clone(s.SE)
		for i := range e.SE {
			if notFinite(s.A[i]) || notFinite(s.B[i]) { // one of them has no rows there
				e.SE[i] = math.NaN()
			}
		}
	}
	if !l.IsEmpty() {
		e.show(l, label.Term{}, features)
	}
	return e
}

// overlaid draws it; nil if it cannot be drawn.
func (d *drawing) overlaid(e *Effect) *figure {
	f := &figure{Title: clip(e.Term, 60), Label: fmt.Sprintf("%s in A and in B", clip(e.Term, 60))}
	switch {
	case e.X2 != nil:
		h, err := d.heat(e)
		if err != nil {
			return nil
		}
		h.Panels[0].Title, h.Panels[1].Title = "A", "B"
		if len(h.Panels) > 2 {
			h.Panels[2].Title = "standard error of B - A"
		}
		f.Heat, f.Wide = h, true
	case e.X.Levels != nil:
		f.Dots = d.dots(e)
		f.Caption = f.Dots.caption
	default:
		f.Curve = d.curve(e)
		f.Caption = f.Curve.caption
	}
	if gap := furthestApart(e); gap >= 0 {
		x, x2 := e.ShownAt(gap)
		f.Details = clip("furthest apart at "+strings.TrimSuffix(x+", "+x2, ", "), 60)
	}
	return f
}

func furthestApart(e *Effect) int {
	at, most := -1, -1.0
	for i := range e.Before {
		if d := math.Abs(e.After[i] - e.Before[i]); d > most {
			at, most = i, d
		}
	}
	return at
}
