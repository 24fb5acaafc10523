package data

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

// PieceRows is about how many rows a CSVPiece has unless somebody says otherwise.
const PieceRows = 65_536

// CSVFile says where the rows of a CSV file are, so that some of them can be read without
// those before. It is what one reading of the file found.
// Pieces begin where a record does, which only a reader of all that is before knows, as line breaks
// may be quoted. A worker compares the digest of a piece with that of the survey.
type CSVFile struct {
	Path    string     // as given
	Size    int64      // bytes of the file
	Version string     // as File.Version has it
	Gzip    bool       // compressed, or in another encoding: then rows are reached through all bytes before them
	Head    CSVPiece   // byte order mark and header
	Pieces  []CSVPiece // the text behind it, whole rows each
}

// CSVPiece is a stretch of a file's text, decompressed.
type CSVPiece struct {
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Lines  int    `json:"lines"` // up to the end of its last row
	SHA256 string `json:"sha256"`
}

// Rows is the number of rows of the file.
func (f *CSVFile) Rows() int64 {
	n := int64(0)
	for i := range f.Pieces {
		n += f.Pieces[i].Rows
	}
	return n
}

// Survey reads all files once and says where their rows are: pieces of at least pieceRows
// rows (0: PieceRows), but for the last of a file. Rows of another width than the header and
// quotes out of place are errors, as of a pass; the cells are not looked at. Streams ("-" and
// pipes) are an error: nobody could read them again.
func (c *CSV) Survey(ctx context.Context, pieceRows int64) ([]CSVFile, error) {
	if pieceRows <= 0 {
		pieceRows = PieceRows
	}
	files := make([]CSVFile, len(c.inputs))
	for i, in := range c.inputs {
		if in.spool != nil {
			return nil, fmt.Errorf("data: %q is a stream, of which no range can be read again: write it to a file first", in.name)
		}
		var err error
		if files[i], err = c.survey(ctx, in, pieceRows); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// survey reads one file.
func (c *CSV) survey(ctx context.Context, in *input, pieceRows int64) (CSVFile, error) {
	s := CSVFile{Path: in.name, Size: in.stamp.size, Version: in.stamp.version}
	f, err := in.raw(ctx)
	if err != nil {
		return s, err
	}
	defer f.Close()
	section := Section(f, 0, f.Size())
	defer section.Close()
	text, zipped, err := in.text(section)
	if err != nil {
		return s, fmt.Errorf("data: reading %q: %w", in.name, err)
	}
	s.Gzip = zipped
	m := &meter{r: text, hash: sha256.New()}
	if err := c.measure(ctx, in, m, &s, pieceRows); err != nil {
		return s, err
	}
	return s, in.unchanged(f)
}

// measure fills in the pieces of a file from its text.
func (c *CSV) measure(ctx context.Context, in *input, m *meter, s *CSVFile, pieceRows int64) error {
	text := bufio.NewReaderSize(m, bufferSize)
	mark, err := dropMark(text)
	if err != nil {
		return fmt.Errorf("data: reading %q: %w", in.name, err)
	}
	r := newRecords(ctx, in.name, text, c.comma, c.limits)
	r.check = nothing
	if err := r.readHeader(); err != nil {
		return err
	}
	if places, err := c.placesIn(r); err != nil {
		return err
	} else if places != nil {
		return fmt.Errorf("data: the columns of %q are in another order than those of %q, or more: ranges of rows need the same header", in.name, c.inputs[0].name)
	}
	at := func() int64 { return int64(mark) + r.offset() }
	s.Head = m.cut(at(), 0, r.end)
	row, line := int64(0), r.end
	for {
		_, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if r.held == nil && r.row-row >= pieceRows {
			s.Pieces = append(s.Pieces, m.cut(at(), r.row-row, r.end-line))
			row, line = r.row, r.end
		} else if r.row%256 == 0 && r.held == nil {
			m.upTo(at())
		}
	}
	if m.read > m.at || r.row > row { // blank lines may follow the last row
		s.Pieces = append(s.Pieces, m.cut(m.read, r.row-row, r.end-line))
	}
	return nil
}

// meter takes the digest of consecutive stretches of a text that somebody reads ahead of
// where the stretches end.
type meter struct {
	r       io.Reader
	hash    hash.Hash
	pending []byte // read and not yet in a digest
	read    int64  // bytes read
	hashed  int64  // bytes that are in a digest
	at      int64  // where the stretch begins
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.pending = append(m.pending, p[:n]...)
	m.read += int64(n)
	return n, err
}

// upTo takes the text up to a place into the digest.
func (m *meter) upTo(place int64) {
	n := place - m.hashed
	m.hash.Write(m.pending[:n])
	m.pending = m.pending[:copy(m.pending, m.pending[n:])]
	m.hashed = place
}

// cut ends a stretch.
func (m *meter) cut(place, rows int64, lines int) CSVPiece {
	m.upTo(place)
	p := CSVPiece{Rows: rows, Bytes: place - m.at, Lines: lines, SHA256: hex.EncodeToString(m.hash.Sum(nil))}
	m.hash.Reset()
	m.at = place
	return p
}

// Check says what makes no sense in a file that was read from somewhere.
func (f *CSVFile) Check() error {
	if f.Head.Rows != 0 {
		return fmt.Errorf("the header of %q cannot hold rows", f.Path)
	}
	text := int64(0)
	for _, p := range append([]CSVPiece{f.Head}, f.Pieces...) {
		if p.Rows < 0 || p.Bytes < 0 || p.Lines < 0 || p.Rows > p.Bytes || p.Bytes > 1<<60-text || int64(p.Lines) > 1<<40 {
			return fmt.Errorf("a piece of %q has %d rows in %d bytes and %d lines", f.Path, p.Rows, p.Bytes, p.Lines)
		}
		text += p.Bytes
	}
	if !f.Gzip && text != f.Size {
		return fmt.Errorf("the pieces of %q have %d bytes together, the file %d", f.Path, text, f.Size)
	}
	return nil
}

// changedSince compares a file with what it was when it was surveyed.
func changedSince(name string, f File, size int64, version string) error {
	switch {
	case f.Size() != size:
		return &ChangedError{name, fmt.Sprintf("it has %d bytes now, %d then", f.Size(), size)}
	case version != "" && f.Version() != version:
		return &ChangedError{name, fmt.Sprintf("its version is %q now, %q then", f.Version(), version)}
	}
	return nil
}
