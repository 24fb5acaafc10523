package taskpool

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestPool: every task is done once, before Each returns, in many short phases, some of
// which begin when the helpers are asleep.
func TestPool(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 3, 9} {
		c := New(workers)
		for phase := range 3000 {
			n := phase % 7
			done := make([]int, n) // not atomic: the race detector watches
			var running atomic.Int64
			c.Each(n, func(i int) {
				running.Add(1)
				done[i] += phase + 1
				running.Add(-1)
			})
			if running.Load() != 0 {
				t.Fatalf("%d workers, phase %d: tasks still run", workers, phase)
			}
			for i, v := range done {
				if v != phase+1 {
					t.Fatalf("%d workers, phase %d: task %d was done %d times", workers, phase, i, v/(phase+1))
				}
			}
			if phase%1000 == 999 {
				time.Sleep(5 * time.Millisecond)
			}
		}
		c.Close()
	}
}
