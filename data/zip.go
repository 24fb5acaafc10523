package data

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Part is a source that Zip joins with others. Name is what messages call it,
// its file for example.
type Part struct {
	Name   string
	Source Source
}

// Zip joins sources side by side: row i of the result holds row i of every part,
// by Batch.Row, so a row that one part leaves out (see NADrop) is left out.
// The parts need equally many rows, those left out included: a pass over parts
// that turn out to differ ends with an error that names two of them. Parts that
// tell by a method Rows, as CSV does, how many rows they read are compared by
// it, others by the last row that they yield.
//
// A pass reads the first part and those parts of which columns are requested; only these
// are compared. Errors: no parts; a column that two parts have.
func Zip(parts ...Part) (Source, error) {
	if len(parts) == 0 {
		return nil, errors.New("data: no sources to join")
	}
	z := &zipped{parts: slices.Clone(parts), at: map[string]int{}}
	for i, p := range parts {
		for _, c := range p.Source.Schema() {
			if j, taken := z.at[c.Name]; taken {
				return nil, fmt.Errorf("data: both %q and %q have a column %q: rename one", parts[j].Name, p.Name, clip(c.Name))
			}
			z.at[c.Name] = i
			z.schema = append(z.schema, c)
		}
	}
	return z, nil
}

type zipped struct {
	parts  []Part
	schema Schema
	at     map[string]int // column -> part
}

func (z *zipped) Schema() Schema { return slices.Clone(z.schema) }

// Rows is how many rows the last complete passes read and left out, as CSV.Rows; 0 if no
// part tells. If several parts left rows out, the number is that of the part that left
// out most.
func (z *zipped) Rows() (total, dropped int64) {
	for _, p := range z.parts {
		if c, ok := p.Source.(counter); ok {
			n, d := c.Rows()
			total, dropped = max(total, n), max(dropped, d)
		}
	}
	return total, dropped
}

// counter is a source that counts the rows of its passes.
type counter interface{ Rows() (total, dropped int64) }

// cursor is a place in the batches of a part.
type cursor struct {
	Part
	next  func() (*Batch, error, bool)
	batch *Batch // nil: before the first or at the end
	i     int
	rows  int64 // rows seen
	ended bool
}

// advance finds the first row that is at least the given one; false at the end.
func (c *cursor) advance(row int64) (bool, error) {
	for {
		if c.batch != nil {
			for ; c.i < c.batch.rows; c.i++ {
				if c.batch.Row(c.i) >= row {
					return true, nil
				}
			}
		}
		b, err, ok := c.next()
		c.batch, c.i, c.ended = b, 0, !ok
		if err != nil || !ok {
			return false, err
		}
		if b.rows > 0 {
			c.rows = b.Row(b.rows-1) + 1
		}
	}
}

func (z *zipped) Batches(ctx context.Context, columns []string) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		if err := z.schema.Require(fmt.Sprintf("%q and what is joined with it", z.parts[0].Name), columns); err != nil {
			yield(nil, err)
			return
		}
		wanted := make([][]string, len(z.parts))
		for _, name := range columns {
			i := z.at[name]
			wanted[i] = append(wanted[i], name)
		}
		var cursors []*cursor
		for i, p := range z.parts {
			if i > 0 && wanted[i] == nil {
				continue
			}
			next, stop := iter.Pull2(p.Source.Batches(ctx, wanted[i]))
			defer stop()
			cursors = append(cursors, &cursor{Part: p, next: next})
		}
		for {
			b, err := step(cursors)
			if err == nil && b == nil {
				err = finish(cursors)
				if err == nil {
					return
				}
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// step makes a batch of the next rows that all parts have, up to where the first of the
// parts' batches ends. It is nil at the end of a part.
func step(cursors []*cursor) (*Batch, error) {
	var row int64
	for agreed := false; !agreed; {
		agreed = true
		for _, c := range cursors {
			ok, err := c.advance(row)
			if err != nil || !ok {
				return nil, err
			}
			if r := c.batch.Row(c.i); r > row {
				row, agreed = r, false
			}
		}
	}
	picks := make([][]int, len(cursors))
	var rows []int64
	for {
		for k, c := range cursors {
			picks[k] = append(picks[k], c.i)
		}
		rows = append(rows, row)
		row++
		for agreed := false; !agreed; {
			agreed = true
			for _, c := range cursors {
				for ; c.i < c.batch.rows && c.batch.Row(c.i) < row; c.i++ {
				}
				if c.i == c.batch.rows {
					return merge(cursors, picks, rows), nil
				}
				if r := c.batch.Row(c.i); r > row {
					row, agreed = r, false
				}
			}
		}
	}
}

// merge is a batch of the picked rows of the cursors' batches.
func merge(cursors []*cursor, picks [][]int, rows []int64) *Batch {
	b := NewBatch(len(rows), rows[0])
	b.numbers = gaps(rows)
	for k, c := range cursors {
		from := c.batch.Pick(picks[k])
		for name, v := range from.numeric {
			b.numeric[name] = v
		}
		for name, v := range from.codes {
			b.codes[name] = v
		}
		for name, v := range from.tensors {
			b.tensors[name] = v
		}
	}
	return b
}

// finish reads all parts to their ends and compares how many rows they had.
func finish(cursors []*cursor) error {
	totals := make([]int64, len(cursors))
	for i, c := range cursors {
		for !c.ended {
			if _, err := c.advance(math.MaxInt64); err != nil {
				return err
			}
		}
		totals[i] = c.rows
		if n, ok := c.Source.(counter); ok {
			totals[i], _ = n.Rows()
		}
	}
	for i := range cursors {
		if totals[i] != totals[0] {
			return fmt.Errorf("data: %q has %s, %q has %s: what is joined row by row needs equally many",
				cursors[0].Name, rowCount(totals[0]), cursors[i].Name, rowCount(totals[i]))
		}
	}
	return nil
}

func rowCount(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}
