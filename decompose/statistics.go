package decompose

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/internal/base/kernel"
)

// Statistics is all that Solve needs to know of the rows: mergeable, the same
// bytes for any batch size and worker count.
type Statistics struct {
	network  networkIdentity
	sum      *moments.Sum
	groups   *groupSums // nil without groups
	features []featureRange
	known    map[Term]identity // of the terms that it was accumulated by; nil: it was read
}

// featureRange is the range of a column that terms depend on.
type featureRange struct {
	name        string
	categorical bool
	min, max    float64
	levels      []string // sorted
}

// Rows is the number of rows, those of weight 0 included.
func (s *Statistics) Rows() int64 { return s.sum.Rows() }

// Runs are the runs [first, next) of chunks that s holds, in order, with gaps between them.
func (s *Statistics) Runs() [][2]int { return s.sum.Runs() }

// Merge adds the statistics of other rows, in any order and grouping: there may be gaps until
// Solve, which names the chunks that are missing. Shards that meet at multiples of the chunk
// merge to the bytes of a single pass. next is not changed, and may have no rows. Chunks that
// both hold, statistics of another network or of other terms, if only of other knots or of a
// basis that differs in a last digit, are refused by name: s stays as it was. What Solve makes of
// merged statistics has the bands of the projection, since a sandwich holds at one alpha: the
// last pass of the shards adds robust ones (Explaining).
func (s *Statistics) Merge(next *Statistics) error {
	if err := s.merges(next); err != nil {
		return fmt.Errorf("decompose: statistics do not merge: %w", err)
	}
	if s.groups != nil {
		if err := s.groups.merge(next.groups, s.sum, next.sum); err != nil {
			return err
		}
	}
	if err := s.sum.Merge(next.sum); err != nil {
		return err
	}
	for i := range s.features {
		s.features[i].merge(next.features[i])
	}
	return nil
}

// total are the moments of all rows, of which none may be missing.
func (s *Statistics) total() (*moments.Moments, error) {
	if err := s.sum.Whole(); err != nil {
		return nil, fmt.Errorf("decompose: the statistics are not complete: %w", err)
	}
	if s.Rows() == 0 {
		return nil, errNoRows()
	}
	return s.sum.Total(), nil
}

func errNoRows() error { return errors.New("decompose: the data have no rows") }

// merges refuses what does not merge.
func (s *Statistics) merges(next *Statistics) error {
	if err := s.network.same(next.network, "the first", "the second"); err != nil {
		return err
	}
	if len(s.features) != len(next.features) {
		return fmt.Errorf("they are of %d and %d features", len(s.features), len(next.features))
	}
	for i := range s.features {
		if s.features[i].name != next.features[i].name {
			return fmt.Errorf("feature %q of one is %q of the other", s.features[i].name, next.features[i].name)
		}
	}
	if err := sameBases(s.sum.Layout().Bases, next.sum.Layout().Bases, "the first", "the second"); err != nil {
		return err
	}
	if (s.groups == nil) != (next.groups == nil) {
		return errors.New("one has groups for cross validation, the other none")
	}
	if s.groups != nil {
		names := slices.Collect(maps.Keys(s.groups.sums))
		if n := len(union(names, slices.Collect(maps.Keys(next.groups.sums)))); n > maxGroups {
			return fmt.Errorf("they have %d groups for cross validation together, more than %d: choose a coarser column", n, maxGroups)
		}
	}
	return s.sum.Apart(next.sum)
}

func (f *featureRange) merge(o featureRange) {
	f.categorical = f.categorical || o.categorical
	f.min, f.max = math.Min(f.min, o.min), math.Max(f.max, o.max)
	if slices.Equal(f.levels, o.levels) {
		return
	}
	f.levels = append(f.levels, o.levels...)
	slices.Sort(f.levels)
	f.levels = slices.Compact(f.levels)
}

// levelOrder is the order of the levels of batches, which most often is that of the last batch's.
type levelOrder struct {
	levels []string
	sorted []int32 // their numbers
}

// of are the numbers of levels in the order of their texts.
func (o *levelOrder) of(levels []string) []int32 {
	if len(levels) == len(o.levels) && (len(levels) == 0 || &levels[0] == &o.levels[0]) {
		return o.sorted
	}
	o.levels, o.sorted = levels, make([]int32, len(levels))
	for i := range o.sorted {
		o.sorted[i] = int32(i)
	}
	slices.SortFunc(o.sorted, func(i, j int32) int { return strings.Compare(levels[i], levels[j]) })
	return o.sorted
}

// extraBases are the bases that statistics have besides those of the terms.
func extraBases(features int) []moments.Basis {
	bases := []moments.Basis{{Name: "(deviance)", Dim: 1}}
	for range features {
		bases = append(bases, moments.Basis{Name: "(feature)", Dim: 1})
	}
	return bases
}

// deviance is the sum over rows of the response's deviance at the network's own
// predictions, 0 without a family.
func (s *Statistics) deviance(total *moments.Moments) float64 { return s.extraSums(total)[0] }

// featureMean is the unweighted mean of feature i, 0 if it is not numeric.
func (s *Statistics) featureMean(total *moments.Moments, i int) float64 {
	return s.extraSums(total)[1+i] / float64(total.Rows)
}

// extraSums are the unweighted sums of those bases, which come last.
func (s *Statistics) extraSums(total *moments.Moments) []float64 {
	return total.Sum[len(total.Sum)-1-len(s.features):]
}

func (f featureRange) feature(mean float64) Feature {
	if f.categorical {
		return Feature{Name: f.name, Levels: f.levels}
	}
	return Feature{Name: f.name, Min: f.min, Max: f.max, Mean: mean}
}

func newRange(name string) featureRange {
	return featureRange{name: name, min: math.Inf(1), max: math.Inf(-1)}
}

// summarise finds the range or the levels of a column.
func summarise(b *data.Batch, name string, order *levelOrder) (featureRange, error) {
	f := newRange(name)
	if b.Categorical(name) {
		c, err := b.Codes(name)
		if err != nil {
			return f, err
		}
		f.categorical = true
		used := make([]bool, len(c.Levels))
		for _, i := range c.Index {
			used[i] = true
		}
		f.levels = make([]string, 0, len(used))
		for _, i := range order.of(c.Levels) {
			if used[i] {
				f.levels = append(f.levels, c.Levels[i])
			}
		}
		return f, nil
	}
	x, err := b.Numeric(name)
	if err != nil {
		return f, err
	}
	if lo, hi, ok := kernel.Bounds(x); ok {
		f.min, f.max = lo, hi
		return f, nil
	}
	for _, v := range x { // some may be missing
		if v < f.min {
			f.min = v
		}
		if v > f.max {
			f.max = v
		}
	}
	return f, nil
}
