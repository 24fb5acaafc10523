package report

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/importance"
)

// headline is what a reader is told first: of the model, and how well it predicts.
type headline struct {
	What, Well string
	Worse      bool // than a constant: Well is a warning
}

func newHeadline(r *decompose.Result) headline {
	h := headline{What: modelName(r) + " " + predictsWords(r), Well: wellWords(r)}
	if n := columnsRead(r); n == 1 {
		h.What += " from one column."
	} else if n > 1 {
		h.What += fmt.Sprintf(" from %d columns.", n)
	} else {
		h.What = strings.TrimSuffix(h.What, ",") + "."
	}
	h.Worse = r.Prediction != nil && r.Prediction.Worse
	return h
}

// modelName is what the model is called at the beginning of a sentence.
func modelName(r *decompose.Result) string {
	if r.Networks != nil {
		return fmt.Sprintf("The mean of %d networks", len(r.Networks.Names))
	}
	return strings.TrimSpace("The model " + clip(fileName(r), 60))
}

// fileName is the name of the model's file; "" if it has none, or one that says no more than "model".
func fileName(r *decompose.Result) string {
	path, _ := modelFile(r)
	name := filepath.Base(path)
	if path == "" || predictionsOf(r) != "" || strings.TrimSuffix(name, filepath.Ext(name)) == "model" {
		return ""
	}
	return name
}

// predictsWords say what is predicted.
func predictsWords(r *decompose.Result) string {
	if len(r.Predictors) == 0 {
		return "has no predictor"
	}
	response := clip(r.Response, 60)
	o := outcomeOf(r, 0)
	switch {
	case len(r.Sets) > 0 && response != "":
		return "predicts which class of " + response + " a row has"
	case len(r.Sets) > 0:
		return fmt.Sprintf("predicts a probability for each of %d classes", classCount(r))
	case ordered(&r.Predictors[0]) && response != "":
		return "predicts how far up a row is among the ordered classes of " + response
	case len(r.Predictors) == 1 && o.what == output && response == "":
		return "computes one number"
	case len(r.Predictors) == 1 && o.what == output:
		return "predicts " + response
	case len(r.Predictors) == 1 && o.of.Function == "" && response == "":
		return "computes " + o.what
	case len(r.Predictors) == 1 && r.Event != "" && quantityOf(&r.Predictors[0]) != family.HazardRatio:
		return "predicts the time " + response + " until " + clip(r.Event, 40)
	case len(r.Predictors) == 1:
		return "predicts " + withUnit(o.what, o.unit)
	}
	var what []string
	for k := range r.Predictors {
		what = append(what, r.Predictors[k].Name)
	}
	if response != "" {
		return "predicts the distribution of " + response + ", by " + inWords(what, 6) + ","
	}
	return "computes " + inWords(what, 6)
}

func pageTitle(r *decompose.Result) string {
	who := cmp.Or(clip(fileName(r), 80), "the model")
	if r.Networks != nil {
		who = fmt.Sprintf("%d networks", len(r.Networks.Names))
	}
	switch {
	case r.Title != "":
		return clip(r.Title, 200)
	case r.Response != "" && r.Networks != nil:
		return clip(r.Response, 60) + ", as " + who + " predict it"
	case r.Response != "":
		return clip(r.Response, 60) + ", as " + who + " predicts it"
	}
	if r.Networks != nil {
		return "What " + who + " compute"
	}
	return "What " + who + " computes"
}

// classCount counts the class that others are differences to.
func classCount(r *decompose.Result) int {
	n := 0
	for _, s := range r.Sets {
		n += len(s.Predictors)
		if s.Contrast == decompose.ToClass {
			n++
		}
	}
	return n
}

// wellWords say how well the network predicts the response, in the reader's words.
func wellWords(r *decompose.Result) string {
	p := r.Prediction
	if p == nil {
		return "What that predicts, and how well, was not said: no response was given."
	}
	y, rows := clip(r.Response, 60), count(r.Rows)
	switch {
	case p.Worse && p.LogLikGain != nil:
		return "It predicts " + y + " worse than a constant does: look at the columns first. What follows explains the model, not the data."
	case p.Worse:
		return "It predicts " + y + " worse than a constant does: the columns may be at the wrong places, or scaled otherwise than in training. What follows explains the model, not the data."
	case p.Accuracy != nil:
		return fmt.Sprintf("On these %s rows its most probable class is right in %s; the most frequent class would be in %s.", rows, rough(*p.Accuracy), roughly(p.Frequent))
	case p.R2 != nil && (p.RMSE == nil || outcomeOf(r, 0).told == chances):
		return fmt.Sprintf("On these %s rows it explains %s of the differences in %s.", rows, rough(*p.R2), y)
	case p.R2 != nil:
		return fmt.Sprintf("On these %s rows it explains %s of the differences in %s; its typical error is %s.", rows, rough(*p.R2), y, strings.TrimSpace(plain(*p.RMSE)+" "+outcomeUnit(r)))
	case p.DevianceExplained != nil:
		return fmt.Sprintf("On these %s rows it explains %s of the differences in %s (deviance).", rows, rough(*p.DevianceExplained), y)
	case p.Concordance != nil:
		return fmt.Sprintf("Shown two of these %s rows, it tells which has its event first in %s of the cases (C-index; guessing: 50 %%).", rows, rough(*p.Concordance))
	case p.LogLikGain != nil:
		return fmt.Sprintf("On these %s rows it tells %s better than a constant does.", rows, y)
	}
	return ""
}

func roughly(v *float64) string {
	if v == nil {
		return none
	}
	return rough(*v)
}

// told is a sentence about a column, whose name stands out.
type told struct{ Before, Name, After string }

func (t told) String() string { return t.Before + " " + t.Name + t.After }

// How many columns the headline tells of: mostTold at most and, beyond leastTold, those that move
// the outcome a fifth as far as the first or farther.
const (
	mostTold  = 5
	leastTold = 3
	worthTold = 0.2
)

// columnsTold are sentences about what matters most.
func columnsTold(d *decompose.Predictor, ranking []ranked) (out []told) {
	for i, r := range ranking {
		if i == mostTold || i >= leastTold && r.sd < worthTold*ranking[0].sd || !(r.sd*r.sd >= 1e-4*d.Variance.Total) {
			break
		}
		out = append(out, r.told())
	}
	return out
}

// told is the sentence about what is ranked.
func (r *ranked) told() told {
	switch {
	case r.finding == nil && len(r.terms) > 1:
		return told{"depends on", r.columns, ": the rows tell only what these do together"}
	case r.finding == nil:
		return told{"depends on", r.columns, ", by a part that has no curve"}
	}
	t := r.finding.told()
	if r.weak {
		t.After += "; these rows hardly tell it"
	}
	return t
}

// readable is the share of the variance of predictions that the structured part explains,
// 1 - Var(unstructured)/Var(eta): what the curves predict of the model's own output.
func readable(v decompose.Variance) float64 { return math.Max(0, 1-v.Unstructured/v.Total) }

// readWords say how much of a predictor can be read, from what.
func readWords(v decompose.Variance, scale, from string) string {
	share := readable(v)
	switch {
	case notFinite(share):
		return ""
	case share >= 0.9995:
		return fmt.Sprintf("All of what makes its predictions differ from row to row%s can be read from %s.", scale, from)
	}
	return fmt.Sprintf("%s of what makes its predictions differ from row to row%s can be read from %s; the other %s cannot.", rough(share), scale, from, rough(1-share))
}

// curvesBelow is what predictors can be read from.
const curvesBelow = "the curves below"

// readFrom are the curves of what is ranked, or, where there is none of some, its parts.
func readFrom(ranking []ranked) string {
	if len(ranking) == 1 && ranking[0].finding != nil {
		return "the curve below"
	}
	without := 0
	for _, r := range ranking {
		if r.finding == nil {
			without++
		}
	}
	if without == 0 {
		return curvesBelow
	}
	return fmt.Sprintf("the parts below, %d of %d without a curve", without, len(ranking))
}

// headline says what is told of a predictor first.
func (p *predictor) headline(d *decompose.Predictor, o *outcome) {
	switch {
	case constant(d):
		p.Read = fmt.Sprintf("%s is constant on these rows: there are no differences to explain.", p.Name)
	case len(d.Terms) == 0:
		p.Read = fmt.Sprintf("Nothing of %s can be read: no curve was asked for, and the model shows none. Give a formula to say what could be explained.", p.Name)
	default:
		p.Read = readWords(d.Variance, o.scaleWords(), readFrom(p.ranking))
		p.Told = columnsTold(d, p.ranking)
		p.ReadShare = px(barWidth * math.Min(1, readable(d.Variance)))
		after, before := importance.ExplainedVariance(d.Variance), importance.ExplainedVariance(d.VarianceBefore)
		p.Split = fmt.Sprintf("The structured part carries %s of the variance of %s%s, the unstructured one %s", percent(after.Structured), p.Name, convention(d.Convention), percent(after.Unstructured))
		if math.Abs(after.TwiceCovariance) >= 5e-4 {
			p.Split += fmt.Sprintf("; that they covary accounts for the other %s", percent(after.TwiceCovariance))
		}
		p.Split += "."
		if d.VarianceBefore.Structured > 0 {
			p.Split += fmt.Sprintf(" Before the projection the structured part carried %s.", percent(before.Structured))
		}
		if math.Abs(before.TwiceCovariance) >= 0.01 {
			p.Split += fmt.Sprintf(" Then the two parts covaried (%s of the variance), so that neither share said much.", percent(before.TwiceCovariance))
		}
	}
}

// scaleWords say on which scale differences are measured, where that is not the outcome's.
func (o *outcome) scaleWords() string {
	switch {
	case o.told == chances && o.of.Function == "sigmoid":
		return " (in log-odds)"
	case o.told == ratios, o.of.With != nil, o.told == levels && o.of.Function == "exp":
		return " (in logarithms)"
	case o.told != differences:
		return " (on the scale of the link)"
	}
	return ""
}

// leftWords say what cannot be read depends on, as far as it was looked into.
func leftWords(d *decompose.Predictor) string {
	m := d.Remainder
	if m == nil || constant(d) || len(d.Terms) == 0 || readable(d.Variance) >= 0.9995 {
		return ""
	}
	single := singleWords(m)
	switch {
	case len(m.Pairs) == 0 && m.Unasked != "": // nobody has looked
		return single
	case len(m.Pairs) == 0 && single == "":
		return "What cannot be read hangs on no pair of columns more than chance would have it."
	}
	var pairs []string
	for _, p := range m.Pairs[:min(len(m.Pairs), 3)] {
		if p.Gain < worthPair || p.Gain < 0.1*m.SingleColumns {
			break
		}
		of := ""
		if len(pairs) == 0 {
			of = " of all differences"
		}
		pairs = append(pairs, clip(p.Features[0], 40)+" with "+clip(p.Features[1], 40)+" ("+percent(p.Gain)+of+")")
	}
	if len(pairs) == 0 {
		return single
	}
	return strings.TrimSpace(single + " Of what cannot be read, these pairs of columns would tell most, beyond what each does alone: " + listed(pairs, 3) + ".")
}

// singleWords say what curves of single columns would tell that there are not, and of which columns, if some tell much of it; ""
// if hardly anything.
func singleWords(m *decompose.Remainder) string {
	if m.SingleColumns < worthSingle {
		return ""
	}
	var columns []string
	for _, s := range m.Singles[:min(len(m.Singles), 3)] {
		if s.Gain >= 0.2*m.SingleColumns || len(columns) > 0 && s.Gain >= 0.05*m.SingleColumns {
			columns = append(columns, s.Feature)
		}
	}
	text := "Other curves of single columns would tell another " + rough(m.SingleColumns)
	if len(columns) > 0 {
		text += ", above all those of " + inWords(columns, 3)
	}
	return text + "."
}

// worthSingle is the share of a predictor's variance that curves of single columns tell for them to be named.
const worthSingle = 0.02

// worthPair is the share of a predictor's variance that a pair tells for it to be named.
const worthPair = 0.001

// convention is what makes a predictor unique, behind its name.
func convention(words string) string {
	if words == "" {
		return ""
	}
	return " (" + clip(words, 100) + ")"
}

// together says of predictors that are unique only together how much of all of them can be read.
func together(r *decompose.Result) (out []string) {
	for _, s := range r.Sets {
		if s.Convention != "" {
			out = append(out, readWords(s.Variance, " (over all classes, in logarithms)", curvesBelow))
		}
	}
	return out
}

// constant reports whether a predictor does not vary beyond rounding.
func constant(d *decompose.Predictor) bool {
	level := math.Max(math.Abs(d.Intercept), math.Abs(d.InterceptBefore))
	return !(d.Variance.Total > 1e-24*level*level)
}

// stage is a bar: the split of the variance.
type stage struct {
	Name, Words string
	Segments    []segment
}

type segment struct{ Class, X, W string }

// barWidth is the length of a bar in its own units.
const barWidth = 1000

// stages draws the shares before and after on one scale. A negative covariance
// reaches to the left of zero, and then the variances reach beyond 100 %.
func stages(d *decompose.Predictor) (out []stage, zero, hundred string) {
	if constant(d) {
		return nil, "", ""
	}
	names, evs := []string{"After"}, []importance.EV{importance.ExplainedVariance(d.Variance)}
	if d.VarianceBefore.Structured > 0 {
		names, evs = []string{"Before", "After"}, []importance.EV{importance.ExplainedVariance(d.VarianceBefore), evs[0]}
	}
	s := span{0, 1}
	for _, ev := range evs {
		s.add(math.Min(ev.TwiceCovariance, 0))
		s.add(ev.Structured + ev.Unstructured + math.Max(ev.TwiceCovariance, 0))
	}
	x := axis{s, 0, barWidth}
	for i, ev := range evs {
		st := stage{
			Name: names[i],
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
