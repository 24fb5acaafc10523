package decompose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
)

// histogramBins is how finely Feature.Counts resolves a numeric column.
const histogramBins = 40

// defaultReconstruction allows for networks evaluated in float32.
const defaultReconstruction = 1e-4

// Explain is the last pass: it splits every row of src, checks the parts against
// the network's own output, counts the features' values and shows the parts to
// o.Visitors. It completes r, which Solve made for the same model.
func Explain(ctx context.Context, m Model, src data.Source, r *Result, o *Options) error {
	o = o.orDefault()
	if err := o.validate(m); err != nil {
		return err
	}
	p, err := newPlan(m)
	if err != nil {
		return err
	}
	return p.explain(ctx, m, src, r, o, nil)
}

func (p *plan) explain(ctx context.Context, m Model, src data.Source, r *Result, o *Options, cache *outputCache) error {
	for _, v := range o.Visitors {
		if err := v.Begin(r); err != nil {
			return err
		}
	}
	_, at := r.layout()
	bands, err := r.newSandwich(at, o)
	if err != nil {
		return err
	}
	total, err := p.visit(ctx, m, src, r, o, cache, bands, o.Visitors, "contributions")
	if err != nil {
		return err
	}
	if err := total.finish(r, o, total.rows); err != nil {
		return err
	}
	if err := bands.finish(r); err != nil {
		return err
	}
	if err := p.revisit(ctx, m, src, r, o, cache); err != nil {
		return err
	}
	var faults []error
	for _, v := range o.Visitors {
		if err := ctx.Err(); err != nil {
			return err
		}
		faults = append(faults, v.End(r))
	}
	return errors.Join(faults...)
}

// revisit shows the rows again to the visitors that ask for them, as often as they do.
func (p *plan) revisit(ctx context.Context, m Model, src data.Source, r *Result, o *Options, cache *outputCache) error {
	asking := o.Visitors
	for {
		var again []Visitor
		for _, v := range asking {
			a, ok := v.(Revisitor)
			if !ok {
				continue
			}
			more, err := a.Again(r)
			if err != nil {
				return err
			}
			if more {
				again = append(again, v)
			}
		}
		if len(again) == 0 {
			return nil
		}
		asking = again
		if _, err := p.visit(ctx, m, src, r, o, cache, nil, again, "remainder"); err != nil {
			return err
		}
	}
}

// visit makes a pass that splits every row, adds it to the sums of the bands (nil: none),
// and shows its parts to the visitors.
func (p *plan) visit(ctx context.Context, m Model, src data.Source, r *Result, o *Options, cache *outputCache, bands *sandwichPlan, visitors []Visitor, name string) (*rowSums, error) {
	terms, at := r.layout()
	workers := make([]*splitter, o.workers())
	parts := make([]Parts, len(workers)) // of the chunk that each is at
	total := newRowSums(r, r.supportPlan(), sampleBelow(r.Rows))
	err := pass(ctx, p, m, src, o,
		func(w, index int, b *data.Batch) (*rowSums, error) {
			stored, err := cache.load(index, b.Rows())
			if err != nil {
				return nil, err
			}
			if workers[w] == nil {
				workers[w] = r.splitter(m, terms, at)
				workers[w].bands = bands.worker()
			}
			if err := workers[w].split(ctx, &parts[w], b, stored); err != nil {
				return nil, err
			}
			s, err := total.sumRows(r, &parts[w], visitors)
			if err == nil {
				s.bands = workers[w].bands.take()
			}
			return s, err
		},
		func(s *rowSums, b *data.Batch) error {
			total.merge(s)
			if err := bands.append(r, s.bands); err != nil {
				return err
			}
			for i, v := range visitors {
				if err := v.Reduce(s.visits[i]); err != nil {
					return err
				}
			}
			total.rows += int64(b.Rows())
			o.report(name, total.rows)
			return nil
		})
	if err != nil {
		return nil, err
	}
	if cache != nil && total.rows != cache.rows {
		return nil, errOtherRows
	}
	return total, nil
}

// rowSums is what the last pass adds up over rows.
type rowSums struct {
	largest []float64 // max |eta| by predictor
	miss    []float64 // max |sum of parts - eta|
	missAt  []int64   // at which data row
	counts  [][]int64 // histogram by feature
	areas   supportPlan
	support []supportSums // by area
	sample  rowSample
	below   uint64 // sampled are rows of smaller hashes
	rows    int64  // of all chunks
	visits  []any
	bands   *sandwichChunk // nil: none
}

func newRowSums(r *Result, areas supportPlan, below uint64) *rowSums {
	k := len(r.Predictors)
	s := &rowSums{largest: make([]float64, k), miss: make([]float64, k), missAt: make([]int64, k)}
	for _, f := range r.Features {
		bins := histogramBins
		if f.Levels != nil {
			bins = len(f.Levels)
		}
		s.counts = append(s.counts, make([]int64, bins))
	}
	s.areas, s.below = areas, below
	for i := range areas {
		s.support = append(s.support, areas[i].sums())
	}
	return s
}

// sumRows are the sums of the rows of parts.
func (s *rowSums) sumRows(r *Result, parts *Parts, visitors []Visitor) (*rowSums, error) {
	s = newRowSums(r, s.areas, s.below)
	for k := range parts.Predictors {
		d := &parts.Predictors[k]
		_, j := d.Terms.Dims()
		terms, largest, miss := rowsOf(d.Terms, 0), s.largest[k], s.miss[k]
		for i, eta := range d.Eta {
			largest = max(largest, math.Abs(eta))
			// As Parts.Sum adds.
			sum := 0.0
			for _, v := range terms[i*j : (i+1)*j] {
				sum += v
			}
			if m := math.Abs(d.Intercept + sum + d.Unstructured[i] - eta); !(m <= miss) { // NaN counts as a miss
				miss, s.missAt[k] = m, parts.Batch.Row(i)
			}
		}
		s.largest[k], s.miss[k] = largest, miss
	}
	for j, f := range r.Features {
		if err := count(s.counts[j], f, parts.Batch); err != nil {
			return nil, err
		}
	}
	for i := range s.support {
		if err := s.support[i].count(&s.areas[i], parts.Batch); err != nil {
			return nil, err
		}
	}
	if err := s.sample.add(r.Features, parts.Batch, s.below); err != nil {
		return nil, err
	}
	for _, v := range visitors {
		part, err := v.Map(parts)
		if err != nil {
			return nil, err
		}
		s.visits = append(s.visits, part)
	}
	return s, nil
}

// count adds the rows of b to the histogram of feature f.
func count(counts []int64, f Feature, b *data.Batch) error {
	if f.Levels == nil {
		x, err := b.Numeric(f.Name)
		if err != nil {
			return err
		}
		countNumbers(counts, x, f.Min, f.Max)
		return nil
	}
	c, err := b.Codes(f.Name)
	if err != nil {
		return err
	}
	bin := make([]int, len(c.Levels))
	for i, level := range c.Levels {
		bin[i], _ = slices.BinarySearch(f.Levels, level)
	}
	for _, i := range c.Index {
		if bin[i] < len(counts) {
			counts[bin[i]]++
		}
	}
	return nil
}

// countNumbers counts x in bins of equal width from lo to hi, all in the first if
// these are not apart.
func countNumbers(counts []int64, x []float64, lo, hi float64) {
	last, scale := len(counts)-1, 0.0
	if hi > lo {
		scale = min(float64(len(counts))/(hi-lo), math.MaxFloat64)
	}
	for _, v := range x {
		if v == v { // not missing
			counts[max(0, min(int(scale*(v-lo)), last))]++
		}
	}
}

func (s *rowSums) merge(o *rowSums) {
	for k := range s.largest {
		s.largest[k] = math.Max(s.largest[k], o.largest[k])
		if !(o.miss[k] <= s.miss[k]) {
			s.miss[k], s.missAt[k] = o.miss[k], o.missAt[k]
		}
	}
	for j := range s.counts {
		for i, n := range o.counts[j] {
			s.counts[j][i] += n
		}
	}
	for i := range s.support {
		s.support[i].merge(o.support[i])
	}
	s.sample.merge(o.sample)
}

// whyMissed says what made the parts miss the network's output by miss: terms that
// are large against each other, which rounding explains, or another network's.
func (d *Predictor) whyMissed(miss float64) string {
	const rounding = 1e-13 // of a term's standard deviation or mean, in any row
	var largest *TermResult
	size := 0.0
	for j := range d.Terms {
		t := &d.Terms[j]
		for _, m := range []Moment{t.Before, t.After, t.Moved} {
			if v := math.Max(math.Sqrt(m.Variance), math.Abs(m.Mean)); v > size {
				largest, size = t, v
			}
		}
	}
	switch {
	case rounding*size >= miss:
		return fmt.Sprintf("the effects of %s are as large as %.3g, and others cancel them, so that rounding is left; "+
			"columns are all but linearly dependent: leave one out, or raise the rank tolerance of %.3g", largest.Name, size, d.RankTolerance)
	case d.RankTolerance < minGramTolerance:
		return fmt.Sprintf("the terms or taps do not belong to this network, or columns are all but linearly dependent and have coefficients that leave nothing but rounding at the rank tolerance of %.3g: raise it", d.RankTolerance)
	}
	return "the terms or taps do not belong to this network"
}

// finish writes the sums into r; parts that miss the network's output are an
// error: then the model's blocks are not what the network computes.
func (s *rowSums) finish(r *Result, o *Options, rows int64) error {
	if rows == 0 {
		return errors.New("decompose: the data have no rows")
	}
	tolerance := o.ReconstructionTolerance
	if tolerance == 0 {
		tolerance = defaultReconstruction
	}
	for k := range r.Predictors {
		d := &r.Predictors[k]
		relative := s.miss[k]
		if s.largest[k] > 0 {
			relative /= s.largest[k]
		}
		if !(relative <= tolerance) {
			return fmt.Errorf("decompose: predictor %q, data row %d: the parts miss the network's own output by %.3g of its largest value (tolerance %.3g): %s",
				d.Name, s.missAt[k]+1, relative, tolerance, d.whyMissed(s.miss[k]))
		}
		d.ReconstructionError = &relative
	}
	for j := range r.Features {
		r.Features[j].Counts = s.counts[j]
	}
	s.placed(r)
	return nil
}
