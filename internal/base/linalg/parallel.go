package linalg

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls f for 0 to n-1, several at the same time. What f does for one must not depend on
// another.
func Each(n int, f func(i int)) {
	parallel(n, math.MaxInt, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}

// parallel calls f with parts of 0:n, at the same time if all of them take many
// multiplications. What f does for one of the n must not depend on where a part ends,
// so that no result depends on the number of processors.
func parallel(n, multiplications int, f func(lo, hi int)) {
	workers := min(processors(multiplications), n)
	if workers < 2 {
		if n > 0 {
			f(0, n)
		}
		return
	}
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(i, i+1)
		}
	}
	var others sync.WaitGroup
	for range workers - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

// processors are as many as have enough to do.
func processors(multiplications int) int {
	const worthwhile = 1 << 21 // next to it, waking a processor takes no time
	return max(1, min(runtime.GOMAXPROCS(0), multiplications/worthwhile))
}

// pool lends out memory again that was given back; the zero value is ready.
type pool struct{ free sync.Pool }

// get is memory for n numbers, whatever is in it.
func (p *pool) get(n int) []float64 {
	if v, ok := p.free.Get().(*[]float64); ok && cap(*v) >= n {
		return (*v)[:n]
	}
	return make([]float64, n)
}

func (p *pool) put(v []float64) { p.free.Put(&v) }
