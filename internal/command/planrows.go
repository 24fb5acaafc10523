package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/internal/app/plan"
)

// planRows are the rows of one shard of a plan, of none until it is known which these are.
type planRows struct {
	survey   *files.Survey // of the plan's files
	options  *files.Options
	bringing files.Source // in place of files: the shard's rows alone, counted from 0; nil: none

	rows   *plan.Range // of the shard, or of a stretch of it; nil: not known
	digest []string    // columns of which a digest is taken, sorted, in passes that read all of them

	passes *plan.Passes // tell how many rows there were in a recorded pass
	seen   *rowsSeen    // in the pass at hand; nil: none was made here
}

// rowsSeen is what a pass has read of a shard.
type rowsSeen struct {
	total, dropped int64
	digest         *rowsDigest // nil: the pass does not read all of the columns
}

// begin begins a pass, or goes on behind the rows of a checkpoint.
func (p *planRows) begin(from *plan.Header) {
	p.seen = &rowsSeen{digest: newRowsDigest(p.digest)}
	if from == nil {
		return
	}
	p.seen.total, p.seen.dropped = from.Rows()
	if len(from.Checkpoint.Digest) == len(p.digest) {
		copy(p.seen.digest.state, from.Checkpoint.Digest)
	}
}

// openPlanRows opens the rows of a plan's files, which are at paths, or of one shard, which somebody
// brings there.
func openPlanRows(doc *plan.Plan, paths []string, o *files.Options, brought bool) (*planRows, error) {
	p := &planRows{options: o}
	var err error
	if p.survey, err = files.Decode(doc.Survey); err != nil {
		return nil, fmt.Errorf("plan %q: %w", doc.Dir(), err)
	}
	if !brought {
		return p, p.movedTo(paths)
	}
	if p.bringing, err = files.Open(paths, o); err != nil {
		return nil, err
	}
	if err := p.asPlanned(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// movedTo takes the files at paths for those that were surveyed, in their order.
func (p *planRows) movedTo(paths []string) error {
	if len(paths) != len(p.survey.Files) {
		return fmt.Errorf("the plan is of %d data files, and there are %d: name all of them, in their order", len(p.survey.Files), len(paths))
	}
	for i := range paths {
		p.survey.Files[i].Path = paths[i]
	}
	return nil
}

// asPlanned refuses rows with other columns than the plan's.
func (p *planRows) asPlanned() error {
	own, here := p.survey.Schema(), p.bringing.Schema()
	same := func(a, b data.Column) bool {
		return a.Name == b.Name && a.Numeric == b.Numeric && a.Categorical == b.Categorical && a.Width == b.Width
	}
	if !slices.EqualFunc(own, here, same) {
		return fmt.Errorf("the rows have the columns %.300q, the plan was made for %.300q: names, order and types must be the same", here.Names(), own.Names())
	}
	return nil
}

// Schema is that of all rows.
func (p *planRows) Schema() data.Schema {
	if p.bringing != nil {
		return p.bringing.Schema()
	}
	return p.survey.Schema()
}

// Len is not known: other rows are asked for in every pass.
func (p *planRows) Len() int64 { return -1 }

// Rows are those of the last pass, recorded or made.
func (p *planRows) Rows() (total, dropped int64) {
	if p.seen == nil {
		return p.passes.Rows()
	}
	return p.seen.total, p.seen.dropped
}

// Close gives up the rows that were brought.
func (p *planRows) Close() error {
	if p.bringing == nil {
		return nil
	}
	return p.bringing.Close()
}

// Batches are the shard's rows, with their numbers among all.
func (p *planRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		if p.rows == nil {
			yield(nil, errors.New("internal error: rows are read before it is known which"))
			return
		}
		if p.seen == nil { // a look that nobody counts
			p.begin(nil)
		}
		if len(p.digest) == 0 || slices.ContainsFunc(p.digest, func(c string) bool { return !slices.Contains(columns, c) }) {
			p.seen.digest = nil
		}
		src, err := p.source(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		for b, err := range src.Batches(ctx, columns) {
			if err == nil && p.bringing != nil {
				b = b.Shift(p.rows.First)
			}
			if err == nil && p.seen.digest != nil {
				err = p.seen.digest.add(b)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
		total, dropped := src.Rows()
		if err := p.whole(total); err != nil {
			yield(nil, err)
			return
		}
		p.seen.total, p.seen.dropped = p.seen.total+total, p.seen.dropped+dropped
	}
}

// source opens the rows of the shard.
func (p *planRows) source(ctx context.Context) (files.Source, error) {
	switch {
	case p.bringing != nil:
		return p.bringing, nil
	case p.rows.First == p.rows.Next:
		return p.survey.Open(ctx, 0, 0, p.options)
	}
	return p.survey.Open(ctx, p.rows.First, p.rows.Next, p.options)
}

// whole refuses another number of rows than the plan's.
func (p *planRows) whole(rows int64) error {
	want := p.rows.Next - p.rows.First
	switch {
	case rows == want:
		return nil
	case p.bringing != nil:
		return fmt.Errorf("%d rows were brought of a shard that the plan counts %d of: bring the rows that were counted, or make a plan with other counts", rows, want)
	}
	return fmt.Errorf("%d rows were read of a shard with %d: a data file changed", rows, want)
}
