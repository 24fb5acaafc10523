package parquet

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/pho-go/pho/data/internal/columnar"
)

// decoder yields the values of a page that are not null, as bits.
type decoder interface {
	read(dst []uint64) error
}

func errEncoding(e encoding, k physical) error {
	return fmt.Errorf("values of type %s in encoding %d cannot be read", k, int64(e))
}

// newDecoder begins to decode numbers of width bytes, 0 for single bits.
func newDecoder(v page, k physical, width int, dictionary []uint64) (decoder, error) {
	switch v.encoding {
	case plain:
		if k == kindBool {
			return &bitNumbers{h: hybrid{run: v.body, width: 1, left: uint64(len(v.body)) * 8}}, nil
		}
		return &plainNumbers{v.body, width}, nil
	case plainDictionary, rleDictionary:
		h, err := newIndices(v.body, dictionary != nil)
		return &dictionaryNumbers{h: h, table: dictionary}, err
	case rle:
		if k == kindBool {
			b, _, err := prefixed(v.body)
			return &bitNumbers{h: hybrid{b: b, width: 1}}, err
		}
	case deltaPacked:
		if k == kindInt32 || k == kindInt64 {
			return newDelta(v.body)
		}
	case byteStreamSplit:
		if width > 0 {
			return &byteStreams{b: v.body, width: width, n: len(v.body) / width}, nil
		}
	}
	return nil, errEncoding(v.encoding, k)
}

// newIndices begins to decode positions in a dictionary.
func newIndices(b []byte, dictionary bool) (*hybrid, error) {
	if !dictionary || len(b) == 0 {
		return nil, errValue
	}
	return newHybrid(b[1:], b[0])
}

// plainNumbers are numbers one after the other.
type plainNumbers struct {
	b     []byte
	width int
}

func (d *plainNumbers) read(dst []uint64) error {
	n := len(dst) * d.width
	if n > len(d.b) {
		return errShort
	}
	b := d.b[:n]
	d.b = d.b[n:]
	switch d.width {
	case 8:
		for i := range dst {
			dst[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
	case 4:
		for i := range dst {
			dst[i] = uint64(binary.LittleEndian.Uint32(b[4*i:]))
		}
	default:
		for i := range dst {
			dst[i] = uint64(binary.LittleEndian.Uint16(b[2*i:]))
		}
	}
	return nil
}

// doubles reads numbers of eight bytes straight into dst: most columns hold these.
func (d *plainNumbers) doubles(dst []float64) error {
	n := len(dst) * 8
	if n > len(d.b) {
		return errShort
	}
	b := d.b[:n]
	d.b = d.b[n:]
	columnar.Doubles(dst, b)
	return nil
}

// bitNumbers are single bits.
type bitNumbers struct {
	h       hybrid
	scratch []uint32
}

func (d *bitNumbers) read(dst []uint64) error {
	d.scratch = grow(d.scratch, len(dst))
	if err := d.h.read(d.scratch[:len(dst)]); err != nil {
		return err
	}
	for i, v := range d.scratch[:len(dst)] {
		dst[i] = uint64(v)
	}
	return nil
}

// dictionaryNumbers are given as positions in a dictionary.
type dictionaryNumbers struct {
	h       *hybrid
	table   []uint64
	scratch []uint32
}

func (d *dictionaryNumbers) read(dst []uint64) error {
	d.scratch = grow(d.scratch, len(dst))
	if err := d.h.read(d.scratch[:len(dst)]); err != nil {
		return err
	}
	for i, k := range d.scratch[:len(dst)] {
		if uint64(k) >= uint64(len(d.table)) {
			return errIndex(k, len(d.table))
		}
		dst[i] = d.table[k]
	}
	return nil
}

// doubles reads numbers of eight bytes straight into dst.
func (d *dictionaryNumbers) doubles(dst []float64) error {
	d.scratch = grow(d.scratch, len(dst))
	positions := d.scratch[:len(dst)]
	if err := d.h.read(positions); err != nil {
		return err
	}
	for i, k := range positions {
		if uint64(k) >= uint64(len(d.table)) {
			return errIndex(k, len(d.table))
		}
		dst[i] = math.Float64frombits(d.table[k])
	}
	return nil
}

func errIndex(k uint32, n int) error {
	return fmt.Errorf("position %d is beyond the %d values of the dictionary: the file is damaged", k, n)
}

// byteStreams are numbers of which first all first bytes are given, then all second bytes
// and so on (BYTE_STREAM_SPLIT in the specification).
type byteStreams struct {
	b              []byte
	width, n, done int
}

func (d *byteStreams) read(dst []uint64) error {
	if len(dst) > d.n-d.done {
		return errShort
	}
	clear(dst)
	for k := range d.width {
		for i, v := range d.b[k*d.n+d.done:][:len(dst)] {
			dst[i] |= uint64(v) << (8 * k)
		}
	}
	d.done += len(dst)
	return nil
}

func grow[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	return v[:cap(v)]
}

// texts yields the texts of a page, each valid until the next.
type texts interface {
	next() ([]byte, error)
}

func newTexts(v page, b *columnar.Budget) (texts, error) {
	switch v.encoding {
	case plain:
		return &plainTexts{v.body}, nil
	case deltaLength:
		return newLengths(v.body, v.values, b)
	case deltaBytes:
		d, err := newDelta(v.body)
		if err != nil {
			return nil, err
		}
		t := &prefixTexts{}
		if t.prefixes, err = numbersOf(d, v.values, b); err != nil {
			return nil, err
		}
		t.rest, err = newLengths(d.b, v.values, b)
		return t, err
	}
	return nil, errEncoding(v.encoding, kindBytes)
}

type plainTexts struct{ b []byte }

func (d *plainTexts) next() (v []byte, err error) {
	v, d.b, err = prefixed(d.b)
	return v, err
}

// fixedTexts are texts of width bytes each.
type fixedTexts struct {
	b     []byte
	width int
}

func (d *fixedTexts) next() ([]byte, error) {
	if len(d.b) < d.width {
		return nil, errShort
	}
	v := d.b[:d.width]
	d.b = d.b[d.width:]
	return v, nil
}

// lengthTexts are texts that follow the lengths of all of them.
type lengthTexts struct {
	n []uint64
	b []byte
}

func newLengths(b []byte, limit int, budget *columnar.Budget) (*lengthTexts, error) {
	d, err := newDelta(b)
	if err != nil {
		return nil, err
	}
	n, err := numbersOf(d, limit, budget)
	return &lengthTexts{n, d.b}, err
}

// numbersOf decodes the lengths of texts, at most limit of them. They are held for one
// page only, so they are checked against the limit of the budget and not taken from it.
func numbersOf(d *delta, limit int, b *columnar.Budget) ([]uint64, error) {
	if d.left > uint64(limit) {
		return nil, errValue
	}
	if need := 8 * int64(d.left); need > b.Limit {
		return nil, &columnar.LimitError{Asked: need, Limit: b.Limit}
	}
	n := make([]uint64, d.left)
	return n, d.read(n)
}

func (d *lengthTexts) next() ([]byte, error) {
	if len(d.n) == 0 || d.n[0] > uint64(len(d.b)) {
		return nil, errValue
	}
	v := d.b[:d.n[0]]
	d.b, d.n = d.b[d.n[0]:], d.n[1:]
	return v, nil
}

// prefixTexts are texts that are given without the bytes with which they begin like the
// text before; prefixes are how many these are.
type prefixTexts struct {
	prefixes []uint64
	rest     *lengthTexts
	last     []byte
}

func (d *prefixTexts) next() ([]byte, error) {
	v, err := d.rest.next()
	if err != nil {
		return nil, err
	}
	if len(d.prefixes) == 0 {
		return nil, errValue
	}
	n := d.prefixes[0]
	d.prefixes = d.prefixes[1:]
	if n > uint64(len(d.last)) || n+uint64(len(v)) > maxPage {
		return nil, errValue
	}
	d.last = append(d.last[:n], v...)
	return d.last, nil
}
