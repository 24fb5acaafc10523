package report

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/pho-go/pho/drift"
)

// WriteDrift writes r as one HTML page (monitor.html) that loads nothing and holds no script:
// the prediction and its parts over the periods, means with 95 % bands and shares of the
// variance, and a table of all periods. What drifted is marked. Equal reports give equal bytes.
func WriteDrift(w io.Writer, r *drift.Report) error {
	t := template.New("drift")
	for _, name := range []string{"drift.html", "style.css"} {
		text, err := templates.ReadFile("templates/" + name)
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		if _, err := t.New(name).Parse(string(text)); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	var b bytes.Buffer // so that a failure leaves no half page
	if err := t.ExecuteTemplate(&b, "drift.html", newDriftPage(r)); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("report: writing the page: %w", err)
	}
	return nil
}

// driftPage is what the template shows; numbers are texts already.
type driftPage struct {
	Reference, Counted, NotDrawn string
	Lead                         []string
	Facts                        []fact
	Notes                        []string
	Predictors                   []driftPredictor
	Features                     []driftFeature
	Compared                     string // the period that Features are of
}

type driftPredictor struct {
	ID, Name string
	Figures  []driftFigure
	Quiet    []driftFigure // of parts that did not drift
	NotDrawn string
	Fit      bool          // the response is known
	Parts    []driftPart   // of two periods, what changed by part
	Periods  []driftPeriod // of several, a line each
}

type driftPeriod struct {
	Name, Rows, Mean, MeanChange, Variance, VarianceChange, Through string
	MeanDrift, VarianceDrift                                        bool
	Fit                                                             []driftValue // error and deviance
}

type driftValue struct {
	Value string
	Drift bool
}

type driftPart struct {
	Name        string
	Mean, Share driftCells
}

type driftCells struct {
	Change, Ratio, P string
	Drift            bool
}

type driftFeature struct{ Name, PSI, Critical string }

// signed is a change with its sign.
func signed(v *float64) string {
	if v != nil && *v > 0 {
		return "+" + num(*v)
	}
	return maybe(v)
}

// How many notes are listed, and of how many periods one is said by name.
const (
	maxDriftNotes  = 20
	maxSamePeriods = 12
)

// maxPeriods is how many periods are drawn and listed.
const maxPeriods = 400

func newDriftPage(r *drift.Report) *driftPage {
	out := &driftPage{Reference: clip(r.Reference, 60), Counted: clean(r.Counted)}
	drifted := 0
	var notes []string
	for _, c := range r.Changes {
		if c.Drift() {
			drifted++
		}
		for _, n := range c.Notes {
			if !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
	}
	var rows int64
	periods := map[string]byte{}
	for _, p := range r.Periods {
		rows += p.Rows
		periods[p.Name] = 3
	}
	for _, n := range grouped(notes, newNames(periods)) {
		text := clip(n.Text, 300)
		if also := n.Also(maxSamePeriods); also != "" {
			text += " (" + clean(also) + ")"
		}
		if out.Notes = append(out.Notes, text); len(out.Notes) == maxDriftNotes {
			break
		}
	}
	out.Lead = append(driftNews(r), driftLead(r, drifted))
	out.Facts = []fact{{Name: "reference", Value: out.Reference}, {Name: "periods", Value: fmt.Sprint(len(r.Periods))}, {Name: "rows", Value: fmt.Sprint(rows)}}
	drawn := r.Periods
	if len(drawn) > maxPeriods {
		out.NotDrawn = fmt.Sprintf("Drawn and listed are the last %d of %d periods: put them together to longer ones to see all.", maxPeriods, len(drawn))
		drawn = drawn[len(drawn)-maxPeriods:]
	}
	for k := range r.Of.Predictors {
		out.Predictors = append(out.Predictors, newDriftPredictor(r, k, drawn))
	}
	if len(r.Changes) > 0 {
		out.features(r.Changes[len(r.Changes)-1])
	}
	return out
}

// driftNews are sentences about the last period: what is new of predictions, through which parts, and
// whether they still fit.
func driftNews(r *drift.Report) (out []string) {
	if len(r.Changes) == 0 {
		return nil
	}
	c := r.Changes[len(r.Changes)-1]
	period, reference := clip(c.Period, 60), clip(r.Reference, 60)
	if !c.Drift() {
		return []string{fmt.Sprintf("No news of %s: nothing differs from %s by more than chance.", period, reference)}
	}
	for k := range c.Predictors {
		p := &c.Predictors[k]
		what := "predictions are"
		if len(c.Predictors) > 1 {
			what = clip(p.Name, 40) + " is"
		}
		names := partNames{}
		for _, t := range r.Of.Predictors[k].Terms {
			names[t.Name] = t.Features
		}
		through := driftThrough(p, names.of)
		switch {
		case p.Mean.Drift && through != none:
			out = append(out, fmt.Sprintf("In %s %s on average %s than in %s, through %s.", period, what, higher(*p.Mean.Change), reference, through))
		case p.Mean.Drift:
			out = append(out, fmt.Sprintf("In %s %s on average %s than in %s, through no part alone.", period, what, higher(*p.Mean.Change), reference))
		case through != none:
			out = append(out, fmt.Sprintf("In %s %s on average as in %s, but parts moved: %s.", period, what, reference, through))
		case p.Variance.Drift:
			out = append(out, fmt.Sprintf("In %s %s on average as in %s, but their variance changed by %s.", period, what, reference, signed(p.Variance.Change)))
		}
	}
	switch f := c.Fit; {
	case f == nil:
	case f.Error.Drift:
		out = append(out, fmt.Sprintf("The model fits otherwise than before: the response less its prediction is on average %s.", higher(*f.Error.Change)))
	case f.Loss.Drift:
		out = append(out, fmt.Sprintf("The model fits otherwise than before: the deviance of a row changed by %s.", signed(f.Loss.Change)))
	default:
		out = append(out, "How well it fits has not changed by more than chance.")
	}
	return out
}

func higher(v float64) string {
	if v < 0 {
		return num(-v) + " lower"
	}
	return num(v) + " higher"
}

func driftLead(r *drift.Report, drifted int) string {
	reference := clip(r.Reference, 60)
	if len(r.Changes) == 0 {
		return "There is nothing to compare " + reference + " with yet."
	}
	return fmt.Sprintf("%d of %d periods differ from %s by more than chance.", drifted, len(r.Changes), reference)
}

func (d *driftPage) features(c *drift.Change) {
	d.Compared = clip(c.Period, 60)
	for _, f := range c.Features {
		d.Features = append(d.Features, driftFeature{clip(f.Feature, 60), maybe(f.PSI), maybe(f.Critical)})
	}
}

func newDriftPredictor(r *drift.Report, k int, drawn []*drift.Period) driftPredictor {
	out := driftPredictor{ID: fmt.Sprintf("p%d", k+1), Name: predictionsOr(r.Of.Predictors[k].Name, len(r.Of.Predictors))}
	out.Figures, out.Quiet, out.NotDrawn = driftFigures(r, k, drawn)
	of := changesOf(r)
	if len(r.Changes) == 1 {
		out.Parts = driftParts(&r.Changes[0].Predictors[k])
	}
	for _, p := range drawn {
		m := &p.Predictors[k]
		last := len(m.Mean) - 1
		line := driftPeriod{Name: clip(p.Name, 60), Rows: fmt.Sprint(p.Rows), Mean: num(m.Mean[last]), Variance: num(m.Share[last]), MeanChange: none, VarianceChange: none, Through: none}
		if c := of[p.Name]; c != nil {
			own := &c.Predictors[k]
			line.MeanChange, line.VarianceChange = signed(own.Mean.Change), signed(own.Variance.Change)
			line.MeanDrift, line.VarianceDrift = own.Mean.Drift, own.Variance.Drift
			line.Through = driftThrough(own, func(name string) string { return clip(name, 40) })
		}
		if out.Fit = r.With.Fit != nil && k == 0; out.Fit && p.Fit != nil {
			line.Fit = driftFit(p.Fit, of[p.Name])
		}
		out.Periods = append(out.Periods, line)
	}
	return out
}

func driftFit(f *drift.Fit, c *drift.Change) []driftValue {
	out := []driftValue{{Value: num(f.Error)}, {Value: num(f.Loss)}}
	if c != nil && c.Fit != nil {
		out[0].Drift, out[1].Drift = c.Fit.Error.Drift, c.Fit.Loss.Drift
	}
	return out
}

func changesOf(r *drift.Report) map[string]*drift.Change {
	of := map[string]*drift.Change{}
	for _, c := range r.Changes {
		of[c.Period] = c
	}
	return of
}

func driftParts(p *drift.PredictorChange) (out []driftPart) {
	cells := func(f *drift.Figure) driftCells {
		return driftCells{signed(f.Change), signed(f.Ratio), maybe(f.Adjusted), f.Drift}
	}
	out = append(out, driftPart{"the prediction", cells(&p.Mean), cells(&p.Variance)})
	for j := range p.Parts {
		t := &p.Parts[j]
		out = append(out, driftPart{clip(t.Name, 60), cells(&t.Mean), cells(&t.Share)})
	}
	return out
}

// driftThrough names the parts whose means drifted, as called says.
func driftThrough(p *drift.PredictorChange, called func(name string) string) string {
	var names []string
	for _, t := range p.Drifted() {
		names = append(names, called(t.Name)+" "+signed(t.Mean.Change))
	}
	if len(names) == 0 {
		return none
	}
	return list(names, 6)
}
