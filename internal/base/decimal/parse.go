package decimal

import (
	"math"
	"math/bits"
)

// Padding is how many bytes Prefix wants to see behind a number, whatever they are.
const Padding = 8

// Prefix reads the number that b begins with: digits with a point among or behind them, a
// minus before and an exponent after them if there are any. n is how many bytes it takes. It is
// 0 if b begins with nothing like that, if no Padding bytes follow, and for some numbers
// of many digits or a large exponent: strconv.ParseFloat knows those. v has the bits of
// ParseFloat's.
func Prefix(b []byte) (v float64, n int) {
	if len(b) < 3 {
		return 0, 0
	}
	i, sign := 0, uint64(0)
	if b[0] == '-' {
		i, sign = 1, 1<<63
	}
	d, i, ok := whole(b, i)
	if !ok {
		return 0, 0
	}
	p := 0
	if b[i] == '.' {
		point := i + 1
		if d, i, ok = run(b, point, d); !ok {
			return 0, 0
		}
		p = point - i
	}
	if b[i]|0x20 == 'e' {
		var e int
		if e, i, ok = exponent(b, i+1); !ok {
			return 0, 0
		}
		p += e
	}
	m, ok := scale(d, p)
	if !ok {
		return 0, 0
	}
	return math.Float64frombits(math.Float64bits(m) | sign), i
}

// whole reads the digits before the point, which is one in most data.
func whole(b []byte, i int) (uint64, int, bool) {
	if digit := uint64(b[i] - '0'); digit <= 9 && b[i+1] == '.' {
		return digit, i + 1, true
	}
	d, end, ok := run(b, i, 0)
	return d, end, ok && end > i
}

// run reads digits from place i on and appends them to those of d. It returns the place
// behind them, and false if they do not fit into 64 bits or b ends too early.
func run(b []byte, i int, d uint64) (uint64, int, bool) {
	if i+8 > len(b) {
		return 0, i, false
	}
	t, k := leading(load(b[i:]))
	if k == 8 {
		if d >= tens[19-8] {
			return 0, i, false
		}
		return long(b, i+8, d*1e8+eight(t)) // whoever predicts that k is 8 need not wait for it
	}
	if d >= tens[19-k] {
		return 0, i, false
	}
	return d*tens[k] + eight(t), i + k, true
}

// long is run for up to 15 more digits, which it reads without asking how many there are:
// nobody could guess that.
func long(b []byte, i int, d uint64) (uint64, int, bool) {
	if i+16 > len(b) {
		return run(b, i, d)
	}
	t, k := leading(load(b[i:]))
	u, l := leading(load(b[i+8:]))
	if k < 8 {
		u, l = 0, 0
	}
	if d >= tens[19-k] {
		return 0, i, false
	}
	d = d*tens[k] + eight(t)
	if d >= tens[19-l] || l == 8 {
		return 0, i, false
	}
	return d*tens[l] + eight(u), i + k + l, true
}

// leading cuts the digits off with which eight characters begin: their values, behind
// zeros, and how many they are.
func leading(characters uint64) (t uint64, k int) {
	t = characters ^ zeros
	other := ((t & 0x7f7f7f7f7f7f7f7f) + 0x7676767676767676 | t) & 0x8080808080808080
	digits := bits.TrailingZeros64(other) >> 3
	return t << (64 - 8*digits), digits
}

// eight is the number of eight digits (0 to 9, not characters), the first the lowest byte.
func eight(t uint64) uint64 {
	t = t*10 + t>>8
	const pair = 0x000000ff000000ff
	return ((t&pair)*(100+1000000<<32) + (t>>16&pair)*(1+10000<<32)) >> 32
}

// exponent reads what follows an e, up to three digits.
func exponent(b []byte, i int) (e, end int, ok bool) {
	if i+5 > len(b) {
		return 0, i, false
	}
	minus := b[i] == '-'
	if minus || b[i] == '+' {
		i++
	}
	first := i
	for ; i < first+4 && b[i]-'0' <= 9; i++ {
		e = 10*e + int(b[i]-'0')
	}
	if minus {
		e = -e
	}
	return e, i, i > first && i < first+4
}

// scale is d 10^p, rounded to the nearest number, of two as near to the even one. ok is
// false where it cannot tell.
func scale(d uint64, p int) (v float64, ok bool) {
	if d == 0 {
		return 0, true
	}
	if p < leastPower || p > mostPower {
		return 0, false
	}
	// Of the product of d and 10^p, each scaled to its full bits, the upper 64 bits are enough to
	// round to 53, unless the bits behind are all ones, when a little more might carry over, or all
	// zeros, when it might be a tie.
	shift := bits.LeadingZeros64(d)
	d <<= shift
	power := &powers[p-leastPower]
	high, low := bits.Mul64(d, power[0])
	const behind = 1<<9 - 1
	if high&behind == behind {
		more, rest := bits.Mul64(d, power[1])
		var carry uint64
		low, carry = bits.Add64(low, more, 0)
		high += carry
		if high&behind == behind && low == math.MaxUint64 && rest+d < rest {
			return exact(d>>shift, p)
		}
	}
	top := int(high >> 63)
	m := high >> (9 + top) // 54 bits
	if low == 0 && high&(1<<(9+top)-1) == 0 && m&3 == 1 {
		return exact(d>>shift, p)
	}
	m = (m + m&1) >> 1
	e := 63 - shift + log2Pow10(p) + top // of the leading bit
	// If rounding made a bit more of m, it is added to the exponent.
	return math.Float64frombits(uint64(e+1022)<<52 + m), true
}

// exact is d 10^p if both factors are float64 numbers: then one operation rounds.
func exact(d uint64, p int) (float64, bool) {
	switch {
	case d > 1<<53 || p < -22 || p > 22:
		return 0, false
	case p < 0:
		return float64(d) / powersOfTen[-p], true
	}
	return float64(d) * powersOfTen[p], true
}

// powersOfTen are those that are float64 numbers.
var powersOfTen = [23]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}
