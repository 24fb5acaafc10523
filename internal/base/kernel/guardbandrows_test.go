//go:build linux && (amd64 || arm64) && !purego

package kernel

import "fmt"

// bandRowsOf are cases of the assembly of MulBandRows.
func bandRowsOf(run func(*band)) cases {
	return func(check func(string, func(*guards))) {
		for n := 1; n < 5; n++ {
			for q := 1; q < 19; q++ {
				check(fmt.Sprintf("%d rows, %d columns", n, q), func(g *guards) {
					const starts = 3
					ldb, ldc := q+g.rng.IntN(3), q+g.rng.IntN(3)
					run(&band{
						c: at(place[float64](g, extent(n, q, ldc)), 0), ldc: bytesOf[float64](ldc), n: uintptr(n),
						row: index(indices(g, n, starts)), rows: starts, a: at(numbers[float64](g, Band*n), 0),
						cols: uintptr(q), b: at(numbers[float64](g, extent(starts+Band-1, q, ldb)), 0), ldb: bytesOf[float64](ldb),
					})
				})
			}
		}
	}
}
