package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose"
)

// islandRows are the stored rows for the script, as decompose.Examples has them; the parts of
// a predictor are its terms', the unstructured one and eta.
type islandRows struct {
	Columns []string    `json:"columns"`
	Largest int         `json:"largest"`
	Rows    []islandRow `json:"rows"`
	// Features are, by predictor and term, the positions among Columns of what the term reads.
	Features [][][]int `json:"features"`
	Response string    `json:"response,omitempty"` // column
	Unit     string    `json:"unit,omitempty"`     // of the response
}

type islandRow struct {
	ID       string      `json:"id,omitempty"`
	Row      int64       `json:"row"`
	Response *numeral    `json:"y,omitempty"`
	Offset   *numeral    `json:"offset,omitempty"`
	Values   []any       `json:"values"`
	Parts    [][]numeral `json:"parts"`
}

// newIslandRows is nil of a result without stored rows.
func newIslandRows(r *decompose.Result) *islandRows {
	e := examplesOf(r)
	if e == nil {
		return nil
	}
	out := &islandRows{Columns: cleaned(e.Columns), Largest: e.Largest, Response: clean(r.Response), Unit: clean(responseUnit(r)), Features: [][][]int{}}
	for k := range r.Predictors {
		terms := [][]int{}
		for _, t := range r.Predictors[k].Terms {
			at := []int{}
			for _, f := range t.Features {
				if i := slices.Index(e.Columns, f); i >= 0 && !slices.Contains(at, i) {
					at = append(at, i)
				}
			}
			terms = append(terms, at)
		}
		out.Features = append(out.Features, terms)
	}
	short := func(v float64) numeral { return rounded(v, 0) }
	maybe := func(v *float64) *numeral {
		if v == nil {
			return nil
		}
		n := short(*v)
		return &n
	}
	for _, row := range e.Rows {
		own := islandRow{Row: row.Row, ID: clean(row.ID), Response: maybe(row.Response), Offset: maybe(row.Offset)}
		for _, v := range row.Values {
			switch x := v.(type) {
			case float64:
				v = short(x)
			case string:
				v = clean(x)
			}
			own.Values = append(own.Values, v)
		}
		for _, p := range row.Parts {
			parts := []numeral{}
			for _, v := range append(slices.Clone(p.Terms), p.Unstructured, p.Eta) {
				parts = append(parts, short(v))
			}
			own.Parts = append(own.Parts, parts)
		}
		out.Rows = append(out.Rows, own)
	}
	return out
}

// examplesOf are the stored rows; nil if there are none, or they are not of this result's
// shape, as in a file that somebody wrote otherwise.
func examplesOf(r *decompose.Result) *decompose.Examples {
	e := r.Examples
	if e == nil || len(e.Rows) == 0 {
		return nil
	}
	for _, row := range e.Rows {
		if len(row.Parts) != len(r.Predictors) || len(row.Values) != len(e.Columns) {
			return nil
		}
		for k, p := range row.Parts {
			if len(p.Terms) != len(r.Predictors[k].Terms) {
				return nil
			}
		}
	}
	return e
}

// How much of single rows the server draws.
const (
	drawnRows  = 3
	drawnParts = 12 // terms of a row, those of the largest contributions
)

// example is a stored row as the server draws it.
type example struct {
	Row        int64
	Words      string
	Waterfalls []waterfall
}

// waterfall says how the parts of a row add up to a predictor.
type waterfall struct {
	Row       int64
	Predictor int // from 1
	Caption   string
	Errors    bool // lines have standard errors
	Lines     []waterLine
}

// waterLine is a part. Part is its name for the script and for tests.
type waterLine struct {
	Part, Name, Values string
	Value              string // contribution, in words
	SE                 string
	Exact              string // for programs
	Sum                string // of this part and those above
	X, W, Class        string // the bar
}

// newExamples are the first rows.
func newExamples(r *decompose.Result) (out []example) {
	e := examplesOf(r)
	if e == nil {
		return nil
	}
	for i, row := range e.Rows[:min(len(e.Rows), drawnRows)] {
		x := example{Row: row.Row, Words: rowName(row)}
		if i < e.Largest {
			x.Words += ", among the largest remainders"
		}
		if row.Response != nil {
			x.Words += fmt.Sprintf("; %s is %s", clip(r.Response, 40), responseText(r, *row.Response))
		}
		for _, k := range shownPredictors(r, row) {
			x.Waterfalls = append(x.Waterfalls, newWaterfall(r, e, row, k))
		}
		out = append(out, x)
	}
	return out
}

// rowName is what a row is called: its name and number, or its number.
func rowName(row decompose.Example) string {
	if row.ID == "" {
		return "data row " + count(row.Row)
	}
	return clip(row.ID, 40) + " (data row " + count(row.Row) + ")"
}

func capital(text string) string {
	if rest, ok := strings.CutPrefix(text, "data"); ok {
		return "Data" + rest
	}
	return text
}

// responseUnit is the unit of the response of a result in the words of its labels; "": none.
func responseUnit(r *decompose.Result) string {
	if r.Response == "" || r.Labels.IsEmpty() {
		return ""
	}
	for column, c := range r.Labels.Columns {
		if r.Labels.Feature(column) == r.Response { // two columns have no name in common
			return c.Unit
		}
	}
	return ""
}

// responseText is a value of the response, with its unit.
func responseText(r *decompose.Result, y float64) string {
	return strings.TrimSpace(trimmed(num(y)) + " " + clip(responseUnit(r), 20))
}

// shownPredictors are both of two; of more the first, of classes the most probable one.
func shownPredictors(r *decompose.Result, row decompose.Example) []int {
	if len(r.Predictors) == 2 {
		return []int{0, 1}
	}
	best := 0
	if s := softmaxOf(r, 0); s != nil {
		for _, k := range s.With {
			if row.Parts[k].Eta > row.Parts[best].Eta {
				best = k
			}
		}
	}
	return []int{best}
}

// newWaterfall is that of a stored row.
func newWaterfall(r *decompose.Result, e *decompose.Examples, row decompose.Example, k int) waterfall {
	d := &r.Predictors[k]
	var terms []waterTerm
	for j, v := range row.Parts[k].Terms {
		terms = append(terms, waterTerm{clean(d.Terms[j].Name), clip(d.Terms[j].Name, 60), valuesOf(e, row, d.Terms[j].Features), v, nil})
	}
	w := waterfallOf(r, row, k, terms)
	w.Caption = fmt.Sprintf("%s: how its parts add up to %s", capital(rowName(row)), clip(d.Name, 40))
	return w
}

// waterTerm is what a term, or a sum of which only that is identified, adds.
type waterTerm struct {
	part, name, values string
	value              float64
	se                 *float64 // nil: not known
}

// waterfallOf puts the terms of a row in order of size; small ones are one line. Of the row's parts of the predictor
// it takes what the terms leave.
func waterfallOf(r *decompose.Result, row decompose.Example, k int, terms []waterTerm) waterfall {
	d, p := &r.Predictors[k], row.Parts[k]
	w := waterfall{Row: row.Row, Predictor: k + 1}
	order := slices.Clone(terms)
	slices.SortStableFunc(order, func(a, b waterTerm) int { return cmp.Compare(math.Abs(b.value), math.Abs(a.value)) })
	at, reach := d.Intercept, span{d.Intercept, d.Intercept}
	w.Lines = append(w.Lines, waterLine{Part: "intercept", Name: "intercept", Values: "where all terms are at their mean", Value: num(at), Exact: brief(at), Sum: num(at)})
	var from []float64
	add := func(t waterTerm, class string) {
		from = append(from, at)
		at += t.value
		reach.add(at)
		l := waterLine{Part: t.part, Name: t.name, Values: t.values, Class: class, Value: signedNum(t.value), Exact: brief(t.value), Sum: num(at)}
		if t.se != nil {
			w.Errors, l.SE = true, num(*t.se)
		}
		w.Lines = append(w.Lines, l)
	}
	drawn := min(len(order), drawnParts)
	if len(order) == drawnParts+1 {
		drawn++ // "one more term" takes as much room
	}
	for _, t := range order[:drawn] {
		add(t, "structured")
	}
	if rest := order[drawn:]; len(rest) > 0 {
		sum := 0.0
		for _, t := range rest {
			sum += t.value
		}
		add(waterTerm{"others", fmt.Sprintf("%d other terms", len(rest)), "", sum, nil}, "structured")
	}
	name, what := RemainderWords(d)
	add(waterTerm{"unstructured", name, what, p.Unstructured, nil}, "unstructured")
	x := axis{reach.drawable(), 0, barWidth}
	for i, start := range from {
		l := &w.Lines[i+1]
		end := start
		if i+1 < len(from) {
			end = from[i+1]
		} else {
			end = at
		}
		l.X, l.W = px(x.at(math.Min(start, end))), px(math.Max(math.Abs(x.at(end)-x.at(start)), 1))
	}
	w.Lines = append(w.Lines, waterLine{Part: "eta", Name: clip(d.Name, 40), Values: "the model's output for this row", Value: num(p.Eta), Exact: brief(p.Eta), Sum: num(p.Eta)})
	if s := responseOf(r, k); s != nil {
		v := s.of(row, k)
		w.Lines = append(w.Lines, waterLine{Part: "response", Name: s.Name, Values: s.Function + " of it", Value: num(v), Exact: brief(v)})
	}
	return w
}

// valuesOf are the values of a term's features in a row: "hr = 17, temp = 0.24".
func valuesOf(e *decompose.Examples, row decompose.Example, features []string) string {
	var out []string
	for i, f := range features {
		at := slices.Index(e.Columns, f)
		if at < 0 || slices.Contains(features[:i], f) {
			continue
		}
		text := "missing"
		switch v := row.Values[at].(type) {
		case float64:
			text = short(v)
		case string:
			text = clip(v, 40)
		}
		if out = append(out, clip(f, 40)+" = "+text); len(out) == 4 {
			break
		}
	}
	return strings.Join(out, ", ")
}

// signedNum writes v with its sign.
func signedNum(v float64) string {
	if v > 0 {
		return "+" + num(v)
	}
	return num(v)
}

// short is a value of a column: up to five significant digits, no zeros at the end.
func short(v float64) string {
	return trimmed(digits(v, 5))
}

// trimmed is a number without zeros at its end.
func trimmed(s string) string {
	if !strings.Contains(s, "e") && strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// brief is a number for programs, with six significant digits.
func brief(v float64) string { return string(rounded(v, 0)) }
