package parquet

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/snappy"
)

// writtenGroup is what the footer says of a row group.
type writtenGroup struct {
	rows   int64
	chunks []writtenChunk
}

type writtenChunk struct {
	codec          codec
	encoding       encoding // of the values
	dictionary     int64    // its offset; 0: there is none
	offset         int64    // of the first page of values
	size, inflated int64    // headers included
	nulls          int64
}

// start is the offset of the first page.
func (c *writtenChunk) start() int64 {
	if c.dictionary > 0 {
		return c.dictionary
	}
	return c.offset
}

// writtenPage is a run of the group's rows: a page of every column.
type writtenPage struct {
	rows, present int
	levels        []byte // what tells the nulls, with its length before it
}

// cut cuts the group's rows into pages.
func (p *Writer) cut() {
	p.pages = p.pages[:0]
	for valid := p.valid; len(valid) > 0; {
		rows := valid[:min(pageRows, len(valid))]
		valid = valid[len(rows):]
		present := 0
		for _, v := range rows {
			if v {
				present++
			}
		}
		levels := appendLevels(make([]byte, 4), rows)
		binary.LittleEndian.PutUint32(levels, uint32(len(levels)-4))
		p.pages = append(p.pages, writtenPage{len(rows), present, levels})
	}
}

// column writes the pages of a column's values, those of rows that are not null.
// Errors stay with p.
func (p *Writer) column(v *columnBuffer) writtenChunk {
	v.foldConstant()
	c := writtenChunk{codec: p.codec(v), encoding: plain, offset: p.offset}
	if v.count > 0 || v.Stored != Double {
		c.encoding, c.dictionary = rleDictionary, p.offset
		p.page = append(p.page[:0], v.entries...)
		c.inflated += p.finish(pageDictionary, v.count, plain)
		c.offset = p.offset
	}
	width := bits.Len(uint(max(v.count, 1) - 1))
	doubles, codes := v.doubles, v.codes
	for _, page := range p.pages {
		c.nulls += int64(page.rows - page.present)
		switch {
		case c.codec == codecNone: // as it is, without a copy
			size := len(page.levels) + 8*page.present
			p.head = append(append(p.head[:0], pageHeader(pageData, page.rows, c.encoding, size, size)...), page.levels...)
			c.inflated += int64(len(p.head) + 8*page.present)
			p.put(p.head)
			p.put(doubles[:8*page.present])
			doubles = doubles[8*page.present:]
			continue
		case c.encoding == plain:
			p.page = append(append(p.page[:0], page.levels...), doubles[:8*page.present]...)
			doubles = doubles[8*page.present:]
		default:
			p.page = append(append(p.page[:0], page.levels...), byte(width))
			p.page = appendCodes(p.page, codes[:page.present], width)
			codes = codes[page.present:]
		}
		c.inflated += p.finish(pageData, page.rows, c.encoding)
	}
	c.size = p.offset - c.start()
	return c
}

// codec is how a column of the group is compressed: not at all if its first numbers
// hardly get smaller, as those of a continuous function do not.
func (p *Writer) codec(v *columnBuffer) codec {
	const sample = 8 * 4096
	if v.count > 0 || len(v.doubles) < sample {
		return codecSnappy
	}
	p.page = append(p.page[:0], v.doubles[:sample]...)
	if p.compress(); len(p.packed) > len(p.page)/8*7 {
		return codecNone
	}
	return codecSnappy
}

// compress makes p.packed what Snappy makes of p.page.
func (p *Writer) compress() {
	p.packed = slices.Grow(p.packed[:0], snappy.MaxEncodedLen(len(p.page)))
	p.packed = snappy.Encode(p.packed[:cap(p.packed)], p.page)
}

// finish writes p.page, compressed, and its header, and returns the bytes of both
// before compression.
func (p *Writer) finish(kind int64, values int, code encoding) int64 {
	p.compress()
	p.head = append(p.head[:0], pageHeader(kind, values, code, len(p.page), len(p.packed))...)
	p.put(p.head)
	p.put(p.packed)
	return int64(len(p.head) + len(p.page))
}

// pageHeader is the PageHeader of a page of so many values.
func pageHeader(kind int64, values int, code encoding, size, packed int) []byte {
	var e encoder
	e.integer(1, typeI32, kind)
	e.integer(2, typeI32, int64(size))
	e.integer(3, typeI32, int64(packed))
	header := int64(5)
	if kind == pageDictionary {
		header = 7
	}
	e.structure(header, func() {
		e.integer(1, typeI32, int64(values))
		e.integer(2, typeI32, int64(code))
		if kind == pageData {
			e.integer(3, typeI32, int64(rle))
			e.integer(4, typeI32, int64(rle))
		}
	})
	e.end()
	return e.b
}

// appendLevels appends definition levels of one bit: as runs of equal ones if
// there are few, else packed.
func appendLevels(b []byte, valid []bool) []byte {
	level := func(v bool) byte {
		if v {
			return 1
		}
		return 0
	}
	packed := (len(valid) + 7) / 8
	start, i := len(b), 0
	for i < len(valid) && len(b)-start <= packed {
		j := i + 1
		for j < len(valid) && valid[j] == valid[i] {
			j++
		}
		b = append(binary.AppendUvarint(b, uint64(j-i)<<1), level(valid[i]))
		i = j
	}
	if i == len(valid) {
		return b
	}
	b = binary.AppendUvarint(b[:start], uint64(packed)<<1|1)
	for i := 0; i < len(valid); i += 8 {
		var bits byte
		for k, v := range valid[i:min(i+8, len(valid))] {
			bits |= level(v) << k
		}
		b = append(b, bits)
	}
	return b
}

// footer is the FileMetaData, its length and the mark of Parquet.
func (p *Writer) footer() []byte {
	var e encoder
	rows := int64(0)
	for _, g := range p.groups {
		rows += g.rows
	}
	e.integer(1, typeI32, 2) // version
	e.list(2, typeStruct, 1+len(p.columns))
	e.element(func() {
		e.text(4, "schema")
		e.integer(5, typeI32, int64(len(p.columns)))
	})
	for i := range p.columns {
		c := &p.columns[i]
		e.element(func() {
			e.integer(1, typeI32, int64(c.physical()))
			e.integer(3, typeI32, optional)
			e.text(4, c.Name)
			if c.Stored == Text {
				e.integer(6, typeI32, 0) // ConvertedType UTF8
				e.structure(10, func() { e.structure(int64(logicalString), func() {}) })
			}
		})
	}
	e.integer(3, typeI64, rows)
	e.list(4, typeStruct, len(p.groups))
	for _, g := range p.groups {
		e.element(func() { e.group(p.columns, g) })
	}
	e.text(6, "pho")
	e.end()
	b := binary.LittleEndian.AppendUint32(e.b, uint32(len(e.b)))
	return append(b, "PAR1"...)
}

func (e *encoder) group(columns []columnBuffer, g writtenGroup) {
	size, inflated := int64(0), int64(0)
	e.list(1, typeStruct, len(g.chunks))
	for j, c := range g.chunks {
		e.element(func() {
			e.integer(2, typeI64, 0) // file_offset, which the format says to leave 0
			e.structure(3, func() {
				e.integer(1, typeI32, int64(columns[j].physical()))
				encodings := []encoding{plain, rle}
				if c.dictionary > 0 {
					encodings = append(encodings, rleDictionary)
				}
				e.list(2, typeI32, len(encodings))
				for _, v := range encodings {
					e.varint(int64(v))
				}
				e.list(3, typeBinary, 1)
				e.string(columns[j].Name)
				e.integer(4, typeI32, int64(c.codec))
				e.integer(5, typeI64, g.rows)
				e.integer(6, typeI64, c.inflated)
				e.integer(7, typeI64, c.size)
				e.integer(9, typeI64, c.offset)
				if c.dictionary > 0 {
					e.integer(11, typeI64, c.dictionary)
				}
				e.structure(12, func() { e.integer(3, typeI64, c.nulls) })
			})
		})
		size, inflated = size+c.size, inflated+c.inflated
	}
	e.integer(2, typeI64, inflated)
	e.integer(3, typeI64, g.rows)
	e.integer(5, typeI64, g.chunks[0].start())
	e.integer(6, typeI64, size)
}

// encoder writes a structure in Thrift's compact protocol; walker reads it.
type encoder struct {
	b    []byte
	last int64 // number of the field before
}

func (e *encoder) field(id int64, kind byte) {
	e.b = append(e.b, byte(id-e.last)<<4|kind) // numbers are less than 16 apart here
	e.last = id
}

func (e *encoder) varint(v int64) { e.b = binary.AppendVarint(e.b, v) }

func (e *encoder) string(s string) { e.b = append(binary.AppendUvarint(e.b, uint64(len(s))), s...) }

func (e *encoder) integer(id int64, kind byte, v int64) {
	e.field(id, kind)
	e.varint(v)
}

func (e *encoder) text(id int64, s string) {
	e.field(id, typeBinary)
	e.string(s)
}

// list begins a list of n elements, which follow.
func (e *encoder) list(id int64, element byte, n int) {
	e.field(id, typeList)
	if n < 15 {
		e.b = append(e.b, byte(n)<<4|element)
	} else {
		e.b = binary.AppendUvarint(append(e.b, 15<<4|element), uint64(n))
	}
}

func (e *encoder) structure(id int64, content func()) {
	e.field(id, typeStruct)
	e.element(content)
}

// element writes a structure of a list.
func (e *encoder) element(content func()) {
	last := e.last
	e.last = 0
	content()
	e.end()
	e.last = last
}

func (e *encoder) end() { e.b = append(e.b, 0) }
