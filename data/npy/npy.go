// Package npy reads NumPy arrays, .npy and .npz, as a data.Source. The first axis
// of an array is the rows.
//
// Floating point numbers of 2, 4 and 8 bytes, integers and truth values (0 and 1)
// in either byte order can be read. Integers beyond 2^53 in size are errors that
// name the cell: float64 would round them. NaN is missing, Inf is an error.
// Arrays are read in blocks of rows, never as a whole. Arrays of two axes may be
// in Fortran order unless they are compressed.
package npy

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar"
)

// Options say how to read arrays. nil means the zero value.
type Options struct {
	// BatchRows is the largest number of rows of a batch; 0 means 4096.
	BatchRows int
	// Factors names columns to hold as categories too, as in data.CSVOptions.
	Factors []string
	// NA is the policy for missing cells, NaN; in a tensor one of them is enough.
	NA data.NAPolicy
}

const (
	blockBytes = 8 << 20   // read at once, if a row is not longer
	maxRow     = 256 << 20 // bytes of a decoded row
	maxArrays  = 100_000   // of a .npz
	maxRatio   = 1032      // of bytes inflated to deflated
)

// Source is a data.Source over arrays. It is safe for concurrent use.
type Source struct{ rows *columnar.Source }

// Open makes one table of the files in the order of paths. An array of a .npy
// file with d columns is the columns x0 to x{d-1}, one of a single axis is x0, and
// one of more than two axes is the tensor x. In a .npz file the array's name takes
// the place of x, and one of a single axis is a column of that name; all arrays
// of the file need equally many rows.
//
// Errors: no paths, files that cannot be read or hold other types, shapes that do
// not fit the file's size, columns that differ between files, an unknown name in
// o.Factors.
func Open(paths []string, o *Options) (*Source, error) { return openAll(paths, "", o) }

// OpenTensor makes one tensor column of the given name of the files, whatever
// their number of axes: trailing axes are flattened row-major. A .npz file must
// hold one array. Errors as of Open.
func OpenTensor(name string, paths []string, o *Options) (*Source, error) {
	if name == "" {
		return nil, errors.New("data: a tensor needs a name")
	}
	return openAll(paths, name, o)
}

func openAll(paths []string, tensor string, o *Options) (*Source, error) {
	if o == nil {
		o = &Options{}
	}
	files := make([]columnar.File, len(paths))
	for i, path := range paths {
		f, err := open(path, tensor)
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

// Len is the number of rows of all files, as their headers have it.
func (s *Source) Len() int64 { return s.rows.Len() }

// Close does nothing and returns nil: files are open only while a pass reads them.
func (s *Source) Close() error { return nil }

// IsArray reports whether a file that begins with head is a NumPy array.
func IsArray(head []byte) bool { return strings.HasPrefix(string(head), magic) }

// IsArchive reports whether a file that begins with head is an archive, as .npz
// files are.
func IsArchive(head []byte) bool {
	return strings.HasPrefix(string(head), "PK\x03\x04") || strings.HasPrefix(string(head), "PK\x05\x06")
}

// table is one file.
type table struct {
	*columnar.Input
	rows    int64
	entries []*entry
	fields  []columnar.Field
	parts   []part // by field
}

// entry is an array of the file.
type entry struct {
	*array
	name string // in the archive; "" for a .npy
	at   int64  // where the array begins in the file; -1: compressed
	size int64
}

// part is which column of which array a field is.
type part struct {
	entry  int
	column int // -1: all of them, as a tensor
}

func open(path, tensor string) (*table, error) {
	in, err := columnar.Stat(path, "NumPy")
	if err != nil {
		return nil, err
	}
	f, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := &table{Input: in}
	err = columnar.Guard(path, "", func() error {
		var head [6]byte
		if _, err := f.ReadAt(head[:], 0); err != nil {
			return err
		}
		if IsArchive(head[:]) {
			err = t.archive(f)
		} else {
			err = t.single(f)
		}
		if err != nil {
			return err
		}
		return t.setFields(tensor)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (t *table) single(f *os.File) error {
	a, err := readHeader(io.NewSectionReader(f, 0, t.Size), t.Size)
	if err != nil {
		return err
	}
	t.rows = a.rows
	t.entries = []*entry{{array: a, size: t.Size}}
	return nil
}

// archive reads the headers of a .npz file.
func (t *table) archive(f *os.File) error {
	z, err := zip.NewReader(f, t.Size)
	if err != nil {
		return err
	}
	if len(z.File) == 0 {
		return errors.New("the archive is empty")
	}
	if len(z.File) > maxArrays {
		return fmt.Errorf("the archive has %d arrays; %d are allowed", len(z.File), maxArrays)
	}
	for _, file := range z.File {
		if err := t.addEntry(file); err != nil {
			return fmt.Errorf("array %q: %w", columnar.Clip(file.Name), err)
		}
	}
	return nil
}

func (t *table) addEntry(file *zip.File) error {
	name, ok := strings.CutSuffix(file.Name, ".npy")
	if !ok {
		return errors.New("an archive of arrays holds .npy files only")
	}
	packed, size := file.CompressedSize64, file.UncompressedSize64
	if packed > uint64(t.Size) || size > math.MaxInt64 || file.Method == zip.Deflate && size/maxRatio > packed+1 {
		return fmt.Errorf("%d bytes should decompress to %d: the archive is damaged", packed, size)
	}
	e := &entry{name: name, at: -1, size: int64(size)}
	if file.Method == zip.Store {
		if packed != size {
			return fmt.Errorf("%d bytes are stored in %d: the archive is damaged", size, packed)
		}
		at, err := file.DataOffset()
		if err != nil {
			return err
		}
		if at > t.Size-int64(size) {
			return io.ErrUnexpectedEOF
		}
		e.at = at
	}
	r, err := file.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	if e.array, err = readHeader(r, e.size); err != nil {
		return err
	}
	if e.fortran && e.at < 0 {
		return errors.New("it is compressed and in Fortran order: save numpy.ascontiguousarray of it, or do not compress")
	}
	if len(t.entries) == 0 {
		t.rows = e.rows
	} else if first := t.entries[0]; e.rows != t.rows {
		return fmt.Errorf("it has %d rows, %q has %d: the arrays of a table need equally many", e.rows, columnar.Clip(first.name), t.rows)
	}
	t.entries = append(t.entries, e)
	return nil
}

// setFields names the columns.
func (t *table) setFields(tensor string) error {
	add := func(name string, entry, column int, f columnar.Field) {
		f.Name = name
		t.fields = append(t.fields, f)
		t.parts = append(t.parts, part{entry, column})
	}
	if tensor != "" && len(t.entries) > 1 {
		return fmt.Errorf("it holds %d arrays, where one is needed", len(t.entries))
	}
	for i, e := range t.entries {
		if e.width > maxRow/8 {
			return fmt.Errorf("its rows have %d items; %d are allowed", e.width, maxRow/8)
		}
		name := e.name
		if name == "" {
			name = "x"
		}
		kind := fmt.Sprintf("an array of shape %v", e.shape)
		switch {
		case tensor != "":
			add(tensor, i, -1, columnar.Field{Kind: columnar.Tensor, Width: int(e.width), Type: kind})
		case len(e.shape) > 2:
			add(name, i, -1, columnar.Field{Kind: columnar.Tensor, Width: int(e.width), Type: kind})
		case len(e.shape) == 1 && e.name != "":
			add(name, i, 0, columnar.Field{Type: kind})
		default:
			if e.width > 100_000 {
				return fmt.Errorf("it has %d columns; 100000 are allowed: bind it as a tensor", e.width)
			}
			for j := range int(e.width) {
				add(name+strconv.Itoa(j), i, j, columnar.Field{Type: kind})
			}
		}
	}
	return nil
}

// Name is the path as given.
func (t *table) Name() string { return t.Input.Name }

// Fields lists the columns in file order.
func (t *table) Fields() []columnar.Field { return t.fields }

// Len is the number of rows.
func (t *table) Len() int64 { return t.rows }

// Blocks reads the arrays side by side.
func (t *table) Blocks(ctx context.Context, fields []int, rows int) iter.Seq2[*columnar.Block, error] {
	return func(yield func(*columnar.Block, error) bool) {
		f, err := t.Input.Open()
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		readers, step, err := t.readers(f, fields, rows)
		for _, r := range readers {
			defer r.close()
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for row := int64(0); row < t.rows; {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			n := int(min(t.rows-row, int64(step)))
			block := &columnar.Block{Rows: n, Values: make([]columnar.Values, len(fields))}
			err := columnar.Guard(t.Name(), "", func() error {
				for _, r := range readers {
					if err := r.next(n); err != nil {
						return err
					}
				}
				for j, field := range fields {
					p := t.parts[field]
					if err := readers[p.entry].read(row, n, p.column, &block.Values[j]); err != nil {
						return err
					}
				}
				if row += int64(n); row < t.rows {
					return nil
				}
				for _, r := range readers {
					if err := r.finish(); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(block, nil) {
				return
			}
		}
	}
}

// readers opens the arrays that fields need, nil for others; step is how many rows to read at a
// time.
func (t *table) readers(f *os.File, fields []int, rows int) (readers []*reader, step int, err error) {
	readers, step = make([]*reader, len(t.entries)), rows
	err = columnar.Guard(t.Name(), "", func() error {
		for _, field := range fields {
			i := t.parts[field].entry
			if readers[i] != nil {
				continue
			}
			e := t.entries[i]
			r := &reader{entry: e}
			readers[i] = r
			step = max(1, min(step, int(blockBytes/max(1, e.width*int64(e.array.size)))))
			switch {
			case e.name == "" || e.fortran:
				r.items = io.NewSectionReader(f, e.at+e.start, e.size-e.start)
			default:
				z, err := zip.NewReader(f, t.Size)
				if err != nil {
					return err
				}
				if i >= len(z.File) {
					return io.ErrUnexpectedEOF
				}
				stream, err := z.File[i].Open()
				if err != nil {
					return err
				}
				r.stream = stream
				if _, err := io.CopyN(io.Discard, stream, e.start); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return readers, step, err
}

// reader reads one array in one pass.
type reader struct {
	*entry
	items  *io.SectionReader // nil: a stream
	stream io.ReadCloser
	block  []byte // the items of the block's rows, unless in Fortran order
}

func (r *reader) close() {
	if r != nil && r.stream != nil {
		_ = r.stream.Close()
	}
}

// next reads the next n rows.
func (r *reader) next(n int) error {
	if r == nil || r.fortran {
		return nil
	}
	size := n * int(r.width) * r.array.size
	if cap(r.block) < size {
		r.block = make([]byte, size)
	}
	r.block = r.block[:size]
	source := io.Reader(r.stream)
	if r.stream == nil {
		source = r.items
	}
	_, err := io.ReadFull(source, r.block)
	return err
}

// finish reads to the end of an entry of an archive, which compares checksums there.
func (r *reader) finish() error {
	if r == nil || r.stream == nil {
		return nil
	}
	var more [1]byte
	if n, err := r.stream.Read(more[:]); n > 0 || err != io.EOF {
		if err == nil || err == io.EOF {
			err = errors.New("the archive holds more than it says: it is damaged")
		}
		return err
	}
	return nil
}

// read decodes a column of the block, or all of them.
func (r *reader) read(row int64, n, column int, v *columnar.Values) error {
	width := int(r.width)
	if column >= 0 {
		v.Numbers = make([]float64, n)
		b, from, stride, err := r.place(row, n, column)
		if err != nil {
			return err
		}
		v.Fault = r.array.column(v.Numbers, b, from, stride)
		return nil
	}
	v.Tensor = mat.NewDense(n, width, nil)
	items := v.Tensor.RawMatrix().Data
	if !r.fortran {
		if v.Fault = r.array.column(items, r.block, 0, 1); v.Fault != nil {
			v.Fault.Row /= width
		}
		return nil
	}
	one := make([]float64, n)
	for j := range width {
		b, from, stride, err := r.place(row, n, j)
		if err != nil {
			return err
		}
		if fault := r.array.column(one, b, from, stride); fault != nil && (v.Fault == nil || fault.Row < v.Fault.Row) {
			v.Fault = fault
		}
		for i, x := range one {
			items[i*width+j] = x
		}
	}
	return nil
}

// place is where a column's items of the block are: b[from], b[from+stride]...
func (r *reader) place(row int64, n, column int) (b []byte, from, stride int, err error) {
	if !r.fortran {
		return r.block, column, int(r.width), nil
	}
	size := n * r.array.size
	if cap(r.block) < size {
		r.block = make([]byte, size)
	}
	r.block = r.block[:size]
	_, err = r.items.ReadAt(r.block, (int64(column)*r.rows+row)*int64(r.array.size))
	return r.block, 0, 1, err
}
