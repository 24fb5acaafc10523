package decompose

import (
	"context"
	"errors"
	"fmt"

	"github.com/pho-go/pho/data"
)

// Explain is the last pass: it splits every row of src, checks the parts against
// the network's own output, counts the features' values and shows the parts to
// o.Visitors. It completes r, which Solve made for the same model. It is NewExplaining,
// Accumulate and Take as often as visitors ask; several processes make the same of their rows.
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
// result and options, and makes the round at hand over its rows (Accumulate); somebody adds up what
// they found (Explanation.Merge), and all who go on end the round with the total (Take). Most
// visitors need one round.
type Explaining struct {
	plan   *plan
	model  Model
	result *Result
	opts   *Options
	of     string // which result this is
	round  int    // 0, 1, ...
	over   bool

	terms  *plan
	at     [][]int
	shape  *rowSums // of no rows
	bands  *sandwichPlan
	asking []Visitor // who see the rows of the round at hand
}

// NewExplaining begins o.Visitors and the first round. r is what Solve made for m, or, for
// who is not to complete it, what Read made of that, moments included: rounds over the same rows
// come to the same bytes. o are the options of Solve, and where a shard lies
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
	e := &Explaining{plan: p, model: m, result: r, opts: o, asking: o.Visitors}
	e.terms, e.at = r.layout()
	var err error
	if e.bands, err = r.newSandwich(e.at, o); err != nil {
		return nil, err
	}
	e.shape = newRowSums(r, r.supportPlan(), sampleBelow(r.Rows))
	e.of = r.fingerprint()
	return e, nil
}

// run makes all rounds.
func (e *Explaining) run(ctx context.Context, src data.Source, cache *outputCache) error {
	for {
		total, err := e.pass(ctx, src, cache, func(i int, part any) error { return e.asking[i].Reduce(part) })
		if err != nil {
			return err
		}
		if more, err := e.Take(ctx, total); err != nil || !more {
			return err
		}
	}
}

// Accumulate makes the round at hand over the rows of src, which may have none. Visitors
// whose Map does not return Sums are an error: what they do with the rows they do in one process, or
// after the last pass (Applier).
func (e *Explaining) Accumulate(ctx context.Context, src data.Source) (*Explanation, error) {
	if e.over {
		return nil, errOver()
	}
	return e.pass(ctx, src, nil, func(i int, part any) error {
		return fmt.Errorf("decompose: what visitor %d (%T) adds up over rows is a %T, which other processes cannot add to theirs: leave it out where rows are shared out", i+1, e.asking[i], part)
	})
}

func errOver() error {
	return errors.New("decompose: the last round is over: begin anew")
}

// chunkSums is what one chunk of rows adds.
type chunkSums struct {
	rows   *rowSums       // nil: not of the first round
	bands  *sandwichChunk // nil: none
	visits []any
}

// pass splits every row and shows it to the visitors. other takes what visitors add up that
// is no Sums, chunk by chunk in row order.
func (e *Explaining) pass(ctx context.Context, src data.Source, cache *outputCache, other func(visitor int, part any) error) (*Explanation, error) {
	o, name := e.opts, "contributions"
	if e.round > 0 {
		name = "remainder"
	}
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
			e.bands.reuse(&total.bands)
			rows += int64(b.Rows())
			o.report(name, rows)
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
	e.bands.close(&total.bands)
	return total, nil
}

// splitter is that of a worker.
func (e *Explaining) splitter() *splitter {
	s := e.result.splitter(e.model, e.terms, e.at)
	if e.round == 0 {
		s.bands = e.bands.worker()
	}
	return s
}

// sums are those of the rows that s has split.
func (e *Explaining) sums(s *splitter, parts *Parts) (*chunkSums, error) {
	out := &chunkSums{}
	if e.round == 0 {
		var err error
		if out.rows, err = e.shape.sumRows(e.result, parts); err != nil {
			return nil, err
		}
		out.bands = s.bands.take()
	}
	for _, v := range e.asking {
		part, err := v.Map(parts)
		if err != nil {
			return nil, err
		}
		out.visits = append(out.visits, part)
	}
	return out, nil
}

// Take ends the round with the sums over all rows: in the first the parts are checked against the
// network's outputs and bands are drawn; visitors take their totals (Reduce), and those
// that want to see the rows again make another round: more. Without one they end, and r is
// complete. A result that was read can go on to further rounds, but not be completed: what of
// the fit is not in its files is missing; solve the statistics again.
//
// total is used up. Gaps in it are an error that names the chunks.
func (e *Explaining) Take(ctx context.Context, total *Explanation) (more bool, err error) {
	if e.over {
		return false, errOver()
	}
	if err := e.belongs(total); err != nil {
		return false, err
	}
	if e.round == 0 {
		if err := e.first(total); err != nil {
			return false, err
		}
	}
	if err := e.reduce(total); err != nil {
		return false, err
	}
	if e.asking, err = e.again(); err != nil {
		return false, err
	}
	e.round++
	if len(e.asking) > 0 {
		return true, nil
	}
	e.over = true
	return false, e.end(ctx)
}

// belongs refuses sums that are not those of this round over all rows.
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

// first is what the first round tells.
func (e *Explaining) first(total *Explanation) error {
	total.rows.areas = e.shape.areas // which sums that were read do not know
	if err := total.rows.finish(e.result, e.opts); err != nil {
		return err
	}
	if e.result.read {
		return nil
	}
	return e.bands.finish(e.result, &total.bands)
}

// reduce hands visitors the totals of their Sums.
func (e *Explaining) reduce(total *Explanation) error {
	for i := range total.visits {
		sums, ok, err := total.visits[i].Total(addSums)
		if err != nil {
			return err
		}
		if ok {
			if err := e.asking[i].Reduce(sums); err != nil {
				return err
			}
		}
	}
	return nil
}

func addSums(a, b Sums) (Sums, error) { return a, a.Add(b) }

// again are the visitors who want to see the rows again.
func (e *Explaining) again() (again []Visitor, err error) {
	for _, v := range e.asking {
		r, ok := v.(Revisitor)
		if !ok {
			continue
		}
		more, err := r.Again(e.result)
		if err != nil {
			return nil, err
		}
		if more {
			again = append(again, v)
		}
	}
	return again, nil
}

// end ends the visitors.
func (e *Explaining) end(ctx context.Context) error {
	if e.result.read {
		return errors.New("decompose: a result that was read is not completed, since its files lack what verdicts and bands need: solve the statistics again and take the sums with that result")
	}
	var faults []error
	for _, v := range e.opts.Visitors {
		if err := ctx.Err(); err != nil {
			return err
		}
		faults = append(faults, v.End(e.result))
	}
	return errors.Join(faults...)
}
