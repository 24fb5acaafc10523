package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pho-go/pho/data/internal/columnar"
)

const (
	groupRows  = 128 << 10 // of a row group
	groupCells = 16 << 20  // of a row group: 128 MiB
	pageRows   = 32 << 10
)

// Writer writes columns of numbers, any of whose rows may be null, as one Parquet
// file compressed with Snappy. The same numbers give the same bytes, however they
// are cut into calls of Write. It is not safe for concurrent use.
type Writer struct {
	w       io.Writer
	names   []string
	rows    int // of a row group
	columns [][]float64
	valid   []bool // the row is not null
	groups  []writtenGroup
	offset  int64  // bytes written
	chunk   []byte // the pages of a column
	page    []byte
	err     error
	closed  bool
}

// NewWriter begins a file with columns of the given names, which must be unique
// and not empty. w is not closed.
func NewWriter(w io.Writer, names []string) (*Writer, error) {
	if len(names) == 0 {
		return nil, errors.New("data: a Parquet file needs a column")
	}
	for i, name := range names {
		if name == "" {
			return nil, fmt.Errorf("data: column %d has no name", i+1)
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("data: two columns are named %q", columnar.Clip(name))
		}
	}
	p := &Writer{
		w: w, names: slices.Clone(names), columns: make([][]float64, len(names)),
		rows: max(1, min(groupRows, groupCells/len(names))),
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

// Write appends rows: columns[j][i] is row i of column j. Values are copied.
func (p *Writer) Write(columns [][]float64) error {
	if len(columns) != len(p.columns) {
		return fmt.Errorf("data: %d columns for a Parquet file of %d", len(columns), len(p.columns))
	}
	n := len(columns[0])
	for j, v := range columns {
		if len(v) != n {
			return fmt.Errorf("data: column %d has %d rows, column 1 has %d", j+1, len(v), n)
		}
	}
	for i := 0; i < n; {
		m := min(n-i, p.rows-len(p.valid))
		for j, v := range columns {
			p.columns[j] = append(p.columns[j], v[i:i+m]...)
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
	g := writtenGroup{rows: int64(len(p.valid)), chunks: make([]writtenChunk, len(p.columns))}
	for j, v := range p.columns {
		g.chunks[j] = p.column(v)
		if err := p.put(p.chunk); err != nil {
			return err
		}
	}
	p.groups = append(p.groups, g)
	for j := range p.columns {
		p.columns[j] = p.columns[j][:0]
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
