package nam_test

import (
	"fmt"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// BenchmarkOrders solves one predictor with 417 columns, 300 of them of pairs, from its
// statistics, with and without orders of interaction, which cost no pass over the rows.
func BenchmarkOrders(b *testing.B) {
	m := &blackBox{3, func(x []float64) float64 { return x[0]*x[1] + x[2] }}
	tab := rows(b, 3000, 3, 0.3, 1)
	with := withFormula(b, m, tab, `~ s(x0, bs="cr", k=40) + s(x1, bs="cr", k=40) + s(x2, bs="cr", k=40) + te(x0, x1, k=10) + te(x1, x2, k=10) + te(x0, x2, k=10)`)
	stats, err := decompose.Accumulate(b.Context(), with, tab, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, orders := range []bool{false, true} {
		b.Run(fmt.Sprint("orders=", orders), func(b *testing.B) {
			for b.Loop() {
				o := &decompose.Options{Orders: orders, Projection: decompose.Projection{Method: decompose.PHO}}
				if _, err := decompose.Solve(b.Context(), with, stats, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
