package columnar

import (
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"
)

// Parallel calls f for all of n columns, each of which is taken by the worker that comes first.
// The error is that of the first column that has one.
func Parallel(workers, n int, f func(worker, j int) error) error {
	faults := make([]error, n)
	var taken atomic.Int64
	work := func(worker int) {
		for j := int(taken.Add(1)) - 1; j < n; j = int(taken.Add(1)) - 1 {
			faults[j] = f(worker, j)
		}
	}
	var others sync.WaitGroup
	for w := 1; w < min(workers, n); w++ {
		others.Go(func() { work(w) })
	}
	work(0)
	others.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}

// Stride is how many rows of so many numbers to decode at a time, a multiple of those of a block: goroutines that
// meet often wait for each other.
func Stride(rows, numbers, workers int) int {
	const cells = 1 << 19 // 4 MB: of more, less is in the caches when somebody takes it
	if workers == 1 {
		return rows
	}
	return rows * max(1, min(16, cells/(rows*max(1, numbers))))
}

// Cut is rows i to j-1 of a block.
func (b *Block) Cut(i, j int) *Block {
	if i == 0 && j == b.Rows {
		return b
	}
	c := &Block{Rows: j - i, Values: make([]Values, len(b.Values))}
	for k := range b.Values {
		v, w := &b.Values[k], &c.Values[k]
		w.Levels, w.finite = v.Levels, v.finite
		if v.Numbers != nil {
			w.Numbers = v.Numbers[i:j:j]
		}
		if v.Tensor != nil {
			_, width := v.Tensor.Dims()
			w.Tensor = v.Tensor.Slice(i, j, 0, width).(*mat.Dense)
		}
		if v.Digits != nil {
			w.Digits = v.Digits[i:j:j]
		}
		if v.Codes != nil {
			w.Codes = v.Codes[i:j:j]
		}
		if v.Text != nil {
			w.Text = v.Text[i:j:j]
		}
		if f := v.Fault; f != nil && f.Row >= i && f.Row < j {
			own := *f
			own.Row -= i
			w.Fault = &own
		}
	}
	return c
}
