package parquet

import (
	"encoding/binary"
	"errors"
	"math"
)

// The encodings here are those of the specification, parquet-format's
// Encodings.md. Decoders yield as many values as they are asked for: no number
// in the data decides how much memory they take.

var (
	errShort = errors.New("the column has fewer values than its row group has rows: the file is damaged")
	errValue = errors.New("the values of a page are damaged")
)

// bitsAt is the number of width bits, at most 57, at a position of packed bits.
func bitsAt(b []byte, at uint64, width uint) uint64 {
	k := at >> 3
	if k+8 <= uint64(len(b)) {
		return binary.LittleEndian.Uint64(b[k:]) >> (at & 7) & (1<<width - 1)
	}
	var last [8]byte
	if k < uint64(len(b)) {
		copy(last[:], b[k:])
	}
	return binary.LittleEndian.Uint64(last[:]) >> (at & 7) & (1<<width - 1)
}

// hybrid decodes numbers of at most 32 bits that are given as runs of equal ones and of
// bit-packed ones (RLE in the specification).
type hybrid struct {
	b     []byte
	width uint
	left  uint64 // values of the current run
	value uint32 // of a run of equal values
	run   []byte // of packed values; nil if the values are equal
	at    uint64 // bits of run that are read
}

func newHybrid(b []byte, width byte) (*hybrid, error) {
	if width > 32 {
		return nil, errValue
	}
	return &hybrid{b: b, width: uint(width)}, nil
}

// next begins the next run and reports whether there is one.
func (h *hybrid) next() bool {
	for h.left == 0 {
		head, n := binary.Uvarint(h.b)
		if n <= 0 {
			return false
		}
		h.b = h.b[n:]
		h.left, h.run = head>>1, nil
		if head&1 == 0 {
			size := int(h.width+7) / 8
			if len(h.b) < size {
				return false
			}
			h.value = 0
			for i := range size {
				h.value |= uint32(h.b[i]) << (8 * i)
			}
			h.b = h.b[size:]
			continue
		}
		h.at = 0
		if h.width == 0 {
			h.value, h.left = 0, min(h.left, math.MaxUint32)*8
			continue
		}
		// Writers may leave out the end of the last group of eight.
		size := min(h.left, math.MaxUint32) * uint64(h.width)
		h.left = min(h.left, math.MaxUint32) * 8
		if size > uint64(len(h.b)) {
			size = uint64(len(h.b))
			h.left = size * 8 / uint64(h.width)
		}
		h.run, h.b = h.b[:size:size], h.b[size:]
	}
	return true
}

// constant reports whether the next n values are all v, and if so skips them.
func (h *hybrid) constant(v uint32, n int) bool {
	if !h.next() || h.run != nil || h.value != v || h.left < uint64(n) {
		return false
	}
	h.left -= uint64(n)
	return true
}

func (h *hybrid) read(dst []uint32) error {
	for len(dst) > 0 {
		if !h.next() {
			return errShort
		}
		n := int(min(uint64(len(dst)), h.left))
		h.left -= uint64(n)
		if h.run == nil {
			for i := range dst[:n] {
				dst[i] = h.value
			}
		} else {
			h.unpack(dst[:n])
		}
		dst = dst[n:]
	}
	return nil
}

// unpack reads packed values, eight bytes at a time as long as there are so many: four values
// if these have room for them behind up to seven bits of others.
func (h *hybrid) unpack(dst []uint32) {
	b, at, width, mask := h.run, h.at, uint64(h.width), uint32(1<<h.width-1)
	i := 0
	if second, third, fourth := width&63, 2*width&63, 3*width&63; 4*width <= 57 {
		for ; i+4 <= len(dst) && at>>3+8 <= uint64(len(b)); i += 4 {
			word, to := binary.LittleEndian.Uint64(b[at>>3:])>>(at&7), dst[i:i+4:i+4]
			to[0] = uint32(word) & mask
			to[1] = uint32(word>>second) & mask
			to[2] = uint32(word>>third) & mask
			to[3] = uint32(word>>fourth) & mask
			at += 4 * width
		}
	}
	for ; i < len(dst) && at>>3+8 <= uint64(len(b)); i++ {
		dst[i] = uint32(binary.LittleEndian.Uint64(b[at>>3:])>>(at&7)) & mask
		at += width
	}
	for ; i < len(dst); i++ {
		dst[i] = uint32(bitsAt(b, at, h.width))
		at += width
	}
	h.at = at
}

// delta decodes differences (DELTA_BINARY_PACKED), modulo 2^64.
type delta struct {
	b      []byte
	left   uint64 // values still to come
	value  uint64 // the next one
	minis  uint64 // miniblocks of a block
	per    uint64 // values of a miniblock
	least  uint64 // difference of the block
	widths []byte // of the block's miniblocks still to come
	mini   []byte // the current miniblock
	width  uint
	inMini uint64 // values left in it
	at     uint64 // bits
}

func newDelta(b []byte) (*delta, error) {
	w := walker{b: b}
	block, minis, total, first := w.varint(), w.varint(), w.varint(), w.integer(typeI64)
	if w.bad || minis == 0 || block > math.MaxInt32 || block%minis != 0 || block/minis%8 != 0 || block == 0 {
		return nil, errValue
	}
	return &delta{b: w.b, left: total, value: uint64(first), minis: minis, per: block / minis}, nil
}

func (d *delta) read(dst []uint64) error {
	if uint64(len(dst)) > d.left {
		return errShort
	}
	for i := range dst {
		dst[i] = d.value
		if d.left--; d.left == 0 {
			break
		}
		if d.inMini == 0 {
			if err := d.next(); err != nil {
				return err
			}
		}
		low := min(d.width, 32)
		v := bitsAt(d.mini, d.at, low)
		if d.width > low {
			v |= bitsAt(d.mini, d.at+uint64(low), d.width-low) << low
		}
		d.at += uint64(d.width)
		d.inMini--
		d.value += d.least + v
	}
	return nil
}

func (d *delta) next() error {
	if len(d.widths) == 0 {
		w := walker{b: d.b}
		d.least = uint64(w.integer(typeI64))
		d.widths = w.next(d.minis)
		d.b = w.b
		if w.bad {
			return errShort
		}
	}
	d.width, d.widths = uint(d.widths[0]), d.widths[1:]
	size := d.per / 8 * uint64(d.width)
	if d.width > 64 || size > uint64(len(d.b)) {
		return errValue
	}
	d.mini, d.b, d.at, d.inMini = d.b[:size], d.b[size:], 0, d.per
	return nil
}
