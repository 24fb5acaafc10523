package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/pho-go/pho/decompose"
)

// figure is one term's picture: exactly one of Curve, Dots and Heat is set.
type figure struct {
	Title   string
	Details string // under the title
	Label   string // for readers who do not see it
	Caption []string
	Curve   *curve
	Dots    *dots
	Heat    *heat
}

// Sizes of the pictures in their own units.
const (
	width     = 360
	left      = 46 // of the plot area
	right     = 350
	top       = 8
	bottom    = 186
	strip     = 22 // height of the histogram below
	maxLevels = 30 // drawn of a factor
)

// drawing holds what the pictures of one predictor share.
type drawing struct {
	common  span // of all effects on the link scale
	feature map[string]decompose.Feature
	eta     string
}

// own is the range of one effect: its curves, and its band except where it is
// widest, which is at the ends, where there are hardly any rows.
func own(e *Effect) span {
	s := emptySpan()
	s.add(0)
	known := slices.DeleteFunc(slices.Clone(e.SE), bad)
	slices.Sort(known)
	for i := range e.After {
		s.add(e.After[i])
		s.add(e.Before[i])
		if len(known) > 0 && e.SE[i] <= known[len(known)*3/4] {
			s.add(e.After[i] - bandWidth*e.SE[i])
			s.add(e.After[i] + bandWidth*e.SE[i])
		}
	}
	return s
}

// share gathers the predictor's common range. Terms that are not identified do
// not count: their split, and so their size, is arbitrary.
func (d *drawing) share(c *candidate) {
	if c.effect.Note == "" && c.effect.X2 == nil && c.identified() {
		d.common.join(own(c.effect))
	}
}

// scale is the range to draw e on: the predictor's common one, so that effects
// compare by eye, unless e would be nearly flat on it or does not fit; then also
// why.
func (d *drawing) scale(e *Effect, direction string) (s span, why []string) {
	const flat = 0.25
	s = own(e)
	if d.common.empty() || s.size() == 0 {
		return s.drawable().padded(0.06), nil
	}
	switch ratio := d.common.size() / s.size(); {
	case s.lo < d.common.lo || s.hi > d.common.hi:
		why = []string{fmt.Sprintf("The %s scale is its own.", direction)}
	case ratio > 1/flat:
		why = []string{fmt.Sprintf("The %s scale is enlarged %s times.", direction, digits(ratio, 2))}
	default:
		s = d.common
	}
	return s.drawable().padded(0.05), why
}

// candidate is an effect that may be drawn, with its terms.
type candidate struct {
	effect        *Effect
	terms         []*decompose.TermResult
	before, after float64 // sd over the rows
}

// newCandidate measures an effect: a single term's sd is known, that of a sum is
// taken from its curve and the histogram of its feature.
func (d *drawing) newCandidate(e *Effect, terms []*decompose.TermResult) *candidate {
	c := &candidate{effect: e, terms: terms}
	if e.Sum == nil {
		c.before, c.after = math.Sqrt(terms[0].Before.Variance), math.Sqrt(terms[0].After.Variance)
	} else if e.Note == "" {
		c.before, c.after = d.sd(e, e.Before), d.sd(e, e.After)
	}
	return c
}

// sd is the standard deviation of a curve over the rows, as far as the histogram
// tells.
func (d *drawing) sd(e *Effect, v []float64) float64 {
	weights := make([]float64, len(v))
	if e.X.Levels != nil {
		weights = d.levelRows(e.X.Feature, e.X.Levels)
	} else {
		counts := d.feature[e.X.Feature].Counts
		for i, c := range counts {
			weights[int(math.Round((float64(i)+0.5)/float64(len(counts))*float64(len(v)-1)))] += float64(c)
		}
	}
	var n, sum, squares float64
	for at, w := range weights {
		n, sum, squares = n+w, sum+w*v[at], squares+w*v[at]*v[at]
	}
	if n == 0 {
		return 0
	}
	return math.Sqrt(math.Max(squares/n-sum/n*sum/n, 0))
}

// levelRows estimates the rows of each level. Of a numeric column there is a
// histogram only: the levels within a bin share its rows.
func (d *drawing) levelRows(name string, levels []string) []float64 {
	rows, f := d.byLevel(name), d.feature[name]
	out, bin, sharing := make([]float64, len(levels)), make([]int, len(levels)), map[int]float64{}
	for i, l := range levels {
		bin[i] = -1
		if v, err := strconv.ParseFloat(l, 64); err == nil && len(f.Levels) == 0 && len(f.Counts) > 0 && f.Min <= v && v <= f.Max && f.Min < f.Max {
			bin[i] = min(int((v-f.Min)/(f.Max-f.Min)*float64(len(f.Counts))), len(f.Counts)-1)
			sharing[bin[i]]++
		}
	}
	for i, l := range levels {
		if bin[i] >= 0 {
			out[i] = float64(f.Counts[bin[i]]) / sharing[bin[i]]
		} else {
			out[i] = float64(rows[l])
		}
	}
	return out
}

func (c *candidate) identified() bool { return c.effect.Sum != nil || c.terms[0].Identified }

// draw makes the picture of an effect; nil if there is nothing to draw, and why.
func (d *drawing) draw(c *candidate) (*figure, string) {
	e := c.effect
	if e.Note != "" {
		return nil, e.Note
	}
	f := &figure{Title: clip(e.Term, 60), Details: c.details()}
	switch {
	case e.X2 != nil:
		h, err := d.heat(e)
		if err != nil {
			return nil, err.Error()
		}
		f.Heat = h
		f.Caption = h.caption
	case e.X.Levels != nil:
		f.Dots = d.dots(e)
		f.Caption = f.Dots.caption
	case len(e.X.Values) < 2:
		return nil, fmt.Sprintf("%s is constant in these data", clip(e.X.Feature, 60))
	default:
		f.Curve = d.curve(e)
		f.Caption = f.Curve.caption
	}
	if !c.identified() {
		f.Caption = append(f.Caption, "Not identified: only its sum with "+list(c.terms[0].AliasedWith, 4)+" is. No band.")
	}
	f.Label = describe(e, d.eta)
	return f, ""
}

// details says in figures what the picture shows.
func (c *candidate) details() string {
	about := ""
	if c.effect.Sum != nil {
		about = "about "
	}
	s := fmt.Sprintf("sd %s%s → %s", about, num(c.before), num(c.after))
	var edf float64
	columns := 0
	for _, t := range c.terms {
		edf += t.EDF
		columns += t.Columns
	}
	if columns > 1 {
		s += ", edf " + num(edf)
	}
	if c.effect.Held != "" {
		s += ", at " + clip(c.effect.Held, 40)
	}
	return s
}

// describe is the picture in a sentence.
func describe(e *Effect, eta string) string {
	text := func(v []float64) string {
		lo, hi := slices.Min(v), slices.Max(v)
		if hi-lo < 1e-12*math.Max(1, math.Abs(hi)) {
			return "constant at " + num(hi)
		}
		at := func(p int) string {
			x, x2 := e.at(p)
			s := e.X.Feature + " = " + shortNumber(x, e.X)
			if e.X2 != nil {
				s += ", " + e.X2.Feature + " = " + shortNumber(x2, e.X2)
			}
			return clip(s, 80)
		}
		return fmt.Sprintf("lowest %s at %s, highest %s at %s", num(lo), at(slices.Index(v, lo)), num(hi), at(slices.Index(v, hi)))
	}
	return fmt.Sprintf("Effect of %s on %s. After the projection: %s. Before: %s.", clip(e.Term, 60), clip(eta, 40), text(e.After), text(e.Before))
}

func shortNumber(s string, a *Axis) string {
	if a.Levels != nil {
		return s
	}
	var v float64
	fmt.Sscan(s, &v)
	return num(v)
}

// curve is a function of one number.
type curve struct {
	Band, Before, After, Data string // paths
	Zero                      string // height of the line at 0
	XTicks, YTicks            []tick
	XName                     string
	caption                   []string
}

func (d *drawing) curve(e *Effect) *curve {
	s, why := d.scale(e, "vertical")
	n := len(e.X.Values)
	x := axis{span{e.X.Values[0], e.X.Values[n-1]}, left, right}
	y := axis{s, bottom, top}
	c := &curve{XTicks: x.spaced(6), YTicks: y.ticks(7), XName: clip(e.X.Feature, 40), caption: why}
	if s.lo < 0 && s.hi > 0 {
		c.Zero = px(y.at(0))
	}
	trace := func(v []float64) string {
		var p path
		for i, v := range v {
			if i == 0 {
				p.move(x.at(e.X.Values[i]), y.at(v))
			} else {
				p.line(x.at(e.X.Values[i]), y.at(v))
			}
		}
		return p.String()
	}
	c.Before, c.After = trace(e.Before), trace(e.After)
	c.Band = band(e, x, y)
	c.Data = d.histogram(e.X.Feature)
	return c
}

// band is the area between the limits, cut at the edges of the plot, in one
// piece for each run of points that have a standard error.
func band(e *Effect, x, y axis) string {
	var p path
	height := func(v float64) float64 { return y.at(math.Min(math.Max(v, y.lo), y.hi)) }
	for i := 0; i < len(e.SE); {
		if bad(e.SE[i]) {
			i++
			continue
		}
		first := i
		for ; i < len(e.SE) && !bad(e.SE[i]); i++ {
			at := height(e.After[i] + bandWidth*e.SE[i])
			if i == first {
				p.move(x.at(e.X.Values[i]), at)
			} else {
				p.line(x.at(e.X.Values[i]), at)
			}
		}
		for j := i - 1; j >= first; j-- {
			p.line(x.at(e.X.Values[j]), height(e.After[j]-bandWidth*e.SE[j]))
		}
		p.WriteString("z")
	}
	return p.String()
}

// histogram is where the data of a numeric feature lie.
func (d *drawing) histogram(name string) string {
	counts := d.feature[name].Counts
	if len(counts) == 0 || slices.Max(counts) == 0 {
		return ""
	}
	w := float64(right-left) / float64(len(counts))
	most := float64(slices.Max(counts))
	var p path
	for i, n := range counts {
		if n > 0 {
			h := math.Max(strip*float64(n)/most, 0.6) // a single row stays visible
			p.bar(left+float64(i)*w, bottom+4+strip-h, w-0.4, h)
		}
	}
	return p.String()
}

// dots are the effects of levels, one line each.
type dots struct {
	Height  int
	Lines   []dot
	XTicks  []tick
	Axis    string // height of the axis
	Names   string // height of the axis' labels
	Zero    string
	caption []string
}

type dot struct {
	Y, TextY      string
	Name, Full    string
	Before, After string
	Lower, Upper  string // "" without a standard error
	Rows          string
	Summary       string
}

func (d *drawing) dots(e *Effect) *dots {
	const line, nameWidth, countWidth = 17, 96, 46
	s, why := d.scale(e, "horizontal")
	x := axis{s, nameWidth + 6, width - countWidth - 6}
	shown := furthest(e.After, maxLevels)
	out := &dots{XTicks: x.spaced(6), caption: why}
	if s.lo < 0 && s.hi > 0 {
		out.Zero = px(x.at(0))
	}
	clamp := func(v float64) float64 { return math.Min(math.Max(v, s.lo), s.hi) }
	rows := d.byLevel(e.X.Feature)
	for at, i := range shown {
		y := float64(top + line*at + line/2)
		l := dot{
			Y: px(y), TextY: px(y + 4), Name: clip(e.X.Levels[i], 15), Full: clip(e.X.Levels[i], 200),
			Before: px(x.at(e.Before[i])), After: px(x.at(e.After[i])), Summary: num(e.After[i]),
		}
		if !bad(e.SE[i]) {
			half := bandWidth * e.SE[i]
			l.Lower, l.Upper = px(x.at(clamp(e.After[i]-half))), px(x.at(clamp(e.After[i]+half)))
			l.Summary += " ± " + num(half)
		}
		if n, ok := rows[e.X.Levels[i]]; ok {
			l.Rows = count(n)
		}
		out.Lines = append(out.Lines, l)
	}
	end := top + line*len(shown) + 4
	out.Axis, out.Names, out.Height = px(float64(end)), px(float64(end+14)), end+20
	if n := len(e.X.Levels); n > len(shown) {
		out.caption = append(out.caption, fmt.Sprintf("%d of %d levels are drawn, those furthest from 0; effects.csv has all.", len(shown), n))
	}
	return out
}

// furthest are the positions of the n values furthest from 0, in order.
func furthest(v []float64, n int) []int {
	at := make([]int, len(v))
	for i := range at {
		at[i] = i
	}
	if len(v) > n {
		slices.SortStableFunc(at, func(i, j int) int {
			switch a, b := math.Abs(v[i]), math.Abs(v[j]); {
			case a > b:
				return -1
			case a < b:
				return 1
			}
			return 0
		})
		at = at[:n]
		slices.Sort(at)
	}
	return at
}

// byLevel counts the rows of each level.
func (d *drawing) byLevel(name string) map[string]int64 {
	f := d.feature[name]
	out := map[string]int64{}
	if len(f.Levels) == len(f.Counts) {
		for i, l := range f.Levels {
			out[l] = f.Counts[i]
		}
	}
	return out
}
