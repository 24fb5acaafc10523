package report

import (
	"cmp"
	"math"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// outcome is what effects on a predictor are told and drawn as: the response of a row whose other
// parts are all at their mean, where the predictor's link is known and not the identity; else the
// difference that an effect makes to the predictor.
type outcome struct {
	what  string   // is predicted: "cnt", "the probability of churn", "eta"
	title string   // beside an axis of it
	link  string   // beside an axis of differences on the scale of the link
	unit  string   // of the response, where it is one; "": none is known
	told  telling  // how values are written
	base  float64  // the value at an effect of 0
	of    response // only its function is used; the zero value: differences
}

// output is what a predictor is called that has no name and no response.
const output = "the output"

type telling int

// How values are told.
const (
	differences telling = iota // from the mean, with a sign
	levels                     // of the response
	chances                    // probabilities
	ratios                     // to a row whose parts are all at their mean
)

// outcomeOf is what is told of predictor k.
func outcomeOf(r *decompose.Result, k int) outcome {
	d := &r.Predictors[k]
	name := clip(d.Name, 40)
	if len(r.Predictors) == 1 && d.Name == "eta" { // nobody has given it a name
		name = output
	}
	o := outcome{what: name, link: "contribution to " + name}
	ofResponse := r.Response != "" && k == 0 && len(r.Sets) == 0
	if ofResponse {
		o.unit = outcomeUnit(r)
	}
	switch s := responseOf(r, k); {
	case s != nil:
		o.of = *s
		o.what, o.told = s.Name, levels
		if s.Offset && k == 0 {
			o.what += " at an offset of 0"
		}
		switch of := quantityOf(d); {
		case of == family.HazardRatio:
			o.what, o.told, o.unit, o.base = "the hazard of "+clip(cmp.Or(r.Event, r.Response, "the event"), 40), ratios, "", 1
			o.title, o.link = "hazard ratio", "log of the hazard ratio"
			return o
		case s.With != nil || of == family.Probability || of == family.ClassProbability || of == family.ExtraZero:
			o.what, o.told, o.unit, o.link = "the "+o.what, chances, "", "contribution to the log-odds"
			if s.With != nil || s.Function != "sigmoid" {
				o.link = "contribution to " + name
			}
		case of == "":
			o.what, o.unit, o.link = name, "", "contribution to "+name+" on the scale of its link"
		case of == family.Mean && r.Response != "":
			o.what = strings.Replace(o.what, string(family.Mean)+" of ", "", 1)
			o.link = "contribution to the " + logOf(s.Function) + o.what
		}
		o.title = strings.TrimPrefix(withUnit(o.what, o.unit), "the ")
		if s.With == nil {
			o.base = s.value(d.Intercept)
		}
	case ofResponse && d.Link != nil && d.Link.Identity() && d.Link.Of == family.Mean:
		o.what = clip(r.Response, 40)
		o.link = withUnit("difference in "+o.what, o.unit)
		o.title = o.link
	case ofResponse && d.Link != nil && d.Link.Name == logTime:
		log := family.Link{Name: "log"}
		o.of = response{Function: log.Function(), Relative: true, EffectsOnly: true, Name: "ratio of times", link: log}
		o.what, o.told, o.unit, o.base = clip(r.Response, 40), ratios, "", 1
		o.title, o.link = "ratio of "+o.what, "contribution to the log of "+o.what
	case ofResponse && ordered(d): // logit P(Y > k) = eta - theta_k, of every k
		o.what, o.unit, o.link = "the log-odds of a higher "+clip(r.Response, 40), "", "difference in log-odds"
		o.title = o.link
	default:
		o.unit, o.title = "", o.link
	}
	return o
}

// logTime is the link of a location of log times (family): effects are ratios of times.
const logTime = "identity of log time"

// ordered tells the predictor of ordered classes.
func ordered(d *decompose.Predictor) bool { return d.Link != nil && d.Link.Function() == "ordinal" }

func logOf(function string) string {
	if function == "exp" {
		return "log of "
	}
	return ""
}

func quantityOf(d *decompose.Predictor) family.Quantity {
	if d.Link == nil {
		return ""
	}
	return d.Link.Of
}

func withUnit(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + " (" + unit + ")"
}

// outcomeUnit is the unit of the response, if its numbers are the model's own.
func outcomeUnit(r *decompose.Result) string {
	if !r.Labels.IsEmpty() {
		for column, c := range r.Labels.Columns {
			if r.Labels.Feature(column) == r.Response && c.BackTransform != nil {
				return ""
			}
		}
	}
	return clip(responseUnit(r), 20)
}

// UnitOf is the unit in which effects on predictor k add up, of the response if they are its own; "" where none is known. r is
// Labelled.
func UnitOf(r *decompose.Result, k int) string {
	o := outcomeOf(r, k)
	return o.linkUnit()
}

// linkUnit is what effects are measured in on the scale of the link, in which they add up.
func (o *outcome) linkUnit() string {
	switch {
	case o.told == differences:
		return o.unit
	case o.told == chances && o.of.Function == "sigmoid":
		return "log-odds"
	case o.told == ratios, o.of.With != nil, o.told == levels && o.of.Function == "exp":
		return "logarithms"
	}
	return "units of the link"
}

// axisWords say what the pictures show.
func (o *outcome) axisWords() string {
	switch o.told {
	case differences:
		return "how far each value moves " + o.what + " from its mean over these rows"
	case ratios:
		return o.what + " at each value, as a ratio to that of a row whose other columns count as they do on average"
	}
	return o.what + " at each value, in a row whose other columns count as they do on average"
}

// value is the response at eta, by a link of one number.
func (s *response) value(eta float64) float64 { return s.link.Inverse(eta) }

// at is the response at an effect of v; of softmax NaN: it hangs on the other classes, too.
func (o *outcome) at(intercept, v float64) float64 {
	switch {
	case o.of.With != nil:
		return math.NaN()
	case o.told == ratios:
		return o.of.value(v)
	}
	return o.of.value(intercept + v)
}

func (o *outcome) text(v float64) string {
	switch o.told {
	case chances:
		return rough(v)
	case ratios:
		return "×\u00a0" + digits(v, 2)
	case differences:
		if v > 0 {
			return "+" + o.size(v)
		}
	}
	return o.size(v)
}

// size writes a number with the unit.
func (o *outcome) size(v float64) string { return strings.TrimSpace(plain(v) + " " + o.unit) }

// plain is a number of two significant digits, or all before the point.
func plain(v float64) string { return digits(v, 2) }

// rough is a share in whole per cent, or with as many digits as tell it from none and all.
func rough(v float64) string {
	if a := math.Abs(v); a > 0.02 && a < 0.98 {
		return strings.Replace(percent(math.Round(100*v)/100), ".0", "", 1)
	}
	return percent(v)
}
