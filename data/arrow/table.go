package arrow

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/pho-go/pho/data/internal/columnar"
)

// table is one file.
type table struct {
	*columnar.Input
	memory   int64
	workers  int
	reuse    bool
	fields   []columnar.Field
	nodes    []*node
	messages []message // in the order in which they apply
	rows     int64
	metadata hash.Hash // of all messages
}

// message is a dictionary or record batch.
type message struct {
	meta       []byte
	body, size int64 // where the body is
	rows       int64 // of a record batch
}

func open(path string, memory int64, o *Options) (*table, error) {
	in, err := columnar.Stat(o.Store, path, "Arrow")
	if err != nil {
		return nil, err
	}
	f, err := in.Open(context.Background())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := &table{Input: in, memory: memory, workers: max(1, o.Workers), reuse: o.Reuse, metadata: sha256.New()}
	if err := columnar.Guard(path, "", func() error { return t.index(f) }); err != nil {
		return nil, err
	}
	t.shapes(f)
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

func (t *table) indexFile(r io.ReaderAt) error {
	var tail [10]byte
	if t.Size < 8+int64(len(tail)) {
		return io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(tail[:], t.Size-int64(len(tail))); err != nil {
		return err
	}
	if !bytes.Equal(tail[4:], magic) {
		return fmt.Errorf("the file ends with %q, not with the mark of Arrow: it is cut off; fetch it, or write it, again", tail[4:])
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
			meta, next, err := t.readMetadata(r, offset)
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
		meta, next, err := t.readMetadata(r, at)
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

// readMetadata reads the metadata of the message at the given place; nil is the end
// mark. next is where its body begins.
func (t *table) readMetadata(r io.ReaderAt, at int64) (meta []byte, next int64, err error) {
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
	t.metadata.Write(meta)
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
	rows := int64(0)
	if head == headRecordBatch {
		if rows = m.table(2).int(0, 8, 0); rows < 0 || t.rows+rows < 0 {
			return errFlat
		}
		t.rows += rows
	}
	t.messages = append(t.messages, message{meta, at, size, rows})
	return nil
}

// Len is the number of rows of all record batches.
func (t *table) Len() int64 { return t.rows }

// Digest is that of the metadata of all messages.
func (t *table) Digest() string { return hex.EncodeToString(t.metadata.Sum(nil)) }

// Name is the path as given.
func (t *table) Name() string { return t.Input.Name }

// Fields lists the columns in file order.
func (t *table) Fields() []columnar.Field { return t.fields }
