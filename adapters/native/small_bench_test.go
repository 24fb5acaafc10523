package native

import (
	"context"
	"testing"
)

// BenchmarkSmallFit is a fit of the paper's size from beginning to end: 500 rows, a
// net 20/20 beside two splines, 300 epochs of batches of 32 with early stopping off.
func BenchmarkSmallFit(b *testing.B) {
	tab := simulated(b, 500, 1)
	for b.Loop() {
		_, _, err := Train(context.Background(), Config{
			Structured: Structured{Formulas: []string{`y ~ s(x1, bs="ps", k=9) + s(x2, bs="ps", k=9)`}},
			Deep:       Deep{Columns: []string{"x1", "x2", "x3"}, Hidden: []int{20, 20}},
			Training:   Training{Epochs: 300, BatchSize: 32, Patience: -1, Workers: 1},
		}, tab)
		if err != nil {
			b.Fatal(err)
		}
	}
}
