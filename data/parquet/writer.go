package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/pho-go/pho/data/internal/columnar"
)

const (
	groupRows  = 128 << 10 // of a row group
	groupCells = 16 << 20  // of a row group: 128 MiB
)

// Writer writes columns of numbers, any of whose rows may be null, as one Parquet
// file compressed with Snappy. The same numbers give the same bytes, however they
// are cut into calls of Write. It is not safe for concurrent use.
type Writer struct {
	w       *file.Writer
	sink    *sink
	rows    int // of a row group
	columns [][]float64
	valid   []int16 // 1: the row is not null
	err     error
	closed  bool
}

// NewWriter begins a file with columns of the given names, which must be unique
// and not empty. w is not closed.
func NewWriter(w io.Writer, names []string) (*Writer, error) {
	if len(names) == 0 {
		return nil, errors.New("data: a Parquet file needs a column")
	}
	fields := make(schema.FieldList, len(names))
	for i, name := range names {
		if name == "" {
			return nil, fmt.Errorf("data: column %d has no name", i+1)
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("data: two columns are named %q", columnar.Clip(name))
		}
		fields[i] = schema.NewFloat64Node(name, parquet.Repetitions.Optional, -1)
	}
	if err := boundCodecs(); err != nil {
		return nil, err
	}
	p := &Writer{rows: max(1, min(groupRows, groupCells/len(names))), columns: make([][]float64, len(names)), sink: &sink{w: w}}
	err := p.guard(func() error {
		root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
		if err != nil {
			return err
		}
		p.w = file.NewParquetWriter(p.sink, root, file.WithWriterProps(parquet.NewWriterProperties(
			parquet.WithAllocator(memory.NewGoAllocator()),
			parquet.WithCompression(compress.Codecs.Snappy),
			parquet.WithDictionaryDefault(false),
			parquet.WithCreatedBy("pho"),
		)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// sink remembers why writing failed: the library does not always say.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

// guard makes a panic of the library an error, after which the file is lost.
func (p *Writer) guard(f func() error) error {
	if p.err != nil {
		return p.err
	}
	err := func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("%v", r)
			}
		}()
		return f()
	}()
	if p.sink.err != nil {
		err = p.sink.err
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
		if err := p.mark(m, 1); err != nil {
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
		if err := p.mark(m, 0); err != nil {
			return err
		}
		n -= int64(m)
	}
	return p.err
}

// mark counts n rows, which fit into the group, and writes it when it is full.
func (p *Writer) mark(n int, level int16) error {
	for range n {
		p.valid = append(p.valid, level)
	}
	if len(p.valid) < p.rows {
		return p.err
	}
	return p.flush()
}

// flush writes the row group.
func (p *Writer) flush() error {
	err := p.guard(func() error {
		group, err := p.w.AppendRowGroupChecked()
		if err != nil {
			return err
		}
		for _, v := range p.columns {
			c, err := group.NextColumn()
			if err != nil {
				return err
			}
			chunk, ok := c.(*file.Float64ColumnChunkWriter)
			if !ok {
				return fmt.Errorf("a column writer is %T", c)
			}
			if _, err := chunk.WriteBatch(v, p.valid, nil); err != nil {
				return err
			}
			if err := c.Close(); err != nil {
				return err
			}
		}
		return group.Close()
	})
	for j := range p.columns {
		p.columns[j] = p.columns[j][:0]
	}
	p.valid = p.valid[:0]
	return err
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
	return p.guard(p.w.Close)
}
