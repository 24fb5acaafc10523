package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"

	"github.com/pho-go/pho/data/internal/columnar"
)

// Kinds of pages (PageType in parquet.thrift).
const (
	pageData       = 0
	pageIndex      = 1
	pageDictionary = 2
	pageDataV2     = 3
)

// encoding is how the values of a page are written (Encoding in parquet.thrift).
type encoding int64

const (
	plain           encoding = 0
	plainDictionary encoding = 2
	rle             encoding = 3
	deltaPacked     encoding = 5
	deltaLength     encoding = 6
	deltaBytes      encoding = 7
	rleDictionary   encoding = 8
	byteStreamSplit encoding = 9
)

// header is what a page's header says, as far as it matters here.
type header struct {
	kind         int64
	size         int64 // of the page when it is decompressed
	packed       int64 // of the page in the file
	sum          int64 // CRC-32 of the page in the file
	summed       bool
	values       int64 // nulls included
	encoding     encoding
	levels       encoding // of the definition levels
	repLevels    encoding
	defBytes     int64 // of a page of version 2
	repBytes     int64
	uncompressed bool // of a page of version 2, whatever the codec of its column
}

// header reads a PageHeader.
func (w *walker) header() header {
	h := header{kind: -1, size: -1, packed: -1, values: -1, encoding: -1}
	w.fields(0, func(id int64, kind byte) bool {
		switch id {
		case 1:
			h.kind = w.integer(kind)
		case 2:
			h.size = w.integer(kind)
		case 3:
			h.packed = w.integer(kind)
		case 4:
			h.sum, h.summed = w.integer(kind), true
		case 5, 7:
			w.structure(kind, 1, func(id int64, kind byte) bool {
				switch id {
				case 1:
					h.values = w.integer(kind)
				case 2:
					h.encoding = encoding(w.integer(kind))
				case 3:
					if kind == typeTrue || kind == typeFalse {
						return false // of a dictionary: it is sorted
					}
					h.levels = encoding(w.integer(kind))
				case 4:
					h.repLevels = encoding(w.integer(kind))
				default:
					return false
				}
				return true
			})
		case 8:
			w.structure(kind, 1, func(id int64, kind byte) bool {
				switch id {
				case 1:
					h.values = w.integer(kind)
				case 4:
					h.encoding = encoding(w.integer(kind))
				case 5:
					h.defBytes = w.integer(kind)
				case 6:
					h.repBytes = w.integer(kind)
				case 7:
					h.uncompressed = kind == typeFalse
				default:
					return false
				}
				return true
			})
		default:
			return false
		}
		return true
	})
	return h
}

// page is a run of values of a column.
type page struct {
	values   int // nulls included
	encoding encoding
	reps     *hybrid // repetition levels; nil: a row has one value
	levels   *hybrid // definition levels; nil: no value is null
	body     []byte  // the values that are not null; valid until the next page
}

// pages reads the pages of a column chunk, one at a time.
type pages struct {
	in       *bufio.Reader
	inBytes  int64 // of the chunk that are not read yet
	rows     int64 // of the pages that are not read yet; of lists their values
	codec    codec
	rep, def byte // bits of their levels; 0: there are none
	budget   *columnar.Budget
	inflater *inflater
	buffers  [2][]byte // of the page in the file, and decompressed
	peeked   *header   // of the next page, if it is read already
}

// newPages reads the pages of a chunk from r, which begins with the first.
func newPages(r io.Reader, c chunk, e *element, b *columnar.Budget, d *inflater) *pages {
	var rep, def byte
	if e.repetition == optional {
		def = 1
	}
	if e.lists != nil {
		rep, def = byte(bits.Len(uint(e.lists.axes))), byte(bits.Len(uint(len(e.lists.absent))))
	}
	size := max(16, min(c.size, bufferSize))
	b.Take(size)
	return &pages{
		in:      bufio.NewReaderSize(r, int(size)),
		inBytes: c.size, rows: c.values, codec: c.codec, rep: rep, def: def, budget: b, inflater: d,
	}
}

var errPage = errors.New("the header of a page is damaged")

// header reads the header of the next page and checks it against what is there.
func (p *pages) header() (header, error) {
	if h := p.peeked; h != nil {
		p.peeked = nil
		return *h, nil
	}
	if p.inBytes <= 0 {
		return header{}, errShort
	}
	for size := 128; ; size *= 8 {
		head, err := p.in.Peek(min(size, p.in.Size()))
		if err != nil && err != io.EOF {
			return header{}, err
		}
		w := walker{b: head}
		h := w.header()
		if w.bad {
			if err == nil && size < p.in.Size() {
				continue // it is longer
			}
			return h, errPage
		}
		n := len(head) - len(w.b)
		if _, err := p.in.Discard(n); err != nil {
			return h, err
		}
		p.inBytes -= int64(n)
		return h, p.check(h)
	}
}

func (p *pages) check(h header) error {
	switch {
	case h.packed < 0 || h.packed > p.inBytes:
		return fmt.Errorf("a page should take %d bytes, of which %d are there: the file is damaged", h.packed, p.inBytes)
	case h.size < 0 || p.codec == codecNone && h.size != h.packed:
		return errPage
	case h.size > maxPage:
		return fmt.Errorf("a page holds %d bytes; %d are allowed: write the file with smaller pages", h.size, maxPage)
	case h.kind == pageIndex:
		return nil
	case h.values < 0 || h.values > math.MaxInt32:
		return errPage
	case h.kind != pageDictionary && h.values > p.rows:
		return fmt.Errorf("a page has %d values where %d rows are left: the file is damaged", h.values, p.rows)
	}
	// A size that no codec reaches cannot be true, and no memory is taken for it. Levels
	// of version 2 are not compressed, which makes the ratio smaller.
	if r := p.codec.ratio(); r > 0 && h.size > r*h.packed+64 {
		return errLength
	}
	return nil
}

// buffer is n bytes of a buffer, that of the page before if it is large enough.
func (p *pages) buffer(which, n int) []byte {
	buf := &p.buffers[which]
	if n > len(*buf) {
		p.budget.Free(*buf)
		*buf = nil
		*buf = p.budget.Allocate(n)
	}
	return (*buf)[:n]
}

// content reads a page and decompresses it, without its first bytes, which are not
// compressed.
func (p *pages) content(h header, first int64) ([]byte, error) {
	src := p.buffer(0, int(h.packed))
	if _, err := io.ReadFull(p.in, src); err != nil {
		return nil, err
	}
	p.inBytes -= h.packed
	if h.summed && crc32.ChecksumIEEE(src) != uint32(h.sum) {
		return nil, errors.New("the checksum of a page does not fit: the file is damaged")
	}
	if p.codec == codecNone || h.uncompressed {
		return src, nil
	}
	dst := p.buffer(1, int(h.size))
	copy(dst, src[:first])
	if first == h.size { // only levels
		return dst, nil
	}
	return dst, p.inflater.inflate(p.codec, dst[first:], src[first:])
}

// dictionary reads the dictionary page, whose bytes are the caller's from then on. there
// is false if the column has none, which not all footers tell.
func (p *pages) dictionary() (there bool, values int, body []byte, err error) {
	h, err := p.header()
	switch {
	case err != nil:
		return false, 0, nil, err
	case h.kind != pageDictionary:
		p.peeked = &h
		return false, 0, nil, nil
	case h.encoding != plain && h.encoding != plainDictionary:
		return true, 0, nil, fmt.Errorf("the dictionary is in encoding %d, which cannot be read", int64(h.encoding))
	case h.values > h.size: // a value takes a byte at least
		return true, 0, nil, errPage
	}
	body, err = p.content(h, 0)
	p.buffers = [2][]byte{} // they stay
	return true, int(h.values), body, err
}

// next reads the next page of values.
func (p *pages) next() (page, error) {
	for {
		h, err := p.header()
		if err != nil {
			return page{}, err
		}
		var v page
		switch h.kind {
		case pageData:
			v, err = p.dataV1(h)
		case pageDataV2:
			v, err = p.dataV2(h)
		case pageIndex:
			if _, err := p.in.Discard(int(h.packed)); err != nil {
				return page{}, err
			}
			p.inBytes -= h.packed
			continue
		case pageDictionary:
			err = errors.New("a second dictionary follows: the file is damaged")
		default:
			err = errPage
		}
		if err != nil {
			return page{}, err
		}
		if v.values > 0 {
			p.rows -= int64(v.values)
			return v, nil
		}
	}
}

// pass passes over whole pages of at most n rows together, which are not decompressed, and
// returns how many rows these have.
func (p *pages) pass(n int64) (rows int64, err error) {
	for rows < n {
		h, err := p.header()
		if err != nil {
			return rows, err
		}
		data := h.kind == pageData || h.kind == pageDataV2
		if !data && h.kind != pageIndex || data && h.values > n-rows {
			p.peeked = &h
			return rows, nil
		}
		if _, err := p.in.Discard(int(h.packed)); err != nil {
			return rows, err
		}
		p.inBytes -= h.packed
		if data {
			rows += h.values
			p.rows -= h.values
		}
	}
	return rows, nil
}

// dataV1 reads a data page of version 1: levels and values are compressed together.
func (p *pages) dataV1(h header) (page, error) {
	v := page{values: int(h.values), encoding: h.encoding}
	body, err := p.content(h, 0)
	if err != nil {
		return v, err
	}
	v.body = body
	if v.values == 0 {
		return v, nil
	}
	if v.reps, err = v.cut(p.rep, h.repLevels); err == nil {
		v.levels, err = v.cut(p.def, h.levels)
	}
	return v, err
}

// cut takes levels of so many bits off the front of the body of a page of version 1; 0: there are none.
func (v *page) cut(width byte, e encoding) (h *hybrid, err error) {
	if width == 0 {
		return nil, nil
	}
	if e != rle {
		return nil, fmt.Errorf("the nulls are in encoding %d, which cannot be read: write the file with a newer program", int64(e))
	}
	var levels []byte
	if levels, v.body, err = prefixed(v.body); err != nil {
		return nil, err
	}
	return newHybrid(levels, width)
}

// dataV2 reads a data page of version 2, whose levels are not compressed.
func (p *pages) dataV2(h header) (page, error) {
	v := page{values: int(h.values), encoding: h.encoding}
	first := h.repBytes + h.defBytes
	if h.repBytes < 0 || p.rep == 0 && h.repBytes > 0 || h.defBytes < 0 || first < 0 || first > min(h.size, h.packed) || h.uncompressed && h.size != h.packed {
		return v, errPage
	}
	body, err := p.content(h, first)
	if err != nil {
		return v, err
	}
	v.body = body[first:]
	if p.rep > 0 {
		v.reps, err = newHybrid(body[:h.repBytes], p.rep)
	}
	if p.def > 0 && err == nil {
		v.levels, err = newHybrid(body[h.repBytes:first], p.def)
	}
	return v, err
}

// prefixed cuts off the bytes whose number, in four bytes, comes first.
func prefixed(b []byte) (head, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errValue
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if b = b[4:]; n > uint64(len(b)) {
		return nil, nil, errValue
	}
	return b[:n], b[n:], nil
}
