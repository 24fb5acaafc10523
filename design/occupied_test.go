package design_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// TestProductsOfLevels: products of smooths by levels, without the rows of other levels, are those of all rows.
func TestProductsOfLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 63, 200} {
		all := quadraticBases(r, n)
		w := make([]float64, n)
		for i := range w {
			w[i] = 0.5 + r.Float64()
		}
		arranged := make([]design.Columns, len(all))
		for a, x := range all {
			arranged[a] = x
			if x, ok := x.(*design.Banded); ok {
				own := &design.Banded{D: x.D, K: x.K, Cyclic: x.Cyclic, First: x.First, Value: x.Value}
				own.Arrange()
				arranged[a] = own
			}
		}
		var work design.Work
		for a := range all {
			for b := range all {
				for _, w := range [][]float64{nil, w} {
					_, rows := all[a].Dims()
					_, cols := all[b].Dims()
					got, want := mat.NewDense(rows, cols, nil), mat.NewDense(rows, cols, nil)
					if err := work.AddCross(got, arranged[a], arranged[b], w); err != nil {
						t.Fatal(err)
					}
					if err := work.AddCross(want, all[a], all[b], w); err != nil {
						t.Fatal(err)
					}
					if !mat.Equal(got, want) {
						t.Fatalf("%d rows: %T %d and %T %d: other products than those of all rows", n, all[a], a, all[b], b)
					}
				}
			}
		}
	}
}
