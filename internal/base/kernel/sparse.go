package kernel

import (
	"math/bits"
	"unsafe"
)

// sparse is the argument of the assembly that adds, to each row of C, the rows of B that A has a
// number for which is not 0, in order of k, for panels of two whole vectors and sparseChunk rows of
// B. The assembly knows the offsets of the fields.
type sparse struct {
	a        unsafe.Pointer // element (0, 0) of A's columns of the chunk
	rs       uintptr        // bytes between rows of A
	mask     unsafe.Pointer // a bit for each of the chunk's numbers in the first row
	ms       uintptr        // bytes between masks of rows
	b        unsafe.Pointer // the chunk in the first panel
	bs       uintptr        // bytes between panels
	x        unsafe.Pointer // initial values, or nil for 0; becomes nil
	xs       uintptr        // bytes between their rows; 0 repeats one
	c        unsafe.Pointer // may be x
	cs       uintptr        // bytes between its rows
	rows     uintptr        // a multiple of those side by side
	last     uintptr        // not 0: sums end here
	relu     uintptr        // not 0: then negative results become 0
	negative uintptr        // becomes not 0 where a sum ends at -0
}

// nonzeros is the argument of the assembly that sets a bit for each number that is not 0.
type nonzeros struct {
	a    unsafe.Pointer
	rs   uintptr // bytes between rows
	rows uintptr
	k    uintptr        // numbers in a row
	mask unsafe.Pointer // as many bits for each row, in whole bytes
	ms   uintptr        // bytes between those of rows
}

const (
	sparseChunk  = 64 // numbers of a mask; as many rows of the most panels fill two thirds of the first cache, or three quarters of a smaller one
	sparseSample = 8  // rows that tell whether to look at the others
	sparseLeast  = 16 // rows that panels are worth fetching for
	// sparseShare is the share of numbers that are not 0 from which on tiles are as fast.
	sparseShare = 0.7
	// Masks in the memory for them: the stack, as for panels of B.
	fewMasks  = 512
	manyMasks = 4096
)

// SkipZeros prepares w for matrices with many zeros, as behind a Relu: products with zeros are left
// out where that is faster, which needs weights that are finite. The results have the same bits.
func (w *Weights[T]) SkipZeros() *Weights[T] {
	finite := true
	for _, x := range w.data {
		finite = finite && x-x == 0 // NaN otherwise
	}
	w.skips = finite && w.K > 0 && sparsePanels(w.isa, w.N/(2*lanes[T](w.isa)), rowBlock) > 0 && sparseSample*w.chunks() <= fewMasks
	return w
}

// chunks is how many masks a row of A has.
func (w *Weights[T]) chunks() int { return (w.K + sparseChunk - 1) / sparseChunk }

// mulSparse computes columns of c from the first on by what is not 0 in a, if that is little, and
// tells how many.
func (w *Weights[T]) mulSparse(c []T, ldc int, a []T, lda, rows int, bias []T, relu bool) int {
	switch {
	case rows < sparseLeast || !w.sampleSparse(a, lda):
		return 0
	case rows*w.chunks() <= fewMasks:
		var masks [fewMasks]uint64
		return w.mulNonzeros(c, ldc, a, lda, rows, bias, relu, masks[:], 0, w.N)
	}
	var masks [manyMasks]uint64
	return w.mulNonzeros(c, ldc, a, lda, rows, bias, relu, masks[:], 0, w.N)
}

// lineSparse is how many weights a row is worth being looked at for.
const lineSparse = 1 << 12

// lineNonzeros is mulSparse for one row, of columns from to end-1. It returns the first one that is left.
func (w *Weights[T]) lineNonzeros(c, a, bias []T, relu bool, from, end int) int {
	if w.K*(end-from) < lineSparse {
		return from
	}
	var masks [fewMasks / sparseSample]uint64
	return w.mulNonzeros(c, w.N, a, w.K, 1, bias, relu, masks[:], from, end)
}

// sampleSparse tells whether few numbers of the first rows are not 0.
func (w *Weights[T]) sampleSparse(a []T, lda int) bool {
	var masks [fewMasks]uint64
	return fewNonzeros(w.isa, masks[:], a, lda, sparseSample, w.K)
}

// mulNonzeros computes columns of c, of those from one on up to end-1, and tells which is the first one that
// is left.
func (w *Weights[T]) mulNonzeros(c []T, ldc int, a []T, lda, rows int, bias []T, relu bool, masks []uint64, from, end int) int {
	if !fewNonzeros(w.isa, masks, a, lda, rows, w.K) {
		return from
	}
	size, nr, chunks := uintptr(sizeOf[T]()), 2*lanes[T](w.isa), w.chunks()
	p := sparse{rs: uintptr(lda) * size, ms: uintptr(chunks) * 8, bs: uintptr(w.apart) * size, cs: uintptr(ldc) * size}
	if relu {
		p.relu = 1
	}
	for {
		panels := sparsePanels(w.isa, (end-from)/nr, rows)
		if panels == 0 {
			return from
		}
		p.c, p.x, p.xs, p.last = at(c, from), nil, 0, 0
		if bias != nil {
			p.x = at(bias, from)
		}
		negative := false
		for l := range chunks {
			p.a, p.mask, p.b = at(a, l*sparseChunk), unsafe.Pointer(&masks[l]), at(w.data, from/nr*w.apart+l*sparseChunk*nr)
			if l == chunks-1 {
				p.last = 1
			}
			negative = sparseRows[T](w.isa, p, rows, panels)
			p.x, p.xs = p.c, p.cs
		}
		if negative { // a product of 0 may have made it +0
			return from
		}
		from += panels * nr
	}
}

// fewNonzeros sets the bits of what is not 0 in rows of k numbers, and tells whether that is little.
func fewNonzeros[T Float](s isa, masks []uint64, a []T, lda, rows, k int) bool {
	chunks := (k + sparseChunk - 1) / sparseChunk
	runNonzeros[T](s, &nonzeros{a: at(a, 0), rs: uintptr(lda * sizeOf[T]()), rows: uintptr(rows), k: uintptr(k), mask: unsafe.Pointer(&masks[0]), ms: uintptr(8 * chunks)})
	many := 0
	for _, m := range masks[:rows*chunks] {
		many += bits.OnesCount64(m)
	}
	return float64(many) < sparseShare*float64(rows*k)
}

// sparseRowsAtOnce is how many rows the assembly for so many panels adds up side by side, if there are as
// many.
func sparseRowsAtOnce(s isa, panels int) int {
	if s == avx2 && panels > 3 || s == avx512 && panels > 4 {
		return 1
	}
	return 2
}

// sparseRows runs p for so many rows, the last one by itself if it is left. It tells whether a sum
// ended at -0.
func sparseRows[T Float](s isa, p sparse, rows, panels int) (negative bool) {
	once := sparseRowsAtOnce(s, panels)
	left := rows % once
	if whole := p; rows > left {
		whole.rows = uintptr(rows - left)
		runSparse[T](s, &whole, panels, once)
		negative = whole.negative != 0
	}
	if left > 0 {
		last := uintptr(rows - 1)
		p.a, p.mask, p.c = unsafe.Add(p.a, last*p.rs), unsafe.Add(p.mask, last*p.ms), unsafe.Add(p.c, last*p.cs)
		if p.x != nil {
			p.x = unsafe.Add(p.x, last*p.xs)
		}
		p.rows = 1
		runSparse[T](s, &p, panels, 1)
		negative = negative || p.negative != 0
	}
	return negative
}

// runSparse adds up rows of so many panels, side by side as many rows of A.
func runSparse[T Float](s isa, p *sparse, panels, rows int) {
	switch [2]int{panels, rows} {
	case [2]int{4, 2}:
		runSparse4x2[T](p)
	case [2]int{3, 2}:
		runSparse3x2[T](s, p)
	case [2]int{2, 2}:
		runSparse2x2[T](p)
	case [2]int{6, 1}:
		runSparse6x1[T](s, p)
	case [2]int{5, 1}:
		runSparse5x1[T](s, p)
	case [2]int{4, 1}:
		runSparse4x1[T](s, p)
	case [2]int{3, 1}:
		runSparse3x1[T](s, p)
	default:
		runSparse2x1[T](p)
	}
}

// sparsePanels is how many of so many panels to add up at once, for so many rows: about as many as there are
// registers for, so that the rest are enough, too. 0: so few that tiles are as fast, or no assembly.
func sparsePanels(s isa, left, rows int) int {
	least, most := 3, 6
	switch {
	case s == avx512 && rows > 1:
		least, most = 2, 4
	case s == avx512:
		least = 2
	case s != avx2:
		return 0
	}
	if left < least {
		return 0
	}
	times := (left + most - 1) / most
	return (left + times - 1) / times
}
