package arrow

import (
	"encoding/binary"
	"math/bits"
)

// bitmap are bits one after the other, the lowest of a byte first.
type bitmap struct {
	b     []byte
	shift int // of the first bit in b
}

// bitmap is the bits of rows row to row+n-1.
func (b *buffer) bitmap(row, n int64) (bitmap, error) {
	first := row / 8
	v, err := b.bytes(first, (row+n+7)/8-first)
	return bitmap{v, int(row - 8*first)}, err
}

// word is 64 bits from the i-th on, zeros where there are fewer.
func (m bitmap) word(i int) uint64 {
	i += m.shift
	b, shift := m.b[i/8:], i%8
	if len(b) >= 9 {
		return binary.LittleEndian.Uint64(b)>>shift | uint64(b[8])<<1<<(63-shift)
	}
	var last [16]byte
	copy(last[:], b)
	return binary.LittleEndian.Uint64(last[:])>>shift | uint64(last[8])<<1<<(63-shift)
}

// at is the i-th bit.
func (m bitmap) at(i int) bool {
	i += m.shift
	return m.b[i/8]>>(i%8)&1 == 1
}

// zeros calls f with the place of each of the first n bits that is 0.
func (m bitmap) zeros(n int, f func(i int)) {
	for i := 0; i < n; i += 64 {
		w := ^m.word(i)
		if n-i < 64 {
			w &= 1<<(n-i) - 1
		}
		for ; w != 0; w &= w - 1 {
			f(i + bits.TrailingZeros64(w))
		}
	}
}

// numbers are the bits as 0 and 1.
func (m bitmap) numbers(dst []float64) {
	for i := 0; i < len(dst); i += 64 {
		w, to := m.word(i), dst[i:min(i+64, len(dst))]
		for k := range to {
			to[k] = float64(w >> k & 1)
		}
	}
}
