package kernel

import "sync"

// Sizes of the blocks of a product whose operands the caches do not hold. A block of B, up to kBlock
// rows of blockColumns columns, stays in the second cache while blocks of A of blockRows columns
// pass by; of these, one tile's columns stay in the first.
const (
	blockColumns = 256
	blockRows    = 48
)

// inBlocks tells whether A and B are copied by blocks. Else A passes by once for each tile's columns
// of B: too much for the second cache, from pages of memory that are too many, or that share lines of the cache.
func inBlocks(p, q, n, lda int) bool {
	held := 1 << 15 // numbers of A that the caches hold
	if lda*8%pageOfLines == 0 {
		held /= 2
	}
	return min(n, crossRows)*p > held && q >= 64
}

// blockMemory is memory for copies, between products.
var blockMemory sync.Pool // of *[]float64

// copies are of a block of A and of one of B, as tiles read them: depth rows of one tile's columns
// follow those of another.
type copies struct {
	isa
	depth int
	a, b  []float64
}

// crossBlocks is crossTiles by blocks that are copied: the same chains of sums in the same order,
// hence the same bits. If upper, tiles below the diagonal are left out, but some of what is below it is
// written.
func crossBlocks(s isa, c []float64, ldc int, a []float64, lda, p int, b []float64, ldb, q, n int, w []float64, upper bool) {
	nr := 2 * lanes[float64](s)
	depth, width := kStep(n), (min(q, blockColumns)+nr-1)/nr*nr
	memory, ok := blockMemory.Get().(*[]float64)
	if !ok || len(*memory) < depth*(width+blockRows)+nr {
		own := aligned[float64](depth*(width+blockRows) + nr)
		memory = &own
	}
	defer blockMemory.Put(memory)
	block := copies{s, depth, (*memory)[depth*width:], (*memory)[:depth*width]}
	for j := 0; j < q; j += blockColumns {
		columns, rows := min(blockColumns, q-j), p
		if upper {
			rows = min(p, j+columns)
		}
		for i := 0; i < n; i += depth {
			k := min(depth, n-i)
			block.copyB(b[i*ldb+j:], ldb, k, columns, w, i)
			for m := 0; m < rows; m += blockRows {
				height, diagonal := min(blockRows, rows-m), -blockRows
				block.copyA(a[i*lda+m:], lda, k, height)
				if upper {
					diagonal = m - j
				}
				var next []float64
				if m+height < rows {
					next = a[i*lda+m+height:]
				}
				block.add(c[m*ldc+j:], ldc, k, height, diagonal, columns, next, lda)
			}
		}
	}
}

// copyB copies k rows of b, times the weights from w[i] on, by columns of tiles.
func (o *copies) copyB(b []float64, ldb, k, columns int, w []float64, i int) {
	const size = 8
	nr := 2 * lanes[float64](o.isa)
	for l := 0; l < columns; l += nr {
		runPack[float64](o.isa, &pack{
			dst: at(o.b, l*o.depth), ds: uintptr(nr * size), src: at(b, l), ss: uintptr(ldb) * size,
			rows: uintptr(k), cols: uintptr(min(nr, columns-l)), w: at(w, i),
		})
	}
}

// copyA copies k rows of a, by columns as many as tiles are high.
func (o *copies) copyA(a []float64, lda, k, columns int) {
	const size = 8
	for m := 0; m < columns; {
		h := o.height(columns - m)
		runPack[float64](o.isa, &pack{
			dst: at(o.a, m*o.depth), ds: uintptr(h * size), src: at(a, m), ss: uintptr(lda) * size,
			rows: uintptr(k), cols: uintptr(h),
		})
		m += h
	}
}

// add adds what the copies make, over k rows, to rows rows of c: to its columns up to columns, in row i without
// tiles before column diagonal + i. Meanwhile rows of next, the block of A that is copied next, are fetched.
func (o *copies) add(c []float64, ldc, k, rows, diagonal, columns int, next []float64, lda int) {
	const size = 8
	nr := 2 * lanes[float64](o.isa)
	t := tile{
		rs: size, bs: uintptr(nr * size), k: uintptr(k), cs: uintptr(ldc) * size, xs: uintptr(ldc) * size,
		by: uintptr((blockRows*size+64)/k + 1), // so that k of them are a row of the block
	}
	fetched := 0
	for m := 0; m < rows; m += int(t.rows) {
		h := o.height(rows - m)
		t.a, t.ks, t.rows = at(o.a, m*o.depth), uintptr(h*size), uintptr(h)
		for l := max(0, diagonal+m) / nr * nr; l < columns; l += nr {
			t.b, t.cols = at(o.b, l*o.depth), uintptr(min(nr, columns-l))
			t.c = at(c, m*ldc+l)
			t.x = t.c
			t.ahead = 0
			if h >= fetchingHeight && next != nil && fetched < k {
				t.ahead = uintptr(at(next, fetched*lda))
				fetched++
			}
			runTile[float64](o.isa, &t)
		}
	}
}
