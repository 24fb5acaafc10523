package decompose

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/kernel"
)

// features lists the data columns that structured terms depend on.
func (p *plan) features() []string {
	var names []string
	for _, d := range p.predictors {
		for _, b := range d.blocks {
			names = union(names, b.Term.Columns())
		}
	}
	return names
}

// reading is what a pass reads: the same columns in every pass.
func (p *plan) reading(m Model, o *Options) []string {
	c := union(append([]string(nil), m.Columns()...), p.columns())
	c = union(c, p.features())
	c = union(c, o.Columns.Names())
	for _, v := range o.Visitors {
		c = union(c, v.Columns())
	}
	return c
}

// ChunkRows is the number of rows of a chunk for model m: shards that are
// to merge bit for bit begin at multiples of it.
func ChunkRows(m Model) (int, error) {
	p, err := newPlan(m)
	if err != nil {
		return 0, err
	}
	return p.chunkRows(), nil
}

// Accumulate runs the network once over src and forms the moments of the
// structured columns and the deep predictors (paper, algorithm 2, step 2). A source without
// rows, a shard all of whose rows were left out say, gives statistics of none, which merge.
func Accumulate(ctx context.Context, m Model, src data.Source, o *Options) (*Statistics, error) {
	o = o.orDefault()
	if err := errors.Join(o.validate(m), notApart(m)); err != nil {
		return nil, err
	}
	p, err := newPlan(m, o.DeepFeatures...)
	if err != nil {
		return nil, err
	}
	return p.accumulate(ctx, m, src, o, nil)
}

func (p *plan) accumulate(ctx context.Context, m Model, src data.Source, o *Options, cache *outputCache) (*Statistics, error) {
	if err := p.identify(); err != nil {
		return nil, err
	}
	stats, features := p.newStatistics(m, o), p.features()
	layout := stats.sum.Layout()
	workers := make([]*accumulator, o.workers())
	var rows int64
	spare := moments.NewSpare() // memory for the chunks to come
	err := pass(ctx, p, m, src, o,
		func(w int, at place, b *data.Batch) (*chunkStats, error) {
			if workers[w] == nil {
				workers[w] = newAccumulator(m, p, layout, features, o)
			}
			return workers[w].run(ctx, at.nth, b, cache, spare)
		},
		func(s *chunkStats, at place, b *data.Batch) error {
			if err := stats.add(at.chunk, s, spare); err != nil {
				return err
			}
			if err := cache.add(s.outputs); err != nil {
				return err
			}
			rows += int64(b.Rows())
			o.report("moments", rows)
			return nil
		})
	if err != nil {
		return nil, err
	}
	first, next := o.chunkRange(stats.sum.Runs())
	if err := stats.fill(first, next); err != nil {
		return nil, err
	}
	if cache != nil {
		cache.rows = rows
	}
	return stats, nil
}

// newStatistics are those of no rows.
func (p *plan) newStatistics(m Model, o *Options) *Statistics {
	names := p.features()
	layout := p.statistics(len(names))
	layout.Factor = o.factor()
	s := &Statistics{network: identityOf(m), known: p.known, sum: moments.NewSum(layout, 0)}
	if o.Groups != "" {
		s.groups = newGroupSums(layout)
	}
	for _, name := range names {
		s.features = append(s.features, newRange(name))
	}
	return s
}

// add adds a chunk, and hands on memory that this makes free.
func (s *Statistics) add(chunk int, next *chunkStats, spare *moments.Spare) error {
	if runs := s.sum.Runs(); len(runs) > 0 { // chunks between that have no rows
		if err := s.skip(runs[len(runs)-1][1], chunk); err != nil {
			return err
		}
	}
	if s.groups != nil {
		if err := s.groups.add(chunk, next.groups, s.sum); err != nil {
			return err
		}
	}
	if err := s.sum.Add(chunk, next.moments); err != nil {
		return err
	}
	spare.Take(s.sum)
	for i := range s.features {
		s.features[i].merge(next.features[i])
	}
	return nil
}

// skip notes that chunks have no rows.
func (s *Statistics) skip(first, next int) error {
	if s.groups != nil {
		if err := s.groups.skip(first, next); err != nil {
			return err
		}
	}
	return s.sum.Skip(first, next)
}

// fill notes that the chunks of [first, next) before and behind those that are there have no
// rows.
func (s *Statistics) fill(first, next int) error {
	runs := s.sum.Runs()
	if len(runs) == 0 {
		return s.skip(first, next)
	}
	if err := s.skip(first, runs[0][0]); err != nil {
		return err
	}
	return s.skip(runs[len(runs)-1][1], next)
}

func (o *Options) report(pass string, rows int64) {
	if o.Progress != nil {
		o.Progress(Progress{Pass: pass, Rows: rows})
	}
}

// statistics is the layout with further bases of one column, in no predictor, of which
// only the sums matter: the deviance of the response given the network's own
// predictions (0 without a family), and the features (0 if they are not numeric).
func (p *plan) statistics(features int) moments.Layout {
	l := p.layout
	l.Bases = append(l.Bases[:len(l.Bases):len(l.Bases)], extraBases(features)...)
	return l
}

// chunkStats is what one chunk of rows contributes.
type chunkStats struct {
	moments  *moments.Moments
	groups   map[string]*moments.Moments // nil without groups
	features []featureRange
	outputs  *Outputs // to be kept; nil: not
}

// accumulator is one worker of pass 1.
type accumulator struct {
	forward  *forward
	chunk    *moments.Chunk
	groups   *groupChunks // nil without groups
	opts     *Options
	features []string
	orders   []levelOrder // of the features
	deviance *mat.Dense
	joined   *Members    // nil: the deep parts are all responses
	all      *mat.Dense  // responses, if there are more than the deep parts
	columns  []mat.Dense // of the features: the batch's memory,
	zeros    []float64   // or this, evalRows long, if they are not numeric
}

func newAccumulator(m Model, p *plan, l moments.Layout, features []string, o *Options) *accumulator {
	a := &accumulator{forward: newForward(m, p), chunk: moments.NewChunk(l), opts: o, features: features, orders: make([]levelOrder, len(features)), joined: p.joined}
	if o.Groups != "" {
		a.groups = newGroupChunks(o.Groups, l)
	}
	return a
}

// run forms the statistics of chunk index from the network's outputs: those
// of an earlier pass, or new ones, which are handed on if they are wanted.
func (a *accumulator) run(ctx context.Context, index int, b *data.Batch, cache *outputCache, spare *moments.Spare) (*chunkStats, error) {
	stored, err := cache.load(index, b.Rows())
	if err != nil {
		return nil, err
	}
	a.chunk.Reset()
	if a.groups != nil {
		a.groups.reset()
	}
	s := &chunkStats{}
	if stored == nil && cache.wants() {
		s.outputs = a.forward.outputs(b.Rows())
	}
	for i := 0; i < b.Rows(); i += evalRows {
		if err := ctx.Err(); err != nil { // a chunk of many columns takes long
			return nil, err
		}
		rows := a.forward.cut(b, i, min(i+evalRows, b.Rows()))
		out, err := a.forward.at(ctx, rows, stored, s.outputs, i)
		if err != nil {
			return nil, err
		}
		if err := a.add(rows, out); err != nil {
			return nil, err
		}
	}
	for i, name := range a.features {
		f, err := summarise(b, name, &a.orders[i])
		if err != nil {
			return nil, err
		}
		s.features = append(s.features, f)
	}
	s.moments = a.chunk.MomentsInto(spare.Get())
	if a.groups != nil {
		s.groups = a.groups.moments()
	}
	return s, nil
}

// add adds rows of at most evalRows, at which the network has these outputs.
func (a *accumulator) add(rows *data.Batch, out *Outputs) error {
	x, err := a.forward.eval.eval(rows)
	if err != nil {
		return err
	}
	w, err := weights(rows, a.opts.Weights)
	if err != nil {
		return err
	}
	if x, err = a.addExtra(x, rows, w, out.Eta); err != nil {
		return err
	}
	r := a.responses(out)
	if err := a.chunk.Add(x, w, r); err != nil {
		return atRow(rows, err)
	}
	if a.groups != nil {
		return a.groups.add(rows, x, w, r)
	}
	return nil
}

// responses are the deep predictors and, of several networks, those of each.
func (a *accumulator) responses(out *Outputs) *mat.Dense {
	if a.joined == nil {
		return out.Zeta
	}
	n, k := out.Zeta.Dims()
	each := out.Taps[zetaOfEach]
	_, more := each.Dims()
	a.all = resize(a.all, n, k+more)
	for i := range n {
		row := a.all.RawRowView(i)
		copy(row, out.Zeta.RawRowView(i))
		copy(row[k:], each.RawRowView(i))
	}
	return a.all
}

// addExtra adds the columns of the bases in no predictor.
func (a *accumulator) addExtra(x []design.Columns, b *data.Batch, w []float64, eta *mat.Dense) ([]design.Columns, error) {
	a.deviance = resize(a.deviance, b.Rows(), 1)
	clear(a.deviance.RawMatrix().Data)
	if err := a.fillDeviance(b, w, eta); err != nil {
		return nil, err
	}
	x = append(x[:len(x):len(x)], design.Dense{Dense: a.deviance})
	if a.columns == nil {
		a.columns, a.zeros = make([]mat.Dense, len(a.features)), make([]float64, evalRows)
	}
	for j, name := range a.features {
		v := a.zeros[:b.Rows()]
		if !b.Categorical(name) {
			var err error
			if v, err = b.Numeric(name); err != nil {
				return nil, err
			}
			v = present(v)
		}
		a.columns[j].SetRawMatrix(blas64.General{Rows: len(v), Cols: 1, Stride: 1, Data: v})
		x = append(x, design.Dense{Dense: &a.columns[j]})
	}
	return x, nil
}

// present is x with 0 for missing values, which a feature of a network's own term may
// have: its mean, at which other features' effects are shown, needs a number.
func present(x []float64) []float64 {
	if _, _, finite := kernel.Bounds(x); finite {
		return x
	}
	own := x
	for i, v := range x {
		if v == v {
			continue
		}
		if &own[0] == &x[0] {
			own = slices.Clone(x)
		}
		own[i] = 0
	}
	return own
}

// fillDeviance evaluates the deviance at the network's own predictions.
func (a *accumulator) fillDeviance(b *data.Batch, w []float64, eta *mat.Dense) error {
	fam := a.opts.Family
	if fam == nil {
		return nil
	}
	r, err := readResponses(b, a.opts)
	if err != nil || !fam.HasDispersion() {
		return err
	}
	at := make([]float64, fam.Predictors())
	for i, y := range r.y {
		copy(at, eta.RawRowView(i))
		if r.offset != nil {
			at[0] += r.offset[i]
		}
		a.deviance.Set(i, 0, fam.Deviance(y, weight(w, i), at))
	}
	return nil
}

func atRow(b *data.Batch, err error) error {
	return fmt.Errorf("data rows %d to %d: %w", b.Row(0)+1, b.Row(b.Rows()-1)+1, err)
}
