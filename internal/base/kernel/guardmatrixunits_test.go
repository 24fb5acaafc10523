//go:build linux && amd64 && !purego

package kernel

import (
	"fmt"
	"unsafe"
)

// matrixUnitPoints are the functions for matrix units: without these only those that split run.
func matrixUnitPoints() map[string]entryPoint {
	return map[string]entryPoint{
		"enabledStates": {avx2, func(check func(string, func(*guards))) {
			check("", func(g *guards) { enabledStates(&place[uint32](g, 1)[0]) })
		}},
		"splitTile":     {avx512, splits(splitTile, false)},
		"stackTile":     {avx512, splits(stackTile, true)},
		"unitBlock3":    {avx512, unitBlocks(unitBlock3, 3, 17)},
		"unitBlock3Low": {avx512, unitBlocks(unitBlock3Low, 3, 1)},
		"unitBlock1":    {avx512, unitBlocks(unitBlock1, 1, 17)},
		"unitBlock1Low": {avx512, unitBlocks(unitBlock1Low, 1, 1)},
	}
}

func splits(run func(*splitRows), stacked bool) cases {
	return func(check func(string, func(*guards))) {
		if !splitsHere() {
			return
		}
		for rows := 1; rows <= 32; rows += 5 {
			for _, cols := range []int{1, 5, 15, 16, 17, 31, 32, 33, 50} {
				if stacked && cols > stackedDepth {
					continue
				}
				check(fmt.Sprintf("%d rows of %d", rows, cols), func(g *guards) {
					chunks := (cols + chunkDepth - 1) / chunkDepth
					r := splitRows{step: 64, chunk: 3 * partBytes, rows: uintptr(rows), cols: uintptr(cols)}
					size := (chunks-1)*3*partBytes + 2*partBytes + rows*64
					if stacked {
						chunks = (cols*stackedParts + chunkDepth - 1) / chunkDepth
						r.step, r.chunk = uintptr(64*chunks), uintptr(64*chunks)
						size = rows * 64 * chunks
					}
					ss := cols + g.rng.IntN(3)
					r.dst, r.src, r.ss = at(numbers[float32](g, size/4), 0), at(numbers[float32](g, extent(rows, cols, ss)), 0), bytesOf[float32](ss)
					r.largest = unsafe.Pointer(&place[uint32](g, rows)[0])
					run(&r)
				})
			}
		}
	}
}

func unitBlocks(run func(*unitBlock), parts, least int) cases {
	return func(check func(string, func(*guards))) {
		if !matrixUnits() {
			return
		}
		for rows := least; rows < least+16; rows += 5 {
			for _, cols := range []int{1, 16, 17, 32, 33, 47} {
				check(fmt.Sprintf("%d rows, %d columns", rows, cols), func(g *guards) {
					const chunks = 2
					tall, panels := (rows+15)/16, (cols+unitCols-1)/unitCols
					cs := cols + g.rng.IntN(3)
					config := place[[64]byte](g, 1)
					config[0] = *tileShapes()
					u := unitBlock{
						config: unsafe.Pointer(&config[0]),
						a:      at(numbers[float32](g, ((chunks*parts-1)*partBytes+tall*tileBytes)/4), 0), rowTile: tileBytes, stride: 64,
						chunk: uintptr(parts * partBytes),
						b:     at(numbers[float32](g, panels*chunks*2*parts*tileBytes/4), 0), chunks: chunks, panels: uintptr(panels),
						bias: at(numbers[float32](g, cols), 0), biasStep: 4 * unitCols,
						c: at(numbers[float32](g, extent(rows, cols, cs)), 0), cs: bytesOf[float32](cs), rows: uintptr(rows), cols: uintptr(cols),
						sums: at(numbers[float32](g, tall*16*unitCols), 0), quota: 6,
					}
					if tall == 2 && parts == 3 && g.rng.IntN(2) == 0 {
						next, k, ss := 1+g.rng.IntN(unitRows), 33+g.rng.IntN(31), 64
						u.next = splitRows{
							dst: at(numbers[float32](g, (5*partBytes+next*64)/4), 0), step: 64, chunk: 3 * partBytes,
							src: at(numbers[float32](g, extent(next, k, ss)), 0), ss: bytesOf[float32](ss), rows: uintptr(next), cols: uintptr(k),
							largest: unsafe.Pointer(&place[uint32](g, next)[0]),
						}
					}
					run(&u)
				})
			}
		}
	}
}
