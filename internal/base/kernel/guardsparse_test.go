//go:build linux && amd64 && !purego

package kernel

import (
	"fmt"
	"math/bits"
)

// sparses are cases of the assembly of so many panels of two vectors, and rows at once.
func sparses[T Float](run func(*sparse), panels, once int, s isa) cases {
	return func(check func(string, func(*guards))) {
		width := 2 * lanes[T](s)
		for rows := once; rows <= 3*once; rows += once {
			for _, k := range []int{1, 2, 7, sparseChunk} {
				for variant := range 2 * 2 * 3 {
					relu, last, initial := variant%2, variant/2%2, variant/4
					check(fmt.Sprintf("%d rows of %d, variant %d", rows, k, variant), func(g *guards) {
						pad, between := g.rng.IntN(3), g.rng.IntN(3)
						masks := place[uint64](g, extent(rows, 1, 1+pad))
						for i := range masks {
							masks[i] = g.rng.Uint64() >> (64 - k)
						}
						p := sparse{rows: uintptr(rows), relu: uintptr(relu), last: uintptr(last)}
						p.a, p.rs = at(numbers[T](g, extent(rows, k, k+pad)), 0), bytesOf[T](k+pad)
						p.mask, p.ms = at(masks, 0), bytesOf[uint64](1+pad)
						p.b, p.bs = at(numbers[T](g, extent(panels, k*width, k*width+between)), 0), bytesOf[T](k*width+between)
						p.c, p.cs = at(numbers[T](g, extent(rows, panels*width, panels*width+pad)), 0), bytesOf[T](panels*width+pad)
						switch initial {
						case 1:
							p.x, p.xs = p.c, p.cs
						case 2:
							p.x = at(numbers[T](g, panels*width), 0)
						}
						if run(&p); p.x != nil {
							panic("a pointer that moved is left, perhaps behind its memory")
						}
					})
				}
			}
		}
	}
}

// nonzerosOf are cases that must have the bits of plain Go.
func nonzerosOf[T Float](run func(*nonzeros)) cases {
	return func(check func(string, func(*guards))) {
		for rows := 1; rows < 4; rows++ {
			for k := 1; k <= sparseChunk+2; k++ {
				check(fmt.Sprintf("%d rows of %d", rows, k), func(g *guards) {
					pad, each := g.rng.IntN(3), (k+7)/8
					a, masks := numbers[T](g, extent(rows, k, k+pad)), place[byte](g, rows*(each+each%2))
					clear(masks)
					a[g.rng.IntN(len(a))] = 0
					n := nonzeros{a: at(a, 0), rs: bytesOf[T](k + pad), rows: uintptr(rows), k: uintptr(k), mask: at(masks, 0), ms: uintptr(each + each%2)}
					run(&n)
					have, want := 0, 0
					for _, m := range masks {
						have += bits.OnesCount8(m)
					}
					for i := range rows {
						for _, x := range a[i*(k+pad):][:k] {
							if x != 0 {
								want++
							}
						}
					}
					if have != want {
						panic(fmt.Sprintf("%d bits of %d", have, want))
					}
				})
			}
		}
	}
}
