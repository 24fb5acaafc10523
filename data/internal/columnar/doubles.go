package columnar

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Doubles takes numbers from their eight bytes each, the lowest first.
func Doubles(dst []float64, b []byte) {
	if memory, ok := Memory(dst); ok {
		copy(memory, b[:8*len(dst)])
		return
	}
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
}

// Memory is the memory of numbers as bytes, if this machine has them as files do, the lowest
// byte first: what is read into it are the numbers.
func Memory(v []float64) ([]byte, bool) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, false
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v)), true
}

// View is the numbers that n eight-byte pieces of b are, in b's own memory; ok is false if this
// machine cannot take them for numbers there.
func View(b []byte, n int) (v []float64, ok bool) {
	if n == 0 || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%8 != 0 {
		return nil, false
	}
	v = unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(b[:8*n]))), n)
	_, ok = Memory(v)
	return v, ok
}
