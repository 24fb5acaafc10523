package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar"
)

// columnBuffer is a column of the row group that a Writer fills. Values that are not
// Double are numbered in the order in which the group first shows them.
type columnBuffer struct {
	Column
	doubles []byte           // the values, eight bytes each, if Double
	codes   []uint32         // else their positions in the dictionary,
	count   int              // of so many entries,
	entries []byte           // which are encoded one after the other,
	ints    map[int32]uint32 // and whose positions are these
	levels  map[string]uint32
}

func (c *columnBuffer) physical() physical {
	switch c.Stored {
	case Int32:
		return kindInt32
	case Text:
		return kindBytes
	}
	return kindDouble
}

func (c *columnBuffer) reset() {
	c.doubles, c.codes, c.count, c.entries = c.doubles[:0], c.codes[:0], 0, c.entries[:0]
	clear(c.ints)
	clear(c.levels)
}

// double appends v to a column that is Double.
func (c *columnBuffer) double(v []float64) {
	end := len(c.doubles)
	c.room(end + 8*len(v))
	c.doubles = c.doubles[:end+8*len(v)]
	columnar.PutDoubles(c.doubles[end:], v)
}

// room makes room for n bytes in all. Memory grows in large steps, up to a group's: pages of it that
// nothing is written to cost nothing, and those that are left behind were paid for.
func (c *columnBuffer) room(n int) {
	if n <= cap(c.doubles) {
		return
	}
	larger := columnar.FreshBytes(max(n, min(8*n, 8*groupRows)))
	c.doubles = larger[:copy(larger, c.doubles)]
}

// foldConstant stores a Double column of one number throughout as a dictionary of one
// entry, unless it has so few values that this would not be shorter.
func (c *columnBuffer) foldConstant() {
	const few = 64
	n := len(c.doubles)
	if c.Stored != Double || n < 8*few || !bytes.Equal(c.doubles[8:], c.doubles[:n-8]) {
		return
	}
	c.count, c.entries = 1, append(c.entries[:0], c.doubles[:8]...)
	c.codes = slices.Grow(c.codes[:0], n/8)[:n/8]
	clear(c.codes)
}

// numbers appends rows i to j-1 of v, a column of b.
func (c *columnBuffer) numbers(b *data.Batch, v []float64, i, j int) error {
	if c.Stored == Double {
		c.double(v[i:j])
		return nil
	}
	if c.ints == nil {
		c.ints = map[int32]uint32{}
	}
	for k, x := range v[i:j] {
		if !(x >= math.MinInt32 && x <= math.MaxInt32) || x != math.Trunc(x) {
			return fmt.Errorf("data: row %d, column %q: %v is no whole number of 32 bits: store the column as double", b.Row(i+k)+1, columnar.Clip(c.Name), x)
		}
		code, ok := c.ints[int32(x)]
		if !ok {
			code = c.entry()
			c.ints[int32(x)] = code
			c.entries = binary.LittleEndian.AppendUint32(c.entries, uint32(int32(x)))
		}
		c.codes = append(c.codes, code)
	}
	return nil
}

// texts appends rows i to j-1 of v. known holds, by level of v, 1 + its position in the
// dictionary, 0 if the group has not shown it yet.
func (c *columnBuffer) texts(v data.Codes, known []int32, i, j int) error {
	if c.levels == nil {
		c.levels = map[string]uint32{}
	}
	if len(c.codes) == 0 {
		clear(known) // a new group
	}
	for _, k := range v.Index[i:j] {
		if known[k] == 0 {
			level := v.Levels[k]
			code, ok := c.levels[level]
			if !ok {
				code = c.entry()
				c.levels[level] = code
				c.entries = append(binary.LittleEndian.AppendUint32(c.entries, uint32(len(level))), level...)
			}
			known[k] = int32(code) + 1
		}
		c.codes = append(c.codes, uint32(known[k]-1))
	}
	return nil
}

// entry is the position of one more entry of the dictionary.
func (c *columnBuffer) entry() uint32 {
	c.count++
	return uint32(c.count - 1)
}

// appendCodes appends numbers of width bits as the specification's hybrid of runs
// and packed groups of eight.
func appendCodes(b []byte, v []uint32, width int) []byte {
	const least = 16 // a run that is worth one
	from := 0        // the first number that is not appended
	for i := 0; i < len(v); {
		n := 1
		for i+n < len(v) && v[i+n] == v[i] {
			n++
		}
		if n < least {
			i = min(i+8, len(v))
			continue
		}
		b = appendPacked(b, v[from:i], width)
		b = binary.AppendUvarint(b, uint64(n)<<1)
		for k := 0; k < width; k += 8 {
			b = append(b, byte(v[i]>>k))
		}
		i += n
		from = i
	}
	return appendPacked(b, v[from:], width)
}

// appendPacked appends groups of eight numbers, the last filled up with zeros.
func appendPacked(b []byte, v []uint32, width int) []byte {
	if len(v) == 0 {
		return b
	}
	groups := (len(v) + 7) / 8
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	end := len(b) + groups*width
	var word uint64
	filled := 0
	for _, x := range v {
		word |= uint64(x) << filled
		for filled += width; filled >= 8; filled -= 8 {
			b = append(b, byte(word))
			word >>= 8
		}
	}
	if filled > 0 {
		b = append(b, byte(word))
	}
	for len(b) < end {
		b = append(b, 0)
	}
	return b
}
