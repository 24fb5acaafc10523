// Package columnar makes a data.Source of files that hold typed columns. A
// format only decodes: names, policies, levels, row numbers and messages are the
// same for all of them.
package columnar

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
)

// Kind is what the values of a field are.
type Kind uint8

const (
	Number  Kind = iota // float64, whatever the file's own type
	Text                // levels
	Tensor              // a row of several numbers
	Refused             // of a type that cannot be read: an error when requested
)

// Field is a column of a file.
type Field struct {
	Name  string
	Kind  Kind
	Width int    // of a Tensor: numbers of a row; 0: no row of the file has any
	Shape []int  // of a row of a Tensor; nil: unknown
	Type  string // the file's own name of the type
	Why   string // of Refused: what to do about it
	Unit  string // of a Number: what a date or time counts
}

// Null stands for a null in a column of numbers. It is a NaN of its own, so that messages
// can tell a null from a NaN; both are missing values.
var Null = math.Float64frombits(0x7ff80000000007a2)

// Values are the rows of a field in a block; what its Kind needs is set.
type Values struct {
	Numbers []float64  // Number; not used by the file afterwards, unless it was asked to
	Text    [][]byte   // Text, nil: missing; valid until the next block
	Codes   []int32    // Text in another way: positions in Levels, negative: missing
	Levels  []string   // of Codes; while it is the same slice, perhaps longer, codes keep their meaning
	Order   []string   // of Text: the order in which the file declares the levels; nil: in none
	Tensor  *mat.Dense // Tensor, nil: all rows are missing; not used by the file afterwards
	Digits  []string   // of Numbers: those that float64 would round, "" where it does not; nil: nowhere. The first is the Fault
	Fault   *Fault     // of the first row that holds no value of the kind; later rows are not looked at

	memory []float64 // see Room
	finite bool      // all Numbers are known to be
}

// Inspect looks whether numbers that have just been decoded are finite: whoever decodes them has
// them at hand, and has company. Numbers that nobody inspected are looked at in batches.
func (v *Values) Inspect() { v.finite = v.finite || allFinite(v.Numbers) }

// SetNull makes a number a null.
func (v *Values) SetNull(i int) { v.Numbers[i], v.finite = Null, false }

// Fault is a cell that cannot be a value of its column.
type Fault struct {
	Row    int // in the block
	Cell   string
	Reason string // the fault and its remedy

	missing bool // the cell holds no value
	unequal bool // it is a row of a tensor that has another shape
}

// Block is a run of consecutive rows.
type Block struct {
	Rows   int
	Values []Values // one for each requested field
}

// File decodes one file. It is safe for concurrent use.
type File interface {
	Name() string    // the path as given
	Fields() []Field // in file order
	Len() int64      // the number of rows that the file's own description tells
	// Digest is the SHA-256, in hex, of that description: schema, rows, and where the values
	// are. It does not tell values of equal size apart.
	Digest() string
	// Blocks yields rows first to next-1 (to the end, if the file has fewer) in blocks of at
	// most the given number of rows, with the values of the given fields, in their order.
	// Errors name the file.
	Blocks(ctx context.Context, fields []int, rows int, first, next int64) iter.Seq2[*Block, error]
}

// Options say how rows become batches.
type Options struct {
	BatchRows int           // 0: 4096
	Factors   []string      // numeric columns to hold as categories too
	Texts     []string      // numeric columns to hold as text: categories only; others, and unknown ones, do not count
	NA        data.NAPolicy // for null and NaN
	Range     data.RowRange // the rows to read
}

// Limits of one source.
const (
	defaultRows   = 4096
	maxCells      = 8 << 20 // of a batch
	maxColumns    = 100_000
	levelOverhead = 64
)

// LevelBytes bounds the memory of all levels of a source.
const LevelBytes = 1 << 30

// Inexact is the reason of a Fault whose cell is a whole number that float64
// would round.
const Inexact = "is a whole number beyond 2^53, which would be rounded; store it as text if it is a name, else as double"

// Source is a table of files that hold the same columns, read one after the
// other. It is safe for concurrent use.
type Source struct {
	files  []File
	schema data.Schema
	fields []Field       // of the first file
	places [][]int       // by file: where the fields of the first file are; nil: where they are there
	levels []*dictionary // by field; nil for fields without categories
	rows   int
	na     data.NAPolicy
	span   data.RowRange

	mu             sync.Mutex
	total, dropped int64
}

// New joins files into one table. Errors: no files; names that are empty or
// repeated; columns that differ between files; unknown names in o.Factors.
func New(files []File, o Options) (*Source, error) {
	switch {
	case len(files) == 0:
		return nil, errors.New("data: no data files")
	case o.BatchRows < 0:
		return nil, fmt.Errorf("data: batches of %d rows are not possible", o.BatchRows)
	case o.NA > data.NAKeep:
		return nil, fmt.Errorf("data: unknown policy %d for missing cells", o.NA)
	}
	if err := o.Range.Check(); err != nil {
		return nil, err
	}
	s := &Source{files: files, fields: slices.Clone(files[0].Fields()), rows: o.BatchRows, na: o.NA, span: o.Range}
	if s.rows == 0 {
		s.rows = defaultRows
	}
	if err := checkNames(files[0].Name(), s.fields); err != nil {
		return nil, err
	}
	s.places = make([][]int, len(files))
	for k, f := range files[1:] {
		var err error
		if s.places[k+1], err = s.placesIn(f); err != nil {
			return nil, err
		}
	}
	for i := range s.fields {
		if f := &s.fields[i]; f.Kind == Tensor && f.Width == 1 { // a list of one number is the number
			f.Kind, f.Width, f.Shape = Number, 0, nil
		}
	}
	for _, f := range s.fields {
		c := data.Column{Name: f.Name, Numeric: f.Kind == Number, Categorical: f.Kind == Text, Width: f.Width, Shape: f.Shape, Unit: f.Unit}
		if f.Kind == Tensor && f.Width == 0 {
			c.Refused, c.Text = true, f.Type+" without a number in any row: leave it out"
		}
		if f.Kind == Refused {
			c.Refused, c.Text = true, fmt.Sprintf("%s, which is neither numbers nor text: %s", f.Type, f.Why)
		}
		s.schema = append(s.schema, c)
	}
	return s, s.setFactors(o.Factors, o.Texts)
}

func checkNames(file string, fields []Field) error {
	if len(fields) > maxColumns {
		return fmt.Errorf("data: %q has %d columns; %d are possible", file, len(fields), maxColumns)
	}
	seen := make(map[string]bool, len(fields))
	for i, f := range fields {
		if f.Name == "" {
			return fmt.Errorf("data: column %d of %q has no name", i+1, file)
		}
		if seen[f.Name] {
			return fmt.Errorf("data: %q has two columns named %q", file, Clip(f.Name))
		}
		seen[f.Name] = true
	}
	return nil
}

// placesIn finds the columns of the first file in another one, which may have them in another
// order, and further ones; nil: they are where they are in the first.
func (s *Source) placesIn(f File) ([]int, error) {
	fields, first := f.Fields(), s.files[0].Name()
	if err := checkNames(f.Name(), fields); err != nil {
		return nil, err
	}
	at := make(map[string]int, len(fields))
	for i, field := range fields {
		at[field.Name] = i
	}
	places, same := make([]int, len(s.fields)), true
	for i, b := range s.fields {
		k, found := at[b.Name]
		if !found {
			return nil, fmt.Errorf("data: %q has no column %q, which %q has: files of one table need the columns of the first", f.Name(), Clip(b.Name), first)
		}
		a := fields[k]
		if a.Kind != b.Kind || a.Unit != b.Unit {
			return nil, fmt.Errorf("data: column %q is %s in %q and %s in %q: files of one table need the same types", Clip(a.Name), a.Type, f.Name(), b.Type, first)
		}
		switch {
		case b.Width == 0: // no row has told
			s.fields[i].Width, s.fields[i].Shape = a.Width, a.Shape
		case a.Width != 0 && (a.Width != b.Width || !slices.Equal(a.Shape, b.Shape)):
			return nil, fmt.Errorf("data: column %q is %s of %s in %q and %s of %s in %q: the rows of a tensor need one shape", Clip(a.Name), a.Type, a.Size(), f.Name(), b.Type, b.Size(), first)
		}
		places[i], same = k, same && k == i
	}
	if same {
		return nil, nil
	}
	return places, nil
}

func (s *Source) setFactors(factors, texts []string) error {
	if err := s.require(factors); err != nil {
		return err
	}
	for i, c := range s.schema {
		if slices.Contains(factors, c.Name) {
			if c.Width > 0 {
				return fmt.Errorf("data: column %q is a tensor; only a column of single values can be a factor", Clip(c.Name))
			}
			s.schema[i].Categorical = true
		}
		if c.Numeric && slices.Contains(texts, c.Name) {
			s.schema[i].Categorical, s.schema[i].Numeric, s.schema[i].Text = true, false, "it is read to the letter"
		}
	}
	room := new(atomic.Int64)
	room.Store(LevelBytes)
	s.levels = make([]*dictionary, len(s.fields))
	for i, c := range s.schema {
		if c.Categorical {
			s.schema[i].Missing = s.na == data.NAKeep
			s.levels[i] = &dictionary{room: room, codes: map[string]int32{}}
		}
	}
	return nil
}

// require is nil if all names can be read.
func (s *Source) require(names []string) error {
	return s.schema.Require(fmt.Sprintf("%q", s.files[0].Name()), names)
}

// Schema lists the columns in file order, those that cannot be read (data.Column.Refused) too.
func (s *Source) Schema() data.Schema { return slices.Clone(s.schema) }

// Rows returns how many rows the last complete pass read, and how many of them
// it left out because of missing cells, as data.CSV does.
func (s *Source) Rows() (total, dropped int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total, s.dropped
}

// Len is the number of rows that passes read, those that they leave out included, as the
// files' own descriptions have it.
func (s *Source) Len() int64 {
	n := int64(0)
	for _, f := range s.files {
		n += f.Len()
	}
	return max(0, min(n, s.span.End())-s.span.First)
}

// Describe says what each file is known by.
func (s *Source) Describe() []data.StoredFile {
	d := make([]data.StoredFile, len(s.files))
	for i, f := range s.files {
		d[i] = data.StoredFile{Path: f.Name(), Rows: f.Len(), Digest: f.Digest()}
		if in, ok := f.(interface{ Stored() *Input }); ok {
			d[i].Size, d[i].Version = in.Stored().Size, in.Stored().Version
		}
	}
	return d
}

// Stored is the input itself, for those that embed it.
func (in *Input) Stored() *Input { return in }

// Clip shortens a name from a file for a message.
func Clip(s string) string {
	const maxLength = 80
	if len(s) <= maxLength {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:maxLength], "") + "..."
}
