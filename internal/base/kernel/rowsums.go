package kernel

import (
	"math"
	"unsafe"
)

// rowSums is the argument of the assembly that sums rows, four at a time. It knows the
// offsets of the fields.
type rowSums struct {
	a      unsafe.Pointer // first row
	rs     uintptr        // bytes between rows
	index  unsafe.Pointer // which of them, 4 bytes each, or nil for one after the other (dots)
	b      unsafe.Pointer // rows to multiply them with (dots)
	bs     uintptr        // bytes between them
	k      uintptr        // values in a row
	c      unsafe.Pointer // four results for each group
	groups uintptr        // at least 1
}

// RowDots sets dst[i] to the product of row index[i] of a (rows x q, row stride lda; a nil index: row i)
// and row i of b (n x q, row stride ldb), n = len(dst), with the same bits on every machine: value j goes
// to sum j mod 8; then the upper half of the sums is added to the lower half until one is left.
// dst overlaps no operand. It returns n, or the first i whose index[i] is outside 0..rows-1; dst is left
// alone from there on.
func RowDots(dst, a []float64, lda, rows int, index []int32, b []float64, ldb, q int) int {
	return rowDots(best(), dst, a, lda, rows, index, b, ldb, q)
}

func rowDots(s isa, dst, a []float64, lda, rows int, index []int32, b []float64, ldb, q int) int {
	n := min(len(dst), rows)
	if index != nil {
		n = firstOutside(index[:len(dst)], 1, rows)
	}
	if n == 0 || q == 0 {
		clear(dst[:n])
		return n
	}
	within("a", len(a), rows, q, lda)
	within("b", len(b), n, q, ldb)
	done := 0
	if n >= 4 && s != plain {
		done = n &^ 3
		r := rowSums{a: at(a, 0), rs: uintptr(lda) * 8, b: at(b, 0), bs: uintptr(ldb) * 8, k: uintptr(q), c: at(dst, 0), groups: uintptr(done / 4)}
		if index != nil {
			r.index = unsafe.Pointer(&index[0])
		}
		runRowDots(s, &r)
	}
	for i := done; i < n; i++ {
		row := i
		if index != nil {
			row = int(index[i])
		}
		dst[i] = sumColumn(a[row*lda:], b[i*ldb:][:q])
	}
	return n
}

// RowSizes sets dst[i] to the 1-norm of row i of a (len(dst) x q, row stride lda), summed as by RowDots.
func RowSizes(dst, a []float64, lda, q int) { rowSizes(best(), dst, a, lda, q) }

func rowSizes(s isa, dst, a []float64, lda, q int) {
	n := len(dst)
	if n == 0 || q == 0 {
		clear(dst)
		return
	}
	within("a", len(a), n, q, lda)
	done := 0
	if n >= 4 && s != plain {
		done = n &^ 3
		runRowSizes(s, &rowSums{a: at(a, 0), rs: uintptr(lda) * 8, k: uintptr(q), c: at(dst, 0), groups: uintptr(done / 4)})
	}
	for i := done; i < n; i++ {
		var sums [8]float64
		for j, v := range a[i*lda:][:q] {
			sums[j%8] += math.Abs(v)
		}
		dst[i] = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
	}
}
