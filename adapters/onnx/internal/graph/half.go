package graph

import "math"

// The largest numbers of the floating types of 16 bits.
const (
	largestHalf  = 65504
	largestBrain = (2 - 1.0/128) * (1 << 127)
)

// nearest rounds x, ties to even, to the given number of binary digits behind the first
// one; below 2^least digits are lost, beyond largest it is infinite.
func nearest(x float64, digits, least int, largest float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	_, e := math.Frexp(x)
	unit := math.Ldexp(1, max(e-1, least)-digits)
	r := math.RoundToEven(x/unit) * unit
	if math.Abs(r) > largest {
		return math.Inf(int(math.Copysign(1, x)))
	}
	return r
}

// ofHalf is the number that the bits of a float16 mean.
func ofHalf(b uint16) float64 {
	sign, e, m := 1-2*float64(b>>15), int(b>>10&31), float64(b&1023)
	switch {
	case e == 31 && m == 0:
		return math.Inf(int(sign))
	case e == 31:
		return math.NaN()
	case e == 0:
		return sign * math.Ldexp(m, -24)
	}
	return sign * math.Ldexp(1024+m, e-25)
}

// ofBrain is the number that the bits of a bfloat16 mean: those of a float's first half.
func ofBrain(b uint16) float64 { return float64(math.Float32frombits(uint32(b) << 16)) }
