package arrow

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar"
)

// batch is a record batch whose columns are found one after the other.
type batch struct {
	r       data.File
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

func newBatch(r data.File, m message, meta flat, version int64, budget *columnar.Budget) (*batch, error) {
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

func (b *batch) column(v *node) (*column, error) { return b.values(v, b.rows) }

// values finds a column of so many values, or the elements of one of lists, -1: of which there may be any number.
func (b *batch) values(v *node, want int64) (*column, error) {
	if b.atNode >= b.nNodes {
		return nil, errFlat
	}
	rows, nulls := b.meta.i64(b.nodes+16*b.atNode), b.meta.i64(b.nodes+16*b.atNode+8)
	b.atNode++
	if want >= 0 && rows != want || rows < 0 {
		return nil, fmt.Errorf("it has %d values in a batch of %d rows: the file is damaged", rows, b.rows)
	}
	c := &column{node: v, rows: rows}
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
	if v.index == 0 && v.kind == typeFixedSizeList {
		if v.size > 0 && rows > math.MaxInt64/int64(v.size) {
			return nil, errFlat
		}
		want = rows * int64(v.size)
	} else if c.data, err = b.next(); err != nil {
		return nil, err
	} else {
		want = -1
	}
	if v.lists() {
		c.child, err = b.values(v.children[0], want)
		return c, err
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

func (b *batch) next() (*buffer, error) {
	if b.atBuffer >= b.nBuffers || *b.meta.bad {
		return nil, errFlat
	}
	at, size := b.meta.i64(b.buffers+16*b.atBuffer), b.meta.i64(b.buffers+16*b.atBuffer+8)
	b.atBuffer++
	if at < 0 || size < 0 || at > b.message.size-size {
		return nil, errFlat
	}
	v := &buffer{r: b.r, at: b.message.body + at, size: size, codec: b.codec, budget: b.budget}
	if size == 0 {
		v.codec = codecNone
	}
	return v, nil
}
