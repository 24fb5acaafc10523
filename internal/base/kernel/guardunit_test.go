//go:build linux && (amd64 || arm64) && !purego

package kernel

import (
	"fmt"
	"unsafe"
)

// Cases of the entry points of what training goes through.

func unitTiles[T Float](run func(*unitTile), s isa) cases {
	return func(check func(string, func(*guards))) {
		for _, rows := range map[isa][]int{avx512: {12, 8, 4, 2, 1}, avx2: {6, 4, 2, 1}, neon: {6, 4, 2, 1}}[s] {
			for _, cols := range []int{1, 2, 4} {
				if cols == 4 && rows > 2 {
					continue
				}
				for variant := range 3 * 2 * 2 * 5 {
					initial, trans, strips, k := variant%3, variant/3%2 == 1, 1+variant/6%2, variant/12
					check(fmt.Sprintf("%d tiles of %d rows, %d vectors, %d products, initial %d, transposed %t", strips, rows, cols, k, initial, trans), func(g *guards) {
						all, width, pad := rows*strips, cols*lanes[T](s), g.rng.IntN(3)
						t := unitTile{k: uintptr(k), rows: uintptr(rows), cols: uintptr(cols), strips: uintptr(strips), relu: bit(pad == 1)}
						if k > 0 {
							n, rs, ks := extent(all, k, k+pad), k+pad, 1
							if trans {
								n, rs, ks = extent(k, all, all+pad), 1, all+pad
							}
							t.rs, t.ks = bytesOf[T](rs), bytesOf[T](ks)
							t.a, t.b, t.bs = at(numbers[T](g, n), 0), at(numbers[T](g, extent(k, width, width+pad)), 0), bytesOf[T](width+pad)
						}
						t.c, t.cs = at(numbers[T](g, extent(all, width, width+pad)), 0), bytesOf[T](width+pad)
						switch initial {
						case 1:
							t.add = 1
						case 2:
							t.bias = at(numbers[T](g, all), 0)
						}
						run(&t)
					})
				}
			}
		}
	}
}

func turns[T Float](run func(*turning)) cases {
	return func(check func(string, func(*guards))) {
		side := lanes[T](avx512)
		for n := 1; n < 6; n++ {
			for _, masked := range []bool{false, true} {
				check(fmt.Sprintf("%d squares, masked %t", n, masked), func(g *guards) {
					ss, ds := n*side+g.rng.IntN(3), side+g.rng.IntN(3)
					q := turning{src: at(numbers[T](g, extent(side, n*side, ss)), 0), ss: bytesOf[T](ss), ds: bytesOf[T](ds), n: uintptr(n)}
					q.dst = at(place[T](g, extent(n*side, side, ds)), 0)
					if masked {
						q.mask = at(numbers[T](g, extent(side, n*side, ss)), 0)
					}
					run(&q)
				})
			}
		}
	}
}

func unitDots[T Float](run func(*unitDot)) cases {
	return func(check func(string, func(*guards))) {
		side := lanes[T](avx512)
		for n := 1; n < 4; n++ {
			for blocks := 1; blocks < 4; blocks++ {
				check(fmt.Sprintf("%d vectors of rows, %d of units", n, blocks), func(g *guards) {
					ss := n*side + g.rng.IntN(3)
					run(&unitDot{
						src: at(numbers[T](g, extent(blocks*side, n*side, ss)), 0), ss: bytesOf[T](ss), with: at(numbers[T](g, n*side), 0), n: uintptr(n),
						sum: at(numbers[T](g, blocks*side), 0), blocks: uintptr(blocks),
					})
				})
			}
		}
	}
}

func oneInputs[T Float](run func(*unitDot)) cases {
	return func(check func(string, func(*guards))) {
		side := lanes[T](avx512)
		for n := 1; n < 4; n++ {
			for blocks := 1; blocks < 4; blocks++ {
				for _, masked := range []bool{false, true} {
					check(fmt.Sprintf("%d vectors of rows, %d of units, masked %t", n, blocks, masked), func(g *guards) {
						ss := n*side + g.rng.IntN(3)
						units := extent(blocks*side, n*side, ss)
						d := unitDot{
							src: at(numbers[T](g, units), 0), ss: bytesOf[T](ss), with: at(numbers[T](g, rowsOfDot+n*side), 0), n: uintptr(n),
							sum: at(numbers[T](g, blocks*side), 0), blocks: uintptr(blocks), sums: at(numbers[T](g, blocks*side), 0),
						}
						if masked {
							d.mask = at(numbers[T](g, units), 0)
						}
						run(&d)
					})
				}
			}
		}
	}
}

// prefetches reads numbers of rows; what it asks for may not even exist.
func prefetches(check func(string, func(*guards))) {
	for n := 1; n < 9; n++ {
		check(fmt.Sprintf("%d rows", n), func(g *guards) {
			rows := place[int](g, n)
			for i := range rows {
				rows[i] = g.rng.IntN(n)
			}
			runPrefetchRows(&prefetch{src: at(numbers[float32](g, n*5), 0), rows: unsafe.Pointer(&rows[0]), n: uintptr(n), bytes: 20})
		})
	}
}
