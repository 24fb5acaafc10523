package data

import (
	"bytes"
	"context"
	"io"
	"iter"
	"sync"
)

// place is where a pass is in a file.
type place struct {
	name   string
	header []string
	lines  int   // before the block at hand
	end    int   // the last line of the record before
	row    int64 // records before
	skip   int64 // records to pass over
	left   int64 // records to take behind these
}

// read adds the rows of a text, which begins with a record.
func (p *pass) read(at *place, text io.Reader, yield func(*Batch, error) bool) error {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	s := &splitter{text: contextReader{ctx, text}, size: p.csv.limits.block, record: p.csv.limits.record}
	for b := range p.blocks(ctx, cancel, s, p.wanted(len(at.header))) {
		if err := p.block(at, b, yield); err != nil || at.left == 0 {
			return err
		}
	}
	return p.ctx.Err()
}

// ahead is how many blocks there are for each goroutine that parses.
const ahead = 2

// blocks yields parsed blocks in order. Goroutines that cut and parse them end before it
// does; cancel keeps them from reading on.
func (p *pass) blocks(ctx context.Context, cancel func(), s *splitter, w *wanted) iter.Seq[*block] {
	if p.csv.workers == 1 {
		return func(yield func(*block) bool) {
			for b := s.next(new(block)); b != nil; b = s.next(b) {
				if b.parse(w); !yield(b) {
					return
				}
			}
		}
	}
	return func(yield func(*block) bool) {
		n := ahead*p.csv.workers + 1
		free, cut, inOrder := make(chan *block, n), make(chan *block, n), make(chan *block, n)
		for range n {
			free <- new(block)
		}
		var others sync.WaitGroup
		defer others.Wait()
		defer cancel()
		others.Go(func() {
			defer close(cut)
			defer close(inOrder)
			for ctx.Err() == nil {
				select {
				case <-ctx.Done():
					return
				case b := <-free:
					if b = s.next(b); b == nil {
						return
					}
					b.done = make(chan struct{})
					cut <- b
					inOrder <- b
				}
			}
		})
		for range p.csv.workers {
			others.Go(func() {
				for b := range cut {
					if ctx.Err() == nil {
						b.parse(w)
					}
					close(b.done)
				}
			})
		}
		for b := range inOrder {
			if <-b.done; ctx.Err() != nil || !yield(b) {
				return
			}
			free <- b
		}
	}
}

func (p *pass) block(at *place, b *block, yield func(*Batch, error) bool) error {
	// A blank line is a row of a file of one column if there is a row behind it, maybe in the
	// next block.
	held := len(at.header) == 1 && at.end != at.lines
	if !b.plain || held || at.skip > 0 || int64(b.rows) > at.left || !p.translate(b) {
		err := p.slowly(at, b, yield)
		at.lines += b.lines
		return err
	}
	if b.rows > 0 {
		at.end = at.lines + b.ends
	}
	at.row += int64(b.rows)
	at.left -= int64(b.rows)
	at.lines += b.lines
	return p.fill(b, yield)
}

// slowly adds the rows of a block one by one, up to the first fault, of which it says what
// and where it is.
func (p *pass) slowly(at *place, b *block, yield func(*Batch, error) bool) error {
	text := io.Reader(bytes.NewReader(b.text))
	if b.tail != nil {
		text = io.MultiReader(text, b.tail)
	}
	r := newRecords(p.ctx, at.name, text, p.csv.comma, p.csv.limits)
	r.header, r.check = at.header, nothing
	r.lines, r.end, r.row = at.lines, at.end, at.row
	for at.left > 0 {
		record, err := r.next()
		if err == io.EOF {
			break
		}
		switch {
		case err != nil:
			return err
		case at.skip > 0:
			at.skip--
			continue
		}
		if err := p.add(r, record, yield); err != nil {
			return err
		}
		at.left--
	}
	at.end, at.row = r.end, r.row
	return nil
}

// translate finds the levels that the cells of a block are, new ones in the order of the
// rows. It is false if there may be no room for all of them: slowly finds the first for which
// there is none.
func (p *pass) translate(b *block) bool {
	need := int64(0)
	for j := range b.columns {
		column, d := &b.columns[j], p.columns[j].levels
		if d == nil {
			continue
		}
		column.levels = room(column.levels, len(column.cells.texts))
		for k, cell := range column.cells.texts {
			l, ok := d.known(cell)
			if !ok {
				l.code = noCode
				need += int64(len(cell) + levelOverhead)
			}
			column.levels[k] = l
		}
	}
	for j := range b.columns {
		if d := p.columns[j].levels; d != nil && need > 0 {
			if need > d.room.Load() || !b.columns[j].add(d, b.dropped) {
				return false
			}
		}
	}
	return true
}

// add adds the cells that are new, but for those that only records show that are left out.
func (c *coded) add(d *dictionary, dropped bool) bool {
	one := func(k int) (ok bool) {
		if c.levels[k].code == noCode {
			c.levels[k], ok = d.add(string(c.cells.texts[k]))
			return ok
		}
		return true
	}
	if dropped {
		for _, k := range c.order {
			if !one(int(k)) {
				return false
			}
		}
		return true
	}
	for k := range c.levels {
		if !one(k) {
			return false
		}
	}
	return true
}

// fill adds the rows of a block whose levels are known.
func (p *pass) fill(b *block, yield func(*Batch, error) bool) error {
	rows := b.rows
	if b.dropped {
		rows = len(b.kept)
	}
	first := p.csv.first + p.total
	p.total += int64(b.rows)
	p.dropped += int64(b.rows - rows)
	for from := 0; from < rows; {
		if p.n == p.size {
			p.grow(rows - from)
		}
		to := min(rows, from+p.size-p.n)
		for i := from; i < to; i++ {
			row := i
			if b.dropped {
				row = int(b.kept[i])
			}
			p.rows[p.n+i-from] = first + int64(row)
		}
		for j := range p.columns {
			p.columns[j].fill(p.n, &b.columns[j], from, to)
		}
		p.n += to - from
		from = to
		if p.n == p.limit {
			if err := p.flush(yield); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill takes rows from to to-1 of a block's column as rows from n on.
func (f *filling) fill(n int, c *parsedColumn, from, to int) {
	if f.levels == nil {
		copy(f.values[n:], c.values[from:to])
		return
	}
	codes := f.codes[n:]
	for i, k := range c.codes[from:to] {
		codes[i] = c.levels[k].code
	}
	if f.Numeric {
		values := f.values[n:]
		for i, k := range c.codes[from:to] {
			values[i] = c.levels[k].value
		}
	}
}
