package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Passes makes the passes of a decomposition from the totals that a plan has. It is a
// decompose.Scans for those before the fit.
type Passes struct {
	Plan *Plan
	// Until is how many recorded passes to go by, the first ones; less than none: all.
	Until int
	// More makes a pass that has no total, over chunks of so many rows, by sum; nil: such a pass is a *NeededError.
	More func(ctx context.Context, stage Stage, chunk int, sum Sum) (Payload, error)
	// Solved, if it is not nil, is called with what the fit of all terms came to.
	Solved func(r *decompose.Result) error

	// Coordinates: what fits and looks come to is kept in the plan, and fits are solved by whoever is to complete the result.
	// Otherwise what is kept is used.
	Coordinates bool
	// OtherKernel: this machine has not the plan's kernels, so that its terms would differ from the plan's.
	OtherKernel bool

	rows, dropped int64 // of the last pass
	at            int   // passes gone by so far
	decomposed    int   // times: what comes then has further terms
}

// Sum sums over the rows of a range, which whoever calls it has made those of the source.
type Sum func(ctx context.Context, r Range) (Payload, error)

// Rows counts the rows of the last pass that was gone by, and those left out.
func (p *Passes) Rows() (total, dropped int64) { return p.rows, p.dropped }

// recorded is the total of the next pass; nil: there is none.
func (p *Passes) recorded(stage Stage) (Payload, error) {
	until := len(p.Plan.Done)
	if p.Until >= 0 {
		until = min(until, p.Until)
	}
	if p.at >= until {
		return nil, nil
	}
	if d := p.Plan.Done[p.at]; d.Stage != stage.Digest {
		return nil, fmt.Errorf("plan %q: the total %s is of %s, where %s comes: the plan was made by another version of the program, or by other rules; make it anew", p.Plan.dir, d.Total, Stage{Pass: d.Pass, Round: d.Round}, stage)
	}
	part, err := p.Plan.load(p.at)
	if err != nil {
		return nil, err
	}
	p.at++
	p.rows, p.dropped = part.Rows()
	value, err := decodePayload(part.Kind, part.Payload)
	if err != nil {
		return nil, fmt.Errorf("plan %q: %w", p.Plan.dir, err)
	}
	return value, nil
}

// total is the total of the next pass, recorded or made by More.
func total[T Payload](ctx context.Context, p *Passes, pass, round string, chunk int, sum Sum) (T, error) {
	var none T
	stage := p.Plan.stage(p.at, pass, round)
	value, err := p.recorded(stage)
	if err == nil && value == nil {
		if p.More == nil {
			return none, &NeededError{stage}
		}
		p.at++
		value, err = p.More(ctx, stage, chunk, sum)
	}
	if err != nil {
		return none, err
	}
	t, ok := value.(T)
	if !ok {
		return none, fmt.Errorf("plan %q: the total of %s holds a %T, not a %T", p.Plan.dir, stage, value, none)
	}
	return t, nil
}

// Scan restores the total of a look at the rows, or is a *decompose.ScanNeeded (see Look).
func (p *Passes) Scan(_ context.Context, name string, columns []string, scanners []decompose.SummingScanner) error {
	stage := p.Plan.stage(p.at, Scan, name)
	value, err := p.recorded(stage)
	if err != nil {
		return err
	}
	if value == nil {
		return &decompose.ScanNeeded{Name: name, Columns: columns, Scanners: scanners}
	}
	seen, ok := value.(*decompose.Scanned)
	if !ok {
		return fmt.Errorf("plan %q: the total of %s holds a %T", p.Plan.dir, stage, value)
	}
	return seen.Restore(scanners)
}

// Look makes the look at the rows that Scan has no total of. What it comes to goes with More: it ends a
// replay.
func (p *Passes) Look(ctx context.Context, needed *decompose.ScanNeeded) error {
	_, err := total[*decompose.Scanned](ctx, p, Scan, needed.Name, ScanChunk, func(ctx context.Context, _ Range) (Payload, error) {
		return needed.Accumulate(ctx, needed.Rows)
	})
	return err
}

// Decompose is decompose.Decompose over the plan's rows; a second time, and a third, of further terms.
func (p *Passes) Decompose(ctx context.Context, m decompose.Model, rows data.Source, o *decompose.Options) (*decompose.Result, error) {
	if joined, ok := m.(*decompose.Members); ok && !joined.Shared() {
		return nil, errors.New("networks that learned columns of their own have no sums in common that shards could add up: decompose them in one process, or each by a plan of its own")
	}
	round := ""
	if p.decomposed > 0 {
		round = fmt.Sprintf("further terms %d", p.decomposed)
	}
	p.decomposed++
	r, err := p.fit(ctx, m, rows, o, round, p.Coordinates || p.goesOn())
	if err != nil {
		return nil, err
	}
	if p.Solved != nil {
		if err := p.Solved(r); err != nil {
			return nil, err
		}
	}
	return r, p.explain(ctx, m, rows, r, o, Explain, round)
}

// goesOn tells whether the last pass over the terms at hand has a total, so that its result is needed to know what comes
// next: every process completes it.
func (p *Passes) goesOn() bool {
	until := len(p.Plan.Done)
	if p.Until >= 0 {
		until = min(until, p.Until)
	}
	return slices.ContainsFunc(p.Plan.Done[min(p.at, until):until], func(d Done) bool { return d.Pass == Explain })
}

// Rank is decompose.Decompose with terms to which pairs will be added that its visitors find.
func (p *Passes) Rank(ctx context.Context, m decompose.Model, rows data.Source, o *decompose.Options) (*decompose.Result, error) {
	r, err := p.fit(ctx, m, rows, o, "before pairs", true) // every process completes it, to know the terms
	if err != nil {
		return nil, err
	}
	return r, p.explain(ctx, m, rows, r, o, Pairs, "")
}

// fit accumulates and solves, by the factor if the products hold too few digits. A result that is
// not to be completed may be one that is kept.
func (p *Passes) fit(ctx context.Context, m decompose.Model, rows data.Source, o *decompose.Options, round string, complete bool) (*decompose.Result, error) {
	r, lost, err := p.solve(ctx, m, rows, o, round, complete)
	if !lost {
		return r, err
	}
	again := *o
	again.Route = decompose.QR
	if round != "" {
		round += ", "
	}
	if r, _, err = p.solve(ctx, m, rows, &again, round+"by the factor", complete); err != nil {
		return nil, err
	}
	r.NoteFactor()
	return r, nil
}

// solve is one of the fits. lost: it has to be made by the factor.
func (p *Passes) solve(ctx context.Context, m decompose.Model, rows data.Source, o *decompose.Options, round string, complete bool) (r *decompose.Result, lost bool, err error) {
	chunk, err := decompose.ChunkRows(m)
	if err != nil {
		return nil, false, err
	}
	place := p.at
	if !complete {
		if r, lost, err := p.solved(p.Plan.stage(place, Fit, round)); r != nil || lost || err != nil {
			return r, lost, err
		}
	}
	stats, err := total[*decompose.Statistics](ctx, p, Fit, round, chunk, func(ctx context.Context, r Range) (Payload, error) {
		own := *o
		r.set(&own, chunk)
		return decompose.Accumulate(ctx, m, rows, &own)
	})
	if err != nil {
		return nil, false, err
	}
	if r, err = decompose.Solve(ctx, m, stats, o); decompose.NeedsFactor(r, err, o) {
		r, lost, err = nil, true, nil
	}
	if err == nil && p.Coordinates && place < len(p.Plan.Done) {
		err = p.Plan.keepSolved(place, r)
	}
	return r, lost, err
}

// solved is what the next pass, a fit, is known to have come to; nil: nothing is known.
func (p *Passes) solved(stage Stage) (r *decompose.Result, lost bool, err error) {
	if p.at >= len(p.Plan.Done) || p.Until >= 0 && p.at >= p.Until || p.Plan.Done[p.at].Stage != stage.Digest {
		return nil, false, nil
	}
	lost = p.Plan.Done[p.at].Lost
	if !lost {
		if r, err = p.Plan.solved(p.at); r == nil || err != nil {
			return nil, false, err
		}
	}
	p.at++
	return r, lost, nil
}

// explain makes the last pass, of that name and round.
func (p *Passes) explain(ctx context.Context, m decompose.Model, rows data.Source, r *decompose.Result, o *decompose.Options, pass, round string) error {
	chunk, err := decompose.ChunkRows(m)
	if err != nil {
		return err
	}
	own := *o // which the pass reads
	e, err := decompose.NewExplaining(m, r, &own)
	if err != nil {
		return err
	}
	sums, err := total[*decompose.Explanation](ctx, p, pass, round, chunk, func(ctx context.Context, r Range) (Payload, error) {
		r.set(&own, chunk)
		return e.Accumulate(ctx, rows)
	})
	if err != nil {
		return err
	}
	return e.Take(ctx, sums)
}

// set notes in o where the rows lie.
func (r Range) set(o *decompose.Options, chunk int) {
	o.FirstRow, o.FirstChunk = r.First, r.FirstChunk
	o.Chunks = int((r.Next - r.First + int64(chunk) - 1) / int64(chunk))
}
