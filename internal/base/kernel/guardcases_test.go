//go:build linux && (amd64 || arm64) && !purego

package kernel

import (
	"fmt"
	"unsafe"
)

// cases runs calls through check (see entryPoint).
type cases = func(check func(name string, call func(g *guards)))

func bytesOf[T any](n int) uintptr {
	var x T
	return uintptr(n) * unsafe.Sizeof(x)
}

func tiles[T Float](run func(*tile), s isa) cases {
	return func(check func(string, func(*guards))) {
		heights := map[isa][]int{avx512: {12, 8, 4, 2, 1}, avx2: {6, 4, 2, 1}, neon: {6, 4, 2, 1}}[s]
		for _, rows := range heights {
			for cols := 1; cols <= 2*lanes[T](s); cols++ {
				for k := range 6 {
					for variant := range 2 * 3 * 2 {
						relu, initial, trans := variant%2, variant/2%3, variant/6 == 1
						check(fmt.Sprintf("%d rows, %d columns, %d products, variant %d", rows, cols, k, variant), func(g *guards) {
							pad := g.rng.IntN(3)
							t := tile{k: uintptr(k), rows: uintptr(rows), cols: uintptr(cols), relu: uintptr(relu)}
							width := panelWidth[T](s, cols)
							if k > 0 {
								n, ld := extent(rows, k, k+pad), k+pad
								t.rs, t.ks = bytesOf[T](ld), bytesOf[T](1)
								if trans {
									n, ld = extent(k, rows, rows+pad), rows+pad
									t.rs, t.ks = bytesOf[T](1), bytesOf[T](ld)
								}
								t.a, t.b, t.bs = at(numbers[T](g, n), 0), at(numbers[T](g, k*width), 0), bytesOf[T](width)
							}
							t.cs = bytesOf[T](cols + pad)
							t.c = at(numbers[T](g, extent(rows, cols, cols+pad)), 0)
							switch initial {
							case 1:
								t.x, t.xs = t.c, t.cs
							case 2:
								t.x = at(numbers[T](g, cols), 0)
							}
							if relu == 1 {
								t.ahead = uintptr(t.c) // and what is behind it: no fetch fails
							} else if k > 0 { // the same products again
								again := place[Step](g, 2)
								clear(again)
								t.starts, t.steps = at(again, 0), bytesOf[Step](len(again))
							}
							run(&t)
						})
					}
				}
			}
		}
	}
}

func lines[T Float](run func(*line), s isa) cases {
	return func(check func(string, func(*guards))) {
		for _, panels := range []int{2, 4} {
			for k := 1; k < 6; k++ {
				for variant := range 4 {
					check(fmt.Sprintf("%d panels, %d products, variant %d", panels, k, variant), func(g *guards) {
						width := 2 * lanes[T](s)
						l := line{k: uintptr(k), panels: uintptr(panels), relu: uintptr(variant % 2), ps: bytesOf[T](k * width)}
						l.a, l.b = at(numbers[T](g, k), 0), at(numbers[T](g, panels*k*width), 0)
						l.c = at(place[T](g, panels*width), 0)
						if variant > 1 {
							l.x = at(numbers[T](g, panels*width), 0)
						}
						run(&l)
					})
				}
			}
		}
	}
}

func conversions[D, S Float](run func(*conversion)) cases {
	return func(check func(string, func(*guards))) {
		for n := 8; n <= 64; n += 8 {
			check(fmt.Sprintf("%d values", n), func(g *guards) {
				run(&conversion{dst: at(place[D](g, n), 0), src: at(numbers[S](g, n), 0), n: uintptr(n)})
			})
		}
	}
}

func packs[T Float](run func(*pack), s isa) cases {
	return func(check func(string, func(*guards))) {
		for rows := range 7 {
			for cols := 1; cols <= 2*lanes[T](s); cols++ {
				for _, weighted := range []bool{false, true} {
					if rows == 0 {
						continue
					}
					check(fmt.Sprintf("%d rows, %d columns, weights %t", rows, cols, weighted), func(g *guards) {
						ld := cols + g.rng.IntN(3)
						p := pack{rows: uintptr(rows), cols: uintptr(cols), ss: bytesOf[T](ld)}
						p.src, p.dst = at(numbers[T](g, extent(rows, cols, ld)), 0), at(place[T](g, rows*panelWidth[T](s, cols)), 0)
						if ds := panelWidth[T](s, cols) - g.rng.IntN(3); cols%2 == 0 { // rows that overlap
							p.ds = bytesOf[T](ds)
							p.dst = at(place[T](g, extent(rows, panelWidth[T](s, cols), ds)), 0)
						}
						if weighted {
							p.w = at(numbers[T](g, rows), 0)
						}
						run(&p)
					})
				}
			}
		}
	}
}

func loops[T Float](run func(*loop[T]), s isa) cases {
	two := map[operation]bool{opAdd: true, opSub: true, opMul: true, opDiv: true, opMax: true, opDot: true}
	return func(check func(string, func(*guards))) {
		for op := opAdd; op <= opDot; op++ {
			step := lanes[T](s)
			if op == opDot {
				step = sumLanes[T]()
			}
			for n := step; n <= 11*step; n += step {
				check(fmt.Sprintf("operation %d, %d values", op, n), func(g *guards) {
					l := loop[T]{a: at(numbers[T](g, n), 0), n: uintptr(n), op: op, scalar: 1.5}
					if two[op] {
						l.b = at(numbers[T](g, n), 0)
					}
					if op != opDot {
						l.dst = at(numbers[T](g, n), 0)
					}
					run(&l)
				})
			}
		}
	}
}

func functions[T Float](run func(*loop[T]), s isa) cases {
	return func(check func(string, func(*guards))) {
		for op := opExp; op <= lastFunction; op++ {
			if op == opXLogX && sizeOf[T]() == 4 {
				continue
			}
			for n := lanes[T](s); n <= 5*lanes[T](s); n += lanes[T](s) {
				check(fmt.Sprintf("operation %d, %d values", op, n), func(g *guards) {
					run(&loop[T]{dst: at(numbers[T](g, n), 0), a: at(numbers[T](g, n), 0), n: uintptr(n), op: op, scalar: 1.5})
				})
			}
		}
	}
}

func columns[T Float](run func(*column[T])) cases {
	return func(check func(string, func(*guards))) {
		for k := range 70 {
			for groups := range 4 { // 0: one row four times
				check(fmt.Sprintf("%d products, %d groups", k, groups), func(g *guards) {
					ld, rows := k+g.rng.IntN(3), 4*groups
					c := column[T]{k: uintptr(k), groups: uintptr(max(groups, 1)), bias: 1, least: least[T](k%2 == 0)}
					if groups == 0 {
						ld, rows = 0, 1
					}
					if k > 0 {
						c.rs = bytesOf[T](ld)
						c.a, c.w = at(numbers[T](g, extent(rows, k, ld)), 0), at(numbers[T](g, k), 0)
					}
					c.c = at(place[T](g, 4*max(groups, 1)), 0)
					run(&c)
				})
			}
		}
	}
}

func rankOnes[T Float](run func(*rankOne[T]), s isa) cases {
	return func(check func(string, func(*guards))) {
		n := lanes[T](s)
		for cols := 1; cols <= n+1; cols++ {
			for rows := 1; rows < 10; rows++ {
				for _, initial := range []bool{false, true} {
					check(fmt.Sprintf("%d rows, %d columns, initial values %t", rows, cols, initial), func(g *guards) {
						cols, width := cols, n
						if cols > n {
							cols, width = 4*n, 4*n
						}
						as, cs := 1+g.rng.IntN(3), cols+g.rng.IntN(3)
						r := rankOne[T]{as: bytesOf[T](as), cs: bytesOf[T](cs), rows: uintptr(rows), cols: uintptr(cols), least: least[T](rows%2 == 0)}
						r.a, r.w = at(numbers[T](g, extent(rows, 1, as)), 0), at(numbers[T](g, width), 0)
						r.c = at(place[T](g, extent(rows, cols, cs)), 0)
						if initial {
							r.x = at(numbers[T](g, cols), 0)
						}
						run(&r)
					})
				}
			}
		}
	}
}

func transposes[T Float](run func(*squares)) cases {
	side := lanes[T](avx2)
	return func(check func(string, func(*guards))) {
		for n := 1; n < 8; n++ {
			for pad := range 4 {
				check(fmt.Sprintf("%d squares, padding %d", n, pad), func(g *guards) {
					ss, ds := n*side+pad, side+pad
					run(&squares{
						src: at(numbers[T](g, extent(side, n*side, ss)), 0), ss: bytesOf[T](ss),
						dst: at(place[T](g, extent(n*side, side, ds)), 0), ds: bytesOf[T](ds), n: uintptr(n),
					})
				})
			}
		}
	}
}
