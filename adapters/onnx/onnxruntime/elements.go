package onnxruntime

import (
	"encoding/binary"
	"fmt"
	"math"
)

// element is a type of numbers in a tensor's memory.
type element struct {
	size int
	put  func(dst []byte, src []float64) error // rounds floats; integers are exact or an error
	get  func(dst []float64, src []byte)
}

var native = binary.NativeEndian

// elements are the types that are passed on, by their names in ONNX.
var elements = map[string]element{
	"float": {4,
		func(dst []byte, src []float64) error {
			for i, x := range src {
				native.PutUint32(dst[4*i:4*i+4], math.Float32bits(float32(x)))
			}
			return nil
		},
		func(dst []float64, src []byte) {
			for i := range dst {
				dst[i] = float64(math.Float32frombits(native.Uint32(src[4*i : 4*i+4])))
			}
		}},
	"double": {8,
		func(dst []byte, src []float64) error {
			for i, x := range src {
				native.PutUint64(dst[8*i:8*i+8], math.Float64bits(x))
			}
			return nil
		},
		func(dst []float64, src []byte) {
			for i := range dst {
				dst[i] = math.Float64frombits(native.Uint64(src[8*i : 8*i+8]))
			}
		}},
	"int8":   integers(1, func(b []byte, v int8) { b[0] = byte(v) }, func(b []byte) int8 { return int8(b[0]) }),
	"uint8":  integers(1, func(b []byte, v uint8) { b[0] = v }, func(b []byte) uint8 { return b[0] }),
	"int16":  integers(2, func(b []byte, v int16) { native.PutUint16(b, uint16(v)) }, func(b []byte) int16 { return int16(native.Uint16(b)) }),
	"uint16": integers(2, native.PutUint16, native.Uint16),
	"int32":  integers(4, func(b []byte, v int32) { native.PutUint32(b, uint32(v)) }, func(b []byte) int32 { return int32(native.Uint32(b)) }),
	"uint32": integers(4, native.PutUint32, native.Uint32),
	"int64":  integers(8, func(b []byte, v int64) { native.PutUint64(b, uint64(v)) }, func(b []byte) int64 { return int64(native.Uint64(b)) }),
	"uint64": integers(8, native.PutUint64, native.Uint64),
	"bool": {1,
		func(dst []byte, src []float64) error {
			for i, x := range src {
				if x != 0 && x != 1 {
					return fmt.Errorf("%g is not a value of type bool", x)
				}
				dst[i] = byte(x)
			}
			return nil
		},
		func(dst []float64, src []byte) {
			for i := range dst {
				dst[i] = float64(src[i])
			}
		}},
}

// integers are exact in float64, up to 2^53, or an error.
func integers[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64](size int, put func([]byte, T), get func([]byte) T) element {
	return element{size,
		func(dst []byte, src []float64) error {
			for i, x := range src {
				v := T(x)
				if !(math.Abs(x) <= 1<<53) || float64(v) != x {
					return fmt.Errorf("%g is not a value of type %T", x, v)
				}
				put(dst[i*size:], v)
			}
			return nil
		},
		func(dst []float64, src []byte) {
			for i := range dst {
				dst[i] = float64(get(src[i*size:]))
			}
		}}
}
