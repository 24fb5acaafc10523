package command

import (
	"context"
	"fmt"
	"iter"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/plan"
)

// planRows are the rows of one shard of a plan, of none until it is known which these are.
type planRows struct {
	files.Source
	open    bool
	brought bool // the source holds the shard's rows alone, counted from 0
	rows    plan.Range
	total   int64 // rows of the last pass, or of a recorded one
	dropped int64
}

// Len is not known.
func (p *planRows) Len() int64 { return -1 }

// Rows are those of the last pass.
func (p *planRows) Rows() (total, dropped int64) { return p.total, p.dropped }

// Batches are the shard's rows, with their numbers among all.
func (p *planRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		if !p.open {
			yield(nil, fmt.Errorf("internal error: rows are read before it is known which"))
			return
		}
		p.total, p.dropped = p.rows.Next-p.rows.First, 0
		kept := int64(0)
		if p.total > 0 {
			for b, err := range p.Source.Batches(ctx, columns) {
				if err != nil {
					yield(nil, err)
					return
				}
				b, over := p.within(b)
				if b != nil {
					kept += int64(b.Rows())
					if !yield(b, nil) {
						return
					}
				}
				if over {
					break
				}
			}
		}
		p.dropped = p.total - kept
	}
}

// within is the shard's part of b, nil if there is none; over: what follows is behind the shard.
func (p *planRows) within(b *data.Batch) (part *data.Batch, over bool) {
	if p.brought {
		rows := make([]int64, b.Rows())
		for i := range rows {
			rows[i] = p.rows.First + b.Row(i)
		}
		b = b.Slice(0, b.Rows())
		_ = b.SetRows(rows) // as many as there are
	}
	from, to := 0, b.Rows()
	for from < to && b.Row(from) < p.rows.First {
		from++
	}
	for to > from && b.Row(to-1) >= p.rows.Next {
		to--
		over = true
	}
	if from == to {
		return nil, over
	}
	return b.Slice(from, to), over
}
