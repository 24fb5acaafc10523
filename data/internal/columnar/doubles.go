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
