package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// dots are the effects of levels, one line each.
type dots struct {
	Height  int
	NameX   string // where names end
	Left    string // where the axis begins
	Lines   []dot
	XTicks  []tick
	Axis    string // height of the axis
	Names   string // height of the axis' labels
	Zero    string
	Counted bool  // rows by level are known
	More    []dot // not drawn, as numbers: Full, Before, After, Rows, and the band as Summary
	caption []string
}

type dot struct {
	Y, TextY      string
	Name, Full    string
	Level         string // as the data have it
	Before, After string
	Lower, Upper  string // "" without a standard error
	Rows          string
	Summary       string
}

func (d *drawing) dots(e *Effect) *dots {
	const line, countWidth, letter = 17, 46, 6.2
	s, why := d.scale(e, "horizontal")
	shown, both, v := furthest(e.After, maxLevels), d.both || e.hasBefore(), d.shown(e)
	if !e.X.ordered() || len(shown) < len(e.After) {
		byEffect(shown, v.after)
	}
	letters := 4
	for _, i := range shown {
		letters = max(letters, utf8.RuneCountInString(e.X.Levels[i]))
	}
	letters = min(letters, mostLetters)
	x := axis{s, math.Round(letter*float64(letters)) + 12, width - countWidth - 6}
	out := &dots{NameX: px(x.from - 6), Left: px(x.from), XTicks: x.spaced(6), caption: why}
	if s.lo < d.outcome.base && s.hi > d.outcome.base {
		out.Zero = px(x.at(d.outcome.base))
	}
	clamp := func(v float64) float64 { return math.Min(math.Max(v, s.lo), s.hi) }
	rows := d.byLevel(e.X)
	for at, i := range shown {
		y := float64(top + line*at + line/2)
		l := dot{
			Y: px(y), TextY: px(y + 4), Name: clip(e.X.Levels[i], letters), Full: clip(e.X.Levels[i], 200), Level: clean(e.X.Levels[i]),
			After: px(x.at(v.after[i])), Summary: num(v.after[i]),
		}
		if both {
			l.Before = px(x.at(v.before[i]))
		}
		if v.low != nil && !notFinite(v.low[i]) {
			l.Lower, l.Upper = px(x.at(clamp(v.low[i]))), px(x.at(clamp(v.high[i])))
			l.Summary += " (" + num(v.low[i]) + " to " + num(v.high[i]) + ")"
		}
		if n, ok := rows[e.X.Levels[i]]; ok {
			l.Rows, out.Counted = count(n), true
		}
		out.Lines = append(out.Lines, l)
	}
	end := top + line*len(shown) + 4
	out.Axis, out.Names, out.Height = px(float64(end)), px(float64(end+14)), end+20
	if n := len(e.X.Levels); n > len(shown) {
		out.more(e, v, shown, rows)
		out.caption = append(out.caption, fmt.Sprintf("%d of %d levels are drawn, those furthest from 0; effects.csv has all.", len(shown), n))
	}
	return out
}

// mostLetters is how many letters of a level's name are written.
const mostLetters = 29

// listedLevels is how many of the levels that are not drawn are listed.
const listedLevels = 500

// more lists the levels that are not drawn, by effect.
func (d *dots) more(e *Effect, v *shown, drawn []int, rows map[string]int64) {
	rest := slices.DeleteFunc(furthest(e.After, len(drawn)+listedLevels), func(i int) bool { return slices.Contains(drawn, i) })
	byEffect(rest, v.after)
	for _, i := range rest {
		l := dot{Full: clip(e.X.Levels[i], 200), Before: num(v.before[i]), After: num(v.after[i]), Summary: none}
		if v.low != nil && !notFinite(v.low[i]) {
			l.Summary = num(v.low[i]) + " to " + num(v.high[i])
		}
		if n, ok := rows[e.X.Levels[i]]; ok {
			l.Rows = count(n)
		}
		d.More = append(d.More, l)
	}
}

// byEffect orders positions by their values, the largest first.
func byEffect(at []int, v []float64) {
	slices.SortStableFunc(at, func(i, j int) int { return cmp.Compare(v[j], v[i]) })
}

// furthest are the positions of the n values furthest from 0, ascending.
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
