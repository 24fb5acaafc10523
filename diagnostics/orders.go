package diagnostics

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
)

// shuffles is the number of random orders that the observed one is compared with.
const shuffles = 400

// streams is the number of sequences of random orders, each with numbers of its own,
// so that they can be drawn side by side and are the same on any machine.
const streams = 8

// randomOrders measures rows with residuals e in random orders: shuffles values for
// each way of being neighbours. Those of ways that are nil are the same. The orders
// depend on the seed and the number of rows alone. If ctx is done some are missing.
func randomOrders(ctx context.Context, seed uint64, e []float64, ways []neighbours) [][]float64 {
	values, successors := make([][]float64, len(ways)), make([]float64, shuffles)
	for w := range ways {
		values[w] = successors
		if ways[w] != nil {
			values[w] = make([]float64, shuffles)
		}
	}
	var all sync.WaitGroup
	for s := range streams {
		all.Go(func() {
			r := rand.NewPCG(seed, uint64(len(e))<<8|uint64(s))
			e := slices.Clone(e)
			for i := s; i < shuffles && ctx.Err() == nil; i += streams {
				shuffle(e, r) // a random order of a random order is one
				successors[i] = successive(e)
				for w := range ways {
					if ways[w] != nil {
						values[w][i] = ways[w].differences(e)
					}
				}
			}
		})
	}
	all.Wait()
	return values
}

// shuffle brings e in a random order (Fisher and Yates). Four places come from the
// digits of one random number, the first in base i+1, what is left of it in base i
// (Brackett-Rozinsky and Lemire 2024): with up to 2^13 rows no four places are more
// than 2^-12 of it likelier than others.
func shuffle(e []float64, r *rand.PCG) {
	var digits uint64
	for i := len(e) - 1; i > 0; i-- {
		if i%4 == 3 || i == len(e)-1 {
			digits = r.Uint64()
		}
		var j uint64
		j, digits = bits.Mul64(digits, uint64(i+1))
		e[i], e[j] = e[j], e[i]
	}
}
