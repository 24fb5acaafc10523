package decompose

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/data"
)

// Explain is the last pass: it splits every row of src, checks the parts against
// the network's own output, counts the features' values and shows the parts to
// o.Visitors. It completes r, which Solve made for the same model. It is NewExplaining,
// Accumulate and Take; several processes make the same of their rows.
func Explain(ctx context.Context, m Model, src data.Source, r *Result, o *Options) error {
	e, err := NewExplaining(m, r, o)
	if err != nil {
		return err
	}
	return e.run(ctx, src, nil)
}

func (p *plan) explain(ctx context.Context, m Model, src data.Source, r *Result, o *Options, cache *outputCache) error {
	e, err := p.explaining(m, r, o)
	if err != nil {
		return err
	}
	return e.run(ctx, src, cache)
}

// Explaining is the last pass made by several processes. Each has the same network, terms,
// result and options, and makes the pass over its rows (Accumulate); somebody adds up what they
// found (Explanation.Merge), and whoever solved ends the pass with the total (Take).
type Explaining struct {
	plan   *plan
	model  Model
	result *Result
	opts   *Options
	of     string // which result this is
	over   bool

	terms *plan
	at    [][]int
	shape *rowSums // of no rows
	bands *sandwichPlan
}

// NewExplaining begins o.Visitors and the pass. r is the result of Solve for m or, for a process
// that will not complete it, the same result read from its files, moments included: passes over the
// same rows come to the same bytes. o are the options of Solve, and where a shard lies
// (Resources.FirstChunk, FirstRow, Chunks).
func NewExplaining(m Model, r *Result, o *Options) (*Explaining, error) {
	o = o.orDefault()
	if err := o.validate(m); err != nil {
		return nil, err
	}
	p, err := newPlan(m)
	if err != nil {
		return nil, err
	}
	return p.explaining(m, r, o)
}

func (p *plan) explaining(m Model, r *Result, o *Options) (*Explaining, error) {
	for _, v := range o.Visitors {
		if err := v.Begin(r); err != nil {
			return nil, err
		}
	}
	e := &Explaining{plan: p, model: m, result: r, opts: o}
	e.terms, e.at = r.of(m).layout()
	var err error
	if e.bands, err = r.newSandwich(e.at, o); err != nil {
		return nil, err
	}
	e.shape = newRowSums(r, r.supportPlan(), sampleBelow(r.Rows))
	e.of = r.fingerprint()
	return e, nil
}

// run is the pass in one process.
func (e *Explaining) run(ctx context.Context, src data.Source, cache *outputCache) error {
	total, err := e.pass(ctx, src, cache, func(i int, part any) error { return e.opts.Visitors[i].Reduce(part) })
	if err != nil {
		return err
	}
	return e.Take(ctx, total)
}

// Accumulate makes the pass over the rows of src, which may have none. Visitors
// whose Map does not return Sums are an error: what they do with the rows they do in one process, or
// after the last pass (Applier).
func (e *Explaining) Accumulate(ctx context.Context, src data.Source) (*Explanation, error) {
	if e.over {
		return nil, errOver()
	}
	return e.pass(ctx, src, nil, func(i int, part any) error {
		return fmt.Errorf("decompose: what visitor %d (%T) adds up over rows is a %T, which other processes cannot add to theirs: leave it out where rows are shared out", i+1, e.opts.Visitors[i], part)
	})
}

func errOver() error {
	return errors.New("decompose: the last pass is over: begin anew")
}

// chunkSums is what one chunk of rows adds.
type chunkSums struct {
	rows   *rowSums
	bands  *sandwichChunk // nil: none
	visits []any
}

// pass splits every row and shows it to the visitors. other takes what visitors add up that
// is no Sums, chunk by chunk in row order.
func (e *Explaining) pass(ctx context.Context, src data.Source, cache *outputCache, other func(visitor int, part any) error) (*Explanation, error) {
	o := e.opts
	workers := make([]*splitter, o.workers())
	parts := make([]Parts, len(workers)) // of the chunk that each is at
	total := e.nothing()
	var rows int64
	shift := int64(o.FirstChunk)*int64(e.plan.chunkRows()) - o.FirstRow
	err := pass(ctx, e.plan, e.model, src, o,
		func(w int, at place, b *data.Batch) (*chunkSums, error) {
			stored, err := cache.load(at.nth, b.Rows())
			if err != nil {
				return nil, err
			}
			if workers[w] == nil {
				workers[w] = e.splitter()
			}
			if err := workers[w].split(ctx, &parts[w], b.Shift(shift), stored); err != nil {
				return nil, err
			}
			return e.sums(workers[w], &parts[w])
		},
		func(s *chunkSums, at place, b *data.Batch) error {
			if err := total.add(at.chunk, b.Rows(), s, other); err != nil {
				return err
			}
			rows += int64(b.Rows())
			o.report("contributions", rows)
			return nil
		})
	if err != nil {
		return nil, err
	}
	if cache != nil && rows != cache.rows {
		return nil, errOtherRows
	}
	if err := total.fill(o); err != nil {
		return nil, err
	}
	return total, nil
}

// splitter is that of a worker.
func (e *Explaining) splitter() *splitter {
	s := e.result.splitter(e.model, e.terms, e.at)
	s.bands = e.bands.worker()
	return s
}

// sums are those of the rows that s has split.
func (e *Explaining) sums(s *splitter, parts *Parts) (*chunkSums, error) {
	rows, err := e.shape.sumRows(e.result, parts)
	if err != nil {
		return nil, err
	}
	bands, err := s.bands.take()
	if err != nil {
		return nil, err
	}
	out := &chunkSums{rows: rows, bands: bands}
	for _, v := range e.opts.Visitors {
		part, err := v.Map(parts)
		if err != nil {
			return nil, err
		}
		out.visits = append(out.visits, part)
	}
	return out, nil
}

// Take ends the pass with the sums over all rows: the parts are checked against the network's
// outputs, bands are drawn, visitors take their totals (Reduce) and end, and r is complete. A
// result that was read is not completed: what of the fit is not in its files is missing; solve
// the statistics again.
//
// total is used up. Gaps in it are an error that names the chunks.
func (e *Explaining) Take(ctx context.Context, total *Explanation) error {
	if e.over {
		return errOver()
	}
	if !e.result.fitted() {
		return errors.New("decompose: a result that was read is not completed, since its files lack what verdicts and bands need: solve the statistics again and take the sums with that result")
	}
	if err := e.belongs(total); err != nil {
		return err
	}
	total.rows.areas = e.shape.areas // which sums that were read do not know
	if err := total.rows.finish(e.result, e.opts); err != nil {
		return err
	}
	if err := e.bands.finish(e.result, &total.bands); err != nil {
		return err
	}
	if err := e.reduce(total); err != nil {
		return err
	}
	e.over = true
	return e.end(ctx)
}

// fitted tells whether what the fit alone knows is at hand: not where r was read.
func (r *Result) fitted() bool {
	return !slices.ContainsFunc(r.Predictors, func(d Predictor) bool { return d.fit == nil })
}

// belongs refuses sums that are not those of this pass over all rows.
func (e *Explaining) belongs(total *Explanation) error {
	if err := e.nothing().like(total); err != nil {
		return fmt.Errorf("decompose: these sums are not of the pass at hand: %w", err)
	}
	if err := total.chunks.Whole(); err != nil {
		return fmt.Errorf("decompose: the sums of the last pass are not complete: %w: their rows are to be added first", err)
	}
	if total.Rows() == 0 {
		return errNoRows()
	}
	return nil
}

// reduce hands visitors the totals of their Sums.
func (e *Explaining) reduce(total *Explanation) error {
	for i := range total.visits {
		sums, ok, err := total.visits[i].Total(addSums)
		if err != nil {
			return err
		}
		if ok {
			if err := e.opts.Visitors[i].Reduce(sums); err != nil {
				return err
			}
		}
	}
	return nil
}

func addSums(a, b Sums) (Sums, error) { return a, a.Add(b) }

func (e *Explaining) end(ctx context.Context) error {
	var faults []error
	for _, v := range e.opts.Visitors {
		if err := ctx.Err(); err != nil {
			return err
		}
		faults = append(faults, v.End(e.result))
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	e.result.lackOfFit()
	return nil
}

// lackOfFit tells verdicts and warnings of smooths that miss something of their columns, which visitors found.
func (r *Result) lackOfFit() {
	found := false
	for k := range r.Predictors {
		var missing []string
		for _, t := range r.Predictors[k].Terms {
			if t.LackOfFit.Matters() {
				missing = append(missing, fmt.Sprintf("%s (%.2g %%)", t.Name, 100*t.LackOfFit.Share))
			}
		}
		if len(missing) == 0 {
			continue
		}
		found = true
		of := ""
		if len(r.Predictors) > 1 {
			of = fmt.Sprintf("predictor %q: ", r.Predictors[k].Name)
		}
		r.Warnings = append(r.Warnings, of+"the remainder still depends on the columns of smooths, which miss so much of what they should hold: "+listed(missing)+"; raise k, or give cuts where the function jumps")
	}
	if found {
		r.judge()
	}
}
