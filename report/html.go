package report

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
)

//go:embed templates
var templates embed.FS

// How many effects of a predictor are pictures, and how many of all together, so that a page of
// ten classes does not become ten times as large; the tables have all.
const (
	maxFigures = 40
	allFigures = 100
)

// figuresOf is how many effects of each of k predictors are drawn.
func figuresOf(k int) int { return min(maxFigures, max(6, allFigures/max(k, 1))) }

// Write writes r as one HTML page (report.html) that loads nothing. It is complete without
// its script, which only adds (see island); the page's policy allows that one by its hash.
// effects are those of r (see Effects), from which the pictures are made; nil: a page
// without pictures. Names are what r.Labels says. Equal results give equal bytes.
// html/template escapes names that come from files. A failure writes no half page.
func Write(w io.Writer, r *decompose.Result, effects []Effect) error {
	t := template.New("report")
	for _, name := range []string{"page.html", "predictor.html", "figures.html", "orders.html", "rows.html", "overview.html", "classes.html", "style.css", "controls.css"} {
		text, err := templates.ReadFile("templates/" + name)
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		if _, err := t.New(name).Parse(string(text)); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	r, effects = labelled(r, atWhole(r, effects))
	p := newPage(r, effects)
	var err error
	if p.Island, err = newIsland(r, p.Predictors).element(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if p.Script, p.ScriptHash, err = scriptElement(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	var b bytes.Buffer // so that a failure leaves no half page
	if err := t.ExecuteTemplate(&b, "page.html", p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("report: writing the page: %w", err)
	}
	return nil
}

// maxSame is how many names a warning lists that is said of several things.
const maxSame = 40

// page is what the template page.html shows; numbers are texts already.
type page struct {
	Title       string
	Facts       []fact
	Headline    headline
	Prediction  []string // how well the network predicts the response, for statisticians
	Together    []string // headlines of predictors that belong together
	Bound       []bound
	Band        *fact // what the bands are; nil: there are none
	Warnings    []string
	Predictors  []predictor
	Several     bool
	Diagnostics string
	CreatedBy   string
	Format      string
	Penalised   bool
	Likelihood  bool
	Networks    *networks // nil: one network
	Formulas    []formula
	Reads       string    // columns and how they are bound
	Rows        []example // drawn of the stored ones
	Stored      int       // how many there are
	Named       bool      // rows have names
	Overview    *overview // of terms by predictors; nil: few of both
	Classes     []classPictures
	Features    []DeepFeatures
	Responses   bool // some predictor has a scale other than the link's
	Before      bool // some picture has a curve before
	Island      template.HTML
	Script      template.HTML
	ScriptHash  string
}

// fact is a named value, and how to read it.
type fact struct{ Name, Value, Reading string }

func newPage(r *decompose.Result, effects []Effect) *page {
	p := &page{
		Title: pageTitle(r), Headline: newHeadline(r), Facts: facts(r), Several: len(r.Predictors) > 1,
		CreatedBy: clean(r.CreatedBy), Format: clean(r.Format), Penalised: r.Method == decompose.PHOGAM,
		Diagnostics: indented(r.Diagnostics), Prediction: predictionWords(r), Together: together(r), Bound: bounds(r),
	}
	p.Networks = newNetworks(r)
	if name, reading := bandWords(r); name != "" {
		p.Band = &fact{Name: name, Reading: reading}
	}
	for _, n := range Grouped(r.Warnings, r) {
		text := n.Text
		if also := n.Also(maxSame); also != "" {
			text += " (" + also + ")"
		}
		p.Warnings = append(p.Warnings, clean(text))
	}
	drawn := newChoice(r, effects)
	for k := range r.Predictors {
		p.Predictors = append(p.Predictors, newPredictor(r, k, effects, drawn))
		p.Likelihood = p.Likelihood || p.Predictors[k].Importance.Likelihood
	}
	p.Rows, p.Formulas = newExamples(r), formulaWords(r)
	if r.Examples != nil {
		p.Stored = len(r.Examples.Rows)
		p.Named = slices.ContainsFunc(r.Examples.Rows, func(row decompose.Example) bool { return row.ID != "" })
	}
	p.Reads = readsWords(r)
	for k := range r.Predictors {
		p.Responses = p.Responses || outcomeOf(r, k).told != differences
		p.Before = p.Before || p.Predictors[k].Before
	}
	p.Features = NewDeepFeatures(r)
	p.Overview, p.Classes = newOverview(r, p.Predictors), newClassPictures(r, effects, drawn)
	return p
}

// formula is one, and how it begins if it is long.
type formula struct{ Text, Short string }

// formulaWords are the formulas as they were used, "." expanded.
func formulaWords(r *decompose.Result) (out []formula) {
	for _, f := range r.Formulas {
		own := formula{Text: clip(f, 20_000)}
		if short := clip(f, 200); short != own.Text {
			own.Short = short
		}
		out = append(out, own)
	}
	return out
}

// modelFile reads the fields of Result.Model that the command writes; both are
// empty if the caller wrote something else.
func modelFile(r *decompose.Result) (path, sha256 string) {
	var m struct{ Path, Address, SHA256 string }
	if json.Unmarshal(r.Model, &m) != nil {
		return "", ""
	}
	if m.Address != "" {
		return m.Address, "" // the hash is of what is asked there
	}
	return m.Path, m.SHA256
}

// predictionsOf names the columns whose predictions were decomposed, with their link, and their classes;
// "" of a model with a file.
func predictionsOf(r *decompose.Result) string {
	type columns struct{ Predictions []string }
	var m struct {
		columns
		Address string
		Link    string
		Members []columns
		Classes struct{ Heads []struct{ Classes []string } }
	}
	if json.Unmarshal(r.Model, &m) != nil || m.Link == "" {
		return ""
	}
	var models []string
	for _, one := range append([]columns{m.columns}, m.Members...) {
		if len(one.Predictions) > 0 {
			models = append(models, list(one.Predictions, 6))
		}
	}
	what := "columns "
	if m.Address != "" {
		what = "answers "
	}
	text := what + strings.Join(models, "; ") + ", link " + clip(m.Link, 20)
	for _, h := range m.Classes.Heads {
		text += ", of the classes " + list(h.Classes, 6)
	}
	return text
}

// facts say what was decomposed and how.
func facts(r *decompose.Result) []fact {
	var out []fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, fact{Name: name, Value: value})
		}
	}
	path, sha := modelFile(r)
	if r.Networks == nil { // of several it is the folder that they have in common
		add("model", clip(path, 200))
	}
	if len(sha) > 12 {
		sha = sha[:12] + "…"
	}
	add("sha256", clean(sha))
	add("predictions", predictionsOf(r))
	if n := r.Networks; n != nil {
		add("networks", fmt.Sprintf("%s, which differ by %s", list(n.Names, 6), clip(string(n.From), 20)))
	}
	add("rows", count(r.Rows))
	add("method", methodWords(r))
	add("weights", clip(r.Weights, 60))
	if r.Family != "" {
		add("response", clip(r.Response, 60)+" ("+clip(r.Family, 40)+")")
		if r.Event != "" {
			add("events", clip(r.Event, 60))
		}
	}
	add("offset", clip(r.Offset, 60))
	if r.Dispersion != nil {
		add("dispersion", num(*r.Dispersion))
	}
	return out
}

func methodWords(r *decompose.Result) string {
	var s string
	switch r.Method {
	case decompose.PHO:
		s = "PHO, orthogonal projection"
	case decompose.PHOGAM:
		s = "PHOGAM, penalised projection"
	default:
		s = clip(string(r.Method), 20)
	}
	if r.PHONAM != "" {
		s += ", PHONAM on " + clip(r.PHONAM, 20) + " bases"
	}
	if r.Smoothing != "" {
		s += ", smoothing by " + clip(strings.ToUpper(r.Smoothing), 20)
	}
	if r.Refit != "" {
		s += ", refit of the " + clip(r.Refit, 20)
	}
	return s
}

// indented lays out JSON to be read; nothing for none.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Indent(&b, raw, "", "  ") != nil {
		return ""
	}
	switch s := b.String(); s {
	case "null", "{}", "[]":
		return ""
	default:
		lines := strings.Split(s, "\n")
		for i, line := range lines {
			lines[i] = clip(line, 500)
		}
		return strings.Join(lines, "\n")
	}
}
