package kernel

import "unsafe"

// LookUp copies row k of table, of w numbers, to dst for each k of index, step apart there and stride
// here; rows below 0 count from the end. bad is where index has a row that the table does not have, with
// nothing copied from there on, or else -1.
func LookUp[T Float](dst []T, stride int, table []T, w int, index []int64, step int) (bad int) {
	return lookUp(best(), dst, stride, table, w, index, step)
}

// lookup is the argument of the assembly that copies rows. It knows the offsets of the fields.
type lookup struct {
	dst   unsafe.Pointer
	ds    uintptr        // bytes between rows of dst
	table unsafe.Pointer // rows one after another
	bytes uintptr        // of a row: 4 to 128, whole float32s
	size  uintptr        // rows of the table
	index unsafe.Pointer
	is    uintptr // bytes between them
	n     uintptr // of them, at least one; then those left from the first on that the table does not have
}

// longLookup is the most bytes of a row that the assembly copies.
const longLookup = 128

func lookUp[T Float](s isa, dst []T, stride int, table []T, w int, index []int64, step int) (bad int) {
	n, size := (len(index)+step-1)/step, len(table)/max(w, 1)
	if n == 0 || w == 0 {
		return firstBeyond(index, step, size)
	}
	within("dst", len(dst), n, w, stride)
	if s == avx512 && w*sizeOf[T]() <= longLookup {
		l := lookup{
			dst: at(dst, 0), ds: uintptr(stride * sizeOf[T]()), table: at(table, 0), bytes: uintptr(w * sizeOf[T]()), size: uintptr(size),
			index: unsafe.Pointer(&index[0]), is: uintptr(step) * unsafe.Sizeof(index[0]), n: uintptr(n),
		}
		if runLookUp(&l); l.n > 0 {
			return (n - int(l.n)) * step
		}
		return -1
	}
	bad = firstBeyond(index, step, size)
	if bad >= 0 {
		n = bad / step
	}
	for i := range n {
		k := int(index[i*step])
		if k < 0 {
			k += size
		}
		copy(dst[i*stride:][:w], table[k*w:])
	}
	return bad
}

// firstBeyond is where index has a row outside of size rows, or -1.
func firstBeyond(index []int64, step, size int) int {
	for i := 0; i < len(index); i += step {
		if k := index[i]; k < -int64(size) || k >= int64(size) {
			return i
		}
	}
	return -1
}
