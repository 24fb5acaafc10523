package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/pho-go/pho/data/internal/columnar"
)

// batch is a record batch whose columns are found one after the other.
type batch struct {
	r       io.ReaderAt
	message message
	meta    flat // RecordBatch
	version int64
	rows    int64
	codec   int64 // -1: none
	budget  *columnar.Budget

	nodes, buffers, views    int64 // where the vectors are
	nNodes, nBuffers, nViews int64 // how long they are
	atNode, atBuffer, atView int64 // the next ones
}

// Codecs of the format (Message.fbs).
const (
	codecNone = -1
	codecLZ4  = 0
	codecZstd = 1
)

func newBatch(r io.ReaderAt, m message, meta flat, version int64, budget *columnar.Budget) (*batch, error) {
	if meta.at == 0 {
		return nil, errFlat
	}
	b := &batch{r: r, message: m, meta: meta, version: version, rows: meta.int(0, 8, 0), codec: codecNone, budget: budget}
	b.nodes, b.nNodes = meta.vector(1, 16)
	b.buffers, b.nBuffers = meta.vector(2, 16)
	b.views, b.nViews = meta.vector(4, 8)
	if c := meta.table(3); c.at != 0 {
		b.codec = c.int(0, 1, 0)
		if b.codec != codecLZ4 && b.codec != codecZstd {
			return nil, fmt.Errorf("it is compressed in an unknown way, %d", b.codec)
		}
	}
	if b.rows < 0 {
		return nil, errFlat
	}
	return b, meta.err()
}

// skip passes over a column.
func (b *batch) skip(v *node) {
	nodes, buffers, views := v.layout(b.version)
	b.atNode += int64(nodes)
	b.atBuffer += int64(buffers)
	for range views {
		b.atBuffer += b.variadic()
	}
}

// variadic is the number of data buffers of the next view column.
func (b *batch) variadic() int64 {
	if b.atView >= b.nViews {
		*b.meta.bad = true
		return 0
	}
	n := b.meta.i64(b.views + 8*b.atView)
	b.atView++
	if n < 0 || n > b.nBuffers {
		*b.meta.bad = true
		return 0
	}
	return n
}

// column is a column of a record batch.
type column struct {
	*node
	valid *buffer   // nil: all are
	data  *buffer   // numbers, indices, offsets or views
	text  []*buffer // of text
}

// column finds, and decompresses, the next column.
func (b *batch) column(v *node) (*column, error) {
	if b.atNode >= b.nNodes {
		return nil, errFlat
	}
	rows, nulls := b.meta.i64(b.nodes+16*b.atNode), b.meta.i64(b.nodes+16*b.atNode+8)
	b.atNode++
	if rows != b.rows {
		return nil, fmt.Errorf("it has %d values in a batch of %d rows: the file is damaged", rows, b.rows)
	}
	c := &column{node: v}
	var err error
	if nulls != 0 {
		if c.valid, err = b.next(); err != nil {
			return nil, err
		}
		if c.valid.size == 0 {
			c.valid = nil
		}
	} else {
		b.atBuffer++
	}
	if c.data, err = b.next(); err != nil {
		return nil, err
	}
	if v.index > 0 || !v.text() {
		return c, nil
	}
	texts := int64(1)
	if v.kind == typeUtf8View || v.kind == typeBinaryView {
		texts = b.variadic()
	}
	for range texts {
		t, err := b.next()
		if err != nil {
			return nil, err
		}
		c.text = append(c.text, t)
	}
	return c, b.meta.err()
}

// next is the next buffer.
func (b *batch) next() (*buffer, error) {
	if b.atBuffer >= b.nBuffers || *b.meta.bad {
		return nil, errFlat
	}
	at, size := b.meta.i64(b.buffers+16*b.atBuffer), b.meta.i64(b.buffers+16*b.atBuffer+8)
	b.atBuffer++
	if at < 0 || size < 0 || at > b.message.size-size {
		return nil, errFlat
	}
	v := &buffer{r: b.r, at: b.message.body + at, size: size, budget: b.budget}
	if b.codec == codecNone || size == 0 {
		return v, nil
	}
	return v, v.decompress(b.codec)
}

// buffer is a run of bytes of the file, or decompressed from it.
type buffer struct {
	r        io.ReaderAt
	at, size int64
	memory   []byte // nil: in the file
	scratch  []byte
	budget   *columnar.Budget
}

// decompress reads the buffer, which begins with its decompressed size; -1 is
// one that was left as it is.
func (b *buffer) decompress(codec int64) error {
	head, err := b.bytes(0, 8)
	if err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint64(head))
	if n == -1 {
		b.at, b.size = b.at+8, b.size-8
		return nil
	}
	if n < 0 {
		return errFlat
	}
	packed := b.budget.Allocate(int(b.size - 8))
	if _, err := b.r.ReadAt(packed, b.at+8); err != nil {
		return err
	}
	b.memory = b.budget.Allocate(int(n))
	b.size = n
	switch codec {
	case codecLZ4:
		_, err = io.ReadFull(lz4.NewReader(bytes.NewReader(packed)), b.memory)
	default:
		var z *zstd.Decoder
		if z, err = zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true)); err != nil {
			return err
		}
		defer z.Close()
		var got []byte
		if got, err = z.DecodeAll(packed, b.memory[:0:n]); err == nil && int64(len(got)) != n {
			err = io.ErrUnexpectedEOF
		}
	}
	b.budget.Free(packed)
	if err != nil {
		return fmt.Errorf("decompressing: %w", err)
	}
	return nil
}

// bytes is a part of the buffer, valid until the next call.
func (b *buffer) bytes(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > b.size-n {
		return nil, fmt.Errorf("bytes %d to %d are outside their buffer of %d: the file is damaged", at, at+n, b.size)
	}
	if b.memory != nil {
		return b.memory[at : at+n], nil
	}
	if int64(len(b.scratch)) < n {
		b.budget.Free(b.scratch)
		b.scratch = nil
		b.scratch = b.budget.Allocate(int(n))
	}
	v := b.scratch[:n]
	if _, err := b.r.ReadAt(v, b.at+at); err != nil {
		return nil, err
	}
	return v, nil
}

// items are n items of the given number of bits, from the given row on.
func (b *buffer) items(row, n, bits int64) ([]byte, error) {
	if row > math.MaxInt64/64 {
		return nil, errFlat
	}
	return b.bytes(row*bits/8, n*bits/8)
}

// bitmap tells the bits of rows row to row+n-1.
func (b *buffer) bitmap(row, n int64) (func(i int) bool, error) {
	first := row / 8
	v, err := b.bytes(first, (row+n+7)/8-first)
	if err != nil {
		return nil, err
	}
	shift := int(row - 8*first)
	return func(i int) bool { return v[(i+shift)/8]>>((i+shift)%8)&1 == 1 }, nil
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
	v.Numbers = make([]float64, n)
	if c.kind == typeBool {
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
	case c.kind == typeFloat && c.bits == 64:
		for i := range out {
			out[i] = math.Float64frombits(le.Uint64(b[8*i:]))
		}
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
