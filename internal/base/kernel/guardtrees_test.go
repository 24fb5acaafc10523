//go:build linux && amd64 && !purego

package kernel

import (
	"fmt"
	"math"
)

// treeWalks are cases of the assembly of Trees.
func treeWalks(run func(*treeWalk), columns ...int) cases {
	return func(check func(string, func(*guards))) {
		for depth := 1; depth <= MostTreeDepth; depth++ {
			for variant := range 4 * len(columns) {
				groups, rows, columns := 1+variant%2, 1+variant/2%2, columns[variant/4]
				check(fmt.Sprintf("depth %d, %d groups, %d rows of %d columns", depth, groups, rows, columns), func(g *guards) {
					inner := 1<<depth - 1
					nodes := numbers[float32](g, groups*inner*2*treesBeside)
					for i := range nodes {
						if i/treesBeside%2 == 1 {
							nodes[i] = math.Float32frombits(uint32(g.rng.IntN(columns)))
						}
					}
					run(&treeWalk{
						x: at(numbers[float32](g, rows*columns), 0), stride: bytesOf[float32](columns), rows: uintptr(rows),
						sums: at(numbers[float64](g, rows), 0), nodes: at(nodes, 0),
						leaves: at(numbers[float64](g, groups*treesBeside<<depth), 0), groups: uintptr(groups), depth: uintptr(depth),
					})
				})
			}
		}
	}
}

// lookUpCases are cases of the assembly of LookUp.
func lookUpCases(check func(string, func(*guards))) {
	for w := 1; w <= longLookup/4; w++ {
		for n := 1; n < 5; n++ {
			check(fmt.Sprintf("%d rows of %d", n, w), func(g *guards) {
				const size = 3
				step, stride := 1+g.rng.IntN(2), w+g.rng.IntN(3)
				index := place[int64](g, extent(n, 1, step))
				for i := range index {
					index[i] = int64(g.rng.IntN(2*size+1) - size) // and one outside
				}
				l := lookup{
					dst: at(place[float32](g, extent(n, w, stride)), 0), ds: bytesOf[float32](stride), table: at(numbers[float32](g, size*w), 0),
					bytes: bytesOf[float32](w), size: size, index: at(index, 0), is: bytesOf[int64](step), n: uintptr(n),
				}
				runLookUp(&l)
			})
		}
	}
}
