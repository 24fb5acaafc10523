package arrow

import (
	"encoding/binary"
	"math/bits"

	"github.com/pierrec/lz4/v4"
)

// inflateLZ4 fills dst from a frame of LZ4 (its specification: lz4_Frame_format.md) whose blocks
// have no checksums of their own, as Arrow's writers leave them out. It reports false, having
// written anything to dst, if the frame is another one or damaged.
func inflateLZ4(dst, src []byte) bool {
	const (
		magic       = 0x184d2204
		version     = 0x40
		independent = 0x20 // not set: blocks go on from the bytes before
		sized       = 0x08 // it tells its size
		remaining   = ^byte(version | independent | sized)
		window      = 64 << 10
	)
	if len(src) < 7 || binary.LittleEndian.Uint32(src) != magic || src[4]&(remaining|version) != version {
		return false
	}
	flags, largest, descriptor := src[4], 256<<(2*(src[5]>>4)), 2
	if src[5]&^0x70 != 0 || largest < window {
		return false
	}
	if flags&sized != 0 {
		descriptor += 8
	}
	if src = src[4:]; len(src) <= descriptor || byte(shortXXH32(src[:descriptor])>>8) != src[descriptor] {
		return false
	}
	if flags&sized != 0 && binary.LittleEndian.Uint64(src[2:]) != uint64(len(dst)) {
		return false
	}
	src = src[descriptor+1:]
	for at := 0; at < len(dst); {
		if len(src) < 4 {
			return false
		}
		head := binary.LittleEndian.Uint32(src)
		size, plain := int(head&(1<<31-1)), head>>31 == 1
		if src = src[4:]; size == 0 || size > min(largest, len(src)) {
			return false
		}
		block, to := src[:size], dst[at:min(at+largest, len(dst))]
		src = src[size:]
		if plain {
			if size > len(to) {
				return false
			}
			at += copy(to, block)
			continue
		}
		var before []byte
		if flags&independent == 0 {
			before = dst[max(0, at-window):at]
		}
		n, err := lz4.UncompressBlockWithDict(block, to, before)
		if err != nil {
			return false
		}
		at += n
	}
	return true
}

// shortXXH32 is the hash XXH32, with seed 0, of less than 16 bytes.
func shortXXH32(b []byte) uint32 {
	const prime1, prime2, prime3, prime4, prime5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
	h := prime5 + uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(b)*prime3, 17) * prime4
	}
	for _, x := range b {
		h = bits.RotateLeft32(h+uint32(x)*prime5, 11) * prime1
	}
	h = (h ^ h>>15) * prime2
	h = (h ^ h>>13) * prime3
	return h ^ h>>16
}
