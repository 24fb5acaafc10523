package plan

import (
	"context"
	"fmt"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Passes makes the passes of a decomposition from the totals that a plan has, and the first that
// it has not by More.
type Passes struct {
	Plan *Plan
	// Until is how many recorded passes to go by, the first ones; less than none: all.
	Until int
	// More is called for a pass without a total, with the number of rows of its chunks and what sums over the
	// rows at hand. nil: a *NeededError.
	More func(ctx context.Context, stage Stage, chunk int, sum Sum) (Payload, error)

	at int // passes done so far
	// Rows and Dropped are those of the last pass.
	Rows, Dropped int64
}

// Sum sums over rows of which the first one has number first, and begins chunk number firstChunk.
type Sum func(ctx context.Context, r Range) (Payload, error)

// total is the recorded total of the next pass, or what More makes of it.
func (p *Passes) total(ctx context.Context, pass, round string, chunk int, sum Sum) (Payload, error) {
	stage := p.Plan.stage(p.at, pass, round)
	until := len(p.Plan.Done)
	if p.Until >= 0 {
		until = min(until, p.Until)
	}
	if p.at >= until {
		if p.More == nil {
			return nil, &NeededError{stage}
		}
		p.at++
		return p.More(ctx, stage, chunk, sum)
	}
	if d := p.Plan.Done[p.at]; d.Stage != stage.Digest {
		return nil, fmt.Errorf("plan %q: the total %s is of %s, where %s comes: the plan was made by another version of the program, or by other rules; make it anew", p.Plan.dir, d.Total, Stage{Pass: d.Pass, Round: d.Round}, stage)
	}
	part, err := p.Plan.load(p.at)
	if err != nil {
		return nil, err
	}
	p.at++
	p.Rows, p.Dropped = part.Rows()
	value, err := decodePayload(part.Kind, part.Payload)
	if err != nil {
		return nil, fmt.Errorf("plan %q: %w", p.Plan.dir, err)
	}
	return value, nil
}

// Fit is decompose.Accumulate and Solve.
func (p *Passes) Fit(ctx context.Context, m decompose.Model, rows data.Source, o *decompose.Options) (*decompose.Result, error) {
	chunk, err := decompose.ChunkRows(m)
	if err != nil {
		return nil, err
	}
	total, err := p.total(ctx, Fit, string(o.Route), chunk, func(ctx context.Context, r Range) (Payload, error) {
		own := *o
		own.FirstChunk = r.FirstChunk
		return decompose.Accumulate(ctx, m, rows, &own)
	})
	if err != nil {
		return nil, err
	}
	stats, ok := total.(*decompose.Statistics)
	if !ok {
		return nil, fmt.Errorf("the total of pass fit holds a %T", total)
	}
	return decompose.Solve(ctx, m, stats, o)
}
