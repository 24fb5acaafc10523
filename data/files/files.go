// Package files opens data files of any format that pho reads. What they are is
// told by their content, not by their names.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/arrow"
	"github.com/pho-go/pho/data/npy"
	"github.com/pho-go/pho/data/parquet"
)

// Source is a data.Source of files.
type Source interface {
	data.Source
	// Rows returns how many rows the last complete pass read, and how many of
	// them it left out because of missing cells.
	Rows() (total, dropped int64)
	// Close removes temporary copies. Passes that begin later may fail.
	Close() error
}

// Options say how to read files. nil means the zero value.
type Options struct {
	Delimiter rune     // of CSV; 0: ','
	BatchRows int      // 0: 4096
	Factors   []string // numeric columns to hold as categories too
	Texts     []string // columns of CSV, Parquet and Arrow to hold as text, to the letter, if they are there
	// Levels are the levels of columns of text by name, in their order: those of a factor are in it, the first the reference.
	// It counts in place of an order that files declare; a cell that is none of them is an error. The columns are Texts, too.
	Levels   map[string][]string
	NA       data.NAPolicy // for missing cells
	NAValues []string      // of CSV: further cells that are missing
	Decimal  rune          // of CSV: the decimal mark; 0: '.'
	Encoding string        // of CSV: "utf-8", "windows-1252"; "": "utf-8"
	Sheet    string        // of Excel: the sheet's name; "": the first
	Stdin    io.Reader     // CSV or Arrow that the path "-" reads; nil: there is none
	Memory   int64         // bytes that Parquet and Arrow may hold decoded in a pass; 0: 1 GiB
	Workers  int           // goroutines that decode the columns of Parquet and Arrow, and parse the text of CSV; 0: 1
	Reuse    bool          // of Arrow: as arrow.Options has it
	Store    data.Store    // opens the files; nil: the disk
	FirstRow int64         // the number that Batch.Row gives to the first row
}

// Format is what a file is.
type Format uint8

const (
	CSV Format = iota // anything that is nothing else, pipes and "-" included
	Parquet
	Arrow
	NumPy     // .npy and .npz
	JSONLines // an object in each line
	Excel     // workbooks since 2007
)

// String names the format for messages.
func (f Format) String() string {
	return [...]string{"CSV", "Parquet", "Arrow", "NumPy", "JSON lines", "Excel"}[f]
}

// Open makes one table of the files, in the order of paths. All have to be in
// the same format; see data.OpenCSV, parquet.Open, arrow.Open and npy.Open for
// what that means.
func Open(paths []string, o *Options) (Source, error) {
	if o == nil {
		o = &Options{}
	}
	if len(paths) == 0 {
		return nil, errors.New("data: no data files")
	}
	own := *o
	own.Texts = o.texts()
	if len(paths) == 1 && paths[0] == "-" && o.Stdin != nil {
		return o.ordered(openStream(&own))
	}
	format, err := formatOf(paths, o.Store)
	if err != nil {
		return nil, err
	}
	return o.ordered(open(format, paths, &own))
}

// formatOf is the format of all files.
func formatOf(paths []string, store data.Store) (Format, error) {
	var format Format
	for i, path := range paths {
		if err := lakeError(path); err != nil {
			return CSV, err
		}
		f, err := DetectIn(context.Background(), store, path)
		if err != nil {
			return CSV, err
		}
		if i == 0 {
			format = f
		} else if f != format {
			return CSV, fmt.Errorf("data: %q is %s, %q is %s: files of one table need the same format", paths[0], format, path, f)
		}
	}
	return format, nil
}

func open(format Format, paths []string, o *Options) (Source, error) {
	if format == CSV {
		return source(data.OpenCSV(paths, o.csv()))
	}
	if format == JSONLines || format == Excel {
		return openConverted(format, paths, o)
	}
	folders := foldersOf(paths)
	s, err := openTyped(format, paths, withoutFolders(o, folders), data.RowRange{Number: o.FirstRow})
	if err != nil || len(folders) == 0 {
		return source[Source](s, err)
	}
	if own := notIn(s.Schema(), folders); len(own) < len(folders) { // files may hold the columns themselves
		folders = own
		if s, err = openTyped(format, paths, withoutFolders(o, folders), data.RowRange{Number: o.FirstRow}); err != nil {
			return nil, err
		}
	}
	return inFolders(s, folders, o)
}

// typed is a source of a format whose files tell their columns and rows.
type typed interface {
	Source
	Describe() []data.StoredFile
}

// openTyped opens files that are not CSV.
func openTyped(format Format, paths []string, o *Options, rows data.RowRange) (typed, error) {
	var s typed
	var err error
	switch format {
	case Parquet:
		s, err = parquet.Open(paths, &parquet.Options{BatchRows: o.BatchRows, Factors: o.Factors, Texts: o.Texts, NA: o.NA, Memory: o.Memory, Workers: o.Workers, Range: rows, Store: o.Store})
	case Arrow:
		s, err = arrow.Open(paths, &arrow.Options{BatchRows: o.BatchRows, Factors: o.Factors, Texts: o.Texts, NA: o.NA, Memory: o.Memory, Workers: o.Workers, Range: rows, Reuse: o.Reuse, Store: o.Store})
	default:
		s, err = npy.Open(paths, &npy.Options{BatchRows: o.BatchRows, Factors: o.Factors, NA: o.NA, Range: rows, Store: o.Store})
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (o *Options) csv() *data.CSVOptions {
	return &data.CSVOptions{Delimiter: o.Delimiter, BatchRows: o.BatchRows, Factors: o.Factors, Texts: o.Texts, NA: o.NA, NAValues: o.NAValues, Decimal: o.Decimal, Encoding: o.Encoding, Stdin: o.Stdin, Store: o.Store, FirstRow: o.FirstRow, Workers: o.Workers}
}

// source keeps a nil of a concrete type from becoming a Source that is not nil.
func source[S Source](s S, err error) (Source, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// DetectIn tells the format of a file of a store (nil: the disk) by its first bytes. What
// cannot be looked at without reading it away is CSV. What is of another known format is an error
// that says how to make a Parquet file of it.
func DetectIn(ctx context.Context, store data.Store, path string) (Format, error) {
	if path == "-" {
		return CSV, nil
	}
	if store == nil {
		store = data.Disk{}
	}
	f, err := store.Open(ctx, path)
	if err != nil {
		return CSV, nil // data.OpenCSV says what is wrong
	}
	defer f.Close()
	head := make([]byte, min(lookedAt, f.Size()))
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return CSV, fmt.Errorf("data: cannot read %q: %w", path, err)
	}
	return formatBy(head), foreignError(path, head)
}

// formatBy is the format of what begins with head.
func formatBy(head []byte) Format {
	switch {
	case parquet.IsParquet(head):
		return Parquet
	case arrow.IsArrow(head):
		return Arrow
	case inZip("[Content_Types].xml", "_rels/", "xl/", "docProps/")(head):
		return Excel // before NumPy's archives, which are of ZIP too
	case npy.IsArray(head), npy.IsArchive(head):
		return NumPy
	case begins("{\"", "{ \"", "\xef\xbb\xbf{\"")(head):
		return JSONLines
	}
	return CSV
}
