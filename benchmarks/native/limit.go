package main

import (
	"time"

	"github.com/pho-go/pho/internal/base/kernel"
)

// shape is a network: groups of layers side by side, the sizes of each from inputs to
// output, and columns of splines beside them.
type shape struct {
	groups  int
	sizes   []int
	columns int
}

// limit is the least time in seconds that an epoch takes on one processor: its
// multiplications with an addition at the rate of a product, and Adam on every parameter
// after every batch, each on operands in the first cache. Nothing waits for memory; the rest
// of a step (activations, loss, rows in a new order, transposition) takes nothing.
func (s shape) limit(rows, batch int, double bool) float64 {
	if double {
		return limitOf[float64](s, rows, batch)
	}
	return limitOf[float32](s, rows, batch)
}

func limitOf[T kernel.Float](s shape, rows, batch int) float64 {
	products, parameters := 2*s.columns, s.columns+1
	for i, in := range s.sizes[:len(s.sizes)-1] {
		weights := s.groups * in * s.sizes[i+1]
		products += 3 * weights // forward, backward, their gradients
		parameters += weights
		if i == 0 {
			products -= weights // nobody asks for the gradient of the data
		}
		if i < len(s.sizes)-2 {
			parameters += s.groups * s.sizes[i+1]
		}
	}
	steps := (rows + batch - 1) / batch
	return float64(rows*products)*productTime[T]() + float64(steps*parameters)*adamTime[T]()
}

// productTime is what one multiplication with its addition takes, in seconds: the least of
// two products.
func productTime[T kernel.Float]() float64 {
	least := 1.0
	for _, units := range []int{64, 200} {
		const n = 64
		w := kernel.Matrix[T]{Data: make([]T, units*units), Rows: units, Cols: units, RowStep: 1, ColStep: units}
		x, y := kernel.Units[T](nil, units, n), kernel.Units[T](nil, units, n)
		least = min(least, fastest(func() { w.MulUnits(y, x, n, nil, false) })/float64(units*units*n))
	}
	return least
}

// adamTime is what Adam takes for one number, in seconds.
func adamTime[T kernel.Float]() float64 {
	const n = 1024
	v := make([]T, 4*n)
	for i := range v {
		v[i] = 1
	}
	return fastest(func() { kernel.AdamStep(v[:n], v[n:2*n], v[2*n:3*n], v[3*n:], 0.9, 0.999, 1e-3, 1e-8, 0) }) / n
}

// fastest is the least of many times that f takes, in seconds.
func fastest(f func()) float64 {
	const calls = 20
	least := time.Hour
	for range 500 {
		began := time.Now()
		for range calls {
			f()
		}
		least = min(least, time.Since(began))
	}
	return least.Seconds() / calls
}
