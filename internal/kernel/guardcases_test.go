//go:build linux && amd64 && !purego

package kernel

import (
	"fmt"
	"maps"
	"unsafe"
)

// entryPoints are the functions of the assembly by name, with the shapes that their
// argument types allow.
func entryPoints() map[string]entryPoint {
	points := map[string]entryPoint{
		"transpose4": {avx2, transposes(transpose4, 4)},
		"transpose8": {avx2, transposes8},

		"bandOuterAVX512":  {avx512, outers(bandOuterAVX512)},
		"bandOuterAVX2":    {avx2, outers(bandOuterAVX2)},
		"bandScaleAVX512":  {avx512, scales(bandScaleAVX512)},
		"bandScaleAVX2":    {avx2, scales(bandScaleAVX2)},
		"bandFoldAVX2":     {avx2, folds},
		"bandNormAVX2":     {avx2, norms},
		"bandSplineAVX512": {avx512, splinesOf(bandSplineAVX512, avx512)},
		"bandSplineAVX2":   {avx2, splinesOf(bandSplineAVX2, avx2)},
		"boundsAVX2":       {avx2, boundsOf},
		"bandMulAVX2":      {avx2, bandMuls},
		"bilinearAVX2":     {avx2, bilinears},
		"scatterAVX512":    {avx512, scatters(scatterAVX512)},
		"scatterAVX2":      {avx2, scatters(scatterAVX2)},
		"scatterBandAVX2":  {avx2, scatterBands},

		"toFloat32AVX2": {avx2, conversions[float32, float64](toFloat32AVX2)},
		"toFloat64AVX2": {avx2, conversions[float64, float32](toFloat64AVX2)},
		"roundAVX2":     {avx2, conversions[float64, float64](roundAVX2)},
	}
	precision := func(name string, of map[string]entryPoint) {
		for k, p := range of {
			points[name+k] = p
		}
	}
	precision("tile", map[string]entryPoint{
		"F64AVX512": {avx512, tiles[float64](tileF64AVX512, avx512)}, "F32AVX512": {avx512, tiles[float32](tileF32AVX512, avx512)},
		"F64AVX2": {avx2, tiles[float64](tileF64AVX2, avx2)}, "F32AVX2": {avx2, tiles[float32](tileF32AVX2, avx2)},
	})
	precision("line", map[string]entryPoint{
		"F64AVX512": {avx512, lines[float64](lineF64AVX512, avx512)}, "F32AVX512": {avx512, lines[float32](lineF32AVX512, avx512)},
		"F64AVX2": {avx2, lines[float64](lineF64AVX2, avx2)}, "F32AVX2": {avx2, lines[float32](lineF32AVX2, avx2)},
	})
	precision("pack", map[string]entryPoint{
		"F64AVX512": {avx512, packs[float64](packF64AVX512, avx512)}, "F32AVX512": {avx512, packs[float32](packF32AVX512, avx512)},
		"F64AVX2": {avx2, packs[float64](packF64AVX2, avx2)}, "F32AVX2": {avx2, packs[float32](packF32AVX2, avx2)},
	})
	precision("loop", map[string]entryPoint{
		"F64AVX512": {avx512, loops(loopF64AVX512, avx512)}, "F32AVX512": {avx512, loops(loopF32AVX512, avx512)},
		"F64AVX2": {avx2, loops(loopF64AVX2, avx2)}, "F32AVX2": {avx2, loops(loopF32AVX2, avx2)},
	})
	precision("function", map[string]entryPoint{
		"F64AVX512": {avx512, functions(functionF64AVX512, avx512)}, "F32AVX512": {avx512, functions(functionF32AVX512, avx512)},
		"F64AVX2": {avx2, functions(functionF64AVX2, avx2)}, "F32AVX2": {avx2, functions(functionF32AVX2, avx2)},
	})
	precision("column", map[string]entryPoint{
		"F64AVX512": {avx512, columns(columnF64AVX512)}, "F32AVX512": {avx512, columns(columnF32AVX512)},
		"F64AVX2": {avx2, columns(columnF64AVX2)}, "F32AVX2": {avx2, columns(columnF32AVX2)},
	})
	precision("rankOne", map[string]entryPoint{
		"F64AVX512": {avx512, rankOnes(rankOneF64AVX512, avx512)}, "F32AVX512": {avx512, rankOnes(rankOneF32AVX512, avx512)},
		"F64AVX2": {avx2, rankOnes(rankOneF64AVX2, avx2)}, "F32AVX2": {avx2, rankOnes(rankOneF32AVX2, avx2)},
	})
	maps.Copy(points, map[string]entryPoint{
		"adamF64AVX2": {avx2, adams(adamF64AVX2, avx2)}, "adamF32AVX2": {avx2, adams(adamF32AVX2, avx2)},
		"adamF64AVX512": {avx512, adams(adamF64AVX512, avx512)}, "adamF32AVX512": {avx512, adams(adamF32AVX512, avx512)},
		"reluGradF64AVX2": {avx2, reluGrads(reluGradF64AVX2)}, "reluGradF32AVX2": {avx2, reluGrads(reluGradF32AVX2)},
		"gradRowsF64AVX2": {avx2, gradRowsCases[float64](gradRowsF64AVX2)}, "gradRowsF32AVX2": {avx2, gradRowsCases[float32](gradRowsF32AVX2)},
	})
	maps.Copy(points, unitPoints())
	return points
}

// cases runs calls through check (see entryPoint).
type cases = func(check func(name string, call func(g *guards)))

func bytesOf[T any](n int) uintptr {
	var x T
	return uintptr(n) * unsafe.Sizeof(x)
}

func tiles[T Float](run func(*tile), s isa) cases {
	return func(check func(string, func(*guards))) {
		heights := map[isa][]int{avx512: {12, 8, 4, 2, 1}, avx2: {6, 4, 2, 1}}[s]
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
	two := map[operation]bool{opAdd: true, opSub: true, opMul: true, opDiv: true, opDot: true}
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

func transposes(run func(*squares), side int) cases {
	return transposesOf[float64](run, side)
}

func transposes8(check func(string, func(*guards))) { transposesOf[float32](transpose8, 8)(check) }

func transposesOf[T Float](run func(*squares), side int) cases {
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
