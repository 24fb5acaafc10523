// Package arrow reads Arrow IPC files (Feather version 2) and streams as a
// data.Source.
//
// It decodes the columns that are requested and no others, a block of rows at a
// time where the file is not compressed and a column of a record batch at a time
// where it is. Integers, floating point numbers and truth values (0 and 1) are
// numeric columns; text, plain, as views or as a dictionary, is categorical.
// Integers beyond 2^53 in size are errors that name the cell: float64 would round
// them. Null and NaN are missing, Inf is an error. Text is taken as it stands: a
// text "NA" or "" is a level, not a missing cell. Decimals, dates and times are numbers,
// too. Lists of numbers, lists of such lists, and tensors of one shape
// (arrow.fixed_shape_tensor) are tensors if all rows have the shape of the first; a null
// in one is a missing cell of its row. Other nested columns can be in a file but not be
// requested.
//
// The format is https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc.
package arrow

import (
	"bytes"
	"context"
	"fmt"
	"iter"

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
	// Texts names numeric columns to hold as text, to the digit: categories, and no numbers. Names
	// of columns that are text anyway, or not there, do not count.
	Texts []string
	// NA is the policy for missing cells, null and NaN.
	NA data.NAPolicy
	// Memory is how many bytes a pass may hold decoded at a time, besides the
	// batches it yields; 0 means 1 GiB.
	Memory int64
	// Workers is how many goroutines decode the columns of a record batch; 0 means 1.
	Workers int
	// Range is the rows to read. Record batches outside of it are not touched.
	Range data.RowRange
	// Reuse takes the memory of a batch's numbers for those of later rows, once the loop over the
	// batches asks for the next one: a program that is done with a batch by then reads in the caches.
	// Who keeps rows, or hands batches to goroutines that go on meanwhile, must not set it.
	Reuse bool
	// Store opens the files; nil: the disk.
	Store data.Store
}

const (
	defaultMemory = 1 << 30
	maxMetadata   = 64 << 20 // bytes of a message's or footer's metadata
)

// Source is a data.Source over Arrow files. It is safe for concurrent use.
type Source struct{ rows *columnar.Source }

// Open reads the metadata of the files, which become one table in the order of
// paths: its columns are those of the first, which the others have in any order and of
// the same kinds, among others. Files are open only while they are read; a pass that finds a file of
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
	case o.Workers < 0:
		return nil, fmt.Errorf("data: %d goroutines cannot decode columns", o.Workers)
	}
	files := make([]columnar.File, len(paths))
	for i, path := range paths {
		f, err := open(path, memory, o)
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

// Len is the number of rows that passes read, as the record batches have it.
func (s *Source) Len() int64 { return s.rows.Len() }

// Describe says what each file is known by; its Digest is of the messages' metadata, which say
// where the values lie, not of the values.
func (s *Source) Describe() []data.StoredFile { return s.rows.Describe() }

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
