package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/importance"
)

// predictor is the page's section on one predictor.
type predictor struct {
	ID, Name   string
	Headline   string
	Remainder  string
	Stages     []stage
	BarZero    string
	BarHundred string
	Terms      []termRow
	Rest       []termRow // intercept and unstructured
	Figures    []figure
	NotDrawn   string
	Sums       bool // some figures are of sums
	Skipped    []fact
	Importance importances
	Rank       string
	Aliased    string
	Splits     []split
	Checks     []termCheck
	LowK       bool // some check says too few basis functions
	Concurvity []concurvityRow
	Fit        []fact
}

func newPredictor(r *decompose.Result, k int, effects []Effect) predictor {
	d := &r.Predictors[k]
	p := predictor{ID: fmt.Sprintf("p%d", k+1), Name: clip(d.Name, 60), Fit: fitFacts(r, d)}
	p.headline(d)
	p.Stages, p.BarZero, p.BarHundred = stages(d)
	draw := newDrawing(r, d)
	candidates := draw.candidates(d, effects)
	p.Terms = termRows(d, candidates)
	p.Rest = []termRow{
		{Name: "intercept", Kind: "a constant: its value, not an sd", Before: num(d.InterceptBefore), After: num(d.Intercept)},
		{Name: "unstructured", Kind: "the deep remainder", Before: sd(d.VarianceBefore.Unstructured), After: sd(d.Variance.Unstructured)},
		{Name: clip(d.Name, 60), Kind: "the predictor: the sum of all above", Before: sd(d.VarianceBefore.Total), After: sd(d.Variance.Total)},
	}
	p.figures(draw, candidates)
	p.Importance = newImportances(r, d)
	p.identifiability(d)
	return p
}

func sd(variance float64) string { return num(math.Sqrt(variance)) }

// headline says in a sentence what the report is about.
func (p *predictor) headline(d *decompose.Predictor) {
	after, before := importance.ExplainedVariance(d.Variance), importance.ExplainedVariance(d.VarianceBefore)
	switch {
	case constant(d):
		p.Headline = fmt.Sprintf("%s is constant on these rows: there is no variance to explain.", p.Name)
	case len(d.Terms) == 0:
		p.Headline = fmt.Sprintf("There is no interpretable part: all variance of %s stays in the network. Give a formula to say what could be explained.", p.Name)
	default:
		p.Headline = fmt.Sprintf("The interpretable part carries %s of the variance of %s; before the projection it carried %s.",
			percent(after.Structured), p.Name, percent(before.Structured))
		p.Remainder = fmt.Sprintf("The deep remainder keeps %s: variation that the terms below cannot express.", percent(after.Unstructured))
		if math.Abs(after.TwiceCovariance) >= 5e-4 {
			p.Remainder += fmt.Sprintf(" The two parts covary, which accounts for the other %s.", percent(after.TwiceCovariance))
		}
		if math.Abs(before.TwiceCovariance) >= 0.01 {
			p.Remainder += fmt.Sprintf(" Before, the two parts covaried (%s of the variance), so that neither share said much.", percent(before.TwiceCovariance))
		}
	}
}

// constant reports whether a predictor does not vary beyond rounding.
func constant(d *decompose.Predictor) bool {
	level := math.Max(math.Abs(d.Intercept), math.Abs(d.InterceptBefore))
	return !(d.Variance.Total > 1e-24*level*level)
}

// stage is one bar of the headline: the split of the variance.
type stage struct {
	Name, Words string
	Segments    []segment
}

type segment struct{ Class, X, W string }

// barWidth is the length of the headline's bar in its own units.
const barWidth = 1000

// stages draws the shares before and after on one scale. A negative covariance
// reaches to the left of zero, and then the variances reach beyond 100 %.
func stages(d *decompose.Predictor) (out []stage, zero, hundred string) {
	if constant(d) {
		return nil, "", ""
	}
	evs := []importance.EV{importance.ExplainedVariance(d.VarianceBefore), importance.ExplainedVariance(d.Variance)}
	s := span{0, 1}
	for _, ev := range evs {
		s.add(math.Min(ev.TwiceCovariance, 0))
		s.add(ev.Structured + ev.Unstructured + math.Max(ev.TwiceCovariance, 0))
	}
	x := axis{s, 0, barWidth}
	for i, ev := range evs {
		st := stage{
			Name: []string{"Before", "After"}[i],
			Words: fmt.Sprintf("structured %s, unstructured %s, twice their covariance %s",
				percent(ev.Structured), percent(ev.Unstructured), percent(ev.TwiceCovariance)),
		}
		add := func(class string, from, to float64) {
			if to > from {
				st.Segments = append(st.Segments, segment{class, px(x.at(from)), px(x.at(to) - x.at(from))})
			}
		}
		add("structured", 0, ev.Structured)
		add("unstructured", ev.Structured, ev.Structured+ev.Unstructured)
		add("covariance", ev.Structured+ev.Unstructured, ev.Structured+ev.Unstructured+ev.TwiceCovariance)
		add("covariance", ev.TwiceCovariance, 0)
		out = append(out, st)
	}
	return out, px(x.at(0)), px(x.at(1))
}

// figures draws the largest effects: of terms, and of sums in place of the terms
// whose split is not identified.
func (p *predictor) figures(draw *drawing, candidates []*candidate) {
	if len(candidates) > drawn {
		p.NotDrawn = fmt.Sprintf("Drawn are the %d of %d that vary most; the table above and effects.csv have all.", drawn, len(candidates))
		candidates = candidates[:drawn]
	}
	for _, c := range candidates {
		draw.share(c)
		p.Sums = p.Sums || c.effect.Sum != nil
	}
	for _, c := range candidates {
		f, why := draw.draw(c)
		if f == nil {
			p.Skipped = append(p.Skipped, fact{Name: clip(c.effect.Term, 60), Value: clip(why, 300)})
			continue
		}
		p.Figures = append(p.Figures, *f)
	}
}

// newDrawing prepares the pictures of one predictor.
func newDrawing(r *decompose.Result, d *decompose.Predictor) *drawing {
	draw := &drawing{common: emptySpan(), feature: map[string]decompose.Feature{}, eta: d.Name}
	for _, f := range r.Features {
		draw.feature[f.Name] = f
	}
	return draw
}

// candidates are what could be drawn of a predictor, largest first.
func (draw *drawing) candidates(d *decompose.Predictor, effects []Effect) []*candidate {
	term := map[string]*decompose.TermResult{}
	for j := range d.Terms {
		term[d.Terms[j].Name] = &d.Terms[j]
	}
	summed := map[string]bool{}
	for i := range effects {
		if e := &effects[i]; e.Predictor == d.Name && e.Note == "" {
			for _, name := range e.Sum {
				summed[name] = true
			}
		}
	}
	var out []*candidate
	for i := range effects {
		e := &effects[i]
		names := e.Sum
		if names == nil {
			names = []string{e.Term}
		}
		var terms []*decompose.TermResult
		for _, name := range names {
			if t := term[name]; t != nil && (e.Sum != nil || !summed[name]) {
				terms = append(terms, t)
			}
		}
		if e.Predictor == d.Name && len(terms) == len(names) {
			out = append(out, draw.newCandidate(e, terms))
		}
	}
	slices.SortStableFunc(out, func(a, b *candidate) int { return cmp.Compare(b.after, a.after) })
	return out
}

func (p *predictor) identifiability(d *decompose.Predictor) {
	if d.Rank == d.Columns {
		p.Rank = fmt.Sprintf("All %s columns (intercept counted) are linearly independent at relative tolerance %s.", count(int64(d.Columns)), num(d.RankTolerance))
	} else {
		p.Rank = fmt.Sprintf("The %s columns (intercept counted) have rank %s at relative tolerance %s: %s directions carry no information of their own.",
			count(int64(d.Columns)), count(int64(d.Rank)), num(d.RankTolerance), count(int64(d.Columns-d.Rank)))
	}
	p.Aliased = list(d.Aliased, 40)
	for _, e := range d.Entangled {
		var names []string
		for _, name := range e.Terms {
			names = append(names, clip(name, 60))
		}
		p.Splits = append(p.Splits, split{Terms: strings.Join(names, " + "), Reason: clip(e.Reason, 600)})
	}
	p.checks(d)
	pairs := slices.Clone(d.Concurvity)
	slices.SortStableFunc(pairs, func(a, b decompose.PairConcurvity) int { return cmp.Compare(b.Worst, a.Worst) })
	for _, c := range pairs[:min(len(pairs), pairsShown)] {
		p.Concurvity = append(p.Concurvity, concurvityRow{
			Term: clip(c.Term, 60), With: clip(c.With, 60), Worst: num(c.Worst), Observed: num(c.Observed), Estimate: num(c.Estimate),
		})
	}
}

// split is a group of terms of which only the sum is identified, and why.
type split struct{ Terms, Reason string }

// checks has a row for every term with its concurvity and k-check.
func (p *predictor) checks(d *decompose.Predictor) {
	for _, t := range d.Terms[:min(len(d.Terms), checksShown)] {
		row := termCheck{
			Term: clip(t.Name, 60), Columns: count(int64(t.Columns)), EDF: num(t.EDF), Index: "–", P: "–",
			Worst: num(t.Concurvity.Worst), Observed: num(t.Concurvity.Observed),
		}
		if k := t.KCheck; k != nil {
			row.Index, row.P = num(k.Index), num(k.P)
			// mgcv's rule of thumb: neighbours alike and the degrees of freedom used up.
			row.Low = k.P < 0.05 && t.EDF > 0.8*float64(t.Columns)
			p.LowK = p.LowK || row.Low
		}
		p.Checks = append(p.Checks, row)
	}
}

// checksShown is how many terms the table of checks has.
const checksShown = 60

// termCheck is a row of the table of checks.
type termCheck struct {
	Term, Columns, EDF, Index, P, Worst, Observed string
	Low                                           bool // too few basis functions, probably
}

// pairsShown is how many pairs of terms the table of concurvity has.
const pairsShown = 12

// concurvityRow says how much of a term lies in the span of another.
type concurvityRow struct{ Term, With, Worst, Observed, Estimate string }

// fitFacts are the diagnostics, each with how to read it.
func fitFacts(r *decompose.Result, d *decompose.Predictor) []fact {
	out := []fact{{"rows", count(r.Rows), "with positive weight"}, {"method", methodWords(r), ""}}
	add := func(name, value, reading string) { out = append(out, fact{name, value, reading}) }
	if d.Score != nil {
		add("smoothing score", digits(*d.Score, 7), "the criterion at its minimum; comparable between fits to the same rows")
	}
	if d.Status != "" {
		add("smoothing selection", fmt.Sprintf("%s, %d iterations", clean(d.Status), d.Iterations), "anything but converged is also among the warnings")
	}
	add("edf", num(d.EDF), "effective degrees of freedom of the projection, intercept counted")
	add("scale", num(d.Scale), "residual variance of the projection: what is left of the deep part, per residual degree of freedom")
	reading := "largest correlation of a structured column with the remainder; 0 up to rounding"
	if r.Method == decompose.PHOGAM {
		reading = "largest correlation of a structured column with the remainder; the penalty keeps it from being 0"
	}
	add("orthogonality", num(d.Orthogonality), reading)
	add("reconstruction error", maybe(d.ReconstructionError), "largest miss of the sum of all parts from the network's own output, relative to its largest value")
	add("rank tolerance", num(d.RankTolerance), "directions weaker than this, relative to the strongest, are left out")
	return out
}
