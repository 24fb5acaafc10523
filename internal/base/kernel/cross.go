package kernel

import (
	"fmt"

	"unsafe"

	"gonum.org/v1/gonum/blas/gonum"
)

// AddCross adds A' diag(w) B to c (p x q, row stride ldc): a (n x p, row stride
// lda), b (n x q, row stride ldb), w (n; nil means ones). Every element is summed
// in row order, starting with its value on entry, so a result does not depend on
// where a sequence of rows is cut into calls. c overlaps no operand.
func AddCross(c []float64, ldc int, a []float64, lda, p int, b []float64, ldb, q, n int, w []float64) {
	addCross(best(), c, ldc, a, lda, p, b, ldb, q, n, w)
}

// AddGram adds A' diag(w) A to c, as AddCross would: the upper triangle, of
// which the lower becomes the mirror image.
func AddGram(c []float64, ldc int, a []float64, lda, p, n int, w []float64) {
	addGram(best(), c, ldc, a, lda, p, n, w)
}

func addCross(s isa, c []float64, ldc int, a []float64, lda, p int, b []float64, ldb, q, n int, w []float64) {
	if p == 0 || q == 0 || n == 0 {
		return
	}
	within("c", len(c), p, q, ldc)
	within("a", len(a), n, p, lda)
	within("b", len(b), n, q, ldb)
	if w != nil {
		w = w[:n]
	}
	if s == plain {
		crossPlain(c, ldc, a, lda, p, b, ldb, q, n, w, false)
		return
	}
	crossVectors(s, c, ldc, a, lda, p, b, ldb, q, n, w, false)
}

func addGram(s isa, c []float64, ldc int, a []float64, lda, p, n int, w []float64) {
	if p == 0 {
		return
	}
	within("c", len(c), p, p, ldc)
	if n > 0 {
		within("a", len(a), n, p, lda)
	}
	if w != nil {
		w = w[:n]
	}
	switch {
	case n == 0: // the triangles of c may still differ
	case s == plain:
		crossPlain(c, ldc, a, lda, p, a, lda, p, n, w, true)
	default:
		crossVectors(s, c, ldc, a, lda, p, a, lda, p, n, w, true)
	}
	mirror(s, c, ldc, p, 0, p)
}

// crossVectors chooses the memory for a panel: on the stack, because a call must not
// allocate, and no more than needed, because clearing it would cost more than a small
// product. The number of rows in a panel changes no bit. Large products go by blocks, with memory
// that they share.
func crossVectors(s isa, c []float64, ldc int, a []float64, lda, p int, b []float64, ldb, q, n int, w []float64, upper bool) {
	if inBlocks(p, q, n, lda) {
		crossBlocks(s, c, ldc, a, lda, p, b, ldb, q, n, w, upper)
	} else if w == nil && q%(2*lanes[float64](s)) == 0 { // nothing is packed
		crossTiles(s, c, ldc, a, lda, p, b, ldb, q, n, w, upper, nil)
	} else if p*q <= 1024 {
		crossSmall(s, c, ldc, a, lda, p, b, ldb, q, n, w, upper)
	} else {
		crossLarge(s, c, ldc, a, lda, p, b, ldb, q, n, w, upper)
	}
}

// crossRows are how many rows pass by at a time, unless they are copied: half as many as a panel of a product
// of weights has, for here the columns of A come from as many lines of the cache.
const crossRows = kBlock / 2

func crossSmall(s isa, c []float64, ldc int, a []float64, lda, p int, b []float64, ldb, q, n int, w []float64, upper bool) {
	var buf [kBlock/4*2*8 + 8]float64
	crossPanels(s, c, ldc, a, lda, p, b, ldb, q, n, w, upper, scratch[float64](buf[:]))
}

func crossLarge(s isa, c []float64, ldc int, a []float64, lda, p int, b []float64, ldb, q, n int, w []float64, upper bool) {
	var buf [crossRows*2*8 + 8]float64
	crossPanels(s, c, ldc, a, lda, p, b, ldb, q, n, w, upper, scratch[float64](buf[:]))
}

func crossPanels(s isa, c []float64, ldc int, a []float64, lda, p int, b []float64, ldb, q, n int, w []float64, upper bool, panel []float64) {
	if !upper && q < lanes[float64](s) && q < p {
		crossNarrow(s, c, ldc, a, lda, p, b, ldb, q, n, w, panel)
	} else {
		crossTiles(s, c, ldc, a, lda, p, b, ldb, q, n, w, upper, panel)
	}
}

// crossTiles computes panels of two vectors of c's columns. The panel's columns
// of b are packed, times the weights, where they have some or are no whole vectors; a is read where it is, a row of it being a
// column of A'. If upper, tiles below the diagonal are left out.
func crossTiles(s isa, c []float64, ldc int, a []float64, lda, p int, b []float64, ldb, q, n int, w []float64, upper bool, panel []float64) {
	const size = 8
	nr := 2 * lanes[float64](s)
	t := tile{rs: size, ks: uintptr(lda) * size, cs: uintptr(ldc) * size, xs: uintptr(ldc) * size}
	block := crossRows
	if panel != nil {
		block = len(panel) / nr
	}
	for i := 0; i < n; i += block {
		t.k = uintptr(min(block, n-i))
		t.a = at(a, i*lda)
		for j := 0; j < q; j += nr {
			cols := min(nr, q-j)
			t.cols = uintptr(cols)
			t.b, t.bs = crossPanel(s, panel, b, i*ldb+j, ldb, t.k, cols, at(w, i))
			t.c = at(c, j)
			t.x = t.c
			rows := p
			if upper {
				rows = min(p, j+cols)
			}
			tileColumn[float64](s, t, rows, nil)
		}
	}
}

// crossPanel is rows of b, of cols columns from b[from] on, times the weights, as a tile reads them:
// packed, or where they are if they are whole vectors that have no weights.
func crossPanel(s isa, panel, b []float64, from, ldb int, rows uintptr, cols int, w unsafe.Pointer) (first unsafe.Pointer, stride uintptr) {
	const size = 8
	width := panelWidth[float64](s, cols)
	src, ss := at(b, from), uintptr(ldb)*size
	if w == nil && cols == width {
		return src, ss
	}
	dst := at(panel, 0)
	runPack[float64](s, &pack{dst: dst, src: src, ss: ss, rows: rows, cols: uintptr(cols), w: w})
	return dst, uintptr(width) * size
}

// crossNarrow is for a b of few columns: panels of a's columns, one tile high,
// give the transpose of c.
func crossNarrow(s isa, c []float64, ldc int, a []float64, lda, p int, b []float64, ldb, q, n int, w []float64, panel []float64) {
	const size = 8
	var transpose [16 * 8]float64
	nr := 2 * lanes[float64](s)
	block := len(panel) / nr
	for i := 0; i < n; i += block {
		rows := uintptr(min(block, n-i))
		for j := 0; j < p; j += nr {
			cols := min(nr, p-j)
			from, stride := crossPanel(s, panel, a, i*lda+j, lda, rows, cols, at(w, i))
			for k := range q {
				for l := range cols {
					transpose[k*nr+l] = c[(j+l)*ldc+k]
				}
			}
			to := at(transpose[:], 0)
			tileColumn[float64](s, tile{
				a: at(b, i*ldb), rs: size, ks: uintptr(ldb) * size,
				b: from, bs: stride, k: rows,
				x: to, xs: uintptr(nr) * size, c: to, cs: uintptr(nr) * size,
				cols: uintptr(cols),
			}, q, nil)
			for k := range q {
				for l := range cols {
					c[(j+l)*ldc+k] = transpose[k*nr+l]
				}
			}
		}
	}
}

// squares is the argument of the assembly that transposes n squares of 4 x 4:
// side by side in src, one above the other in dst.
type squares struct {
	src unsafe.Pointer
	ss  uintptr // bytes between rows of src
	dst unsafe.Pointer
	ds  uintptr // bytes between rows of dst
	n   uintptr // at least 1
}

// Mirror copies rows lo to hi-1 of the upper triangle of c (p x p) to the lower one; nothing else is written.
func Mirror(c []float64, ldc, p, lo, hi int) {
	if lo < 0 || hi > p {
		panic(fmt.Sprintf("kernel: rows %d to %d of a triangle of %d", lo, hi, p))
	}
	within("c", len(c), p, p, ldc)
	mirror(best(), c, ldc, p, lo, hi)
}

// mirror copies rows of the upper triangle to the lower, four at a time.
func mirror(s isa, c []float64, ldc, p, lo, hi int) {
	for k0 := lo; k0 < hi; k0 += 4 {
		k1 := min(k0+4, hi)
		done := k0
		if n := (p - k1) / 4; s != plain && n > 0 && k1-k0 == 4 {
			done = k1
			stride := uintptr(ldc) * 8
			runTranspose[float64](&squares{src: at(c, k0*ldc+k1), ss: stride, dst: at(c, k1*ldc+k0), ds: stride, n: uintptr(n)})
			done += 4 * n
			mirrorPart(c, ldc, k0, k1, k0, k1)
		}
		mirrorPart(c, ldc, k0, k1, done, p)
	}
}

// mirrorPart writes columns k0 to k1-1 of rows j0 to j1-1, below the diagonal.
func mirrorPart(c []float64, ldc, k0, k1, j0, j1 int) {
	for j := j0; j < j1; j++ {
		to := c[j*ldc+k0 : j*ldc+min(k1, j)]
		from := c[k0*ldc+j:]
		for k := range to {
			to[k] = from[k*ldc]
		}
	}
}

// crossPlain adds A' diag(w) B in tiles of c that stay in the cache while the
// rows pass by; if upper, what is on and above the diagonal.
func crossPlain(c []float64, ldc int, a []float64, lda, p int, b []float64, ldb, q, n int, w []float64, upper bool) {
	const (
		tileRows = 64
		tileCols = 256
		narrow   = 8 // columns below which a call per row costs more than it saves
	)
	if q < narrow && !upper {
		crossPlainNarrow(c, ldc, a, lda, p, b, ldb, q, n, w)
		return
	}
	var blas gonum.Implementation
	for j0 := 0; j0 < p; j0 += tileRows {
		j1 := min(j0+tileRows, p)
		k0 := 0
		if upper {
			k0 = j0
		}
		for ; k0 < q; k0 += tileCols {
			k1 := min(k0+tileCols, q)
			for i := range n {
				wi := weight(w, i)
				for j := j0; j < j1; j++ {
					k := k0
					if upper {
						k = max(j, k0)
					}
					if k < k1 {
						blas.Daxpy(k1-k, wi*a[i*lda+j], b[i*ldb+k:i*ldb+k1], 1, c[j*ldc+k:], 1)
					}
				}
			}
		}
	}
}

func crossPlainNarrow(c []float64, ldc int, a []float64, lda, p int, b []float64, ldb, q, n int, w []float64) {
	for i := range n {
		wi := weight(w, i)
		row := a[i*lda:][:p]
		for k, v := range b[i*ldb:][:q] {
			v *= wi
			at := k
			for _, u := range row {
				c[at] += u * v
				at += ldc
			}
		}
	}
}

func weight(w []float64, i int) float64 {
	if w == nil {
		return 1
	}
	return w[i]
}
