package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/pho-go/pho/data/internal/columnar"
)

// column is a column of a record batch.
type column struct {
	*node
	rows  int64     // of them
	valid *buffer   // nil: all are
	data  *buffer   // numbers, indices, offsets or views
	text  []*buffer // of text
	child *column   // the elements of lists
}

// load decompresses the column where it is compressed and has not been yet.
func (c *column) load(z *inflater) error {
	for _, b := range []*buffer{c.valid, c.data} {
		if b == nil {
			continue
		}
		if err := b.decompress(z); err != nil {
			return err
		}
	}
	for _, b := range c.text {
		if err := b.decompress(z); err != nil {
			return err
		}
	}
	if c.child != nil {
		return c.child.load(z)
	}
	return nil
}

// read decodes rows row to row+n-1.
func (c *column) read(row int64, n int, dictionaries map[int64]*dictionary, v *columnar.Values) error {
	if c.lists() {
		return c.tensor(row, n, v)
	}
	var valid *bitmap // nil: all are
	if c.valid != nil {
		m, err := c.valid.bitmap(row, int64(n))
		if err != nil {
			return err
		}
		valid = &m
	}
	switch {
	case c.index > 0:
		d := dictionaries[c.id]
		v.Levels = d.levels
		if c.ordered {
			v.Order = d.levels
		}
		err := c.indices(row, n, valid, v)
		d.missing(v.Codes)
		return err
	case c.node.text():
		text, err := c.texts(row, n)
		if err != nil {
			return err
		}
		if valid != nil {
			valid.zeros(n, func(i int) { text[i] = nil })
		}
		v.Text = text
		return nil
	}
	if err := c.numbers(row, n, valid, v); err != nil {
		return err
	}
	if valid != nil {
		valid.zeros(n, v.SetNull)
	}
	v.Inspect()
	return nil
}

// numbers decodes integers, floating point numbers and truth values, valid or not.
func (c *column) numbers(row int64, n int, valid *bitmap, v *columnar.Values) (err error) {
	if c.kind == typeFloat && c.bits == 64 {
		return c.data.doubles(row, n, v)
	}
	if c.kind == typeBool {
		set, err := c.data.bitmap(row, int64(n))
		if err == nil {
			v.Numbers = v.Room(n)
			set.numbers(v.Numbers)
		}
		return err
	}
	b, err := c.data.items(row, int64(n), int64(c.bits))
	if err != nil {
		return err
	}
	v.Numbers = v.Room(n)
	switch {
	case c.kind == typeDecimal:
		digits := make([]byte, c.bits/8)
		for i := range v.Numbers {
			copy(digits, b[i*len(digits):])
			slices.Reverse(digits)
			v.Numbers[i] = columnar.DecimalOf(digits, c.scale)
		}
	case c.per > 0:
		for i := range v.Numbers {
			v.Numbers[i] = columnar.Scaled(signed(b, i, c.bits), c.per)
		}
	case c.kind == typeFloat && c.bits == 32:
		widen(v.Numbers, columnar.Items[float32](b, n))
	case c.kind == typeFloat:
		for i, x := range columnar.Items[uint16](b, n) {
			v.Numbers[i] = columnar.Half(x)
		}
	case c.bits == 64 && c.unsigned:
		v.Digits, v.Fault = inexact(v.Numbers, columnar.Items[uint64](b, n), valid)
	case c.bits == 64:
		v.Digits, v.Fault = inexact(v.Numbers, columnar.Items[int64](b, n), valid)
	case c.unsigned:
		switch c.bits {
		case 8:
			widen(v.Numbers, columnar.Items[uint8](b, n))
		case 16:
			widen(v.Numbers, columnar.Items[uint16](b, n))
		default:
			widen(v.Numbers, columnar.Items[uint32](b, n))
		}
	default:
		switch c.bits {
		case 8:
			widen(v.Numbers, columnar.Items[int8](b, n))
		case 16:
			widen(v.Numbers, columnar.Items[int16](b, n))
		default:
			widen(v.Numbers, columnar.Items[int32](b, n))
		}
	}
	return nil
}

// widen makes numbers of those that float64 holds as they are.
func widen[T int8 | int16 | int32 | uint8 | uint16 | uint32 | float32](dst []float64, src []T) {
	for i, x := range src[:len(dst)] {
		dst[i] = float64(x)
	}
}

// inexact makes numbers of whole ones of 64 bits. Those that are valid and that float64 would
// round are in digits; the fault is the first of them.
func inexact[T int64 | uint64](dst []float64, src []T, valid *bitmap) (digits []string, fault *columnar.Fault) {
	const exact = 1 << 53
	for i, x := range src[:len(dst)] {
		dst[i] = float64(x)
		if size := math.Abs(dst[i]); size >= exact && (size > exact || T(dst[i]) != x) && (valid == nil || valid.at(i)) {
			if digits == nil {
				digits = make([]string, len(dst))
				fault = &columnar.Fault{Row: i, Cell: fmt.Sprint(x), Reason: columnar.Inexact}
			}
			digits[i] = fmt.Sprint(x)
		}
	}
	return digits, fault
}

// indices decodes the codes of a dictionary column.
func (c *column) indices(row int64, n int, valid *bitmap, v *columnar.Values) error {
	b, err := c.data.items(row, int64(n), int64(c.index))
	if err != nil {
		return err
	}
	v.Codes = make([]int32, n)
	levels, outside := len(v.Levels), 0
	switch {
	case c.unsignedIndex && c.index == 8:
		outside = codes(v.Codes, columnar.Items[uint8](b, n), levels, valid)
	case c.unsignedIndex && c.index == 16:
		outside = codes(v.Codes, columnar.Items[uint16](b, n), levels, valid)
	case c.unsignedIndex && c.index == 32:
		outside = codes(v.Codes, columnar.Items[uint32](b, n), levels, valid)
	case c.unsignedIndex:
		outside = codes(v.Codes, columnar.Items[uint64](b, n), levels, valid)
	case c.index == 8:
		outside = codes(v.Codes, columnar.Items[int8](b, n), levels, valid)
	case c.index == 16:
		outside = codes(v.Codes, columnar.Items[int16](b, n), levels, valid)
	case c.index == 32:
		outside = codes(v.Codes, columnar.Items[int32](b, n), levels, valid)
	default:
		outside = codes(v.Codes, columnar.Items[int64](b, n), levels, valid)
	}
	if outside < n {
		k := signed(b, outside, c.index)
		if c.unsignedIndex {
			k = int64(unsigned(b, outside, c.index))
		}
		v.Fault = &columnar.Fault{Row: outside, Cell: strconv.FormatInt(k, 10), Reason: fmt.Sprintf("is a position outside the %d levels of the column: the file is damaged", levels)}
	}
	return nil
}

// codes are positions, or -1 where there is none, up to the first valid one that is outside of so
// many levels, whose place it returns; len(dst) if there is none. Behind it all are -1.
func codes[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](dst []int32, src []T, levels int, valid *bitmap) int {
	for i, k := range src[:len(dst)] {
		switch {
		case valid != nil && !valid.at(i):
			dst[i] = -1
		case k < 0 || uint64(k) >= uint64(levels):
			for j := i; j < len(dst); j++ {
				dst[j] = -1
			}
			return i
		default:
			dst[i] = int32(k)
		}
	}
	return len(dst)
}

func unsigned(b []byte, i, bits int) uint64 {
	switch bits {
	case 8:
		return uint64(b[i])
	case 16:
		return uint64(binary.LittleEndian.Uint16(b[2*i:]))
	case 32:
		return uint64(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return binary.LittleEndian.Uint64(b[8*i:])
}

func signed(b []byte, i, bits int) int64 {
	shift := 64 - bits
	return int64(unsigned(b, i, bits)<<shift) >> shift
}

// texts are the texts of rows row to row+n-1, valid or not, none nil.
func (c *column) texts(row int64, n int) ([][]byte, error) {
	if c.kind == typeUtf8View || c.kind == typeBinaryView {
		return c.viewed(row, n)
	}
	bits := 32
	if c.kind == typeLargeUtf8 || c.kind == typeLargeBinary {
		bits = 64
	}
	b, err := c.data.items(row, int64(n)+1, int64(bits))
	if err != nil {
		return nil, err
	}
	first, last := signed(b, 0, bits), signed(b, n, bits)
	if last < first {
		return nil, errors.New("the offsets of its texts decrease: the file is damaged")
	}
	all, err := c.text[0].bytes(first, last-first)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, n)
	for i := range out {
		from, to := signed(b, i, bits)-first, signed(b, i+1, bits)-first
		if from < 0 || to < from || to > int64(len(all)) {
			return nil, errors.New("the offsets of its texts decrease: the file is damaged")
		}
		out[i] = all[from:to:to]
		if out[i] == nil {
			out[i] = []byte{}
		}
	}
	return out, nil
}

// viewed are texts that are given by views: up to 12 bytes in the view itself,
// more in a buffer.
func (c *column) viewed(row int64, n int) ([][]byte, error) {
	b, err := c.data.items(row, int64(n), 128)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, n)
	for i := range out {
		view := b[16*i : 16*i+16]
		size := int64(int32(binary.LittleEndian.Uint32(view)))
		switch {
		case size < 0:
			return nil, errors.New("a text has a negative length: the file is damaged")
		case size <= 12:
			out[i] = view[4 : 4+size]
		default:
			k, at := int64(int32(binary.LittleEndian.Uint32(view[8:]))), int64(int32(binary.LittleEndian.Uint32(view[12:])))
			if k < 0 || k >= int64(len(c.text)) {
				return nil, errors.New("a text is in a buffer that is not there: the file is damaged")
			}
			t := c.text[k]
			if t.memory == nil { // views go back and forth: read the buffer as a whole
				if t.memory, err = t.bytes(0, t.size); err != nil {
					return nil, err
				}
			}
			if out[i], err = t.bytes(at, size); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
