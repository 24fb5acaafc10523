package decimal

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// room is what the text of a number may take while it is written: more than it has in the end.
const room = 40

// Append appends the shortest text that reads back as v, as strconv.AppendFloat does with
// format 'g', precision -1 and 64 bits.
func Append(text []byte, v float64) []byte {
	u := math.Float64bits(v)
	c, q := u&(1<<52-1), int(u>>52&0x7ff)
	if v == 0 || q < least || q > most {
		return strconv.AppendFloat(text, v, 'g', -1, 64)
	}
	text = slices.Grow(text, room)
	at := len(text)
	to := text[at : at+room]
	n := 0
	if u>>63 != 0 {
		to[0] = '-'
		n = 1
	}
	d, k := shortest(c, q)
	n += layout(to[n:], d, k)
	return text[:at+n]
}

// Biased exponents of the numbers for which the table has the power of ten.
const (
	least = 1075 - 210
	most  = 1075 + 200
)

// shortest is the decimal d 10^k of the fewest digits that rounds to the number whose bits have
// the fraction c and the exponent q, and of several the one nearest to it. d may end in zeros.
//
// It is the algorithm Schubfach: R. Giulietti, The Schubfach way to render doubles, 2020.
func shortest(c uint64, q int) (d uint64, k int) {
	closer := uint64(0) // the number below is nearer than that above
	if c == 0 {
		closer = 1
	}
	c, q = c|1<<52, q-1075 // the number is c 2^q
	if q <= 0 && q > -53 && c&(1<<-q-1) == 0 {
		return c >> -q, 0 // it is whole
	}
	k = (q*1262611 - int(closer)*524031) >> 22 // floor(log10(2^q)), or of 3/4 of it
	h := uint(q+log2Pow10(-k)+1) & 63
	power := &powers[-k-leastPower]
	high, low := power.high, power.low
	if k > 0 || k < -55 {
		low++ // rounded up
	}
	// Four times the number, and the ends of the interval that rounds to it, over 10^k. Of
	// what is behind the point, the lowest bit says whether there is anything.
	below := odd(high, low, (4*c-2+closer)<<h)
	here := odd(high, low, 4*c<<h)
	above := odd(high, low, (4*c+2)<<h)
	below += c & 1 // the ends belong to the interval if c is even
	above -= c & 1
	s := here / 4
	if tenth := s / 10; tenth > 0 {
		under, over := below <= 40*tenth, 40*tenth+40 <= above
		if under != over {
			if over {
				tenth++
			}
			return tenth, k + 1
		}
	}
	if under, over := below <= 4*s, 4*s+4 <= above; under != over {
		if over {
			s++
		}
		return s, k
	}
	// Both are inside: the nearer one.
	if middle := 4*s + 2; here > middle || here == middle && s&1 == 1 {
		s++
	}
	return s, k
}

// odd is the number's product with a power of ten, over 2^128, rounded to odd.
func odd(high, low, c uint64) uint64 {
	x, _ := bits.Mul64(low, c)
	y1, y0 := bits.Mul64(high, c)
	y0, carry := bits.Add64(y0, x, 0)
	y1 += carry
	if y0 > 1 {
		y1 |= 1
	}
	return y1
}

// digits are the digits of a number from place first to place last-1 of text, and zeros up to
// place 32.
type digits struct {
	text        [48]byte
	first, last int
}

// set takes the digits of d, below 10^17, but for zeros at its ends.
func (s *digits) set(d uint64) {
	upper, lower := d/1e8, d%1e8
	head, middle, tail := characters(upper/1e8), characters(upper%1e8), characters(lower)
	store(s.text[:], head+zeros)
	store(s.text[8:], middle+zeros)
	store(s.text[16:], tail+zeros)
	store(s.text[24:], zeros)
	switch {
	case head != 0:
		s.first = bits.TrailingZeros64(head) >> 3
	case middle != 0:
		s.first = 8 + bits.TrailingZeros64(middle)>>3
	default:
		s.first = 16 + bits.TrailingZeros64(tail)>>3
	}
	switch {
	case tail != 0:
		s.last = 24 - bits.LeadingZeros64(tail)>>3
	case middle != 0:
		s.last = 16 - bits.LeadingZeros64(middle)>>3
	default:
		s.last = 8 - bits.LeadingZeros64(head)>>3
	}
}

// characters are the eight digits of v, below 10^8, the first the lowest byte.
func characters(v uint64) uint64 {
	v = v/1e4 | v%1e4<<32
	hundreds := v * 10486 >> 20 & 0x7f0000007f
	v = hundreds | (v-100*hundreds)<<16
	tens := v * 103 >> 10 & 0xf000f000f000f
	return tens | (v-10*tens)<<8
}

// layout writes d 10^k and returns how many bytes that takes.
func layout(to []byte, d uint64, k int) int {
	var s digits
	s.set(d)
	_ = to[room-2]
	n, point := s.last-s.first, 24-s.first+k // digits; place of the point among them
	switch {
	case point < -3 || point > 6:
		return s.exponential(to, n, point-1)
	case point <= 0:
		store(to, zeros-('0'-'.')<<8) // 0.000000
		s.copy(to[2-point:], s.first)
		return 2 - point + n
	}
	store(to, load(s.text[s.first:]))
	if n <= point {
		return point
	}
	to[point] = '.'
	s.copy(to[point+1:], s.first+point)
	return n + 1
}

// copy writes the digits from a place on, and more behind them.
func (s *digits) copy(to []byte, from int) {
	store(to, load(s.text[from:]))
	store(to[8:], load(s.text[from+8:]))
	store(to[16:], load(s.text[from+16:]))
}

// exponential writes n digits with a point behind the first, and the exponent e.
func (s *digits) exponential(to []byte, n, e int) int {
	to[0], to[1] = s.text[s.first], '.'
	s.copy(to[2:], s.first+1)
	if n > 1 {
		n++
	}
	to[n], to[n+1] = 'e', '+'
	if e < 0 {
		e, to[n+1] = -e, '-'
	}
	to[n+2], to[n+3] = '0'+byte(e/10), '0'+byte(e%10)
	return n + 4
}
