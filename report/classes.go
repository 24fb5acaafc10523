package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pho-go/pho/decompose"
)

// classPictures show all classes of a response in one picture of each column: the probability of each.
type classPictures struct {
	ID, Heading, Words string
	Classes            []classKey // that are drawn
	Picked             bool       // there are more than have colours: a reader picks one
	Lines              []classPicture
}

// classKey is a class in the legend, and what it is drawn as.
type classKey struct{ Position, Name, Color string }

// classPicture is that of one term: exactly one of Curve and Dots is set.
type classPicture struct {
	Term, Title, Name, Label string
	Curve                    *classCurves
	Dots                     *classDots
	Caption                  []string
}

type classCurves struct {
	Lines          []classLine
	XTicks, YTicks []tick
	XName, Data    string
	Right          string // where the plot ends and names begin
}

// classLine is a class's curve, with its name where it ends.
type classLine struct{ Position, Color, Path, X, Y, Name string }

type classDots struct {
	Height                   int
	NameX, Left, Axis, Names string
	XTicks                   []tick
	Levels                   []classLevel
}

// classLevel is a line of dots, one for each class.
type classLevel struct {
	TextY, Name string
	Dots        []classDot
}

type classDot struct{ Position, Color, X, Y, Title string }

const (
	classColors = 6  // of the style sheet
	mostClasses = 30 // drawn
	namesFrom   = 268
)

// newClassPictures are those of each set of classes; none where probabilities cannot be computed.
func newClassPictures(r *decompose.Result, effects []Effect, drawn *choice) (out []classPictures) {
	for i := range r.Sets {
		k := slices.IndexFunc(r.Predictors, func(d decompose.Predictor) bool { return slices.Contains(r.Sets[i].Predictors, d.Name) })
		if k < 0 || setOf(r, k) != &r.Sets[i] {
			continue
		}
		draw := newDrawing(r, k, effects)
		if p := draw.classPictures(r, k, drawn.names[k]); len(p.Lines) > 0 {
			p.ID = fmt.Sprintf("classes-%d", len(out)+1)
			out = append(out, *p)
		}
	}
	return out
}

// alongTerm is a term's effect with the probabilities of all classes, by class and point.
type alongTerm struct {
	effect *Effect
	values [][]float64
}

// classPictures draws the terms of these names for the set of classes that predictor k belongs to.
func (d *drawing) classPictures(r *decompose.Result, k int, terms []string) *classPictures {
	var names []string
	for _, c := range d.classes {
		names = append(names, c.of.Name)
	}
	if d.outcome.of.Reference {
		names = append(names, setOf(r, k).Reference)
	}
	var along []alongTerm
	for _, name := range terms {
		if e, values := d.ofAllClasses(name); values != nil {
			along = append(along, alongTerm{e, values})
		}
	}
	out := &classPictures{Heading: "All classes together", Picked: len(names) > classColors}
	if response := clip(r.Response, 60); response != "" {
		out.Heading += ": " + response
	}
	order := d.movingMost(along, len(names))
	colored := order[:min(len(order), classColors)]
	slices.Sort(colored)
	shown := slices.Clone(order[:min(len(order), mostClasses)])
	slices.Sort(shown)
	for _, l := range shown {
		key := classKey{Position: fmt.Sprint(l + 1), Name: clip(names[l], 60)}
		if at := slices.Index(colored, l); at >= 0 {
			key.Color = fmt.Sprintf("c%d", at+1)
		}
		out.Classes = append(out.Classes, key)
	}
	out.Words = "The probability of each class at each value, in a row whose other columns count as they do on average."
	if out.Picked {
		out.Words += fmt.Sprintf(" Coloured are the %d of %d classes whose probabilities change most.", len(colored), len(names))
	}
	if len(shown) < len(names) {
		out.Words += fmt.Sprintf(" Drawn are %d; effects.csv has all.", len(shown))
	}
	scale := span{0, 0}
	for _, a := range along {
		scale.join(d.valuesInRows(a, shown))
	}
	for _, a := range along {
		p := classPicture{Term: clean(a.effect.Term), Title: a.effect.columns(), Name: clip(a.effect.Term, 60)}
		p.Label = "The probability of each class by " + p.Title
		if a.effect.X.Levels != nil {
			p.Dots = d.classDots(a, out.Classes, shown, scale)
			if n := len(a.effect.X.Levels); n > len(p.Dots.Levels) {
				p.Caption = append(p.Caption, fmt.Sprintf("%d of %d levels are drawn, those that change most.", len(p.Dots.Levels), n))
			}
		} else {
			p.Curve, p.Caption = d.classCurves(a, out.Classes, shown, scale)
		}
		out.Lines = append(out.Lines, p)
	}
	return out
}

// ofAllClasses are the effect of a term in the first class that has it, and the probabilities of all classes along it, that of
// the reference last. nil: it is a surface, or no curve that all classes have on one grid.
func (d *drawing) ofAllClasses(term string) (*Effect, [][]float64) {
	for _, c := range d.classes {
		e := c.effects[term]
		if e == nil {
			continue
		}
		others := d.alongside(e)
		if e.X2 != nil || others == nil || e.X.Len() < 2 {
			return nil, nil
		}
		n := len(others)
		if d.outcome.of.Reference {
			n++
		}
		values := make([][]float64, n)
		for l := range values {
			values[l] = make([]float64, len(e.After))
		}
		for i := range e.After {
			etas := make([]float64, n) // the reference has 0
			for l, other := range others {
				etas[l] = d.classes[l].of.Intercept
				if other != nil {
					etas[l] += other.After[i]
				}
			}
			for l := range values {
				values[l][i] = softmax(etas, l, false)
			}
		}
		return e, values
	}
	return nil, nil
}

// movingMost are the positions of the classes, those first whose probabilities change most over all columns.
func (d *drawing) movingMost(along []alongTerm, classes int) []int {
	moves, order := make([]float64, classes), make([]int, classes)
	for l := range order {
		order[l] = l
		for _, a := range along {
			s := d.valuesInRows(a, []int{l})
			moves[l] += s.size() * s.size()
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(moves[b], moves[a]) })
	return order
}

// valuesInRows is the range of some classes' probabilities where 96 % of the rows lie.
func (d *drawing) valuesInRows(a alongTerm, classes []int) span {
	s, from, to := emptySpan(), 0, a.effect.X.Len()-1
	if q := d.quantiles(a.effect.X.Feature, a.effect); a.effect.X.Levels == nil && len(q) > 2 {
		lo, _, hi := central(q)
		if i, j := pointsIn(a.effect.X.Values, lo, hi); i < j {
			from, to = i, j
		}
	}
	for _, l := range classes {
		for i := from; i <= to; i++ {
			s.add(a.values[l][i])
		}
	}
	return s
}

// classCurves draws a column of numbers. Names stand where the curves end, apart from one another.
func (d *drawing) classCurves(a alongTerm, keys []classKey, shown []int, scale span) (*classCurves, []string) {
	e := a.effect
	quantiles := d.quantiles(e.X.Feature, e)
	x, y := newFrame(e.X, quantiles, left, namesFrom), axis{scale.drawable().padded(0.05), bottom, top}
	p := plot{e, x, y}
	out := &classCurves{XTicks: x.marks(5), YTicks: y.ticks(7), XName: clip(e.X.Title(), 40), Data: d.histogram(e, x, quantiles), Right: px(namesFrom)}
	_, last := p.drawn()
	var ends []float64
	for i, l := range shown {
		at := p.at(last, a.values[l][last])
		ends = append(ends, math.Min(math.Max(at[len(at)-1].y, top), bottom))
		out.Lines = append(out.Lines, classLine{Position: keys[i].Position, Color: keys[i].Color, Path: p.trace(a.values[l]), X: px(namesFrom + 5), Name: clip(keys[i].Name, 12)})
	}
	if slices.ContainsFunc(shown, func(l int) bool { return slices.Max(a.values[l]) > y.hi }) {
		x.caption = append(x.caption, "Where there are few rows or none curves leave the picture.")
	}
	var named []int // names of the others stand alone, when they are picked
	for i := range out.Lines {
		if out.Lines[i].Color != "" {
			named = append(named, i)
		}
	}
	spread(ends, named, 13)
	for i := range out.Lines {
		out.Lines[i].Y = px(ends[i] + 4)
	}
	return out, x.caption
}

// spread moves those of the heights that are less than least from one another, as little as keeps their order and leaves them
// in the plot.
func spread(heights []float64, of []int, least float64) {
	of = slices.Clone(of)
	slices.SortStableFunc(of, func(i, j int) int { return cmp.Compare(heights[i], heights[j]) })
	for n, i := range of {
		if n > 0 {
			heights[i] = math.Max(heights[i], heights[of[n-1]]+least)
		}
	}
	limit := float64(bottom)
	for n := len(of) - 1; n >= 0; n-- {
		heights[of[n]] = math.Min(heights[of[n]], limit)
		limit = heights[of[n]] - least
	}
}

// classDots draws a column of levels.
func (d *drawing) classDots(a alongTerm, keys []classKey, shown []int, scale span) *classDots {
	const line, letter = 17, 6.2
	e := a.effect
	change := make([]float64, e.X.Len()) // of the class that changes most
	for _, values := range a.values {
		mean := 0.0
		for _, v := range values {
			mean += v / float64(len(values))
		}
		for i, v := range values {
			change[i] = math.Max(change[i], math.Abs(v-mean))
		}
	}
	levels := furthest(change, maxLevels)
	if !e.X.ordered() {
		byEffect(levels, a.values[shown[0]])
	}
	letters := 4
	for _, i := range levels {
		letters = max(letters, utf8.RuneCountInString(e.X.Levels[i]))
	}
	letters = min(letters, mostLetters)
	x := axis{scale.drawable().padded(0.03), math.Round(letter*float64(letters)) + 12, width - 12}
	out := &classDots{NameX: px(x.from - 6), Left: px(x.from), XTicks: x.spaced(6)}
	for at, i := range levels {
		y := float64(top + line*at + line/2)
		l := classLevel{TextY: px(y + 4), Name: clip(e.X.Levels[i], letters)}
		for j, c := range shown {
			v := a.values[c][i]
			l.Dots = append(l.Dots, classDot{keys[j].Position, keys[j].Color, px(x.at(v)), px(y), strings.TrimSpace(clip(e.X.Levels[i], 60) + ": " + keys[j].Name + " " + rough(v))})
		}
		out.Levels = append(out.Levels, l)
	}
	end := top + line*len(levels) + 4
	out.Axis, out.Names, out.Height = px(float64(end)), px(float64(end+14)), end+20
	return out
}
