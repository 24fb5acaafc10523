package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/pho-go/pho/data/internal/columnar"
)

// column is a column of a record batch.
type column struct {
	*node
	valid *buffer   // nil: all are
	data  *buffer   // numbers, indices, offsets or views
	text  []*buffer // of text
}

// load decompresses the column where it is compressed.
func (c *column) load(z *inflater) error {
	for _, b := range append([]*buffer{c.valid, c.data}, c.text...) {
		if b == nil {
			continue
		}
		if err := b.decompress(z); err != nil {
			return err
		}
	}
	return nil
}

// read decodes rows row to row+n-1.
func (c *column) read(row int64, n int, dictionaries map[int64]*dictionary, v *columnar.Values) error {
	valid := func(int) bool { return true }
	if c.valid != nil {
		var err error
		if valid, err = c.valid.bitmap(row, int64(n)); err != nil {
			return err
		}
	}
	switch {
	case c.index > 0:
		d := dictionaries[c.id]
		v.Levels = d.levels
		return c.indices(row, n, valid, v)
	case c.node.text():
		text, err := c.texts(row, n)
		if err != nil {
			return err
		}
		for i := range text {
			if !valid(i) {
				text[i] = nil
			}
		}
		v.Text = text
		return nil
	}
	if c.kind == typeFloat && c.bits == 64 {
		var err error
		if v.Numbers, err = c.data.doubles(row, n); err != nil {
			return err
		}
	} else if v.Numbers = make([]float64, n); c.kind == typeBool {
		set, err := c.data.bitmap(row, int64(n))
		if err != nil {
			return err
		}
		for i := range v.Numbers {
			if set(i) {
				v.Numbers[i] = 1
			}
		}
	} else {
		b, err := c.data.items(row, int64(n), int64(c.bits))
		if err != nil {
			return err
		}
		c.numbers(v, b, valid)
	}
	if c.valid != nil {
		for i := range v.Numbers {
			if !valid(i) {
				v.Numbers[i] = columnar.Null
			}
		}
	}
	return nil
}

// numbers decodes integers and floating point numbers.
func (c *column) numbers(v *columnar.Values, b []byte, valid func(int) bool) {
	le := binary.LittleEndian
	out := v.Numbers
	inexact := func(i int, cell string) {
		if v.Fault == nil && valid(i) {
			v.Fault = &columnar.Fault{Row: i, Cell: cell, Reason: columnar.Inexact}
		}
	}
	const exact = 1 << 53
	switch {
	case c.kind == typeFloat && c.bits == 32:
		for i := range out {
			out[i] = float64(math.Float32frombits(le.Uint32(b[4*i:])))
		}
	case c.kind == typeFloat:
		for i := range out {
			out[i] = columnar.Half(le.Uint16(b[2*i:]))
		}
	case c.unsigned:
		for i := range out {
			x := unsigned(b, i, c.bits)
			if x > exact {
				inexact(i, strconv.FormatUint(x, 10))
			}
			out[i] = float64(x)
		}
	default:
		for i := range out {
			x := signed(b, i, c.bits)
			if x > exact || x < -exact {
				inexact(i, strconv.FormatInt(x, 10))
			}
			out[i] = float64(x)
		}
	}
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

// indices decodes the codes of a dictionary column.
func (c *column) indices(row int64, n int, valid func(int) bool, v *columnar.Values) error {
	b, err := c.data.items(row, int64(n), int64(c.index))
	if err != nil {
		return err
	}
	v.Codes = make([]int32, n)
	for i := range v.Codes {
		if !valid(i) {
			v.Codes[i] = -1
			continue
		}
		k := signed(b, i, c.index)
		if c.unsignedIndex {
			k = int64(unsigned(b, i, c.index))
		}
		if k < 0 || k >= int64(len(v.Levels)) {
			v.Fault = &columnar.Fault{Row: i, Cell: strconv.FormatInt(k, 10), Reason: fmt.Sprintf("is a position outside the %d levels of the column: the file is damaged", len(v.Levels))}
			for ; i < n; i++ {
				v.Codes[i] = -1
			}
			return nil
		}
		v.Codes[i] = int32(k)
	}
	return nil
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
