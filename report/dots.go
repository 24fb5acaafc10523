package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// dots are the effects of levels, one line each.
type dots struct {
	Height  int
	Lines   []dot
	XTicks  []tick
	Axis    string // height of the axis
	Names   string // height of the axis' labels
	Zero    string
	Counted bool  // rows by level are known
	More    []dot // not drawn, as numbers: Full, Before, After, Rows, and the standard error as Summary
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
	const line, nameWidth, countWidth = 17, 96, 46
	s, why := d.scale(e, "horizontal")
	x := axis{s, nameWidth + 6, width - countWidth - 6}
	shown, both := furthest(e.After, maxLevels), d.both || e.hasBefore()
	if !e.X.ordered() || len(shown) < len(e.After) {
		byEffect(shown, e.After)
	}
	out := &dots{XTicks: x.spaced(6), caption: why}
	if s.lo < 0 && s.hi > 0 {
		out.Zero = px(x.at(0))
	}
	clamp := func(v float64) float64 { return math.Min(math.Max(v, s.lo), s.hi) }
	rows := d.byLevel(e.X)
	for at, i := range shown {
		y := float64(top + line*at + line/2)
		l := dot{
			Y: px(y), TextY: px(y + 4), Name: clip(e.X.Levels[i], 15), Full: clip(e.X.Levels[i], 200), Level: clean(e.X.Levels[i]),
			After: px(x.at(e.After[i])), Summary: num(e.After[i]),
		}
		if both {
			l.Before = px(x.at(e.Before[i]))
		}
		if !notFinite(e.SE[i]) {
			half := e.half(i)
			l.Lower, l.Upper = px(x.at(clamp(e.After[i]-half))), px(x.at(clamp(e.After[i]+half)))
			l.Summary += " ± " + num(half)
		}
		if n, ok := rows[e.X.Levels[i]]; ok {
			l.Rows, out.Counted = count(n), true
		}
		out.Lines = append(out.Lines, l)
	}
	end := top + line*len(shown) + 4
	out.Axis, out.Names, out.Height = px(float64(end)), px(float64(end+14)), end+20
	if n := len(e.X.Levels); n > len(shown) {
		out.more(e, shown, rows)
		out.caption = append(out.caption, fmt.Sprintf("%d of %d levels are drawn, those furthest from 0; effects.csv has all.", len(shown), n))
	}
	return out
}

// listedLevels is how many of the levels that are not drawn are listed.
const listedLevels = 500

// more lists the levels that are not drawn, by effect.
func (d *dots) more(e *Effect, shown []int, rows map[string]int64) {
	rest := slices.DeleteFunc(furthest(e.After, len(shown)+listedLevels), func(i int) bool { return slices.Contains(shown, i) })
	byEffect(rest, e.After)
	for _, i := range rest {
		l := dot{Full: clip(e.X.Levels[i], 200), Before: num(e.Before[i]), After: num(e.After[i]), Summary: maybe(&e.SE[i])}
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
