// Package parquet reads Parquet files as a data.Source, and writes columns of
// numbers and text.
//
// Integers, floating point numbers and truth values (0 and 1) are numeric
// columns, text is categorical. Integers beyond 2^53 in size are errors that
// name the cell: float64 would round them. Null and NaN are missing, Inf is an
// error. Text is taken as it stands: a text "NA" or "" is a level, not a missing
// cell. Decimals, dates and times are numbers, too. Lists of numbers, and lists of such
// lists, are tensors if all rows have the shape of the first; a null in one is a missing
// cell of its row. Other nested columns can be in a file but not be requested.
package parquet

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/arrow"
	"github.com/pho-go/pho/data/internal/columnar"
)

// Options say how to read Parquet files. nil means the zero value.
type Options struct {
	// BatchRows is the largest number of rows of a batch; 0 means 4096.
	BatchRows int
	// Factors names numeric columns to hold as categories too, as in
	// data.CSVOptions.
	Factors []string
	// Texts names numeric columns to hold as text, to the digit: categories, and no numbers. Names
	// of columns that are text anyway, or not there, do not count.
	Texts []string
	// NA is the policy for missing cells, null and NaN.
	NA data.NAPolicy
	// Memory is how many bytes a pass may hold decoded at a time, besides the
	// batches it yields; 0 means 1 GiB.
	Memory int64
	// Workers is how many goroutines decode the columns of a block; 0 means 1.
	Workers int
	// Range is the rows to read. Row groups outside of it are not touched.
	Range data.RowRange
	// Store opens the files; nil: the disk.
	Store data.Store
}

const (
	defaultMemory = 1 << 30
	maxPage       = 256 << 20 // bytes of a page
	bufferSize    = 16 << 10  // read at once, and of a page's header
)

// Source is a data.Source over Parquet files. It is safe for concurrent use.
type Source struct{ rows *columnar.Source }

// Open reads the footers of the files, which become one table in the order of
// paths: its columns are those of the first, which the others have in any order and of
// the same kinds, among others. Files are open only while they are read; a pass that finds a file of
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
	if o.Workers < 0 {
		return nil, fmt.Errorf("data: %d goroutines cannot decode columns", o.Workers)
	}
	files := make([]columnar.File, len(paths))
	for i, path := range paths {
		f, err := open(o.Store, path, memory, max(1, o.Workers))
		if err != nil {
			return nil, err
		}
		files[i] = f
	}
	s, err := columnar.New(files, columnar.Options{BatchRows: o.BatchRows, Factors: o.Factors, Texts: o.Texts, NA: o.NA, Range: o.Range})
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

// Len is the number of rows that passes read, as the footers of the files have it.
func (s *Source) Len() int64 { return s.rows.Len() }

// Describe says what each file is known by; its Digest is of the footer, which says where the
// values lie, not of the values.
func (s *Source) Describe() []data.StoredFile { return s.rows.Describe() }

// Close does nothing and returns nil: files are open only while a pass reads them.
func (s *Source) Close() error { return nil }

// table is one file.
type table struct {
	*columnar.Input
	memory  int64
	workers int
	meta    *meta
	fields  []columnar.Field
	leaf    []int     // field -> leaf; -1 if refused
	leaves  []element // in the order of a row group's columns
}

func open(store data.Store, path string, memory int64, workers int) (*table, error) {
	in, err := columnar.Stat(store, path, "Parquet")
	if err != nil {
		return nil, err
	}
	f, err := in.Open(context.Background())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := &table{Input: in, memory: memory, workers: workers}
	err = columnar.Guard(path, "", func() error {
		if t.meta, err = readFooter(f, in.Size); err != nil {
			return err
		}
		t.fields, t.leaf, t.leaves = fieldsOf(t.meta.schema)
		t.declared()
		if err := t.checkGroups(); err != nil {
			return err
		}
		return t.shapes(&reader{f, f, context.Background()})
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// declared marks the columns whose dictionaries have the levels in an order of their own, and lists of one shape, as
// the schema of Arrow in the file says.
func (t *table) declared() {
	schema, err := base64.StdEncoding.DecodeString(t.meta.arrow)
	if err != nil {
		return
	}
	for _, d := range arrow.Declared(schema) {
		for i, f := range t.fields {
			switch {
			case f.Name != d.Name:
			case f.Kind == columnar.Text && d.Ordered:
				t.leaves[t.leaf[i]].ordered = true
			case f.Kind == columnar.Tensor && t.leaves[t.leaf[i]].lists.axes == 1:
				t.leaves[t.leaf[i]].lists.layout = columnar.Layout{Shape: d.Shape, Order: d.Order}
			}
		}
	}
}

// checkGroups holds the row groups against each other and the file's size.
func (t *table) checkGroups() error {
	var rows int64
	for i, g := range t.meta.groups {
		if rows+g.rows < rows {
			return fmt.Errorf("row group %d says that it has %d rows", i, g.rows)
		}
		rows += g.rows
		if got, want := len(g.chunks), len(t.leaves); got != want {
			return fmt.Errorf("row group %d has %d columns, the schema %d", i, got, want)
		}
	}
	if want := t.meta.rows; rows != want {
		return fmt.Errorf("the row groups have %d rows together, the file says %d", rows, want)
	}
	for i, g := range t.meta.groups {
		if g.rows == 0 {
			continue // nothing of it is read
		}
		for j, leaf := range t.leaf {
			if leaf < 0 {
				continue
			}
			if err := t.checkChunk(&g, leaf); err != nil {
				return fmt.Errorf("row group %d, column %q: %w", i, columnar.Clip(t.fields[j].Name), err)
			}
		}
	}
	return nil
}

func (t *table) checkChunk(g *group, leaf int) error {
	c := g.chunks[leaf]
	if c.elsewhere != "" {
		return fmt.Errorf("its values are in another file, %q: convert it to one file", columnar.Clip(c.elsewhere))
	}
	if start := c.start(); start < 4 || start > t.Size || c.size > t.Size-start {
		return fmt.Errorf("it should take %d bytes at %d of a file of %d bytes: it is cut off or damaged; fetch it, or write it, again", c.size, start, t.Size)
	}
	if lists := t.leaves[leaf].lists != nil; !lists && c.values != g.rows || c.values < g.rows {
		return fmt.Errorf("it has %d values for %d rows", c.values, g.rows)
	}
	if want := t.leaves[leaf].kind; c.kind != want {
		return fmt.Errorf("it holds %s, the schema says %s", c.kind, want)
	}
	return nil
}

// start is the offset of the first page.
func (c *chunk) start() int64 {
	if c.dictionary > 0 {
		return min(c.dictionary, c.data)
	}
	return c.data
}

// Name is the path as given.
func (t *table) Name() string { return t.Input.Name }

// Len is the number of rows that the footer tells.
func (t *table) Len() int64 { return t.meta.rows }

// Fields lists the columns in file order.
func (t *table) Fields() []columnar.Field { return t.fields }

// Digest is that of the footer.
func (t *table) Digest() string { return t.meta.digest }

// Blocks decodes the row groups in order.
func (t *table) Blocks(ctx context.Context, fields []int, rows int, first, next int64) iter.Seq2[*columnar.Block, error] {
	return func(yield func(*columnar.Block, error) bool) {
		f, err := t.Input.Open(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		inflaters := make([]inflater, min(t.workers, max(1, len(fields))))
		defer func() {
			for i := range inflaters {
				inflaters[i].close()
			}
		}()
		r := &reader{f, f, ctx}
		begin := int64(0)
		for i := range t.meta.groups {
			n := t.meta.groups[i].rows
			s := stretch{max(first-begin, 0), min(next-begin, n), rows}
			begin += n
			if s.first < s.next && !t.group(ctx, r, inflaters, i, fields, s, yield) {
				return
			}
		}
	}
}

// stretch is rows first to next-1 of a row group, in blocks of at most the given number.
type stretch struct {
	first, next int64
	rows        int
}

// group decodes rows of a row group, a column by any worker, each of which has an inflater, and
// reports whether to go on.
func (t *table) group(ctx context.Context, r *reader, inflaters []inflater, index int, fields []int, s stretch, yield func(*columnar.Block, error) bool) bool {
	rows := s.rows
	columns, closer, err := t.columns(r, inflaters, &t.meta.groups[index], fields)
	defer closer()
	if err == nil {
		err = t.skip(columns, fields, s.first)
	}
	if err != nil {
		yield(nil, err)
		return false
	}
	numbers := 0
	for _, i := range fields {
		numbers += max(1, t.fields[i].Width)
	}
	stride := columnar.Stride(rows, numbers, len(inflaters))
	for left := s.next - s.first; left > 0; {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return false
		}
		n := int(min(left, int64(stride)))
		left -= int64(n)
		block := &columnar.Block{Rows: n, Values: make([]columnar.Values, len(fields))}
		err := columnar.Parallel(len(inflaters), len(columns), func(worker, j int) error {
			return columnar.Guard(t.Name(), t.fields[fields[j]].Name, func() error {
				columns[j].at().pages.inflater = &inflaters[worker]
				return columns[j].read(n, &block.Values[j])
			})
		})
		if err != nil {
			yield(nil, err)
			return false
		}
		for from := 0; from < n; from += rows {
			if !yield(block.Cut(from, min(from+rows, n)), nil) {
				return false
			}
		}
	}
	return true
}

// columns begins to decode the columns of a row group; closer ends that.
func (t *table) columns(r *reader, inflaters []inflater, g *group, fields []int) (columns []column, closer func(), err error) {
	columns = make([]column, len(fields))
	sections := make([]io.Closer, len(fields))
	closer = func() {
		for _, s := range sections {
			if s != nil {
				_ = s.Close()
			}
		}
	}
	budget := &columnar.Budget{Limit: t.memory}
	err = columnar.Parallel(len(inflaters), len(fields), func(worker, i int) error {
		field := fields[i]
		return columnar.Guard(t.Name(), t.fields[field].Name, func() (err error) {
			e, c := &t.leaves[t.leaf[field]], g.chunks[t.leaf[field]]
			section := r.section(c.start(), c.size)
			sections[i] = section
			p := newPages(section, c, e, budget, &inflaters[worker])
			columns[i], err = newColumn(e, p)
			return err
		})
	})
	return columns, closer, err
}

// skip passes over the first n rows of a row group.
func (t *table) skip(columns []column, fields []int, n int64) error {
	for j, c := range columns {
		if n == 0 {
			return nil
		}
		if err := columnar.Guard(t.Name(), t.fields[fields[j]].Name, func() error { return skip(c, n) }); err != nil {
			return err
		}
	}
	return nil
}

// reader stops when the context ends.
type reader struct {
	io.ReaderAt
	file data.File
	ctx  context.Context // of the pass that reads
}

// ReadAt reads unless the context has ended.
func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReaderAt.ReadAt(p, off)
}

// section reads a stretch of the file in order, in the way that suits its store.
func (r *reader) section(off, n int64) io.ReadCloser {
	if _, ok := r.file.(interface {
		Range(off, n int64) io.ReadCloser
	}); ok {
		return data.Section(r.file, off, n) // which ends with the context of Open
	}
	return io.NopCloser(io.NewSectionReader(r, off, n))
}

// IsParquet reports whether a file that begins with head is Parquet.
func IsParquet(head []byte) bool {
	return strings.HasPrefix(string(head), "PAR1") || strings.HasPrefix(string(head), "PARE")
}
