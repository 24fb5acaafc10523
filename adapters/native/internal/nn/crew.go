package nn

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Crew is goroutines that wait for work between short tasks. To wake a sleeping one can
// take as long as the tasks themselves, so they look out for a while before they sleep.
// One goroutine gives it work and closes it.
type Crew struct {
	// state is the number of the phase, whether it is open, and how many helpers are at
	// work in it.
	state    atomic.Uint64
	next     atomic.Int64 // task of the phase that nobody has taken
	sleeping atomic.Int64
	wake     chan struct{}
	// Of the phase: helpers read them between joining and leaving.
	n int
	f func(i int)
}

const (
	crewOpen  = 1 << 31
	crewPhase = 1 << 32
	// crewLooks is how often one looks for work, or for the end of others', before it
	// sleeps: some tenths of a millisecond.
	crewLooks = 1000
)

// NewCrew starts workers - 1 helpers of the caller. Close ends them.
func NewCrew(workers int) *Crew {
	c := &Crew{wake: make(chan struct{}, max(workers-1, 0))}
	for range workers - 1 {
		go c.help()
	}
	return c
}

// Close ends the helpers, now or when they next look.
func (c *Crew) Close() { close(c.wake) }

// Each calls f(0) to f(n-1), each once, in any order and some at once, and returns when
// all are done. It does not wait for helpers that have not begun.
func (c *Crew) Each(n int, f func(i int)) {
	if n == 1 || cap(c.wake) == 0 {
		for i := range n {
			f(i)
		}
		return
	}
	c.n, c.f = n, f
	c.next.Store(0)
	c.state.Store((c.state.Load()/crewPhase+1)*crewPhase + crewOpen)
	for range min(c.sleeping.Load(), int64(n-1)) {
		select {
		case c.wake <- struct{}{}:
		default: // as many are being woken already
		}
	}
	c.work()
	c.state.Add(^uint64(crewOpen - 1)) // minus crewOpen: nobody joins any more
	for looks := 0; c.state.Load()%crewOpen > 0; looks++ {
		rest(looks)
	}
}

// rest gives way to others.
func rest(looks int) {
	if looks < crewLooks {
		runtime.Gosched()
	} else {
		time.Sleep(20 * time.Microsecond)
	}
}

// work takes tasks until there are none.
func (c *Crew) work() {
	for i := int(c.next.Add(1)) - 1; i < c.n; i = int(c.next.Add(1)) - 1 {
		c.f(i)
	}
}

func (c *Crew) help() {
	seen := uint64(0) // phase that this helper was in
	for looks := 0; ; looks++ {
		s := c.state.Load()
		switch {
		case s&crewOpen != 0 && s/crewPhase != seen:
			if c.state.CompareAndSwap(s, s+1) {
				c.work()
				c.state.Add(^uint64(0)) // minus one
				seen, looks = s/crewPhase, 0
			}
		case looks < crewLooks:
			runtime.Gosched()
		default:
			c.sleeping.Add(1)
			if s = c.state.Load(); s&crewOpen != 0 && s/crewPhase != seen {
				c.sleeping.Add(-1) // it began just now
				continue
			}
			_, more := <-c.wake
			c.sleeping.Add(-1)
			if !more {
				return
			}
			looks = 0
		}
	}
}
