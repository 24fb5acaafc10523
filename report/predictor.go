package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/pho-go/pho/decompose"
)

// predictor is the page's section on one predictor.
type predictor struct {
	ID, Name   string
	Position   int  // from 1
	Folded     bool // all but the headline is in <details>
	Heading    string
	Told       []told // of the columns that matter most
	Read, Left string // how much can be read, and what cannot
	Deep       string // what arrays tell beyond the table; "": none are read
	Split      string // the same for statisticians
	ReadShare  string // length of a bar
	Ranking    []rankRow
	RankMore   string
	MovesBy    string // what the ranking's numbers are of
	Axis       string // what the pictures show
	Stages     []stage
	Networks   *agreement // nil: one network
	BarZero    string
	BarHundred string
	Terms      []termRow
	Rest       []termRow // intercept and unstructured
	Figures    []figure
	Parts      []figure // of terms of which only a sum is identified
	NotDrawn   string
	Sums       bool // some figures are of sums
	Before     bool // some have a curve before
	Skipped    []fact
	Importance importances
	Orders     []orderRow // of interaction; nil: not asked for
	Remains    *remainder
	Rank       string
	Aliased    string
	Splits     []split
	Verdicts   []reasoned
	Checks     []termCheck
	Band       string // what the bands are; "": there are none
	LowK       bool   // some check says too few basis functions
	Concurvity []concurvityRow
	Fit        []fact

	ranking []ranked
}

func newPredictor(r *decompose.Result, k int, effects []Effect, drawn *choice) predictor {
	d := &r.Predictors[k]
	p := predictor{Position: k + 1, ID: fmt.Sprintf("p%d", k+1), Name: clip(d.Name, 60), Fit: fitFacts(r, d)}
	p.Folded = len(r.Predictors) > mostOpen && k >= openPredictors
	p.Networks = newAgreement(r, d)
	name, _ := bandWords(r)
	p.Band = strings.ToLower(name)
	p.Stages, p.BarZero, p.BarHundred = stages(d)
	draw := newDrawing(r, k, effects)
	candidates := draw.candidates(d, effects)
	p.Terms = termRows(d, candidates)
	p.Rest = []termRow{
		{Name: "intercept", Kind: "a constant: its value, not an sd", Before: num(d.InterceptBefore), After: num(d.Intercept)},
		{Name: "unstructured", Kind: p.remainder(d), Before: sd(d.VarianceBefore.Unstructured), After: sd(d.Variance.Unstructured)},
		{Name: clip(d.Name, 60), Kind: "the predictor: the sum of all above", Before: sd(d.VarianceBefore.Total), After: sd(d.Variance.Total)},
	}
	p.ranking = draw.ranking(d, candidates)
	p.figures(draw, drawn, candidates, k)
	p.Ranking, p.RankMore = p.rankRows(p.ranking)
	p.Heading = "What moves " + draw.outcome.what
	p.MovesBy, p.Axis = draw.outcome.linkUnit(), draw.outcome.axisWords()
	p.headline(d, &draw.outcome)
	p.Deep, p.Left = DeepWords(d), leftWords(d)
	p.Importance, p.Orders = newImportances(r, d), orderRows(d)
	p.Remains = newRemainder(d)
	p.identifiability(d)
	return p
}

// remainder is what the unstructured part is.
func (p *predictor) remainder(d *decompose.Predictor) string {
	if d.Deep == nil {
		return "the deep remainder"
	}
	name, _ := RemainderWords(d)
	return "the deep remainder: " + name
}

// Of more than mostOpen predictors only the first few are open, or the page would be a hundred
// screens of a telephone long.
const (
	mostOpen       = 3
	openPredictors = 2
)

func sd(variance float64) string { return num(math.Sqrt(variance)) }

// figures draws the largest effects: the effects of terms and, where the split between
// terms is not identified, the effect of their sum.
func (p *predictor) figures(draw *drawing, drawn *choice, candidates []*candidate, k int) {
	candidates, p.NotDrawn = drawn.of(k, candidates)
	draw.bound(candidates)
	for _, c := range candidates {
		draw.join(c)
		p.Sums = p.Sums || c.effect.Sum != nil
	}
	for _, c := range candidates {
		f, why := draw.draw(c)
		if f == nil {
			p.Skipped = append(p.Skipped, fact{Name: clip(c.effect.Term, 60), Value: clip(why, 300)})
			continue
		}
		p.Before = p.Before || c.effect.hasBefore()
		f.Predictor, f.ID = k+1, fmt.Sprintf("%s-f%d", p.ID, len(p.Figures)+len(p.Parts)+1)
		if c.identified() {
			p.Figures = append(p.Figures, *f)
		} else {
			p.Parts = append(p.Parts, *f)
		}
	}
}

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
	add("reconstruction error", maybe(d.ReconstructionError), "largest miss of the sum of all parts from the model's own output, relative to its largest value")
	add("rank tolerance", num(d.RankTolerance), "directions weaker than this, relative to the strongest, are left out")
	return out
}
