package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// NAPolicy says what becomes of rows with missing cells.
type NAPolicy uint8

const (
	// NAError makes a missing cell in a requested column an error.
	NAError NAPolicy = iota
	// NADrop leaves out rows with a missing cell in a requested column. Passes
	// that request different columns may thus yield different rows: whoever needs
	// the same rows in several passes requests the same columns in each.
	NADrop
	// NAKeep keeps rows with missing cells, for readers that have a use for them (a network that fills
	// them in): of numbers these are NaN, of categories the level MissingLevel. One of a tensor is an error.
	NAKeep
)

// CSVOptions says how to read CSV files. nil means the zero value.
type CSVOptions struct {
	// Delimiter between cells: an ASCII punctuation mark, space or tab. 0 means what a first
	// line sep=; of the file says, as Excel's do, else ','; a file that seems to have another one is then an error (*DelimiterError).
	Delimiter rune
	// BatchRows is the number of rows of a batch; 0 means 4096. A batch has
	// fewer at the end, and where it would hold more than 8 Mi cells.
	BatchRows int
	// Factors names columns to hold as categories. Numeric ones among them keep their
	// numbers too, and their levels are LevelText of these. A cell of text that comes
	// after the first 4,096 rows of such a column is a level, and its number is NaN.
	Factors []string
	// Texts names columns to hold as text, to the letter, whatever their cells: 007 is not 7
	// there. They are categorical and not numeric. Names of columns that are not there do not count.
	Texts []string
	// NA is the policy for missing cells: empty, NA, NaN or null, the last two
	// in any case, in numbers and in text, and NAValues.
	NA NAPolicy
	// NAValues are further cells that are missing, to the letter: "?", "-999", "#N/A".
	NAValues []string
	// Decimal is the mark before the decimals of numbers, '.' or ','. 0 means '.'.
	Decimal rune
	// Encoding is that of the text: UTF8, which "" means too, or Windows1252.
	Encoding string
	// Stdin is what the path "-" reads; nil: there is none.
	Stdin io.Reader
	// Store opens the files; nil: the disk. Names of pipes are the disk's in any case.
	Store Store
	// FirstRow is the number that Batch.Row gives to the first row.
	FirstRow int64
	// Workers is how many goroutines parse the text in a pass; 0 means 1. With more than one
	// another one reads ahead of them. They end with the pass.
	Workers int
}

// Encodings of CSV files.
const (
	UTF8        = "utf-8"
	Windows1252 = "windows-1252"
)

// kindRows is the number of rows that decide whether a column is numeric.
const kindRows = 4096

// CSV is a Source over CSV files, read one after the other as one table. Its columns are those of
// the first, which the others have in any order, among others. It is safe for concurrent use; Close it after the last pass.
//
// The format is RFC 4180 in UTF-8, strictly: quotes only around whole cells,
// every row as wide as the header, names unique and not empty. Allowed besides:
// a byte order mark, a line sep=; before the header, \n or \r\n, blanks around names and numbers (dropped; those of
// text belong to it, in quotes or not), gzip and zstd
// (recognised by content; several members are one text), and blank lines, which
// are passed over (in a file of one column, a blank line with a row behind it
// is an empty cell).
//
// A column is numeric if its first 4,096 cells are finite decimal numbers or
// missing, or True, False (also true, TRUE, ...) or missing, which are 1 and 0; infinite
// ones do not make it text but are errors when they are read.
// Otherwise it is categorical. In a numeric column later text is an error
// unless CSVOptions.Factors names the column. Whole numbers beyond 2^53, such as the
// numbers of customers, are text: float64 would round them.
//
// Only requested columns are read as numbers or levels. Levels are numbered in
// the order in which rows first show them and keep their code for the life of
// the CSV. Errors of cells and rows are *CellError. A record may take 16 MiB
// and 100,000 cells, all levels together 1 GiB.
type CSV struct {
	inputs  []*input
	schema  Schema
	comma   byte
	cells   notation
	rows    int // of a batch
	na      NAPolicy
	limits  limits
	first   int64         // the number of the first row
	workers int           // that parse
	levels  []*dictionary // by field; nil for columns without categories
	mu      sync.Mutex
	total   int64
	dropped int64
	closed  bool

	looked, bytes int64 // rows that OpenCSV has read, and the text they take
}

// OpenCSV opens the files, in the order of paths, and looks at their headers
// and first rows. "-" is o.Stdin; it and pipes are copied to a private
// temporary file, which Close removes.
//
// Errors: no paths, files that cannot be read, headers that are malformed or
// differ, a malformed row among the first 4,096, an unknown name in o.Factors.
func OpenCSV(paths []string, o *CSVOptions) (*CSV, error) {
	return openCSV(paths, o, defaultLimits())
}

func openCSV(paths []string, o *CSVOptions, l limits) (*CSV, error) {
	if o == nil {
		o = &CSVOptions{}
	}
	if len(paths) == 0 {
		return nil, errors.New("data: no data files")
	}
	c, err := newCSV(o, l)
	if err != nil {
		return nil, err
	}
	if err := c.open(paths, o); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// newCSV is a CSV without files.
func newCSV(o *CSVOptions, l limits) (*CSV, error) {
	comma, err := delimiter(o.Delimiter)
	switch {
	case err != nil:
		return nil, err
	case o.BatchRows < 0:
		return nil, fmt.Errorf("data: batches of %d rows are not possible", o.BatchRows)
	case o.Workers < 0:
		return nil, fmt.Errorf("data: %d goroutines cannot parse a file", o.Workers)
	case o.NA > NAKeep:
		return nil, fmt.Errorf("data: unknown policy %d for missing cells", o.NA)
	case o.Decimal != 0 && o.Decimal != '.' && o.Decimal != ',':
		return nil, fmt.Errorf("data: %q cannot be the decimal mark: it is a point or a comma", o.Decimal)
	case o.Encoding != "" && o.Encoding != UTF8 && o.Encoding != Windows1252:
		return nil, fmt.Errorf("data: the encoding %q is not known: it is %s or %s; of others, convert the file first", o.Encoding, UTF8, Windows1252)
	case o.Decimal == rune(comma):
		return nil, errors.New("data: a comma cannot be the decimal mark and the delimiter: name the delimiter, a semicolon perhaps")
	}
	c := &CSV{
		comma: comma, cells: notation{byte(cmp.Or(o.Decimal, '.')), o.NAValues}, rows: cmp.Or(o.BatchRows, defaultBatchRows),
		na: o.NA, limits: l, first: o.FirstRow, workers: max(1, o.Workers),
	}
	return c, nil
}

func (c *CSV) open(paths []string, o *CSVOptions) error {
	for _, path := range paths {
		for _, before := range c.inputs {
			if before.name == path && before.spool != nil {
				return fmt.Errorf("data: %q is given twice, but a stream can be read only once", path)
			}
		}
		in, err := newInput(path, o.Stdin, storeOf(o.Store))
		if err != nil {
			return err
		}
		in.latin = o.Encoding == Windows1252
		c.inputs = append(c.inputs, in)
	}
	assumed := o.Delimiter == 0
	if mark := c.inputs[0].separator(); assumed && mark != 0 {
		var err error
		if c.comma, err = delimiter(rune(mark)); err != nil {
			return err
		}
		assumed = false
	}
	if err := c.readKinds(assumed); err != nil {
		return err
	}
	c.setTexts(o.Texts)
	return c.setFactors(o.Factors)
}

// delimiter checks that a byte can separate cells without being part of them.
func delimiter(r rune) (byte, error) {
	switch {
	case r == 0:
		return ',', nil
	case r == '\t', r == ' ', '!' <= r && r <= '/', ':' <= r && r <= '@', '[' <= r && r <= '`', '{' <= r && r <= '~':
		if r != '"' && r != '+' && r != '-' && r != '.' && r != '_' {
			return byte(r), nil
		}
	}
	return 0, fmt.Errorf("data: %q cannot be the delimiter: use a comma, semicolon, tab or another ASCII mark", r)
}

// readKinds reads all headers, and the rows that decide what the columns hold. assumed
// tells that nobody named the delimiter.
func (c *CSV) readKinds(assumed bool) error {
	left := c.limits.kinds
	var numbers []bool // of each column: it has some
	for i, in := range c.inputs {
		var places []int
		r, err := openRecords(context.Background(), in, c.comma, c.limits)
		if err != nil {
			if other := c.quotedDelimiter(err); i == 0 && assumed && other != nil {
				return other
			}
			return err
		}
		if i == 0 {
			c.schema = make(Schema, 0, len(r.header))
			for _, name := range r.header {
				c.schema = append(c.schema, Column{Name: name})
			}
			numbers = make([]bool, len(r.header))
			if assumed && len(r.header) == 1 {
				err = c.suspectDelimiter(r.header[0])
			}
		} else {
			places, err = c.placesIn(r)
		}
		header := r.offset()
		for ; err == nil && left > 0; left-- {
			var record []string
			if record, err = r.next(); err == nil {
				c.noteText(r, record, places, numbers)
				c.looked++
			}
		}
		c.bytes += r.offset() - header
		r.close()
		if err != nil && err != io.EOF {
			return err
		}
	}
	for i := range c.schema {
		text := c.schema[i].Text != ""
		c.schema[i].Numeric, c.schema[i].Categorical = !text, text
		c.schema[i].Truth = c.schema[i].Truth && !text
	}
	return nil
}

// noteText notes the first cell of each column that makes it one of text, and which columns
// have numbers, or truth values.
func (c *CSV) noteText(r *records, record []string, places []int, numbers []bool) {
	for i := range c.schema {
		column := &c.schema[i]
		if column.Text != "" {
			continue
		}
		at := i
		if places != nil {
			at = places[i]
		}
		cell := record[at]
		_, k := c.cells.parse(cell)
		note := ""
		switch {
		case k == inexact:
			note = ", a whole number beyond 2^53, which a number would round"
		case k == text, k == truth && numbers[i], k == number && column.Truth:
		default:
			numbers[i] = numbers[i] || k == number
			column.Truth = column.Truth || k == truth
			continue
		}
		column.Text = fmt.Sprintf("%q, line %d: cell %q%s", r.name, r.lineOf(at), clip(trim(cell)), note)
	}
}

// placesIn finds the columns of the first file in another one, which may have them in another
// order, and further ones; nil: they are where they are in the first.
func (c *CSV) placesIn(r *records) ([]int, error) {
	at := make(map[string]int, len(r.header))
	for i, name := range r.header {
		at[name] = i
	}
	places, same := make([]int, len(c.schema)), len(r.header) == len(c.schema)
	for i := range c.schema {
		k, found := at[c.schema[i].Name]
		if !found {
			return nil, fmt.Errorf("data: %q has no column %q, which %q has: files of one table need the columns of the first", r.name, clip(c.schema[i].Name), c.inputs[0].name)
		}
		places[i], same = k, same && k == i
	}
	if same {
		return nil, nil
	}
	return places, nil
}

// setTexts marks the columns that are text because somebody says so.
func (c *CSV) setTexts(texts []string) {
	for i := range c.schema {
		if column := &c.schema[i]; slices.Contains(texts, column.Name) && column.Numeric {
			column.Numeric, column.Truth, column.Categorical, column.Text = false, false, true, "it is read to the letter"
		}
	}
}

// setFactors marks the categorical columns and gives them dictionaries.
func (c *CSV) setFactors(factors []string) error {
	field := make(map[string]int, len(c.schema))
	for i, column := range c.schema {
		field[column.Name] = i
	}
	for _, name := range factors {
		i, ok := field[name]
		if !ok {
			return c.schema.Require(c.where(), []string{name})
		}
		c.schema[i].Categorical = true
	}
	c.setLevels()
	return nil
}

// setLevels gives the categorical columns their dictionaries.
func (c *CSV) setLevels() {
	room := new(atomic.Int64)
	room.Store(c.limits.dictionary)
	c.levels = make([]*dictionary, len(c.schema))
	for i, column := range c.schema {
		if column.Categorical {
			c.schema[i].Missing = c.na == NAKeep
			c.levels[i] = newDictionary(column.Numeric, &c.cells, room)
		}
	}
}

// where names the files in messages about the table as a whole.
func (c *CSV) where() string { return fmt.Sprintf("%q", c.inputs[0].name) }

// Delimiter is what stands between cells.
func (c *CSV) Delimiter() rune { return rune(c.comma) }

// Schema lists the columns in file order.
func (c *CSV) Schema() Schema { return slices.Clone(c.schema) }

// Rows returns how many rows the last complete pass read from the files, and
// how many of them it left out because of missing cells (see NADrop). Before
// the first complete pass both are 0. With concurrent passes, the last is the
// one that ended last.
func (c *CSV) Rows() (total, dropped int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total, c.dropped
}

// Estimate is about how many rows there are: as many as the files would hold if all of them
// were as long as the first 4,096. 0: nobody knows, as of gzip, and of a range.
func (c *CSV) Estimate() int64 {
	size := int64(0)
	for _, in := range c.inputs {
		if in.zipped() {
			return 0
		}
		size += max(in.size, in.stamp.size)
	}
	if c.bytes == 0 {
		return 0
	}
	return int64(float64(size) / float64(c.bytes) * float64(c.looked))
}

// Close removes temporary copies. Passes that begin later are errors; those
// under way on a copy fail. Closing twice does nothing.
func (c *CSV) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	var errs []error
	for _, in := range c.inputs {
		errs = append(errs, in.close())
	}
	return errors.Join(errs...)
}
