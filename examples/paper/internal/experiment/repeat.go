package experiment

import (
	"context"
	"math/rand/v2"
	"sync"
)

// Repeat runs f for repetitions 0..n-1, e.Workers at a time, and returns their
// results in that order. Each repetition has a generator that depends on e.Seed,
// stream and its number only: give every setting of an experiment a stream of its
// own, or the same one if settings are to be compared on equal data. The error is
// that of the first repetition that failed; the others are not started.
func Repeat[T any](ctx context.Context, e *Experiment, stream uint64, n int, f func(ctx context.Context, i int, rng *rand.Rand) (T, error)) ([]T, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results, errs := make([]T, n), make([]error, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(1, e.Workers) {
		wg.Go(func() {
			for i := range next {
				rng := rand.New(rand.NewPCG(e.Seed<<32^stream, uint64(i)))
				if results[i], errs[i] = f(ctx, i, rng); errs[i] != nil {
					cancel()
				}
			}
		})
	}
	started := 0
	for ; started < n && ctx.Err() == nil; started++ {
		next <- started
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil && ctx.Err() != err {
			return nil, err
		}
	}
	if started < n {
		return nil, ctx.Err()
	}
	return results, nil
}
