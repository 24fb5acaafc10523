//go:build linux && (amd64 || arm64) && !purego

package kernel

import "fmt"

// rowSumsOf are cases of the assembly of RowDots and RowSizes.
func rowSumsOf(run func(*rowSums)) cases {
	return func(check func(string, func(*guards))) {
		for n := 4; n < 12; n += 4 {
			for q := 1; q < 19; q++ {
				for _, indexed := range []bool{false, true} {
					check(fmt.Sprintf("%d rows of %d, indexed: %v", n, q, indexed), func(g *guards) {
						rs, bs := q+g.rng.IntN(3), q+g.rng.IntN(3)
						r := &rowSums{
							a: at(numbers[float64](g, extent(n, q, rs)), 0), rs: bytesOf[float64](rs), k: uintptr(q),
							b: at(numbers[float64](g, extent(n, q, bs)), 0), bs: bytesOf[float64](bs),
							c: at(place[float64](g, n), 0), groups: uintptr(n / 4),
						}
						if indexed {
							rows := place[int32](g, n)
							for i := range rows {
								rows[i] = int32(g.rng.IntN(n))
							}
							r.index = index(rows)
						}
						run(r)
					})
				}
			}
		}
	}
}
