//go:build linux && (amd64 || arm64) && !purego

package kernel

import "fmt"

// lookUpSums are cases of the assembly of LookUpSum.
func lookUpSums[T Float](run func(*lookUpSum), s isa) cases {
	return func(check func(string, func(*guards))) {
		for bytes := uintptr(lookUpSumLine); bytes <= longestPiece(s); bytes *= 2 {
			for variant := range 12 { // 1 to 4 sums of 1 to 3 rows
				n, count := 1+variant%4, 1+variant/4
				check(fmt.Sprintf("%d sums of %d rows of %d bytes", n, count, bytes), func(g *guards) {
					const size = 3
					w := int(bytes) / sizeOf[T]()
					ts, ds := w+g.rng.IntN(3), w+g.rng.IntN(3)
					index := place[int32](g, n*count)
					for i := range index {
						index[i] = int32(g.rng.IntN(size+2) - 1) // and one outside on either side
						if g.rng.IntN(2) == 0 {
							index[i] = int32(g.rng.IntN(size))
						}
					}
					run(&lookUpSum{
						dst: at(place[T](g, extent(n, w, ds)), 0), ds: bytesOf[T](ds), table: at(numbers[T](g, extent(size, w, ts)), 0), ts: bytesOf[T](ts),
						size: size, index: at(index, 0), count: uintptr(count), n: uintptr(n), bytes: bytes,
					})
				})
			}
		}
	}
}
