// Package files opens data files of any format that pho reads. What they are is
// told by their content, not by their names.
package files

import (
	"errors"
	"fmt"
	"io"
	"os"

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
	Delimiter rune          // of CSV; 0: ','
	BatchRows int           // 0: 4096
	Factors   []string      // numeric columns to hold as categories too
	Texts     []string      // columns of CSV to hold as text, to the letter; other formats say themselves what is text
	NA        data.NAPolicy // for missing cells
	Stdin     io.Reader     // CSV that the path "-" reads; nil: there is none
	Memory    int64         // bytes that Parquet and Arrow may hold decoded in a pass; 0: 1 GiB
	Workers   int           // goroutines that decode the columns of Parquet; 0: 1
}

// Format is what a file is.
type Format uint8

const (
	CSV Format = iota // anything that is nothing else, pipes and "-" included
	Parquet
	Arrow
	NumPy // .npy and .npz
)

// String names the format for messages.
func (f Format) String() string {
	return [...]string{"CSV", "Parquet", "Arrow", "NumPy"}[f]
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
	var format Format
	for i, path := range paths {
		f, err := Detect(path)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			format = f
		} else if f != format {
			return nil, fmt.Errorf("data: %q is %s, %q is %s: files of one table need the same format", paths[0], format, path, f)
		}
	}
	switch format {
	case Parquet:
		return source(parquet.Open(paths, &parquet.Options{BatchRows: o.BatchRows, Factors: o.Factors, NA: o.NA, Memory: o.Memory, Workers: o.Workers}))
	case Arrow:
		return source(arrow.Open(paths, &arrow.Options{BatchRows: o.BatchRows, Factors: o.Factors, NA: o.NA, Memory: o.Memory}))
	case NumPy:
		return source(npy.Open(paths, &npy.Options{BatchRows: o.BatchRows, Factors: o.Factors, NA: o.NA}))
	}
	return source(data.OpenCSV(paths, &data.CSVOptions{Delimiter: o.Delimiter, BatchRows: o.BatchRows, Factors: o.Factors, Texts: o.Texts, NA: o.NA, Stdin: o.Stdin}))
}

// source keeps a nil of a concrete type from becoming a Source that is not nil.
func source[S Source](s S, err error) (Source, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Detect tells the format of a file by its first bytes. What cannot be looked at
// without reading it away is CSV.
func Detect(path string) (Format, error) {
	if path == "-" {
		return CSV, nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return CSV, nil // data.OpenCSV says what is wrong
	}
	f, err := os.Open(path)
	if err != nil {
		return CSV, nil
	}
	defer f.Close()
	head := make([]byte, 8)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return CSV, fmt.Errorf("data: cannot read %q: %w", path, err)
	}
	head = head[:n]
	switch {
	case parquet.IsParquet(head):
		return Parquet, nil
	case arrow.IsArrow(head):
		return Arrow, nil
	case npy.IsArray(head), npy.IsArchive(head):
		return NumPy, nil
	}
	return CSV, nil
}
