package linalg

import (
	"runtime"
	"sync/atomic"
	"time"
)

// team is goroutines that work on one short region after another. They wait for the next one
// without sleeping, since to wake a processor takes as long as a million multiplications.
// The zero value works alone.
type team struct {
	others int
	now    atomic.Pointer[region]
}

// region is calls of f for 0 to n-1, of which each member of a team takes the next that none has taken.
type region struct {
	n          int64
	f          func(i int)
	next, done atomic.Int64
}

func (r *region) work() {
	for i := r.next.Add(1) - 1; i < r.n; i = r.next.Add(1) - 1 {
		r.f(int(i))
		r.done.Add(1)
	}
}

// newTeam is for regions of so many multiplications in all; end it.
func newTeam(multiplications int) *team {
	t := &team{others: processors(multiplications) - 1}
	if t.others > 0 {
		t.now.Store(new(region))
	}
	for range t.others {
		go t.help()
	}
	return t
}

// end lets the goroutines end.
func (t *team) end() { t.now.Store(nil) }

func (t *team) help() {
	var last *region
	var idle wait
	for r := t.now.Load(); r != nil; r = t.now.Load() {
		if r == last {
			idle.more()
			continue
		}
		last, idle = r, wait{}
		r.work()
	}
}

// each calls f for 0 to n-1, at the same time if all of them take many multiplications. What f
// does for one must not depend on another.
func (t *team) each(n, multiplications int, f func(i int)) {
	const worthwhile = 1 << 17
	if t.others < 1 || n < 2 || multiplications < worthwhile {
		for i := range n {
			f(i)
		}
		return
	}
	r := &region{n: int64(n), f: f}
	t.now.Store(r)
	r.work()
	var idle wait
	for r.done.Load() < r.n {
		idle.more()
	}
}

// columns calls f with columns lo:hi, so many at once. The last ones, of which a triangle has
// most rows, come first.
func (t *team) columns(lo, hi, atOnce, multiplications int, f func(from, to int)) {
	n := (hi - lo + atOnce - 1) / atOnce
	t.each(n, multiplications, func(i int) {
		k := n - 1 - i
		f(lo+k*atOnce, min(lo+(k+1)*atOnce, hi))
	})
}

// wait is the time that was waited: little is spent where what is waited for is about to come,
// and the processor is left to others where it is not.
type wait struct{ rounds int }

func (w *wait) more() {
	const looks, short = 50, 20000
	switch w.rounds++; {
	case w.rounds > short:
		time.Sleep(50 * time.Microsecond)
	case w.rounds%looks == 0:
		runtime.Gosched()
	}
}
