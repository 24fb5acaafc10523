package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// frame is the part of a numeric feature that is drawn, and on which scale.
type frame struct {
	axis          // of warped values
	warp     warp // what is drawn is warp of the value
	integers bool // the feature takes whole numbers only
	lo, hi   float64
	caption  []string
}

// warp is a scale: linear, of the logarithm, or of asinh(v/unit), which is linear about 0
// and a logarithm far from it.
type warp struct {
	name string // "", "log" or "asinh"
	unit float64
}

func (w warp) of(v float64) float64 {
	switch w.name {
	case "log":
		return math.Log(v)
	case "asinh":
		return math.Asinh(v / w.unit)
	}
	return v
}

func (w warp) inverse(v float64) float64 {
	switch w.name {
	case "log":
		return math.Exp(v)
	case "asinh":
		return w.unit * math.Sinh(v)
	}
	return v
}

// String is the scale as the page's attribute has it.
func (w warp) String() string {
	switch w.name {
	case "":
		return "linear"
	case "asinh":
		return "asinh " + strconv.FormatFloat(w.unit, 'g', 6, 64)
	}
	return w.name
}

func (f *frame) at(v float64) float64 { return f.axis.at(f.warp.of(v)) }

// newFrame chooses what to draw of a feature between the positions from and to. The rows'
// quantiles decide, if they are known: the central 96 % of the rows fill half of the frame or
// more, and what lies beyond is said in the caption. So a curve is not squeezed by the few
// rows that are far from all others.
func newFrame(a *Axis, quantiles []float64, from, to float64) *frame {
	lo, hi := a.Values[0], a.Values[len(a.Values)-1]
	f := &frame{lo: lo, hi: hi, integers: whole(quantiles)}
	if len(quantiles) > 2 {
		f.warp = skewed(quantiles)
		from, to := inner(f.warp, quantiles)
		f.lo, f.hi = math.Max(lo, from), math.Min(hi, to)
		f.say(a.Feature, quantiles)
	}
	if a.whole { // a step is as wide as a number
		f.lo, f.hi = f.lo-0.5, f.hi+0.5
	}
	f.axis = axis{span{f.warp.of(f.lo), f.warp.of(f.hi)}.drawable(), from, to}
	return f
}

// central are the values that 96 % of the rows lie between, and the median.
func central(q []float64) (lo, middle, hi float64) {
	n := len(q) - 1
	at := func(p float64) float64 { return q[int(math.Round(p*float64(n)))] }
	return at(0.02), at(0.5), at(0.98)
}

// skewed chooses the scale of a feature: the logarithm, if even of the central rows the upper
// half takes five times the room of the lower (a log-normal of sigma above 0.8) and the largest is
// five times the least, or asinh where there are values of 0 or less. Columns of single far
// values are not skewed: they are cut.
func skewed(q []float64) warp {
	lo, middle, hi := central(q)
	if hi-middle <= 5*(middle-lo) || hi <= 0 {
		return warp{}
	}
	if q[0] > 0 && hi > 5*lo {
		return warp{name: "log"}
	}
	for _, v := range q { // linear up to the least values above 0
		if v > 0 && hi > 20*v {
			return warp{name: "asinh", unit: v}
		}
	}
	return warp{}
}

// inner is what is drawn of a feature: the range of its rows less ends that hold 2 % of the
// rows or less and much of the room.
func inner(w warp, q []float64) (lo, hi float64) {
	l, _, h := central(q)
	lo, hi = q[0], q[len(q)-1]
	from, to := w.of(l), w.of(h)
	room := 0.5 * (to - from)
	if !(room > 0) {
		return lo, hi
	}
	const worth = 2 // what is not much wider is drawn whole
	if w.of(lo) < from-worth*room {
		lo = w.inverse(from - room)
	}
	if w.of(hi) > to+worth*room {
		hi = w.inverse(to + room)
	}
	return lo, hi
}

// say tells in the caption what is not drawn, and of a scale that is not linear.
func (f *frame) say(name string, q []float64) {
	name = clip(name, 40)
	below, above := 0, 0
	for _, v := range q {
		if v < f.lo {
			below++
		}
		if v > f.hi {
			above++
		}
	}
	share := func(n int) string {
		if n <= 1 {
			return "less than 2 %"
		}
		return fmt.Sprintf("about %d %%", int(math.Round(100*float64(n)/float64(len(q)))))
	}
	if f.lo > q[0] {
		f.caption = append(f.caption, fmt.Sprintf("Rows of lower %s, down to %s, are not in the picture (%s).", name, trimmed(num(q[0])), share(below)))
	}
	if f.hi < q[len(q)-1] {
		f.caption = append(f.caption, fmt.Sprintf("Rows of higher %s, up to %s, are not in the picture (%s).", name, trimmed(num(q[len(q)-1])), share(above)))
	}
	if f.warp.name != "" {
		f.caption = append(f.caption, "The scale of "+name+" is logarithmic.")
	}
}

// whole tells whether all values are whole numbers.
func whole(v []float64) bool {
	return len(v) > 0 && !slices.ContainsFunc(v, func(v float64) bool { return v != math.Trunc(v) || math.Abs(v) > 1e9 })
}

// marks are the ticks, n or fewer.
func (f *frame) marks(n int) []tick {
	switch {
	case f.warp.name != "":
		return f.powers()
	case f.integers:
		return f.spaced(int(math.Max(1, math.Min(float64(n), math.Floor(f.axis.size())))))
	}
	return f.spaced(n)
}

// powers marks 0 and powers of ten, with their 2- and 5-fold where there is room.
func (f *frame) powers() []tick {
	for _, parts := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		var values []float64
		for e := math.Floor(math.Log10(math.Max(f.hi, -f.lo))); e >= -12; e-- {
			for i := range parts {
				v := parts[len(parts)-1-i] * math.Pow(10, e)
				if v < f.warp.unit || f.warp.name == "log" && v < f.lo {
					e = -13
					break
				}
				values = append(values, v, -v)
			}
		}
		values = append(values, 0)
		slices.Sort(values)
		values = slices.DeleteFunc(values, func(v float64) bool { return !(v >= f.lo && v <= f.hi) || v == 0 && f.warp.name == "log" })
		var out []tick
		last, fits := math.Inf(-1), true
		for _, v := range values {
			t := tick{At: px(f.at(v)), Label: num(v)}
			half := 3.1*float64(len([]rune(t.Label))) + 3
			if f.at(v)-half < last {
				fits = false
			}
			last = f.at(v) + half
			out = append(out, t)
		}
		if fits || len(parts) == 1 {
			return out
		}
	}
	return nil
}

// rows are the shares of the rows, in n parts of equal width between the frame's ends, as
// far as quantiles tell.
func (f *frame) rows(q []float64, n int) []float64 {
	out := make([]float64, n)
	place := func(v float64) float64 {
		v = math.Min(math.Max(v, math.Min(f.lo, q[0])), math.Max(f.hi, q[len(q)-1]))
		return (f.warp.of(v) - f.axis.lo) / f.axis.size() * float64(n)
	}
	add := func(bin int, share float64) {
		if bin >= 0 && bin < n {
			out[bin] += share
		}
	}
	for i := range len(q) - 1 {
		a, b := place(q[i]), place(q[i+1])
		if !(b > a) {
			bin := int(math.Floor(a))
			if a == float64(n) {
				bin--
			}
			add(bin, 1)
			continue
		}
		for bin := max(0, int(math.Floor(a))); bin < n && float64(bin) < b; bin++ {
			add(bin, (math.Min(b, float64(bin+1))-math.Max(a, float64(bin)))/(b-a))
		}
	}
	return out
}
