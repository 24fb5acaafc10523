package report

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/pho-go/pho/decompose"
)

// The page is complete without its script: what the server draws, its tables and its
// <details> say everything. The script adds reading of values, sorting, search, zoom, other
// scales and the explanation of single rows. It finds its places by the names below, and so do
// tests in a browser. Names that come from files are texts of attributes and of JSON, never
// markup; a character that does not print is U+FFFD there.
//
//	#pho-data                    the JSON of type island
//	#controls                    the bar of controls, hidden without the script
//	  #find                      search: figures and rows of tables whose term or columns match stay
//	  #find-count                how many terms match (output)
//	  #predictor                 select: "" (all) or 1, 2, ...; hidden if there is one
//	  #scale                     select: "link" or "response"; hidden if no response scale is known
//	  #scale-words               what the chosen scale is, in words
//	  #show-before #show-after #show-band #show-members    checkboxes
//	article#p1, #p2, ...         a predictor; sections in it are #p1-moved, #p1-effects, ...
//	figure[data-predictor="1"][data-term="s(x)"]           an effect
//	  svg.plot[data-kind="curve|dots|heat"]                its picture. curve: data-x0 data-x1 data-y0 data-y1, the
//	                             range of the axes, and data-box="left,top,right,bottom" in units of the picture; data-scale: link or response, as drawn; data-steps: of whole numbers;
//	                             dots: g[data-level="NAME"]; heat: image[data-panel], with data-x0 and so on
//	                             if its sides are not made of equal cells. data-x-scale and data-y-scale:
//	                             "linear" (the same as none), "log", "asinh UNIT"
//	  output.values              by the script: the point under the pointer, or that the arrow keys chose, with
//	                             data-x data-x2 data-after data-before data-lower data-upper data-rows
//	  button.enlarge             by the script: opens dialog#large, which has a figure of its own
//	  button.save, button.copy   by the script: the picture as a file, SVG or PNG; its values for the clipboard
//	  button.whole               by the script: ends a zoom; a drag over the plot begins one
//	section#classes-1.classes    all classes of a response together, one figure[data-term] of each term
//	  select.pick                the class that is brought to the front, by its position from 1; hidden without the script
//	  [data-class="1"]           a curve, a dot or a name of a class
//	table.sortable               by the script: th > button.sort, th[aria-sort]
//	  tr[data-term="s(x)"]       a row of a term; tr[data-columns] names columns, one a line
//	section#rows                 single rows
//	  #row-controls              hidden without the script
//	    #row-number #row-go      a data row by its number
//	    #row-list                select: the stored rows, the value is the row's number
//	    #row-predictor           select: 1, 2, ...; hidden if there is one
//	    #row-message             what is wrong with the number (output)
//	  #row-chosen                by the script: table.waterfall[data-row][data-predictor] as the server draws
//	  details.example[data-row]  the first rows, drawn by the server
//	    table.waterfall > tbody > tr[data-part="intercept|s(x)|unstructured|eta|response"][data-value]

// island is what the script knows. Axes stand once; numbers have the digits that a reader can
// see (see rounded).
type island struct {
	Predictors []islandPredictor `json:"predictors"`
	Axes       []islandAxis      `json:"axes"`
	Features   []islandFeature   `json:"features"`
	Rows       *islandRows       `json:"rows,omitempty"`
	Networks   []string          `json:"networks,omitempty"`
}

type islandPredictor struct {
	Name      string         `json:"name"`
	Intercept numeral        `json:"intercept"`
	Terms     []string       `json:"terms"`     // in the order of parts
	Remainder [2]string      `json:"remainder"` // RemainderWords
	Response  *response      `json:"response,omitempty"`
	Titles    islandTitles   `json:"titles"`
	Effects   []islandEffect `json:"effects"` // of figures
}

// islandTitles are what stands beside the axis of values, by scale.
type islandTitles struct {
	Link     string `json:"link"`
	Response string `json:"response,omitempty"`
}

// islandEffect is a figure's effect. Half and Sim are half widths of the bands.
type islandEffect struct {
	Term    string  `json:"term"`
	X       int     `json:"x"`            // of the axes
	X2      *int    `json:"x2,omitempty"` // nil: a function of one feature
	After   *series `json:"after,omitempty"`
	Before  *series `json:"before,omitempty"`
	Zero    bool    `json:"zero,omitempty"` // Before is 0 everywhere, and left out,
	Same    bool    `json:"same,omitempty"` // or the same as After
	Half    *series `json:"half,omitempty"`
	Sim     *series `json:"sim,omitempty"`
	Members *series `json:"members,omitempty"` // After of each network, one after the other
}

type islandAxis struct {
	Feature string    `json:"feature"`
	Values  []numeral `json:"values,omitempty"`
	Levels  []string  `json:"levels,omitempty"`
	Unit    string    `json:"unit,omitempty"`   // of values
	Whole   bool      `json:"whole,omitempty"`  // values are all whole numbers of a stretch: steps
	Places  []numeral `json:"places,omitempty"` // the numbers that levels stand for, where their names do not say it
}

// islandFeature says where the rows lie: in bins of equal width from Min to Max, or by level.
type islandFeature struct {
	Name   string   `json:"name"`
	Min    numeral  `json:"min"`
	Max    numeral  `json:"max"`
	Levels []string `json:"levels,omitempty"`
	Counts []int64  `json:"counts,omitempty"`
}

// islandBudget is how many bytes the numbers of effects may take. What is beyond it the
// script cannot show: bands of whole curves go first, then networks, bands, "before".
const islandBudget = 200_000

// newIsland collects what the script needs of the figures of a page.
func newIsland(r *decompose.Result, predictors []predictor) *island {
	w := &island{Rows: newIslandRows(r), Predictors: []islandPredictor{}, Axes: []islandAxis{}, Features: []islandFeature{}}
	if r.Networks != nil {
		w.Networks = cleaned(r.Networks.Names)
	}
	axes := map[string]int{}
	axis := func(a *Axis) int {
		own := islandAxis{Feature: clean(a.Feature), Levels: cleaned(a.Levels), Whole: a.whole}
		for i, v := range a.Values {
			own.Values = append(own.Values, rounded(v, a.unitAt(i)))
		}
		if a.Levels == nil {
			own.Unit = clean(a.Unit)
		}
		for _, v := range a.places {
			own.Places = append(own.Places, rounded(v, 0))
		}
		key := fmt.Sprintf("%q %q %q", own.Feature, own.Values, own.Levels)
		if _, ok := axes[key]; !ok {
			axes[key] = len(w.Axes)
			w.Axes = append(w.Axes, own)
		}
		return axes[key]
	}
	var effects [][]*Effect
	for k := range predictors {
		d := &r.Predictors[k]
		p := islandPredictor{Name: clean(d.Name), Intercept: rounded(d.Intercept, 0), Terms: []string{}, Effects: []islandEffect{}}
		p.Remainder[0], p.Remainder[1] = RemainderWords(d)
		o := outcomeOf(r, k)
		if p.Titles.Link = o.link; o.told != differences {
			p.Titles.Response, p.Response = o.title, &o.of
		}
		for _, t := range d.Terms {
			p.Terms = append(p.Terms, clean(t.Name))
		}
		var drawn []*Effect
		for _, f := range slices.Concat(predictors[k].Figures, predictors[k].Parts) {
			e := islandEffect{Term: f.Term, X: axis(f.effect.X)}
			if f.effect.X2 != nil {
				second := axis(f.effect.X2)
				e.X2 = &second
			}
			p.Effects, drawn = append(p.Effects, e), append(drawn, f.effect)
		}
		w.Predictors, effects = append(w.Predictors, p), append(effects, drawn)
	}
	w.fill(effects)
	for _, f := range r.Features {
		if !slices.ContainsFunc(w.Axes, func(a islandAxis) bool { return a.Feature == clean(f.Name) }) {
			continue
		}
		unit := span{f.Min, f.Max}.size()
		w.Features = append(w.Features, islandFeature{clean(f.Name), rounded(f.Min, unit), rounded(f.Max, unit), cleaned(f.Levels), f.Counts})
	}
	return w
}

// fill adds the numbers, layer by layer and the largest effects of all predictors first, as
// far as the budget goes.
func (w *island) fill(effects [][]*Effect) {
	left, most := islandBudget, 0
	for _, own := range effects {
		most = max(most, len(own))
	}
	for k, own := range effects {
		for i, e := range own {
			to := &w.Predictors[k].Effects[i]
			to.Zero, to.Same = largest(e.Before) == 0, e.unmoved()
		}
	}
	for _, l := range layers() {
		for i := range most {
			for k, own := range effects {
				if i < len(own) {
					left -= l.add(&w.Predictors[k].Effects[i], own[i], left)
				}
			}
		}
	}
}

// layer is some numbers of an effect: its values, and where they go.
type layer struct {
	of func(*Effect) []float64 // nil: there are none
	to func(*islandEffect) **series
}

// layers are those of an effect in the order in which they matter.
func layers() []layer {
	return []layer{
		{func(e *Effect) []float64 { return e.After }, func(to *islandEffect) **series { return &to.After }},
		{(*Effect).before, func(to *islandEffect) **series { return &to.Before }},
		{(*Effect).halves, func(to *islandEffect) **series { return &to.Half }},
		{(*Effect).networks, func(to *islandEffect) **series { return &to.Members }},
		{func(e *Effect) []float64 { return e.Sim }, func(to *islandEffect) **series { return &to.Sim }},
	}
}

// add writes the layer of e if its numbers take at most left bytes, and returns how many they
// take.
func (l layer) add(to *islandEffect, e *Effect, left int) int {
	values := l.of(e)
	if values == nil {
		return 0
	}
	unit := largest(e.After)
	if e.X2 != nil {
		unit *= 10 // colours show less
	}
	out, bytes := newSeries(values, unit)
	if bytes > left {
		return 0
	}
	*l.to(to) = out
	return bytes
}

// before is the network's own effect; nil where it is 0 everywhere or the same as after.
func (e *Effect) before() []float64 {
	if largest(e.Before) == 0 || e.unmoved() {
		return nil
	}
	return e.Before
}

// unmoved tells whether the effect is the same before and after, as far as can be seen.
func (e *Effect) unmoved() bool {
	least := 1e-5 * largest(e.After)
	for i, v := range e.Before {
		if math.Abs(v-e.After[i]) > least {
			return false
		}
	}
	return least > 0
}

// networks are the curves of several networks, one after the other.
func (e *Effect) networks() (all []float64) {
	if e.Networks == nil || e.X2 != nil {
		return nil
	}
	for _, f := range e.Networks.After {
		all = append(all, f...)
	}
	return all
}

// halves are the half widths of the pointwise band; nil where no point has one.
func (e *Effect) halves() []float64 {
	if !slices.ContainsFunc(e.SE, func(v float64) bool { return !notFinite(v) }) {
		return nil
	}
	out := make([]float64, len(e.SE))
	for i, se := range e.SE {
		if out[i] = se; !notFinite(se) {
			out[i] = e.half(i)
		}
	}
	return out
}

// element is the island as it stands in the page. json.Marshal writes <, > and & as \u003c
// and the like, so no name can end the element.
func (w *island) element() (template.HTML, error) {
	text, err := json.Marshal(w)
	if err != nil {
		return "", err
	}
	return template.HTML(`<script type="application/json" id="pho-data">` + string(text) + `</script>`), nil
}
