package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Rows come to the leaves that a walk from node to node ends at, and their sums are those of
// the trees in order, bit by bit, -0 among them.
func TestTrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		many, depth, columns, rows := 1+r.IntN(40), 1+r.IntN(MostTreeDepth), []int{1, 5, 32, 33, 100}[r.IntN(5)], 1+r.IntN(9)
		trees := NewTrees(many, depth, columns)
		if trees == nil {
			t.Skip("this processor does not walk down trees side by side")
		}
		inner := 1<<depth - 1
		thresholds, column, leaves := make([]float32, many*inner), make([]int, many*inner), make([]float64, many<<depth)
		for i := range thresholds {
			thresholds[i], column[i] = float32(math.Round(4*r.NormFloat64())/4), r.IntN(columns)
			trees.SetNode(i/inner, i%inner, thresholds[i], column[i])
		}
		for i := range leaves {
			leaves[i] = []float64{r.NormFloat64(), math.Copysign(0, -1)}[r.IntN(2)]
			trees.SetLeaf(i>>depth, i&inner, leaves[i])
		}
		x := make([]float32, rows*trees.Stride())
		for i := range x {
			x[i] = float32(math.Round(4*r.NormFloat64()) / 4)
		}
		got, rounded := make([]float64, rows), make([]float64, rows)
		fill(got, math.Copysign(0, -1))
		fill(rounded, math.Copysign(0, -1))
		trees.Sum(got, x)
		trees.SumRounded(rounded, x)
		for i := range rows {
			want, single := math.Copysign(0, -1), float32(math.Copysign(0, -1))
			for tree := range many {
				at := 0
				for at < inner {
					k := tree*inner + at
					if at = 2*at + 1; x[i*trees.Stride()+column[k]] > thresholds[k] {
						at++
					}
				}
				want += leaves[tree<<depth+at-inner]
				single += float32(leaves[tree<<depth+at-inner])
			}
			if math.Float64bits(rounded[i]) != math.Float64bits(float64(single)) {
				t.Fatalf("%d trees of depth %d, %d columns, row %d in float32: %v, want %v", many, depth, columns, i, rounded[i], single)
			}
			if math.Float64bits(got[i]) != math.Float64bits(want) {
				t.Fatalf("%d trees of depth %d, %d columns, row %d: %v, want %v", many, depth, columns, i, got[i], want)
			}
		}
	}
}
