package kernel

import (
	"math"
	"unsafe"
)

// spline is the argument of the assembly that evaluates cubic B-splines.
type spline struct {
	x     unsafe.Pointer
	n     uintptr // a multiple of the lanes, at least that
	first unsafe.Pointer
	value unsafe.Pointer
	lo    float64
	hi    float64
	scale float64
	last  float64
	out   uintptr
}

// Splines evaluates the cubic B-splines on equispaced knots at n numbers between lo
// and hi, which have intervals of equal width between them, scale of them to one
// unit of x: first[i] is the interval of x[i] (0 to intervals-1) and the number of
// the first of the four functions that are not 0 there, whose values are
// value[4i:4i+4]. It reports whether all numbers were within lo and hi; if not, the
// results are without meaning. The bits are the same on every machine.
func Splines(first []int32, value, x []float64, lo, hi, scale float64, intervals int) bool {
	return splines(best(), first, value, x, lo, hi, scale, intervals)
}

func splines(s isa, first []int32, value, x []float64, lo, hi, scale float64, intervals int) bool {
	n := len(x)
	first, value = first[:n], value[:Band*n]
	if s == plain {
		return splinesPlain(first, value, x, lo, hi, scale, float64(intervals-1))
	}
	a := spline{lo: lo, hi: hi, scale: scale, last: float64(intervals - 1)}
	lanes := s.vector() / 8
	whole := n - n%lanes
	if whole > 0 {
		a.x, a.n, a.first, a.value = at(x, 0), uintptr(whole), at(first, 0), at(value, 0)
		runBandSpline(s, &a)
		if a.out != 0 {
			return false
		}
	}
	return splinesPlain(first[whole:], value[Band*whole:], x[whole:], lo, hi, scale, float64(intervals-1))
}

func splinesPlain(first []int32, value, x []float64, lo, hi, scale, last float64) bool {
	for i, v := range x {
		if !(v >= lo && v <= hi) {
			return false
		}
		t := float64((v - lo) * scale) // or arm64 fuses it with what follows
		j := min(math.Floor(t), last)
		first[i] = int32(j)
		u := float64(t - j)
		r := 1 - u
		u2, r2 := float64(u*u), float64(r*r)
		out := value[Band*i:][:Band]
		out[0] = float64(r*r2) * (1.0 / 6)
		out[1] = 2.0/3 - float64(u2*(1-float64(u*0.5)))
		out[2] = 2.0/3 - float64(r2*(1-float64(r*0.5)))
		out[3] = float64(u*u2) * (1.0 / 6)
	}
	return true
}

// BandNorm returns the largest sum of the absolute values of four adjacent numbers,
// v[4i] to v[4i+3]; NaN if a sum is not finite; 0 if there is none.
func BandNorm(v []float64) float64 { return bandNorm(best(), v) }

func bandNorm(s isa, v []float64) float64 {
	var sums [2 * Band]float64
	if n := len(v) / Band; s != plain && n >= 4 {
		n -= n % 4
		runBandNorm(&band{a: at(v, 0), n: uintptr(n), b: at(sums[:], 0)})
		v = v[Band*n:]
	}
	norm := max(sums[0], sums[1], sums[2], sums[3]) + (sums[4] + sums[5] + sums[6] + sums[7])
	for ; len(v) >= Band; v = v[Band:] {
		s := (math.Abs(v[0]) + math.Abs(v[1])) + (math.Abs(v[2]) + math.Abs(v[3]))
		norm = max(norm, s+(s-s)) // NaN stays
	}
	return norm
}

// Bounds returns the least and the greatest of x, +Inf and -Inf of none; finite is
// false, and the bounds without meaning, if there is a NaN or an infinity.
func Bounds(x []float64) (lo, hi float64, finite bool) { return bounds(best(), x) }

func bounds(s isa, x []float64) (lo, hi float64, finite bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	rest := 0.0
	if n := len(x) - len(x)%16; s != plain && n > 0 {
		var out [12]float64
		runBounds(&band{a: at(x, 0), n: uintptr(n), b: at(out[:], 0)})
		lo = min(out[0], out[1], out[2], out[3])
		hi = max(out[4], out[5], out[6], out[7])
		rest = out[8] + out[9] + out[10] + out[11]
		x = x[n:]
	}
	for _, v := range x {
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
		rest += v - v
	}
	return lo, hi, rest == 0
}
