// Package taskpool runs many short tasks on several goroutines.
package taskpool

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Pool is a pool of goroutines for short tasks. Waking a sleeping goroutine can take as long
// as a task itself, so they look for work for a while before they sleep. Only one goroutine
// may give a Pool work and close it. A nil Pool is the caller alone.
type Pool struct {
	// state is the number of the phase, whether it is open, and how many helpers are at
	// work in it.
	state    atomic.Uint64
	next     atomic.Int64 // task of the phase that nobody has taken
	sleeping atomic.Int64
	wake     chan struct{}
	// Tasks of the phase; helpers read them between joining and leaving it.
	n int
	f func(i int)
}

const (
	poolOpen  = 1 << 31
	poolPhase = 1 << 32
	// poolLooks is how often a goroutine looks for work, or for the end of the others', before
	// it sleeps: 0.1 ms while the others are at work, up to 0.4 ms where nothing else runs.
	// To be woken takes some 0.03 ms.
	poolLooks = 1000
	// poolWatches is how often it reads the state at each look: less than what it takes to let
	// others run.
	poolWatches = 50
)

// New starts n - 1 helpers of the caller, nil if that is none. Close ends them.
func New(n int) *Pool {
	if n < 2 {
		return nil
	}
	p := &Pool{wake: make(chan struct{}, n-1)}
	for range n - 1 {
		go p.help()
	}
	return p
}

// Size is the number of goroutines, the caller's among them.
func (p *Pool) Size() int {
	if p == nil {
		return 1
	}
	return cap(p.wake) + 1
}

// Close ends the helpers, now or when they next look.
func (p *Pool) Close() {
	if p != nil {
		close(p.wake)
	}
}

// Each calls f(0) to f(n-1), each once, in any order and some at once, and returns when
// all are done. It does not wait for helpers that have not begun.
func (p *Pool) Each(n int, f func(i int)) {
	if n == 1 || p == nil {
		for i := range n {
			f(i)
		}
		return
	}
	p.n, p.f = n, f
	p.next.Store(0)
	p.state.Store((p.state.Load()/poolPhase+1)*poolPhase + poolOpen)
	for range min(p.sleeping.Load(), int64(n-1)) {
		select {
		case p.wake <- struct{}{}:
		default: // as many are being woken already
		}
	}
	p.work()
	p.state.Add(^uint64(poolOpen - 1)) // minus poolOpen: nobody joins any more
	for looks := 0; ; looks++ {
		s := p.state.Load()
		if s%poolOpen == 0 {
			return
		}
		if !p.changes(s) {
			rest(looks)
		}
	}
}

// changes waits a moment for the state to be another than s, and tells whether it is.
func (p *Pool) changes(s uint64) bool {
	for range poolWatches {
		if p.state.Load() != s {
			return true
		}
	}
	return false
}

// rest lets other goroutines run; after many looks it sleeps a little.
func rest(looks int) {
	if looks < poolLooks {
		runtime.Gosched()
	} else {
		time.Sleep(20 * time.Microsecond)
	}
}

// work takes tasks until there are none.
func (p *Pool) work() {
	for i := int(p.next.Add(1)) - 1; i < p.n; i = int(p.next.Add(1)) - 1 {
		p.f(i)
	}
}

func (p *Pool) help() {
	seen := uint64(0) // phase that this helper was in
	for looks := 0; ; looks++ {
		s := p.state.Load()
		switch {
		case s&poolOpen != 0 && s/poolPhase != seen:
			if p.state.CompareAndSwap(s, s+1) {
				p.work()
				p.state.Add(^uint64(0)) // minus one
				seen, looks = s/poolPhase, 0
			}
		case looks < poolLooks:
			if !p.changes(s) {
				runtime.Gosched()
			}
		default:
			p.sleeping.Add(1)
			if s = p.state.Load(); s&poolOpen != 0 && s/poolPhase != seen {
				p.sleeping.Add(-1) // it began just now
				continue
			}
			_, more := <-p.wake
			p.sleeping.Add(-1)
			if !more {
				return
			}
			looks = 0
		}
	}
}
