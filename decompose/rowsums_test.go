package decompose

import (
	"math"
	"testing"
)

// TestMissDoesNotDependOnOrder: of rows that miss equally the first is told, and NaN misses
// most, in whatever order shards come.
func TestMissDoesNotDependOnOrder(t *testing.T) {
	type miss struct {
		by  float64
		row int64
	}
	for _, c := range []struct {
		rows []miss
		want miss
	}{
		{[]miss{{1, 5}, {2, 9}, {2, 7}, {0, 0}}, miss{2, 7}},
		{[]miss{{1, 5}, {math.NaN(), 9}, {math.NaN(), 7}, {math.Inf(1), 2}}, miss{math.NaN(), 7}},
	} {
		n := len(c.rows)
		for turn := range n {
			for _, step := range []int{1, n - 1} {
				s := &rowSums{miss: make([]float64, 1), missAt: make([]int64, 1)}
				for i := range n {
					m := c.rows[(turn+i*step)%n]
					s.missed(0, m.by, m.row)
				}
				if got := (miss{s.miss[0], s.missAt[0]}); got.row != c.want.row || got.by != c.want.by && got.by == got.by {
					t.Errorf("%v from place %d, step %d: %v", c.rows, turn, step, got)
				}
			}
		}
	}
}
