package data

import (
	"context"
	"errors"
	"iter"
	"math"
	"unicode/utf8"
)

// Batches reads the files from the start and yields the named columns. An
// unknown name is an error that says the nearest known one. The context is
// checked before every batch and while reading. A pass that finds a file of
// another size or time than at OpenCSV is an error.
func (c *CSV) Batches(ctx context.Context, columns []string) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		p, err := c.newPass(ctx, columns)
		if err == nil {
			err = p.run(yield)
		}
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

// errStopped says that the consumer wants no more.
var errStopped = errors.New("stopped")

// pass is one reading of all files. It fills a batch's columns row by row.
type pass struct {
	csv     *CSV
	ctx     context.Context
	columns []filling // in file order
	limit   int       // rows of a full batch
	size    int       // rows that the columns have room for
	last    int       // rows of the batch before
	n       int       // rows kept in the batch being filled
	rows    []int64   // their source rows
	total   int64     // rows read
	dropped int64     // of these, left out
}

// filling is a requested column of the batch being filled.
type filling struct {
	Column
	field  int         // of the schema
	at     int         // place in the file
	fast   bool        // numbers with decimal points
	levels *dictionary // nil unless categorical
	values []float64   // nil unless numeric
	codes  []int32     // nil unless categorical
}

// noCode stands for the code of a level that is new. It gets one once it is known that
// its row is kept: rows that are left out show no levels.
const noCode = -1

func (c *CSV) newPass(ctx context.Context, columns []string) (*pass, error) {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return nil, errors.New("data: the CSV source is closed")
	}
	wanted := make(map[string]bool, len(columns))
	for _, name := range columns {
		wanted[name] = true
	}
	p := &pass{csv: c, ctx: ctx, columns: make([]filling, 0, len(wanted))}
	for i, column := range c.schema {
		if wanted[column.Name] {
			p.columns = append(p.columns, filling{Column: column, field: i, at: i, fast: c.levels[i] == nil && c.cells.decimal == '.', levels: c.levels[i]})
		}
	}
	if len(p.columns) < len(wanted) {
		return nil, c.schema.Require(c.where(), columns)
	}
	p.limit = max(1, min(c.rows, c.limits.cells/max(1, len(p.columns))))
	return p, nil
}

func (p *pass) run(yield func(*Batch, error) bool) error {
	for _, in := range p.csv.inputs {
		read := p.file
		if in.part != nil {
			read = p.part
		}
		if err := read(in, yield); err != nil {
			return err
		}
	}
	if err := p.flush(yield); err != nil {
		return err
	}
	p.csv.mu.Lock()
	defer p.csv.mu.Unlock()
	p.csv.total, p.csv.dropped = p.total, p.dropped
	return nil
}

// find finds the requested columns in a file.
func (p *pass) find(r *records) error {
	places, err := p.csv.placesIn(r)
	for j := range p.columns {
		f := &p.columns[j]
		if f.at = f.field; places != nil {
			f.at = places[f.field]
		}
	}
	return err
}

func (p *pass) file(in *input, yield func(*Batch, error) bool) error {
	text, check, closer, err := in.open(p.ctx)
	if err != nil {
		return err
	}
	defer closer()
	again := &replay{text: text}
	r := newRecords(p.ctx, in.name, again, p.csv.comma, p.csv.limits)
	if err := r.readHeader(); err != nil {
		return err
	}
	if err := p.find(r); err != nil {
		return err
	}
	again.from(r.offset())
	at := &place{name: in.name, header: r.header, lines: r.end, end: r.end, left: math.MaxInt64}
	if err := p.read(at, again, yield); err != nil {
		return err
	}
	return check()
}

// add takes a record, and yields the batch that it makes full.
func (p *pass) add(r *records, record []string, yield func(*Batch, error) bool) error {
	if p.n == p.size {
		p.grow(1)
	}
	kept, err := p.take(r, record)
	if err != nil {
		return err
	}
	if kept {
		p.rows[p.n] = p.csv.first + p.total
		p.n++
	} else {
		p.dropped++
	}
	p.total++
	if p.n == p.limit {
		return p.flush(yield)
	}
	return nil
}

// grow makes room for n more rows, or for what a batch may have: as many as the batch before
// had (a few at first), and then twice as many each time, so that memory stays in proportion
// to what was read, whatever the size of a batch and the number of columns.
func (p *pass) grow(n int) {
	few := max(1, 4096/max(1, len(p.columns)))
	size := min(p.limit, max(few, p.last, 2*p.size, p.n+n))
	p.rows = append(make([]int64, 0, size), p.rows...)[:size]
	for j := range p.columns {
		f := &p.columns[j]
		if f.Numeric {
			f.values = append(make([]float64, 0, size), f.values...)[:size]
		}
		if f.Categorical {
			f.codes = append(make([]int32, 0, size), f.codes...)[:size]
		}
	}
	p.size = size
}

// take writes the record's requested cells to row n, and reports false if the
// row is to be left out. Every requested cell is checked, also in such a row,
// so that errors do not depend on the order of the columns.
func (p *pass) take(r *records, record []string) (kept bool, err error) {
	kept = true
	newLevels := false
	for j := range p.columns {
		f := &p.columns[j]
		cell := record[f.at]
		k := number
		if f.levels == nil {
			f.values[p.n], k = f.number(&p.csv.cells, cell)
		} else if l, ok := f.levels.find(cell); ok {
			f.set(p.n, l)
		} else {
			k = f.check(&p.csv.cells, cell)
			f.codes[p.n] = noCode
			newLevels = true
		}
		if k == number {
			continue
		}
		if k == missing && p.csv.na == NAKeep {
			if f.levels == nil {
				f.values[p.n] = math.NaN()
			}
			continue
		}
		if k == missing && p.csv.na == NADrop {
			kept = false
			continue
		}
		return false, r.cell(f.at, trim(cell), f.reason(trim(cell), k), f.cause(k))
	}
	if kept && newLevels {
		return true, p.addLevels(r, record)
	}
	return kept, nil
}

// addLevels gives codes to the cells of a kept row that show new levels.
func (p *pass) addLevels(r *records, record []string) error {
	for j := range p.columns {
		f := &p.columns[j]
		if f.levels == nil || f.codes[p.n] != noCode {
			continue
		}
		cell := record[f.at]
		l, ok := f.levels.add(cell)
		if !ok {
			return r.cell(f.at, cell, "is one level too many: the levels of all columns take more memory than allowed; leave out columns that name single rows", nil)
		}
		f.set(p.n, l)
	}
	return nil
}

func (f *filling) set(row int, l level) {
	f.codes[row] = l.code
	if f.Numeric {
		f.values[row] = l.value
	}
}

// number reads a cell of a column of numbers. Truth values count as such where the column has
// no others.
func (f *filling) number(n *notation, cell string) (float64, kind) {
	v, k := n.parse(cell)
	if k == truth {
		k = text
		if f.Truth {
			k = number
		}
	}
	return v, k
}

// check says whether a cell can be a level: then it counts as number.
func (f *filling) check(n *notation, cell string) kind {
	switch {
	case !utf8.ValidString(cell):
		return text
	case f.Numeric:
		if _, k := n.parse(cell); k == infinite || k == missing {
			return k
		}
	case n.isMissing(cell):
		return missing
	}
	return number
}

// reason says why a cell of kind k cannot be in the column.
func (f *filling) reason(cell string, k kind) string {
	switch {
	case k == missing:
		return missingReason(cell)
	case k == infinite:
		return "is not a finite number; correct it or remove the row"
	case k == inexact:
		return "is a whole number beyond 2^53, which would be rounded; hold the column as text if it is a name, else write a decimal point"
	case f.levels != nil:
		return "is not UTF-8; convert the file first"
	}
	return "is text in a column of numbers; correct it, or hold the column as categories"
}

// cause is what errors.Is finds in the error for a cell of kind k.
func (f *filling) cause(k kind) error {
	switch {
	case k == missing:
		return ErrMissingValue
	case k == inexact:
		return ErrRounded
	case k == text && f.levels == nil:
		return ErrText
	}
	return nil
}

// flush yields the rows kept so far and starts a new batch.
func (p *pass) flush(yield func(*Batch, error) bool) error {
	if p.n == 0 {
		return nil
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	n := p.n
	b := NewBatch(n, p.rows[0])
	b.numbers = gaps(p.rows[:n:n])
	p.rows = nil
	for j := range p.columns {
		f := &p.columns[j]
		if f.Numeric {
			b.numeric[f.Name] = f.values[:n:n]
			f.values = nil
		}
		if f.Categorical {
			b.codes[f.Name] = Codes{Index: f.codes[:n:n], Levels: f.levels.snapshot()}
			f.codes = nil
		}
	}
	p.n, p.size, p.last = 0, 0, n
	if !yield(b, nil) {
		return errStopped
	}
	return nil
}
