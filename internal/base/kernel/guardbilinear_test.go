//go:build linux && (amd64 || arm64) && !purego

package kernel

import "fmt"

// bilinears are cases of the assembly of AddBilinear.
func bilinears(check func(string, func(*guards))) {
	for n := 4; n < 24; n += 4 {
		for starts := 1; starts < 9; starts++ {
			check(fmt.Sprintf("%d rows, %d places", n, starts), func(g *guards) {
				const rows = 3
				q := starts + Band - 1
				ldc := q + g.rng.IntN(3)
				runBilinear(&band{
					c: at(numbers[float64](g, n), 0), n: uintptr(n), row: index(indices(g, n, rows)), rows: rows,
					a: at(numbers[float64](g, Band*n), 0), col: index(indices(g, n, starts)), cols: uintptr(starts),
					b: at(numbers[float64](g, Band*n), 0), ldb: bytesOf[float64](ldc),
					w: at(numbers[float64](g, extent(rows+Band-1, q, ldc)), 0),
				})
			})
		}
	}
}
