package data

import (
	"fmt"
	"iter"
	"math"
)

// Chunk is a batch of the rows whose numbers lie between two multiples.
type Chunk struct {
	Number int64 // how many multiples lie before it
	Batch  *Batch
}

// Chunks cuts a sequence of batches again: chunk i has the rows numbered first + i*rows to
// first + (i+1)*rows - 1 (Batch.Row), whatever the cuts of seq were. Rows that a source leaves
// out leave shorter chunks, or none, so where chunks end depends on no other chunk. A row is
// renumbered to follow the row before if its number is not larger: a source whose batches all
// begin at row 0 is cut as if its rows were numbered through. As Rebatch does, it joins and
// slices batches and keeps their row numbers.
//
// Errors are those of Rebatch, and a row before first.
func Chunks(seq iter.Seq2[*Batch, error], rows int, first int64) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		if rows < 1 {
			yield(Chunk{}, fmt.Errorf("data: batches of %d rows are not possible", rows))
			return
		}
		c := cutter{rows: int64(rows), first: first, yield: yield}
		for b, err := range seq {
			if err == nil {
				err = c.check(b)
			}
			if err != nil {
				yield(Chunk{}, err)
				return
			}
			if !c.add(b) {
				return
			}
		}
		c.flush()
	}
}

// cutter is Chunks at work.
type cutter struct {
	rows, first int64
	next        int64    // the least number, from first, that the next row can have
	number      int64    // of the chunk at hand
	parts       []*Batch // of the chunk at hand
	held        int      // their rows
	yield       func(Chunk, error) bool
}

func (c *cutter) check(b *Batch) error {
	if b.rows > 0 && b.Row(0) < c.first {
		return fmt.Errorf("data: row number %d comes in rows that are to begin at number %d", b.Row(0), c.first)
	}
	if b.rows > 0 && b.Row(b.rows-1)-c.first > math.MaxInt64/2 {
		return fmt.Errorf("data: row number %d is too large", b.Row(b.rows-1))
	}
	return nil
}

// add takes in the rows of b; false ends the sequence.
func (c *cutter) add(b *Batch) bool {
	for i := 0; i < b.rows; {
		at := max(b.Row(i)-c.first, c.next)
		if number := at / c.rows; number != c.number {
			if !c.flush() {
				return false
			}
			c.number = number
		}
		j := c.end(b, i, (c.number+1)*c.rows)
		part := b
		if i > 0 || j < b.rows {
			part = b.Slice(i, j)
		}
		c.parts, c.held = append(c.parts, part), c.held+part.rows
		i = j
	}
	return true
}

// end is the first row of b behind row i whose number is limit or more, from c.first. It
// leaves in c.next what may follow.
func (c *cutter) end(b *Batch, i int, limit int64) int {
	at := max(b.Row(i)-c.first, c.next)
	if b.numbers == nil { // they are consecutive
		n := min(int64(b.rows-i), limit-at)
		c.next = at + n
		return i + int(n)
	}
	for ; i < b.rows; i++ {
		if at = max(b.Row(i)-c.first, c.next); at >= limit {
			break
		}
		c.next = at + 1
	}
	return i
}

// flush yields what is held; false ends the sequence.
func (c *cutter) flush() bool {
	if c.held == 0 {
		return true
	}
	b, err := join(c.parts, c.held)
	c.parts, c.held = nil, 0
	return c.yield(Chunk{c.number, b}, err) && err == nil
}
