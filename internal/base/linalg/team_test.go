package linalg

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// Every call is made once, and all are done when each returns, for regions that are short, empty
// or longer than what others wait for.
func TestTeam(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(before)
	team := newTeam(1 << 30)
	defer team.end()
	for round := range 2000 {
		n := round % 9
		calls := make([]int, n)
		var sum atomic.Int64
		team.each(n, 1<<30, func(i int) {
			calls[i]++
			sum.Add(int64(i))
		})
		for i, c := range calls {
			if c != 1 {
				t.Fatalf("round %d: %d calls for %d", round, c, i)
			}
		}
		if sum.Load() != int64(n*(n-1)/2) {
			t.Fatalf("round %d: some are not done", round)
		}
	}
}
