package kernel

import "unsafe"

// lookUpSum is the argument of the assembly that adds rows of a table. It knows the offsets of
// the fields.
type lookUpSum struct {
	dst   unsafe.Pointer
	ds    uintptr        // bytes between rows of dst
	table unsafe.Pointer // rows one after another
	ts    uintptr        // bytes between them
	size  uintptr        // how many
	index unsafe.Pointer // which of them, 4 bytes each
	count uintptr        // how many of those are a sum, at least one
	n     uintptr        // sums, at least one; then those left from the first on that has a row outside
	bytes uintptr        // of each row: a power of two from a line to the longest piece
}

// lookUpSumLine is what the lengths of rows are multiples of where there is assembly for them, in bytes.
const lookUpSumLine = 64

// longestPiece is the bytes of a row that the assembly adds in registers.
func longestPiece(s isa) uintptr {
	if s == avx512 {
		return 512
	}
	return 256
}

// LookUpSumWidth is how many numbers a row of a table of n columns has for LookUpSum to be fast.
func LookUpSumWidth[T Float](n int) int {
	line := lookUpSumLine / sizeOf[T]()
	return (n + line - 1) / line * line
}

// LookUpSum sets row i of dst, stride apart, to the sum of count rows of table, of width numbers each, in
// the order of index: those from index[i*count] on. bad is where index has a row that the table does not
// have, with dst unspecified then, or else -1. A count of 0 writes nothing. dst overlaps no operand.
func LookUpSum[T Float](dst []T, stride int, table []T, width int, index []int32, count int) (bad int) {
	return lookUpSumOf(best(), dst, stride, table, width, index, count)
}

func lookUpSumOf[T Float](s isa, dst []T, stride int, table []T, width int, index []int32, count int) (bad int) {
	if count == 0 || len(index) == 0 || width == 0 {
		return -1
	}
	n, size := len(index)/count, len(table)/width
	index = index[:n*count]
	within("dst", len(dst), n, width, stride)
	bytes := width * sizeOf[T]()
	if s == plain || bytes%lookUpSumLine != 0 {
		return lookUpSumPlain(dst, stride, table, width, index, count, size)
	}
	l := lookUpSum{ds: uintptr(stride * sizeOf[T]()), ts: uintptr(bytes), size: uintptr(size), index: unsafe.Pointer(&index[0]), count: uintptr(count)}
	for from := uintptr(0); from < uintptr(bytes); from += l.bytes {
		for l.bytes = longestPiece(s); l.bytes > uintptr(bytes)-from; l.bytes /= 2 {
		}
		l.dst, l.table, l.n = unsafe.Add(at(dst, 0), from), unsafe.Add(at(table, 0), from), uintptr(n)
		if runLookUpSum[T](s, &l); l.n > 0 {
			return max(firstOutside(index, 1, size), 0)
		}
	}
	return -1
}

func lookUpSumPlain[T Float](dst []T, stride int, table []T, width int, index []int32, count, size int) (bad int) {
	for i, row := range index {
		if row < 0 || int(row) >= size {
			return i
		}
		to, from := dst[i/count*stride:][:width], table[int(row)*width:][:width]
		if i%count == 0 {
			copy(to, from)
			continue
		}
		for j, x := range from {
			to[j] += x
		}
	}
	return -1
}
