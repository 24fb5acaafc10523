// Package parquet reads Parquet files as a data.Source, and writes columns of
// numbers.
//
// Integers, floating point numbers and truth values (0 and 1) are numeric
// columns, text is categorical. Integers beyond 2^53 in size are errors that
// name the cell: float64 would round them. Null and NaN are missing, Inf is an
// error. Text is taken as it stands: a text "NA" or "" is a level, not a missing
// cell. Decimals, dates, times, nested columns and others can be in a file but
// not be requested.
package parquet

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar"
)

// Options say how to read Parquet files. nil means the zero value.
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
	mostPage      = 256 << 20 // bytes of a page
	bufferSize    = 64 << 10  // read at once
)

// Source is a data.Source over Parquet files. It is safe for concurrent use.
type Source struct{ *columnar.Source }

// Open reads the footers of the files, which become one table in the order of
// paths: their columns must have the same names in the same order and the same
// kinds. Files are open only while they are read; a pass that finds a file of
// another size or time than at Open is an error.
//
// Errors: no paths, files that cannot be read or are no Parquet, columns that
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
	if err := boundCodecs(); err != nil {
		return nil, err
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

// table is one file.
type table struct {
	*columnar.Input
	memory int64
	meta   *metadata.FileMetaData
	fields []columnar.Field
	leaves []int // field -> leaf column; -1 if refused
}

func open(path string, memory int64) (*table, error) {
	in, err := columnar.Stat(path, "Parquet")
	if err != nil {
		return nil, err
	}
	f, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := &table{Input: in, memory: memory}
	err = columnar.Guard(path, "", func() error {
		if err := checkFooter(f, in.Size); err != nil {
			return err
		}
		r, err := file.NewParquetReader(f, file.WithReadProps(t.properties(&columnar.Budget{Limit: memory})))
		if err != nil {
			return err
		}
		t.meta = r.MetaData()
		t.fields, t.leaves = fieldsOf(t.meta.Schema)
		return t.checkGroups()
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (t *table) properties(b *columnar.Budget) *parquet.ReaderProperties {
	p := parquet.NewReaderProperties(b)
	p.BufferedStreamEnabled = true // a page at a time, not a whole column of a row group
	p.BufferSize = bufferSize
	p.MaxCompressedPageSize = min(mostPage, t.memory)
	p.MaxUncompressedPageSize = min(mostPage, t.memory)
	return p
}

// checkGroups holds the row groups against each other and the file's size.
func (t *table) checkGroups() error {
	var rows int64
	for i, group := range t.meta.RowGroups {
		n := group.GetNumRows()
		if n < 0 || rows+n < rows {
			return fmt.Errorf("row group %d says that it has %d rows", i, n)
		}
		rows += n
		if got, want := len(group.GetColumns()), t.meta.Schema.NumColumns(); got != want {
			return fmt.Errorf("row group %d has %d columns, the schema %d", i, got, want)
		}
	}
	if want := t.meta.GetNumRows(); rows != want {
		return fmt.Errorf("the row groups have %d rows together, the file says %d", rows, want)
	}
	for i := range t.meta.RowGroups {
		group := t.meta.RowGroup(i)
		if group.NumRows() == 0 {
			continue // nothing of it is read
		}
		for j, leaf := range t.leaves {
			if leaf < 0 {
				continue
			}
			if err := t.checkChunk(group, leaf); err != nil {
				return fmt.Errorf("row group %d, column %q: %w", i, columnar.Clip(t.fields[j].Name), err)
			}
		}
	}
	return nil
}

func (t *table) checkChunk(group *metadata.RowGroupMetaData, leaf int) error {
	c, err := group.ColumnChunk(leaf)
	if err != nil {
		return err
	}
	if path := c.FilePath(); path != "" {
		return fmt.Errorf("its values are in another file, %q: convert it to one file", columnar.Clip(path))
	}
	start := c.DataPageOffset()
	if c.HasDictionaryPage() && c.DictionaryPageOffset() > 0 {
		start = min(start, c.DictionaryPageOffset())
	}
	size := c.TotalCompressedSize()
	if start < 4 || size < 0 || start > t.Size || size > t.Size-start {
		return fmt.Errorf("it should take %d bytes at %d of a file of %d bytes: it is cut off or damaged", size, start, t.Size)
	}
	if c.NumValues() != group.NumRows() {
		return fmt.Errorf("it has %d values for %d rows", c.NumValues(), group.NumRows())
	}
	if got, want := c.Type(), t.meta.Schema.Column(leaf).PhysicalType(); got != want {
		return fmt.Errorf("it holds %s, the schema says %s", got, want)
	}
	return nil
}

// Name is the path as given.
func (t *table) Name() string { return t.Input.Name }

// Fields lists the columns in file order.
func (t *table) Fields() []columnar.Field { return t.fields }

// Blocks decodes the row groups in order.
func (t *table) Blocks(ctx context.Context, fields []int, rows int) iter.Seq2[*columnar.Block, error] {
	return func(yield func(*columnar.Block, error) bool) {
		f, err := t.Input.Open()
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		for i, group := range t.meta.RowGroups {
			if group.GetNumRows() > 0 && !t.group(ctx, f, i, fields, rows, yield) {
				return
			}
		}
	}
}

// group decodes a row group and reports whether to go on.
func (t *table) group(ctx context.Context, f io.ReaderAt, index int, fields []int, rows int, yield func(*columnar.Block, error) bool) bool {
	columns, err := t.columns(ctx, f, index, fields)
	defer func() {
		for _, c := range columns {
			c.close()
		}
	}()
	if err != nil {
		yield(nil, err)
		return false
	}
	for left := t.meta.RowGroups[index].GetNumRows(); left > 0; {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return false
		}
		n := int(min(left, int64(rows)))
		left -= int64(n)
		block := &columnar.Block{Rows: n, Values: make([]columnar.Values, len(fields))}
		for j, c := range columns {
			err := columnar.Guard(t.Name(), t.fields[fields[j]].Name, func() error {
				return c.read(n, &block.Values[j])
			})
			if err != nil {
				yield(nil, err)
				return false
			}
		}
		if !yield(block, nil) {
			return false
		}
	}
	return true
}

// columns opens the columns of a row group.
func (t *table) columns(ctx context.Context, f io.ReaderAt, index int, fields []int) ([]column, error) {
	columns := make([]column, 0, len(fields))
	var group *file.RowGroupReader
	err := columnar.Guard(t.Name(), "", func() error {
		source := &reader{ReaderAt: f, ctx: ctx, size: t.Size}
		r, err := file.NewParquetReader(source, file.WithMetadata(t.meta),
			file.WithReadProps(t.properties(&columnar.Budget{Limit: t.memory})))
		if err == nil {
			group = r.RowGroup(index)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, field := range fields {
		err := columnar.Guard(t.Name(), t.fields[field].Name, func() error {
			chunk, err := group.Column(t.leaves[field])
			if err != nil {
				return err
			}
			c, err := newColumn(chunk)
			if err != nil {
				return err
			}
			columns = append(columns, c)
			return nil
		})
		if err != nil {
			return columns, err
		}
	}
	return columns, nil
}

// reader stops when the context ends; the library wants it to seek.
type reader struct {
	io.ReaderAt
	ctx  context.Context // of the pass that reads
	size int64
}

// ReadAt reads unless the context has ended.
func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReaderAt.ReadAt(p, off)
}

// Seek finds the end; there is no other use for it.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekEnd {
		return 0, fmt.Errorf("no position %d from %d", offset, whence)
	}
	return r.size, nil
}

// IsParquet reports whether a file that begins with head is Parquet.
func IsParquet(head []byte) bool {
	return strings.HasPrefix(string(head), "PAR1") || strings.HasPrefix(string(head), "PARE")
}
