package columnar

import (
	"encoding/binary"
	"io"
	"math"
	"strings"
	"unsafe"
)

// Fresh is memory for n numbers that nothing else uses. They are arbitrary: it is for those who
// set all of them, and saves the time that clearing memory takes.
// Files are copied into such memory and not mapped: to touch a mapped page costs as much as to copy
// it, and a file that is cut off or changed meanwhile would end the program or change rows that
// were read.
func Fresh(n int) []float64 {
	if v, ok := View(FreshBytes(8*n), n); ok {
		return v
	}
	return make([]float64, n)
}

// FreshBytes is as Fresh for n bytes. Behind them is room for decoders that read the last few
// bytes as a number of eight.
func FreshBytes(n int) []byte {
	if n < 16 {
		return make([]byte, n, n+padding)
	}
	// Of all that Go has, only a text in the making is given memory that is not cleared.
	var text strings.Builder
	text.Grow(n + padding)
	text.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(text.String()), n+padding)[:n]
}

// Room is memory for n numbers, arbitrary ones as those of Fresh. It may be that of values before.
func (v *Values) Room(n int) []float64 {
	if cap(v.memory) < n {
		v.memory = Fresh(n)
	}
	return v.memory[:n:n]
}

// After makes v the values of other rows, for which the memory of old's is taken: nobody reads them
// any more.
func (v *Values) After(old *Values) { *v = Values{memory: old.memory} }

// ReadDoubles sets Numbers to the next n of eight bytes, the lowest first. It inspects them while
// they are in the nearest caches.
func (v *Values) ReadDoubles(r io.Reader, n int) error {
	const piece = 1 << 14
	numbers := v.Room(n)
	memory, ok := Memory(numbers)
	if !ok {
		memory = make([]byte, 8*n)
	}
	finite := true
	for from := 0; from < n; from += piece {
		to := min(from+piece, n)
		if _, err := io.ReadFull(r, memory[8*from:8*to]); err != nil {
			return err
		}
		if !ok {
			Doubles(numbers[from:to], memory[8*from:8*to])
		}
		finite = finite && allFinite(numbers[from:to])
	}
	v.Numbers, v.finite = numbers, finite
	return nil
}

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

// PutDoubles sets b to the eight bytes of each number, the lowest first.
func PutDoubles(b []byte, v []float64) {
	if memory, ok := Memory(v); ok {
		copy(b, memory)
		return
	}
	for i, x := range v {
		binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(x))
	}
}

// Memory is the memory of numbers as bytes, if this machine has them as files do, the lowest
// byte first: what is read into it are the numbers.
func Memory(v []float64) ([]byte, bool) {
	if !littleEndian() {
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

// Items are the n numbers that b begins with, the lowest byte first: in b's own memory where this
// machine can take them for numbers there.
func Items[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32](b []byte, n int) []T {
	var one T
	size := int(unsafe.Sizeof(one))
	b = b[:n*size]
	if at := uintptr(unsafe.Pointer(unsafe.SliceData(b))); n > 0 && at%uintptr(size) == 0 && littleEndian() {
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
	}
	v := make([]T, n)
	if _, err := binary.Decode(b, binary.LittleEndian, v); err != nil {
		panic(err) // b has as many bytes as v
	}
	return v
}

// littleEndian tells whether this machine has the lowest byte of a number first.
func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }
