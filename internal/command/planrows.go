package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/plan"
)

// planRows are the rows of one shard of a plan, of none until it is known which these are.
type planRows struct {
	files.Source
	brought bool // the source holds the shard's rows alone, counted from 0

	rows   *plan.Range // of the shard; nil: not known
	digest []string    // columns of which a digest is taken, sorted; those of no pass without them

	total, dropped int64  // rows of the last pass, or of a recorded one
	seen           string // digest of the last pass; "": it did not read all of the columns
}

// Len is not known: other rows are asked for in every pass.
func (p *planRows) Len() int64 { return -1 }

// Rows are those of the last pass.
func (p *planRows) Rows() (total, dropped int64) { return p.total, p.dropped }

// Batches are the shard's rows, with their numbers among all.
func (p *planRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		if p.rows == nil {
			yield(nil, errors.New("internal error: rows are read before it is known which"))
			return
		}
		var digest *rowsDigest
		if len(p.digest) > 0 && !slices.ContainsFunc(p.digest, func(c string) bool { return !slices.Contains(columns, c) }) {
			digest = newRowsDigest(p.digest)
		}
		total, kept := p.rows.Next-p.rows.First, int64(0)
		for b, err := range p.within(ctx, columns) {
			if err == nil && digest != nil {
				err = digest.add(b)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			kept += int64(b.Rows())
			if !yield(b, nil) {
				return
			}
		}
		if all, _ := p.Source.Rows(); p.brought && all != total {
			yield(nil, fmt.Errorf("%d rows were brought of a shard that the plan counts %d of: bring the rows that were counted, or make a plan with other counts", all, total))
			return
		}
		p.total, p.dropped, p.seen = total, total-kept, ""
		if digest != nil {
			p.seen = digest.String()
		}
	}
}

// within are the batches of the shard, none of them empty.
func (p *planRows) within(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		if p.rows.First == p.rows.Next && !p.brought {
			return
		}
		for b, err := range p.Source.Batches(ctx, columns) {
			if err != nil {
				yield(nil, err)
				return
			}
			over := false
			if p.brought {
				b, err = renumbered(b, p.rows.First)
			} else {
				b, over = between(b, p.rows.First, p.rows.Next)
			}
			if err != nil || b.Rows() > 0 && !yield(b, err) {
				return
			}
			if over {
				return
			}
		}
	}
}

// renumbered is b with row numbers counted from first.
func renumbered(b *data.Batch, first int64) (*data.Batch, error) {
	rows := make([]int64, b.Rows())
	for i := range rows {
		rows[i] = first + b.Row(i)
	}
	b = b.Slice(0, b.Rows())
	return b, b.SetRows(rows)
}

// between is what b has of the rows [first, next); over: what follows b has nothing of them.
func between(b *data.Batch, first, next int64) (part *data.Batch, over bool) {
	from, to := 0, b.Rows()
	for from < to && b.Row(from) < first {
		from++
	}
	for to > from && b.Row(to-1) >= next {
		to--
		over = true
	}
	return b.Slice(from, to), over
}
