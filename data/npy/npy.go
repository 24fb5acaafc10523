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
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

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
	// Range is the rows to read; of compressed archives all before them are passed over.
	Range data.RowRange
	// ChannelsLast says that the last axis of a row of a tensor (see OpenTensor) is to come first: pictures by
	// height, width and colour are read by colour, height and width.
	ChannelsLast bool
	// Store opens the files; nil: the disk.
	Store data.Store
}

const (
	blockBytes = 8 << 20 // read at once, if a row is not longer
	maxArrays  = 100_000 // of a .npz
	maxRatio   = 1032    // of bytes inflated to deflated
)

// Source is a data.Source over arrays. It is safe for concurrent use.
type Source struct {
	rows  *columnar.Source
	shape []int // of a row of the first array
}

// Open makes one table of the files in the order of paths. An array of a .npy
// file with d columns is the columns x0 to x{d-1}, one of a single axis is x0, and
// one of more than two axes is the tensor x. In a .npz file the array's name takes
// the place of x, and one of a single axis is a column of that name; all arrays
// of the file need equally many rows.
//
// Errors: no paths, files that cannot be read or hold other types, shapes that do
// not fit the file's size, columns that differ between files, an unknown name in
// o.Factors.
func Open(paths []string, o *Options) (*Source, error) { return openAll(paths, nil, false, o) }

// OpenColumns makes a table with columns of the given names, in order, of arrays with as many numbers a row.
// A .npz file must hold one array. Errors as of Open.
func OpenColumns(names []string, paths []string, o *Options) (*Source, error) {
	if len(names) == 0 {
		return nil, errors.New("data: a table needs columns")
	}
	return openAll(paths, names, false, o)
}

// OpenTensor makes one tensor column of the given name of the files, whatever
// their number of axes: trailing axes are flattened row-major. A .npz file must
// hold one array. Errors as of Open.
func OpenTensor(name string, paths []string, o *Options) (*Source, error) {
	if name == "" {
		return nil, errors.New("data: a tensor needs a name")
	}
	return openAll(paths, []string{name}, true, o)
}

// openAll names the columns, or the tensor; nil: by the files.
func openAll(paths, names []string, tensor bool, o *Options) (*Source, error) {
	if o == nil {
		o = &Options{}
	}
	files := make([]columnar.File, len(paths))
	var shape []int
	for i, path := range paths {
		f, err := open(o.Store, path, names, tensor)
		if err == nil && o.ChannelsLast {
			err = f.turn()
		}
		if err != nil {
			return nil, err
		}
		files[i] = f
		if i == 0 && len(f.entries) > 0 {
			shape = f.entries[0].layout().Read()
		}
	}
	s, err := columnar.New(files, columnar.Options{BatchRows: o.BatchRows, Factors: o.Factors, NA: o.NA, Range: o.Range})
	if err != nil {
		return nil, err
	}
	return &Source{s, shape}, nil
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

// Len is the number of rows that passes read, as the headers of the files have it.
func (s *Source) Len() int64 { return s.rows.Len() }

// Describe says what each file is known by; its Digest is that of the shapes and types, and
// of archives their entries' checksums.
func (s *Source) Describe() []data.StoredFile { return s.rows.Describe() }

// RowShape is the shape of a row of the first array, without the axis of the rows. The
// caller owns it.
func (s *Source) RowShape() []int { return slices.Clone(s.shape) }

// Close does nothing and returns nil: files are open only while a pass reads them.
func (s *Source) Close() error { return nil }

// IsArray reports whether a file that begins with head is a NumPy array.
func IsArray(head []byte) bool { return strings.HasPrefix(string(head), magic) }

// IsArchive reports whether a file that begins with head is an archive, as .npz
// files are.
func IsArchive(head []byte) bool {
	return strings.HasPrefix(string(head), "PK\x03\x04") || strings.HasPrefix(string(head), "PK\x05\x06")
}
