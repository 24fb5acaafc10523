package columnar

import "math"

// Half is the value of a float16.
func Half(b uint16) float64 {
	sign, exponent, fraction := 1.0, int(b>>10&31), float64(b&1023)
	if b>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
