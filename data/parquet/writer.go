package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar"
)

const (
	groupRows  = 128 << 10 // of a row group
	groupCells = 16 << 20  // of a row group: 128 MiB
	pageRows   = 32 << 10
)

// Stored is how a Writer stores the values of a column.
type Stored uint8

const (
	Double Stored = iota // numbers, eight bytes each unless all of a row group are the same
	Int32                // whole numbers of 32 bits, as positions in a dictionary of the row group
	Text                 // levels, as positions in a dictionary of the row group
)

// Column is a column that a Writer writes.
type Column struct {
	Name   string
	Stored Stored
}

// Writer writes columns, any of whose rows may be null, as one Parquet file. Columns
// are compressed with Snappy; those of numbers only if this makes the first 4,096 of a
// row group smaller by an eighth. The same values give the same bytes, however they are
// cut into calls of Write or WriteBatch. It is not safe for concurrent use.
type Writer struct {
	w       io.Writer
	rows    int // of a row group
	columns []columnBuffer
	valid   []bool // the row is not null
	groups  []writtenGroup
	offset  int64         // bytes written
	pages   []writtenPage // of the group that is being written
	head    []byte
	page    []byte
	packed  []byte // the page compressed
	err     error
	closed  bool
}

// NewWriter begins a file of Double columns of the given names, which must be
// unique and not empty. w is not closed.
func NewWriter(w io.Writer, names []string) (*Writer, error) {
	columns := make([]Column, len(names))
	for j, name := range names {
		columns[j].Name = name
	}
	return NewBatchWriter(w, columns)
}

// NewBatchWriter is NewWriter for columns stored in any way: rows come with
// WriteBatch.
func NewBatchWriter(w io.Writer, columns []Column) (*Writer, error) {
	if len(columns) == 0 {
		return nil, errors.New("data: a Parquet file needs a column")
	}
	for i, c := range columns {
		switch {
		case c.Name == "":
			return nil, fmt.Errorf("data: column %d has no name", i+1)
		case slices.ContainsFunc(columns[:i], func(o Column) bool { return o.Name == c.Name }):
			return nil, fmt.Errorf("data: two columns are named %q", columnar.Clip(c.Name))
		case c.Stored > Text:
			return nil, fmt.Errorf("data: column %q should be stored in a way, %d, that is not known", columnar.Clip(c.Name), c.Stored)
		}
	}
	p := &Writer{w: w, columns: make([]columnBuffer, len(columns)), rows: max(1, min(groupRows, groupCells/len(columns)))}
	for j, c := range columns {
		p.columns[j].Column = c
	}
	if err := p.put([]byte("PAR1")); err != nil {
		return nil, err
	}
	return p, nil
}

// put writes bytes; after an error the file is lost.
func (p *Writer) put(b []byte) error {
	if p.err != nil {
		return p.err
	}
	n, err := p.w.Write(b)
	p.offset += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		p.err = fmt.Errorf("data: writing Parquet: %w", err)
	}
	return p.err
}

// Write appends rows: columns[j][i] is row i of column j, which is Double. Values
// are copied.
func (p *Writer) Write(columns [][]float64) error {
	if len(columns) != len(p.columns) {
		return fmt.Errorf("data: %d columns for a Parquet file of %d", len(columns), len(p.columns))
	}
	n := len(columns[0])
	for j, v := range columns {
		if len(v) != n {
			return fmt.Errorf("data: column %d has %d rows, column 1 has %d", j+1, len(v), n)
		}
		if c := &p.columns[j]; c.Stored != Double {
			return fmt.Errorf("data: column %q is not stored as double: write batches", columnar.Clip(c.Name))
		}
	}
	return p.append(n, func(i, j int) error {
		for k, v := range columns {
			p.columns[k].double(v[i:j])
		}
		return nil
	})
}

// WriteBatch appends the rows of b, which holds the columns by name: Double and Int32 as numbers,
// Text as codes. Values are copied. A number of an Int32 column that is not a whole number of 32
// bits is an error that names the row, and the file is lost.
func (p *Writer) WriteBatch(b *data.Batch) error {
	in := make([]func(i, j int) error, len(p.columns))
	for k := range p.columns {
		c := &p.columns[k]
		if c.Stored == Text {
			codes, err := b.Codes(c.Name)
			if err != nil {
				return err
			}
			local := make([]int32, len(codes.Levels))
			in[k] = func(i, j int) error { return c.texts(codes, local, i, j) }
			continue
		}
		v, err := b.Numeric(c.Name)
		if err != nil {
			return err
		}
		in[k] = func(i, j int) error { return c.numbers(b, v, i, j) }
	}
	return p.append(b.Rows(), func(i, j int) error {
		for _, add := range in {
			if err := add(i, j); err != nil {
				return err
			}
		}
		return nil
	})
}

// append takes n rows in runs i to j-1 that fit into a row group.
func (p *Writer) append(n int, take func(i, j int) error) error {
	for i := 0; i < n && p.err == nil; {
		m := min(n-i, p.rows-len(p.valid))
		if err := take(i, i+m); err != nil {
			p.err = err
			return err
		}
		if err := p.mark(m, true); err != nil {
			return err
		}
		i += m
	}
	return p.err
}

// WriteNull appends n rows that are null in every column.
func (p *Writer) WriteNull(n int64) error {
	for n > 0 {
		m := int(min(n, int64(p.rows-len(p.valid))))
		if err := p.mark(m, false); err != nil {
			return err
		}
		n -= int64(m)
	}
	return p.err
}

// mark counts n rows, which fit into the group, and writes it when it is full.
func (p *Writer) mark(n int, valid bool) error {
	for range n {
		p.valid = append(p.valid, valid)
	}
	if len(p.valid) < p.rows {
		return p.err
	}
	return p.flush()
}

// flush writes the row group.
func (p *Writer) flush() error {
	p.cut()
	g := writtenGroup{rows: int64(len(p.valid)), chunks: make([]writtenChunk, len(p.columns))}
	for j := range p.columns {
		if g.chunks[j] = p.column(&p.columns[j]); p.err != nil {
			return p.err
		}
	}
	p.groups = append(p.groups, g)
	for j := range p.columns {
		p.columns[j].reset()
	}
	p.valid = p.valid[:0]
	return nil
}

// Close writes what is left and the footer; the file is complete only if it
// returns nil. Closing twice does nothing.
func (p *Writer) Close() error {
	if p.closed {
		return p.err
	}
	p.closed = true
	if len(p.valid) > 0 {
		if err := p.flush(); err != nil {
			return err
		}
	}
	return p.put(p.footer())
}
