package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/data"
)

// SurveyFormat is the Format of a Survey.
const SurveyFormat = "pho.survey/1"

// Survey says what data files hold and where their rows are, so that a range of rows can be
// read by itself, and alike by whoever reads it. CSV is read once for it, of other formats
// the descriptions at the beginning or end of the files.
//
// What has changed since is noticed, as a *data.ChangedError, by the size of a file; by its
// version, where its store has one (ETag, generation); and
//   - of CSV by the digest of every piece that is read: any change of it;
//   - of Parquet and Arrow by the digest of what says where the values are: any change of
//     schema, numbers of rows, sizes or places of pages; not a value replaced by another that
//     takes the same bytes, unless pages have checksums;
//   - of .npy by shape and type; of .npz by the checksum of every array.
type Survey struct {
	Format    string         `json:"format"`
	Kind      string         `json:"kind"` // csv, parquet, arrow or numpy
	Rows      int64          `json:"rows"`
	Columns   []SurveyColumn `json:"columns"`
	Delimiter string         `json:"delimiter,omitempty"` // of CSV
	Decimal   string         `json:"decimal,omitempty"`   // of CSV: a comma
	NAValues  []string       `json:"na_values,omitempty"` // of CSV: as Options has them
	Encoding  string         `json:"encoding,omitempty"`  // of CSV, unless it is UTF-8
	Files     []SurveyFile   `json:"files"`
}

// SurveyColumn is a column as it is read, factors included.
type SurveyColumn struct {
	Name        string `json:"name"`
	Numeric     bool   `json:"numeric,omitempty"`
	Categorical bool   `json:"categorical,omitempty"`
	Truth       bool   `json:"truth,omitempty"`   // of truth values, which are 1 and 0
	Missing     bool   `json:"missing,omitempty"` // cells may be data.MissingLevel
	Width       int    `json:"width,omitempty"`   // of a tensor
	Shape       []int  `json:"shape,omitempty"`   // of its rows
	Unit        string `json:"unit,omitempty"`    // of dates and times
	Text        string `json:"text,omitempty"`    // which cell made it text
}

// SurveyFile is one file.
type SurveyFile struct {
	Path    string          `json:"path"`
	Size    int64           `json:"size"`
	Version string          `json:"version,omitempty"`
	Rows    int64           `json:"rows"`
	Digest  string          `json:"digest"` // SHA-256 in hex: of CSV of its pieces' digests
	Gzip    bool            `json:"gzip,omitempty"`
	Head    *data.CSVPiece  `json:"head,omitempty"`
	Pieces  []data.CSVPiece `json:"pieces,omitempty"`
}

// Look surveys files as Open would read them with the options. pieceRows is about how many
// rows of CSV can be read without those before; 0: data.PieceRows. Streams cannot be surveyed.
func Look(ctx context.Context, paths []string, o *Options, pieceRows int64) (*Survey, error) {
	if o == nil {
		o = &Options{}
	}
	if len(paths) == 0 {
		return nil, errors.New("data: no data files")
	}
	if slices.Contains(paths, "-") {
		return nil, errors.New("data: standard input is a stream, of which no range can be read again: write it to a file first")
	}
	format, err := formatOf(paths, o.Store)
	if err != nil {
		return nil, err
	}
	if format == JSONLines || format == Excel {
		return nil, fmt.Errorf("data: %q is %s, of which no range of rows can be read without those before: write it as Parquet first", paths[0], format)
	}
	s := &Survey{Format: SurveyFormat, Kind: strings.ToLower(format.String())}
	own := *o
	own.Texts = o.texts()
	if format == CSV {
		err = s.lookCSV(ctx, paths, &own, pieceRows)
	} else {
		err = s.lookTyped(format, paths, &own)
	}
	if err != nil {
		return nil, err
	}
	for i := range s.Files {
		s.Rows += s.Files[i].Rows
	}
	return s, nil
}

func (s *Survey) lookCSV(ctx context.Context, paths []string, o *Options, pieceRows int64) error {
	rows, err := data.OpenCSV(paths, o.csv())
	if err != nil {
		return err
	}
	defer rows.Close()
	s.Delimiter = string(rows.Delimiter())
	if o.Decimal == ',' {
		s.Decimal = ","
	}
	s.NAValues = o.NAValues
	if o.Encoding != data.UTF8 {
		s.Encoding = o.Encoding
	}
	s.setColumns(rows.Schema())
	for i := range s.Columns {
		s.Columns[i].Text = withoutFolder(s.Columns[i].Text, paths)
	}
	files, err := rows.Survey(ctx, pieceRows)
	for i := range files {
		f := &files[i]
		s.Files = append(s.Files, SurveyFile{Path: f.Path, Size: f.Size, Version: f.Version, Rows: f.Rows(), Digest: digestOf(f), Gzip: f.Gzip, Head: &f.Head, Pieces: f.Pieces})
	}
	return err
}

// withoutFolder is a text that begins with a quoted path, with the file's name alone: a survey
// is the same wherever the files lie.
func withoutFolder(text string, paths []string) string {
	for _, p := range paths {
		if rest, ok := strings.CutPrefix(text, strconv.Quote(p)); ok {
			if data.IsURL(p) {
				p, _, _ = strings.Cut(p, "?")
			}
			return strconv.Quote(path.Base(filepath.ToSlash(p))) + rest
		}
	}
	return text
}

func digestOf(f *data.CSVFile) string {
	h := sha256.New()
	fmt.Fprintln(h, f.Head.SHA256)
	for _, p := range f.Pieces {
		fmt.Fprintln(h, p.Rows, p.Bytes, p.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (s *Survey) lookTyped(format Format, paths []string, o *Options) error {
	rows, err := openTyped(format, paths, o, data.RowRange{})
	if err != nil {
		return err
	}
	s.setColumns(rows.Schema())
	for _, f := range rows.Describe() {
		s.Files = append(s.Files, SurveyFile{Path: f.Path, Size: f.Size, Version: f.Version, Rows: f.Rows, Digest: f.Digest})
	}
	return rows.Close()
}

func (s *Survey) setColumns(schema data.Schema) {
	for _, c := range schema {
		if !c.Refused {
			s.Columns = append(s.Columns, SurveyColumn{c.Name, c.Numeric, c.Categorical, c.Truth, c.Missing, c.Width, c.Shape, c.Unit, c.Text})
		}
	}
}

// Schema is the columns.
func (s *Survey) Schema() data.Schema {
	schema := make(data.Schema, len(s.Columns))
	for i, c := range s.Columns {
		schema[i] = data.Column{Name: c.Name, Numeric: c.Numeric, Categorical: c.Categorical, Truth: c.Truth, Missing: c.Missing, Width: c.Width, Shape: c.Shape, Unit: c.Unit, Text: c.Text}
	}
	return schema
}

// Digest is the SHA-256, in hex, of what is known of rows first to next-1: of the columns and
// of the files and pieces that hold these rows. Equal digests are of equal rows, as far as
// changes are noticed at all. The names of files do not count.
func (s *Survey) Digest(first, next int64) string {
	h := sha256.New()
	fmt.Fprintln(h, s.Kind, s.Delimiter, first, next)
	if s.Decimal != "" || len(s.NAValues) > 0 || s.Encoding != "" {
		fmt.Fprintf(h, "%q %q %q\n", s.Decimal, s.NAValues, s.Encoding)
	}
	for _, c := range s.Columns {
		fmt.Fprintf(h, "%q %v %v %d\n", c.Name, c.Numeric, c.Categorical, c.Width)
	}
	begin := int64(0)
	for i := range s.Files {
		f := &s.Files[i]
		if len(f.Pieces) == 0 && begin < next && begin+f.Rows > first {
			fmt.Fprintln(h, begin, f.Rows, f.Digest, f.Version)
		}
		at := begin
		for _, p := range f.Pieces {
			if at < next && at+p.Rows > first {
				fmt.Fprintln(h, at, p.Rows, p.SHA256)
			}
			at += p.Rows
		}
		begin += f.Rows
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Decode reads a survey as encoding/json writes it. What makes no sense is an error.
func Decode(raw []byte) (*Survey, error) {
	s := new(Survey)
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, fmt.Errorf("data: the survey cannot be read: %w", err)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s, nil
}

// Check says what makes no sense in a survey.
func (s *Survey) Check() error {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("data: the survey makes no sense: "+format, args...)
	}
	if s.Format != SurveyFormat {
		return fault("its format is %q, not %q", s.Format, SurveyFormat)
	}
	if _, err := s.kind(); err != nil {
		return fault("%w", err)
	}
	if len(s.Files) == 0 || len(s.Columns) == 0 && s.Kind == "csv" {
		return fault("it has %d files and %d columns", len(s.Files), len(s.Columns))
	}
	seen := map[string]bool{}
	for _, c := range s.Columns {
		if c.Name == "" || seen[c.Name] || c.Width < 0 || !c.Numeric && !c.Categorical && c.Width == 0 {
			return fault("column %q", c.Name)
		}
		seen[c.Name] = true
	}
	total := int64(0)
	for i := range s.Files {
		f := &s.Files[i]
		if f.Rows < 0 || f.Size < 0 || total+f.Rows < total {
			return fault("file %q has %d rows in %d bytes", f.Path, f.Rows, f.Size)
		}
		if s.Kind == "csv" {
			if f.Head == nil {
				return fault("file %q has no header", f.Path)
			}
			c := f.csv()
			if err := c.Check(); err != nil {
				return fault("%w", err)
			}
			if c.Rows() != f.Rows {
				return fault("file %q has %d rows, its pieces %d", f.Path, f.Rows, c.Rows())
			}
		}
		total += f.Rows
	}
	if total != s.Rows {
		return fault("it has %d rows, its files %d", s.Rows, total)
	}
	return nil
}

func (s *Survey) kind() (Format, error) {
	for f := CSV; f <= NumPy; f++ {
		if strings.ToLower(f.String()) == s.Kind {
			return f, nil
		}
	}
	return CSV, fmt.Errorf("its kind is %q", s.Kind)
}

func (f *SurveyFile) csv() data.CSVFile {
	return data.CSVFile{Path: f.Path, Size: f.Size, Version: f.Version, Gzip: f.Gzip, Head: *f.Head, Pieces: f.Pieces}
}

// Open opens rows first to next-1 of the table, which keep their numbers, and reads nothing of
// other rows but what lies in the same pieces (of gzip and of compressed archives: before
// them). Delimiter, Decimal, NAValues, Factors and Texts of o do not count: columns are read as they were
// surveyed. A range without rows is a source without rows.
//
// Errors: a survey that makes no sense, a range outside of it, files that cannot be opened,
// and *data.ChangedError, also by passes.
func (s *Survey) Open(ctx context.Context, first, next int64, o *Options) (Source, error) {
	if o == nil {
		o = &Options{}
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	if first < 0 || next < first || next > s.Rows {
		return nil, fmt.Errorf("data: rows %d to %d were asked for, of %d", first, next, s.Rows)
	}
	if s.Kind != "csv" {
		return o.ordered(s.openTyped(first, next, o))
	}
	files := make([]data.CSVFile, len(s.Files))
	for i := range s.Files {
		files[i] = s.Files[i].csv()
	}
	read := o.csv()
	read.Delimiter, read.NAValues, read.Decimal = []rune(s.Delimiter + ",")[0], s.NAValues, 0
	read.Encoding = s.Encoding
	if s.Decimal != "" {
		read.Decimal = ','
	}
	return o.ordered(source(data.OpenCSVRange(ctx, files, s.Schema(), first, next, read)))
}

// openTyped opens only those files that hold the rows.
func (s *Survey) openTyped(first, next int64, o *Options) (Source, error) {
	if first == next {
		return none{s.Schema()}, nil
	}
	var held []SurveyFile
	var paths []string
	begin, skipped := int64(0), int64(0) // rows before the file, and before the first that counts
	for _, f := range s.Files {
		if begin < next && begin+f.Rows > first {
			if held == nil {
				skipped = begin
			}
			held, paths = append(held, f), append(paths, f.Path)
		}
		begin += f.Rows
	}
	format, err := s.kind()
	if err != nil {
		return nil, err
	}
	read := *o
	read.Factors, read.Texts = s.factors(), s.texts()
	rows, err := openTyped(format, paths, &read, data.RowRange{First: first - skipped, Next: next - skipped, Number: first})
	if err != nil {
		return nil, err
	}
	if err := s.compare(held, rows); err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return rows, nil
}

// factors are the numeric columns that are categories too.
func (s *Survey) factors() []string {
	var names []string
	for _, c := range s.Columns {
		if c.Numeric && c.Categorical {
			names = append(names, c.Name)
		}
	}
	return names
}

// texts are the columns of text: some may hold numbers.
func (s *Survey) texts() []string {
	var names []string
	for _, c := range s.Columns {
		if c.Categorical && !c.Numeric {
			names = append(names, c.Name)
		}
	}
	return names
}

// compare holds open files against what they were.
func (s *Survey) compare(then []SurveyFile, rows typed) error {
	for i, now := range rows.Describe() {
		was := then[i]
		what := ""
		switch {
		case now.Size != was.Size:
			what = fmt.Sprintf("it has %d bytes now, %d then", now.Size, was.Size)
		case was.Version != "" && now.Version != was.Version:
			what = fmt.Sprintf("its version is %q now, %q then", now.Version, was.Version)
		case now.Digest != was.Digest || now.Rows != was.Rows:
			what = "its columns, rows or pages are others"
		}
		if what != "" {
			return &data.ChangedError{File: was.Path, What: what}
		}
	}
	now := rows.Schema() // of the first file of the range, whose columns may be in another order
	for _, was := range s.Schema() {
		if c, ok := now.Lookup(was.Name); !ok || !reflect.DeepEqual(c, was) {
			return &data.ChangedError{File: then[0].Path, What: "its columns are others"}
		}
	}
	return nil
}

// none is a source without rows.
type none struct{ schema data.Schema }

func (n none) Schema() data.Schema  { return slices.Clone(n.schema) }
func (n none) Rows() (int64, int64) { return 0, 0 }
func (n none) Close() error         { return nil }
func (n none) Batches(_ context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		if err := n.schema.Require("the rows", columns); err != nil {
			yield(nil, err)
		}
	}
}
