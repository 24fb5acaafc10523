package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/pho-go/pho/data"
)

// table is what a file that is read through a copy in CSV holds: rows writes the names of the columns,
// then the cells of each row, and tells which columns hold text.
type table interface {
	rows(write func(cells []string) error) (texts []string, err error)
}

// openConverted reads files of JSON lines and Excel workbooks through copies in CSV, which are temporary
// files: passes read them again and again. Text of the file is text, though it may be digits.
func openConverted(format Format, paths []string, o *Options) (Source, error) {
	own := *o
	copies := &csvCopies{of: map[string]*streamCopy{}}
	own.Store, own.Delimiter, own.Decimal, own.Encoding = copies, ',', 0, ""
	own.Texts = slices.Clone(o.Texts)
	for _, path := range paths {
		texts, err := copies.add(format, path, o)
		if err != nil {
			return nil, errors.Join(err, copies.remove())
		}
		own.Texts = append(own.Texts, texts...)
	}
	s, err := data.OpenCSV(paths, own.csv())
	if err != nil {
		return nil, errors.Join(err, copies.remove())
	}
	return &convertedRows{s, copies}, nil
}

// convertedRows are rows of copies, which Close removes.
type convertedRows struct {
	Source
	copies *csvCopies
}

// Close removes the copies.
func (c *convertedRows) Close() error { return errors.Join(c.Source.Close(), c.copies.remove()) }

// csvCopies is the store of copies in CSV, by the names of the files that they are of.
type csvCopies struct{ of map[string]*streamCopy }

// add makes the copy of a file and tells which of its columns hold text.
func (c *csvCopies) add(format Format, path string, o *Options) (texts []string, err error) {
	store := o.Store
	if store == nil {
		store = data.Disk{}
	}
	f, err := store.Open(context.Background(), path)
	if err != nil {
		return nil, fmt.Errorf("data: cannot open %q: %w", path, err)
	}
	defer f.Close()
	var from table
	if format == Excel {
		from, err = openWorkbook(f, o.Sheet, o.NAValues)
	} else {
		from = &jsonLines{file: f, marks: o.NAValues}
	}
	if err != nil {
		return nil, fmt.Errorf("data: %q: %w", path, err)
	}
	temporary, err := os.CreateTemp("", "pho-*.csv") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("data: no room for a temporary copy of %q: %w", path, err)
	}
	own := &streamCopy{file: temporary}
	if os.Remove(temporary.Name()) != nil { // a system that does not remove open files
		own.left = temporary.Name()
	}
	c.of[path] = own
	w := bufio.NewWriter(temporary)
	var line []byte
	texts, err = from.rows(func(cells []string) error {
		line = line[:0]
		for i, cell := range cells {
			if i > 0 {
				line = append(line, ',')
			}
			line = data.AppendCell(line, cell)
		}
		_, err := w.Write(append(line, '\n'))
		return err
	})
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return nil, fmt.Errorf("data: %q: %w", path, err)
	}
	own.size, err = temporary.Seek(0, io.SeekCurrent)
	return texts, err
}

// Open is the copy of the file.
func (c *csvCopies) Open(ctx context.Context, path string) (data.File, error) {
	if own := c.of[path]; own != nil {
		return own.Open(ctx, path)
	}
	return nil, &os.PathError{Op: "open", Path: path, Err: os.ErrNotExist}
}

// List finds nothing.
func (c *csvCopies) List(context.Context, string) ([]string, error) { return nil, nil }

func (c *csvCopies) remove() error {
	var faults []error
	for _, own := range c.of {
		faults = append(faults, own.remove())
	}
	return errors.Join(faults...)
}

// marksMissing tells whether a text stands for no value, as in CSV.
func marksMissing(text string, marks []string) bool {
	text = strings.TrimSpace(text)
	return text == "" || text == "NA" || strings.EqualFold(text, "nan") || strings.EqualFold(text, "null") || slices.Contains(marks, text)
}
