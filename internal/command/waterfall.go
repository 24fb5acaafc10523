package command

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/report"
)

// A waterfall has so many terms of a predictor at most, names and values of such widths,
// and bars at least and at most so wide.
const (
	waterfallTerms = 15
	waterfallName  = 28
	waterfallValue = 16
	leastBar       = 12
	mostBar        = 48
)

// waterfall draws how a row's predictors are made up: bars that begin where the one above
// ends.
type waterfall struct {
	w         io.Writer
	r, read   *decompose.Result // read: with labels
	full      bool
	predictor string // the only one to draw; "": all, of many classes the most probable
	width     int
	up, down  string // of what a bar is made that goes to the right, or to the left
}

func newWaterfall(w io.Writer, r *decompose.Result, full bool, predictor string) *waterfall {
	out := &waterfall{w: w, r: r, read: r.Labelled(), full: full, predictor: predictor, width: pageWidth, up: "+", down: "-"}
	if n := terminalWidth(w); n > 0 {
		out.width = n
		if speaksUTF8(os.Getenv) {
			out.up, out.down = "█", "▒"
		}
	}
	return out
}

// speaksUTF8 tells whether the locale's characters are UTF-8: the first of the variables
// that is set decides, as in POSIX.
func speaksUTF8(get func(string) string) bool {
	locale := cmp.Or(get("LC_ALL"), get("LC_CTYPE"), get("LANG"))
	locale = strings.ToLower(strings.ReplaceAll(locale, "-", ""))
	return strings.HasSuffix(locale, "utf8")
}

// write draws one row.
func (w *waterfall) write(row *explained) {
	if row.id == "" {
		fmt.Fprintf(w.w, "data row %d\n", row.row)
	} else {
		fmt.Fprintf(w.w, "%s (data row %d)\n", wiring.Shorten(shown(row.id), summaryName), row.row)
	}
	for _, p := range w.chosen(row) {
		w.draw(p)
	}
	w.response(row)
}

// chosen are the predictors to draw.
func (w *waterfall) chosen(row *explained) []explainedPredictor {
	if w.predictor != "" {
		at := slices.IndexFunc(row.predictors, func(p explainedPredictor) bool { return p.name == w.predictor })
		return row.predictors[at : at+1]
	}
	if w.full || len(row.predictors) < manyPredictors {
		return row.predictors
	}
	return []explainedPredictor{slices.MaxFunc(row.predictors, func(a, b explainedPredictor) int { return cmp.Compare(a.eta, b.eta) })}
}

// step is a line of a waterfall.
type step struct {
	name, value, number, se string
	from, to                float64
	level                   bool // where a sum stands, not what is added
}

// steps are the lines of a predictor: the intercept, terms by size, what no term holds, and
// the sum.
func (w *waterfall) steps(p explainedPredictor) []step {
	parts := slices.Clone(p.parts)
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(math.Abs(b.add), math.Abs(a.add)) })
	at, largest := p.intercept, max(math.Abs(p.intercept), math.Abs(p.eta), math.Abs(p.left))
	for _, t := range parts {
		largest = max(largest, math.Abs(t.add))
	}
	out := []step{{name: "(Intercept)", number: fixed(at, largest), from: at, to: at, level: true}}
	add := func(name, value string, v, se float64) {
		s := step{name: wiring.Shorten(shown(name), waterfallName), value: wiring.Shorten(shown(value), waterfallValue), number: signed(v, largest), from: at, to: at + v}
		if !math.IsNaN(se) {
			s.se = fixed(se, largest)
		}
		at += v
		out = append(out, s)
	}
	rest := 0
	if most := waterfallTerms; len(parts) > most+1 && !w.full {
		parts, rest = parts[:most], len(parts)-most
	}
	shownSum := 0.0
	for _, t := range parts {
		add(strings.Join(t.names, " + "), valueText(t.values), t.add, t.se)
		shownSum += t.add
	}
	if rest > 0 {
		add(fmt.Sprintf("%d smaller terms", rest), "", p.eta-p.left-p.intercept-shownSum, math.NaN())
	}
	add(w.remainder(p.name), "", p.left, math.NaN())
	return append(out, step{name: wiring.Shorten(shown(p.name), waterfallName), number: fixed(p.eta, largest), from: p.eta, to: p.eta, level: true})
}

// remainder is what no term of a predictor holds, in words.
func (w *waterfall) remainder(predictor string) string {
	for k := range w.read.Predictors {
		if d := &w.read.Predictors[k]; d.Name == predictor {
			name, _ := report.RemainderWords(d)
			return name
		}
	}
	return "unstructured"
}

// valueText is the value of one feature, or those of several.
func valueText(values []value) string {
	var out []string
	for _, v := range values {
		out = append(out, v.text)
	}
	return strings.Join(out, ", ")
}

// signed is fixed with a sign.
func signed(v, largest float64) string {
	text := fixed(v, largest)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	if v > 0 {
		return "+" + text
	}
	return text
}

func (w *waterfall) draw(p explainedPredictor) {
	steps := w.steps(p)
	var name, val, number, se int
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range steps {
		name, val = max(name, utf8.RuneCountInString(s.name)), max(val, utf8.RuneCountInString(s.value))
		number, se = max(number, len(s.number)), max(se, len(s.se))
		lo, hi = min(lo, s.from, s.to), max(hi, s.from, s.to)
	}
	columns := func(n, v, x, e string) string {
		line := "  " + n + strings.Repeat(" ", name-utf8.RuneCountInString(n))
		if val > 0 {
			line += "  " + v + strings.Repeat(" ", val-utf8.RuneCountInString(v))
		}
		line += "  " + strings.Repeat(" ", number-len(x)) + x
		if se > 0 {
			line += "  " + strings.Repeat(" ", se-len(e)) + e
		}
		return line
	}
	if val > 0 || se > 0 {
		number, se = max(number, len("adds")), max(se, len("s.e.")*min(se, 1))
		if val > 0 {
			val = max(val, len("value"))
		}
		fmt.Fprintln(w.w, columns("", "value", "adds", "s.e."[:4*min(se, 1)]))
	}
	room := w.width - utf8.RuneCountInString(columns("", "", "", "")) - 2
	room = min(room, mostBar)
	for _, s := range steps {
		line := columns(s.name, s.value, s.number, s.se)
		if room >= leastBar {
			line += "  " + w.bar(s, lo, hi, room)
		}
		fmt.Fprintln(w.w, strings.TrimRight(line, " "))
	}
}

// bar is a bar between two values, or a mark at one.
func (w *waterfall) bar(s step, lo, hi float64, room int) string {
	place := func(v float64) int {
		if !(hi > lo) {
			return 0
		}
		return int(math.Round((v - lo) / (hi - lo) * float64(room-1)))
	}
	from, to := place(s.from), place(s.to)
	first, last := min(from, to), max(from, to)
	mark := w.up
	switch {
	case s.level || strings.Trim(s.number, "0.") == "":
		mark = "|"
	case s.to < s.from:
		mark = w.down
	}
	return strings.Repeat(" ", first) + strings.Repeat(mark, last-first+1)
}

// response prints what the predictors are on the scale of the response.
func (w *waterfall) response(row *explained) {
	if len(row.response) == 0 {
		return
	}
	list := row.response
	most := 5
	if len(list) > most && !w.full {
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b report.ResponseValue) int { return cmp.Compare(b.Value, a.Value) })
		list = list[:most]
	}
	name := 0
	for _, v := range list {
		name = max(name, utf8.RuneCountInString(shown(v.Name)))
	}
	for _, v := range list {
		fmt.Fprintf(w.w, "  %s%s  %.4g\n", shown(v.Name), strings.Repeat(" ", name-utf8.RuneCountInString(shown(v.Name))), v.Value)
	}
	if rest := len(row.response) - len(list); rest > 0 {
		fmt.Fprintf(w.w, "  and %d less probable ones\n", rest)
	}
}
