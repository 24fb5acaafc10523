package data

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// csvRange is which rows of a file to read, and where they are.
type csvRange struct {
	head   CSVPiece   // of the file
	skip   int64      // bytes of text between the head and the pieces
	lines  int        // of the file before the pieces
	rows   int64      // of the file before the pieces
	pieces []CSVPiece // that hold the rows
	drop   int64      // rows of the pieces before those to read
	take   int64      // rows to read
	gzip   bool
}

// OpenCSVRange opens rows first to next-1 of a surveyed table with columns as in schema: their
// types are not inferred again from the cells, so that every range is read alike. Rows keep their
// numbers in the whole table. Only the pieces that hold the rows are read, of gzip all bytes before
// them too; their text must be that of the survey, or the pass ends with a *ChangedError.
//
// Of o, Delimiter, BatchRows, NA, NAValues, Decimal, Store and Workers count. A range without rows is a source without rows.
//
// Errors: a survey that makes no sense, a range outside of it, a file that cannot be opened
// or has another size or version.
func OpenCSVRange(ctx context.Context, files []CSVFile, schema Schema, first, next int64, o *CSVOptions) (*CSV, error) {
	if o == nil {
		o = &CSVOptions{}
	}
	c, err := newCSV(o, defaultLimits())
	switch {
	case err != nil:
		return nil, err
	case len(files) == 0:
		return nil, errors.New("data: no data files")
	case first < 0 || next < first:
		return nil, fmt.Errorf("data: rows %d to %d are no range", first, next)
	}
	c.schema, c.first = schema, first
	c.setLevels()
	begin := int64(0)
	for i := range files {
		f := &files[i]
		if err := f.Check(); err != nil {
			return nil, fmt.Errorf("data: the survey makes no sense: %w", err)
		}
		n := f.Rows()
		if from, to := max(first-begin, 0), min(next-begin, n); from < to || i == 0 && first == next {
			in := &input{name: f.Path, store: storeOf(o.Store), part: f.part(from, max(to, from)), latin: o.Encoding == Windows1252}
			if err := in.surveyed(ctx, f); err != nil {
				return nil, err
			}
			c.inputs = append(c.inputs, in)
		}
		begin += n
	}
	if next > begin {
		return nil, fmt.Errorf("data: rows %d to %d were asked for, of %d", first, next, begin)
	}
	return c, nil
}

// part is where rows from to to-1 of the file are.
func (f *CSVFile) part(from, to int64) *csvRange {
	g := &csvRange{head: f.Head, lines: f.Head.Lines, drop: from, take: to - from, gzip: f.Gzip}
	if from == to {
		return g
	}
	at := int64(0) // rows before the piece
	for i := range f.Pieces {
		p := &f.Pieces[i]
		switch {
		case at+p.Rows <= from:
			g.skip += p.Bytes
			g.lines += p.Lines
			g.rows += p.Rows
			g.drop -= p.Rows
		case at < to:
			g.pieces = append(g.pieces, *p)
		}
		at += p.Rows
	}
	return g
}

// surveyed opens the file to see that it is still there, and of the same size.
func (in *input) surveyed(ctx context.Context, s *CSVFile) error {
	f, err := in.store.Open(ctx, in.name)
	if err != nil {
		return fmt.Errorf("data: cannot read %q: %w", in.name, cause(err))
	}
	defer f.Close()
	in.stamp = stampOf(f)
	return changedSince(in.name, f, s.Size, s.Version)
}

// part reads the rows of a file that are in the range.
func (p *pass) part(in *input, yield func(*Batch, error) bool) error {
	g := in.part
	if g.take == 0 {
		return nil
	}
	f, err := in.raw(p.ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	text, closer, err := g.open(f, in)
	if err != nil {
		return err
	}
	defer closer.Close()
	at := &place{name: in.name, header: p.csv.schema.Names(), lines: g.lines, end: g.lines, row: g.rows, skip: g.drop, left: g.take}
	err = p.read(at, text, yield)
	if err == nil && at.left > 0 {
		err = &ChangedError{in.name, fmt.Sprintf("rows end after row %d", at.row)}
	}
	if err == errStopped || p.ctx.Err() != nil {
		return err
	}
	// That a piece has changed is the message, whatever else was found in it.
	_, rest := io.Copy(io.Discard, contextReader{p.ctx, text})
	var changed *ChangedError
	switch {
	case errors.As(rest, &changed):
		return changed
	case err != nil:
		return err
	case rest != nil:
		return fmt.Errorf("data: reading %q: %w", in.name, rest)
	}
	return in.unchanged(f)
}

// open begins to read the pieces.
func (g *csvRange) open(f File, in *input) (*pieces, io.Closer, error) {
	name := in.name
	if g.gzip {
		section := Section(f, 0, f.Size())
		text, err := g.inflated(section, in)
		if err != nil {
			section.Close()
			return nil, nil, err
		}
		return newPieces(text, name, g.pieces), section, nil
	}
	if f.Version() == "" { // nothing else would tell that the header has changed
		if err := g.checkHead(Section(f, 0, g.head.Bytes), name); err != nil {
			return nil, nil, err
		}
	}
	section := Section(f, g.head.Bytes+g.skip, sizeOf(g.pieces))
	return newPieces(section, name, g.pieces), section, nil
}

// inflated reads gzip up to the pieces.
func (g *csvRange) inflated(raw io.Reader, in *input) (*bufio.Reader, error) {
	name := in.name
	text, zipped, err := in.text(raw)
	if err == nil && !zipped {
		return nil, &ChangedError{name, "it was compressed then"}
	}
	if err == nil {
		err = g.checkHead(io.NopCloser(text), name)
	}
	if err == nil {
		_, err = io.CopyN(io.Discard, text, g.skip)
	}
	var changed *ChangedError
	switch {
	case err == io.EOF:
		return nil, &ChangedError{name, "its text is shorter now"}
	case errors.As(err, &changed):
		return nil, changed
	case err != nil:
		return nil, fmt.Errorf("data: reading %q: %w", name, err)
	}
	return text, nil
}

// checkHead compares the header with what it was.
func (g *csvRange) checkHead(text io.ReadCloser, name string) error {
	defer text.Close()
	_, err := io.Copy(io.Discard, newPieces(text, name, []CSVPiece{g.head}))
	return err
}

func sizeOf(pieces []CSVPiece) int64 {
	n := int64(0)
	for i := range pieces {
		n += pieces[i].Bytes
	}
	return n
}

// pieces reads consecutive pieces and compares them with their digests. It ends behind the
// last.
type pieces struct {
	r    io.Reader
	name string
	left []CSVPiece // the first is being read
	todo int64      // bytes of it
	hash hash.Hash
}

func newPieces(r io.Reader, name string, left []CSVPiece) *pieces {
	p := &pieces{r: r, name: name, left: left, hash: sha256.New()}
	if len(left) > 0 {
		p.todo = left[0].Bytes
	}
	return p
}

func (p *pieces) Read(b []byte) (int, error) {
	if err := p.turn(); err != nil {
		return 0, err
	}
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n, err := p.r.Read(b[:min(int64(len(b)), p.todo)])
	p.hash.Write(b[:n])
	p.todo -= int64(n)
	if err == io.EOF && p.todo > 0 {
		return n, &ChangedError{p.name, "its text is shorter now"}
	}
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// turn ends the pieces that are read.
func (p *pieces) turn() error {
	for len(p.left) > 0 && p.todo == 0 {
		if got := hex.EncodeToString(p.hash.Sum(nil)); got != p.left[0].SHA256 {
			return &ChangedError{p.name, "its text differs"}
		}
		p.hash.Reset()
		if p.left = p.left[1:]; len(p.left) > 0 {
			p.todo = p.left[0].Bytes
		}
	}
	return nil
}

// contextReader ends with a context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
