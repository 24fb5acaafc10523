package decompose

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/data"
)

// histogramBins is how finely Feature.Counts resolves a numeric column.
const histogramBins = 40

// defaultReconstruction allows for networks evaluated in float32.
const defaultReconstruction = 1e-4

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

// missed notes that the parts of a row miss eta of predictor k by m: the largest counts, NaN
// above all, and of equal ones that of the first row.
func (s *rowSums) missed(k int, m float64, row int64) {
	was := s.miss[k]
	worse, same := m > was || m != m && was == was, m == was || m != m && was != was
	if worse || same && row < s.missAt[k] {
		s.miss[k], s.missAt[k] = m, row
	}
}

// sumRows are the sums of the rows of parts.
func (s *rowSums) sumRows(r *Result, parts *Parts) (*rowSums, error) {
	s = newRowSums(r, s.areas, s.below)
	for k := range parts.Predictors {
		d := &parts.Predictors[k]
		_, j := d.Terms.Dims()
		terms, largest := rowsOf(d.Terms, 0), s.largest[k]
		for i, eta := range d.Eta {
			largest = max(largest, math.Abs(eta))
			// As Parts.Sum adds.
			sum := 0.0
			for _, v := range terms[i*j : (i+1)*j] {
				sum += v
			}
			if m := math.Abs(d.Intercept + sum + d.Unstructured[i] - eta); !(m <= s.miss[k]) {
				s.missed(k, m, parts.Batch.Row(i))
			}
		}
		s.largest[k] = largest
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

// merge adds the sums of other rows, in any order.
func (s *rowSums) merge(o *rowSums) {
	for k := range s.largest {
		s.largest[k] = max(s.largest[k], o.largest[k])
		s.missed(k, o.miss[k], o.missAt[k])
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
func (s *rowSums) finish(r *Result, o *Options) error {
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
			return fmt.Errorf("decompose: predictor %q, data row %d: the parts miss the model's own output by %.3g of its largest value (tolerance %.3g): %s",
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
