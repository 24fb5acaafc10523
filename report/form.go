package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/label"
)

// Form is a page at which somebody enters a row for the model of a result, and sees how the parts of its prediction add
// up. It needs no script. Names, numbers and levels are shown as Result.Labels says.
type Form struct {
	Result  *decompose.Result
	Action  string  // where the fields are sent, by POST
	Fields  []Field // what the model reads
	Row     *ExplainedRow
	Typical bool // Row is of the values that a form begins with, and not of somebody's
	// Fault is the error in the input; "": nothing.
	Fault         string
	Models, Links []Link // other models of the server, this one among them; pages that tell more
}

// Link is an address, and what is there.
type Link struct {
	Address, Text string
	Here          bool // it is this page
}

// Field is a column that is entered. Of Levels one is chosen; other texts and numbers are typed.
type Field struct {
	Name, Column string // what the field, and the column, is called
	Text         bool
	Levels       []string    // values of the data
	Seen         []string    // texts that are suggested, where Levels are not known
	Range        *[2]float64 // of the data's numbers in training; nil: not known
	Hint         string      // what else is to be known of it
	Shape        []int       // of a row, if the column holds arrays, which are entered as nested lists
	// Value is what stands in the field: "" where the value is missing, of levels LevelValue of one; numbers as they are shown.
	Value string
}

// LevelValue is what a field's value is for a level: no level is the same as a missing value.
func LevelValue(level string) string { return "=" + level }

// NumberValue is what a field's value is for a number of its column: as it is shown, to five digits, or to fewer that
// tell hundreds of numbers of the range apart.
func (f *Field) NumberValue(l *label.Labels, v float64) string {
	v = l.Shown(f.Column, v)
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	digits := 5
	if f.Range != nil {
		lo, hi := l.Scale(f.Column).Range(f.Range[0], f.Range[1])
		if over := math.Log10(math.Abs(v)) - math.Log10((hi-lo)/3000); over < 0 {
			return "0"
		} else if over < 4 {
			digits = max(1, int(math.Ceil(over)))
		}
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return ""
	}
	return strconv.FormatFloat(short, 'g', -1, 64)
}

// FormPolicy is the Content-Security-Policy of forms: nothing is loaded or run, and no other page frames them.
func FormPolicy() (string, error) {
	style, err := formStyle()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'", nil
}

// formStyle is the style of reports, with the styles for forms added.
func formStyle() (string, error) {
	var b strings.Builder
	for _, name := range []string{"style.css", "controls.css", "form.css"} {
		text, err := templates.ReadFile("templates/" + name)
		if err != nil {
			return "", fmt.Errorf("report: %w", err)
		}
		b.Write(text)
	}
	return b.String(), nil
}

// Write writes the page. A failure writes nothing.
func (f *Form) Write(w io.Writer) error {
	t := template.New("form")
	for _, name := range []string{"form.html", "rows.html"} {
		text, err := templates.ReadFile("templates/" + name)
		if err == nil {
			_, err = t.New(name).Parse(string(text))
		}
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	style, err := formStyle()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "form.html", f.page(template.CSS(style))); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("report: writing the page: %w", err)
	}
	return nil
}

// formPage is what the template form.html shows.
type formPage struct {
	*Form
	Style       template.CSS
	Title, What string
	Shown       []shownField
	Outcomes    []outcomeLine // predictions
	Bars        bool          // they are probabilities of classes, the largest first
	Waterfalls  []waterfall
	More        []waterfall // of other predictors
}

func (f *Form) page(style template.CSS) *formPage {
	r := f.Result.Labelled()
	p := &formPage{Form: f, Style: style, Title: pageTitle(r), What: newHeadline(r).What}
	for i := range f.Fields {
		p.Shown = append(p.Shown, f.Fields[i].shown(f.Result.Labels, i))
	}
	if f.Row == nil || len(f.Row.Predictors) != len(r.Predictors) {
		return p
	}
	row := decompose.Example{Row: 1}
	for _, own := range f.Row.Predictors {
		row.Parts = append(row.Parts, decompose.ExampleParts{Unstructured: own.Unstructured, Eta: own.Eta})
	}
	first := shownPredictors(r, row)
	for k := range r.Predictors {
		w := f.waterfall(r, row, k)
		if slices.Contains(first, k) {
			p.Waterfalls = append(p.Waterfalls, w)
		} else {
			p.More = append(p.More, w)
		}
		if responseOf(r, k) == nil {
			p.Outcomes = append(p.Outcomes, newOutcome(r, k, row))
		}
	}
	values := slices.Clone(f.Row.Response)
	if p.Bars = len(r.Sets) == 1 && len(values) > 2 && len(p.Outcomes) == 0; p.Bars {
		slices.SortStableFunc(values, func(a, b ResponseValue) int { return cmp.Compare(b.Value, a.Value) })
	}
	for _, v := range values {
		p.Outcomes = append(p.Outcomes, outcomeLine{clip(v.Name, 80), num(v.Value), px(1000 * v.Value)})
	}
	return p
}

// outcomeLine is a prediction, and how wide its bar is where it is a probability.
type outcomeLine struct{ Name, Value, W string }

// newOutcome is a predictor, which is the response itself where its link is the identity.
func newOutcome(r *decompose.Result, k int, row decompose.Example) outcomeLine {
	d, eta := &r.Predictors[k], row.Parts[k].Eta
	if len(r.Predictors) == 1 && r.Response != "" && r.Offset == "" && d.Link != nil && d.Link.Identity() {
		return outcomeLine{Name: clip(r.Response, 40), Value: responseText(r, eta)}
	}
	return outcomeLine{Name: clip(d.Name, 40), Value: num(eta)}
}

// waterfall is that of a predictor of the row.
func (f *Form) waterfall(r *decompose.Result, row decompose.Example, k int) waterfall {
	var terms []waterTerm
	for _, t := range f.Row.Predictors[k].Reasons {
		terms = append(terms, waterTerm{clean(t.Label), clip(t.Label, 80), clip(t.Values, 120), t.Contribution, t.SE})
	}
	w := waterfallOf(r, row, k, terms)
	w.Caption = "How the parts add up to " + clip(r.Predictors[k].Name, 40)
	return w
}

// shownField is a field as the page has it.
type shownField struct {
	ID, Name, Label, Value string
	Kind                   string // select, array, text or number
	Options                []option
	Seen                   []string
	Hint                   string
	Outside                bool // of the range in training
}

type option struct {
	Value, Text string
	Selected    bool
}

func (f *Field) shown(l *label.Labels, i int) shownField {
	s := shownField{ID: "f" + strconv.Itoa(i), Name: f.Name, Label: clean(l.Axis(f.Column)), Value: f.Value, Kind: "number", Hint: f.Hint}
	switch {
	case f.Shape != nil:
		s.Kind, s.Hint = "array", "numbers as nested lists, "+shapeText(f.Shape)
	case f.Levels != nil:
		s.Kind = "select"
		s.Options = append(s.Options, option{"", "missing", f.Value == ""})
		for _, level := range f.Levels {
			s.Options = append(s.Options, option{LevelValue(level), clean(l.Level(f.Column, level)), f.Value == LevelValue(level)})
		}
	case f.Text:
		s.Kind, s.Seen = "text", f.Seen
	case f.Range != nil:
		lo, hi := l.Scale(f.Column).Range(f.Range[0], f.Range[1])
		bound := func(v float64) string { // 0 for what is nothing next to the range
			if math.Abs(v) < (hi-lo)/2000 {
				return "0"
			}
			return trimmed(num(v))
		}
		least, largest := bound(lo), bound(hi)
		s.Hint = least + " to " + largest + " in training"
		if v, err := strconv.ParseFloat(f.Value, 64); err == nil && (v < lo && bound(v) != least || v > hi && bound(v) != largest) {
			s.Outside, s.Hint = true, "outside "+least+" to "+largest+", as it was in training"
		}
	}
	return s
}

// shapeText is a shape as people write it: 3 x 64 x 64.
func shapeText(shape []int) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = strconv.Itoa(d)
	}
	return strings.Join(parts, " x ")
}
