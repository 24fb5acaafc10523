package nam

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// leastValues is the least number of distinct values that a spline is made for.
const leastValues = 3

// countValues counts the distinct values of every feature of a learned term of at most two,
// up to the largest dimension of a spline; 0 of columns of levels. It reads the rows until all
// are known, or has them scanned.
func countValues(ctx context.Context, m decompose.Model, src data.Source, o Options) (map[string]int, error) {
	names := map[string]bool{}
	for k := range m.Predictors() {
		for _, b := range m.Blocks(k) {
			if f := b.Term.Columns(); learned(b) && len(f) <= 2 {
				for _, name := range f {
					names[name] = true
				}
			}
		}
	}
	s := &valueScan{most: max(o.K, o.PairK)}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		s.columns = append(s.columns, &valueCount{name: name, values: map[float64]bool{}})
	}
	if err := s.look(ctx, m, src, o); err != nil {
		return nil, fmt.Errorf("nam: the splines of PHONAM: %w", err)
	}
	counts := map[string]int{}
	for _, c := range s.columns {
		counts[c.name] = c.count(s.most)
	}
	return counts, nil
}

func (s *valueScan) look(ctx context.Context, m decompose.Model, src data.Source, o Options) error {
	var names []string
	for _, c := range s.columns {
		names = append(names, c.name)
	}
	columns := union(names, reads(m, o.Decompose))
	if o.Scans != nil {
		return decompose.ScansOf(o.Scans, src).Scan(ctx, "numbers of values", columns, []decompose.SummingScanner{s})
	}
	for b, err := range src.Batches(ctx, columns) {
		if err != nil {
			return err
		}
		if err := s.Scan(b); err != nil {
			return err
		}
		if s.over() {
			break
		}
	}
	return nil
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
