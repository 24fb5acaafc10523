package command

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/importance"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/report"
)

// manyPredictors is from how many predictors on a summary is a line for each, unless all of
// it is asked for.
const manyPredictors = 5

// summaryCoefficients is how many coefficients of a predictor a summary lists.
const summaryCoefficients = 40

// page is a summary in the layout of mgcv's summary.gam.
type page struct {
	w     io.Writer
	r     *decompose.Result
	width int
	full  bool // all terms, reasons and warnings
	cut   bool // the middle of a name was left out
}

// writePage writes what the decomposition found, in the places where users of mgcv look.
func writePage(w io.Writer, r *decompose.Result, full bool) error {
	width := pageWidth
	if n := terminalWidth(w); n > 0 {
		width = min(n, widest)
	}
	w = paper{w, width}
	r = r.Labelled()
	p := &page{w: w, r: r, width: width, full: full}
	p.heading()
	if len(r.Sets) > 0 {
		p.gap()
		writeSets(w, r)
	}
	if len(r.Predictors) >= manyPredictors && !full {
		p.gap()
		writeOverview(w, r)
	} else {
		for k := range r.Predictors {
			if err := p.predictor(k); err != nil {
				return err
			}
		}
	}
	p.fit()
	p.method()
	p.gap()
	writeFindings(w, r, full)
	writeBound(w, wiring.ReferenceOf(r))
	writeWarnings(w, r, full)
	if p.cut {
		p.text("", "Three dots stand for the middle of long names; --full has them whole.")
	}
	return nil
}

// name is a name in so many characters. What is left out of it is told at the end.
func (p *page) name(name string, width int) string {
	if p.full {
		width = wordLength
	}
	short := wiring.Shorten(name, width)
	p.cut = p.cut || short != name
	return short
}

func (p *page) gap() { fmt.Fprintln(p.w) }

// text writes sentences, wrapped.
func (p *page) text(indent string, text string) {
	writeWrapped(p.w, p.width, indent, len(indent), text)
}

// heading is family, link and formula.
func (p *page) heading() {
	r, ref := p.r, wiring.ReferenceOf(p.r)
	family, link := r.Family, linkWords(r)
	if family == "" {
		family, link = "none: no response was named", cmp.Or(ref.Link, "none: predictors are shown as the model has them")
	}
	for _, columns := range ref.Predicted() {
		text := "Predictions: " + listed(columns, 10)
		if ref.Classes != nil {
			text += ", of the classes " + listed(ref.Classes.Heads[0].Classes, 10)
		}
		p.text("", text)
	}
	fmt.Fprintf(p.w, "Family: %s\n", shown(family))
	if link != "" {
		fmt.Fprintf(p.w, "Link function: %s\n", link)
	}
	p.gap()
	fmt.Fprintln(p.w, "Formula:")
	var last string
	for k := range r.Predictors {
		text := "~ " + p.formula(&r.Predictors[k])
		if text == last { // as those of classes are
			continue
		}
		last = text
		if k == 0 && r.Response != "" {
			text = shown(r.Response) + " " + text
		}
		writeWrapped(p.w, p.width, "", 4, text)
	}
	if r.Offset != "" {
		fmt.Fprintf(p.w, "Offset: %s\n", shown(r.Offset))
	}
	if r.Weights != "" {
		fmt.Fprintf(p.w, "Weights: %s\n", shown(r.Weights))
	}
}

// linkWords name the links of r's predictors, those of classes once and with the convention that
// makes them unique; "" where the result does not say.
func linkWords(r *decompose.Result) string {
	var names []string
	for i := range r.Predictors {
		d := &r.Predictors[i]
		switch {
		case d.Link == nil:
			return ""
		case d.Link.Of == family.ClassProbability && !d.Link.Known():
			return d.Link.String() + ", " + cmp.Or(shown(d.Convention), "as the model has them")
		}
		names = append(names, d.Link.String())
	}
	return strings.Join(names, " ")
}

// formula are the names of the terms and of what is left.
func (p *page) formula(d *decompose.Predictor) string {
	var parts []string
	for _, t := range d.Terms {
		if len(parts) == summaryTerms && !p.full {
			parts = append(parts, fmt.Sprintf("(%d terms more)", len(d.Terms)-len(parts)))
			break
		}
		parts = append(parts, p.name(shown(t.Name), summaryName))
	}
	if d.Variance.Unstructured > 0 || len(parts) == 0 {
		parts = append(parts, "unstructured")
	}
	return strings.Join(parts, " + ")
}

// predictor is the two tables of predictor k.
func (p *page) predictor(k int) error {
	d := &p.r.Predictors[k]
	if len(p.r.Predictors) > 1 {
		fmt.Fprintf(p.w, "\n--- %s ---\n", shown(d.Name))
	}
	p.gap()
	if err := p.coefficients(k); err != nil {
		return err
	}
	if len(d.Terms) > 0 {
		p.gap()
		fmt.Fprintln(p.w, "Terms:")
		writeTerms(p.w, d, p.full)
	}
	writeAgreement(p.w, p.r, d)
	p.split(d)
	return nil
}

// coefficients is the table of the parametric part.
func (p *page) coefficients(k int) error {
	all, err := p.r.Coefficients(k)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.w, "Parametric coefficients:")
	list := all
	if len(list) > summaryCoefficients && !p.full {
		list = list[:summaryCoefficients]
	}
	rows := [][]string{{"", "Estimate", "Std. Error", "2.5 %", "97.5 %", "Before"}}
	q := decompose.PointwiseQuantile(p.r.BandDF())
	number, factors := columnFormat(list), false
	for _, c := range list {
		row := []string{p.name(shown(coefficientName(c, !p.r.Labels.IsEmpty())), 2*summaryName/3), number(c.Estimate), number(c.SE), number(c.Estimate - q*c.SE), number(c.Estimate + q*c.SE), number(c.Before)}
		rows = append(rows, row)
		factors = factors || c.Level != ""
	}
	writeTable(p.w, rows, 1)
	if rest := len(all) - len(list); rest > 0 {
		fmt.Fprintf(p.w, "  and %d more (--full)\n", rest)
	}
	p.text("  ", p.coefficientWords(&p.r.Predictors[k], factors))
	if scaled := p.scaled(k); len(scaled) > 0 {
		p.text("  ", "Slopes are per unit of the data's own numbers, not of those that the labels show: "+strings.Join(scaled, ", ")+".")
	}
	return nil
}

// coefficientName is what R calls a coefficient; with labels a level stands apart from its column.
func coefficientName(c decompose.Coefficient, labelled bool) string {
	switch {
	case c.Term == "":
		return "(Intercept)"
	case c.Column != "":
		return c.Term + "[" + c.Column + "]"
	case c.Level != "" && labelled:
		return c.Term + " = " + c.Level
	}
	return c.Term + c.Level
}

// scaled are the terms among the coefficients of predictor k whose column is shown in other
// numbers than the data's.
func (p *page) scaled(k int) (names []string) {
	d := &p.r.Predictors[k]
	for j := range d.Terms {
		t := &d.Terms[j]
		if d.Parametric(j) && t.Kind == decompose.Linear && slices.ContainsFunc(t.Term().Columns(), func(c string) bool { return p.r.Labels.Scale(c) != nil }) {
			names = append(names, shown(t.Name))
		}
	}
	return names
}

// coefficientWords say what the columns are.
func (p *page) coefficientWords(d *decompose.Predictor, factors bool) string {
	text := "Before: in the model as trained. Std. Error: " + p.errorWords()
	if d.Scale == 0 && p.r.Networks == nil {
		text = "Std. Error: 0, as the model is these terms and nothing else: what it says does not hang on these rows."
	}
	if factors {
		text += " Levels of a factor are differences to its first one."
	}
	return text
}

// errorWords say what standard errors are, and why there is no test.
func (p *page) errorWords() string {
	switch {
	case p.r.Bands == decompose.NoBands:
		return "none was asked for (--bands)."
	case p.r.Networks != nil:
		return "of other rows, given a model, and between the networks. No p-values: a model is no null hypothesis."
	case p.r.Bands == decompose.RowsBands:
		return "how far other rows of the same kind would move it, given this model and how these rows split interactions from their margins (robust). No p-values: what is tested in a regression is the response, and here is the model."
	case p.r.Bands == decompose.RobustBands:
		return "how far other rows of the same kind would move it, given this model (robust). No p-values: what is tested in a regression is the response, and here is the model."
	}
	return "of the projection, given this model, which takes what is left for noise. No p-values: what is tested in a regression is the response, and here is the model."
}

// split says how the variance of the predictor splits, and how smooth terms were made so.
func (p *page) split(d *decompose.Predictor) {
	before, after := importance.ExplainedVariance(d.VarianceBefore), importance.ExplainedVariance(d.Variance)
	p.gap()
	fmt.Fprintf(p.w, "Structured = %s (%s before)   Unstructured = %s   2 x covariance = %s\n",
		wiring.Percent(after.Structured), wiring.Percent(before.Structured), wiring.Percent(after.Unstructured), wiring.Percent(after.TwiceCovariance))
	name := shown(d.Name)
	p.text("  ", "of the variance of "+name+", the model's predictor; share is Cov(term, "+name+") / Var("+name+")")
	if words := report.DeepWords(d); words != "" {
		p.text("", breaking(words))
	}
	var line []string
	if d.Score != nil {
		line = append(line, fmt.Sprintf("%s = %.5g", scoreName(p.r.Smoothing), *d.Score))
	}
	line = append(line, fmt.Sprintf("Scale est. = %.5g", d.Scale), fmt.Sprintf("edf = %.2f", d.EDF), fmt.Sprintf("n = %d", p.r.Rows))
	if d.Rank < d.Columns {
		line = append(line, fmt.Sprintf("Rank: %d/%d", d.Rank, d.Columns))
	}
	writeItems(p.w, p.width, line)
}

// scoreName is what mgcv calls a criterion.
func scoreName(smoothing string) string {
	switch smoothing {
	case "reml", "ml":
		return "-" + strings.ToUpper(smoothing)
	}
	return strings.ToUpper(smoothing)
}

// fit says how well the network predicts the response, where mgcv has the fit of the model.
func (p *page) fit() {
	f := p.r.Prediction
	if f == nil {
		return
	}
	var line []string
	add := func(name, value string) { line = append(line, name+" = "+value) }
	if f.R2 != nil {
		add("R-sq.", fmt.Sprintf("%.3g", *f.R2))
	}
	if f.DevianceExplained != nil {
		add("Deviance explained", wiring.Percent(*f.DevianceExplained))
	}
	if f.RMSE != nil {
		add("RMSE", fmt.Sprintf("%.4g", *f.RMSE))
	}
	if f.Accuracy != nil {
		add("Right class", wiring.Percent(*f.Accuracy))
	}
	if f.Frequent != nil {
		add("most frequent class", wiring.Percent(*f.Frequent))
	}
	if f.Concordance != nil {
		add("C-index", fmt.Sprintf("%.3f", *f.Concordance))
	}
	if f.LogLikGain != nil {
		add("logLik a row, above "+nothing(p.r), fmt.Sprintf("%.4g", *f.LogLikGain))
	}
	if p.r.Dispersion != nil {
		add("Dispersion", fmt.Sprintf("%.4g", *p.r.Dispersion))
	}
	if len(line) == 0 {
		return
	}
	p.gap()
	writeItems(p.w, p.width, line)
	p.text("  ", fmt.Sprintf("of %s by %s, which the split leaves as it is", shown(p.r.Response), whose(p.r)))
}

// whose is who predicts.
func whose(r *decompose.Result) string {
	if r.Networks != nil {
		return "the networks' mean predictor"
	}
	return "the model"
}

// method says how the split was made.
func (p *page) method() {
	text := strings.ToUpper(string(p.r.Method))
	if p.r.PHONAM != "" {
		text += ", PHONAM on " + p.r.PHONAM + " bases"
	}
	if p.r.Smoothing != "" {
		text += ", smoothing parameters by " + strings.ToUpper(p.r.Smoothing)
	}
	fmt.Fprintf(p.w, "Method: %s\n", text)
}

// columnFormat writes the numbers of a column of coefficients: as many decimals as show
// three digits of the smallest standard error.
func columnFormat(all []decompose.Coefficient) func(float64) string {
	least := math.Inf(1)
	for _, c := range all {
		if v := cmp.Or(c.SE, math.Abs(c.Estimate)); v > 0 && v < least {
			least = v
		}
	}
	decimals := 6
	if !math.IsInf(least, 1) {
		decimals = min(max(2-int(math.Floor(math.Log10(least))), 0), 6)
	}
	return func(v float64) string {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return "-"
		case math.Abs(v) >= 1e7 || v != 0 && math.Abs(v) < math.Pow10(-decimals):
			return fmt.Sprintf("%.2e", v)
		}
		return strconv.FormatFloat(v, 'f', decimals, 64)
	}
}
