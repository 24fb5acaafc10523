package report

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"math"
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
	Reference, Counted, Lead, NotDrawn string
	Facts                              []fact
	Notes                              []string
	Predictors                         []driftPredictor
	Features                           []driftFeature
	Compared                           string // the period that Features are of
}

type driftPredictor struct {
	ID, Name string
	Figures  []driftFigure
	NotDrawn string
	Parts    []driftPart   // of two periods, what changed by part
	Periods  []driftPeriod // of several, a line each
}

type driftPeriod struct {
	Name, Rows, Mean, MeanChange, Variance, VarianceChange, Through string
	MeanDrift, VarianceDrift                                        bool
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

// maxPeriods is how many periods are drawn and listed.
const maxPeriods = 400

func newDriftPage(r *drift.Report) *driftPage {
	out := &driftPage{Reference: clip(r.Reference, 60), Counted: clean(r.Counted)}
	drifted := 0
	for _, c := range r.Changes {
		if c.Drift() {
			drifted++
		}
		for _, n := range c.Notes {
			if !slices.Contains(out.Notes, n) && len(out.Notes) < 20 {
				out.Notes = append(out.Notes, clip(n, 300))
			}
		}
	}
	var rows int64
	for _, p := range r.Periods {
		rows += p.Rows
	}
	out.Lead = driftLead(r, drifted)
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

func driftLead(r *drift.Report, drifted int) string {
	reference := clip(r.Reference, 60)
	switch {
	case len(r.Changes) == 0:
		return "There is nothing to compare " + reference + " with yet."
	case len(r.Changes) > 1:
		return fmt.Sprintf("%d of %d periods differ from %s by more than chance.", drifted, len(r.Changes), reference)
	case drifted == 1:
		return fmt.Sprintf("%s differs from %s by more than chance.", clip(r.Changes[0].Period, 60), reference)
	}
	return fmt.Sprintf("%s does not differ from %s by more than chance.", clip(r.Changes[0].Period, 60), reference)
}

func (d *driftPage) features(c *drift.Change) {
	d.Compared = clip(c.Period, 60)
	for _, f := range c.Features {
		d.Features = append(d.Features, driftFeature{clip(f.Feature, 60), maybe(f.PSI), maybe(f.Critical)})
	}
}

func newDriftPredictor(r *drift.Report, k int, drawn []*drift.Period) driftPredictor {
	out := driftPredictor{ID: fmt.Sprintf("p%d", k+1), Name: clip(r.Of.Predictors[k].Name, 60)}
	out.Figures, out.NotDrawn = driftFigures(r, k, drawn)
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
			line.Through = driftThrough(own)
		}
		out.Periods = append(out.Periods, line)
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

// driftThrough names the parts whose means drifted.
func driftThrough(p *drift.PredictorChange) string {
	var names []string
	for _, t := range p.Drifted() {
		names = append(names, clip(t.Name, 40)+" "+signed(t.Mean.Change))
	}
	if len(names) == 0 {
		return none
	}
	return list(names, 6)
}

// driftFigure is a part over the periods: above its mean, below its share of the variance.
type driftFigure struct {
	Title, Label, Details string
	Below                 string // what the lower panel shows
	MeanBand, Mean, Share string // paths
	MeanAt, ShareAt       string // heights of the reference; "": none
	Zero                  string // of the share
	MeanTicks, ShareTicks []tick
	XTicks                []tick
	MeanDots, ShareDots   []driftDot
}

// driftDot is a period. Those that drifted are diamonds.
type driftDot struct {
	X, Y, Path string
	Title      string
	Drift      bool
}

// The places of a figure's panels.
const (
	driftLeft, driftRight  = 46, 350
	meanTop, meanBottom    = 14, 124
	shareTop, shareBottom  = 146, 216
	mostDots               = 120
	halfWidthOf95          = 1.959963984540054
	driftXLabels, xLetters = 5, 10
)

// driftFigures are those of the predictor itself and of its parts, the latter on common scales.
func driftFigures(r *drift.Report, k int, drawn []*drift.Period) (out []driftFigure, notDrawn string) {
	terms := r.Of.Predictors[k].Terms
	parts := len(terms) + 1
	means, shares, own, variance := emptySpan(), emptySpan(), emptySpan(), emptySpan()
	for _, p := range append([]*drift.Period{r.With}, drawn...) {
		addMean(&own, &p.Predictors[k], parts)
		variance.add(p.Predictors[k].Share[parts])
		for j := range parts {
			addMean(&means, &p.Predictors[k], j)
			shares.add(p.Predictors[k].Share[j])
		}
	}
	shares.add(0)
	variance.add(0)
	out = append(out, newDriftFigure(r, k, parts, "the prediction", drawn, own, variance))
	if parts > maxFigures {
		notDrawn = fmt.Sprintf("Drawn are the first %d of %d parts, and the unstructured one.", maxFigures-1, parts)
	}
	for j := range parts {
		title := drift.Unstructured
		if j < len(terms) {
			title = terms[j].Name
		}
		if j < maxFigures-1 || j == parts-1 {
			out = append(out, newDriftFigure(r, k, j, title, drawn, means, shares))
		}
	}
	return out, notDrawn
}

func addMean(s *span, m *drift.Moments, j int) {
	s.add(m.Mean[j])
	if half := halfWidthOf95 * math.Sqrt(m.MeanVariance[j]); !notFinite(half) {
		s.add(m.Mean[j] - half)
		s.add(m.Mean[j] + half)
	}
}

func newDriftFigure(r *drift.Report, k, j int, title string, drawn []*drift.Period, means, shares span) driftFigure {
	f := driftFigure{Title: clip(title, 60), Below: "share of the variance"}
	if j > len(r.Of.Predictors[k].Terms) {
		f.Below = "variance"
	}
	f.Label = f.Title + " over the periods: mean above, " + f.Below + " below"
	x := axis{span{-0.5, float64(len(drawn)) - 0.5}, driftLeft, driftRight}
	y := axis{means.drawable().padded(0.06), meanBottom, meanTop}
	z := axis{shares.drawable().padded(0.06), shareBottom, shareTop}
	f.MeanTicks, f.ShareTicks, f.XTicks = y.ticks(5), z.ticks(3), driftTicks(x, drawn)
	f.Zero = px(z.at(0))
	if with := &r.With.Predictors[k]; !notFinite(with.Share[j]) {
		f.MeanAt, f.ShareAt = px(y.at(with.Mean[j])), px(z.at(with.Share[j]))
	}
	f.MeanBand = driftBand(x, y, drawn, func(p *drift.Period) (float64, float64) {
		return p.Predictors[k].Mean[j], halfWidthOf95 * math.Sqrt(p.Predictors[k].MeanVariance[j])
	})
	f.Mean = driftLine(x, y, drawn, func(p *drift.Period) float64 { return p.Predictors[k].Mean[j] })
	f.Share = driftLine(x, z, drawn, func(p *drift.Period) float64 { return p.Predictors[k].Share[j] })
	f.dots(r, k, j, drawn, x, y, z)
	return f
}

// dots marks the periods, those that drifted always and the others if there are few.
func (f *driftFigure) dots(r *drift.Report, k, j int, drawn []*drift.Period, x, y, z axis) {
	of, marked := changesOf(r), [2]int{}
	for i, p := range drawn {
		m := &p.Predictors[k]
		mean, share := false, false
		if c := of[p.Name]; c != nil {
			own := &c.Predictors[k]
			mean, share = own.Mean.Drift, own.Variance.Drift
			if j < len(own.Parts) {
				mean, share = own.Parts[j].Mean.Drift, own.Parts[j].Share.Drift
			}
		}
		add := func(to *[]driftDot, at axis, v float64, drifted bool, n *int) {
			if drifted {
				*n++
			}
			if !notFinite(v) && (drifted || len(drawn) <= mostDots) {
				cx, cy := x.at(float64(i)), at.at(v)
				*to = append(*to, driftDot{px(cx), px(cy), "M" + px(cx) + " " + px(cy-4.5) + "l4.5 4.5-4.5 4.5-4.5-4.5z", clip(p.Name, 40) + ": " + num(v), drifted})
			}
		}
		add(&f.MeanDots, y, m.Mean[j], mean, &marked[0])
		add(&f.ShareDots, z, m.Share[j], share, &marked[1])
	}
	f.Details = fmt.Sprintf("drift of the mean in %d, of the variance in %d of %d periods", marked[0], marked[1], len(r.Changes))
}

// driftTicks labels some periods.
func driftTicks(x axis, drawn []*drift.Period) (out []tick) {
	step := max(1, (len(drawn)+driftXLabels-1)/driftXLabels)
	for i := 0; i < len(drawn); i += step {
		out = append(out, tick{At: px(x.at(float64(i))), Label: clip(drawn[i].Name, xLetters)})
	}
	return out
}

func driftLine(x, y axis, drawn []*drift.Period, value func(*drift.Period) float64) string {
	var p path
	down := false
	for i, period := range drawn {
		v := value(period)
		switch {
		case notFinite(v):
			down = false
			continue
		case down:
			p.line(x.at(float64(i)), y.at(v))
		default:
			p.move(x.at(float64(i)), y.at(v))
		}
		down = true
	}
	return p.String()
}

// driftBand is a bar of 95 % at each period, as wide as there is room.
func driftBand(x, y axis, drawn []*drift.Period, value func(*drift.Period) (v, half float64)) string {
	var p path
	wide := 0.8 * (x.at(1) - x.at(0))
	for i, period := range drawn {
		if v, half := value(period); !notFinite(half) {
			p.bar(x.at(float64(i))-wide/2, y.at(v+half), wide, y.at(v-half)-y.at(v+half))
		}
	}
	return p.String()
}
