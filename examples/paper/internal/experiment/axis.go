package experiment

import (
	"math"
	"strconv"
	"strings"
)

// span is an interval of values.
type span struct{ lo, hi float64 }

func newSpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(v ...float64) {
	for _, x := range v {
		if x-x == 0 {
			s.lo, s.hi = math.Min(s.lo, x), math.Max(s.hi, x)
		}
	}
}

func (s *span) join(t span) { s.add(t.lo, t.hi) }

// axis maps values to places: from lo at a to hi at b.
type axis struct {
	span
	log  bool
	a, b float64
}

// newAxis pads the span; on a logarithmic axis values that are not positive have
// no place.
func newAxis(s span, log bool, a, b float64) axis {
	if log {
		s.lo = math.Max(s.lo, 1e-300)
	}
	x := axis{s, log, a, b}
	if !(s.lo <= s.hi) {
		x.span = span{1, 2}
	}
	lo, hi := x.scale(x.lo), x.scale(x.hi)
	if hi == lo {
		lo, hi = lo-0.5, hi+0.5
	}
	pad := 0.04 * (hi - lo)
	x.lo, x.hi = lo-pad, hi+pad // in the axis' own scale from here on
	return x
}

func (x *axis) scale(v float64) float64 {
	if x.log {
		return math.Log10(v)
	}
	return v
}

// at is the place of v, NaN outside the axis's domain.
func (x *axis) at(v float64) float64 {
	return x.a + (x.scale(v)-x.lo)/(x.hi-x.lo)*(x.b-x.a)
}

// ticks are round values, about count of them.
func (x *axis) ticks(count int) []float64 {
	var out []float64
	if x.log {
		for _, steps := range [][]float64{{1}, {1, 3}, {1, 2, 5}} {
			out = out[:0]
			for e := math.Floor(x.lo); e <= math.Ceil(x.hi); e++ {
				for _, m := range steps {
					v := m * math.Pow(10, e)
					if l := math.Log10(v); l >= x.lo && l <= x.hi {
						out = append(out, v)
					}
				}
			}
			if len(out) >= 4 {
				break
			}
		}
		for len(out) > 2*count {
			for i := 0; 2*i < len(out); i++ {
				out[i] = out[2*i]
			}
			out = out[:(len(out)+1)/2]
		}
		return out
	}
	raw := (x.hi - x.lo) / float64(count)
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (x.hi-x.lo)/(step*m) <= float64(count)+1 {
			step *= m
			break
		}
	}
	for k := math.Ceil(x.lo / step); k*step <= x.hi; k++ {
		out = append(out, k*step+0) // + 0: no -0
	}
	return out
}

// label writes a tick without noise digits.
func label(v float64) string {
	if v != 0 && (math.Abs(v) >= 1e5 || math.Abs(v) < 1e-3) {
		s := strconv.FormatFloat(v, 'e', 6, 64)
		mantissa, exponent, _ := strings.Cut(s, "e")
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		n, _ := strconv.Atoi(exponent)
		return mantissa + "e" + strconv.Itoa(n)
	}
	s := strconv.FormatFloat(v, 'f', 6, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return strings.ReplaceAll(s, "-", "−")
}
