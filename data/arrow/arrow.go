// Package arrow reads Arrow IPC files (Feather version 2) and streams as a
// data.Source.
//
// It decodes the columns that are requested and no others, a block of rows at a
// time where the file is not compressed and a column of a record batch at a time
// where it is. Integers, floating point numbers and truth values (0 and 1) are
// numeric columns; text, plain, as views or as a dictionary, is categorical.
// Integers beyond 2^53 in size are errors that name the cell: float64 would round
// them. Null and NaN are missing, Inf is an error. Text is taken as it stands: a
// text "NA" or "" is a level, not a missing cell. Decimals, dates, times, nested
// columns and others can be in a file but not be requested.
//
// The format is https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc.
package arrow

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar"
)

// Options say how to read Arrow files. nil means the zero value.
type Options struct {
	// BatchRows is the largest number of rows of a batch; 0 means 4096.
	BatchRows int
	// Factors names numeric columns to hold as categories too, as in
	// data.CSVOptions.
	Factors []string
	// NA is the policy for missing cells, null and NaN.
	NA data.NAPolicy
	// Memory is how many bytes a pass may hold decoded at a time, besides the
	// batches it yields; 0 means 1 GiB.
	Memory int64
}

const (
	defaultMemory = 1 << 30
	maxMetadata   = 64 << 20 // bytes of a message's or footer's metadata
)

// Source is a data.Source over Arrow files. It is safe for concurrent use.
type Source struct{ rows *columnar.Source }

// Open reads the metadata of the files, which become one table in the order of
// paths: their columns must have the same names in the same order and the same
// kinds. Files are open only while they are read; a pass that finds a file of
// another size or time than at Open is an error.
//
// Errors: no paths, files that cannot be read or are no Arrow IPC, columns that
// differ, an unknown name in o.Factors.
func Open(paths []string, o *Options) (*Source, error) {
	if o == nil {
		o = &Options{}
	}
	memory := o.Memory
	switch {
	case memory == 0:
		memory = defaultMemory
	case memory < 0:
		return nil, fmt.Errorf("data: %d bytes of memory are too few", memory)
	}
	files := make([]columnar.File, len(paths))
	for i, path := range paths {
		f, err := open(path, memory)
		if err != nil {
			return nil, err
		}
		files[i] = f
	}
	s, err := columnar.New(files, columnar.Options{BatchRows: o.BatchRows, Factors: o.Factors, NA: o.NA})
	if err != nil {
		return nil, err
	}
	return &Source{s}, nil
}

// Schema lists the columns that can be read, in file order. The caller owns the list.
func (s *Source) Schema() data.Schema { return s.rows.Schema() }

// Batches reads the files from the start and yields batches of at most
// Options.BatchRows rows with the named columns; others are not decoded. An unknown
// name is a *data.MissingColumnError, a cell that cannot be a value a *data.CellError.
// The context is checked before every batch.
func (s *Source) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return s.rows.Batches(ctx, columns)
}

// Rows returns how many rows the last complete pass read, and how many of them it
// left out because of missing cells (see data.NADrop). Both are 0 before.
func (s *Source) Rows() (total, dropped int64) { return s.rows.Rows() }

// Close does nothing and returns nil: files are open only while a pass reads them.
func (s *Source) Close() error { return nil }

var (
	magic        = []byte("ARROW1")
	continuation = []byte{0xff, 0xff, 0xff, 0xff}
)

// IsArrow reports whether a file that begins with head is an Arrow IPC file or
// stream, or of the format Feather had before.
func IsArrow(head []byte) bool {
	return bytes.HasPrefix(head, magic) || bytes.HasPrefix(head, continuation) || bytes.HasPrefix(head, []byte("FEA1"))
}

// table is one file.
type table struct {
	*columnar.Input
	memory   int64
	fields   []columnar.Field
	nodes    []*node
	messages []message // in the order in which they apply
}

// message is a dictionary or record batch.
type message struct {
	meta       []byte
	body, size int64 // where the body is
}

func open(path string, memory int64) (*table, error) {
	in, err := columnar.Stat(path, "Arrow")
	if err != nil {
		return nil, err
	}
	f, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := &table{Input: in, memory: memory}
	if err := columnar.Guard(path, "", func() error { return t.index(f) }); err != nil {
		return nil, err
	}
	return t, nil
}

// index finds the schema and the messages.
func (t *table) index(r io.ReaderAt) error {
	head := make([]byte, min(8, t.Size))
	if _, err := r.ReadAt(head, 0); err != nil {
		return err
	}
	switch {
	case bytes.HasPrefix(head, []byte("FEA1")):
		return errors.New("the file is in version 1 of Feather: write it again in version 2")
	case bytes.HasPrefix(head, magic):
		return t.indexFile(r)
	}
	return t.indexStream(r)
}

// indexFile reads the footer.
func (t *table) indexFile(r io.ReaderAt) error {
	var tail [10]byte
	if t.Size < 8+int64(len(tail)) {
		return io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(tail[:], t.Size-int64(len(tail))); err != nil {
		return err
	}
	if !bytes.Equal(tail[4:], magic) {
		return fmt.Errorf("the file ends with %q, not with the mark of Arrow: it is cut off", tail[4:])
	}
	n := int64(int32(binary.LittleEndian.Uint32(tail[:])))
	if n <= 0 || n > maxMetadata || n > t.Size-18 {
		return fmt.Errorf("the footer should take %d bytes: the file is damaged", n)
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, t.Size-10-n); err != nil {
		return err
	}
	footer := root(b)
	var err error
	if t.fields, t.nodes, err = readSchema(footer.table(1)); err != nil {
		return err
	}
	for _, blocks := range []int64{2, 3} { // dictionaries, then record batches
		at, n := footer.vector(blocks, 24)
		for i := range n {
			p := at + 24*i
			offset, body := footer.i64(p), footer.i64(p+16)
			if err := footer.err(); err != nil {
				return err
			}
			meta, next, err := t.metadata(r, offset)
			if err != nil {
				return err
			}
			if err := t.add(meta, next, body); err != nil {
				return err
			}
		}
	}
	return footer.err()
}

// indexStream walks over the messages.
func (t *table) indexStream(r io.ReaderAt) error {
	for at := int64(0); at < t.Size; {
		meta, next, err := t.metadata(r, at)
		if err != nil {
			return err
		}
		if meta == nil {
			break // the end mark
		}
		m := root(meta)
		size := m.int(3, 8, 0)
		if err := m.err(); err != nil {
			return err
		}
		if t.fields == nil {
			if m.int(1, 1, 0) != headSchema {
				return errors.New("it does not begin with a schema")
			}
			if t.fields, t.nodes, err = readSchema(m.table(2)); err != nil {
				return err
			}
			if t.fields == nil {
				return errors.New("it has no columns")
			}
		} else if err := t.add(meta, next, size); err != nil {
			return err
		}
		if size < 0 || size > t.Size-next {
			return io.ErrUnexpectedEOF
		}
		at = next + size
	}
	if t.fields == nil {
		return errors.New("it has no schema")
	}
	return nil
}

// metadata reads the metadata of the message at the given place; nil is the end
// mark. next is where its body begins.
func (t *table) metadata(r io.ReaderAt, at int64) (meta []byte, next int64, err error) {
	var head [8]byte
	if at < 0 || at > t.Size-4 {
		return nil, 0, io.ErrUnexpectedEOF
	}
	if n, err := r.ReadAt(head[:], at); n < 4 {
		return nil, 0, err
	}
	at += 4
	n := int64(int32(binary.LittleEndian.Uint32(head[:])))
	if n == -1 { // before version 0.15 of the format there was no such mark
		n = int64(int32(binary.LittleEndian.Uint32(head[4:])))
		at += 4
	}
	switch {
	case n == 0:
		return nil, at, nil
	case n < 0 || n > maxMetadata:
		return nil, 0, fmt.Errorf("a message's metadata should take %d bytes: this is no Arrow, or damaged", n)
	case n > t.Size-at:
		return nil, 0, io.ErrUnexpectedEOF
	}
	meta = make([]byte, n)
	if _, err := r.ReadAt(meta, at); err != nil {
		return nil, 0, err
	}
	return meta, at + n, nil
}

// add appends a message, having checked where its body lies.
func (t *table) add(meta []byte, at, size int64) error {
	if meta == nil {
		return errFlat
	}
	m := root(meta)
	head := m.int(1, 1, 0)
	switch {
	case m.err() != nil:
		return m.err()
	case head != headDictionaryBatch && head != headRecordBatch:
		return fmt.Errorf("it has a message of kind %d, which is neither a record batch nor a dictionary", head)
	case size < 0 || at > t.Size-size:
		return io.ErrUnexpectedEOF
	}
	t.messages = append(t.messages, message{meta, at, size})
	return nil
}

// Name is the path as given.
func (t *table) Name() string { return t.Input.Name }

// Fields lists the columns in file order.
func (t *table) Fields() []columnar.Field { return t.fields }

// Blocks decodes the messages in order.
func (t *table) Blocks(ctx context.Context, fields []int, rows int) iter.Seq2[*columnar.Block, error] {
	return func(yield func(*columnar.Block, error) bool) {
		f, err := t.Input.Open()
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		dictionaries := map[int64]*dictionary{}
		for _, i := range fields {
			if v := t.nodes[i]; v.index > 0 {
				dictionaries[v.id] = &dictionary{node: v}
			}
		}
		budget := &columnar.Budget{Limit: t.memory}
		for _, m := range t.messages {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			var records *batch
			err := columnar.Guard(t.Name(), "", func() (err error) {
				records, err = t.message(f, m, budget, dictionaries)
				return err
			})
			if err != nil {
				yield(nil, err)
				return
			}
			if records != nil && !t.records(ctx, records, fields, rows, dictionaries, yield) {
				return
			}
		}
	}
}

// message reads a dictionary, or finds the parts of a record batch.
func (t *table) message(r io.ReaderAt, m message, budget *columnar.Budget, dictionaries map[int64]*dictionary) (*batch, error) {
	meta := root(m.meta)
	version, head := meta.int(0, 2, 0), meta.table(2)
	if meta.int(1, 1, 0) == headRecordBatch {
		budget.Reset()
		return newBatch(r, m, head, version, budget)
	}
	d := dictionaries[head.int(0, 8, 0)]
	if d == nil {
		return nil, meta.err() // of a column that is not requested
	}
	b, err := newBatch(r, m, head.table(1), version, budget)
	if err != nil {
		return nil, err
	}
	return nil, d.read(b, head.int(2, 1, 0) != 0)
}

// records yields the blocks of a record batch and reports whether to go on.
func (t *table) records(ctx context.Context, b *batch, fields []int, rows int, dictionaries map[int64]*dictionary, yield func(*columnar.Block, error) bool) bool {
	columns := make([]*column, len(fields))
	at := 0
	for j, field := range fields {
		for ; at < field; at++ {
			b.skip(t.nodes[at])
		}
		err := columnar.Guard(t.Name(), t.fields[field].Name, func() (err error) {
			columns[j], err = b.column(t.nodes[at])
			return err
		})
		if err != nil {
			yield(nil, err)
			return false
		}
		at++
	}
	for row := int64(0); row < b.rows; {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return false
		}
		n := min(b.rows-row, int64(rows))
		block := &columnar.Block{Rows: int(n), Values: make([]columnar.Values, len(fields))}
		for j, c := range columns {
			err := columnar.Guard(t.Name(), t.fields[fields[j]].Name, func() error {
				return c.read(row, int(n), dictionaries, &block.Values[j])
			})
			if err != nil {
				yield(nil, err)
				return false
			}
		}
		if !yield(block, nil) {
			return false
		}
		row += n
	}
	return true
}

// dictionary holds the levels of a dictionary column.
type dictionary struct {
	node   *node
	levels []string
	bytes  int64
}

// read replaces the levels, or appends to them.
func (d *dictionary) read(b *batch, delta bool) error {
	plain := *d.node
	plain.index = 0
	c, err := b.column(&plain)
	if err != nil {
		return err
	}
	if !delta {
		d.levels, d.bytes = nil, 0
	}
	for row := int64(0); row < b.rows; {
		n := int(min(b.rows-row, 4096))
		text, err := c.texts(row, n)
		if err != nil {
			return err
		}
		for _, level := range text {
			if d.bytes += int64(len(level)) + 64; d.bytes > columnar.LevelBytes {
				return errors.New("the levels take more memory than allowed; leave out columns that name single rows")
			}
			d.levels = append(d.levels, string(level))
		}
		row += int64(n)
	}
	if len(d.levels) > math.MaxInt32 {
		return errors.New("a dictionary has more than 2^31 levels")
	}
	return nil
}
