package nam

import (
	"context"
	"fmt"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// leastValues is the least number of distinct values that a spline is made for.
const leastValues = 3

// countValues counts the distinct values of every feature of a learned term of at most two,
// up to the largest dimension of a spline; 0 of columns of levels. It reads the rows until all
// are known.
func countValues(ctx context.Context, m decompose.Model, src data.Source, o Options) (map[string]int, error) {
	seen := map[string]map[float64]bool{}
	for k := range m.Predictors() {
		for _, b := range m.Blocks(k) {
			if f := b.Term.Columns(); learned(b) && len(f) <= 2 {
				for _, name := range f {
					seen[name] = map[float64]bool{}
				}
			}
		}
	}
	var open []string // features that may have more
	for name := range seen {
		open = append(open, name)
	}
	slices.Sort(open)
	for b, err := range src.Batches(ctx, union(open, reads(m, o.Decompose))) {
		if err != nil {
			return nil, fmt.Errorf("nam: the splines of PHONAM: %w", err)
		}
		open = slices.DeleteFunc(open, func(name string) bool {
			if b.Categorical(name) {
				return true
			}
			x, err := b.Numeric(name)
			for i := 0; err == nil && i < len(x) && len(seen[name]) < max(o.K, o.PairK); i++ {
				seen[name][x[i]] = true
			}
			return err != nil || len(seen[name]) >= max(o.K, o.PairK)
		})
		if len(open) == 0 {
			break
		}
	}
	counts := map[string]int{}
	for name, values := range seen {
		counts[name] = len(values)
	}
	return counts, nil
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
