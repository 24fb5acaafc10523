package kernel

import "sync"

// Sizes of the blocks of a product whose operands the caches do not hold. A block of B, blockDepth
// rows of blockColumns columns, stays in the second cache while blocks of A of blockRows columns
// pass by; of these, one tile's columns stay in the first.
const (
	blockDepth   = 256
	blockColumns = 256
	blockRows    = 48
)

// inBlocks tells whether A and B are copied by blocks. Else A passes by once for each tile's columns
// of B: too much for the second cache, from pages of memory that are too many.
func inBlocks(p, q, n int) bool {
	const held = 1 << 15 // numbers of A that the caches hold
	return min(n, kBlock)*p > held && q >= 64
}

// blockMemory is memory for copies, between products.
var blockMemory sync.Pool // of *[]float64

// crossBlocks is crossTiles by blocks that are copied: the same chains of sums in the same order,
// hence the same bits. If upper, tiles below the diagonal are left out, but some of what is below it is
// written.
func crossBlocks(s isa, c []float64, ldc int, a []float64, lda, p int, b []float64, ldb, q, n int, w []float64, upper bool) {
	const size = 8
	nr := 2 * lanes[float64](s)
	pieces := (n + blockDepth - 1) / blockDepth
	depth := (n + pieces - 1) / pieces
	width := (min(q, blockColumns) + nr - 1) / nr * nr
	memory, ok := blockMemory.Get().(*[]float64)
	if !ok || len(*memory) < depth*(width+blockRows)+nr {
		own := aligned[float64](depth*(width+blockRows) + nr)
		memory = &own
	}
	defer blockMemory.Put(memory)
	ofB, ofA := (*memory)[:depth*width], (*memory)[depth*width:]
	t := tile{rs: size, bs: uintptr(nr * size), cs: uintptr(ldc) * size, xs: uintptr(ldc) * size}
	for j := 0; j < q; j += blockColumns {
		columns := min(blockColumns, q-j)
		rows := p
		if upper {
			rows = min(p, j+columns)
		}
		for i := 0; i < n; i += depth {
			t.k = uintptr(min(depth, n-i))
			t.by = (blockRows*size+64)/t.k + 1
			for l := 0; l < columns; l += nr {
				runPack[float64](s, &pack{
					dst: at(ofB, l*depth), ds: t.bs, src: at(b, i*ldb+j+l), ss: uintptr(ldb) * size,
					rows: t.k, cols: uintptr(min(nr, columns-l)), w: at(w, i),
				})
			}
			for first := 0; first < rows; first += blockRows {
				end := min(first+blockRows, rows)
				packHeights(s, ofA, depth, a[i*lda+first:], lda, int(t.k), end-first)
				row := 0 // of the next block of A, which is fetched meanwhile
				for m := first; m < end; m += int(t.rows) {
					h := s.height(end - m)
					t.a, t.ks, t.rows = at(ofA, (m-first)*depth), uintptr(h*size), uintptr(h)
					l := 0
					if upper {
						l = max(0, m-j) / nr * nr
					}
					for ; l < columns; l += nr {
						t.b, t.cols = at(ofB, l*depth), uintptr(min(nr, columns-l))
						t.c = at(c, m*ldc+j+l)
						t.x = t.c
						t.ahead = 0
						if h >= fetchingHeight && end < rows && row < int(t.k) {
							t.ahead = uintptr(at(a, (i+row)*lda+end))
							row++
						}
						runTile[float64](s, &t)
					}
				}
			}
		}
	}
}

// packHeights copies columns of a, k rows of it, as tiles read them that are as high as the instruction
// set has them: those of one, row by row, follow those of another, depth rows being kept for each.
func packHeights(s isa, dst []float64, depth int, a []float64, lda, k, columns int) {
	const size = 8
	for m := 0; m < columns; {
		h := s.height(columns - m)
		runPack[float64](s, &pack{
			dst: at(dst, m*depth), ds: uintptr(h * size), src: at(a, m), ss: uintptr(lda) * size,
			rows: uintptr(k), cols: uintptr(h),
		})
		m += h
	}
}
