package decimal

import (
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/pho-go/pho/internal/base/kernel"
)

// room is what the text of a number may take while it is written: more than it has in the end.
const room = 40

// Append appends the shortest text that reads back as v, as strconv.AppendFloat does with
// format 'g', precision -1 and 64 bits.
func Append(text []byte, v float64) []byte {
	u := math.Float64bits(v)
	d, k, ok := shortest(u&(1<<52-1), int(u>>52&0x7ff))
	if !ok {
		return strconv.AppendFloat(text, v, 'g', -1, 64)
	}
	at := len(text)
	text = slices.Grow(text, room)[:at+room]
	text[at] = '-'
	at += int(u >> 63)
	return text[:at+layout((*[room - 1]byte)(text[at:]), d, k)]
}

// appendAll appends what Append does for each number, and behind each the byte that behind has for it.
func appendAll(text []byte, v []float64, behind []byte) []byte {
	for vectors := kernel.WritesDecimals(); len(v) > 0; v, behind = v[1:], behind[1:] {
		if vectors && len(v) >= few {
			text = slices.Grow(text, len(v)*kernel.DecimalRoom)
			done, n := kernel.WriteDecimals(text[len(text):cap(text)], v, behind, &powers)
			if text, v, behind = text[:len(text)+n], v[done:], behind[done:]; len(v) == 0 {
				break
			}
		}
		text = append(Append(text, v[0]), behind[0])
	}
	return text
}

// few numbers take less time one by one than side by side.
const few = 4

// Biased exponents of the numbers for which the table has the power of ten.
const (
	least = 1075 - 210
	most  = 1075 + 200
)

// shortest is the decimal d 10^k of the fewest digits that rounds to the number whose bits have
// the fraction c and the exponent q, and of several the one nearest to it, with zeros behind it
// to make 17 digits. ok is false where it cannot tell, which is seldom.
//
// The power of ten that leaves the number 16 or 17 digits before the point makes the interval
// that rounds to it at least 1 and less than 10 wide. So either a multiple of ten is inside, which has fewer
// digits than all others there, or the nearest whole number is the shortest decimal. That is
// Schubfach (R. Giulietti, The Schubfach way to render doubles, 2020) with numbers rounded down, of
// which comparisons are right unless both sides are almost equal.
func shortest(c uint64, q int) (d uint64, k int, ok bool) {
	if c == 0 || q < least || q > most { // to powers of two the number below is nearer than that above
		return 0, 0, false
	}
	c, q = c|1<<52, q-1075     // the number is c 2^q
	k = q * 1262611 >> 22      // floor(log10(2^q))
	h := q + log2Pow10(-k) + 1 // 1 to 4
	power := &powers[-k-leastPower]
	// The number over 10^k, before the point and behind it, of that 64 bits.
	s, behind := bits.Mul64(power[0], c<<(h&63))
	more, _ := bits.Mul64(power[1], c<<(h&63))
	behind, carry := bits.Add64(behind, more, 0)
	s += carry
	// Above the multiple of ten, and half the width of the interval, over 2^60. No
	// difference of the three is wrong by more than 3.
	const ten, sure = 10 << 60, 4
	tenth := s / 10
	above, half := (s-10*tenth)<<60|behind>>4, power[0]>>((5-h)&63)
	if above-half+sure < 2*sure || above+half-ten+sure < 2*sure || behind-1<<63+sure < 2*sure {
		return 0, 0, false
	}
	d = s + behind>>63
	if above < half {
		d = 10 * tenth
	}
	if above+half > ten {
		d = 10*tenth + 10
	}
	if full := 10 * d; d < 1e16 {
		d, k = full, k-1
	}
	return d, k, true
}

// characters are the eight digits of v, below 10^8, the first the lowest byte. It halves numbers
// of 8, 4 and 2 digits, side by side: a quotient stays in the lower half, the remainder goes to
// the upper one.
func characters(v uint64) uint64 {
	v = v<<32 - (v*109951163>>40)*(1e4<<32-1)
	v = v<<16 - (v*10486>>20&0x7f0000007f)*(1e2<<16-1)
	return v<<8 - (v*103>>10&0xf000f000f000f)*(1e1<<8-1)
}

// layout writes d 10^k, d of 17 digits, and returns how many bytes that takes without zeros at
// the end.
func layout(to *[room - 1]byte, d uint64, k int) int {
	upper := d / 1e8
	head := uint64(uint32(upper) / 1e8)
	middle, tail := characters(upper-1e8*head), characters(d-1e8*upper)
	n := 17 - bits.LeadingZeros64(tail)>>3 // digits
	if tail == 0 {
		n = 9 - bits.LeadingZeros64(middle)>>3
	}
	middle, tail = middle+zeros, tail+zeros
	point := 17 + k // behind so many digits
	if point < -3 || point > 6 {
		to[0], to[1] = '0'+byte(head), '.'
		store(to[2:], middle)
		store(to[10:], tail)
		return exponent10(to, n, point-1)
	}
	// Nobody could guess where the point is: no branch asks for it.
	first, dot := 0, max(point, 1)
	if point <= 0 {
		first = 2 - point
	}
	rest := max(first, dot) + 1      // digits behind the first and the point
	store(to[:], zeros-('0'-'.')<<8) // 0.000000
	to[first&7] = '0' + byte(head)
	store(to[first&7+1:], middle)
	to[dot&7] = '.'
	store(to[rest&7:], middle>>(8*(dot-1)&63))
	store(to[(rest+9-dot)&15:], tail)
	if n <= point {
		return point
	}
	return n + max(first, 1)
}

// exponent10 writes the exponent e behind n digits, of which a point follows the first.
func exponent10(to *[room - 1]byte, n, e int) int {
	if n > 1 {
		n++
	}
	sign, size := uint64('+'), uint64(e)
	if e < 0 {
		sign, size = '-', uint64(-e)
	}
	tens := size * 103 >> 10
	store(to[n&31:], 'e'|sign<<8|('0'+tens)<<16|('0'+size-10*tens)<<24)
	return n + 4
}
