package report

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// span is a range of values.
type span struct{ lo, hi float64 }

func emptySpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(v float64) {
	if !notFinite(v) {
		s.lo, s.hi = math.Min(s.lo, v), math.Max(s.hi, v)
	}
}

func (s *span) join(o span) { s.lo, s.hi = math.Min(s.lo, o.lo), math.Max(s.hi, o.hi) }

func (s span) empty() bool   { return !(s.lo <= s.hi) }
func (s span) size() float64 { return s.hi - s.lo }

// drawable widens a span of one value, or none, so that it can be an axis.
func (s span) drawable() span {
	if s.empty() {
		return span{-1, 1}
	}
	if least := 1e-9 * math.Max(math.Abs(s.lo), math.Abs(s.hi)); !(s.size() > least) {
		half := math.Max(math.Abs(s.lo)/10, 1)
		return span{s.lo - half, s.hi + half}
	}
	return s
}

// padded leaves air at both ends.
func (s span) padded(share float64) span {
	return span{s.lo - share*s.size(), s.hi + share*s.size()}
}

// axis maps values to positions of the picture.
type axis struct {
	span
	from, to float64
}

func (a axis) at(v float64) float64 {
	return a.from + (v-a.lo)/a.size()*(a.to-a.from)
}

// tick is a marked position.
type tick struct {
	At    string // position, formatted
	Label string
}

// ticks marks round numbers, n of them or down to half as many.
func (a axis) ticks(n int) []tick {
	step := niceStep(a.size() / float64(n))
	var out []tick
	for i := math.Ceil(a.lo/step - 1e-9); i*step <= a.hi+1e-9*step && len(out) < 4*n; i++ {
		out = append(out, tick{At: px(a.at(i * step)), Label: tickLabel(i*step, step)})
	}
	return out
}

// spaced is ticks for labels that stand side by side: as many as fit.
func (a axis) spaced(n int) []tick {
	const letter, gap = 6.2, 8 // of the labels' font
	for ; n > 1; n-- {
		ticks := a.ticks(n)
		longest := 0
		for _, t := range ticks {
			longest = max(longest, utf8.RuneCountInString(t.Label))
		}
		if float64(len(ticks))*(letter*float64(longest)+gap) <= math.Abs(a.to-a.from) {
			return ticks
		}
	}
	return a.ticks(1)
}

// niceStep is the nearest of 1, 2, 5 times a power of ten that is not smaller.
func niceStep(raw float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

func tickLabel(v, step float64) string {
	if math.Abs(v) < step/1e6 {
		return "0"
	}
	if a := math.Abs(v); a >= 1e6 || a < 1e-4 || step < 1e-6 {
		places := math.Floor(math.Log10(math.Abs(v))+1e-9) - math.Floor(math.Log10(step)+1e-9)
		return digits(v, 1+int(math.Min(math.Max(places, 0), 14)))
	}
	places := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	return minus(strconv.FormatFloat(v, 'f', places, 64))
}

// exact formats a number with all its digits.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// px formats a position of the picture.
func px(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(strings.TrimSuffix(s, ".0"), "-0")
}

// path is an SVG path. Lines are written as steps, in tenths as positions are, which takes half
// the bytes; what is left of rounding goes into the next step.
type path struct {
	strings.Builder
	x, y  int // where it is, in tenths
	steps bool
}

func tenths(v float64) int { return int(math.Round(10 * v)) }

func (p *path) move(x, y float64) {
	p.x, p.y, p.steps = tenths(x), tenths(y), false
	p.WriteString("M" + px(float64(p.x)/10) + " " + px(float64(p.y)/10))
}

func (p *path) line(x, y float64) {
	dx, dy := tenths(x)-p.x, tenths(y)-p.y
	p.x, p.y = p.x+dx, p.y+dy
	if !p.steps {
		p.WriteString("l")
	} else if dx >= 0 {
		p.WriteString(" ")
	}
	p.steps = true
	p.WriteString(step10(dx))
	if dy >= 0 {
		p.WriteString(" ")
	}
	p.WriteString(step10(dy))
}

// dot is a line of no length, which has the width of the pen. A path has nothing but dots then.
func (p *path) dot(x, y float64) {
	dx, dy := tenths(x)-p.x, tenths(y)-p.y
	p.x, p.y = p.x+dx, p.y+dy
	p.WriteString("m" + step10(dx))
	if dy >= 0 {
		p.WriteString(" ")
	}
	p.WriteString(step10(dy) + "h0")
}

// up and across are lines along one axis.
func (p *path) up(y float64) {
	if dy := tenths(y) - p.y; dy != 0 {
		p.y, p.steps = p.y+dy, false
		p.WriteString("v" + step10(dy))
	}
}

func (p *path) across(x float64) {
	if dx := tenths(x) - p.x; dx != 0 {
		p.x, p.steps = p.x+dx, false
		p.WriteString("h" + step10(dx))
	}
}

// step10 formats tenths without a leading zero.
func step10(n int) string {
	s := px(float64(n) / 10)
	if strings.HasPrefix(s, "0.") {
		return s[1:]
	}
	return strings.Replace(s, "-0.", "-.", 1)
}

func (p *path) bar(x, y, w, h float64) {
	p.WriteString("M" + px(x) + " " + px(y) + "h" + px(w) + "v" + px(h) + "h" + px(-w) + "z")
}
